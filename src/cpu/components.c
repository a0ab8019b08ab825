/* SPDX-License-Identifier: MIT */
/* components.c - connected components of one image, by runs.
 *
 * A run is a maximal stretch of valid pixels of a row, each joined to the next; runs are numbered
 * in raster order.  First pass: rows become bits, and each run is linked to the runs above that it
 * is joined to, in a forest with one rule: parent[run] <= run.  So the root of a component is the
 * run of its first pixel, and numbering roots by number of run numbers regions by first pixel.
 * Second pass: runs become rows of labels.
 *
 * Strips of rows are linked independently, each with numbers of its own (a strip's first run has
 * the number of the strip's first pixel), then joined along their seams.
 *
 * Runs as units of labelling: He, Chao, Suzuki, A run-based two-scan labeling algorithm (IEEE TIP
 * 2008); Lacassagne, Zavidovique, Light speed labeling (2011). */
#include "cpu/components_bits.h"
#include "cpu/cpu.h"

#include <string.h>

/* parent[run] becomes the label of the run's region with this flag.  Runs are numbered below 2^30,
 * labels go up to 2^30. */
#define LABELLED 0x80000000u

/* Parents before the first run and after the last one that may be read. */
enum { SLACK = 16 };

typedef struct row_word {
    uint64_t start; /* first pixels of runs */
    uint64_t valid;
} row_word;

/* Edges of a word of pixels to the row above: to the left, straight, to the right. */
typedef struct links {
    uint64_t left, up, right;
} links;

typedef struct row_strip {
    int64_t y0, y1;
    uint32_t n_regions; /* that have their first pixel here */
    uint32_t regions_before;
    uint64_t *left, *up, *right; /* one row of bits each, for the thread at work */
} row_strip;

typedef struct label_job {
    const qfz_image *image;
    const qfz_rule *rule;
    int64_t words; /* per row */
    int n_strips;
    row_strip *strips;
    row_word *rows;
    uint32_t *row_run; /* number of each row's first run */
    uint32_t *parent;
    uint64_t *bits; /* of the threads */
    uint32_t *label, *first, *count;
} label_job;

/* ---- Scratch memory -------------------------------------------------------------------------- */

static int count_strips(int64_t h, int n_threads)
{
    if (n_threads < 1) return 1;
    return h < n_threads ? (int)h : n_threads;
}

/* The next n items of size bytes of the scratch memory; NULL while it is only measured. */
static void *take(char *scratch, size_t *used, size_t n, size_t size)
{
    void *const taken = scratch ? scratch + *used : NULL;
    *used += (n * size + 63) / 64 * 64;
    return taken;
}

/* Gives every array its place; returns the bytes used. */
static size_t lay_out(label_job *job, char *scratch, int64_t h, int64_t w, int n_threads)
{
    size_t used = 0;
    const size_t words = (size_t)qfz_words(w);
    job->words = (int64_t)words;
    job->n_strips = count_strips(h, n_threads);
    job->strips = take(scratch, &used, (size_t)job->n_strips, sizeof *job->strips);
    job->rows = take(scratch, &used, (size_t)h * words, sizeof *job->rows);
    job->row_run = take(scratch, &used, (size_t)h, sizeof *job->row_run);
    job->parent = take(scratch, &used, (size_t)h * (size_t)w + 2 * SLACK, sizeof *job->parent);
    if (scratch) job->parent += SLACK;
    job->bits = take(scratch, &used, (size_t)job->n_strips * 3 * words, sizeof *job->bits);
    return used;
}

static void cut_strips(label_job *job)
{
    const int64_t h = job->image->h;
    for (int s = 0; s < job->n_strips; s++) {
        row_strip *const strip = &job->strips[s];
        strip->y0 = h * s / job->n_strips;
        strip->y1 = h * (s + 1) / job->n_strips;
        strip->regions_before = 0;
        strip->left = job->bits + 3 * s * job->words;
        strip->up = strip->left + job->words;
        strip->right = strip->up + job->words;
    }
}

/* ---- The forest of runs ---------------------------------------------------------------------- */

