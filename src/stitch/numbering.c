/* SPDX-License-Identifier: MIT */
/* numbering.c - labels 1..N in raster order of first pixels, without a sort over the raster.
 *
 * The inner regions of a tile are numbered by the tile alone.  For a region that spans tiles, each
 * tile has the first pixel of its own part; a reduction finds the least of them, the first pixel of
 * the region, and the tile that contains it owns the region.  The census of a tile has the number
 * of inner regions that begin in each row and, for each border region, the first pixel of its part
 * and the number of inner regions that begin before it in that row. */
#define _GNU_SOURCE /* qsort_r */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "stitch/sound.h"
#include "stitch/state.h"

/* Arrays of 64-bit words in one block, which is stored as it is. */
typedef struct census {
    int64_t h;
    int64_t n_border_regions;
    uint64_t *inner;  /* h: inner regions that begin in the row */
    uint64_t *first;  /* n_border_regions: raster index of the first pixel of the part */
    uint64_t *before; /* n_border_regions: inner regions that begin before it in its row */
    uint64_t *words;  /* all of the above */
} census;

static census census_on(uint64_t *words, int64_t h, int64_t n_border_regions)
{
    return (census){.h = h,
                    .n_border_regions = n_border_regions,
                    .inner = words,
                    .first = words + h,
                    .before = words + h + n_border_regions,
                    .words = words};
}

static qfz_box tile_box(const qfz_stitch *stitch, int64_t tile)
{
    return qfz_group_tree_box(&stitch->group_tree, 0, tile);
}

/* The raster index (y * width + x) of pixel `first` of a tile. */
static uint64_t raster_number(const qfz_stitch *stitch, qfz_box box, uint32_t first)
{
    const int64_t w = qfz_box_w(box);
    return (uint64_t)((box.y0 + first / w) * stitch->group_tree.tiling.w + box.x0 + first % w);
}

static void take_census(const qfz_stitch *stitch, qfz_box box, const qfz_partition *partition,
                        census *c)
{
    for (int64_t row = 0; row < c->h; row++)
        c->inner[row] = partition->row_inner[row];
    for (int64_t s = 0; s < c->n_border_regions; s++) {
        c->first[s] = raster_number(stitch, box, partition->border_regions[s].first);
        c->before[s] = partition->border_regions[s].before;
    }
}

qfz_status qfz_stitch_put_partition(qfz_stitch *stitch, int64_t tile,
                                    const qfz_partition *partition, qfz_error *err)
{
    const qfz_box box = tile_box(stitch, tile);
    const int64_t h = qfz_box_h(box), n_border_regions = partition->n_border_regions;
    uint64_t *words = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&words, h + 2 * n_border_regions, err));
    census c = census_on(words, h, n_border_regions);
    take_census(stitch, box, partition, &c);
    QFZ_TRY_OR(st, cleanup,
               qfz_store_put(stitch->store, qfz_piece(stitch, PIECE_CENSUS, tile), words,
                             (h + 2 * n_border_regions) * (int64_t)sizeof *words, err));
    st = qfz_stitch_put_values(stitch, QFZ_SET_FIRST, tile, c.first, n_border_regions, err);

cleanup:
    free(words);
    return st;
}

bool qfz_stitch_has_partition(qfz_stitch *stitch, int64_t tile)
{
    return qfz_has(stitch, PIECE_CENSUS, tile) &&
           qfz_stitch_has_values(stitch, QFZ_SET_FIRST, tile);
}

/* ------------------------------------------------------------------ one row of tiles at a time */
typedef struct numbered_tile {
    qfz_box box;
    census census;
    uint64_t *region_first; /* n_border_regions: of the whole region */
    int64_t *owned;         /* n_owned: border regions that the tile owns */
    int64_t n_owned;
} numbered_tile;

static void tile_fini(numbered_tile *t)
{
    free(t->census.words);
    free(t->region_first);
    free(t->owned);
    *t = (numbered_tile){0};
}

static qfz_status unsound_tile(const qfz_stitch *stitch, int64_t tile, qfz_error *err)
{
    return qfz_unsound(tile_box(stitch, tile), "census", err);
}

/* The row of the tile in which the part of a border region begins. */
static int64_t row_of(const qfz_stitch *stitch, const numbered_tile *t, int64_t s)
{
    return (int64_t)(t->census.first[s] / (uint64_t)stitch->group_tree.tiling.w) - t->box.y0;
}

static bool begins_in_box(const qfz_stitch *stitch, const numbered_tile *t, int64_t s)
{
    const int64_t row = row_of(stitch, t, s);
    return row >= 0 && row < t->census.h;
}

/* Loads the census and the first pixels of regions, and lists the border regions that the tile
 * owns. */
