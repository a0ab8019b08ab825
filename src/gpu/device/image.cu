/* SPDX-License-Identifier: MIT */
/* image.cu - planes of joins and of levels from the pixels of an image. */
#include "gpu/device/image.cuh"

#include "gpu/device/launch.cuh"
#include "gpu/device/level.cuh"
#include "gpu/device/pixel_type.cuh"

/* A thread has FOUR pixels of a row; blocks loop over rows if the image is taller than the grid. */
enum { FOUR = 4, BLOCK_W = 32, BLOCK_H = 8 };
static const unsigned max_grid_y = 65535;

namespace
{
/* The image, as kernels read it. */
struct plane_view {
    int32_t h, w;
    int n_bands;
    bool aligned; /* in all planes, four pixels of a row can be read or written at once */
    const uint8_t *valid;
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

template <typename T> struct alignas(sizeof(T) * FOUR) quad {
    T px[FOUR];
};

/* Reads four values of a row, 0 beyond its end. */
template <typename T>
QFZ_DEVICE void load_four(const T *row, int32_t x, int32_t w, bool aligned, T four[FOUR])
{
    if (aligned) {
        const quad<T> all = *reinterpret_cast<const quad<T> *>(row + x);
        QFZ_EACH (i, FOUR)
            four[i] = all.px[i];
        return;
    }
    QFZ_EACH (i, FOUR)
        four[i] = x + i < w ? row[x + i] : T(0);
}

/* The four pixels from column x on, and one pixel on either side. */
template <typename T> struct row_part {
    T px[FOUR + 2];

    QFZ_DEVICE void load(const T *row, int32_t x, int32_t w, bool aligned)
    {
        px[0] = x > 0 ? row[x - 1] : T(0);
        px[FOUR + 1] = x + FOUR < w ? row[x + FOUR] : T(0);
        load_four(row, x, w, aligned, px + 1);
    }
};
} // namespace

/* Bit i: pixel x - 1 + i of row y is in the image and valid. */
static QFZ_DEVICE uint32_t valid_bits(const plane_view &view, int32_t y, int32_t x)
{
    if (y >= view.h) return 0;
    uint32_t there = 0;
    QFZ_EACH (i, FOUR + 2)
        there |= (x - 1 + i >= 0 && x - 1 + i < view.w ? 1u : 0) << i;
    if (!view.valid) return there;
    row_part<uint8_t> row;
    uint32_t bits = 0;
    row.load(view.valid + (int64_t)y * view.w, x, view.w, view.aligned);
    QFZ_EACH (i, FOUR + 2)
        bits |= (row.px[i] ? 1u : 0) << i;
    return bits & there;
}

/* Bit i: pixel x + i has an edge in direction d.  from, to: valid_bits() of its row and of the row
 * below. */
static QFZ_DEVICE uint32_t edge_bits(uint32_t from, uint32_t to, int d)
{
    const uint32_t ends = d == QFZ_RIGHT         ? from >> 2
                          : d == QFZ_BELOW       ? to >> 1
                          : d == QFZ_BELOW_RIGHT ? to >> 2
                                                 : to;
    return from >> 1 & ends & ((1u << FOUR) - 1);
}

/* levels[d * FOUR + i] = the level of the edge of pixel x + i in direction d, if it exists. */
template <typename T, int DISTANCE, bool WEIGHTED, int DIRS>
static QFZ_DEVICE void find_levels(const plane_view &view, const T *pixels, int32_t y, int32_t x,
                                   uint32_t levels[DIRS * FOUR])
{
    typedef qfz_level<T, DISTANCE, WEIGHTED> level_of;
    typename level_of::type sum[DIRS * FOUR];
    QFZ_EACH (k, DIRS * FOUR)
        sum[k] = typename level_of::type();
    const T *row = pixels + (int64_t)y * view.w;
    for (int band = 0; band < view.n_bands; band++, row += (int64_t)view.h * view.w) {
        const float weight = WEIGHTED ? __ldg(view.weights + band) : 1.0f;
        row_part<T> here, below;
        if (WEIGHTED && weight == 0) continue;
        here.load(row, x, view.w, view.aligned);
        if (y + 1 < view.h)
            below.load(row + view.w, x, view.w, view.aligned);
        else
            below = here;
        QFZ_EACH (k, DIRS * FOUR) {
            const int d = k / FOUR, i = 1 + k % FOUR;
            const int dx = d == QFZ_BELOW ? 0 : d == QFZ_BELOW_LEFT ? -1 : 1;
            const T there = d == QFZ_RIGHT ? here.px[i + 1] : below.px[i + dx];
            sum[k] = level_of::fold(sum[k], here.px[i], there, weight);
        }
    }
    QFZ_EACH (k, DIRS * FOUR)
        levels[k] = level_of::end(sum[k]);
}

/* Sets the levels of edges that the image says have level 0. */
template <int DIRS>
static QFZ_DEVICE void set_zeroed(const plane_view &view, int32_t y, int32_t x,
                                  uint32_t levels[DIRS * FOUR])
{
    row_part<uint8_t> row;
    if (!view.zeroed) return;
    row.load(view.zeroed + (int64_t)y * view.w, x, view.w, view.aligned);
    QFZ_EACH (k, DIRS * FOUR)
        if (row.px[1 + k % FOUR] >> k / FOUR & 1) levels[k] = 0;
}

/* Writes four values to a row of the output. */
template <typename T>
static QFZ_DEVICE void store_four(T *row, int32_t x, int32_t w, bool aligned, const T four[FOUR])
{
    if (aligned) {
        quad<T> all;
        QFZ_EACH (i, FOUR)
            all.px[i] = four[i];
        *reinterpret_cast<quad<T> *>(row + x) = all;
        return;
    }
    QFZ_EACH (i, FOUR)
        if (x + i < w) row[x + i] = four[i];
}

template <int DIRS>
static QFZ_DEVICE void store_joins(const plane_view &view, const planes_out &out, int32_t y,
                                   int32_t x, const uint32_t *levels)
{
    const uint32_t from = valid_bits(view, y, x), to = valid_bits(view, y + 1, x);
    uint8_t joins[FOUR];
    QFZ_EACH (i, FOUR) {
        uint32_t bits = from >> (1 + i) & 1 ? QFZ_JOIN_VALID : 0;
        QFZ_EACH (d, DIRS)
            if ((edge_bits(from, to, d) >> i & 1) && levels[d * FOUR + i] <= out.alpha_level)
                bits |= 1u << d;
        joins[i] = (uint8_t)bits;
    }
    store_four(out.joins + (int64_t)y * view.w, x, view.w, view.aligned, joins);
}

template <int DIRS>
static QFZ_DEVICE void store_levels(const plane_view &view, const planes_out &out, int32_t y,
                                    int32_t x, const uint32_t *levels)
{
    const uint32_t from = valid_bits(view, y, x), to = valid_bits(view, y + 1, x);
    QFZ_EACH (d, DIRS) {
        uint32_t four[FOUR];
        QFZ_EACH (i, FOUR)
            four[i] = edge_bits(from, to, d) >> i & 1 ? levels[d * FOUR + i] : QFZ_NONE;
        store_four(out.levels + ((int64_t)d * view.h + y) * view.w, x, view.w, view.aligned, four);
    }
}

/* Calls work(y, x) for each group of four pixels of this thread. */
template <typename WORK> static QFZ_DEVICE void walk(const plane_view &view, const WORK &work)
{
    const int32_t x = (int32_t)(blockIdx.x * BLOCK_W + threadIdx.x) * FOUR;
    if (x >= view.w) return;
    for (int32_t y = (int32_t)(blockIdx.y * BLOCK_H + threadIdx.y); y < view.h;
         y += (int32_t)gridDim.y * BLOCK_H)
        work(y, x);
}

template <int DIRS>
static QFZ_DEVICE void store(const plane_view &view, const planes_out &out, int32_t y, int32_t x,
                             uint32_t levels[DIRS * FOUR])
{
    set_zeroed<DIRS>(view, y, x, levels);
    if (out.joins)
        store_joins<DIRS>(view, out, y, x, levels);
    else
        store_levels<DIRS>(view, out, y, x, levels);
}

template <typename T, int DISTANCE, bool WEIGHTED, int DIRS>
static __global__ void __launch_bounds__(BLOCK_W *BLOCK_H)
    k_find_edges(plane_view view, const T *__restrict__ pixels, planes_out out)
{
    walk(view, [&](int32_t y, int32_t x) {
        uint32_t levels[DIRS * FOUR];
        find_levels<T, DISTANCE, WEIGHTED, DIRS>(view, pixels, y, x, levels);
        store<DIRS>(view, out, y, x, levels);
    });
}

/* From rule->edge_levels.  out.levels may be the same planes: a thread writes where it reads. */
template <int DIRS>
static __global__ void __launch_bounds__(BLOCK_W *BLOCK_H)
    k_take_levels(plane_view view, planes_out out)
{
    walk(view, [&](int32_t y, int32_t x) {
        uint32_t levels[DIRS * FOUR];
        QFZ_EACH (d, DIRS)
            load_four(view.edges + ((int64_t)d * view.h + y) * view.w, x, view.w, view.aligned,
                      levels + d * FOUR);
        store<DIRS>(view, out, y, x, levels);
    });
}

/* Joins from rule->edge_bits: bit d of a pixel's value joins it in direction d (level 0). */
template <int DIRS>
static __global__ void __launch_bounds__(BLOCK_W *BLOCK_H)
    k_find_edge_bits(plane_view view, const uint8_t *__restrict__ pixels, planes_out out)
{
    walk(view, [&](int32_t y, int32_t x) {
        uint32_t levels[DIRS * FOUR];
        row_part<uint8_t> own;
        own.load(pixels + (int64_t)y * view.w, x, view.w, view.aligned);
        QFZ_EACH (k, DIRS * FOUR)
            levels[k] = own.px[1 + k % FOUR] >> k / FOUR & 1 ? 0 : QFZ_NONE;
        store_joins<DIRS>(view, out, y, x, levels);
    });
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* True if the plane starts at a multiple of the size of four pixels. */
static bool is_aligned(const void *plane, size_t px_bytes)
{
    return reinterpret_cast<uintptr_t>(plane) % (FOUR * px_bytes) == 0;
}

static plane_view view_of(const qfz_gpu_image *image, const qfz_rule *rule, planes_out out)
{
    const uint8_t *const zeroed = rule->min_mass > 0 ? image->d_zeroed : NULL;
    const bool aligned = image->w % FOUR == 0 &&
                         is_aligned(image->d_pixels, qfz_type_bytes(image->type)) &&
                         is_aligned(image->d_valid, 1) && is_aligned(zeroed, 1) &&
                         is_aligned(image->d_edges, sizeof(uint32_t)) && is_aligned(out.joins, 1) &&
                         is_aligned(out.levels, sizeof(uint32_t));
    return plane_view{image->h,       image->w,         image->n_bands, aligned,
                      image->d_valid, image->d_weights, zeroed,         image->d_edges};
}

/* Launches the one of two kernels that is for the rule's connectivity; from: pixels or nothing. */
template <typename KERNEL, typename... FROM>
static qfz_status launch_for(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                             planes_out out, KERNEL *four, KERNEL *eight, FROM... from)
{
    const unsigned rows = qfz_launch_blocks(image->h, BLOCK_H);
    const dim3 grid(qfz_launch_blocks(image->w, BLOCK_W * FOUR),
                    rows < max_grid_y ? rows : max_grid_y);
    return qfz_launch(gpu, rule->connectivity == 8 ? eight : four, grid, dim3(BLOCK_W, BLOCK_H), 0,
                      view_of(image, rule, out), from..., out);
}

template <typename T, int DISTANCE, bool WEIGHTED>
static qfz_status launch(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                         planes_out out)
{
    return launch_for(gpu, image, rule, out, k_find_edges<T, DISTANCE, WEIGHTED, 2>,
                      k_find_edges<T, DISTANCE, WEIGHTED, 4>,
                      static_cast<const T *>(image->d_pixels));
}

template <typename T, int DISTANCE>
static qfz_status launch_weights(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                                 planes_out out)
{
    return rule->weights ? launch<T, DISTANCE, true>(gpu, image, rule, out)
                         : launch<T, DISTANCE, false>(gpu, image, rule, out);
}

template <typename T>
static qfz_status launch_type(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                              planes_out out)
{
    switch (rule->distance) {
    case QFZ_L1: return launch_weights<T, QFZ_L1>(gpu, image, rule, out);
    case QFZ_L2: return launch_weights<T, QFZ_L2>(gpu, image, rule, out);
    case QFZ_LINF: return launch_weights<T, QFZ_LINF>(gpu, image, rule, out);
    case QFZ_SAM: return launch<T, QFZ_SAM, false>(gpu, image, rule, out);
    }
    return qfz_fail(gpu->err, QFZ_EARG, "distance %d", (int)rule->distance);
}

static qfz_status launch_any(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                             planes_out out)
{
    QFZ_TRY(qfz_gpu_check_size(gpu, image->h, image->w));
    if (rule->edge_levels)
        return launch_for(gpu, image, rule, out, k_take_levels<2>, k_take_levels<4>);
    return qfz_with_type(gpu, image->type,
                         [&](auto px) { return launch_type<decltype(px)>(gpu, image, rule, out); });
}

qfz_status qfz_gpu_joins(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                         uint8_t *d_joins)
{
    const planes_out out = {rule->edge_bits ? 0 : rule->alpha_level, d_joins, NULL};
    if (!rule->edge_bits) return launch_any(gpu, image, rule, out);
    QFZ_TRY(qfz_gpu_check_size(gpu, image->h, image->w));
    return launch_for(gpu, image, rule, out, k_find_edge_bits<2>, k_find_edge_bits<4>,
                      static_cast<const uint8_t *>(image->d_pixels));
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

enum { NAN_THREADS = 256 };

static __global__ void __launch_bounds__(NAN_THREADS)
    k_make_nan(const uint8_t *__restrict__ valid, int64_t n_px, float *pixels)
{
    const int64_t i = (int64_t)blockIdx.x * NAN_THREADS + threadIdx.x;
    if (i < n_px && !valid[i]) pixels[i] = NAN;
}

qfz_status qfz_gpu_make_nan(qfz_gpu *gpu, const uint8_t *d_valid, int64_t n_px, float *d_pixels)
{
    return qfz_launch_each(gpu, k_make_nan, n_px, NAN_THREADS, d_valid, n_px, d_pixels);
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

enum { DROP_THREADS = 256 };

template <typename T>
static __global__ void __launch_bounds__(DROP_THREADS)
    k_drop_missing(const uint32_t *__restrict__ edges, int64_t n, T *saliency)
{
    const int64_t i = (int64_t)blockIdx.x * DROP_THREADS + threadIdx.x;
    if (i < n && edges[i] == QFZ_NONE) saliency[i] = (T)QFZ_NONE;
}

qfz_status qfz_gpu_drop_missing(qfz_gpu *gpu, const qfz_gpu_edges *edges, void *d_saliency)
{
    const int64_t n = (int64_t)edges->connectivity / 2 * edges->h * edges->w;
    if (qfz_gpu_is_narrow(edges))
        return qfz_launch_each(gpu, k_drop_missing<uint16_t>, n, DROP_THREADS, edges->d_levels, n,
                               static_cast<uint16_t *>(d_saliency));
    return qfz_launch_each(gpu, k_drop_missing<uint32_t>, n, DROP_THREADS, edges->d_levels, n,
                           static_cast<uint32_t *>(d_saliency));
}
