/* SPDX-License-Identifier: MIT */
#include "gpu/features/gather.cuh"

#include "gpu/features/gather_rows.cuh"

namespace
{
/* Runs of labels, as a source of gather_rows.cuh. */
struct label_source {
    int32_t w;
    const uint32_t *labels;

    QFZ_DEVICE row_segments at(int32_t y, int32_t x0) const
    {
        const int32_t lane = (int32_t)threadIdx.x, x = x0 + lane;
        const uint32_t label = x < w ? __ldg(labels + (int64_t)y * w + x) : 0;
        const uint32_t left = __shfl_up_sync(QFZ_ALL_LANES, label, 1);
        return {__ballot_sync(QFZ_ALL_LANES, label != 0),
                __ballot_sync(QFZ_ALL_LANES, lane > 0 && label && label == left), label - 1};
    }
};

/* Results of gather_rows.cuh: pixel counts; exact sums of one band; least and greatest values of
 * one band, as orders. */
struct counts_out {
    uint32_t *count;

    template <typename PART> QFZ_DEVICE void add(uint32_t region, int, int, const PART &part) const
    {
        atomicAdd(count + region, part.count);
    }
};

template <typename T> struct sums_out {
    uint64_t *sums; /* of region 0 */

    QFZ_DEVICE uint64_t *words(uint32_t region) const
    {
        return sums + (int64_t)region * exact_words<T, SUM>::SUMS;
    }
    template <typename PART> QFZ_DEVICE void add(uint32_t, int, int, const PART &) const
    {
    }
};

struct ends_out {
    uint32_t *least, *greatest;

    template <typename PART> QFZ_DEVICE void add(uint32_t region, int, int, const PART &part) const
    {
        atomicMin(least + region, part.least);
        atomicMax(greatest + region, part.greatest);
    }
};

label_source source_of(const qfz_gpu_regions *regions)
{
    return {regions->w, regions->d_label};
}
} // namespace

qfz_status qfz_gpu_gather_counts(qfz_gpu *gpu, const qfz_gpu_regions *regions)
{
    return gather<uint8_t, 0>(gpu, source_of(regions), regions->h, NULL, 0, QFZ_NONE,
                              counts_out{regions->d_count});
}

qfz_status qfz_gpu_gather_sums(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                               const qfz_gpu_image *image, int band, uint32_t first_region,
                               uint32_t n, uint64_t *d_sums)
{
    QFZ_TRY(qfz_gpu_fill(gpu, d_sums, 0, (int64_t)n * qfz_sum_words(image->type)));
    return qfz_with_type(gpu, image->type, [&](auto px) {
        typedef decltype(px) T;
        const sums_out<T> out = {d_sums - (int64_t)first_region * exact_words<T, SUM>::SUMS};
        return gather<T, SUM>(gpu, source_of(regions), regions->h, plane_of<T>(image, band),
                              first_region, n, out);
    });
}

qfz_status qfz_gpu_gather_ends(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                               const qfz_gpu_image *image, int band, uint32_t n, uint32_t *d_least,
                               uint32_t *d_greatest)
{
    QFZ_TRY(qfz_gpu_fill(gpu, d_least, 0xff, n));
    QFZ_TRY(qfz_gpu_fill(gpu, d_greatest, 0, n));
    return qfz_with_type(gpu, image->type, [&](auto px) {
        typedef decltype(px) T;
        return gather<T, ENDS>(gpu, source_of(regions), regions->h, plane_of<T>(image, band), 0, n,
                               ends_out{d_least, d_greatest});
    });
}

qfz_status qfz_gpu_gather_features(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                   const qfz_gpu_image *image, const qfz_gpu_records *wanted)
{
    return qfz_with_type(gpu, image->type, [&](auto px) {
        return gather_records<decltype(px)>(gpu, source_of(regions), image, *wanted);
    });
}
