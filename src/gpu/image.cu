/* SPDX-License-Identifier: MIT */
#include "gpu/image.cuh"

#include "gpu/launch.cuh"
#include "gpu/level.cuh"

/* A block covers 32 x 8 pixels; blocks walk down where an image is taller than a grid. */
enum { TILE_W = 32, TILE_H = 8 };
static const unsigned max_grid_y = 65535;

/* What kernels see of an image. */
struct plane_view {
    int32_t h, w;
    int n_bands, n_dirs;
    const uint8_t *valid;
};

static __device__ __forceinline__ bool is_valid(const plane_view &view, int64_t p)
{
    return !view.valid || view.valid[p];
}

/* The neighbour of valid pixel p, at (y, x), in direction d; -1 where there is no edge. */
static __device__ __forceinline__ int64_t neighbour(const plane_view &view, int32_t y, int32_t x,
                                                    int64_t p, int d)
{
    const int dy = d == QFZ_RIGHT ? 0 : 1;
    const int dx = d == QFZ_BELOW ? 0 : d == QFZ_BELOW_LEFT ? -1 : 1;
    if (y + dy >= view.h || x + dx < 0 || x + dx >= view.w) return -1;
    const int64_t q = p + (int64_t)dy * view.w + dx;
    return is_valid(view, q) ? q : -1;
}

#define EACH_PIXEL(view, y, x)                                                                     \
    for (int32_t x = (int32_t)(blockIdx.x * TILE_W + threadIdx.x),                                 \
                 y = (int32_t)(blockIdx.y * TILE_H + threadIdx.y);                                 \
         x < (view).w && y < (view).h; y += (int32_t)gridDim.y * TILE_H)

template <typename T, int DISTANCE>
static __global__ void k_join(plane_view view, const T *__restrict__ pixels, uint32_t alpha_key,
                              uint8_t *__restrict__ joins)
{
    const int64_t n_px = (int64_t)view.h * view.w;
    EACH_PIXEL(view, y, x)
    {
        const int64_t p = (int64_t)y * view.w + x;
        unsigned bits = 0;
        if (is_valid(view, p)) {
            bits = QFZ_JOIN_VALID;
            for (int d = 0; d < view.n_dirs; d++) {
                const int64_t q = neighbour(view, y, x, p, d);
                if (q >= 0 &&
                    qfz_level<T, DISTANCE>::planes(pixels, n_px, view.n_bands, p, q) <= alpha_key)
                    bits |= 1u << d;
            }
        }
        joins[p] = (uint8_t)bits;
    }
}

static __global__ void k_join_bits(plane_view view, const uint8_t *__restrict__ pixels,
                                   uint8_t *__restrict__ joins)
{
    EACH_PIXEL(view, y, x)
    {
        const int64_t p = (int64_t)y * view.w + x;
        unsigned bits = 0;
        if (is_valid(view, p)) {
            bits = QFZ_JOIN_VALID;
            for (int d = 0; d < view.n_dirs; d++)
                if ((pixels[p] >> d & 1) && neighbour(view, y, x, p, d) >= 0) bits |= 1u << d;
        }
        joins[p] = (uint8_t)bits;
    }
}

template <typename T, int DISTANCE>
static __global__ void k_find_keys(plane_view view, const T *__restrict__ pixels,
                                   uint32_t *__restrict__ keys)
{
    const int64_t n_px = (int64_t)view.h * view.w;
    EACH_PIXEL(view, y, x)
    {
        const int64_t p = (int64_t)y * view.w + x;
        const bool valid = is_valid(view, p);
        for (int d = 0; d < view.n_dirs; d++) {
            const int64_t q = valid ? neighbour(view, y, x, p, d) : -1;
            keys[d * n_px + p] =
                q < 0 ? QFZ_NONE : qfz_level<T, DISTANCE>::planes(pixels, n_px, view.n_bands, p, q);
        }
    }
}

/* ---- Launches -------------------------------------------------------------------------------- */

static qfz_status check_size(qfz_gpu *gpu, const qfz_gpu_image *image)
{
    if (image->h >= 1 && image->w >= 1 && (int64_t)image->h * image->w <= INT32_MAX) return QFZ_OK;
    return qfz_fail(gpu->err, QFZ_EARG, "a tile of %d x %d pixels does not fit a GPU's indices",
                    (int)image->w, (int)image->h);
}

static plane_view view_of(const qfz_gpu_image *image, const qfz_rule *rule)
{
    return plane_view{image->h, image->w, image->n_bands, qfz_n_dirs(rule), image->d_valid};
}

