/* SPDX-License-Identifier: MIT */
/* filter.h - the area filter of a graph: which edges have filtered level 0.
 *
 * Kruskal's algorithm adds edges in the order of (level, position), which is total (position.h).
 * An edge that joins two components has filtered level 0 if the lighter one weighs less than N,
 * else its own level.  The cuts of the hierarchy under the filtered levels have no region lighter
 * than N, except whole areas of valid pixels that are (Perret, Cousty, Guimaraes, Kenmochi, Najman,
 * Removing non-significant regions in hierarchical clustering and segmentation, Pattern Recognition
 * Letters 128, 2019).
 *
 * A vertex is a pixel, or a pixel on the ring of a box.  A mass event of a vertex stands for a
 * component that no other vertex touches: the vertex's component takes in its mass.  Weights
 * saturate at N. */
#ifndef QFZ_FILTER_H
#define QFZ_FILTER_H

#include "core/summary.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qfz_filter_key {
    uint64_t position;
    uint32_t level, item;
} qfz_filter_key;

/* Reads events from number `from` on, one at least: *window is valid until the next call.  False: a
 * failure, which the caller of the pass learns from arg; the pass ends. */
typedef bool (*qfz_filter_read)(void *arg, int64_t from, qfz_masses *window);

/* n mass events in ascending order, of ring pixels, which are vertices from first on. */
typedef struct qfz_filter_events {
    int64_t n;
    uint32_t first;
    qfz_filter_read read;
    void *arg;
} qfz_filter_events;

enum { QFZ_FILTER_LISTS = 4 };

/* Edges and links u[i] - v[i], and mass events of u[i], whose v[i] is QFZ_NONE.  Lists of further
 * events stay where they are, and are read in parts: there may be many. */
typedef struct qfz_filter_items {
    int64_t n, room;
    uint32_t *u, *v;
    uint64_t *mass;              /* of events */
    qfz_filter_key *key, *spare; /* key[i]: of item i, or in ascending order after the sort */
    int n_lists;
    qfz_filter_events lists[QFZ_FILTER_LISTS];
} qfz_filter_items;

qfz_status qfz_filter_items_reserve(qfz_filter_items *items, int64_t n, qfz_error *err);
int64_t qfz_filter_items_bytes(int64_t n); /* that it allocates at first */
void qfz_filter_items_fini(qfz_filter_items *items);

static inline void qfz_filter_add(qfz_filter_items *items, uint32_t level, uint64_t position,
                                  uint32_t u, uint32_t v, uint64_t mass)
{
    const int64_t i = items->n++;
    items->key[i] = (qfz_filter_key){position, level, (uint32_t)i};
    items->u[i] = u;
    items->v[i] = v;
    items->mass[i] = mass;
}

/* Adds links and events; ring pixel i is vertex first + i, or vertex_of[i] unless that is NULL.
 * There must be room. */
void qfz_filter_add_links(qfz_filter_items *items, const qfz_links *links, uint32_t first,
                          const uint32_t *vertex_of);
void qfz_filter_add_masses(qfz_filter_items *items, const qfz_masses *masses, uint32_t first,
                           const uint32_t *vertex_of);

void qfz_filter_sort(qfz_filter_items *items);

/* The same, if the first n_sorted keys are in order. */
void qfz_filter_sort_rest(qfz_filter_items *items, int64_t n_sorted);

/* a + b, both at most `least`, saturated. */
static inline uint64_t qfz_filter_sum(uint64_t a, uint64_t b, uint64_t least)
{
    return a >= least - b ? least : a + b;
}

/* The root of a set, which up[] leads to. */
static inline uint32_t qfz_filter_root(uint32_t *up, uint32_t v)
{
    while (up[v] != v)
        v = up[v] = up[up[v]];
    return v;
}

/* Components of n vertices.  The caller sets the weights, at most N, before a pass. */
typedef struct qfz_filter_sets {
    uint32_t n;
    uint32_t *up;
    uint64_t *weight;
} qfz_filter_sets;

