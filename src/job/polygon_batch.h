/* SPDX-License-Identifier: MIT */
/* polygon_batch.h - rows of some labels with their polygons, made by one thread.
 *
 * Threads take batches from the sorted chains in turn, make the rows of their batches at the same
 * time, and write the batches in the order of the labels. */
#ifndef QFZ_POLYGON_BATCH_H
#define QFZ_POLYGON_BATCH_H

#include "raster/raster.h"
#include "regions/regions.h"

enum {
    QFZ_POLYGON_BATCH_ROWS = 512,
    QFZ_POLYGON_BATCH_BYTES = 1 << 15, /* of chains, wanted */
    QFZ_POLYGON_BATCH_MOST = 1 << 16   /* with more the batch is large */
};

typedef struct qfz_polygon_rule { /* of all batches; all is borrowed */
    const qfz_source *source;     /* located */
    const uint64_t *weights_before;
    double tolerance;
    const qfz_corner_map *map;
    bool is_mirrored; /* of qfz_polygon_wkb_add() */
} qfz_polygon_rule;

/* Begin with all members 0. */
typedef struct qfz_polygon_batch {
    int64_t n; /* rows */
    qfz_arc_group groups[QFZ_POLYGON_BATCH_ROWS];
    uint8_t *chains; /* of the groups */
    int64_t n_bytes, chains_room;

    qfz_polygon_maker *maker;
    double *x, *y; /* of the corners of a polygon, in the CRS */
    int64_t corners_room;
    uint64_t labels[QFZ_POLYGON_BATCH_ROWS], pixels[QFZ_POLYGON_BATCH_ROWS];
    double areas[QFZ_POLYGON_BATCH_ROWS];
    int64_t wkb_starts[QFZ_POLYGON_BATCH_ROWS + 1];
    qfz_polygon_wkb wkb;
} qfz_polygon_batch;

/* Frees the memory of a batch, which can be used again. */
void qfz_polygon_batch_fini(qfz_polygon_batch *batch);

/* Takes the next labels: as many as have QFZ_POLYGON_BATCH_BYTES of chains, at least one of them;
 * none at the end. */
qfz_status qfz_polygon_batch_take(qfz_polygon_batch *batch, qfz_arc_store *store, qfz_error *err);

/* Whether the last label is a polygon that needs much memory. */
bool qfz_polygon_batch_is_large(const qfz_polygon_batch *batch);

/* Makes the rows. */
qfz_status qfz_polygon_batch_make(qfz_polygon_batch *batch, const qfz_polygon_rule *rule,
                                  qfz_error *err);

/* Bytes of memory for each byte of chains, at most. */
int64_t qfz_polygon_batch_cost(void);

#endif
