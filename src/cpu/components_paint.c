/* SPDX-License-Identifier: MIT */
/* components_paint.c - labelled runs to pixels, and what is asked about regions. */
#include "cpu/components_runs.h"

#include <string.h>

#include "core/box.h"

/* ---- Rows of pixels -------------------------------------------------------------------------- */

/* Labels are painted by eights of pixels, without a look at where runs begin and end: pixel i of
 * eight has the label of the run so many runs further as there are starts in its bits 0..i. */
enum { EIGHT = 8 };
typedef uint32_t eight_labels __attribute__((vector_size(EIGHT * sizeof(uint32_t))));

/* For each pattern of eight starts and each of its bits i, the number of those among 1..i. */
typedef struct rank_table {
    eight_labels of[1 << EIGHT];
    eight_labels mask; /* the bits of numbers of runs that go to pixels */
} rank_table;

static void rank_table_init(rank_table *ranks, uint32_t mask)
{
    ranks->mask = mask - (eight_labels){0};
    for (uint32_t starts = 0; starts < 1 << EIGHT; starts++) {
        uint32_t rank = 0;
        for (int i = 0; i < EIGHT; i++) {
            rank += i > 0 && starts >> i & 1;
            ranks->of[starts][i] = rank;
        }
    }
}

/* Paints 64 pixels.  run: number of the last run that began before, whose successor is returned.
 * Numbers of runs that are to come, and of none, are read but not used: hence QFZ_RUN_SLACK. */
QFZ_INLINE const uint32_t *paint_word(const rank_table *ranks, const uint32_t *run,
                                      qfz_row_word word, uint32_t *out)
{
    const eight_labels bit = {1, 2, 4, 8, 16, 32, 64, 128};
    for (int x = 0; x < QFZ_WORD_PX; x += EIGHT) {
        const unsigned starts = word.start >> x & 0xff;
        const uint32_t valid = word.valid >> x & 0xff;
        eight_labels labels;
        memcpy(&labels, run + (starts & 1), sizeof labels);
        labels = __builtin_shuffle(labels, ranks->of[starts]) & ranks->mask;
        labels &= (eight_labels)((valid & bit) != 0);
        memcpy(out + x, &labels, sizeof labels);
        run += __builtin_popcount(starts);
    }
    return run;
}

/* number: of the row's first run; what is before and behind may be read. */
QFZ_CLONES static void paint_row(const qfz_runs *runs, const rank_table *ranks, int64_t y,
                                 const uint32_t *number, uint32_t *out)
{
    const qfz_row_word *const row = runs->rows + y * runs->words;
    const int64_t w = runs->w, whole = w / QFZ_WORD_PX;
    const uint32_t *run = number - 1;
    for (int64_t k = 0; k < whole; k++)
        run = paint_word(ranks, run, row[k], out + k * QFZ_WORD_PX);
    if (w % QFZ_WORD_PX) {
        uint32_t last[QFZ_WORD_PX];
        paint_word(ranks, run, row[whole], last);
        memcpy(out + whole * QFZ_WORD_PX, last, (size_t)(w % QFZ_WORD_PX) * sizeof *last);
    }
}

void qfz_components_row(const qfz_runs *runs, int64_t y, uint32_t *region)
{
    rank_table ranks;
    rank_table_init(&ranks, ~QFZ_LABELLED);
    paint_row(runs, &ranks, y, runs->parent + runs->row_run[y], region);
}

/* ---- Labels ---------------------------------------------------------------------------------- */

static void name_runs(const qfz_runs *runs, int64_t y, const uint64_t *name, uint32_t *out)
{
    const uint32_t *const parent = runs->parent + runs->row_run[y];
    const uint32_t n = runs->row_end[y] - runs->row_run[y];
    for (uint32_t i = 0; i < n; i++)
        out[i] = (uint32_t)name[(parent[i] & ~QFZ_LABELLED) - 1];
}

static void name_pixels(const uint32_t *region, int64_t n, const uint64_t *name, uint64_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = !region[i] ? 0 : name ? name[region[i] - 1] : region[i];
}

