/* SPDX-License-Identifier: MIT */
/* components.c - connected components of one image, by runs.
 *
 * First pass (components_link.c): rows of pixels become bits (components_bits.c), bits become runs,
 * and each run is linked to the runs above that it is joined to, in a forest whose roots are the
 * runs of first pixels.  So labels assigned to roots in the order of runs number regions by first
 * pixel.  Second pass (components_paint.c): runs become rows of labels.
 *
 * Strips of rows, one per thread, are linked independently, then joined along their seams.
 *
 * Runs as the units of labelling: He, Chao, Suzuki, A run-based two-scan labeling algorithm (IEEE
 * TIP 2008); Lacassagne, Zavidovique, Light speed labeling (J. Real-Time Image Processing 2011). */
#include "cpu/components_runs.h"

#include <string.h>

/* ---- Scratch memory -------------------------------------------------------------------------- */

enum { ALIGNMENT = 64, BIT_ROWS = 3 };

static int count_strips(int64_t h, int n_threads)
{
    if (n_threads < 1) return 1;
    return h < n_threads ? (int)h : n_threads;
}

/* Offsets in the scratch memory, in bytes.  The struct itself lies at offset 0. */
typedef struct layout {
    size_t strips, rows, row_run, row_end, parent;
    size_t own, own_bytes, own_numbers; /* of the first strip; of each strip; inside them */
    size_t bytes;
} layout;

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Adds n items of `size` bytes to the layout and returns their offset. */
static size_t place(layout *at, size_t n, size_t size)
{
    const size_t here = at->bytes;
    at->bytes += aligned(n * size);
    return here;
}

static size_t bit_row_bytes(size_t words)
{
    return (words + 1) * sizeof(uint64_t);
}

/* The arrays of all threads come first, then the arrays of each single thread: 4.3 bytes per pixel
 * of wide images, at most 36 (of a single column). */
static layout layout_of(int64_t h, int64_t w, int n_threads)
{
    layout at = {0};
    const size_t words = (size_t)qfz_words(w), n_strips = (size_t)count_strips(h, n_threads);
    const size_t n_runs = (size_t)h * (size_t)w + (n_strips + 1) * QFZ_RUN_SLACK;
    (void)place(&at, 1, sizeof(qfz_runs));
    at.strips = place(&at, n_strips, sizeof(qfz_strip));
    at.rows = place(&at, (size_t)h * words, sizeof(qfz_row_word));
    at.row_run = place(&at, (size_t)h, sizeof(uint32_t));
    at.row_end = place(&at, (size_t)h, sizeof(uint32_t));
    at.parent = place(&at, n_runs, sizeof(uint32_t));
    at.own_numbers = aligned(BIT_ROWS * bit_row_bytes(words));
    at.own_bytes =
        at.own_numbers + aligned(2 * (words * QFZ_WORD_PX + QFZ_RUN_SLACK) * sizeof(uint32_t));
    at.own = place(&at, n_strips, at.own_bytes);
    return at;
}

static qfz_runs *lay_out(char *scratch, int64_t h, int64_t w, int n_threads)
{
    const layout at = layout_of(h, w, n_threads);
    const size_t words = (size_t)qfz_words(w);
    qfz_runs *const runs = (qfz_runs *)(void *)scratch;
    *runs = (qfz_runs){.h = h,
                       .w = w,
                       .words = (int64_t)words,
                       .n_strips = count_strips(h, n_threads),
                       .strips = (qfz_strip *)(void *)(scratch + at.strips),
                       .rows = (qfz_row_word *)(void *)(scratch + at.rows),
                       .row_run = (uint32_t *)(void *)(scratch + at.row_run),
                       .row_end = (uint32_t *)(void *)(scratch + at.row_end),
                       .parent = (uint32_t *)(void *)(scratch + at.parent)};
    for (int s = 0; s < runs->n_strips; s++) {
        char *const own = scratch + at.own + (size_t)s * at.own_bytes;
        uint64_t *const bits = (uint64_t *)(void *)own;
        memset(bits, 0, BIT_ROWS * bit_row_bytes(words));
        runs->strips[s] = (qfz_strip){.left = bits,
                                      .up = bits + words + 1,
                                      .right = bits + 2 * (words + 1),
                                      .numbers = (uint32_t *)(void *)(own + at.own_numbers)};
    }
    return runs;
}

static void cut_strips(qfz_runs *runs)
{
    for (int s = 0; s < runs->n_strips; s++) {
        qfz_strip *const strip = &runs->strips[s];
        strip->y0 = runs->h * s / runs->n_strips;
        strip->y1 = runs->h * (s + 1) / runs->n_strips;
        strip->begin = (uint32_t)(strip->y0 * runs->w + (s + 1) * QFZ_RUN_SLACK);
    }
}

/* ---- Several strips -------------------------------------------------------------------------- */

/* The row of a run: the last row whose first run is not behind it.  A row without runs has the
 * first run of the next row. */
