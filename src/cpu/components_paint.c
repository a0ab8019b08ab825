/* SPDX-License-Identifier: MIT */
/* components_paint.c - labelled runs to pixels, and queries about regions. */
#include "cpu/components_runs.h"

#include <string.h>

#include "core/box.h"

/* ---- Rows of pixels -------------------------------------------------------------------------- */

/* For each pattern of eight starts of runs and each of its bits i, the number of starts among bits
 * 1..i. */
typedef struct rank_table {
    uint32_t of[1 << QFZ_N_LANES][QFZ_N_LANES];
    uint32_t mask; /* the bits of run labels that are copied to pixels */
} rank_table;

static void rank_table_init(rank_table *ranks, uint32_t mask)
{
    ranks->mask = mask;
    for (uint32_t starts = 0; starts < 1 << QFZ_N_LANES; starts++) {
        uint32_t rank = 0;
        for (int i = 0; i < QFZ_N_LANES; i++) {
            rank += i > 0 && starts >> i & 1;
            ranks->of[starts][i] = rank;
        }
    }
}

/* Paints 64 pixels.  run: label of the last run that began before them; the same for the next 64
 * pixels is returned.  Labels before the first run and behind the last one may be read, but are not
 * used: hence QFZ_RUN_SLACK. */
static inline const uint32_t *paint_each(const rank_table *ranks, const uint32_t *run,
                                         qfz_row_word word, uint32_t *out)
{
    for (int x = 0; x < QFZ_WORD_PX; x++) {
        run += word.start >> x & 1;
        out[x] = *run & ranks->mask & -(uint32_t)(word.valid >> x & 1);
    }
    return run;
}

/* The same for eight pixels at a time, without a branch at the ends of runs: pixel i of eight has
 * the label as many runs further as bits 0..i have starts. */
QFZ_LANES static inline const uint32_t *paint_lanes(const rank_table *ranks, const uint32_t *run,
                                                    qfz_row_word word, uint32_t *out)
{
    const qfz_lanes mask = qfz_lanes_all(ranks->mask);
    for (int x = 0; x < QFZ_WORD_PX; x += QFZ_N_LANES) {
        const unsigned starts = word.start >> x & 0xff;
        const uint32_t valid = word.valid >> x & 0xff;
        const qfz_lanes runs = qfz_lanes_load(run + (starts & 1));
        const qfz_lanes labels = qfz_lanes_pick(runs, qfz_lanes_load(ranks->of[starts]));
        qfz_lanes_store(out + x,
                        qfz_lanes_and(qfz_lanes_and(labels, mask), qfz_lanes_of_bits(valid)));
        run += __builtin_popcount(starts);
    }
    return run;
}

/* name paints row y.  number: label of the row's first run; labels before and behind the row's runs
 * may be read. */
#define DEFINE_PAINT_ROW(name, TARGET, paint_word)                                                 \
    TARGET static void name(const qfz_runs *runs, const rank_table *ranks, int64_t y,              \
                            const uint32_t *number, uint32_t *out)                                 \
    {                                                                                              \
        const qfz_row_word *const row = runs->rows + y * runs->words;                              \
        const int64_t w = runs->w, whole = w / QFZ_WORD_PX;                                        \
        const uint32_t *run = number - 1;                                                          \
        for (int64_t k = 0; k < whole; k++)                                                        \
            run = paint_word(ranks, run, row[k], out + k * QFZ_WORD_PX);                           \
        if (w % QFZ_WORD_PX) {                                                                     \
            uint32_t last[QFZ_WORD_PX];                                                            \
            (void)paint_word(ranks, run, row[whole], last);                                        \
            memcpy(out + whole * QFZ_WORD_PX, last, (size_t)(w % QFZ_WORD_PX) * sizeof *last);     \
        }                                                                                          \
    }

DEFINE_PAINT_ROW(paint_row_each, , paint_each)
DEFINE_PAINT_ROW(paint_row_lanes, QFZ_LANES, paint_lanes)

static void paint_row(const qfz_runs *runs, const rank_table *ranks, int64_t y,
                      const uint32_t *number, uint32_t *out)
{
    if (qfz_lanes_are_fast())
        paint_row_lanes(runs, ranks, y, number, out);
    else
        paint_row_each(runs, ranks, y, number, out);
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

/* ---- Queries --------------------------------------------------------------------------------- */

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

/* The first run, from this one on, that has the label; there is one in the row. */
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
    for (;; seek->word++) { /* find the word in which the run starts */
        const uint32_t n = (uint32_t)__builtin_popcountll(row[seek->word].start);
        if (seek->run - seek->word_run < n) break;
        seek->word_run += n;
    }
    uint64_t starts = row[seek->word].start;
    for (uint32_t left = seek->run - seek->word_run; left; left--)
        starts &= starts - 1;
    return (uint32_t)(y * runs->w + seek->word * QFZ_WORD_PX + __builtin_ctzll(starts));
}
