/* SPDX-License-Identifier: MIT */
/* state.h - what the files of this room share of a qfz_stitch. */
#ifndef QFZ_STITCH_STATE_H
#define QFZ_STITCH_STATE_H

#include "stitch/solve.h"
#include "stitch/stitch.h"
#include "stitch/store.h"

/* What is kept for a node. */
enum {
    PIECE_SUMMARY = 0,
    PIECE_ANSWER,
    PIECE_MAP,     /* of a group: slots to regions */
    PIECE_REGIONS, /* of a group, during a reduction: values of its regions */
    PIECE_CENSUS,  /* of a tile: first pixels (numbering.c) */
    PIECE_ROWS,    /* of a tile: labels before each row's first */
    PIECE_VALUES,  /* the first of the sets */
    PIECES = PIECE_VALUES + QFZ_SET_SUMS + 1
};

struct qfz_stitch {
    const qfz_rule *rule;
    qfz_kind kind;
    const qfz_solver *solver;
    int n_threads;
    qfz_hierarchy hierarchy;
    int64_t n_nodes;
    qfz_store *store;
};

static inline int64_t qfz_piece(const qfz_stitch *stitch, int what, int64_t node)
{
    return what * stitch->n_nodes + node;
}

#endif
