/* SPDX-License-Identifier: MIT */
/* omega.cuh - (alpha, omega)-components (Soille, TPAMI 2008) out of a Boruvka forest.
 *
 * Every node of the forest (boruvka.cuh) joined its parent at the level L of its lightest edge.  So
 * for t < L the component of a node at level t holds nothing but what hung on the node by then, and
 * for t >= L it holds the parent too.  Let each node hang on its first ancestor whose own L is
 * greater; then levels grow on the way up, and
 *
 *   T(c)  what hangs on c, directly or not, is c's component right below level L(c);
 *   c's component at a level t < L(c) is c and T(d) of all d that hang on c with L(d) <= t.
 *
 * A node breaks at the first level s at which that component is too wide; it can only be so if its
 * whole T is.  A node whose T is too wide breaks whatever it joins: s(parent) <= L.  And a node
 * belongs to its parent's region if, and only if, L(c) < s(parent).  So all that has to be searched
 * for is s of the nodes whose T is too wide, by bisection over the levels of what hangs on them;
 * no tree of components is ever made, and the number of launches does not depend on the data.
 *
 * Components of level 0 always qualify, so that no s is less than 1.  With several bands s is the
 * least of the bands' s.
 *
 * With an answer from stitching: a component that reaches a ring pixel holds as long as that
 * pixel's component does in the whole raster, and never breaks omega by what is in the tile before.
 * So the only thing to add is that ring pixel r breaks at omega_level(r) + 1.
 *
 * First in the blocks of the forest, in shared memory (omega_block.cu); what hangs on a component
 * that goes on outside becomes a record, and all blocks' records and vertices are solved in global
 * memory (omega_graph.cu). */
#ifndef QFZ_GPU_OMEGA_CUH
#define QFZ_GPU_OMEGA_CUH

#include "gpu/forest/boruvka.cuh"

/* As in qfz_exterior, in device memory: QFZ_NONE as border_region where a ring pixel is invalid. */
typedef struct qfz_gpu_omega_exterior {
    const uint32_t *d_border_region, *d_omega_level;
} qfz_gpu_omega_exterior;

/* Scratch memory for either of the functions below. */
size_t qfz_gpu_omega_bytes(const qfz_rule *rule, int32_t h, int32_t w);

/* Shared memory that their blocks of threads need, beside those that make the forest. */
size_t qfz_gpu_omega_shared(const qfz_gpu_edges *edges);

/* d_root[px] = first pixel of its region, QFZ_NONE where invalid; it may be d_scratch itself.
 * answer NULL: the tile is the whole raster; else regions of one border_region are one region. */
qfz_status qfz_gpu_omega(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                         const qfz_gpu_omega_exterior *answer, void *d_scratch, uint32_t *d_root);

/* What a tile tells of its ring: links and ranges as in qfz_summary.  It comes in two steps, since
 * how many ranges there are must be known on the host before they can be sorted: after the first,
 * d_n[0] is the number of links, d_n[1] that of ranges.  Everything lies in the scratch memory,
 * which nothing else may use in between. */
typedef struct qfz_gpu_ranges {
    uint32_t *d_at, *d_level;
    void *d_lo, *d_hi; /* band b of absorb i at [i * n_bands + b], in the raster's type */
} qfz_gpu_ranges;

qfz_status qfz_gpu_omega_links(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                               void *d_scratch, qfz_gpu_links *links, uint32_t **d_n);
qfz_status qfz_gpu_omega_ranges(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                                void *d_scratch, uint32_t n, qfz_gpu_ranges *ranges);

#endif
