/* SPDX-License-Identifier: MIT */
/* summary.h - what a box of pixels tells of its border, and what it is told back.
 *
 * Only pixels on a box's ring have neighbours outside it, so a summary on the ring stands for the
 * whole box, a tile or a group of tiles alike.  Vertices are numbers of ring pixels (box.h). */
#ifndef QFZ_SUMMARY_H
#define QFZ_SUMMARY_H

#include <string.h>

#include "core/box.h"
#include "core/rows.h"
#include "core/level.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which question is asked; it selects the members of summary and answer that are in use. */
typedef enum qfz_kind {
    QFZ_COMPONENTS = 0, /* zones of equal values, alpha-components, cuts */
    QFZ_LEVELS,         /* saliency */
    QFZ_OMEGA,          /* (alpha, omega)-components */
    QFZ_TREE            /* the alpha-tree of one image; nothing is stitched */
} qfz_kind;

/* Edges u[i] - v[i] of key level[i], ascending by level; those of a group in any order. */
typedef struct qfz_links {
    int64_t n, room;
    uint32_t *u, *v, *level;
} qfz_links;

/* At level[i], the component of at[i] takes in pixels with values in lo..hi; in order as links are.
 * Band b of event i is lo[i * n_bands + b], in the raster's type. */
typedef struct qfz_ranges {
    int64_t n, room;
    uint32_t *at, *level;
    void *lo, *hi;
} qfz_ranges;

typedef struct qfz_summary {
    qfz_box box;
    int sides; /* that its ring has (stitch/ring.h): of a tile all */
    int64_t n_ring;
    void *values;   /* n_bands planes of n_ring */
    uint8_t *valid; /* n_ring, 0 or 1 */

    /* QFZ_COMPONENTS: component of each ring pixel, numbered from 0 by first appearance on the
     * ring, QFZ_NONE where invalid. */
    uint32_t n_border_regions;
    uint32_t *border_region;

    qfz_links links;   /* QFZ_LEVELS, QFZ_OMEGA */
    qfz_ranges ranges; /* QFZ_OMEGA */

    bool is_view; /* the arrays lie elsewhere: */
    void *packed; /* in here, which goes instead of them; NULL: they are somebody else's */
} qfz_summary;

typedef struct qfz_exterior {
    int64_t n_ring;

    /* QFZ_LEVELS: edges through the outside, and the keys of the edges that leave the box. */
    qfz_links external; /* at most n_ring - 1 */
    uint32_t *cross;    /* n_dirs planes of n_ring */
    uint8_t *cross_has; /* n_ring; bit d: there is an edge in direction d that leaves the box */

    /* QFZ_OMEGA: the region of each ring pixel, numbered from 0 by first appearance on the ring,
     * and the largest key up to which the pixel's component keeps within omega. */
    uint32_t n_border_regions;
    uint32_t *border_region;
    uint32_t *omega_level;

    bool is_view; /* as in a summary */
    void *packed;
} qfz_exterior;

/* An empty summary of a box: ring values and validity allocated, nothing else; the second on the
 * ring of some sides (ring.h). */
qfz_status qfz_summary_init(qfz_summary *summary, qfz_box box, const qfz_rule *rule,
                            qfz_error *err);
qfz_status qfz_summary_init_sides(qfz_summary *summary, qfz_box box, int sides,
                                  const qfz_rule *rule, qfz_error *err);
void qfz_summary_fini(qfz_summary *summary);
void qfz_exterior_fini(qfz_exterior *answer);

/* Puts the keys of the edges that leave a box of h x w into its planes of keys, of level_bytes. */
void qfz_exterior_place_cross(const qfz_exterior *answer, int64_t h, int64_t w, int n_dirs,
                              int level_bytes, void *keys);

/* Keys of 4 bytes become such of 2 in the same place: all are below 2^16 - 1, or QFZ_NONE. */
void qfz_levels_narrow_in_place(void *keys, int64_t n);

/* Room for n links or events; what is there already is kept. */
qfz_status qfz_links_reserve(qfz_links *links, int64_t n, qfz_error *err);
qfz_status qfz_ranges_reserve(qfz_ranges *ranges, int64_t n, const qfz_rule *rule, qfz_error *err);
void qfz_links_fini(qfz_links *links);
void qfz_ranges_fini(qfz_ranges *ranges);

/* The values of one pixel, or one end of a range of them. */
static inline void qfz_copy_span(void *to, const void *from, size_t bytes)
{
    switch (bytes) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    default: memcpy(to, from, bytes); break;
    }
}

/* Copies what the ring of a tile, h x w, has in some of its rows: values to n_bands planes of the
 * ring's size, and validity, in a summary's order.  tile->pixels is not looked at. */
void qfz_ring_take(const qfz_image *tile, const qfz_rows *rows, void *values, uint8_t *valid);

/* Copies the ring's values and validity out of a tile's image. */
void qfz_summary_take_ring(qfz_summary *summary, const qfz_image *tile);

#ifdef __cplusplus
}
#endif

#endif
