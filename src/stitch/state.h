/* SPDX-License-Identifier: MIT */
/* state.h - the inside of a qfz_stitch, for the files of this room. */
#ifndef QFZ_STITCH_STATE_H
#define QFZ_STITCH_STATE_H

#include "core/parallel.h"
#include "stitch/solve.h"
#include "stitch/stitch.h"

/* The pieces that the store holds of a node. */
enum {
    PIECE_SUMMARY = 0,
    PIECE_EXTERIOR,
    PIECE_MAP,    /* of a group: border regions to regions, or a histogram of joins (solve.h) */
    PIECE_CENSUS, /* of a tile: first pixels (numbering.c), the number of regions (counting.c), or
                     a histogram of joins (joins.c) */
    PIECE_ROWS,   /* of a tile: for each row, the number of labels before its first one */
    PIECE_PIXELS, /* of a tile: the number of valid pixels */

    /* For each set of values: the values put for border regions, the combined values of a group's
     * regions on the way up, and the final values of border regions on the way down. */
    PIECE_GIVEN,
    PIECE_REGIONS = PIECE_GIVEN + QFZ_SETS,
    PIECE_REDUCED = PIECE_REGIONS + QFZ_SETS,
    PIECE_RING = PIECE_REDUCED + QFZ_SETS, /* of a tile: the border region of each ring pixel */
    PIECE_SOURCE,                          /* of a tile: the checksum of its pixels */
    PIECE_WIDE,                            /* of a tile: wide.c */
    PIECES
};

/* Pieces that exist once; they follow the pieces of all nodes. */
enum { FACT_NUMBERED = 0, FACT_JOINS, FACT_LEVEL_BYTES, FACT_WIDE, FACTS };

struct qfz_stitch {
    const qfz_rule *rule;
    qfz_kind kind;
    const qfz_solver *solver;
    const qfz_ranks *ranks; /* each rank owns the nodes of its part */
    int n_threads;
    const qfz_engine *engine; /* of the workers that may stitch groups */
    qfz_worker *const *workers;
    int n_workers;
    int64_t least_vertices; /* of a group that a worker takes */
    qfz_group_tree group_tree;
    int64_t n_nodes;
    qfz_store *store;
    const char *folder;  /* of temporary files; the store's */
    int64_t event_block; /* event_lists.h; 0: summaries of this kind have no events */
};

static inline int64_t qfz_piece(const qfz_stitch *stitch, int what, int64_t node)
{
    return what * stitch->n_nodes + node;
}

static inline int64_t qfz_fact(const qfz_stitch *stitch, int fact)
{
    return PIECES * stitch->n_nodes + fact;
}

static inline bool qfz_has(const qfz_stitch *stitch, int what, int64_t node)
{
    return qfz_store_has(stitch->store, qfz_piece(stitch, what, node));
}

/* Calls fn for the nodes of a level that this rank owns.  Item 0 is the first of them. */
typedef struct qfz_level_walk {
    qfz_stitch *stitch;
    int level;
    int64_t first;      /* node of item 0 */
    int64_t n;          /* nodes */
    int n_threads_each; /* threads that may share a node */
} qfz_level_walk;

qfz_status qfz_walk_level(qfz_level_walk *walk, qfz_stitch *stitch, int n_threads, int level,
                          qfz_item_fn fn, void *arg, qfz_error *err);

/* numbering.c: reads FACT_NUMBERED. */
qfz_status qfz_stitch_get_count(qfz_stitch *stitch, qfz_count *count, qfz_error *err);

/* exchange.c: for every node of a level whose parent another rank owns, moves one piece from the
 * node's rank to the parent's (QFZ_UP) or back (QFZ_DOWN).  Collective.  A rank that has failed
 * (st) takes part, and the ranks that wait for its pieces fail with it; so ranks need not agree on
 * a status before all levels are done. */
typedef enum qfz_way { QFZ_UP = 0, QFZ_DOWN } qfz_way;
qfz_status qfz_stitch_exchange(qfz_stitch *stitch, int what, int level, qfz_way way, qfz_status st,
                               qfz_error *err);

#endif
