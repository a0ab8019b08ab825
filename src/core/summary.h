/* SPDX-License-Identifier: MIT */
/* summary.h - the boundary summary and the exterior of a box of pixels: a tile or a group of tiles.
 *
 * Only pixels on a box's ring have neighbours outside the box.  So a boundary summary on the ring
 * represents the whole box to its outside, and an exterior on the ring represents the whole outside
 * to the box.  Vertices are numbers of ring pixels (box.h). */
#ifndef QFZ_SUMMARY_H
#define QFZ_SUMMARY_H

#include <string.h>

#include "core/box.h"
#include "core/rows.h"
#include "core/level.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is computed; selects the members of summary and exterior that are in use. */
typedef enum qfz_kind {
    QFZ_COMPONENTS = 0, /* regions of equal values, alpha-components, cuts */
    QFZ_LEVELS,         /* saliency */
    QFZ_OMEGA,          /* (alpha, omega)-components */
    QFZ_FILTER,         /* the edges whose filtered level is 0 */
    QFZ_JOINS,          /* the levels of a minimum spanning forest, counted (histogram.h) */
    QFZ_TREE            /* the alpha-tree of one image; nothing is stitched */
} qfz_kind;

/* Links u[i] - v[i] of level level[i], i < n, ascending by level; those of a group are in any
 * order. */
typedef struct qfz_links {
    int64_t n, room;
    uint32_t *u, *v, *level;
    uint64_t *position; /* QFZ_FILTER only: the position of the edge that the link stands for */
} qfz_links;

/* Range events: at level[i], the component of ring pixel at[i] takes in values lo..hi; in the order
 * of links.  Band b of event i is lo[i * n_bands + b] and hi[i * n_bands + b], in the raster's
 * type. */
typedef struct qfz_ranges {
    int64_t n, room;
    uint32_t *at, *level;
    void *lo, *hi;
} qfz_ranges;

/* Mass events: at (level[i], position[i]), the component of ring pixel at[i] takes in mass[i] from
 * inside, or N if that is less: saturated masses add up to N as the masses themselves do.  A
 * component that weighs N has no further events.  All that a component takes in at level 0 may be
 * one event, of any position. */
typedef struct qfz_masses {
    int64_t n, room;
    uint32_t *at, *level;
    uint64_t *position, *mass;
} qfz_masses;

typedef struct qfz_summary {
    qfz_box box;
    int sides; /* sides of the box whose pixels are in the ring (ring.h); a tile: all */
    int64_t n_ring;
    void *values;   /* values of the ring pixels: n_bands planes of n_ring */
    uint8_t *valid; /* n_ring, 0 or 1 */

    /* n_ring; bit d: the edge from the ring pixel in direction d, which leaves the box, has level 0
     * (qfz_image.zeroed).  NULL: none. */
    uint8_t *zeroed;

    /* n_dirs planes of n_ring levels, of the edges from each ring pixel (qfz_image.edges).  NULL:
     * levels are those of values. */
    uint32_t *edges;

    /* QFZ_COMPONENTS: the border region of each ring pixel, numbered from 0 by first appearance on
     * the ring; QFZ_NONE: the pixel is invalid. */
    uint32_t n_border_regions;
    uint32_t *border_region;

    qfz_links links; /* QFZ_LEVELS, QFZ_OMEGA, QFZ_JOINS, QFZ_FILTER */

    /* QFZ_LEVELS: qfz_level_bytes() of the largest level of a join of the box's minimum spanning
     * forest that no link stands for. */
    int32_t level_bytes;

    qfz_ranges ranges; /* QFZ_OMEGA */

    qfz_masses masses; /* QFZ_FILTER */
    uint64_t *weight;  /* QFZ_FILTER: of each ring pixel alone; NULL: 1 each */

    bool is_view; /* the arrays above are not freed with the summary */
    void *packed; /* memory of all arrays, freed in their place; NULL: not owned */
} qfz_summary;

