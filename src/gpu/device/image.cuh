/* SPDX-License-Identifier: MIT */
/* image.cuh - a tile in device memory, and the two forms in which algorithms read its pixels: joins
 * (which neighbours are connected) and edges (the levels of pairs of neighbours).
 *
 * A pixel index is y * w + x, below 2^31.  An edge exists if both pixels are in the tile and valid;
 * an edge that does not exist is not joined, and its level is QFZ_NONE. */
#pragma once

#include "gpu/device/device.cuh"
#include "core/level.h"

typedef struct qfz_gpu_image {
    int32_t h, w;
    int n_bands;
    qfz_type type;
    const void *d_pixels;    /* n_bands planes of h * w */
    const uint8_t *d_valid;  /* h * w, 0 = invalid; NULL: all are valid */
    const float *d_weights;  /* n_bands; used where a rule has weights */
    const uint8_t *d_zeroed; /* h * w, bit d: the edge from the pixel in direction d has level 0;
                              * NULL: none.  Read for rules with min_mass only */
    uint32_t *d_edges;       /* for rules with edge_levels: connectivity / 2 planes of h * w levels,
                              * QFZ_NONE where there is no edge; qfz_gpu_edges_make() works there */
} qfz_gpu_image;

/* ---- Joins ----------------------------------------------------------------------------------- */

/* One byte a pixel.  Bit d, 0 <= d < n_dirs: the pixel is joined to its neighbour in direction d
 * (core/level.h).  QFZ_JOIN_VALID: the pixel is valid.  Other bits are 0. */
enum { QFZ_JOIN_VALID = 0x80 };

/* Fills d_joins, h * w bytes.  An edge is joined if its level is at most rule->alpha_level; with
 * rule->edge_bits, if bit d of the pixel's value is set. */
qfz_status qfz_gpu_joins(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                         uint8_t *d_joins);

/* ---- Edges ----------------------------------------------------------------------------------- */

/* The input of hierarchies.  Edges of one band of 8 or 16 bits are the band itself: the level of an
 * edge is |a ^ bias - b ^ bias| for unsigned a and b, where bias maps signed values to unsigned
 * values of the same order.  Edges of one band of 32 bits are the band or planes of levels, as the
 * caller chooses.  All other edges are planes of levels, with edge_levels those of the image. */
typedef enum qfz_gpu_edge_form {
    QFZ_EDGES_U8 = 0, /* d_values: uint8_t */
    QFZ_EDGES_U16,    /* d_values: uint16_t */
    QFZ_EDGES_LEVELS, /* d_edge_levels */
    QFZ_EDGES_U32,    /* d_values of 32 bits */
    QFZ_EDGES_I32,
    QFZ_EDGES_F32,
    QFZ_EDGES_WIDE = QFZ_EDGES_LEVELS /* this form and those after it have levels of 32 bits */
} qfz_gpu_edge_form;

typedef struct qfz_gpu_edges {
    int32_t h, w;
    int connectivity;
    qfz_gpu_edge_form form;
    uint32_t bias;            /* 0, 0x80 or 0x8000 */
    uint32_t max_level;       /* no level is greater */
    const void *d_values;     /* h * w; NULL for QFZ_EDGES_LEVELS */
    const uint8_t *d_valid;   /* h * w, or NULL: all are valid */
    const uint32_t *d_levels; /* connectivity / 2 planes of h * w levels, QFZ_NONE where there is no
                               * edge; a level may also be QFZ_NONE: d_valid decides */
} qfz_gpu_edges;

/* Narrow: 16 bits hold every level. */
static inline bool qfz_gpu_is_narrow(const qfz_gpu_edges *edges)
{
    return edges->max_level <= UINT16_MAX;
}

/* True if levels have 32 bits when blocks are solved: edges are no band of 8 or 16 bits. */
bool qfz_gpu_edges_are_wide(const qfz_rule *rule);

/* Bytes of the planes of levels that are made of an image of n_px pixels; 0 where edges are a band
 * of 8 or 16 bits, or planes of the image. */
size_t qfz_gpu_edges_bytes(const qfz_rule *rule, int64_t n_px);

/* True if planes of levels are the only form of edges under this rule. */
bool qfz_gpu_edges_need_levels(const qfz_rule *rule);

/* True if d_valid may be NULL because the edges are a band of floats in which every invalid pixel
 * is NaN: kernels of forests treat NaN as invalid where they read a band. */
bool qfz_gpu_edges_know_nan(const qfz_rule *rule);

/* Writes NaN to every invalid pixel of a band of n_px floats. */
qfz_status qfz_gpu_make_nan(qfz_gpu *gpu, const uint8_t *d_valid, int64_t n_px, float *d_pixels);

/* *edges = the image's edges; the image's planes must outlive them.  d_edge_levels: NULL, or
 * qfz_gpu_edges_bytes() bytes, which the function fills with planes of levels.  d_edge_levels may
 * be NULL unless qfz_gpu_edges_need_levels(); edges of a band of 32 bits then are the band.  With
 * edge_levels the planes are image->d_edges, where the function sets the levels of edges that leave
 * the image or end in an invalid pixel to QFZ_NONE, and those of level 0 to 0. */
qfz_status qfz_gpu_edges_make(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                              uint32_t *d_edge_levels, qfz_gpu_edges *edges);

/* Sets the saliency of those edges that edges->d_levels lacks to QFZ_NONE, as far as it has bits:
 * two pixels without an edge between them have none, although they may meet.  d_saliency: planes of
 * levels of 16 bits if the edges are narrow, else of 32. */
qfz_status qfz_gpu_drop_missing(qfz_gpu *gpu, const qfz_gpu_edges *edges, void *d_saliency);
