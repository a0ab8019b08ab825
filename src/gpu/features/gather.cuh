/* SPDX-License-Identifier: MIT */
/* gather.cuh - sums over the pixels of each region of a tile: pixel counts, exact sums of a band
 * (core/exact.h) and feature records (core/record.h), bit for bit those of the CPU engine.
 *
 * A thread block covers 64 x 64 pixels. It adds up the pixels of each region in a hash table in
 * shared memory, then adds each region's partial result to that in global memory. Invariant: within
 * a block a sum is a row of 16-bit digits in 32-bit words, so the sums of 4096 pixels cannot
 * overflow a word. */
#pragma once

#include "core/box.h"
#include "gpu/features/regions.cuh"

/* Word indices in the head of a record (core/record.h); the bands follow the head. */
enum {
    QFZ_WORD_PIXELS = 1,
    QFZ_WORD_SUM_Y,
    QFZ_WORD_SUM_X,
    QFZ_WORD_Y0,
    QFZ_WORD_X0,
    QFZ_WORD_Y1,
    QFZ_WORD_X1,
    QFZ_WORD_AREA,
    QFZ_HEAD_WORDS = QFZ_WORD_AREA + 2
};

/* Words that other threads may change at the same time. A stale value that lower_word() and
 * raise_word() read first only costs a needless atomic operation. */
QFZ_DEVICE unsigned long long *wide_word(uint64_t *word)
{
    return reinterpret_cast<unsigned long long *>(word);
}
QFZ_DEVICE uint64_t add_word(uint64_t *word, uint64_t value)
{
    return atomicAdd(wide_word(word), (unsigned long long)value);
}
QFZ_DEVICE void lower_word(uint64_t *word, uint64_t value)
{
    if (value < qfz_peek(word)) atomicMin(wide_word(word), (unsigned long long)value);
}
QFZ_DEVICE void raise_word(uint64_t *word, uint64_t value)
{
    if (value > qfz_peek(word)) atomicMax(wide_word(word), (unsigned long long)value);
}

/* Adds the pixels of every region to d_count, which must be zero for every region. */
qfz_status qfz_gpu_gather_counts(qfz_gpu *gpu, const qfz_gpu_regions *regions);

/* d_sums[i] = exact sum of band `band` over region first_region + i, 0 <= i < n; each sum has
 * qfz_sum_words(image->type) words. */
qfz_status qfz_gpu_gather_sums(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                               const qfz_gpu_image *image, int band, uint32_t first_region,
                               uint32_t n, uint64_t *d_sums);

/* d_least[region], d_greatest[region] = the orders (device/pixel_type.cuh) of the least and the
 * greatest value of each of n regions, all of the tile, in a band. */
qfz_status qfz_gpu_gather_ends(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                               const qfz_gpu_image *image, int band, uint32_t n, uint32_t *d_least,
                               uint32_t *d_greatest);

/* The area weight of a pixel, by row of the tile: d_row[y], or `same` for every row if d_row is
 * NULL. The sum over a region must stay below 2^64. */
typedef struct qfz_gpu_areas {
    uint64_t same;
    const uint64_t *d_row;
} qfz_gpu_areas;

/* d_records[i] = record of region first_region + i, 0 <= i < n, with label 0, qfz_record_words()
 * words each. box: the tile's place in the raster. */
qfz_status qfz_gpu_gather_features(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                   const qfz_gpu_image *image, qfz_box box, qfz_gpu_areas areas,
                                   uint32_t first_region, uint32_t n, uint64_t *d_records);
