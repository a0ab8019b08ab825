/* SPDX-License-Identifier: MIT */
/* cpu.h - the parts of the CPU engine; each computes on one image or one graph, on the host.
 *
 * Images have at most 2^30 pixels.  The caller provides all working memory, of the size that the
 * matching _bytes() function returns. */
#ifndef QFZ_CPU_H
#define QFZ_CPU_H

#include "core/summary.h"

/* ---- components.c: flat zones and alpha-components of one image.
 *
 * Pixels join along edges of levels <= rule->alpha_level (rule->edge_bits: edges whose bit is set).
 * Regions are numbered 1, 2, 3 ... by first pixel.  They are stored as runs of pixels, a fraction
 * of the size of one number per pixel, in the working memory of qfz_components_bytes() bytes.  That
 * memory must remain as long as the regions are used; the image need not. */
typedef struct qfz_runs qfz_runs;

size_t qfz_components_bytes(int64_t h, int64_t w, int n_threads);

/* row_before[y] = number of regions that begin in rows before y, 0 <= y <= h; so row_before[h] is
 * the number of all regions. */
qfz_runs *qfz_components_find(const qfz_image *image, const qfz_rule *rule, int n_threads,
                              void *scratch, uint32_t *row_before);

/* region[x] = number of the region of pixel x of row y, 0 where invalid. */
void qfz_components_row(const qfz_runs *runs, int64_t y, uint32_t *region);

/* The same for every pixel of the ring (box.h). */
void qfz_components_ring(const qfz_runs *runs, uint32_t *region);

/* The position of a search for first pixels; starts as {0}. */
typedef struct qfz_components_seek {
    int64_t y, word;
    uint32_t run, word_run;
} qfz_components_seek;

/* The first pixel, y * w + x, of a region that begins in row y.  Consecutive calls must be in the
 * order of the regions' numbers, so that the search continues from its position. */
uint32_t qfz_components_first(const qfz_runs *runs, qfz_components_seek *seek, int64_t y,
                              uint32_t region);

/* out[px] = name[region - 1], or region if name is NULL; 0 where invalid.  uint32_t, or uint64_t if
 * wide. */
void qfz_components_labels(const qfz_runs *runs, const uint64_t *name, bool wide, void *out);

/* ---- tree.c: the canonical alpha-tree of one image.
 *
 * parent and level have qfz_tree_room() words each, in which the tree also grows; the result is a
 * qfz_tree (qfz.h) of *n_nodes nodes, at most 2 * h * w.  Edges above rule->alpha_level are left
 * out, so that there may be many roots. */
int64_t qfz_tree_room(const qfz_rule *rule, int64_t h, int64_t w);
size_t qfz_tree_bytes(const qfz_rule *rule, int64_t h, int64_t w, int n_threads);
void qfz_tree_build(const qfz_image *image, const qfz_rule *rule, int n_threads, void *scratch,
                    uint32_t *parent, uint32_t *level, int64_t *n_nodes);

#endif
