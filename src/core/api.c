/* SPDX-License-Identifier: MIT */
/* api.c - structs of callers that were compiled with another qfz.h; version and names. */
#include "core/api.h"

/* Larger than any public struct will be: a struct_size above is an uninitialised one. */
enum { SIZE_MAX_BYTES = 1 << 16 };

/* Shared libraries, whose callers may be older, are for 64-bit processors. */
#define NO_PADDING_AFTER(type, last)                                                               \
    _Static_assert(sizeof(void *) < 8 ||                                                           \
                       offsetof(type, last) + sizeof(((type *)NULL)->last) == sizeof(type),        \
                   #type " ends with padding")
NO_PADDING_AFTER(qfz_check, polygons);
NO_PADDING_AFTER(qfz_check_report, peak_rss_bytes);
NO_PADDING_AFTER(qfz_chunks, n_threads);
NO_PADDING_AFTER(qfz_chunk_buffers, levels);
NO_PADDING_AFTER(qfz_curve, exact_below);
NO_PADDING_AFTER(qfz_job, unused_flags_too);
NO_PADDING_AFTER(qfz_progress, retries);
NO_PADDING_AFTER(qfz_plan, kept_bytes);
NO_PADDING_AFTER(qfz_session_options, progress_arg);
NO_PADDING_AFTER(qfz_buffers, tree_room);
NO_PADDING_AFTER(qfz_features, stddev);
NO_PADDING_AFTER(qfz_report, wide_pixels);
NO_PADDING_AFTER(qfz_image, edges);
NO_PADDING_AFTER(qfz_tree_table, level);
NO_PADDING_AFTER(qfz_window, has_transform);

static size_t size_of(const void *of_caller)
{
    size_t size;
    memcpy(&size, of_caller, sizeof size);
    return size;
}

qfz_status qfz_api_check(const void *to, size_t bytes, const char *name, qfz_error *err)
{
    if (!to) return qfz_fail(err, QFZ_EARG, "the pointer to a %s is NULL", name);
    const size_t size = size_of(to);
    if (size < sizeof size || size > SIZE_MAX_BYTES)
        return qfz_fail(err, QFZ_EARG,
                        "%s.struct_size is %zu; it must be sizeof(%s), as %s_default() sets it",
                        name, size, name, name);
    for (size_t i = bytes; i < size; i++)
        if (((const char *)to)[i] != 0)
            return qfz_fail(err, QFZ_EARG,
                            "%s has %zu bytes, of which qfz %s knows %zu; byte %zu is not 0", name,
                            size, QFZ_VERSION, bytes, i);
    return QFZ_OK;
}

qfz_status qfz_api_read(void *to, size_t bytes, const void *from, const char *name, qfz_error *err)
{
    QFZ_TRY(qfz_api_check(from, bytes, name, err));
    const size_t size = size_of(from), common = size < bytes ? size : bytes;
    memcpy((char *)to + sizeof size, (const char *)from + sizeof size, common - sizeof size);
    return QFZ_OK;
}

void qfz_api_write(void *to, const void *from, size_t bytes)
{
    const size_t size = size_of(to), common = size < bytes ? size : bytes;
    memcpy((char *)to + sizeof size, (const char *)from + sizeof size, common - sizeof size);
}

int qfz_version_number(void)
{
    return QFZ_VERSION_NUMBER;
}

const char *qfz_version(void)
{
    return QFZ_VERSION;
}

const char *qfz_status_name(qfz_status status)
{
    switch (status) {
    case QFZ_OK: return "QFZ_OK";
    case QFZ_EARG: return "QFZ_EARG";
    case QFZ_ENOMEM: return "QFZ_ENOMEM";
    case QFZ_EIO: return "QFZ_EIO";
    case QFZ_EGPU: return "QFZ_EGPU";
    case QFZ_ECANCEL: return "QFZ_ECANCEL";
    }
    return "unknown status";
}
