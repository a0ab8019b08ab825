/* SPDX-License-Identifier: MIT */
/* cpu.h - the parts of the CPU engine; each computes on one image or one graph, on the host.
 *
 * Images have at most 2^30 pixels here.  All scratch memory comes from the caller, who asks the
 * matching _bytes() function first. */
#ifndef QFZ_CPU_H
#define QFZ_CPU_H

#include "summary.h"

/* ---- components.c: flat zones and alpha-components of one image, two passes over the pixels.
 *
 * label[px] = number of the pixel's region, 1..*n_regions by first pixel, 0 where invalid.
 * Pixels join along edges whose key is <= rule->alpha_key (rule->edge_bits: whose bit is set).
 * first and count, if not NULL, have room for as many regions as there are pixels; *n_regions of
 * them are filled: first pixel (y * w + x) and number of pixels.
 * scratch: qfz_components_bytes() bytes. */
size_t qfz_components_bytes(const qfz_rule *rule, int64_t h, int64_t w, int n_threads);
void qfz_components(const qfz_image *image, const qfz_rule *rule, int n_threads, void *scratch,
                    uint32_t *label, uint32_t *first, uint32_t *count, uint32_t *n_regions);

/* ---- tree.c: the canonical alpha-tree of one image.
 *
 * parent and level have room for qfz_tree_room() words each, where the tree also grows; the result
 * is a qfz_tree (qfz.h), of *n_nodes slots, at most 2 * h * w.  Edges above rule->alpha_key are
 * left out, so that there may be many roots. */
int64_t qfz_tree_room(const qfz_rule *rule, int64_t h, int64_t w);
size_t qfz_tree_bytes(const qfz_rule *rule, int64_t h, int64_t w, int n_threads);
void qfz_tree_build(const qfz_image *image, const qfz_rule *rule, int n_threads, void *scratch,
                    uint32_t *parent, uint32_t *level, int64_t *n_nodes);

#endif
