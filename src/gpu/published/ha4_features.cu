/* SPDX-License-Identifier: MIT */
/* ha4_features.cu - sums over regions for HA4's analysis (ha4_features.cuh), by the walk of
 * features/gather_rows.cuh. */
#include "gpu/published/ha4_features.cuh"

#include "gpu/features/gather_rows.cuh"
#include "gpu/published/segments.cuh"

typedef qfz_row_bits<uint64_t> row_bits;

namespace
{
/* HA4's segments, as a source of gather_rows.cuh: the end of a run finds its region from the start
 * of its segment, or of the chunk where the segment begins before it. */
struct segment_source {
    enum { BITS = 64 };
    int32_t w;
    const row_bits *bits;
    const uint32_t *parent;

    QFZ_DEVICE row_segments at(int32_t y, int32_t x0) const
    {
        const row_bits row = bits[(int64_t)y * qfz_n_chunks<uint64_t>(w) + x0 / BITS];
        const int from = x0 % BITS, x = from + (int)threadIdx.x;
        const uint64_t starts = row.valid & (~row.joined | 1);
        row_segments here = {(uint32_t)(row.valid >> from), (uint32_t)(row.joined >> from),
                             QFZ_NONE};
        if (!(here.valid & ~(here.joined >> 1) & 1u << threadIdx.x)) return here;
        here.region = (uint32_t)y * (uint32_t)w +
                      (uint32_t)(x0 + (int)threadIdx.x - min(x, qfz_start_distance(starts, x)));
        while (!(here.region & QFZ_HA4_NUMBERED))
            here.region = __ldg(parent + here.region);
        here.region &= ~QFZ_HA4_NUMBERED;
        return here;
    }
};
} // namespace

qfz_status qfz_gpu_ha4_features(qfz_gpu *gpu, const qfz_gpu_image *image, const void *d_scratch,
                                const uint32_t *d_parent, const qfz_gpu_records *wanted)
{
    /* bits: the first array of region_room */
    const segment_source source = {image->w, static_cast<const row_bits *>(d_scratch), d_parent};
    if (qfz_type_is_float(image->type))
        return qfz_fail(gpu->err, QFZ_EARG, "HA4's features are not for floating-point rasters");
    return qfz_with_integer(gpu, image->type, [&](auto px) {
        return gather_records<decltype(px)>(gpu, source, image, *wanted);
    });
}
