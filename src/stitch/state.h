/* SPDX-License-Identifier: MIT */
/* state.h - what the files of this room share of a qfz_stitch. */
#ifndef QFZ_STITCH_STATE_H
#define QFZ_STITCH_STATE_H

#include "core/parallel.h"
#include "stitch/solve.h"
#include "stitch/stitch.h"

/* What is kept for a node. */
enum {
    PIECE_SUMMARY = 0,
    PIECE_EXTERIOR,
    PIECE_MAP,    /* of a group: border_regions to regions */
    PIECE_CENSUS, /* of a tile: first pixels (numbering.c), or how many regions (counting.c) */
    PIECE_ROWS,   /* of a tile: labels before each row's first */
    PIECE_PIXELS, /* of a tile: how many are valid */

    /* Of each set of values: what the border_regions were given, what a group's regions have on the
     * way up of a reduction, what the border_regions are told on the way down. */
    PIECE_GIVEN,
    PIECE_REGIONS = PIECE_GIVEN + QFZ_SETS,
    PIECE_EXTERIOR_PART = PIECE_REGIONS + QFZ_SETS,
    PIECES = PIECE_EXTERIOR_PART + QFZ_SETS
};

/* What is kept once, behind the pieces of all nodes. */
enum { FACT_NUMBERED = 0, FACTS };

struct qfz_stitch {
    const qfz_rule *rule;
    qfz_kind kind;
    const qfz_solver *solver;
    const qfz_ranks *ranks; /* each has the nodes of its part */
    int n_threads;
    const qfz_engine *engine; /* of the workers that may solve groups */
    qfz_worker *const *workers;
    int n_workers;
    int64_t least_vertices; /* of a group for a worker */
    qfz_group_tree group_tree;
    int64_t n_nodes;
    qfz_store *store;
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

/* Calls fn for the nodes of a level that this rank has.  Item 0 is the first of them. */
typedef struct qfz_level_walk {
    qfz_stitch *stitch;
    int level;
    int64_t first;      /* node of item 0 */
    int64_t n;          /* nodes */
    int n_threads_each; /* that may work on a node */
} qfz_level_walk;

qfz_status qfz_walk_level(qfz_level_walk *walk, qfz_stitch *stitch, int n_threads, int level,
                          qfz_item_fn fn, void *arg, qfz_error *err);

/* numbering.c: what is kept as FACT_NUMBERED. */
qfz_status qfz_stitch_get_count(qfz_stitch *stitch, qfz_count *count, qfz_error *err);

/* exchange.c: a piece of every node of a level whose parent another rank has: from the node's rank
 * to the parent's, or the other way.  Collective, of ranks that have failed (st) too, which fail
 * those that they owe something; so ranks need not agree before all levels are done. */
typedef enum qfz_way { QFZ_UP = 0, QFZ_DOWN } qfz_way;
qfz_status qfz_stitch_exchange(qfz_stitch *stitch, int what, int level, qfz_way way, qfz_status st,
                               qfz_error *err);

#endif
