/* SPDX-License-Identifier: MIT */
/* rule.h - what joins two pixels: neighbourhood, level keys, limits.
 *
 * A level is an order-preserving 32-bit key: the number itself for l1 and linf of integers, the
 * bits of a non-negative IEEE single for everything else.  Pixel types stop here: whoever asks
 * qfz_levels() sees keys only. */
#ifndef QFZ_LEVEL_H
#define QFZ_LEVEL_H

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { QFZ_MAX_BANDS = 1024 };

/* No border_region, no pixel, no link. */
#define QFZ_NONE UINT32_MAX

/* Directions of edges; each edge belongs to the pixel it starts from.  4-connected: the first 2. */
enum { QFZ_RIGHT = 0, QFZ_BELOW, QFZ_BELOW_RIGHT, QFZ_BELOW_LEFT, QFZ_MAX_DIRS };
static const int32_t qfz_dir_dy[QFZ_MAX_DIRS] = {0, 1, 1, 1};
static const int32_t qfz_dir_dx[QFZ_MAX_DIRS] = {1, 0, 1, -1};

typedef struct qfz_rule {
    int connectivity;
    qfz_distance distance;
    qfz_type type;
    int n_bands;
    bool edge_bits; /* one U8 band; bit d of a pixel: joined to its neighbour in direction d */
    uint32_t alpha_level; /* edges of a greater key join nothing */
    const double *omega;  /* n_bands of them, borrowed; NULL: no limit */
} qfz_rule;

static inline int qfz_n_dirs(const qfz_rule *rule)
{
    return rule->connectivity / 2;
}

size_t qfz_type_bytes(qfz_type type);
const char *qfz_type_name(qfz_type type); /* GDAL's name */
bool qfz_type_is_float(qfz_type type);

/* Are keys the bits of an IEEE single, rather than integers? */
bool qfz_levels_are_float(qfz_type type, qfz_distance distance);

/* The largest key that a job on such rasters can meet; QFZ_EARG where it passes 2^32 - 1. */
qfz_status qfz_max_level(qfz_type type, int n_bands, qfz_distance distance, uint32_t *key,
                         qfz_error *err);

/* The largest key whose level is <= alpha, alpha being >= 0 or infinite. */
uint32_t qfz_level_of_alpha(qfz_type type, qfz_distance distance, double alpha);

/* The level that a key stands for. */
double qfz_level_value(qfz_type type, qfz_distance distance, uint32_t key);

/* keys[i] = key of the pair of pixels p + i and q + i of the image, 0 <= i < n.  Validity is not
 * looked at; a NaN gives an unspecified key. */
void qfz_levels(const qfz_image *image, qfz_distance distance, int64_t p, int64_t q, int64_t n,
                uint32_t *keys);

/* Does a range lo..hi of values (one pixel's worth of bands each, band b at [b]) break omega? */
bool qfz_too_wide(const qfz_rule *rule, const void *lo, const void *hi);

/* [lo, hi] grows to hold [lo2, hi2]; true if it grew. */
bool qfz_widen(const qfz_rule *rule, void *lo, void *hi, const void *lo2, const void *hi2);

#ifdef __cplusplus
}
#endif

#endif
