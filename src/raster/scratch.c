/* SPDX-License-Identifier: MIT */
#include "raster/scratch.h"

#include "core/memory.h"

qfz_status qfz_scratch_reserve(qfz_scratch *scratch, int64_t n, size_t item_bytes, qfz_error *err)
{
    const int64_t bytes = n * (int64_t)item_bytes;
    if (bytes <= scratch->bytes) return QFZ_OK;
    QFZ_TRY(qfz_realloc(&scratch->data, bytes, 1, err));
    scratch->bytes = bytes;
    return QFZ_OK;
}