static int64_t row_of(const qfz_runs *runs, uint32_t run)
{
    int64_t low = 0, high = runs->h;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (runs->row_run[middle] <= run)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void label_roots_of_row(const qfz_runs *runs, int64_t y)
{
    uint32_t label = runs->row_before[y] + 1;
    for (uint32_t run = runs->row_run[y]; run < runs->row_end[y]; run++)
        if (runs->parent[run] == run) runs->parent[run] = QFZ_LABELLED | label++;
}

/* Calls fn for the row of every root above the strip that has no label and that a run of the
 * strip leads to; for some rows more than once.  All such runs lead through the first row of the
 * strip. */
static void visit_rows_above(const qfz_runs *runs, const qfz_strip *strip,
                             void (*fn)(const qfz_runs *, int64_t))
{
    uint32_t last = QFZ_NONE;
    for (uint32_t run = runs->row_run[strip->y0]; run < runs->row_end[strip->y0]; run++) {
        uint32_t root = run;
        while (!(runs->parent[root] & QFZ_LABELLED) && runs->parent[root] != root)
            root = runs->parent[root];
        const bool labelled = runs->parent[root] & QFZ_LABELLED;
        if (root >= strip->begin || labelled || root == last) continue;
        fn(runs, row_of(runs, root));
        last = root;
    }
}

static int strip_of(const qfz_runs *runs, uint32_t run)
{
    int s = 0;
    while (s + 1 < runs->n_strips && run >= runs->strips[s + 1].begin)
        s++;
    return s;
}

static void join_strips(const qfz_runs *runs)
{
    for (int s = 1; s < runs->n_strips; s++) {
        const uint32_t n_lost = qfz_runs_link_seam(runs, &runs->strips[s]);
        for (uint32_t i = 0; i < n_lost; i++)
            runs->strips[strip_of(runs, runs->strips[s].numbers[i])].n_roots--;
    }
}

enum {
    REFERRED = 1
}; /* in row_before, until it is set: another strip refers to a root in the row */

static void mark_referred(const qfz_runs *runs, int64_t y)
{
    runs->row_before[y] = REFERRED;
}

/* Finds the longest sequence of rows that no other strip refers to. */
static void find_gap(const qfz_runs *runs, qfz_strip *strip)
{
    strip->gap_y0 = strip->gap_y1 = strip->y0;
    for (int64_t y = strip->y0, begin = y; y < strip->y1; y++) {
        if (runs->row_before[y] == REFERRED) begin = y + 1;
        if (y + 1 - begin <= strip->gap_y1 - strip->gap_y0) continue;
        strip->gap_y0 = begin;
        strip->gap_y1 = y + 1;
    }
}

static uint32_t count_roots(const qfz_runs *runs, int64_t y)
{
    uint32_t n = 0;
    for (uint32_t run = runs->row_run[y]; run < runs->row_end[y]; run++)
        n += runs->parent[run] == run;
    return n;
}

/* Sets row_before for the strip's rows before and behind the gap, by counting roots from the ends
 * of the strip, where the numbers are known; the strip above reads that of y0 meanwhile. */
static void count_around_gap(const qfz_runs *runs, const qfz_strip *strip)
{
    uint32_t *const row_before = runs->row_before;
    for (int64_t y = strip->y0; y < strip->gap_y0; y++)
        row_before[y + 1] = row_before[y] + count_roots(runs, y);
    for (int64_t y = strip->y1 - 1; y >= strip->gap_y1 && y > strip->y0; y--)
        row_before[y] = row_before[y + 1] - count_roots(runs, y);
}

/* Numbers the regions that a strip shares with strips above: the roots of these few rows get
 * labels, and so do other roots that begin there.  The rows are few, because a region either is
 * compact or, if large, has its first pixel near the top. */
static void number_referred_rows(const qfz_runs *runs)
{
    memset(runs->row_before, 0, (size_t)(runs->h + 1) * sizeof *runs->row_before);
    for (int s = 1; s < runs->n_strips; s++)
        visit_rows_above(runs, &runs->strips[s], mark_referred);
    for (int s = 0; s < runs->n_strips; s++)
        find_gap(runs, &runs->strips[s]);
    runs->row_before[0] = 0;
    for (int s = 0; s < runs->n_strips; s++) {
        const qfz_strip *const strip = &runs->strips[s];
        runs->row_before[strip->y1] = runs->row_before[strip->y0] + strip->n_roots;
    }
#pragma omp parallel for num_threads(runs->n_strips) schedule(static, 1)
    for (int s = 0; s < runs->n_strips; s++)
        count_around_gap(runs, &runs->strips[s]);
    for (int s = 1; s < runs->n_strips; s++)
        visit_rows_above(runs, &runs->strips[s], label_roots_of_row);
}

/* ---- The whole ------------------------------------------------------------------------------- */

size_t qfz_components_bytes(int64_t h, int64_t w, int n_threads)
{
    return layout_of(h, w, n_threads).bytes;
}

qfz_runs *qfz_components_find(const qfz_image *image, const qfz_rule *rule, int n_threads,
                              void *scratch, uint32_t *row_before)
{
    qfz_runs *const runs = lay_out(scratch, image->h, image->w, n_threads);
    cut_strips(runs);
    runs->image = image;
    runs->rule = rule;
    runs->row_before = row_before;
#pragma omp parallel for num_threads(runs->n_strips) schedule(static, 1)
    for (int s = 0; s < runs->n_strips; s++)
        qfz_runs_link(runs, &runs->strips[s]);
    join_strips(runs);
    number_referred_rows(runs);
#pragma omp parallel for num_threads(runs->n_strips) schedule(static, 1)
    for (int s = 0; s < runs->n_strips; s++)
        qfz_runs_label(runs, &runs->strips[s]);
    return runs;
}