QFZ_INLINE uint32_t find_root(uint32_t *parent, uint32_t run)
{
    while (parent[run] != run) {
        parent[run] = parent[parent[run]];
        run = parent[run];
    }
    return run;
}

QFZ_INLINE void join_runs(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = find_root(parent, a);
    b = find_root(parent, b);
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    parent[high] = low;
}

/* ---- First pass: runs and their links -------------------------------------------------------- */

/* Number of runs that start at or before column x of a word. */
QFZ_INLINE uint32_t runs_up_to(uint64_t start, int x)
{
    return (uint32_t)__builtin_popcountll(start & (((uint64_t)2 << x) - 1));
}

/* Finds the runs of row y; returns how many. */
QFZ_CLONES static uint32_t find_runs(const label_job *job, int64_t y, uint64_t *joined)
{
    const int64_t w = job->image->w, p = y * w;
    row_word *const row = job->rows + y * job->words;
    uint64_t joined_before = 0; /* is the word's first pixel joined to the one before? */
    uint32_t n = 0;

    qfz_join_bits(job->image, job->rule, QFZ_RIGHT, p, p + 1, w - 1, joined);
    if (w % QFZ_WORD_PX == 1) joined[job->words - 1] = 0;
    qfz_valid_bits(job->image, p, w, joined + job->words);
    for (int64_t k = 0; k < job->words; k++) {
        const uint64_t valid = joined[job->words + k];
        const uint64_t to_right = joined[k] & valid;
        row[k].valid = valid;
        row[k].start = valid & ~(to_right << 1 | joined_before);
        joined_before = to_right >> 63;
        n += (uint32_t)__builtin_popcountll(row[k].start);
    }
    return n;
}

QFZ_CLONES static void found_runs(uint32_t *parent, uint32_t begin, uint32_t end)
{
    for (uint32_t run = begin; run < end; run++)
        parent[run] = run;
}

/* Bits of the edges between rows y - 1 and y, each at its lower pixel, valid or not. */
static void edge_rows(const label_job *job, const row_strip *strip, int64_t y)
{
    const int64_t w = job->image->w, q = y * w, p = q - w;
    const size_t row_bytes = (size_t)job->words * sizeof(uint64_t);
    qfz_join_bits(job->image, job->rule, QFZ_BELOW, p, q, w, strip->up);
    memset(strip->left, 0, row_bytes);
    memset(strip->right, 0, row_bytes);
    if (job->rule->connectivity == 4) return;
    qfz_join_bits(job->image, job->rule, QFZ_BELOW_LEFT, p + 1, q, w - 1, strip->right);
    qfz_join_bits(job->image, job->rule, QFZ_BELOW_RIGHT, p, q + 1, w - 1, strip->left);
    uint64_t carry = 0;
    for (int64_t k = 0; k < job->words; k++) {
        const uint64_t word = strip->left[k];
        strip->left[k] = word << 1 | carry;
        carry = word >> 63;
    }
}

/* Three words of a row: the one in question and the bits next to it. */
typedef struct around {
    uint64_t before, at, after; /* bit x: column x - 1, x, x + 1 */
} around;

QFZ_INLINE around look_around(uint64_t before, uint64_t at, uint64_t after)
{
    return (around){at << 1 | before >> 63, at, at >> 1 | after << 63};
}

/* Of the pixels that have a link upwards, those that are the first such of their run.  *open: the
 * run that reaches into this word has had none yet.  A carry that is let loose at the start of a
 * run ripples through pixels that neither have links nor start runs, and stops at one that does. */
QFZ_INLINE uint64_t first_of_runs(uint64_t start, uint64_t linked, uint64_t *open)
{
    const uint64_t passing = ~(start | linked);
    const uint64_t seek = start & ~linked;
    unsigned long long sum;
    const bool out = __builtin_add_overflow((unsigned long long)passing,
                                            (unsigned long long)(seek << 1 | *open), &sum);
    *open = out || seek >> 63;
    return linked & (start | (uint64_t)sum);
}

/* Links the runs of row y to those of the row above.  The runs of row y must be roots still, but
 * for those that were linked to row y - 1 here: the first link of a run is then but a copy. */
