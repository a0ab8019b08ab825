/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* madvise */
#include "core/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

static qfz_status size_of(int64_t n, size_t item_bytes, size_t *bytes, qfz_error *err)
{
    if (n < 0 || __builtin_mul_overflow((size_t)n, item_bytes, bytes))
        return qfz_fail(err, QFZ_ENOMEM, "a request for %lld items of %zu bytes is too large",
                        (long long)n, item_bytes);
    if (*bytes == 0) *bytes = 1;
    return QFZ_OK;
}

static qfz_status out_of_memory(size_t bytes, qfz_error *err)
{
    return qfz_fail(err, QFZ_ENOMEM,
                    "out of memory: %zu bytes were refused (smaller tiles need less)", bytes);
}

qfz_status qfz_alloc(void **ptr, int64_t n, size_t item_bytes, qfz_error *err)
{
    size_t bytes = 0;
    QFZ_TRY(size_of(n, item_bytes, &bytes, err));
    void *const got = malloc(bytes);
    if (!got) return out_of_memory(bytes, err);
    *ptr = got;
    return QFZ_OK;
}

/* Memory of less than one large page comes from qfz_alloc(), so that its size is not rounded up. */
qfz_status qfz_alloc_large(void **ptr, int64_t n, size_t item_bytes, qfz_error *err)
{
    size_t bytes = 0;
    QFZ_TRY(size_of(n, item_bytes, &bytes, err));
    if (bytes < QFZ_LARGE_PAGE) return qfz_alloc(ptr, n, item_bytes, err);
    void *got = NULL;
    if (posix_memalign(&got, QFZ_LARGE_PAGE, bytes) != 0) return out_of_memory(bytes, err);
    (void)madvise(got, bytes - bytes % QFZ_LARGE_PAGE, MADV_HUGEPAGE);
    *ptr = got;
    return QFZ_OK;
}

qfz_status qfz_alloc_zero(void **ptr, int64_t n, size_t item_bytes, qfz_error *err)
{
    size_t bytes = 0;
    QFZ_TRY(size_of(n, item_bytes, &bytes, err));
    void *const got = calloc(1, bytes);
    if (!got) return out_of_memory(bytes, err);
    *ptr = got;
    return QFZ_OK;
}

qfz_status qfz_realloc(void **ptr, int64_t n, size_t item_bytes, qfz_error *err)
{
    size_t bytes = 0;
    if (!*ptr) return qfz_alloc_large(ptr, n, item_bytes, err);
    QFZ_TRY(size_of(n, item_bytes, &bytes, err));
    void *const got = realloc(*ptr, bytes);
    if (!got) return out_of_memory(bytes, err);
    *ptr = got;
    return QFZ_OK;
}
