/* SPDX-License-Identifier: MIT */
/* boruvka.cuh - minimax levels of a tile by Boruvka's algorithm: a forest in device memory, from
 * which the saliency of every edge, the alpha-tree, the (alpha, omega)-components and the links of
 * the tile's boundary summary are computed.
 *
 * In a round every component hooks itself to a neighbouring component by its lightest edge and
 * stores the level of that edge.  King (A simpler minimum spanning tree verification algorithm,
 * Algorithmica 1997) shows: the greatest level on the path between two pixels in the forest of
 * these hooks is their minimax level, whatever order breaks ties; and no path up is longer than the
 * number of rounds, which is logarithmic in the number of pixels, whatever the bit depth.
 *
 * A component may skip rounds.  Therefore each block of 64 x 64 pixels is solved alone
 * (block.cuh); a component whose lightest edge leaves the block waits, and the
 * remaining components become the vertices of a small graph in global memory, on which the rounds
 * go on (boruvka_global.cu).
 *
 * An edge does not exist only where one of its two pixels is invalid or outside the tile.  All
 * minimax levels are independent of the schedule; the pairs of pixels that links name are not. */
#pragma once

#include "core/box.h"
#include "gpu/device/image.cuh"

/* Links between pixels of a tile's ring (numbered as in core/box.h), in device memory. */
typedef struct qfz_gpu_links {
    int64_t n;
    uint32_t *d_u, *d_v, *d_level;
} qfz_gpu_links;

static inline void qfz_gpu_links_take(qfz_carve *carve, int64_t n, qfz_gpu_links *links)
{
    qfz_carve_take(carve, &links->d_u, n);
    qfz_carve_take(carve, &links->d_v, n);
    qfz_carve_take(carve, &links->d_level, n);
}

/* The forest of a tile; its arrays lie in the scratch memory that the caller passed. */
typedef struct qfz_gpu_forest {
    int32_t h, w, n_x; /* n_x: number of blocks in a row of blocks */
    int64_t n_blocks;
    int connectivity;
    bool wide;       /* levels have 32 bits, not 16 */
    bool keeps_ring; /* every pixel of the tile's ring is a vertex of the global graph */
    int n_cuts;      /* links do not cross the first n_cuts of these cuts; 0 for a tile */
    uint32_t cut[3]; /* the ring pixel after each cut */
    int32_t rim_room, comp_room; /* upper bounds per block: pixels on its ring; components */

    /* Per pixel: the component of its block to which it hooked itself, or QFZ_NO_COMP if it has no
     * edge, and the level of this hook (qfz_tops(), qfz_comps()).  top has 4 bytes a pixel: a plane
     * of levels if wide; else, per row of a block, the levels, followed by the components.  A
     * kernel that has read a block may overwrite these words with a plane of 4 bytes a pixel. */
    void *top;
    uint16_t *comp; /* wide only: the components */

    /* Per block comp_room entries, the hooks of its components: level << 16 | step; if wide,
     * levels, and steps in an array of their own (boruvka_parts.cuh). */
    uint32_t *hooks;
    uint16_t *steps;
    uint2 *block; /* x: first vertex; y: end of the components' numbers */

    /* The graph of all blocks. */
    int64_t vertex_room, edge_room, left_room; /* upper bounds; left: edges after the first round */
    uint2 *up;                                 /* per vertex: parent << 5 | round, level */
    uint32_t *count;                           /* counters (boruvka_parts.cuh) */
    uint2 *rim; /* rim_room entries a block: a ring pixel's vertex, greatest level on the path up */
    uint2 *ends[2];
    void *level[2]; /* uint16_t or, wide, uint32_t (qfz_edge_level()) */
    unsigned long long *best[2];
    uint32_t *root, *origin[2];

    /* True if the block kernels store the lightest edge of each vertex: best[0], and in root[] the
     * place of its other end in rim[].  best[0] is all ones for vertices that skip the first round.
     */
    bool first_known;
} qfz_gpu_forest;

/* The parts of a forest's memory; each begins with the one before it. */
typedef enum qfz_forest_part {
    QFZ_FOREST_HOOKS = 0, /* hooks of pixels and components */
    QFZ_FOREST_CACHED,    /* in use when `steps` and `up` are not needed any more */
    QFZ_FOREST_MADE, /* in use once the forest is complete, without rims, which some readers need */
    QFZ_FOREST_RING, /* the same with rims */
    QFZ_FOREST_ALL
} qfz_forest_part;

/* Bytes of this part of a forest of a tile with such edges: in all, about 11 bytes a pixel for
 * 16-bit levels, 13 for 32-bit ones; more for tiles of a few columns or rows. */
size_t qfz_gpu_forest_bytes(const qfz_gpu_edges *edges, qfz_forest_part part);

/* Upper bound of the number of vertices of a tile's graph of all blocks. */
int64_t qfz_gpu_forest_vertices(int32_t h, int32_t w);

/* Dynamic shared memory, bytes, that a block of threads of the block solver needs, whatever its
 * output; not every GPU has as much. */
size_t qfz_gpu_forest_shared(const qfz_gpu_edges *edges);

/* Builds the forest of the tile's edges, which are a band of 8 or 16 bits or of floats, or planes
 * of levels.  keep_ring: every ring pixel becomes a vertex, which qfz_gpu_border_links() requires.
 * d_scratch: the bytes of QFZ_FOREST_ALL, which the forest refers to afterwards.  QFZ_ENOMEM if the
 * tile has too many vertices for the packed words. */
qfz_status qfz_gpu_forest_make(qfz_gpu *gpu, const qfz_gpu_edges *edges, bool keep_ring,
                               void *d_scratch, qfz_gpu_forest *forest);

/* Computes links that give all pairs of ring pixels the same minimax levels as the forest; at most
 * n_ring - 1 links, in ascending order of level.  links has room for n_ring of them; their number
 * goes to *d_n, and links->n is not written.  The forest must keep the ring.  Of the forest, best[]
 * is overwritten, which was in use during its construction only. */
size_t qfz_gpu_border_links_bytes(int32_t h, int32_t w);
qfz_status qfz_gpu_border_links(qfz_gpu *gpu, const qfz_gpu_forest *forest, void *d_scratch,
                                const qfz_gpu_links *links, uint32_t *d_n);