QFZ_CLONES static void link_row(const label_job *job, const row_strip *strip, int64_t y, bool copy_first)
{
    const row_word *const above = job->rows + (y - 1) * job->words;
    const row_word *const below = above + job->words;
    uint32_t *const parent = job->parent;
    uint32_t run_above = job->row_run[y - 1] - 1, run_below = job->row_run[y] - 1;
    uint64_t open = 0, up_before = 0;

    edge_rows(job, strip, y);
    for (int64_t k = 0; k < job->words; k++) {
        const bool last = k + 1 == job->words;
        const around va = look_around(k ? above[k - 1].valid : 0, above[k].valid,
                                      last ? 0 : above[k + 1].valid);
        const uint64_t sa = above[k].start, sb = below[k].start;
        const uint64_t sa_after = sa >> 1 | (last ? 0 : above[k + 1].start << 63);
        const uint64_t sb_after = sb >> 1 | (last ? 0 : below[k + 1].start << 63);
        const uint64_t left = strip->left[k] & below[k].valid & va.before;
        const uint64_t up = strip->up[k] & below[k].valid & va.at;
        const uint64_t right = strip->right[k] & below[k].valid & va.after;
        const uint64_t up_next =
            last ? 0 : strip->up[k + 1] & below[k + 1].valid & above[k + 1].valid;
        const around ups = look_around(up_before, up, up_next);

        const uint64_t first =
            copy_first ? first_of_runs(sb, left | up | right, &open) : 0;
        for (uint64_t rest = first; rest; rest &= rest - 1) {
            const int x = __builtin_ctzll(rest);
            const uint32_t back = (uint32_t)((left & sa) >> x & 1);
            const uint32_t forth = (uint32_t)((~left & ~up & sa_after) >> x & 1);
            parent[run_below + runs_up_to(sb, x)] =
                parent[parent[run_above + runs_up_to(sa, x) - back + forth]];
        }
        uint64_t more_left = left & ~first & ~(ups.before & ~sb) & ~(up & ~sa);
        uint64_t more_up = up & ~(first & ~(left & sa)) & ~(ups.before & ~sa & ~sb);
        uint64_t more_right = right & ~(first & ~left & ~up) & ~(up & ~sa_after) &
                              ~(ups.after & ~sb_after);
        for (; more_up; more_up &= more_up - 1) {
            const int x = __builtin_ctzll(more_up);
            join_runs(parent, run_above + runs_up_to(sa, x), run_below + runs_up_to(sb, x));
        }
        for (; more_left; more_left &= more_left - 1) {
            const int x = __builtin_ctzll(more_left);
            join_runs(parent, run_above + runs_up_to(sa, x) - (uint32_t)(sa >> x & 1),
                      run_below + runs_up_to(sb, x));
        }
        for (; more_right; more_right &= more_right - 1) {
            const int x = __builtin_ctzll(more_right);
            join_runs(parent, run_above + runs_up_to(sa, x) + (uint32_t)(sa_after >> x & 1),
                      run_below + runs_up_to(sb, x));
        }
        run_above += (uint32_t)__builtin_popcountll(sa);
        run_below += (uint32_t)__builtin_popcountll(sb);
        up_before = up;
    }
}

static void link_strip(const label_job *job, const row_strip *strip)
{
    uint32_t run = (uint32_t)(strip->y0 * job->image->w);
    for (int64_t y = strip->y0; y < strip->y1; y++) {
        const uint32_t n = find_runs(job, y, strip->left);
        found_runs(job->parent, run, run + n);
        job->row_run[y] = run;
        run += n;
        if (y > strip->y0) link_row(job, strip, y, true);
    }
}

/* ---- Second pass: numbers and labels --------------------------------------------------------- */

static uint32_t end_of_runs(const label_job *job, const row_strip *strip)
{
    const row_word *const row = job->rows + (strip->y1 - 1) * job->words;
    uint32_t run = job->row_run[strip->y1 - 1];
    for (int64_t k = 0; k < job->words; k++)
        run += (uint32_t)__builtin_popcountll(row[k].start);
    return run;
}

