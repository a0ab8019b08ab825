/* SPDX-License-Identifier: MIT */
/* transport_launcher.h - the program that started this process: mpirun, srun or another one. */
#ifndef QFZ_STITCH_TRANSPORT_LAUNCHER_H
#define QFZ_STITCH_TRANSPORT_LAUNCHER_H

#include "core/status.h"

/* QFZ_EARG if a launcher started more processes together than the n that found each other: each
 * would do the whole job and write the same files.  remedy: the end of the message. */
qfz_status qfz_launcher_check(int n, const char *remedy, qfz_error *err);

#endif
