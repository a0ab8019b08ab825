/* SPDX-License-Identifier: MIT */
#include "job/tile_error.h"

qfz_status qfz_tile_fail(const char *src, qfz_box box, qfz_status st, const char *what,
                         qfz_error *err)
{
    return qfz_fail(err, st, "%s: rows %lld to %lld, columns %lld to %lld: %s", src,
                    (long long)box.y0, (long long)box.y1 - 1, (long long)box.x0,
                    (long long)box.x1 - 1, what);
}

qfz_status qfz_tile_engine_status(const char *src, qfz_box box, qfz_status st,
                                  const qfz_error *from, qfz_error *err)
{
    if (st == QFZ_OK) return QFZ_OK;
    if (st == QFZ_EIO) return qfz_tile_fail(src, box, st, from->message, err);
    return qfz_fail(err, st, "%s", from->message);
}