static qfz_status tile_load(numbered_tile *t, qfz_stitch *stitch, int64_t tile, qfz_error *err)
{
    void *words = NULL;
    int64_t bytes, n_border_regions;
    t->box = tile_box(stitch, tile);
    const int64_t h = qfz_box_h(t->box);
    QFZ_TRY(
        qfz_store_get(stitch->store, qfz_piece(stitch, PIECE_CENSUS, tile), &words, &bytes, err));
    if (!words) return qfz_fail(err, QFZ_EIO, "the census of a tile is missing in the store");
    const int64_t n_words = bytes / (int64_t)sizeof(uint64_t);
    t->census = census_on(words, h, n_words < h ? 0 : (n_words - h) / 2);
    if (bytes != (h + 2 * t->census.n_border_regions) * (int64_t)sizeof(uint64_t))
        return unsound_tile(stitch, tile, err);
    QFZ_TRY(qfz_stitch_get_values(stitch, QFZ_SET_FIRST, tile, &t->region_first, &n_border_regions,
                                  err));
    if (n_border_regions != t->census.n_border_regions) return unsound_tile(stitch, tile, err);
    QFZ_TRY(QFZ_NEW(&t->owned, n_border_regions, err));
    for (int64_t s = 0; s < n_border_regions; s++) {
        if (!begins_in_box(stitch, t, s)) return unsound_tile(stitch, tile, err);
        if (t->census.first[s] == t->region_first[s]) t->owned[t->n_owned++] = s;
    }
    return QFZ_OK;
}

/* Of a whole row of tiles, only counts and labels of rows of pixels are in memory: border regions
 * are loaded twice, a tile at a time. */
typedef struct tile_row {
    qfz_stitch *stitch;
    int64_t first_tile;
    uint64_t **rows; /* of each tile: regions that begin in each row; then the labels before them */
} tile_row;

static qfz_status count_rows(const numbered_tile *t, const qfz_stitch *stitch, uint64_t **rows,
                             qfz_error *err)
{
    QFZ_TRY(QFZ_NEW(rows, t->census.h, err));
    memcpy(*rows, t->census.inner, (size_t)t->census.h * sizeof **rows);
    for (int64_t i = 0; i < t->n_owned; i++)
        (*rows)[row_of(stitch, t, t->owned[i])]++;
    return QFZ_OK;
}

static qfz_status count_in_row(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    const tile_row *const r = arg;
    numbered_tile t = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, tile_load(&t, r->stitch, r->first_tile + item, err));
    st = count_rows(&t, r->stitch, &r->rows[item], err);

cleanup:
    tile_fini(&t);
    return st;
}

static int by_first(const void *a, const void *b, void *arg)
{
    const uint64_t *const first = arg;
    const uint64_t i = first[*(const int64_t *)a], j = first[*(const int64_t *)b];
    return (i > j) - (i < j);
}

/* Labels of the border regions that the tile owns; 0 for the others. */
static qfz_status label_owned(numbered_tile *t, const qfz_stitch *stitch, const uint64_t *rows,
                              uint64_t **labels, qfz_error *err)
{
    uint64_t owned_before = 0; /* in the same row */
    QFZ_TRY(QFZ_NEW_ZERO(labels, t->census.n_border_regions, err));
    qsort_r(t->owned, (size_t)t->n_owned, sizeof *t->owned, by_first, t->census.first);
    for (int64_t i = 0, last = -1; i < t->n_owned; i++) {
        const int64_t s = t->owned[i], row = row_of(stitch, t, s);
        if (row != last) owned_before = 0;
        last = row;
        (*labels)[s] = rows[row] + t->census.before[s] + owned_before++ + 1;
    }
    return QFZ_OK;
}

static qfz_status save_tile(qfz_stitch *stitch, int64_t tile, const numbered_tile *t,
                            const uint64_t *rows, const uint64_t *labels, qfz_error *err)
{
    QFZ_TRY(qfz_store_put(stitch->store, qfz_piece(stitch, PIECE_ROWS, tile), rows,
                          t->census.h * (int64_t)sizeof *rows, err));
    QFZ_TRY(qfz_stitch_put_values(stitch, QFZ_SET_LABEL, tile, labels, t->census.n_border_regions,
                                  err));
    qfz_store_drop(stitch->store, qfz_piece(stitch, PIECE_CENSUS, tile));
    return QFZ_OK;
}

static qfz_status label_in_row(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    const tile_row *const r = arg;
    const int64_t tile = r->first_tile + item;
    numbered_tile t = {0};
    uint64_t *labels = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, tile_load(&t, r->stitch, tile, err));
    QFZ_TRY_OR(st, cleanup, label_owned(&t, r->stitch, r->rows[item], &labels, err));
    st = save_tile(r->stitch, tile, &t, r->rows[item], labels, err);

