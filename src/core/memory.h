/* SPDX-License-Identifier: MIT */
/* memory.h - allocation with checked sizes.
 *
 * All functions return QFZ_ENOMEM, and leave *ptr as it was, if the size overflows or memory is not
 * available. */
#ifndef QFZ_MEMORY_H
#define QFZ_MEMORY_H

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* *ptr = memory for n items of item_bytes, never NULL on success (n may be 0), which the caller
 * releases with free().  It is uninitialised after qfz_alloc() and zero after qfz_alloc_zero(). */
qfz_status qfz_alloc(void **ptr, int64_t n, size_t item_bytes, qfz_error *err);
qfz_status qfz_alloc_zero(void **ptr, int64_t n, size_t item_bytes, qfz_error *err);

/* The same as qfz_alloc(), in pages of 2 MB where the system has them and the memory fills one: for
 * large arrays that are soon written as a whole.  Threads that touch new pages of 4 KB wait for
 * each other. */
enum { QFZ_LARGE_PAGE = 2 << 20 };
qfz_status qfz_alloc_large(void **ptr, int64_t n, size_t item_bytes, qfz_error *err);

/* Resizes *ptr to n items; *ptr == NULL: the same as qfz_alloc_large(). */
qfz_status qfz_realloc(void **ptr, int64_t n, size_t item_bytes, qfz_error *err);

/* Typed forms: QFZ_NEW(&array, n, err), array being a pointer variable or member. */
#define QFZ_NEW(array, n, err) qfz_alloc((void **)(array), (n), sizeof **(array), (err))
#define QFZ_NEW_LARGE(array, n, err) qfz_alloc_large((void **)(array), (n), sizeof **(array), (err))
#define QFZ_NEW_ZERO(array, n, err) qfz_alloc_zero((void **)(array), (n), sizeof **(array), (err))

#ifdef __cplusplus
}
#endif

#endif
