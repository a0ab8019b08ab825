/* SPDX-License-Identifier: MIT */
/* published.cuh - labeling kernels implemented from their papers, selected by name (--method,
 * core/method.h).
 *
 * Valid pixels of equal value in one band of integers are joined. d_root[px] = index y * w + x of
 * the first pixel of px's region, QFZ_NONE where px is invalid.
 *
 *   stava   Šťava, Beneš, Connected Component Labeling in CUDA (GPU Computing Gems, 2011)
 *   c2fl    Chen et al., Efficient parallel connected components labeling with a coarse-to-fine
 *           strategy (2018)
 *   ha4     Hennequin, Lacassagne, Cabaret, Meunier, A new direct connected component labeling and
 *           analysis algorithms for GPUs (DASIP 2018), 64-bit bitmasks, two pixels a thread
 *   ha4-32  the same, 32-bit bitmasks, one pixel a thread
 *
 * Beyond the papers all methods accept any height and width, both connectivities, and values of 8,
 * 16 and 32 bits. */
#pragma once

#include "core/method.h"
#include "gpu/device/image.cuh"

/* Labels the first band of an image by a method; connectivity: 4 or 8. The union-find forest is
 * d_root itself; d_scratch has qfz_gpu_published_bytes() of the method, 0 for some. */
size_t qfz_gpu_published_bytes(qfz_method method, int32_t h, int32_t w);
qfz_status qfz_gpu_published(qfz_gpu *gpu, qfz_method method, const qfz_gpu_image *image,
                             int connectivity, void *d_scratch, uint32_t *d_root);

/* QFZ_EARG if no method labels such an image, with the reason. */
qfz_status qfz_gpu_published_check(qfz_gpu *gpu, const qfz_gpu_image *image, int connectivity);

/* The methods, one file each; bits: of HA4's masks, 64 or 32. */
qfz_status qfz_gpu_stava(qfz_gpu *gpu, const qfz_gpu_image *image, int connectivity,
                         uint32_t *d_root);
qfz_status qfz_gpu_c2fl(qfz_gpu *gpu, const qfz_gpu_image *image, int connectivity,
                        uint32_t *d_root);
size_t qfz_gpu_ha4_bytes(int bits, int32_t h, int32_t w);
qfz_status qfz_gpu_ha4(qfz_gpu *gpu, int bits, const qfz_gpu_image *image, int connectivity,
                       void *d_scratch, uint32_t *d_root);

/* HA4's first two kernels. d_bits receives two words for each 64 pixels of a row (segments.cuh),
 * d_parent, at starts of segments, the parents that lead to their regions' first pixels. */
template <typename WORD> struct qfz_row_bits;
qfz_status qfz_gpu_ha4_forest(qfz_gpu *gpu, const qfz_gpu_image *image, int connectivity,
                              qfz_row_bits<uint64_t> *d_bits, uint32_t *d_parent);