cleanup:
    free(labels);
    tile_fini(&t);
    return st;
}

static void number_rows(uint64_t **rows, int64_t h, int64_t n_tiles, uint64_t *given)
{
    for (int64_t row = 0; row < h; row++)
        for (int64_t x = 0; x < n_tiles; x++) {
            const uint64_t n = rows[x][row];
            rows[x][row] = *given;
            *given += n;
        }
}

static qfz_status number_tile_row(qfz_stitch *stitch, int64_t tile_y, uint64_t *given,
                                  qfz_error *err)
{
    const int64_t n_x = stitch->group_tree.tiling.n_x;
    const int n_threads = stitch->n_threads;
    tile_row r = {.stitch = stitch, .first_tile = tile_y * n_x};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW_ZERO(&r.rows, n_x, err));
    QFZ_TRY_OR(st, cleanup, qfz_parallel_for(n_threads, n_x, count_in_row, &r, err));
    number_rows(r.rows, qfz_box_h(tile_box(stitch, r.first_tile)), n_x, given);
    st = qfz_parallel_for(n_threads, n_x, label_in_row, &r, err);

cleanup:
    for (int64_t x = 0; r.rows && x < n_x; x++)
        free(r.rows[x]);
    free(r.rows);
    return st;
}

/* Counts the regions that begin in the tiles of this rank. */
typedef struct counting {
    qfz_level_walk walk;
    uint64_t n;
} counting;

static qfz_status count_tile(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    counting *const c = arg;
    numbered_tile t = {0};
    uint64_t n = 0;
    const qfz_status st = tile_load(&t, c->walk.stitch, c->walk.first + item, err);
    for (int64_t row = 0; row < t.census.h && st == QFZ_OK; row++)
        n += t.census.inner[row];
    n += (uint64_t)t.n_owned;
    tile_fini(&t);
#pragma omp atomic
    c->n += n;
    return st;
}

static qfz_status count_own(qfz_stitch *stitch, qfz_count *count, qfz_error *err)
{
    counting c = {.n = 0};
    const qfz_status st =
        qfz_walk_level(&c.walk, stitch, stitch->n_threads, 0, count_tile, &c, err);
    QFZ_TRY(qfz_ranks_agree(stitch->ranks, st, err));
    count->own = c.n;
    return qfz_ranks_sum(stitch->ranks, count->own, &count->before, &count->total, err);
}

static qfz_status number_own(qfz_stitch *stitch, const qfz_count *count, qfz_error *err)
{
    const int64_t n_y = stitch->group_tree.tiling.n_y;
    const int part = stitch->ranks->rank, n_parts = stitch->ranks->n;
    uint64_t given = count->before;
    for (int64_t y = qfz_part_first_row(n_y, part, n_parts);
         y < qfz_part_first_row(n_y, part + 1, n_parts); y++)
        QFZ_TRY(number_tile_row(stitch, y, &given, err));
    return qfz_store_put(stitch->store, qfz_fact(stitch, FACT_NUMBERED), count, sizeof *count, err);
}

static bool has_labels(qfz_stitch *stitch, int64_t tile)
{
    return qfz_has(stitch, PIECE_ROWS, tile) &&
           (qfz_stitch_has_values(stitch, QFZ_SET_LABEL, tile) ||
            qfz_stitch_is_reduced(stitch, QFZ_SET_LABEL, tile));
}

/* In a resumed run all tiles may have numbers already. */
static bool is_numbered(qfz_stitch *stitch)
{
    int64_t tile, end;
    qfz_group_tree_owned(&stitch->group_tree, 0, stitch->ranks->rank, stitch->ranks->n, &tile,
                         &end);
    bool done = qfz_store_has(stitch->store, qfz_fact(stitch, FACT_NUMBERED));
    for (; tile < end && done; tile++)
        done = has_labels(stitch, tile);
    return done;
}

qfz_status qfz_stitch_number(qfz_stitch *stitch, qfz_error *err)
{
    qfz_count count = {0};
    uint64_t before, n_done;
    QFZ_TRY(qfz_stitch_reduce(stitch, QFZ_SET_FIRST, 1, qfz_combine_min, err));
    QFZ_TRY(qfz_ranks_sum(stitch->ranks, is_numbered(stitch), &before, &n_done, err));
    if (n_done < (uint64_t)stitch->ranks->n) {
        QFZ_TRY(count_own(stitch, &count, err));
        const qfz_status st = number_own(stitch, &count, err);
        QFZ_TRY(qfz_ranks_agree(stitch->ranks, st, err));
    }
    return qfz_stitch_reduce(stitch, QFZ_SET_LABEL, 1, qfz_combine_max, err);
}

