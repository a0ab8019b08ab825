/* SPDX-License-Identifier: MIT */
/* transport_launcher.h - the program that started this process: mpirun, srun or another one. */
#ifndef QFZ_STITCH_TRANSPORT_LAUNCHER_H
#define QFZ_STITCH_TRANSPORT_LAUNCHER_H

#include "core/status.h"

/* What the environment says: a variable, its number, and the processes that it stands for. */
typedef struct qfz_launcher {
    const char *variable;
    int number;
    int n; /* at least so many processes were started together; 0 or 1: this one alone */
} qfz_launcher;

/* Reads the environment.  Call it before MPI starts: a process that MPI finds to be alone gets
 * variables of its own. */
qfz_launcher qfz_launcher_look(void);

/* QFZ_EARG if a launcher started processes together of which this one has found no other: each
 * would do the whole job and write the same files.  n: processes that found each other; remedy: the
 * end of the message. */
qfz_status qfz_launcher_check(const qfz_launcher *launcher, int n, const char *remedy,
                              qfz_error *err);

#endif
