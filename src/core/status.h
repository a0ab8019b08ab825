/* SPDX-License-Identifier: MIT */
/* status.h - errors: a status code for the caller, one message for the user.
 *
 * The function that detects a failure writes the message, once; its callers add nothing. */
#ifndef QFZ_STATUS_H
#define QFZ_STATUS_H

#include "qfz.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the message, unless err already has one, and returns st. */
qfz_status qfz_fail(qfz_error *err, qfz_status st, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns from the function if expr fails; for functions that own nothing. */
#define QFZ_TRY(expr)                                                                              \
    do {                                                                                           \
        const qfz_status qfz_try_ = (expr);                                                        \
        if (qfz_try_ != QFZ_OK) return qfz_try_;                                                   \
    } while (0)

/* The same for functions that own something: st gets the code, and the code at label frees. */
#define QFZ_TRY_OR(st, label, expr)                                                                \
    do {                                                                                           \
        (st) = (expr);                                                                             \
        if ((st) != QFZ_OK) goto label;                                                            \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
