/* SPDX-License-Identifier: MIT */
/* oracle.h - regions, hierarchies and tables of small rasters by brute force.
 *
 * Obviously right, not fast, and nothing shared with the library but the struct that holds an
 * image.  Every partition is a fresh breadth-first flood at one threshold: no union-find, no
 * sorted edges, no tree.  The definitions are those of reference/oracle.py; the arithmetic of
 * levels is that of the library's contract: l1 and linf of integers exactly, l2 of integers the
 * exact sum of squares and one correctly rounded single root, l1 and linf of floats and of weighted
 * differences in IEEE single, band by band, their l2 in IEEE double, and angles in IEEE double from
 * dot products.
 *
 * Levels are doubles here: every level, integer or single, is exact in one. */
#ifndef QFZ_TESTS_ORACLE_H
#define QFZ_TESTS_ORACLE_H

#include "qfz.h"

enum { ORACLE_MAX_BANDS = 16 };

#define ORACLE_NO_EDGE (-1.0) /* in planes of levels: there is no edge */
#define ORACLE_INVALID (-2.0) /* in layouts: nodata */

typedef struct oracle oracle; /* an image and its neighbourhood */

/* Borrows the image. */
oracle *oracle_open(const qfz_image *image, int connectivity, qfz_distance distance);

/* Weights: one per band, borrowed; NULL: none. */
oracle *oracle_open_weighted(const qfz_image *image, int connectivity, qfz_distance distance,
                             const double *weights);

/* Levels of edges: planes as of oracle_saliency(), ORACLE_NO_EDGE where there is none; copied. */
oracle *oracle_open_edges(const qfz_image *image, int connectivity, const double *planes);
void oracle_close(oracle *o);

/* Replaces the levels by those of the hierarchy whose regions weigh at least `least`: the edges of
 * the one minimum spanning forest, in the order (level, mix64(y << 34 | x << 2 | direction)), get
 * their filtered level, 0 where the lighter of the two components that the edge joins weighs less;
 * all other edges become infinite.  row_weight: of a pixel, by row; NULL: 1.  Equal values are no
 * longer what oracle_flat() joins; use oracle_alpha() with 0. */
void oracle_filter(oracle *o, const double *row_weight, double least);

bool oracle_is_valid(const oracle *o, int64_t p);

/* A value as a double, exactly. */
double oracle_value(const qfz_image *image, int band, int64_t p);
size_t oracle_type_bytes(qfz_type type);

/* Dissimilarity of two pixels. */
double oracle_level(const oracle *o, int64_t p, int64_t q);

/* Labels 1..N by first pixel, 0 = invalid; N is returned. */
uint32_t oracle_flat(const oracle *o, uint32_t *labels); /* equal values */
uint32_t oracle_alpha(const oracle *o, double alpha, uint32_t *labels);
uint32_t oracle_alpha_omega(const oracle *o, double alpha, const double *omega, uint32_t *labels);

/* planes[d * h * w + p]: smallest alpha at which the two ends of p's edge in direction d (right,
 * below, below right, below left) are in one alpha-component. */
void oracle_saliency(const oracle *o, double *planes);

/* The layouts for the eye, out of planes of levels. */
void oracle_pixel_layout(const oracle *o, const double *planes, double *out);     /* h * w */
void oracle_khalimsky_layout(const oracle *o, const double *planes, double *out); /* (2h-1)(2w-1) */

/* The sum without any error, then rounded once; opposite infinities cancel. */
double oracle_sum(const double *values, int64_t n);

/* Means of regions, in the image's type: planes of h * w; untouched where label is 0. */
void oracle_paint(const qfz_image *image, const uint32_t *labels, uint32_t n, void *out);

typedef struct oracle_region {
    uint64_t pixels;
    int64_t x0, y0, x1, y1;
    double x, y; /* centroid, 0.5 = the middle of the first pixel */
    struct {
        double mean, min, max, stddev;
    } bands[ORACLE_MAX_BANDS];
} oracle_region;

/* regions[label - 1] */
void oracle_regions(const qfz_image *image, const uint32_t *labels, uint32_t n,
                    oracle_region *regions);

#endif
