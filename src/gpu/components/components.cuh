/* SPDX-License-Identifier: MIT */
/* components.cuh - connected components of a tile in device memory, by runs: the runs of each block
 * of 64 x 64 pixels are united in shared memory, only components that touch their block's ring are
 * united in global memory, and a last kernel writes each pixel once.
 *
 * d_root[px] = index of the first pixel of px's component, QFZ_NONE where px is invalid. Memory
 * traffic: the input is read once; 0.4 bytes a pixel and 2 bytes a run are written and read; 4
 * bytes a pixel are written.
 *
 * Runs as bits of words: Hennequin, Lacassagne, Cabaret, Meunier, A new direct connected component
 * labeling and analysis algorithms for GPUs (DASIP 2018). Union by minimum: Playne, Hawick, A new
 * algorithm for parallel connected-component labelling on GPUs (IEEE TPDS 2018). */
#pragma once

#include "gpu/components/region_arrays.cuh"
#include "gpu/device/image.cuh"

/* Bytes of scratch memory of qfz_gpu_components(); h * w < 2^31. */
size_t qfz_gpu_components_bytes(const qfz_rule *rule, int32_t h, int32_t w);

/* Finds the components of an image: d_root has room for h * w. Values of one band are compared as
 * they are read; other rasters pass through a plane of joins (image.cuh) in the scratch memory.
 * QFZ_EARG if h * w > 2^31 - 1. */
qfz_status qfz_gpu_components(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                              void *d_scratch, uint32_t *d_root);

/* Numbers the regions of an image: fills *regions as qfz_gpu_components() and then
 * qfz_gpu_regions_number() would, in fewer passes over the pixels, except d_count, which is not
 * written. d_scratch has qfz_gpu_components_number_bytes(). */
size_t qfz_gpu_components_number_bytes(const qfz_rule *rule, int32_t h, int32_t w);
qfz_status qfz_gpu_components_number(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                                     void *d_scratch, const qfz_gpu_regions *regions);
