/* SPDX-License-Identifier: MIT */
/* cpu.h - the parts of the CPU engine; each computes on one image or one graph, on the host.
 *
 * Images have at most 2^30 pixels here.  All scratch memory comes from the caller, who asks the
 * matching _bytes() function first. */
#ifndef QFZ_CPU_H
#define QFZ_CPU_H

#include "core/summary.h"

/* ---- components.c: flat zones and alpha-components of one image.
 *
 * Pixels join along edges whose level is <= rule->alpha_level (rule->edge_bits: whose bit is set).
 * Regions are numbered 1, 2, 3 ... by first pixel.  They are kept as runs of pixels, a fraction of
 * what a number a pixel takes, in the scratch memory, of qfz_components_bytes() bytes: it has to
 * stay as long as anything is asked about them, the image has not. */
typedef struct qfz_runs qfz_runs;

size_t qfz_components_bytes(int64_t h, int64_t w, int n_threads);

/* row_before: h + 1 numbers; regions that begin in rows before y, at last how many there are. */
qfz_runs *qfz_components_find(const qfz_image *image, const qfz_rule *rule, int n_threads,
                              void *scratch, uint32_t *row_before);

/* region[x] = number of the region of each pixel of row y, 0 where invalid. */
void qfz_components_row(const qfz_runs *runs, int64_t y, uint32_t *region);

/* The same of every pixel of the ring (box.h). */
void qfz_components_ring(const qfz_runs *runs, uint32_t *region);

/* Where a search for first pixels is; starts as {0}. */
typedef struct qfz_components_seek {
    int64_t y, word;
    uint32_t run, word_run;
} qfz_components_seek;

/* The first pixel, y * w + x, of a region that begins in row y.  Regions are asked for in the order
 * of their numbers, so that the search goes on where it was. */
uint32_t qfz_components_first(const qfz_runs *runs, qfz_components_seek *seek, int64_t y,
                              uint32_t region);

/* out[px] = name[region - 1], name being NULL: region; 0 where invalid.  uint32_t, or uint64_t if
 * wide. */
void qfz_components_labels(const qfz_runs *runs, const uint64_t *name, bool wide, void *out);

/* ---- tree.c: the canonical alpha-tree of one image.
 *
 * parent and level have room for qfz_tree_room() words each, where the tree also grows; the result
 * is a qfz_tree (qfz.h), of *n_nodes border_regions, at most 2 * h * w.  Edges above
 * rule->alpha_level are left out, so that there may be many roots. */
int64_t qfz_tree_room(const qfz_rule *rule, int64_t h, int64_t w);
size_t qfz_tree_bytes(const qfz_rule *rule, int64_t h, int64_t w, int n_threads);
void qfz_tree_build(const qfz_image *image, const qfz_rule *rule, int n_threads, void *scratch,
                    uint32_t *parent, uint32_t *level, int64_t *n_nodes);

#endif
