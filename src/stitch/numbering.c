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
    census census;
    uint64_t *region_first; /* n_border_regions: of the whole region */
    uint64_t *label;        /* n_border_regions: label of an owned region; else 0 */
    int64_t *owned;         /* n_owned: border regions that the tile owns, by first pixel */
    int64_t n_owned;
    uint64_t *start; /* h: labels before the first one of each row */
} numbered_tile;

static void tile_fini(numbered_tile *t)
{
    free(t->census.words);
    free(t->region_first);
    free(t->label);
    free(t->owned);
    free(t->start);
    *t = (numbered_tile){0};
}

static int by_first(const void *a, const void *b, void *arg)
{
    const uint64_t *const first = arg;
    const uint64_t i = first[*(const int64_t *)a], j = first[*(const int64_t *)b];
    return (i > j) - (i < j);
}

static qfz_status unsound_tile(const qfz_stitch *stitch, int64_t tile, qfz_error *err)
{
    return qfz_unsound(tile_box(stitch, tile), "census", err);
}

/* Loads the census and the first pixels of regions, and lists the border regions that the tile
 * owns. */
static qfz_status tile_load(numbered_tile *t, qfz_stitch *stitch, int64_t tile, qfz_error *err)
{
    void *words = NULL;
    int64_t bytes, n_border_regions;
    const int64_t h = qfz_box_h(tile_box(stitch, tile));
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
    for (int64_t s = 0; s < n_border_regions; s++)
        if (t->census.first[s] == t->region_first[s]) t->owned[t->n_owned++] = s;
    return QFZ_OK;
}

static qfz_status tile_load_to_number(numbered_tile *t, qfz_stitch *stitch, int64_t tile,
                                      qfz_error *err)
{
    QFZ_TRY(tile_load(t, stitch, tile, err));
    QFZ_TRY(QFZ_NEW_ZERO(&t->label, t->census.n_border_regions, err));
    QFZ_TRY(QFZ_NEW(&t->start, t->census.h, err));
    qsort_r(t->owned, (size_t)t->n_owned, sizeof *t->owned, by_first, t->census.first);
    return QFZ_OK;
}

/* Assigns the labels of one row of one tile; *next is the first owned border region without a
 * label. */
static uint64_t number_row(numbered_tile *t, int64_t row, uint64_t row_end, uint64_t given,
                           int64_t *next)
{
    uint64_t owned_before = 0;
    t->start[row] = given;
    for (; *next < t->n_owned; (*next)++) {
        const int64_t s = t->owned[*next];
        if (t->census.first[s] >= row_end) break;
        t->label[s] = given + t->census.before[s] + owned_before++ + 1;
    }
    return given + t->census.inner[row] + owned_before;
}

static qfz_status save_tile(qfz_stitch *stitch, int64_t tile, const numbered_tile *t,
                            qfz_error *err)
{
    QFZ_TRY(qfz_store_put(stitch->store, qfz_piece(stitch, PIECE_ROWS, tile), t->start,
                          t->census.h * (int64_t)sizeof *t->start, err));
    return qfz_stitch_put_values(stitch, QFZ_SET_LABEL, tile, t->label, t->census.n_border_regions,
                                 err);
}

/* All threads load the tiles, which sorts their border regions, and save them; in between one
 * thread visits the rows of pixels. */
typedef struct tile_row {
    qfz_stitch *stitch;
    int64_t first_tile;
    numbered_tile *tiles;
    int64_t *next; /* of number_row() */
} tile_row;

static qfz_status load_in_row(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    const tile_row *const r = arg;
    return tile_load_to_number(&r->tiles[item], r->stitch, r->first_tile + item, err);
}

static qfz_status save_in_row(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    const tile_row *const r = arg;
    const int64_t tile = r->first_tile + item;
    QFZ_TRY(save_tile(r->stitch, tile, &r->tiles[item], err));
    qfz_store_drop(r->stitch->store, qfz_piece(r->stitch, PIECE_CENSUS, tile));
    tile_fini(&r->tiles[item]);
    return QFZ_OK;
}

static qfz_status number_tile_row(qfz_stitch *stitch, int64_t tile_y, uint64_t *given,
                                  qfz_error *err)
{
    const qfz_tiling *const tiling = &stitch->group_tree.tiling;
    tile_row r = {.stitch = stitch, .first_tile = tile_y * tiling->n_x};
    const qfz_box box = tile_box(stitch, r.first_tile);
    const int n_threads = stitch->n_threads;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW_ZERO(&r.tiles, tiling->n_x, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW_ZERO(&r.next, tiling->n_x, err));
    QFZ_TRY_OR(st, cleanup, qfz_parallel_for(n_threads, tiling->n_x, load_in_row, &r, err));
    for (int64_t row = 0; row < qfz_box_h(box); row++)
        for (int64_t x = 0; x < tiling->n_x; x++)
            *given = number_row(&r.tiles[x], row, (uint64_t)((box.y0 + row + 1) * tiling->w),
                                *given, &r.next[x]);
    st = qfz_parallel_for(n_threads, tiling->n_x, save_in_row, &r, err);

cleanup:
    for (int64_t x = 0; r.tiles && x < tiling->n_x; x++)
        tile_fini(&r.tiles[x]);
    free(r.tiles);
    free(r.next);
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
