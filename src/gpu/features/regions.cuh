/* SPDX-License-Identifier: MIT */
/* regions.cuh - the regions of a tile in device memory (components/region_arrays.cuh): numbering in
 * raster order of first pixels, border regions, labels, and painting. */
#pragma once

#include "gpu/components/region_arrays.cuh"

/* Bytes of scratch memory that suffice for any of the functions below. */
size_t qfz_gpu_regions_bytes(int32_t h, int32_t w);

/* Fills d_label, d_first, d_count and d_n[0] from d_root. d_root[px] is one pixel of px's
 * region, the same for all its pixels, in raster order its first; QFZ_NONE where px is invalid.
 * Regions are numbered in the order of their roots. */
qfz_status qfz_gpu_regions_number(qfz_gpu *gpu, const uint32_t *d_root, void *d_scratch,
                                  const qfz_gpu_regions *regions);

/* Finds the border regions, which are numbered in the order of their first ring pixel (core/box.h).
 * Fills d_border_region_of, d_ring_region, d_border_regions, d_row_first, d_marks and the rest of
 * d_n. If has_outside is false, the tile is the whole raster: there are no border regions, and
 * d_ring_region is not written. */
qfz_status qfz_gpu_regions_border(qfz_gpu *gpu, bool has_outside, void *d_scratch,
                                  const qfz_gpu_regions *regions);

/* d_name[region] = its label in the raster, by the rule of qfz_numbers (core/engine.h). d_row_start
 * NULL: labels are 1, 2, 3 ... d_border_label NULL: the tile owns every border region. */
qfz_status qfz_gpu_regions_name(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                uint32_t n_border_regions, const uint64_t *d_row_start,
                                const uint64_t *d_border_label, uint64_t *d_name);

/* d_out[i] = d_name[region of pixel first + i], 0 where invalid, for n pixels; uint32_t, or
 * uint64_t if `wide`. */
qfz_status qfz_gpu_regions_labels(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                  const uint64_t *d_name, int64_t first, int64_t n, bool wide,
                                  void *d_out);

/* Sets the labels of n records of record_words words, of region first_region and after
 * (core/record.h), with QFZ_RECORD_SHARED in those of border regions. */
qfz_status qfz_gpu_regions_name_records(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                        uint32_t n_border_regions, const uint64_t *d_name,
                                        uint32_t first_region, uint32_t n, int record_words,
                                        uint64_t *d_records);

/* d_out[px] = d_lut[region of px]; *invalid (host memory; NULL: 0) where px is invalid.
 * value_bytes: 1, 2 or 4, else QFZ_EARG. */
qfz_status qfz_gpu_regions_paint(qfz_gpu *gpu, const qfz_gpu_regions *regions, const void *d_lut,
                                 size_t value_bytes, const void *invalid, void *d_out);
