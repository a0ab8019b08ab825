/* SPDX-License-Identifier: MIT */
/* byte_file.h - an array of bytes of any length in a temporary file, seen through views that keep
 * some of its pages in memory.  Bytes that were never set are 0, and take no room on disk. */
#ifndef QFZ_BYTE_FILE_H
#define QFZ_BYTE_FILE_H

#include "core/status.h"

typedef struct qfz_byte_view {
    int file; /* of qfz_byte_file_open(); borrowed, as folder */
    const char *folder;
    int64_t n_slots;
    int64_t *pages; /* the page in each slot; -1: none */
    bool *changed;  /* the page differs from the file */
    uint8_t *data;
} qfz_byte_view;

/* *file = a descriptor of n bytes, which the caller closes. */
qfz_status qfz_byte_file_open(int *file, int64_t n, const char *folder, qfz_error *err);

/* A view of the n bytes of the file, with about `bytes` bytes of memory.  Of several views of one
 * file at a time, none may set bytes. */
qfz_status qfz_byte_view_init(qfz_byte_view *view, int file, int64_t n, const char *folder,
                              int64_t bytes, qfz_error *err);
void qfz_byte_view_fini(qfz_byte_view *view); /* a zeroed view is allowed */

qfz_status qfz_byte_view_get(qfz_byte_view *view, int64_t i, uint8_t *byte, qfz_error *err);
qfz_status qfz_byte_view_set(qfz_byte_view *view, int64_t i, uint8_t byte, qfz_error *err);

/* Writes what was set to the file. */
qfz_status qfz_byte_view_flush(qfz_byte_view *view, qfz_error *err);

#endif