static dim3 grid_of(const qfz_gpu_image *image)
{
    const unsigned rows = qfz_blocks(image->h, TILE_H);
    return dim3(qfz_blocks(image->w, TILE_W), rows < max_grid_y ? rows : max_grid_y);
}

/* One of them is wanted, the other NULL. */
struct planes_out {
    uint8_t *d_joins;
    uint32_t *d_keys;
};

template <typename T, int DISTANCE>
static qfz_status launch(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                         planes_out out)
{
    const plane_view view = view_of(image, rule);
    const dim3 grid = grid_of(image), block(TILE_W, TILE_H);
    const T *const pixels = static_cast<const T *>(image->d_pixels);
    if (out.d_joins)
        return qfz_launch(gpu, k_join<T, DISTANCE>, grid, block, 0, view, pixels, rule->alpha_key,
                          out.d_joins);
    return qfz_launch(gpu, k_find_keys<T, DISTANCE>, grid, block, 0, view, pixels, out.d_keys);
}

template <typename T>
static qfz_status launch_type(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                              planes_out out)
{
    switch (rule->distance) {
    case QFZ_L1: return launch<T, QFZ_L1>(gpu, image, rule, out);
    case QFZ_L2: return launch<T, QFZ_L2>(gpu, image, rule, out);
    case QFZ_LINF: return launch<T, QFZ_LINF>(gpu, image, rule, out);
    }
    return qfz_fail(gpu->err, QFZ_EARG, "distance %d", (int)rule->distance);
}

static qfz_status launch_any(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                             planes_out out)
{
    QFZ_TRY(check_size(gpu, image));
    switch (image->type) {
    case QFZ_U8: return launch_type<uint8_t>(gpu, image, rule, out);
    case QFZ_I8: return launch_type<int8_t>(gpu, image, rule, out);
    case QFZ_U16: return launch_type<uint16_t>(gpu, image, rule, out);
    case QFZ_I16: return launch_type<int16_t>(gpu, image, rule, out);
    case QFZ_U32: return launch_type<uint32_t>(gpu, image, rule, out);
    case QFZ_I32: return launch_type<int32_t>(gpu, image, rule, out);
    case QFZ_F32: return launch_type<float>(gpu, image, rule, out);
    }
    return qfz_fail(gpu->err, QFZ_EARG, "pixel type %d", (int)image->type);
}

qfz_status qfz_gpu_joins(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                         uint8_t *d_joins)
{
    if (!rule->edge_bits) return launch_any(gpu, image, rule, planes_out{d_joins, NULL});
    QFZ_TRY(check_size(gpu, image));
    return qfz_launch(gpu, k_join_bits, grid_of(image), dim3(TILE_W, TILE_H), 0,
                      view_of(image, rule), static_cast<const uint8_t *>(image->d_pixels), d_joins);
}

/* ---- Edges ----------------------------------------------------------------------------------- */

static qfz_gpu_edge_form form_of(const qfz_rule *rule)
{
    const size_t bytes = qfz_type_bytes(rule->type);
    if (rule->n_bands > 1 || bytes > 2 || rule->distance == QFZ_L2) return QFZ_EDGES_KEYS;
    return bytes == 1 ? QFZ_EDGES_U8 : QFZ_EDGES_U16;
}

size_t qfz_gpu_edges_bytes(const qfz_rule *rule, int64_t n_px)
{
    if (form_of(rule) != QFZ_EDGES_KEYS) return 0;
    return (size_t)qfz_n_dirs(rule) * (size_t)n_px * sizeof(uint32_t);
}

static uint32_t bias_of(qfz_type type)
{
    return type == QFZ_I8 ? 0x80u : type == QFZ_I16 ? 0x8000u : 0;
}

qfz_status qfz_gpu_edges_make(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                              uint32_t *d_keys, qfz_gpu_edges *edges)
{
    qfz_gpu_edges made = {};
    made.h = image->h;
    made.w = image->w;
    made.connectivity = rule->connectivity;
    made.form = form_of(rule);
    QFZ_TRY(qfz_max_key(rule->type, rule->n_bands, rule->distance, &made.max_key, gpu->err));
    if (made.form == QFZ_EDGES_KEYS) {
        QFZ_TRY(launch_any(gpu, image, rule, planes_out{NULL, d_keys}));
        made.d_keys = d_keys;
        made.d_valid = image->d_valid;
    } else {
        QFZ_TRY(check_size(gpu, image));
        made.bias = bias_of(rule->type);
        made.d_values = image->d_pixels;
        made.d_valid = image->d_valid;
    }
    *edges = made;
    return QFZ_OK;
}