static void label_strip(const qfz_runs *runs, const qfz_strip *strip, const uint64_t *name,
                        bool wide, void *out)
{
    const int64_t w = runs->w;
    rank_table ranks;
    rank_table_init(&ranks, name && !wide ? UINT32_MAX : ~QFZ_LABELLED);
    for (int64_t y = strip->y0; y < strip->y1; y++) {
        const uint32_t *number = runs->parent + runs->row_run[y];
        if (wide) {
            paint_row(runs, &ranks, y, number, strip->numbers);
            name_pixels(strip->numbers, w, name, (uint64_t *)out + y * w);
            continue;
        }
        if (name) {
            uint32_t *const named = strip->numbers + QFZ_RUN_SLACK;
            name_runs(runs, y, name, named);
            number = named;
        }
        paint_row(runs, &ranks, y, number, (uint32_t *)out + y * w);
    }
}

void qfz_components_labels(const qfz_runs *runs, const uint64_t *name, bool wide, void *out)
{
#pragma omp parallel for num_threads(runs->n_strips) schedule(static, 1)
    for (int s = 0; s < runs->n_strips; s++)
        label_strip(runs, &runs->strips[s], name, wide, out);
}

/* ---- Questions ------------------------------------------------------------------------------- */

/* The region of a row's first and last pixel. */
static uint32_t left_end(const qfz_runs *runs, int64_t y)
{
    const bool valid = runs->rows[y * runs->words].valid & 1;
    return valid ? runs->parent[runs->row_run[y]] & ~QFZ_LABELLED : 0;
}

static uint32_t right_end(const qfz_runs *runs, int64_t y)
{
    const uint64_t last = runs->rows[(y + 1) * runs->words - 1].valid;
    const bool valid = last >> (runs->w - 1) % QFZ_WORD_PX & 1;
    return valid ? runs->parent[runs->row_end[y] - 1] & ~QFZ_LABELLED : 0;
}

void qfz_components_ring(const qfz_runs *runs, uint32_t *region)
{
    const int64_t h = runs->h, w = runs->w, n = qfz_ring_size(h, w);
    qfz_components_row(runs, 0, region);
    if (h > 1) qfz_components_row(runs, h - 1, region + w);
    for (int64_t i = h > 1 ? 2 * w : n; i < n; i++) {
        int64_t y, x;
        qfz_ring_place(h, w, i, &y, &x);
        region[i] = x == 0 ? left_end(runs, y) : right_end(runs, y);
    }
}

/* The first run from this one on that has a label; the row has one. */
QFZ_CLONES static uint32_t find_label(const uint32_t *parent, uint32_t run, uint32_t label)
{
    for (;; run += QFZ_RUN_SLACK) {
        uint32_t any = 0;
        for (uint32_t i = 0; i < QFZ_RUN_SLACK; i++)
            any |= parent[run + i] == label;
        if (any) break;
    }
    while (parent[run] != label)
        run++;
    return run;
}

uint32_t qfz_components_first(const qfz_runs *runs, qfz_components_seek *seek, int64_t y,
                              uint32_t region)
{
    const qfz_row_word *const row = runs->rows + y * runs->words;
    if (seek->y != y || !seek->run)
        *seek =
            (qfz_components_seek){.y = y, .run = runs->row_run[y], .word_run = runs->row_run[y]};
    seek->run = find_label(runs->parent, seek->run, QFZ_LABELLED | region);
    for (;; seek->word++) { /* to the word in which the run starts */
        const uint32_t n = (uint32_t)__builtin_popcountll(row[seek->word].start);
        if (seek->run - seek->word_run < n) break;
        seek->word_run += n;
    }
    uint64_t starts = row[seek->word].start;
    for (uint32_t left = seek->run - seek->word_run; left; left--)
        starts &= starts - 1;
    return (uint32_t)(y * runs->w + seek->word * QFZ_WORD_PX + __builtin_ctzll(starts));
}