static void count_roots(const label_job *job, row_strip *strip)
{
    const uint32_t end = end_of_runs(job, strip);
    uint32_t n = 0;
    for (uint32_t run = job->row_run[strip->y0]; run < end; run++)
        n += job->parent[run] == run;
    strip->n_regions = n;
}

/* Which runs are roots is anyone's guess: no branches on it here and below. */
static void number_roots(const label_job *job, const row_strip *strip)
{
    const uint32_t end = end_of_runs(job, strip);
    uint32_t label = strip->regions_before + 1;
    for (uint32_t run = job->row_run[strip->y0]; run < end; run++) {
        const uint32_t up = job->parent[run], is_root = up == run;
        job->parent[run] = up ^ ((up ^ (LABELLED | label)) & -is_root);
        label += is_root;
    }
}

/* Labels runs; roots that have no label yet get those from *label on.  Parents outside the strip
 * have labels.  Other threads write parents meanwhile, but only replace a number of a run by the
 * label of its region, and both lead to the same label.  Runs before these in the strip are done
 * already: one look suffices. */
QFZ_CLONES static void resolve_runs(uint32_t *parent, uint32_t begin, uint32_t end,
                                    uint32_t *label)
{
    uint32_t fresh = *label;
    for (uint32_t run = begin; run < end; run++) {
        const uint32_t up = __atomic_load_n(&parent[run], __ATOMIC_RELAXED), is_root = up == run;
        const uint32_t at = up & LABELLED ? run : up;
        uint32_t found = __atomic_load_n(&parent[at], __ATOMIC_RELAXED);
        found ^= (found ^ (LABELLED | fresh)) & -is_root;
        while (!(found & LABELLED))
            found = __atomic_load_n(&parent[found], __ATOMIC_RELAXED);
        __atomic_store_n(&parent[run], found, __ATOMIC_RELAXED);
        fresh += is_root;
    }
    *label = fresh;
}

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

/* Paints 64 pixels; *run is the last run that began before.  Labels of runs that are to come, and
 * of none, are read and not used. */
QFZ_INLINE const uint32_t *paint_word(const rank_table *ranks, const uint32_t *run, row_word word,
                                      uint32_t *out)
{
    const eight_labels bit = {1, 2, 4, 8, 16, 32, 64, 128};
    for (int x = 0; x < QFZ_WORD_PX; x += EIGHT) {
        const unsigned starts = word.start >> x & 0xff;
        const uint32_t valid = word.valid >> x & 0xff;
        eight_labels labels;
        memcpy(&labels, run + (starts & 1), sizeof labels);
        labels = __builtin_shuffle(labels, ranks->of[starts]) & ~LABELLED;
        labels &= (eight_labels)((valid & bit) != 0);
        memcpy(out + x, &labels, sizeof labels);
        run += __builtin_popcount(starts);
    }
    return run;
}

QFZ_CLONES static void paint_row(const label_job *job, const rank_table *ranks, int64_t y)
{
    const row_word *const row = job->rows + y * job->words;
    const int64_t w = job->image->w, whole = w / QFZ_WORD_PX;
    const uint32_t *run = job->parent + job->row_run[y] - 1;
    uint32_t *const out = job->label + y * w;
    for (int64_t k = 0; k < whole; k++)
        run = paint_word(ranks, run, row[k], out + k * QFZ_WORD_PX);
    if (w % QFZ_WORD_PX) {
        uint32_t last[QFZ_WORD_PX];
        paint_word(ranks, run, row[whole], last);
        memcpy(out + whole * QFZ_WORD_PX, last, (size_t)(w % QFZ_WORD_PX) * sizeof *last);
    }
}

/* Where regions begin and how large they are. */
typedef struct region_tables {
    uint32_t *first, *count; /* either may be NULL */
    bool shared;             /* with other threads */
    uint32_t seen;           /* number of regions that began before */
} region_tables;

/* n pixels of a region, the first being p.  The next region that begins in this strip is known by
 * its label. */