bool qfz_stitch_is_numbered(qfz_stitch *stitch, int64_t tile)
{
    return qfz_store_has(stitch->store, qfz_fact(stitch, FACT_NUMBERED)) &&
           qfz_has(stitch, PIECE_ROWS, tile) &&
           qfz_stitch_is_reduced(stitch, QFZ_SET_FIRST, tile) &&
           qfz_stitch_is_reduced(stitch, QFZ_SET_LABEL, tile);
}

static qfz_status load_rows(qfz_stitch *stitch, int64_t tile, uint64_t **start, qfz_error *err)
{
    void *rows = NULL;
    int64_t bytes;
    QFZ_TRY(qfz_store_get(stitch->store, qfz_piece(stitch, PIECE_ROWS, tile), &rows, &bytes, err));
    if (!rows) {
        (void)qfz_fail(err, QFZ_EIO, "the labels of a row are missing in the store");
        return QFZ_EIO;
    }
    if (bytes != qfz_box_h(tile_box(stitch, tile)) * (int64_t)sizeof **start) {
        free(rows);
        (void)unsound_tile(stitch, tile, err);
        return QFZ_EIO;
    }
    *start = rows;
    return QFZ_OK;
}

/* The number of labels before a row of tiles; behind the last row, all labels. */
static qfz_status given_before(qfz_stitch *stitch, int64_t tile_y, uint64_t total, uint64_t *given,
                               qfz_error *err)
{
    const qfz_tiling *const tiling = &stitch->group_tree.tiling;
    uint64_t *start = NULL;
    *given = total;
    if (tile_y == tiling->n_y) return QFZ_OK;
    QFZ_TRY(load_rows(stitch, tile_y * tiling->n_x, &start, err));
    *given = start[0];
    free(start);
    return QFZ_OK;
}

qfz_status qfz_stitch_get_count(qfz_stitch *stitch, qfz_count *count, qfz_error *err)
{
    void *data;
    int64_t bytes;
    QFZ_TRY(qfz_store_get(stitch->store, qfz_fact(stitch, FACT_NUMBERED), &data, &bytes, err));
    if (!data) return qfz_fail(err, QFZ_EIO, "the number of regions is missing in the store");
    const bool good = bytes == (int64_t)sizeof *count;
    if (good) memcpy(count, data, sizeof *count);
    free(data);
    return good ? QFZ_OK : qfz_fail(err, QFZ_EIO, "the stored number of regions is damaged");
}

qfz_status qfz_stitch_count(qfz_stitch *stitch, int part, int n_parts, qfz_count *count,
                            qfz_error *err)
{
    const int64_t n_y = stitch->group_tree.tiling.n_y;
    uint64_t end;
    QFZ_TRY(qfz_stitch_get_count(stitch, count, err));
    if (n_parts == stitch->ranks->n) return QFZ_OK;
    /* one process has numbered several parts */
    QFZ_TRY(given_before(stitch, qfz_part_first_row(n_y, part, n_parts), count->total,
                         &count->before, err));
    QFZ_TRY(
        given_before(stitch, qfz_part_first_row(n_y, part + 1, n_parts), count->total, &end, err));
    count->own = end - count->before;
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------------------ labels
 */
qfz_status qfz_stitch_numbers(qfz_stitch *stitch, int64_t tile, const qfz_partition *partition,
                              qfz_numbers *numbers, qfz_error *err)
{
    const qfz_box box = tile_box(stitch, tile);
    qfz_numbers found = {0};
    uint64_t *first = NULL;
    int64_t n_first, n_labels;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, load_rows(stitch, tile, &found.row_start, err));
    QFZ_TRY_OR(st, cleanup,
               qfz_stitch_get_values(stitch, QFZ_SET_FIRST, tile, &first, &n_first, err));
    QFZ_TRY_OR(
        st, cleanup,
        qfz_stitch_get_values(stitch, QFZ_SET_LABEL, tile, &found.border_label, &n_labels, err));
    if (n_first != partition->n_border_regions || n_labels != n_first)
        QFZ_TRY_OR(st, cleanup, unsound_tile(stitch, tile, err));
    for (uint32_t s = 0; s < partition->n_border_regions; s++)
        if (first[s] == raster_number(stitch, box, partition->border_regions[s].first))
            found.border_label[s] = 0;
    *numbers = found;
    found = (qfz_numbers){0};

cleanup:
    free(first);
    qfz_numbers_fini(&found);
    return st;
}

void qfz_numbers_fini(qfz_numbers *numbers)
{
    free(numbers->row_start);
    free(numbers->border_label);
    *numbers = (qfz_numbers){0};
}
