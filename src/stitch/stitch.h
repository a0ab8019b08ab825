/* SPDX-License-Identifier: MIT */
/* stitch.h - from the summaries of all tiles to the answers for each, exactly.
 *
 * Tiles are grouped two by two, groups again, until one holds the raster.  A group's summary comes
 * from its members' and from the edges that cross between them; on the way back down a group's
 * answer gives its members theirs.  The work is proportional to the length of the borders and
 * halves with every level; what is in memory at a time is one group a thread, the largest of
 * which has both sides of one seam each way.  Everything else is in the store.
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

/* Rule and ranks are borrowed.  Of several ranks each is asked about the tiles of its own part
 * (grid.h) only, and solve, reduce and number are collective.  Beyond memory_bytes, what is known
 * is kept in a file in folder. */
qfz_status qfz_stitch_open(qfz_stitch **stitch, const qfz_rule *rule, qfz_kind kind,
                           const qfz_tiling *tiling, const qfz_ranks *ranks, int n_threads,
                           int64_t memory_bytes, const char *folder, qfz_error *err);
void qfz_stitch_close(qfz_stitch *stitch);

/* What a journal holds of an earlier run of the same problem is known from here on, and not done
 * again; if it may append, all that becomes known goes there too.  Borrowed. */
qfz_status qfz_stitch_attach(qfz_stitch *stitch, qfz_journal *journal, qfz_error *err);

/* Workers of an engine that may solve groups, those of the same device side by side; nobody else
 * uses them during qfz_stitch_solve().  Groups with fewer ring pixels than `least_vertices` in all
 * their members, or too large for a worker, are left to the host's threads.  What comes out means
 * the same.  Borrowed. */
void qfz_stitch_use(qfz_stitch *stitch, const qfz_engine *engine, qfz_worker *const *workers, int n,
                    int64_t least_vertices);

/* Called after each group with the share of groups done; may be NULL; other than 0 cancels. */
typedef int (*qfz_stitch_progress)(double done, void *arg);

/* ---- summaries in, answers out.  put and answer may be called by several threads at a time. */
qfz_status qfz_stitch_put(qfz_stitch *stitch, int64_t tile, const qfz_summary *summary,
                          qfz_error *err);
bool qfz_stitch_wants_summaries(const qfz_stitch *stitch); /* not where there is but one tile */
bool qfz_stitch_has_summary(qfz_stitch *stitch, int64_t tile);
qfz_status qfz_stitch_solve(qfz_stitch *stitch, qfz_stitch_progress progress, void *arg,
                            qfz_error *err);

/* A tile's answer, to be released by qfz_exterior_fini().  All zero for QFZ_COMPONENTS, and where
 * there is but one tile. */
bool qfz_stitch_has_exterior(qfz_stitch *stitch, int64_t tile);
qfz_status qfz_stitch_exterior(qfz_stitch *stitch, int64_t tile, qfz_exterior *answer,
                               qfz_error *err);

/* ---- how many pixels of a tile are valid, and of all tiles of this rank that were put. */
qfz_status qfz_stitch_put_pixels(qfz_stitch *stitch, int64_t tile, uint64_t n, qfz_error *err);
qfz_status qfz_stitch_pixels(qfz_stitch *stitch, uint64_t *n, qfz_error *err);

/* ---- regions that span tiles.
 *
 * Each tile has border_regions: its regions that touch its border (engine.h).  Slots of one region,
 * in whatever tiles, get the same value: the combination of all that was put for them. */
typedef void (*qfz_combine)(uint64_t *into, const uint64_t *from, int words);
void qfz_combine_min(uint64_t *into, const uint64_t *from, int words);
void qfz_combine_max(uint64_t *into, const uint64_t *from, int words);

/* Values of a tile's border_regions, n_border_regions * words; several sets are kept apart by
 * `set`. */
typedef enum qfz_value_set {
    QFZ_SET_FIRST = 0,
    QFZ_SET_LABEL,
    QFZ_SET_SUMS,
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

/* ---- numbering: 1..N in raster order of first pixels, without gaps.
 *
 * A region belongs to the tile and row of its first pixel.  Tiles count theirs per row; sums over
 * rows and tiles give each (row, tile) the number that comes before it. */
qfz_status qfz_stitch_put_partition(qfz_stitch *stitch, int64_t tile,
                                    const qfz_partition *partition, qfz_error *err);
bool qfz_stitch_has_partition(qfz_stitch *stitch, int64_t tile);
qfz_status qfz_stitch_number(qfz_stitch *stitch, qfz_error *err);

/* After numbering: the regions whose first pixel is in a part have the labels before + 1 .. before
 * + own.  Of several ranks each knows of its own part only. */
typedef struct qfz_count {
    uint64_t before, own, total;
} qfz_count;
bool qfz_stitch_is_numbered(qfz_stitch *stitch, int64_t tile);
qfz_status qfz_stitch_count(qfz_stitch *stitch, int part, int n_parts, qfz_count *count,
                            qfz_error *err);

/* What a tile's regions are called, to be released by qfz_numbers_fini(); partition as it was put.
 */
qfz_status qfz_stitch_numbers(qfz_stitch *stitch, int64_t tile, const qfz_partition *partition,
                              qfz_numbers *numbers, qfz_error *err);
void qfz_numbers_fini(qfz_numbers *numbers);

/* ---- counting, where nobody will ask for labels: needs less than numbering does. */
qfz_status qfz_stitch_put_count(qfz_stitch *stitch, int64_t tile, const qfz_partition *partition,
                                qfz_error *err);
bool qfz_stitch_has_count(qfz_stitch *stitch, int64_t tile);
qfz_status qfz_stitch_add_counts(qfz_stitch *stitch, qfz_error *err); /* after solve; collective */
bool qfz_stitch_is_counted(qfz_stitch *stitch);
qfz_status qfz_stitch_total(qfz_stitch *stitch, uint64_t *n, qfz_error *err);

#endif