qfz_status qfz_filter_sets_init(qfz_filter_sets *sets, int64_t n, qfz_error *err);
void qfz_filter_sets_fini(qfz_filter_sets *sets);

/* Removes items that cannot matter: links that are not in the minimum spanning forest of the links
 * alone, and mass events of a vertex after events of the same vertex that together weigh `least`.
 * What stays is at most one link fewer than there are vertices, and few events.  Numbers of items
 * change.  Weights of sets stay. */
qfz_status qfz_filter_thin(qfz_filter_items *items, qfz_filter_sets *sets, uint64_t least,
                           qfz_error *err);

/* What is found of an edge of the minimum spanning forest whose own level is above 0. */
enum { QFZ_FILTER_ZEROED = 1, QFZ_FILTER_KEPT = 2 }; /* filtered level 0; its own level */

/* The passes below take all items and events of lists in ascending order: of one place, items
 * first.
 *
 * found[i] = ZEROED or KEPT for each item i that is an edge of the forest with a level above 0, and
 * for each event of mass N, which is an edge to a component that weighs N; all other elements are
 * unchanged. */
void qfz_filter_resolve(const qfz_filter_items *items, qfz_filter_sets *sets, uint64_t least,
                        uint8_t *found);

/* Adds the edges that leave a tile of h x w to the bits of its pixels: those of filtered level 0,
 * and those of the forest (qfz_engine_filter); forest may be NULL. */
void qfz_filter_take_crossing(const qfz_exterior *exterior, int64_t h, int64_t w, int n_dirs,
                              uint8_t *zeroed, uint8_t *forest);

/* Moves the upper four bits of each of n bytes of zeroed to forest, as their lower ones. */
void qfz_filter_split_bits(uint8_t *zeroed, uint8_t *forest, int64_t n);

/* Takes all events of a list out of the list. */
typedef qfz_status (*qfz_filter_full)(void *arg, qfz_masses *masses, qfz_error *err);

/* Marked vertices, and what is found of them: links between marks and mass events of marks,
 * appended. mark[v] is the number of the mark at vertex v, or QFZ_NONE, and is overwritten.  links
 * has room for as many links as there are marks. */
typedef struct qfz_filter_outside {
    uint32_t *mark;
    uint64_t *at_zero; /* working memory, zero for each vertex, and zero again afterwards */
    qfz_links *links;
    qfz_masses *masses;
    int64_t n_full; /* full() takes the events each time that there are so many; 0: never */
    qfz_filter_full full;
    void *full_arg;
} qfz_filter_outside;

/* The graph as its outside needs it: an event for each mass that a mark's component takes in. */
qfz_status qfz_filter_summarise(const qfz_filter_items *items, qfz_filter_sets *sets,
                                uint64_t least, const qfz_filter_outside *outside, qfz_error *err);

/* A member of a group of boxes.  Its ring pixels are the vertices first .. end - 1, and it has the
 * items first_item .. end_item - 1 and the list of events of its number. */
typedef struct qfz_filter_member {
    uint32_t first, end;
    uint32_t first_item, end_item;
    qfz_links *links; /* found, as of qfz_filter_outside; with room for as many as ring pixels */
    qfz_masses *masses;
} qfz_filter_member;

/* What qfz_filter_resolve() finds, and the graph as each member needs it, whose own items count,
 * but are not repeated.  The graph has everything, so it shows when the component of a ring pixel
 * comes to weigh `least`.  One event of this mass says so, after the item of the same place; there
 * are at most as many as ring pixels. */
qfz_status qfz_filter_find_exteriors(const qfz_filter_items *items, qfz_filter_sets *sets,
                                     uint64_t least, const qfz_filter_member *members,
                                     int n_members, uint8_t *found, qfz_error *err);

#ifdef __cplusplus
}
#endif

#endif
