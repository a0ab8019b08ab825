/* SPDX-License-Identifier: MIT */
/* stitch.h - from the boundary summaries of all tiles to the exterior of each tile, exactly.
 *
 * Tiles are grouped two by two, and groups again, until one group is the whole raster.  The summary
 * of a group follows from the summaries of its members and from the edges that cross between them.
 * On the way down, the exteriors of the members follow from the exterior of the group.  The work is
 * proportional to the length of the borders and halves with every level.  Memory holds one group
 * per thread; the largest group has both sides of one seam each way.  All else is in the store.
 *
 * Sources: Götz et al. 2018, Gazagnes and Wilkinson 2021 (component trees in blocks), Lefèvre,
 * Cousty, Perret et al. 2022 (out-of-core hierarchies), Anderson et al. 2020 (compressed path
 * trees). */
#ifndef QFZ_STITCH_H
#define QFZ_STITCH_H

#include "core/engine.h"
#include "stitch/group_tree.h"
#include "stitch/ranks.h"
#include "stitch/store.h"

typedef struct qfz_stitch qfz_stitch;

/* Borrows rule and ranks.  With several ranks, each rank puts and gets the tiles of its own part
 * only (core/tiling.h), and solve, reduce, number and add_counts are collective.  Results beyond
 * memory_bytes go to a temporary file in folder. */
qfz_status qfz_stitch_open(qfz_stitch **stitch, const qfz_rule *rule, qfz_kind kind,
                           const qfz_tiling *tiling, const qfz_ranks *ranks, int n_threads,
                           int64_t memory_bytes, const char *folder, qfz_error *err);
void qfz_stitch_close(qfz_stitch *stitch);

/* What a thread takes at most for blocks of the events of a group and its members. */
int64_t qfz_stitch_window_bytes(qfz_kind kind, const qfz_rule *rule);

/* Takes the results that a journal holds of an earlier run of the same problem; their computation
 * is skipped.  If the journal is open for appending, new results are appended.  check: damaged
 * records are left out, so that their content is computed again, also if the journal is only read.
 * Borrowed. */
qfz_status qfz_stitch_attach(qfz_stitch *stitch, qfz_journal *journal, bool check, qfz_error *err);

/* Forgets the numbers of regions of each rank that attached journals hold: they are those of
 * another number of ranks. */
void qfz_stitch_forget_count(qfz_stitch *stitch);

/* Sets n workers that may stitch groups on devices, the workers of one device side by side; the
 * caller does not use them during qfz_stitch_solve().  The host's threads take groups whose members
 * have fewer than least_vertices ring pixels together, and groups too large for a worker.  The
 * results are equivalent.  Borrowed. */
void qfz_stitch_use(qfz_stitch *stitch, const qfz_engine *engine, qfz_worker *const *workers, int n,
                    int64_t least_vertices);

/* Called after each group with the share of groups done, 0..1; may be NULL.  A result other than 0
 * cancels. */
typedef int (*qfz_stitch_progress)(double done, void *arg);

/* ---- Summaries in, exteriors out.  Any thread may call put and exterior. */
qfz_status qfz_stitch_put(qfz_stitch *stitch, int64_t tile, const qfz_summary *summary,
                          qfz_error *err);
bool qfz_stitch_wants_summaries(const qfz_stitch *stitch); /* false for a single tile */
bool qfz_stitch_has_summary(qfz_stitch *stitch, int64_t tile);
qfz_status qfz_stitch_solve(qfz_stitch *stitch, qfz_stitch_progress progress, void *arg,
                            qfz_error *err);

/* The exterior of a tile, after solve; the caller releases it with qfz_exterior_fini().  All zero
 * for QFZ_COMPONENTS, and for a single tile. */
bool qfz_stitch_has_exterior(qfz_stitch *stitch, int64_t tile);
qfz_status qfz_stitch_exterior(qfz_stitch *stitch, int64_t tile, qfz_exterior *exterior,
                               qfz_error *err);

/* ---- QFZ_LEVELS: qfz_level_bytes() of the largest saliency in the raster, after solve;
 * collective. A single tile puts it itself, as nothing is solved; until then it is 0. */
qfz_status qfz_stitch_put_level_bytes(qfz_stitch *stitch, int bytes, qfz_error *err);
qfz_status qfz_stitch_level_bytes(qfz_stitch *stitch, int *bytes, qfz_error *err);

/* ---- Numbers of valid pixels: of one tile, and the sum over the tiles of this rank. */
qfz_status qfz_stitch_put_pixels(qfz_stitch *stitch, int64_t tile, uint64_t n, qfz_error *err);
bool qfz_stitch_has_pixels(qfz_stitch *stitch, int64_t tile);
qfz_status qfz_stitch_pixels(qfz_stitch *stitch, uint64_t *n, qfz_error *err);

/* ---- Checksums of the pixels of tiles: stores the first one of a tile; *is_same: whether a later
 * one is equal. */
bool qfz_stitch_has_sum(qfz_stitch *stitch, int64_t tile);
qfz_status qfz_stitch_same_source(qfz_stitch *stitch, int64_t tile, uint64_t sum, bool *is_same,
                                  qfz_error *err);

/* ---- Values of regions that span tiles.
 *
 * Each tile puts values for its border regions (core/engine.h).  After the reduction all border
 * regions that belong to one region, in any tiles, have the same value: the combination of all
 * values that were put for them. */
typedef void (*qfz_combine)(uint64_t *into, const uint64_t *from, int words);
void qfz_combine_min(uint64_t *into, const uint64_t *from, int words);
void qfz_combine_max(uint64_t *into, const uint64_t *from, int words);

