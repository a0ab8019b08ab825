/* SPDX-License-Identifier: MIT */
/* boruvka.cuh - minimax levels of a tile by Boruvka's algorithm: a forest in device memory out of
 * which come the saliency of every edge and the links that summarise the tile on its ring.
 *
 * In a round every component hooks itself to a neighbour by its lightest edge and remembers that
 * edge's level.  By King (A simpler minimum spanning tree verification algorithm, Algorithmica
 * 1997) the greatest level on the way between two pixels in the forest so made is their minimax
 * level, whatever order breaks ties; and no way is longer than the number of rounds, which is
 * logarithmic, whatever the bit depth.  A component may sit rounds out: so blocks of 64 x 64 pixels
 * go on alone as long as a component's lightest edge stays in its block (boruvka_block.cu), and
 * what is left is contracted to a small graph in global memory (boruvka_global.cu).
 *
 * An edge is missing (see image.cuh) only where one of its two pixels is invalid or outside.
 * Results do not depend on the schedule; which pairs the links name does. */
#ifndef QFZ_GPU_BORUVKA_CUH
#define QFZ_GPU_BORUVKA_CUH

#include "core/box.h"
#include "gpu/device/image.cuh"

/* Links between pixels of a tile's ring (their numbers as in box.h), in device memory. */
typedef struct qfz_gpu_links {
    int64_t n;
    uint32_t *d_u, *d_v, *d_level;
} qfz_gpu_links;

/* A tile's forest; the arrays lie in the scratch memory that it was made in. */
typedef struct qfz_gpu_forest {
    int32_t h, w, n_x; /* n_x: blocks in a row of blocks */
    int64_t n_blocks;
    int connectivity;
    bool wide;       /* levels have 32 bits, not 16 */
    bool keeps_ring; /* every pixel of the tile's ring is a vertex of the global graph */
    int n_cuts;      /* the ring is cut before these pixels, and links do not lead across: 0 */
    uint32_t cut[3];
    int32_t rim_room, comp_room; /* of a block, at most: pixels of its rim; components */

    /* Of a pixel: by which level it hooked itself to a component in its block, and to which one,
     * or QFZ_NO_COMP: it has no edge (qfz_tops(), qfz_comps()).  top has 4 bytes a pixel: wide, a
     * plane of levels; else of each row of each block the levels, then the components.  So whoever
     * is done with a block may put other 4 bytes a pixel there, a plane. */
    void *top;
    uint16_t *comp; /* wide only: the components */

    /* Of a block: its components' hooks, comp_room entries, level << 16 | step; or, wide, levels,
     * and steps in an array of their own (boruvka_parts.cuh). */
    uint32_t *hooks;
    uint16_t *steps;
    uint2 *block; /* first vertex; rounds << 16 | components, with a gap in their numbers */

    /* The graph of all blocks. */
    int64_t vertex_room, edge_room, left_room; /* left: edges after the first round */
    uint2 *up;                                 /* of a vertex: parent << 5 | round, level */
    uint32_t *count;                           /* (boruvka_parts.cuh) */
    uint2 *rim; /* rim_room entries a block: a rim pixel's vertex, greatest level up to it */
    uint2 *ends[2];
    void *level[2]; /* uint16_t or, wide, uint32_t (qfz_edge_level()) */
    unsigned long long *best[2];
    uint32_t *root, *origin[2];

    /* Blocks tell the lightest edge of each vertex, best[0], and in root[] where its other end is
     * in rim[]; all bits set of those that sit the first round out. */
    bool first_known;
} qfz_gpu_forest;

/* A forest of a tile of this size and form takes about 11 bytes a pixel of 16-bit levels, 13 of
 * 32-bit ones; narrow tiles take more. */
size_t qfz_gpu_forest_bytes(const qfz_gpu_edges *edges, int64_t n_external);

/* Those of them, the first, that are of use when the forest is made; and of these the first that
 * are when nobody climbs any more: all but steps and up. */
size_t qfz_gpu_forest_made_bytes(const qfz_gpu_edges *edges);
size_t qfz_gpu_forest_cached_bytes(const qfz_gpu_edges *edges);

/* The most vertices that the graph of all blocks of a tile can have. */
int64_t qfz_gpu_forest_vertices(int32_t h, int32_t w);

/* Shared memory that the blocks of threads below need: not every GPU has as much. */
size_t qfz_gpu_forest_shared(const qfz_gpu_edges *edges);

/* Must the edges that it is made of come as planes of keys?  Else the band is read as it is. */
bool qfz_gpu_forest_needs_levels(const qfz_rule *rule);

/* Makes the forest of the tile's edges and, unless NULL, of external: links through the outside of
 * the tile.  keep_ring: needed for external and for qfz_gpu_border_links().  d_scratch has
 * qfz_gpu_forest_bytes(). */
qfz_status qfz_gpu_forest_make(qfz_gpu *gpu, const qfz_gpu_edges *edges, bool keep_ring,
                               const qfz_gpu_links *external, void *d_scratch,
                               qfz_gpu_forest *forest);

/* Links with the same minimax levels between all pixels of the ring as the forest has, ascending
 * by level; at most n_ring - 1 of them.  links has room for n_ring; links->n is not touched, their
 * number goes to *d_n.  The forest must keep the ring; it is of no use afterwards. */
size_t qfz_gpu_border_links_bytes(int32_t h, int32_t w);
qfz_status qfz_gpu_border_links(qfz_gpu *gpu, const qfz_gpu_forest *forest, void *d_scratch,
                                const qfz_gpu_links *links, uint32_t *d_n);

#endif
