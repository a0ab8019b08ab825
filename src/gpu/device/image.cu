/* SPDX-License-Identifier: MIT */
/* image.cu - planes of joins and of levels from the pixels of an image. */
#include "gpu/device/image.cuh"

#include "gpu/device/edge_reader.cuh"
#include "gpu/device/launch.cuh"
#include "gpu/device/level.cuh"
#include "gpu/device/pixel_type.cuh"

namespace
{
enum { BLOCK = 256 };

/* The image, as kernels read it. */
struct plane_view {
    qfz_pixel_grid grid;
    int n_bands;
    const float *weights;
    const uint8_t *zeroed;
    const uint32_t *edges;
};

/* The output: one of the pointers is NULL. */
struct planes_out {
    uint32_t alpha_level;
    uint8_t *joins;
    uint32_t *levels;
};

/* The pixel of a thread, and the ends of its edges: pixels of the image, also where there is no
 * edge; bit d of `edges`: there is an edge in direction d. */
template <int DIRS> struct pixel_view {
    int64_t n_px, p, end[DIRS];
    uint32_t edges;

    QFZ_DEVICE explicit pixel_view(const qfz_pixel_grid &grid)
        : n_px((int64_t)grid.h * grid.w), p((int64_t)blockIdx.x * BLOCK + threadIdx.x), edges(0)
    {
        const int32_t y = (int32_t)((uint32_t)p / (uint32_t)grid.w);
        const int32_t x = (int32_t)((uint32_t)p % (uint32_t)grid.w);
        QFZ_EACH (d, DIRS) {
            const int32_t to_y = y + qfz_step_y(d), to_x = x + qfz_step_x(d);
            const bool is_in = p < n_px && to_y < grid.h && to_x >= 0 && to_x < grid.w;
            end[d] = is_in ? (int64_t)to_y * grid.w + to_x : p;
            const bool is = is_in && (!grid.valid || (grid.valid[p] && grid.valid[end[d]]));
            edges |= (uint32_t)is << d;
        }
    }
};

/* Stores joins or levels of a pixel's edges, of levels[d] in direction d, or 0 where the image says
 * so. */
template <int DIRS>
QFZ_DEVICE void store(const plane_view &view, const planes_out &out, const pixel_view<DIRS> &at,
                      const uint32_t levels[DIRS])
{
    const uint32_t zeroed = view.zeroed ? view.zeroed[at.p] : 0;
    uint32_t joins = !view.grid.valid || view.grid.valid[at.p] ? QFZ_JOIN_VALID : 0;
    QFZ_EACH (d, DIRS) {
        const bool is = at.edges >> d & 1;
        const uint32_t level = zeroed >> d & 1 ? 0 : levels[d];
        joins |= (uint32_t)(is && level <= out.alpha_level) << d;
        if (out.levels) out.levels[d * at.n_px + at.p] = is ? level : QFZ_NONE;
    }
    if (out.joins) out.joins[at.p] = (uint8_t)joins;
}

template <typename T, int DISTANCE, bool WEIGHTED, int DIRS>
__global__ void __launch_bounds__(BLOCK)
    k_find_edges(plane_view view, const T *__restrict__ pixels, planes_out out)
{
    typedef qfz_level<T, DISTANCE, WEIGHTED> level_of;
    const pixel_view<DIRS> at(view.grid);
    typename level_of::type sum[DIRS];
    uint32_t levels[DIRS];
    if (at.p >= at.n_px) return;
    QFZ_EACH (d, DIRS)
        sum[d] = typename level_of::type();
#pragma unroll 4 /* loads of four bands overlap */
    for (int band = 0; band < view.n_bands; band++, pixels += at.n_px) {
        const float weight = WEIGHTED ? __ldg(view.weights + band) : 1.0f;
        if (WEIGHTED && weight == 0) continue;
        QFZ_EACH (d, DIRS)
            sum[d] = level_of::fold(sum[d], pixels[at.p], pixels[at.end[d]], weight);
    }
    QFZ_EACH (d, DIRS)
        levels[d] = level_of::end(sum[d]);
    store(view, out, at, levels);
}

/* From rule->edge_levels; or from rule->edge_bits, whose bit d joins a pixel in direction d (level
 * 0).  out.levels may be the planes of levels: a thread writes where it reads. */
template <int DIRS>
__global__ void __launch_bounds__(BLOCK)
    k_take_levels(plane_view view, const uint8_t *__restrict__ edge_bits, planes_out out)
{
    const pixel_view<DIRS> at(view.grid);
    uint32_t levels[DIRS];
    if (at.p >= at.n_px) return;
    const uint32_t bits = edge_bits ? edge_bits[at.p] : 0;
    QFZ_EACH (d, DIRS)
        levels[d] = !edge_bits ? view.edges[d * at.n_px + at.p] : bits >> d & 1 ? 0 : QFZ_NONE;
    store(view, out, at, levels);
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* Launches the one of two kernels that is for the rule's connectivity. */
template <typename KERNEL, typename FROM>
qfz_status launch_for(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                      planes_out out, KERNEL *four, KERNEL *eight, FROM from)
{
    const uint8_t *const zeroed = rule->min_mass > 0 && !rule->edge_bits ? image->d_zeroed : NULL;
    const qfz_pixel_grid grid = {image->h, image->w, image->d_valid};
    const plane_view view = {grid, image->n_bands, image->d_weights, zeroed, image->d_edges};
    return qfz_launch_each(gpu, rule->connectivity == 8 ? eight : four,
                           (int64_t)image->h * image->w, BLOCK, view, from, out);
}

template <typename T, int DISTANCE>
qfz_status launch(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule, planes_out out)
{
    const T *const pixels = static_cast<const T *>(image->d_pixels);
    if constexpr (DISTANCE != QFZ_SAM)
        if (rule->weights)
            return launch_for(gpu, image, rule, out, k_find_edges<T, DISTANCE, true, 2>,
                              k_find_edges<T, DISTANCE, true, 4>, pixels);
    return launch_for(gpu, image, rule, out, k_find_edges<T, DISTANCE, false, 2>,
                      k_find_edges<T, DISTANCE, false, 4>, pixels);
}

template <typename T>
qfz_status launch_type(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                       planes_out out)
{
    switch (rule->distance) {
    case QFZ_L1: return launch<T, QFZ_L1>(gpu, image, rule, out);
    case QFZ_L2: return launch<T, QFZ_L2>(gpu, image, rule, out);
    case QFZ_LINF: return launch<T, QFZ_LINF>(gpu, image, rule, out);
    case QFZ_SAM: return launch<T, QFZ_SAM>(gpu, image, rule, out);
    }
    return qfz_fail(gpu->err, QFZ_EARG, "distance %d", (int)rule->distance);
}

qfz_status launch_any(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                      planes_out out)
{
    QFZ_TRY(qfz_gpu_check_size(gpu, image->h, image->w));
    if (rule->edge_levels || rule->edge_bits)
        return launch_for(gpu, image, rule, out, k_take_levels<2>, k_take_levels<4>,
                          static_cast<const uint8_t *>(rule->edge_bits ? image->d_pixels : NULL));
    return qfz_with_type(gpu, image->type,
                         [&](auto px) { return launch_type<decltype(px)>(gpu, image, rule, out); });
}
} // namespace

qfz_status qfz_gpu_joins(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                         uint8_t *d_joins)
{
    const planes_out out = {rule->edge_bits ? 0 : rule->alpha_level, d_joins, NULL};
    return launch_any(gpu, image, rule, out);
}

/* ---- Edges ----------------------------------------------------------------------------------- */

/* The form of edges that are the band itself; QFZ_EDGES_LEVELS where there is none, or where the
 * area filter sets some levels to 0. */
static qfz_gpu_edge_form form_of(const qfz_rule *rule)
{
    if (rule->edge_levels) return QFZ_EDGES_LEVELS;
    if (rule->n_bands > 1 || rule->weights || rule->min_mass > 0) return QFZ_EDGES_LEVELS;
    if (rule->distance == QFZ_L2 && !qfz_type_is_float(rule->type)) return QFZ_EDGES_LEVELS;
    switch (rule->type) {
    case QFZ_U8:
    case QFZ_I8: return QFZ_EDGES_U8;
    case QFZ_U16:
    case QFZ_I16: return QFZ_EDGES_U16;
    case QFZ_U32: return QFZ_EDGES_U32;
    case QFZ_I32: return QFZ_EDGES_I32;
    case QFZ_F32: return QFZ_EDGES_F32;
    }
    return QFZ_EDGES_LEVELS;
}

bool qfz_gpu_edges_need_levels(const qfz_rule *rule)
{
    return form_of(rule) == QFZ_EDGES_LEVELS;
}

bool qfz_gpu_edges_are_wide(const qfz_rule *rule)
{
    return form_of(rule) >= QFZ_EDGES_WIDE;
}

size_t qfz_gpu_edges_bytes(const qfz_rule *rule, int64_t n_px)
{
    if (rule->edge_levels || !qfz_gpu_edges_are_wide(rule)) return 0;
    return (size_t)qfz_n_dirs(rule) * (size_t)n_px * sizeof(uint32_t);
}

bool qfz_gpu_edges_know_nan(const qfz_rule *rule)
{
    return form_of(rule) == QFZ_EDGES_F32;
}

static __global__ void __launch_bounds__(BLOCK)
    k_make_nan(const uint8_t *__restrict__ valid, int64_t n_px, float *pixels)
{
    const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n_px && !valid[i]) pixels[i] = NAN;
}