/* values: n = n_border_regions * words of one tile.  Sets of values are independent. */
typedef enum qfz_value_set {
    QFZ_SET_FIRST = 0,
    QFZ_SET_LABEL,
    QFZ_SET_SUMS,
    QFZ_SET_SPANS, /* put by qfz_stitch_put_spans() */
    QFZ_SETS
} qfz_value_set;
qfz_status qfz_stitch_put_values(qfz_stitch *stitch, qfz_value_set set, int64_t tile,
                                 const uint64_t *values, int64_t n, qfz_error *err);
bool qfz_stitch_has_values(qfz_stitch *stitch, qfz_value_set set, int64_t tile);
qfz_status qfz_stitch_reduce(qfz_stitch *stitch, qfz_value_set set, int words, qfz_combine combine,
                             qfz_error *err);

/* After the reduction. */
bool qfz_stitch_is_reduced(qfz_stitch *stitch, qfz_value_set set, int64_t tile);
qfz_status qfz_stitch_get_values(qfz_stitch *stitch, qfz_value_set set, int64_t tile,
                                 uint64_t **values, int64_t *n, qfz_error *err);

/* ---- QFZ_OMEGA: pixels in regions whose span exceeds omega.
 *
 * Each tile puts the spans of its border regions, and the number of pixels of its inner regions
 * that are too wide.  After the regions are known (solve), add_wide counts the pixels of all; it is
 * collective. */
qfz_status qfz_stitch_put_spans(qfz_stitch *stitch, int64_t tile, const qfz_partition *partition,
                                const uint64_t *spans, uint64_t wide, qfz_error *err);
bool qfz_stitch_has_spans(qfz_stitch *stitch, int64_t tile);
qfz_status qfz_stitch_add_wide(qfz_stitch *stitch, qfz_error *err);
bool qfz_stitch_is_wide_added(qfz_stitch *stitch);
qfz_status qfz_stitch_wide(qfz_stitch *stitch, uint64_t *n, qfz_error *err);

/* ---- Numbering: labels 1..N in raster order of first pixels, without gaps.
 *
 * A region is owned by the tile and row of its first pixel.  Each tile counts its regions per row;
 * running sums over rows and tiles give each (row, tile) the number of labels before it. */
qfz_status qfz_stitch_put_partition(qfz_stitch *stitch, int64_t tile,
                                    const qfz_partition *partition, qfz_error *err);
bool qfz_stitch_has_partition(qfz_stitch *stitch, int64_t tile);
qfz_status qfz_stitch_number(qfz_stitch *stitch, qfz_error *err);

/* After numbering: the regions whose first pixel is in a part have the labels before + 1 .. before
 * + own.  With several ranks, only the rank's own part may be requested. */
typedef struct qfz_count {
    uint64_t before, own, total;
} qfz_count;
bool qfz_stitch_is_numbered(qfz_stitch *stitch, int64_t tile);
qfz_status qfz_stitch_count(qfz_stitch *stitch, int part, int n_parts, qfz_count *count,
                            qfz_error *err);

/* The labels of a tile's regions, after numbering; partition must equal the one that was put.  The
 * caller releases numbers with qfz_numbers_fini(). */
qfz_status qfz_stitch_numbers(qfz_stitch *stitch, int64_t tile, const qfz_partition *partition,
                              qfz_numbers *numbers, qfz_error *err);
void qfz_numbers_fini(qfz_numbers *numbers);

/* The label of each pixel on a tile's ring, 0 where it is invalid, after numbering and for a tile
 * whose ring was put: the border region of each ring pixel, as in its summary.  The caller frees
 * labels. */
qfz_status qfz_stitch_put_ring(qfz_stitch *stitch, int64_t tile, const uint32_t *border_region,
                               int64_t n_ring, qfz_error *err);
bool qfz_stitch_has_ring(qfz_stitch *stitch, int64_t tile); /* true for a single tile */
qfz_status qfz_stitch_ring_labels(qfz_stitch *stitch, int64_t tile, uint64_t **labels,
                                  qfz_error *err);

/* ---- Counting regions without labels: needs less memory and work than numbering. */
qfz_status qfz_stitch_put_count(qfz_stitch *stitch, int64_t tile, const qfz_partition *partition,
                                qfz_error *err);
bool qfz_stitch_has_count(qfz_stitch *stitch, int64_t tile);
qfz_status qfz_stitch_add_counts(qfz_stitch *stitch, qfz_error *err); /* after solve; collective */
bool qfz_stitch_is_counted(qfz_stitch *stitch);
qfz_status qfz_stitch_total(qfz_stitch *stitch, uint64_t *n, qfz_error *err);

/* ---- The levels of the joins of the raster's minimum spanning forest: QFZ_JOINS.
 *
 * Each tile puts the joins that are settled in the tile.  After solve, add_joins adds those of all
 * tiles and groups; get_joins adds the result to an empty histogram, on every rank. */
qfz_status qfz_stitch_put_joins(qfz_stitch *stitch, int64_t tile, const qfz_histogram *settled,
                                qfz_error *err);
bool qfz_stitch_has_joins(qfz_stitch *stitch, int64_t tile);
qfz_status qfz_stitch_add_joins(qfz_stitch *stitch, qfz_error *err); /* collective */
bool qfz_stitch_are_joins_added(qfz_stitch *stitch);
qfz_status qfz_stitch_get_joins(qfz_stitch *stitch, qfz_histogram *joins, qfz_error *err);

#endif
