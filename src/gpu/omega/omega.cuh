/* SPDX-License-Identifier: MIT */
/* omega.cuh - (alpha, omega)-components (Soille, TPAMI 2008) from a Boruvka forest.
 *
 * Every node c of the forest (forest/boruvka.cuh) joins its parent at level L(c), that of its
 * lightest edge.  Attach each node to its first ancestor whose own L is greater; then levels
 * increase on the way up, and
 *
 *   T(c), c and all that is attached to c, directly or not, is c's component right below L(c);
 *   c's component at a level t < L(c) is c and the T(d) of all d attached to c with L(d) <= t.
 *
 * A component is too wide if its range exceeds omega.  A node breaks at level s(c), the first level
 * at which its component is too wide; that requires that T(c) is too wide.  A node whose T is too
 * wide breaks the node to which it is attached: s(parent) <= L(c).  Node c is in the region of its
 * parent if and only if L(c) < s(parent).  So the algorithm only has to find s of the nodes whose T
 * is too wide, by bins for the levels of the nodes attached to them.  No tree of components is
 * built, and the number of launches does not depend on the data.
 *
 * Components of level 0 always qualify, so s >= 1.  With several bands, s is the least s of a band.
 *
 * With an exterior from stitching: the component of ring pixel r qualifies up to omega_level(r) in
 * the whole raster, and the part of the component in the tile does not break earlier.  So the only
 * addition is that r breaks at omega_level(r) + 1.
 *
 * The first step runs in the blocks of the forest, in shared memory (omega_block.cu).  A node that
 * is attached to a component with edges out of its block becomes a record; records and vertices of
 * all blocks are solved in global memory (omega_graph.cu). */
#pragma once

#include "gpu/forest/boruvka.cuh"

/* Per ring pixel, in device memory, as in qfz_exterior: its border region (QFZ_NONE where the pixel
 * is invalid), and its omega_level, the largest level at which its component is within omega. */
typedef struct qfz_gpu_omega_exterior {
    const uint32_t *d_border_region, *d_omega_level;
} qfz_gpu_omega_exterior;

/* Bytes of scratch memory that any of the functions below needs. */
size_t qfz_gpu_omega_bytes(const qfz_rule *rule, int32_t h, int32_t w);

/* Dynamic shared memory, bytes, that their blocks of threads need, in addition to
 * qfz_gpu_forest_shared(). */
size_t qfz_gpu_omega_shared(const qfz_gpu_edges *edges);

/* d_root[px] = the first pixel of px's region, QFZ_NONE where px is invalid; d_root may be
 * d_scratch.  exterior: NULL if the tile is the whole raster; regions that have the same border
 * region in the exterior are one region. */
qfz_status qfz_gpu_omega(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                         const qfz_gpu_omega_exterior *exterior, void *d_scratch, uint32_t *d_root);

/* The tile's boundary summary: links and range events, as in qfz_summary, in steps, because the
 * host must know the number of range events before they can be sorted.  After
 * qfz_gpu_omega_links(),
 * (*d_n)[0] on the device is the number of links, (*d_n)[1] the number of range events.  If that is
 * at most qfz_gpu_omega_events(), the caller passes it to qfz_gpu_omega_ranges().  Otherwise events
 * are made in parts: (*d_n)[2] is the number of items, each of which has at most one event.  For
 * parts of at most qfz_gpu_omega_events() items, qfz_gpu_omega_part() makes the events, whose
 * number
 * (*d_n)[1] then is, and qfz_gpu_omega_ranges() sorts them.  The results lie in d_scratch, which
 * the caller must not change between the calls. */
typedef struct qfz_gpu_ranges {
    uint32_t *d_at, *d_level;
    void *d_lo, *d_hi; /* band b of event i at [i * n_bands + b], in the raster's type */
} qfz_gpu_ranges;

qfz_status qfz_gpu_omega_links(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                               void *d_scratch, qfz_gpu_links *links, uint32_t **d_n);
uint32_t qfz_gpu_omega_events(const qfz_rule *rule, int32_t h, int32_t w);
qfz_status qfz_gpu_omega_part(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                              void *d_scratch, uint32_t first_item, uint32_t n);
qfz_status qfz_gpu_omega_ranges(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                                void *d_scratch, uint32_t n, qfz_gpu_ranges *ranges);
