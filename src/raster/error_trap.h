/* SPDX-License-Identifier: MIT */
/* error_trap.h - GDAL's error messages become part of a qfz_error.
 *
 * GDAL reports errors through a handler for each thread.  Between begin and end the handler keeps
 * the first failure and the first warning, and nothing is printed. */
#ifndef QFZ_RASTER_ERROR_TRAP_H
#define QFZ_RASTER_ERROR_TRAP_H

#include "core/box.h"
#include "core/status.h"

typedef struct qfz_error_trap {
    bool failed; /* GDAL reported a failure, which a return value may not show */
    char failure[640];
    char warning[640];
} qfz_error_trap;

/* A pair of calls in one thread; pairs may be nested.  The trap must not move between them. */
void qfz_error_trap_begin(qfz_error_trap *trap);
void qfz_error_trap_end(qfz_error_trap *trap);

/* Returns st with the message "name: reason".  The reason is GDAL's failure, else GDAL's warning,
 * else `otherwise`. */
qfz_status qfz_error_trap_fail(const qfz_error_trap *trap, qfz_error *err, qfz_status st,
                               const char *name, const char *otherwise);

/* Returns QFZ_EIO with the message "name: rows ..., columns ...: reason". */
qfz_status qfz_error_trap_fail_box(const qfz_error_trap *trap, qfz_error *err, const char *name,
                                   qfz_box box);

#endif
