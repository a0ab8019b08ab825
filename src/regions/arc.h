/* SPDX-License-Identifier: MIT */
/* arc.h - the borders of labelled pixels: chains of pixel edges, traced in tiles.
 *
 * A border edge lies between two pixels of different labels; it belongs to both of them, and has
 * the pixel that it is traced for on its right.  A chain is a sequence of border edges of one label
 * in one tile: closed, or open where the next edge belongs to a pixel of another tile.  Where four
 * pixels meet of which only the two on a diagonal have the label, the chain turns right: chains
 * bound 4-connected pieces, and never cross each other or themselves.
 *
 * A junction is a corner of pixels with three or four border edges: three or four labels meet
 * there, or two labels diagonally.  Every turn and every junction is a vertex of polygons. */
#ifndef QFZ_REGIONS_ARC_H
#define QFZ_REGIONS_ARC_H

#include "core/box.h"
#include "core/label_grid.h"
#include "core/status.h"

/* Directions, clockwise; the labelled pixel is on the right. */
enum { QFZ_ARC_EAST = 0, QFZ_ARC_SOUTH, QFZ_ARC_WEST, QFZ_ARC_NORTH };

/* A step of a chain: up to 32 edges in one direction, and what follows at their end. */
enum {
    QFZ_ARC_STRAIGHT = 0,
    QFZ_ARC_RIGHT = 1,
    QFZ_ARC_RIGHT_AT_TOUCH = 2, /* a pixel of the same label lies diagonally behind the corner */
    QFZ_ARC_LEFT = 3,
    QFZ_ARC_TURN = 3,     /* mask of the four values above */
    QFZ_ARC_JUNCTION = 4, /* bit: the end is a junction */
    QFZ_ARC_LENGTH_SHIFT = 3,
    QFZ_ARC_LONGEST_STEP = 32
};

static inline int qfz_arc_step_length(uint8_t step)
{
    return (step >> QFZ_ARC_LENGTH_SHIFT) + 1;
}

static inline int qfz_arc_step_turned(int direction, uint8_t step)
{
    static const int by[] = {0, 1, 1, 3};
    return (direction + by[step & QFZ_ARC_TURN]) & 3;
}

/* A directed edge as one number: the corner where it begins, and its direction.  Rasters have less
 * than 2^31 rows and columns. */
static inline uint64_t qfz_arc_edge(int64_t y, int64_t x, int direction)
{
    return (uint64_t)y << 33 | (uint64_t)x << 2 | (uint64_t)direction;
}

static inline void qfz_arc_edge_place(uint64_t edge, int64_t *y, int64_t *x, int *direction)
{
    *y = (int64_t)(edge >> 33);
    *x = (int64_t)(edge >> 2 & INT32_MAX);
    *direction = (int)(edge & 3);
}

/* What a chain is stored as, before its steps. */
typedef struct qfz_arc_head {
    uint64_t begin;   /* its first edge */
    uint64_t end;     /* the edge after its last one; begin if the chain is closed */
    uint64_t n_steps; /* bytes that follow */
} qfz_arc_head;

typedef struct qfz_arc_index {
    uint64_t label;
    int64_t at; /* offset of the head in bytes[] */
} qfz_arc_index;

/* The chains of one tile, and the memory that tracing needs; one thread at a time.  Begin with all
 * members 0. */
typedef struct qfz_arcs {
    uint8_t *bytes; /* heads, each followed by its steps */
    int64_t n_bytes, bytes_room;
    qfz_arc_index *index; /* n chains */
    int64_t n, index_room;

    /* (h + 1) x (w + 1) corners of the tile: bit d of a corner: a border edge leaves it in
     * direction d; other bits are for tracing. */
    uint8_t *corners;
    int64_t corners_pitch, corners_room;
    uint64_t *bits; /* for finding edges */
    int64_t bits_room;
} qfz_arcs;

enum { QFZ_ARC_EDGES = 15 }; /* mask of a corner's bits that are directions */

void qfz_arcs_fini(qfz_arcs *arcs);

/* Replaces the chains by those of a tile.
 *
 * labels: (h + 2) x (w + 2), the tile with the pixels around it; 0 outside the raster.  Pixels of
 * label 0 have no chains. */
qfz_status qfz_arcs_trace(qfz_arcs *arcs, qfz_box tile, qfz_label_grid labels, qfz_error *err);

#endif
