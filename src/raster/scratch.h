/* SPDX-License-Identifier: MIT */
/* scratch.h - a buffer that grows and is used again. */
#ifndef QFZ_RASTER_SCRATCH_H
#define QFZ_RASTER_SCRATCH_H

#include "core/status.h"

typedef struct qfz_scratch {
    void *data; /* freed by free(); NULL before the first call */
    int64_t bytes;
} qfz_scratch;

/* Makes room for n items.  The contents are undefined afterwards. */
qfz_status qfz_scratch_reserve(qfz_scratch *scratch, int64_t n, size_t item_bytes, qfz_error *err);

#endif
