/* SPDX-License-Identifier: MIT */
/* components_paint.c - the forest of runs to rows of labels, and tables of regions. */
#include "cpu/components_runs.h"

#include <string.h>

/* ---- Labels of runs -------------------------------------------------------------------------- */

/* Labels runs; roots that have no label yet get those from *label on.  Parents outside the strip
 * have labels.  Other threads write parents meanwhile, but only replace the number of a run by the
 * label of its region, and both lead to the same label.  Runs before these in the strip are done
 * already: one look suffices.  Which runs are roots is anyone's guess: no branch depends on it. */
QFZ_CLONES static void label_runs(uint32_t *parent, uint32_t begin, uint32_t end, uint32_t *label)
{
    uint32_t fresh = *label;
    for (uint32_t run = begin; run < end; run++) {
        const uint32_t up = __atomic_load_n(&parent[run], __ATOMIC_RELAXED), is_root = up == run;
        const uint32_t at = up & QFZ_LABELLED ? run : up;
        uint32_t found = __atomic_load_n(&parent[at], __ATOMIC_RELAXED);
        found ^= (found ^ (QFZ_LABELLED | fresh)) & -is_root;
        while (!(found & QFZ_LABELLED))
            found = __atomic_load_n(&parent[found], __ATOMIC_RELAXED);
        __atomic_store_n(&parent[run], found, __ATOMIC_RELAXED);
        fresh += is_root;
    }
    *label = fresh;
}

/* ---- Labels of pixels ------------------------------------------------------------------------ */

/* Labels are painted by eights of pixels, without a look at where runs begin and end: pixel i of
 * eight has the label of the run so many runs further as there are starts in its bits 0..i. */
enum { EIGHT = 8 };
typedef uint32_t eight_labels __attribute__((vector_size(EIGHT * sizeof(uint32_t))));

/* For each pattern of eight starts and each of its bits i, the number of those among 1..i. */
typedef struct rank_table {
    eight_labels of[1 << EIGHT];
} rank_table;

static void rank_table_init(rank_table *ranks)
{
    for (uint32_t starts = 0; starts < 1 << EIGHT; starts++) {
        uint32_t rank = 0;
        for (int i = 0; i < EIGHT; i++) {
            rank += i > 0 && starts >> i & 1;
            ranks->of[starts][i] = rank;
        }
    }
}

/* Paints 64 pixels.  run: parent of the last run that began before, whose successor is returned.
 * Parents of runs that are to come, and of none, are read but not used: hence QFZ_RUN_SLACK. */
QFZ_INLINE const uint32_t *paint_word(const rank_table *ranks, const uint32_t *run,
                                      qfz_row_word word, uint32_t *out)
{
    const eight_labels bit = {1, 2, 4, 8, 16, 32, 64, 128};
    for (int x = 0; x < QFZ_WORD_PX; x += EIGHT) {
        const unsigned starts = word.start >> x & 0xff;
        const uint32_t valid = word.valid >> x & 0xff;
        eight_labels labels;
        memcpy(&labels, run + (starts & 1), sizeof labels);
        labels = __builtin_shuffle(labels, ranks->of[starts]) & ~QFZ_LABELLED;
        labels &= (eight_labels)((valid & bit) != 0);
        memcpy(out + x, &labels, sizeof labels);
        run += __builtin_popcount(starts);
    }
    return run;
}

QFZ_CLONES static void paint_row(const qfz_runs *runs, const rank_table *ranks, int64_t y,
                                 uint32_t *label)
{
    const qfz_row_word *const row = runs->rows + y * runs->words;
    const int64_t w = runs->image->w, whole = w / QFZ_WORD_PX;
    const uint32_t *run = runs->parent + runs->row_run[y] - 1;
    uint32_t *const out = label + y * w;
    for (int64_t k = 0; k < whole; k++)
        run = paint_word(ranks, run, row[k], out + k * QFZ_WORD_PX);
    if (w % QFZ_WORD_PX) {
        uint32_t last[QFZ_WORD_PX];
        paint_word(ranks, run, row[whole], last);
        memcpy(out + whole * QFZ_WORD_PX, last, (size_t)(w % QFZ_WORD_PX) * sizeof *last);
    }
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Where regions begin and how large they are. */
typedef struct region_tables {
    uint32_t *first, *count; /* either may be NULL */
    bool shared;             /* with other threads */
    uint32_t seen;           /* label of the last region that began before */
} region_tables;

/* n pixels of a region, the first being p.  The next region that begins in this strip is known by
 * its label. */
QFZ_INLINE void tabulate_run(region_tables *tables, uint32_t label, uint32_t p, uint32_t n)
{
    const bool begins = label == tables->seen + 1;
    uint32_t nowhere;
    *(tables->first && begins ? &tables->first[label - 1] : &nowhere) = p;
    tables->seen += begins;
    if (!tables->count) return;
    if (tables->shared)
        __atomic_fetch_add(&tables->count[label - 1], n, __ATOMIC_RELAXED);
    else
        tables->count[label - 1] = (begins ? 0 : tables->count[label - 1]) + n;
}

/* Word by word: a run that goes on from one to the next counts as two. */
QFZ_CLONES static void tabulate_row(const qfz_runs *runs, int64_t y, region_tables *all)
{
    const qfz_row_word *const row = runs->rows + y * runs->words;
    const uint32_t *run = runs->parent + runs->row_run[y];
    const int64_t words = runs->words;
    uint32_t p = (uint32_t)(y * runs->image->w);
    region_tables tables = *all;
    for (int64_t k = 0; k < words; k++, p += QFZ_WORD_PX) {
        const uint64_t valid = row[k].valid;
        uint64_t starts = row[k].start | (valid & 1);
        uint64_t ends = valid & (starts >> 1 | ~(valid >> 1));
        run -= starts != row[k].start;
        for (; starts; starts &= starts - 1, ends &= ends - 1) {
            const uint32_t x = (uint32_t)__builtin_ctzll(starts);
            const uint32_t n = (uint32_t)__builtin_ctzll(ends) + 1 - x;
            tabulate_run(&tables, *run++ & ~QFZ_LABELLED, p + x, n);
        }
    }
    *all = tables;
}

void qfz_runs_paint(const qfz_runs *runs, qfz_strip *strip, uint32_t *label, uint32_t *first,
                    uint32_t *count)
{
    uint32_t next = strip->regions_before + 1;
    region_tables tables = {first, count, runs->n_strips > 1, strip->regions_before};
    rank_table ranks;
    rank_table_init(&ranks);
    for (int64_t y = strip->y0; y < strip->y1; y++) {
        const uint32_t end = y + 1 < strip->y1 ? runs->row_run[y + 1] : strip->end;
        label_runs(runs->parent, runs->row_run[y], end, &next);
        paint_row(runs, &ranks, y, label);
        if (first || count) tabulate_row(runs, y, &tables);
    }
    if (runs->n_strips == 1) strip->n_regions = next - 1;
}
