/* SPDX-License-Identifier: MIT */
/* components_link.c - turns rows of pixels into runs, and runs into a forest. */
#include "cpu/components_runs.h"

#include <string.h>

/* Bit x of the result is column x - 1, or x + 1, of a row; before and after are the adjacent
 * words. */
QFZ_INLINE uint64_t from_before(uint64_t before, uint64_t word)
{
    return word << 1 | before >> 63;
}

QFZ_INLINE uint64_t from_after(uint64_t word, uint64_t after)
{
    return word >> 1 | after << 63;
}

/* ---- The forest ------------------------------------------------------------------------------ */

QFZ_INLINE uint32_t find_root(uint32_t *parent, uint32_t run)
{
    while (parent[run] != run) {
        parent[run] = parent[parent[run]];
        run = parent[run];
    }
    return run;
}

/* Joins two components.  If one root is no root any more, it is stored at *lost and the next place
 * is returned, else lost. */
QFZ_INLINE uint32_t *join(uint32_t *parent, uint32_t a, uint32_t b, uint32_t *lost)
{
    a = find_root(parent, a);
    b = find_root(parent, b);
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    parent[high] = low;
    *lost = high;
    return lost + (high != low);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* Cuts the valid pixels of row y into runs; returns their number. */
QFZ_CLONES static uint32_t cut_row(const qfz_runs *runs, const qfz_strip *strip, int64_t y)
{
    const int64_t w = runs->w, p = y * w;
    qfz_row_word *const row = runs->rows + y * runs->words;
    uint64_t *const joined = strip->left, *const valid = strip->up;
    uint64_t before = 0;
    uint32_t n = 0;

    joined[runs->words - 1] = 0; /* a row of w - 1 bits may have one word less */
    qfz_join_bits(runs->image, runs->rule, QFZ_RIGHT, p, p + 1, w - 1, joined);
    qfz_valid_bits(runs->image, p, w, valid);
    for (int64_t k = 0; k < runs->words; k++) {
        const uint64_t to_right = joined[k] & valid[k];
        row[k].valid = valid[k];
        row[k].start = valid[k] & ~from_before(before, to_right);
        before = to_right;
        n += (uint32_t)__builtin_popcountll(row[k].start);
    }
    return n;
}

QFZ_CLONES static void plant(uint32_t *parent, uint32_t begin, uint32_t end)
{
    for (uint32_t run = begin; run < end; run++)
        parent[run] = run;
}

/* ---- Edges between rows ---------------------------------------------------------------------- */

/* Sets strip->left, up and right: bit x is set if pixel x of row y is joined to pixel x - 1, x or x
 * + 1 of the row above. */
static void find_edges(const qfz_runs *runs, const qfz_strip *strip, int64_t y)
{
    const int64_t w = runs->w, words = runs->words, q = y * w, p = q - w;
    const qfz_row_word *const above = runs->rows + (y - 1) * words, *const below = above + words;
    const bool diagonal = runs->rule->connectivity == 8;

    strip->left[words - 1] = strip->right[words - 1] = 0;
    qfz_join_bits(runs->image, runs->rule, QFZ_BELOW, p, q, w, strip->up);
    if (diagonal) {
        qfz_join_bits(runs->image, runs->rule, QFZ_BELOW_RIGHT, p, q + 1, w - 1, strip->left);
        qfz_join_bits(runs->image, runs->rule, QFZ_BELOW_LEFT, p + 1, q, w - 1, strip->right);
    }
    for (int64_t k = 0; k < words; k++)
        strip->up[k] &= above[k].valid & below[k].valid;
    uint64_t valid_before = 0, left_before = 0;
    for (int64_t k = 0; diagonal && k < words; k++) {
        const uint64_t left = strip->left[k], valid = above[k].valid;
        const uint64_t valid_after = k + 1 < words ? above[k + 1].valid : 0;
        strip->left[k] =
            from_before(left_before, left) & below[k].valid & from_before(valid_before, valid);
        strip->right[k] &= below[k].valid & from_after(valid, valid_after);
        left_before = left;
        valid_before = valid;
    }
}

/* A word of row y, and its joins to the row above. */
typedef struct link_word {
    uint64_t left, up, right;
    uint64_t up_before, up_after;              /* up of the columns to the left and to the right */
    uint64_t start_above, start_below;         /* first pixels of runs */
    uint64_t starts_after, starts_after_below; /* of the columns to the right */
    uint32_t run_above, run_below;             /* the last runs that start before the word */
} link_word;

QFZ_INLINE link_word read_word(const qfz_runs *runs, const qfz_strip *strip, int64_t y, int64_t k)
{
    const qfz_row_word *const above = runs->rows + (y - 1) * runs->words;
    const qfz_row_word *const below = above + runs->words;
    const uint64_t up = strip->up[k];
    const bool last = k + 1 == runs->words;
    link_word l = {.up = up, .start_above = above[k].start, .start_below = below[k].start};
    l.starts_after = from_after(l.start_above, last ? 0 : above[k + 1].start);
    l.starts_after_below = from_after(l.start_below, last ? 0 : below[k + 1].start);
    l.up_before = from_before(k ? strip->up[k - 1] : 0, up);
    l.up_after = from_after(up, strip->up[k + 1]);
    if (runs->rule->connectivity == 8) {
        l.left = strip->left[k];
        l.right = strip->right[k];
    }
    return l;
}

/* Of the pixels that have an edge upwards, selects the first of each run.  *open: the run that
 * reaches into the word has had none so far.  A carry that enters at the start of a run passes
 * through pixels that neither have an edge nor start a run, and stops at the first that does. */
QFZ_INLINE uint64_t first_of_runs(uint64_t start, uint64_t linked, uint64_t *open)
{
    const unsigned long long passing = ~(start | linked);
    const uint64_t seeking = start & ~linked;
    unsigned long long sum;
    const bool out = __builtin_add_overflow(passing, (seeking << 1) | *open, &sum);
    *open = out || seeking >> 63;
    return linked & (start | sum);
}

QFZ_INLINE uint32_t rank(uint64_t start, int x)
{
    return (uint32_t)__builtin_popcountll(start & (((uint64_t)2 << x) - 1));
}

/* The run of pixel x of the word, and the run above it: the next one if bit x of ahead is set, the
 * one before if bit x of back is set. */
QFZ_INLINE uint32_t lower_run(const link_word *l, int x)
{
    return l->run_below + rank(l->start_below, x);
}

QFZ_INLINE uint32_t upper_run(const link_word *l, int x, uint64_t back, uint64_t ahead)
{
    return l->run_above + rank(l->start_above, x) - (uint32_t)(back >> x & 1) +
           (uint32_t)(ahead >> x & 1);
}

/* Links runs that are still roots to a run above.  first: one pixel of each such run. */
QFZ_INLINE void link_first(uint32_t *parent, const link_word *l, uint64_t first)
{
    const uint64_t back = l->left & l->start_above;
    const uint64_t ahead = ~l->left & ~l->up & l->starts_after;
    for (; first; first &= first - 1) {
        const int x = __builtin_ctzll(first);
        parent[lower_run(l, x)] = parent[parent[upper_run(l, x, back, ahead)]];
    }
}

QFZ_INLINE uint32_t *join_each(uint32_t *parent, const link_word *l, uint64_t edges, uint64_t back,
                               uint64_t ahead, uint32_t *lost)
{
    for (; edges; edges &= edges - 1) {
        const int x = __builtin_ctzll(edges);
        lost = join(parent, upper_run(l, x, back, ahead), lower_run(l, x), lost);
    }
    return lost;
}

/* Joins runs along the edges that link_first() did not use, except edges that join the same two
 * runs as an adjacent edge. */
QFZ_INLINE uint32_t *link_others(uint32_t *parent, const link_word *l, uint64_t first,
                                 uint32_t *lost)
{
    const uint64_t same_before = l->up_before & ~l->start_below;
    const uint64_t up =
        l->up & ~(first & ~(l->left & l->start_above)) & ~(same_before & ~l->start_above);
    const uint64_t left = l->left & ~first & ~same_before & ~(l->up & ~l->start_above);
    const uint64_t right = l->right & ~(first & ~l->left & ~l->up) & ~(l->up & ~l->starts_after) &
                           ~(l->up_after & ~l->starts_after_below);
    lost = join_each(parent, l, up, 0, 0, lost);
    lost = join_each(parent, l, left, l->start_above, 0, lost);
    return join_each(parent, l, right, 0, l->starts_after, lost);
}

/* Links the runs of row y to those of the row above.  roots: all runs of row y are roots, so that
 * the first link of each needs no search.  Returns the number of runs linked that way.  Other roots
 * that are no roots any more, *n_lost of them, fewer than the runs of both rows, are stored in
 * strip->numbers. */
QFZ_CLONES static uint32_t link_row(const qfz_runs *runs, const qfz_strip *strip, int64_t y,
                                    bool roots, uint32_t *n_lost)
{
    uint32_t run_above = runs->row_run[y - 1] - 1, run_below = runs->row_run[y] - 1, n_linked = 0;
    uint32_t *lost = strip->numbers;
    uint64_t open = 0;

    find_edges(runs, strip, y);
    for (int64_t k = 0; k < runs->words; k++) {
        link_word l = read_word(runs, strip, y, k);
        l.run_above = run_above;
        l.run_below = run_below;
        const uint64_t linked = l.left | l.up | l.right;
        const uint64_t first = roots ? first_of_runs(l.start_below, linked, &open) : 0;
        link_first(runs->parent, &l, first);
        lost = link_others(runs->parent, &l, first, lost);
        n_linked += (uint32_t)__builtin_popcountll(first);
        run_above += (uint32_t)__builtin_popcountll(l.start_above);
        run_below += (uint32_t)__builtin_popcountll(l.start_below);
    }
    *n_lost = (uint32_t)(lost - strip->numbers);
    return n_linked;
}

void qfz_runs_link(const qfz_runs *runs, qfz_strip *strip)
{
    uint32_t run = strip->begin, n_linked = 0, n_lost = 0;
    for (int64_t y = strip->y0; y < strip->y1; y++) {
        const uint32_t n = cut_row(runs, strip, y);
        plant(runs->parent, run, run + n);
        runs->row_run[y] = run;
        run += n;
        runs->row_end[y] = run;
        if (y == strip->y0) continue;
        n_linked += link_row(runs, strip, y, true, &n_lost);
        n_linked += n_lost;
    }
    strip->end = run;
    strip->n_roots = run - strip->begin - n_linked;
}

uint32_t qfz_runs_link_seam(const qfz_runs *runs, const qfz_strip *strip)
{
    uint32_t n_lost = 0;
    (void)link_row(runs, strip, strip->y0, false, &n_lost);
    return n_lost;
}
