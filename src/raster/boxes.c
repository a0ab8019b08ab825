/* SPDX-License-Identifier: MIT */
#include "raster/boxes.h"

enum { CHUNK_PX = 1 << 20 };

qfz_status qfz_box_check(qfz_box box, qfz_box whole, const char *name, qfz_error *err)
{
    if (box.y0 >= whole.y0 && box.x0 >= whole.x0 && box.y1 <= whole.y1 && box.x1 <= whole.x1 &&
        box.y0 < box.y1 && box.x0 < box.x1)
        return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "%s: rows %lld..%lld, columns %lld..%lld lie outside the raster",
                    name, (long long)box.y0, (long long)(box.y1 - 1), (long long)box.x0,
                    (long long)(box.x1 - 1));
}

qfz_box qfz_box_common(qfz_box a, qfz_box b)
{
    return (qfz_box){.y0 = a.y0 > b.y0 ? a.y0 : b.y0,
                     .x0 = a.x0 > b.x0 ? a.x0 : b.x0,
                     .y1 = a.y1 < b.y1 ? a.y1 : b.y1,
                     .x1 = a.x1 < b.x1 ? a.x1 : b.x1};
}

int64_t qfz_box_chunk_rows(qfz_box box)
{
    const int64_t rows = CHUNK_PX / qfz_box_w(box);
    return rows < 1 ? 1 : rows;
}
