/* SPDX-License-Identifier: MIT */
/* published.cuh - labeling kernels as their authors published them, chosen by name.
 *
 * One band, valid pixels of equal value join: d_root[px] = index y * w + x of the first pixel of
 * px's region, QFZ_NONE where px is invalid.  A foreground alone (no values) is the papers' binary
 * input: all valid pixels join.
 *
 *   stava   Stava, Benes, Connected component labeling in CUDA (GPU Computing Gems, 2011)
 *   c2fl    Chen et al., Efficient parallel connected components labeling with a coarse-to-fine
 *           strategy (2018)
 *   ha4     Hennequin, Lacassagne, Cabaret, Meunier, A new direct connected component labeling and
 *           analysis algorithms for GPUs (DASIP 2018), two pixels a thread; ha4-32: one
 *
 * Beyond the papers: any height and width, both connectivities, segments of 8, 16 and 32 bits by
 * all of them. */
#ifndef QFZ_GPU_PUBLISHED_CUH
#define QFZ_GPU_PUBLISHED_CUH

#include "gpu/device/device.cuh"
#include "core/level.h"

typedef struct qfz_gpu_segments {
    int32_t h, w;         /* h * w < 2^31 */
    int connectivity;     /* 4 or 8 */
    qfz_type type;        /* of the values; an integer's */
    const void *d_values; /* h * w; NULL: the valid pixels are the foreground of a binary raster */
    const uint8_t *d_valid; /* h * w, 0 = invalid; NULL: all are valid; not both NULL */
} qfz_gpu_segments;

typedef enum qfz_gpu_method {
    QFZ_METHOD_STAVA = 0,
    QFZ_METHOD_C2FL,
    QFZ_METHOD_HA4,
    QFZ_METHOD_HA4_32,
    QFZ_N_METHODS
} qfz_gpu_method;

extern const char *const qfz_gpu_method_names[QFZ_N_METHODS];

/* Finds a method by name.  QFZ_EARG, naming the method and the reason, where there is none of that
 * name or it cannot label by such a rule. */
qfz_status qfz_gpu_method_of(const char *name, const qfz_rule *rule, qfz_gpu_method *method,
                             qfz_error *err);

/* Labels by a method.  Asynchronous.  Where the equivalences are kept is d_root; d_scratch has the
 * bytes that the function before says for the method, none for some. */
size_t qfz_gpu_published_bytes(qfz_gpu_method method, int32_t h, int32_t w);
qfz_status qfz_gpu_published(qfz_gpu *gpu, qfz_gpu_method method, const qfz_gpu_segments *segments,
                             void *d_scratch, uint32_t *d_root);

/* Can a kernel be started on it?  QFZ_EARG and why not. */
qfz_status qfz_gpu_segments_check(qfz_gpu *gpu, const qfz_gpu_segments *segments);

/* The methods, one file each. */
qfz_status qfz_gpu_stava(qfz_gpu *gpu, const qfz_gpu_segments *segments, uint32_t *d_root);
qfz_status qfz_gpu_c2fl(qfz_gpu *gpu, const qfz_gpu_segments *segments, uint32_t *d_root);
size_t qfz_gpu_ha4_bytes(int32_t h, int32_t w);
qfz_status qfz_gpu_ha4(qfz_gpu *gpu, const qfz_gpu_segments *segments, void *d_scratch,
                       uint32_t *d_root);
size_t qfz_gpu_ha4_32_bytes(int32_t h, int32_t w);
qfz_status qfz_gpu_ha4_32(qfz_gpu *gpu, const qfz_gpu_segments *segments, void *d_scratch,
                          uint32_t *d_root);

/* HA4's first two kernels: d_bits gets two words for each 64 pixels of a row (segments.cuh), and
 * d_parent what leads from the start of each segment to the first pixel of its region. */
template <typename WORD> struct qfz_row_bits;
qfz_status qfz_gpu_ha4_forest(qfz_gpu *gpu, const qfz_gpu_segments *segments,
                              qfz_row_bits<uint64_t> *d_bits, uint32_t *d_parent);

#endif
