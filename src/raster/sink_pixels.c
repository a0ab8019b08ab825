/* SPDX-License-Identifier: MIT */
#include "raster/sink_pixels.h"

#include "raster/boxes.h"

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
