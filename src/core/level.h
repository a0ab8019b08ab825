/* SPDX-License-Identifier: MIT */
/* level.h - the rule by which pixels join: neighbourhood, levels of edges, limits.
 *
 * A level is a dissimilarity as an order-preserving 32-bit number: the dissimilarity itself for l1
 * and linf of integers, else the bits of a non-negative IEEE single.  Pixel types end here: the
 * code that calls qfz_edge_levels() works on levels only. */
#ifndef QFZ_LEVEL_H
#define QFZ_LEVEL_H

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { QFZ_MAX_BANDS = 1024 };

/* No level, border region, pixel or link. */
#define QFZ_NONE UINT32_MAX

/* Directions of edges.  Each edge belongs to the pixel it starts from.  4-connected rasters have
 * the first two. */
enum { QFZ_RIGHT = 0, QFZ_BELOW, QFZ_BELOW_RIGHT, QFZ_BELOW_LEFT, QFZ_MAX_DIRS };
static const int32_t qfz_dir_dy[QFZ_MAX_DIRS] = {0, 1, 1, 1};
static const int32_t qfz_dir_dx[QFZ_MAX_DIRS] = {1, 0, 1, -1};

typedef struct qfz_rule {
    int connectivity;
    qfz_distance distance;
    const float *weights; /* one per band, borrowed; NULL: none */
    qfz_type type;
    int n_bands;
    bool edge_bits;   /* the raster has one U8 band of edges: bit d of a pixel joins it to its
                         neighbour in direction d */
    int n_cuts;       /* edge_bits: a tile has so many planes of them, of which one is in use at a
                         time; 0: one */
    bool edge_levels; /* levels are those of the image's edges (qfz_image.edges), */
    bool edges_are_float; /* the bits of IEEE singles, or integers, */
    uint32_t max_edge;    /* none of them greater than this level, which is below QFZ_NONE */
    uint32_t alpha_level; /* edges of a greater level join nothing */
    const double *omega;  /* one value per band, borrowed; NULL: no limit */
    uint64_t min_mass;    /* the area filter's N (core/filter.h); 0: no filter */
    bool wants_forest;    /* the area filter also finds the other edges of the minimum spanning
                             forest */
} qfz_rule;

static inline int qfz_n_dirs(const qfz_rule *rule)
{
    return rule->connectivity / 2;
}

size_t qfz_type_bytes(qfz_type type);
const char *qfz_type_name(qfz_type type); /* GDAL's name */
bool qfz_type_is_float(qfz_type type);

/* The alpha level at which all edges join.  With edge_levels, the level QFZ_NONE is no edge. */
static inline uint32_t qfz_top_level(const qfz_rule *rule)
{
    return rule->edge_levels ? QFZ_NONE - 1 : QFZ_NONE;
}

/* True if levels are the bits of an IEEE single, false if they are integers. */
bool qfz_levels_are_float(const qfz_rule *rule);

/* True if a level of 0 means that the values of two pixels are equal in every band. */
bool qfz_level_0_is_equal(const qfz_rule *rule);

/* *level = the largest level that such rasters can have.  QFZ_EARG if it would pass 2^32 - 1, or if
 * the distance is not defined for so few bands. */
qfz_status qfz_max_level(const qfz_rule *rule, uint32_t *level, qfz_error *err);

/* Bytes of the narrowest unsigned integer whose largest value exceeds a level. */
static inline int qfz_level_bytes(uint32_t level)
{
    return level < UINT8_MAX ? 1 : level < UINT16_MAX ? 2 : level < UINT32_MAX ? 4 : 8;
}

/* The largest level whose dissimilarity is <= alpha; alpha >= 0, or infinite. */
uint32_t qfz_level_of_alpha(const qfz_rule *rule, double alpha);

/* The dissimilarity that a level stands for. */
double qfz_level_value(const qfz_rule *rule, uint32_t level);

/* levels[i] = level of the pixels p + i and q + i of the image, 0 <= i < n.  Validity is not
 * checked; a NaN has an unspecified level. */
void qfz_levels(const qfz_image *image, const qfz_rule *rule, int64_t p, int64_t q, int64_t n,
                uint32_t *levels);

/* levels[i] = level of the edge that starts from pixel p + i, 0 <= i < n, and leads in direction
 * dir to pixel q + i: that of its pixels, or of image->edges where the image has any; 0 if the
 * image says so (image->zeroed). */
void qfz_edge_levels(const qfz_image *image, const qfz_rule *rule, int dir, int64_t p, int64_t q,
                     int64_t n, uint32_t *levels);

/* True if a range of values, least values lo and greatest values hi of n_bands each, exceeds omega
 * in any band. */
bool qfz_too_wide(const qfz_rule *rule, const void *lo, const void *hi);

/* Extends the range lo..hi to include lo2..hi2; returns true if it grew. */
bool qfz_widen(const qfz_rule *rule, void *lo, void *hi, const void *lo2, const void *hi2);

#ifdef __cplusplus
}
#endif

#endif