qfz_status qfz_gpu_make_nan(qfz_gpu *gpu, const uint8_t *d_valid, int64_t n_px, float *d_pixels)
{
    return qfz_launch_each(gpu, k_make_nan, n_px, BLOCK, d_valid, n_px, d_pixels);
}

static uint32_t bias_of(qfz_type type)
{
    return type == QFZ_I8 ? 0x80u : type == QFZ_I16 ? 0x8000u : 0;
}

qfz_status qfz_gpu_edges_make(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                              uint32_t *d_edge_levels, qfz_gpu_edges *edges)
{
    uint32_t *const d_levels = rule->edge_levels ? image->d_edges : d_edge_levels;
    qfz_gpu_edges made = {};
    made.h = image->h;
    made.w = image->w;
    made.connectivity = rule->connectivity;
    made.form = form_of(rule);
    if (made.form >= QFZ_EDGES_WIDE && d_levels) made.form = QFZ_EDGES_LEVELS;
    made.d_valid = image->d_valid;
    QFZ_TRY(qfz_max_level(rule, &made.max_level, gpu->err));
    if (made.form == QFZ_EDGES_LEVELS) {
        QFZ_TRY(launch_any(gpu, image, rule, planes_out{0, NULL, d_levels}));
        made.d_levels = d_levels;
    } else {
        QFZ_TRY(qfz_gpu_check_size(gpu, image->h, image->w));
        made.bias = bias_of(rule->type);
        made.d_values = image->d_pixels;
    }
    *edges = made;
    return QFZ_OK;
}

/* ---- Missing edges --------------------------------------------------------------------------- */

template <typename T>
static __global__ void __launch_bounds__(BLOCK)
    k_drop_missing(const uint32_t *__restrict__ edges, int64_t n, T *saliency)
{
    const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n && edges[i] == QFZ_NONE) saliency[i] = (T)QFZ_NONE;
}

qfz_status qfz_gpu_drop_missing(qfz_gpu *gpu, const qfz_gpu_edges *edges, void *d_saliency)
{
    const int64_t n = (int64_t)edges->connectivity / 2 * edges->h * edges->w;
    if (qfz_gpu_is_narrow(edges))
        return qfz_launch_each(gpu, k_drop_missing<uint16_t>, n, BLOCK, edges->d_levels, n,
                               static_cast<uint16_t *>(d_saliency));
    return qfz_launch_each(gpu, k_drop_missing<uint32_t>, n, BLOCK, edges->d_levels, n,
                           static_cast<uint32_t *>(d_saliency));
}
