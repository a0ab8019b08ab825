/* SPDX-License-Identifier: MIT */
/* components.cuh - connected components of a tile in device memory.
 *
 * d_root[px] = index of the first pixel of px's component, QFZ_NONE where px is invalid.
 *
 * Runs of joined pixels are the units.  Blocks of 64 x 64 pixels are solved in shared memory; only
 * components that touch a block's border meet in global memory; a last kernel writes each pixel
 * once.  Per pixel: the input is read once, 0.4 bytes and 2 a run are written and read, 4 bytes
 * are written.
 *
 * Runs as bits of words: Hennequin, Lacassagne, Cabaret, Meunier, A new direct connected component
 * labeling and analysis algorithms for GPUs (DASIP 2018); union by minimum: Playne, Hawick, A new
 * algorithm for parallel connected-component labelling on GPUs (IEEE TPDS 2018). */
#ifndef QFZ_GPU_COMPONENTS_CUH
#define QFZ_GPU_COMPONENTS_CUH

#include "gpu/device/image.cuh"
#include "gpu/features/regions.cuh"

/* Scratch memory; h * w < 2^31. */
size_t qfz_gpu_components_bytes(const qfz_rule *rule, int32_t h, int32_t w);

/* Components of an image.  What one band says is compared where it is read; other rasters pass
 * through a plane of joins (image.cuh) in the scratch memory. */
qfz_status qfz_gpu_components(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                              void *d_scratch, uint32_t *d_root);

/* An image's regions at once: what qfz_gpu_components() and qfz_gpu_regions_number() make of it, in
 * fewer passes over the pixels; but for counts, which it does not make.  d_cached, of
 * qfz_gpu_components_cached_bytes(), is for zones.cuh. */
size_t qfz_gpu_components_cached_bytes(int32_t h, int32_t w);
size_t qfz_gpu_components_number_bytes(const qfz_rule *rule, int32_t h, int32_t w);
qfz_status qfz_gpu_components_number(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                                     void *d_cached, void *d_scratch,
                                     const qfz_gpu_regions *regions);

#endif