QFZ_INLINE void tabulate_run(region_tables *tables, uint32_t label, uint32_t p, uint32_t n)
{
    const bool begins = label == tables->seen + 1;
    uint32_t none;
    *(tables->first && begins ? &tables->first[label - 1] : &none) = p;
    tables->seen += begins;
    if (!tables->count) return;
    if (tables->shared)
        __atomic_fetch_add(&tables->count[label - 1], n, __ATOMIC_RELAXED);
    else
        tables->count[label - 1] = (begins ? 0 : tables->count[label - 1]) + n;
}

/* Word by word: a run that goes on from one to the next counts as two. */
QFZ_CLONES static uint32_t tabulate_row(const label_job *job, int64_t y, uint32_t seen)
{
    const row_word *const row = job->rows + y * job->words;
    const uint32_t *run = job->parent + job->row_run[y];
    const int64_t words = job->words;
    uint32_t p = (uint32_t)(y * job->image->w);
    region_tables tables = {job->first, job->count, job->n_strips > 1, seen};
    for (int64_t k = 0; k < words; k++, p += QFZ_WORD_PX) {
        const uint64_t valid = row[k].valid;
        uint64_t starts = row[k].start | (valid & 1);
        uint64_t ends = valid & (starts >> 1 | ~(valid >> 1));
        run -= starts != row[k].start;
        for (; starts; starts &= starts - 1, ends &= ends - 1) {
            const uint32_t x = (uint32_t)__builtin_ctzll(starts);
            const uint32_t n = (uint32_t)__builtin_ctzll(ends) + 1 - x;
            tabulate_run(&tables, *run++ & ~LABELLED, p + x, n);
        }
    }
    return tables.seen;
}

static void finish_strip(const label_job *job, row_strip *strip)
{
    const uint32_t end = end_of_runs(job, strip);
    rank_table ranks;
    rank_table_init(&ranks);
    uint32_t label = strip->regions_before + 1, seen = strip->regions_before;
    for (int64_t y = strip->y0; y < strip->y1; y++) {
        const bool last = y + 1 == strip->y1;
        resolve_runs(job->parent, job->row_run[y], last ? end : job->row_run[y + 1], &label);
        paint_row(job, &ranks, y);
        if (job->first || job->count) seen = tabulate_row(job, y, seen);
    }
    if (job->n_strips == 1) strip->n_regions = label - 1;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Numbers the roots of several strips. */
static uint32_t number_regions(const label_job *job)
{
    uint32_t n = 0;
#pragma omp parallel for num_threads(job->n_strips) schedule(static, 1)
    for (int s = 0; s < job->n_strips; s++)
        count_roots(job, &job->strips[s]);
    for (int s = 0; s < job->n_strips; s++) {
        job->strips[s].regions_before = n;
        n += job->strips[s].n_regions;
    }
#pragma omp parallel for num_threads(job->n_strips) schedule(static, 1)
    for (int s = 0; s < job->n_strips; s++)
        number_roots(job, &job->strips[s]);
    return n;
}

size_t qfz_components_bytes(const qfz_rule *rule, int64_t h, int64_t w, int n_threads)
{
    (void)rule;
    label_job job;
    return lay_out(&job, NULL, h, w, n_threads);
}

void qfz_components(const qfz_image *image, const qfz_rule *rule, int n_threads, void *scratch,
                    uint32_t *label, uint32_t *first, uint32_t *count, uint32_t *n_regions)
{
    label_job job = {.image = image, .rule = rule, .label = label, .first = first, .count = count};
    lay_out(&job, scratch, image->h, image->w, n_threads);
    cut_strips(&job);
#pragma omp parallel for num_threads(job.n_strips) schedule(static, 1)
    for (int s = 0; s < job.n_strips; s++)
        link_strip(&job, &job.strips[s]);
    for (int s = 1; s < job.n_strips; s++)
        link_row(&job, &job.strips[s], job.strips[s].y0, false);

    const uint32_t n = job.n_strips > 1 ? number_regions(&job) : 0;
    if (count) memset(count, 0, n * sizeof *count);
#pragma omp parallel for num_threads(job.n_strips) schedule(static, 1)
    for (int s = 0; s < job.n_strips; s++)
        finish_strip(&job, &job.strips[s]);
    *n_regions = job.n_strips > 1 ? n : job.strips[0].n_regions;
}
