/* SPDX-License-Identifier: MIT */
#include "raster/sink_pixels.h"

#include <string.h>

#include "raster/boxes.h"
#include "raster/out_type_facts.h"

void qfz_sink_fill_block(const qfz_sink *sink, char *block, const char *from, int64_t stride_px,
                         qfz_box part)
{
    const size_t px_bytes = qfz_out_type_bytes(sink->spec.type);
    const size_t row_bytes = (size_t)sink->block_w * px_bytes;
    const int64_t h = qfz_box_h(part), w = qfz_box_w(part);
    if (h < sink->block_h || w < sink->block_w) memset(block, 0, row_bytes * (size_t)sink->block_h);
    for (int64_t y = 0; y < h; y++)
        memcpy(block + (size_t)y * row_bytes, from + (size_t)(y * stride_px) * px_bytes,
               (size_t)w * px_bytes);
}

CPLErr qfz_sink_move_pixels(const qfz_sink *sink, GDALRWFlag way, qfz_box box, void *pixels)
{
    const int h = (int)qfz_box_h(box), w = (int)qfz_box_w(box);
    return GDALDatasetRasterIOEx(sink->dataset, way, (int)box.x0, (int)(box.y0 - sink->spec.y0), w,
                                 h, pixels, w, h, sink->format.buffer_type, sink->spec.n_bands,
                                 NULL, 0, 0, 0, NULL);
}

CPLErr qfz_sink_move_mask(const qfz_sink *sink, GDALRWFlag way, qfz_box box, void *values)
{
    const int h = (int)qfz_box_h(box), w = (int)qfz_box_w(box);
    return GDALRasterIOEx(sink->mask, way, (int)box.x0, (int)(box.y0 - sink->spec.y0), w, h, values,
                          w, h, GDT_Byte, 0, 0, NULL);
}

qfz_status qfz_sink_check_box(const qfz_sink *sink, qfz_box box, qfz_error *err)
{
    const qfz_sink_spec *const spec = &sink->spec;
    const qfz_box whole = {.y0 = spec->y0, .y1 = spec->y1, .x1 = spec->w};
    return qfz_box_check(box, whole, sink->path, err);
}
