/* SPDX-License-Identifier: MIT */
/* image.cuh - a tile in device memory, and the two things that algorithms see of its pixels: which
 * neighbours join, and the level keys of edges.
 *
 * Pixel indices are y * w + x, below 2^31.  Edges that do not exist (outside, or an end that is
 * invalid) join nothing and have key QFZ_NONE. */
#ifndef QFZ_GPU_IMAGE_CUH
#define QFZ_GPU_IMAGE_CUH

#include "gpu/device/device.cuh"
#include "core/level.h"

typedef struct qfz_gpu_image {
    int32_t h, w;
    int n_bands;
    qfz_type type;
    const void *d_pixels;   /* n_bands planes of h * w */
    const uint8_t *d_valid; /* h * w, 0 = invalid; NULL: all are valid */
} qfz_gpu_image;

/* ---- joins: one byte a pixel.  Bit d, 0 <= d < n_dirs: joined to the neighbour in direction d
 * (rule.h); QFZ_JOIN_VALID: the pixel is valid.  Other bits are 0. */
enum { QFZ_JOIN_VALID = 0x80 };

/* Joined: key <= rule->alpha_level, or, with rule->edge_bits, the pixel's own bit d is set. */
qfz_status qfz_gpu_joins(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                         uint8_t *d_joins);

/* ---- edges: what hierarchies are made from.
 *
 * One band of 8 or 16 bits is read as it is: the key of an edge is |a ^ bias - b ^ bias|, a and b
 * being unsigned, bias turning signed values into unsigned ones of the same order.  Everything
 * else comes as planes of keys, but for who can do without: one band of 32 bits as it is. */
typedef enum qfz_gpu_edge_form {
    QFZ_EDGES_U8 = 0, /* d_values: uint8_t */
    QFZ_EDGES_U16,    /* d_values: uint16_t */
    QFZ_EDGES_KEYS,   /* d_keys */
    QFZ_EDGES_U32,    /* d_values of 32 bits */
    QFZ_EDGES_I32,
    QFZ_EDGES_F32,
    QFZ_EDGES_WIDE = QFZ_EDGES_KEYS /* from here on levels have 32 bits */
} qfz_gpu_edge_form;

typedef struct qfz_gpu_edges {
    int32_t h, w;
    int connectivity;
    qfz_gpu_edge_form form;
    uint32_t bias;          /* 0, 0x80 or 0x8000 */
    uint32_t max_level;     /* no edge has a greater one */
    const void *d_values;   /* h * w; NULL for QFZ_EDGES_KEYS */
    const uint8_t *d_valid; /* h * w, or NULL: all are valid */
    const uint32_t *d_keys; /* connectivity / 2 planes of h * w, QFZ_NONE where there is no edge;
                               a real key may be as large: what exists, d_valid says */
} qfz_gpu_edges;

/* Narrow: 16 bits hold every level. */
static inline bool qfz_gpu_is_narrow(const qfz_gpu_edges *edges)
{
    return edges->max_level <= UINT16_MAX;
}

/* Bytes of key planes that an image needs, 0 where its band is read as it is. */
size_t qfz_gpu_edges_bytes(const qfz_rule *rule, int64_t n_px);

/* Is there no other form than planes of keys? */
bool qfz_gpu_edges_need_keys(const qfz_rule *rule);

/* May such edges of floats do without d_valid, a NaN being a pixel that is not valid?  Forests see
 * it so, in whatever they read as it is; qfz_gpu_make_nan() is for all others of them. */
bool qfz_gpu_edges_know_nan(const qfz_rule *rule);
qfz_status qfz_gpu_make_nan(qfz_gpu *gpu, const uint8_t *d_valid, int64_t n_px, float *d_pixels);

/* Describes the image's edges; fills d_keys, of qfz_gpu_edges_bytes() bytes, where needed.  d_keys
 * may be NULL if they are not: a band of 32 bits is read as it is then. */
qfz_status qfz_gpu_edges_make(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                              uint32_t *d_keys, qfz_gpu_edges *edges);

#endif
