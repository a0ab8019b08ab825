/* SPDX-License-Identifier: MIT */
/* components_runs.h - data of the passes of components.c: runs, and their forest.
 *
 * A run is a maximal sequence of valid pixels of a row, each joined to the next.  Runs are numbered
 * in raster order, without gaps within a strip of rows.  The forest has one invariant, parent[run]
 * <= run: the root of a component is the run of its first pixel. */
#ifndef QFZ_CPU_COMPONENTS_RUNS_H
#define QFZ_CPU_COMPONENTS_RUNS_H

#include "cpu/components_bits.h"
#include "cpu/cpu.h"

/* A parent with this flag is the label of the run's region.  Numbers of runs and labels fit the
 * bits below: there are at most 2^30 pixels. */
#define QFZ_LABELLED 0x80000000u

/* Before, between and after the runs of strips, so many numbers belong to no run: a vectorised read
 * behind a strip does not touch the data of another thread. */
enum { QFZ_RUN_SLACK = 16 };

typedef struct qfz_row_word {
    uint64_t start; /* pixels that are the first of a run */
    uint64_t valid;
} qfz_row_word;

/* Rows y0..y1-1 belong to one thread. */
typedef struct qfz_strip {
    int64_t y0, y1;
    uint32_t begin, end;    /* its runs; end is known after the first pass */
    uint32_t n_roots;       /* roots among its runs */
    int64_t gap_y0, gap_y1; /* rows that no other strip refers to */
    uint64_t *left, *up,
        *right;        /* working memory of the strip's thread: a row of bits and a word 0 each */
    uint32_t *numbers; /* the same, for the pixels or runs of two rows */
} qfz_strip;

struct qfz_runs {
    const qfz_image *image; /* this and rule are set in the first pass only */
    const qfz_rule *rule;
    int64_t h, w;
    int64_t words; /* per row */
    int n_strips;
    qfz_strip *strips;
    qfz_row_word *rows;
    uint32_t *row_run, *row_end; /* number of each row's first run, and past its last */
    uint32_t *row_before;        /* as in qfz_components_find() */
    uint32_t *parent;
};

/* First pass: finds the runs of a strip, and links each run to the joined runs above it. */
void qfz_runs_link(const qfz_runs *runs, qfz_strip *strip);

/* Joins the components of a strip to those of the strip above.  Returns the number of roots that
 * are no roots any more; they are in strip->numbers, and may belong to this strip or any strip
 * above. */
uint32_t qfz_runs_link_seam(const qfz_runs *runs, const qfz_strip *strip);

/* Second pass: every run gets the label of its region, and row_before is set inside the gap.
 * Before the call, row_before is set outside the gap, and roots that other strips lead to have
 * labels. */
void qfz_runs_label(const qfz_runs *runs, const qfz_strip *strip);

#endif
