/* SPDX-License-Identifier: MIT */
/* api.h - the first steps of every public function: an error that may be NULL, and structs of
 * callers that were compiled with an older or newer qfz.h.
 *
 * Such a struct begins with `size_t struct_size`.  Rules for its author: new members go to its end,
 * 0 is their default, and the struct never has padding at its end (src/core/api.c asserts it),
 * since a new member in place of padding would read uninitialised bytes of older callers. */
#ifndef QFZ_API_H
#define QFZ_API_H

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns err, or own if err is NULL, cleared. */
static inline qfz_error *qfz_api_error(qfz_error *err, qfz_error *own)
{
    if (!err) err = own;
    err->status = QFZ_OK;
    err->message[0] = '\0';
    return err;
}

/* Copies the struct `from` of the caller to `to`, of `bytes` bytes in this library.  Members that
 * the caller's struct does not have keep their value in *to, which the caller of this function has
 * set to the default.  name: of the struct's type, for the message.  QFZ_EARG: from is NULL, its
 * struct_size is 0 or absurd, or it has members unknown here that are not 0. */
qfz_status qfz_api_read(void *to, size_t bytes, const void *from, const char *name, qfz_error *err);

/* Checks a struct of the caller that qfz_api_write() will fill: struct_size as above. */
qfz_status qfz_api_check(const void *to, size_t bytes, const char *name, qfz_error *err);

/* Copies `from`, of `bytes` bytes, to the struct of the caller, at most its struct_size bytes,
 * which stays as it is. */
void qfz_api_write(void *to, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