typedef struct qfz_exterior {
    int64_t n_ring;

    /* QFZ_LEVELS: external links, that is, links through the outside of the box (QFZ_FILTER has
     * them, too); and the minimax levels of the edges that leave the box. */
    qfz_links external; /* at most n_ring - 1 */
    uint32_t *cross;    /* n_dirs planes of n_ring */
    uint8_t *cross_has; /* n_ring; bit d: there is an edge in direction d that leaves the box */

    /* QFZ_LEVELS: qfz_level_bytes() of the largest saliency in the raster. */
    int32_t level_bytes;

    /* QFZ_OMEGA: the region of each ring pixel, numbered from 0 by first appearance on the ring;
     * and its omega level, the largest level at which the pixel's component is within omega. */
    uint32_t n_border_regions;
    uint32_t *border_region;
    uint32_t *omega_level;

    /* QFZ_FILTER: external links (above) and mass events, in which masses come from outside; and
     * n_ring bytes, bit d: the edge from the ring pixel in direction d, which leaves the box, has
     * filtered level 0 and a higher level of its own.  If the rule wants the forest, cross has the
     * levels of those edges that leave the box and are in the forest with a filtered level above 0,
     * and 0 for all others. */
    qfz_masses masses;
    uint8_t *zeroed;

    bool is_view; /* as in a summary */
    void *packed;
} qfz_exterior;

/* Makes a summary of a box, with memory for ring values and validity, and nothing else;
 * qfz_summary_init_sides() on the ring of some sides (ring.h). */
qfz_status qfz_summary_init(qfz_summary *summary, qfz_box box, const qfz_rule *rule,
                            qfz_error *err);
qfz_status qfz_summary_init_sides(qfz_summary *summary, qfz_box box, int sides,
                                  const qfz_rule *rule, qfz_error *err);
void qfz_summary_fini(qfz_summary *summary);
void qfz_exterior_fini(qfz_exterior *exterior);

/* Copies the levels of the edges that leave a box of h x w into planes of levels of level_bytes (2
 * or 4) each, as qfz_engine.saliency() writes them. */
void qfz_exterior_place_cross(const qfz_exterior *exterior, int64_t h, int64_t w, int n_dirs,
                              int level_bytes, void *levels);

/* Converts levels of 4 bytes to 2 bytes in place: all levels are below 2^16 - 1, or QFZ_NONE. */
void qfz_levels_narrow_in_place(void *levels, int64_t n);

/* Makes room for n links or events in all; existing ones are unchanged. */
qfz_status qfz_links_reserve(qfz_links *links, int64_t n, qfz_error *err);
qfz_status qfz_ranges_reserve(qfz_ranges *ranges, int64_t n, const qfz_rule *rule, qfz_error *err);
/* Sorts by level: the first n events are sorted, and so are those after them. */
qfz_status qfz_ranges_merge(qfz_ranges *ranges, int64_t n, const qfz_rule *rule, qfz_error *err);
qfz_status qfz_masses_reserve(qfz_masses *masses, int64_t n, qfz_error *err);
void qfz_links_fini(qfz_links *links);
void qfz_ranges_fini(qfz_ranges *ranges);
void qfz_masses_fini(qfz_masses *masses);

/* Makes room for n links with positions in all. */
qfz_status qfz_links_reserve_placed(qfz_links *links, int64_t n, qfz_error *err);

/* Copies the values of one pixel, or one end of a range. */
static inline void qfz_copy_span(void *to, const void *from, size_t bytes)
{
    switch (bytes) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    default: memcpy(to, from, bytes); break;
    }
}

/* Copies the values and validity of those ring pixels of a tile that lie in some of its rows, to
 * the arrays of a summary.  tile->pixels is not read. */
void qfz_ring_take(const qfz_image *tile, const qfz_rows *rows, void *values, uint8_t *valid);

/* Copies the values and validity of all ring pixels of a tile to a summary of the tile, which of
 * their edges have level 0, and the levels of their edges where the tile has any. */
qfz_status qfz_summary_take_ring(qfz_summary *summary, const qfz_image *tile, const qfz_rule *rule,
                                 qfz_error *err);

/* The edges of level 0 alone: summary->zeroed, if the tile has any. */
qfz_status qfz_summary_take_zeroed(qfz_summary *summary, const qfz_image *tile, qfz_error *err);

/* The levels of edges alone: summary->edges, if the tile has any. */
qfz_status qfz_summary_take_edges(qfz_summary *summary, const qfz_image *tile, const qfz_rule *rule,
                                  qfz_error *err);

#ifdef __cplusplus
}
#endif

#endif
