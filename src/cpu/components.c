/* SPDX-License-Identifier: MIT */
/* components.c - connected components of one image, by runs.
 *
 * First pass (components_link.c): rows of pixels become bits (components_bits.c), bits become runs,
 * and each run is linked to the runs above that it is joined to, in a forest whose roots are the
 * runs of first pixels.  So labels given to roots in the order of runs number regions by first
 * pixel.  Second pass (components_paint.c): runs become rows of labels.
 *
 * Strips of rows, one per thread, are linked independently, then joined along their seams.
 *
 * Runs as the units of labelling: He, Chao, Suzuki, A run-based two-scan labeling algorithm (IEEE
 * TIP 2008); Lacassagne, Zavidovique, Light speed labeling (J. Real-Time Image Processing 2011). */
#include "cpu/components_runs.h"
#include "cpu/cpu.h"

#include <string.h>

/* ---- Scratch memory -------------------------------------------------------------------------- */

enum { ALIGNMENT = 64, BIT_ROWS = 3 };

static int count_strips(int64_t h, int n_threads)
{
    if (n_threads < 1) return 1;
    return h < n_threads ? (int)h : n_threads;
}

/* The next n items of size bytes of the scratch memory; NULL while it is only measured. */
static void *take(char *scratch, size_t *used, size_t n, size_t size)
{
    void *const taken = scratch ? scratch + *used : NULL;
    *used += (n * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return taken;
}

/* Gives every array its place, bits for all threads being the last; returns the bytes used:
 * 4.3 per pixel of wide images, at most 24 (of a single column). */
static size_t lay_out(qfz_runs *runs, uint64_t **bits, char *scratch, int64_t h, int64_t w,
                      int n_threads)
{
    size_t used = 0;
    const size_t words = (size_t)qfz_words(w);
    const size_t n_strips = (size_t)count_strips(h, n_threads);
    const size_t n_runs = (size_t)h * (size_t)w + (n_strips + 1) * QFZ_RUN_SLACK;
    runs->words = (int64_t)words;
    runs->n_strips = (int)n_strips;
    runs->strips = take(scratch, &used, n_strips, sizeof *runs->strips);
    runs->rows = take(scratch, &used, (size_t)h * words, sizeof *runs->rows);
    runs->row_run = take(scratch, &used, (size_t)h, sizeof *runs->row_run);
    runs->parent = take(scratch, &used, n_runs, sizeof *runs->parent);
    *bits = take(scratch, &used, n_strips * BIT_ROWS * (words + 1), sizeof **bits);
    return used;
}

static void cut_strips(qfz_runs *runs, uint64_t *bits)
{
    const int64_t h = runs->image->h, w = runs->image->w;
    memset(bits, 0, (size_t)(runs->n_strips * BIT_ROWS * (runs->words + 1)) * sizeof *bits);
    for (int s = 0; s < runs->n_strips; s++) {
        qfz_strip *const strip = &runs->strips[s];
        *strip = (qfz_strip){.y0 = h * s / runs->n_strips, .y1 = h * (s + 1) / runs->n_strips};
        strip->begin = (uint32_t)(strip->y0 * w + (s + 1) * QFZ_RUN_SLACK);
        strip->left = bits + s * BIT_ROWS * (runs->words + 1);
        strip->up = strip->left + runs->words + 1;
        strip->right = strip->up + runs->words + 1;
    }
}

/* ---- Several strips -------------------------------------------------------------------------- */

static void count_roots(const uint32_t *parent, qfz_strip *strip)
{
    uint32_t n = 0;
    for (uint32_t run = strip->begin; run < strip->end; run++)
        n += parent[run] == run;
    strip->n_regions = n;
}

static void label_roots(uint32_t *parent, const qfz_strip *strip)
{
    uint32_t label = strip->regions_before + 1;
    for (uint32_t run = strip->begin; run < strip->end; run++) {
        const uint32_t up = parent[run], is_root = up == run;
        parent[run] = up ^ ((up ^ (QFZ_LABELLED | label)) & -is_root);
        label += is_root;
    }
}

/* Labels the roots of several strips; returns how many there are. */
static uint32_t number_regions(const qfz_runs *runs)
{
    uint32_t n = 0;
#pragma omp parallel for num_threads(runs->n_strips) schedule(static, 1)
    for (int s = 0; s < runs->n_strips; s++)
        count_roots(runs->parent, &runs->strips[s]);
    for (int s = 0; s < runs->n_strips; s++) {
        runs->strips[s].regions_before = n;
        n += runs->strips[s].n_regions;
    }
#pragma omp parallel for num_threads(runs->n_strips) schedule(static, 1)
    for (int s = 0; s < runs->n_strips; s++)
        label_roots(runs->parent, &runs->strips[s]);
    return n;
}

/* ---- The whole ------------------------------------------------------------------------------- */

size_t qfz_components_bytes(const qfz_rule *rule, int64_t h, int64_t w, int n_threads)
{
    (void)rule;
    qfz_runs runs;
    uint64_t *bits;
    return lay_out(&runs, &bits, NULL, h, w, n_threads);
}

void qfz_components(const qfz_image *image, const qfz_rule *rule, int n_threads, void *scratch,
                    uint32_t *label, uint32_t *first, uint32_t *count, uint32_t *n_regions)
{
    qfz_runs runs = {.image = image, .rule = rule};
    uint64_t *bits;
    lay_out(&runs, &bits, scratch, image->h, image->w, n_threads);
    cut_strips(&runs, bits);
#pragma omp parallel for num_threads(runs.n_strips) schedule(static, 1)
    for (int s = 0; s < runs.n_strips; s++)
        qfz_runs_link(&runs, &runs.strips[s]);
    for (int s = 1; s < runs.n_strips; s++)
        qfz_runs_link_seam(&runs, &runs.strips[s]);

    uint32_t n = 0;
    if (runs.n_strips > 1) {
        n = number_regions(&runs);
        if (count) memset(count, 0, n * sizeof *count);
    }
#pragma omp parallel for num_threads(runs.n_strips) schedule(static, 1)
    for (int s = 0; s < runs.n_strips; s++)
        qfz_runs_paint(&runs, &runs.strips[s], label, first, count);
    *n_regions = runs.n_strips > 1 ? n : runs.strips[0].n_regions;
}
