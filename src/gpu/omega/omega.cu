/* SPDX-License-Identifier: MIT */
/* omega.cu - (alpha, omega)-components: the order of the steps, and the final regions.
 *
 * A region is identified by its last vertex, or, with an exterior, by its border region.  Its first
 * pixel is the least first pixel of its parts.  The block kernels write to d_root the part of a
 * pixel, or the first pixel of a region that lies in one block. */
#include "gpu/device/collective.cuh"
#include "gpu/device/edge_reader.cuh"
#include "gpu/omega/omega_parts.cuh"

enum { LIMITS = 64 };

/* ---- Limits ---------------------------------------------------------------------------------- */

namespace
{
struct some_limits {
    double omega[LIMITS];
};
} // namespace

static __global__ void k_set_limits(some_limits some, int n, double *limit)
{
    if ((int)threadIdx.x < n) limit[threadIdx.x] = some.omega[threadIdx.x];
}

/* Passes omega as kernel arguments, which needs no host buffer that outlives the call. */
qfz_status qfz_omega_send_limits(qfz_gpu *gpu, const qfz_rule *rule, qfz_omega_room *room)
{
    if (!rule->omega) return QFZ_OK;
    for (int done = 0; done < rule->n_bands; done += LIMITS) {
        some_limits some = {};
        const int n = rule->n_bands - done < LIMITS ? rule->n_bands - done : (int)LIMITS;
        for (int i = 0; i < n; i++)
            some.omega[i] = rule->omega[done + i];
        QFZ_TRY(
            qfz_launch(gpu, k_set_limits, dim3(1), dim3(LIMITS), 0, some, n, room->d_limit + done));
    }
    return QFZ_OK;
}

/* ---- Levels equal to QFZ_NONE ---------------------------------------------------------------- */

/* QFZ_NONE, 2^32 - 1, marks an edge that does not exist, but is also a level of 32-bit integers.
 * If omega bounds the band, an edge of that level always breaks the component that it joins, and
 * may be omitted.  If omega bounds nothing, only whether a level is above alpha matters, and the
 * level is replaced by 2^32 - 2. */
static bool has_greatest_level(const qfz_rule *rule, uint32_t max_level)
{
    if (rule->alpha_level < QFZ_NONE || max_level < QFZ_NONE) return false;
    for (int b = 0; rule->omega && b < rule->n_bands; b++)
        if (rule->omega[b] < (double)UINT32_MAX) return false;
    return true;
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_lower_greatest(qfz_gpu_image image, int n_dirs, uint32_t *keys)
{
    const int64_t n_px = (int64_t)image.h * image.w;
    const int64_t p = (int64_t)blockIdx.x * QFZ_OMEGA_THREADS + threadIdx.x;
    const qfz_pixel_grid grid = {image.h, image.w, image.d_valid};
    for (int d = 0; p < n_px && d < n_dirs; d++)
        if (keys[d * n_px + p] == QFZ_NONE && grid.has_edge(p, d))
            keys[d * n_px + p] = QFZ_NONE - 1;
}

/* ---- Regions --------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_find_regions(qfz_omega_graph g)
{
    const uint32_t n = *g.n_vertices;
    QFZ_OMEGA_EACH(v, n)
    {
        uint32_t at = (uint32_t)v;
        for (uint32_t up;
             (up = g.vertex[at].up) != QFZ_NONE && qfz_omega_joins(g, up, g.vertex[at].up_level);)
            at = up;
        g.vertex[v].region = at;
        g.region_first[v] = QFZ_NONE;
    }
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_begin_border_regions(qfz_omega_graph g, int64_t n_ring, uint32_t *border_of)
{
    const uint32_t n = *g.n_vertices;
    QFZ_OMEGA_EACH(v, n) border_of[v] = QFZ_NONE;
    QFZ_OMEGA_EACH(i, n_ring) g.region_first[g.vertex_room + (int64_t)i] = QFZ_NONE;
}

/* With an exterior: identifies regions by the border regions of their ring pixels. */
static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_find_border_regions(qfz_gpu_forest f, qfz_omega_graph g,
                          const uint32_t *__restrict__ border_region, uint32_t *border_of)
{
    QFZ_OMEGA_EACH(i, qfz_ring_count(f.h, f.w))
    if (border_region[i] != QFZ_NONE)
        border_of[g.vertex[qfz_omega_ring_vertex(f, i)].region] = border_region[i];
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_use_border_regions(qfz_omega_graph g, const uint32_t *__restrict__ border_of)
{
    const uint32_t n = *g.n_vertices;
    QFZ_OMEGA_EACH(v, n)
    {
        const uint32_t border_region = border_of[g.vertex[v].region];
        if (border_region != QFZ_NONE) g.vertex[v].region = (uint32_t)g.vertex_room + border_region;
    }
}

/* The regions of some parts; QFZ_NONE for a record that is all of its region. */
static QFZ_DEVICE void find_regions(const qfz_omega_graph &g, uint32_t n_vertices,
                                    const uint32_t (&part)[QFZ_OMEGA_SOME],
                                    uint32_t (&region)[QFZ_OMEGA_SOME])
{
    uint2 to[QFZ_OMEGA_SOME], at[QFZ_OMEGA_SOME];
    QFZ_EACH (j, QFZ_OMEGA_SOME)
        to[j] = part[j] < n_vertices ? make_uint2(part[j], 0)
                                     : qfz_omega_attached(g, part[j] - n_vertices);
    QFZ_EACH (j, QFZ_OMEGA_SOME)
        at[j] = *reinterpret_cast<const uint2 *>(&g.vertex[to[j].x].breaks);
    QFZ_EACH (j, QFZ_OMEGA_SOME)
        region[j] = to[j].y < at[j].x ? at[j].y : QFZ_NONE;
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_find_firsts(qfz_omega_graph g)
{
    const uint32_t n = *g.n_vertices;
    uint32_t last = QFZ_NONE, least = 0; /* of the thread's parts, many have one large region */
    qfz_omega_each_some((uint64_t)n + *g.n_records, [&](const uint32_t(&part)[QFZ_OMEGA_SOME]) {
        uint32_t region[QFZ_OMEGA_SOME], px[QFZ_OMEGA_SOME], seen[QFZ_OMEGA_SOME];
        QFZ_EACH (j, QFZ_OMEGA_SOME)
            px[j] = g.first[part[j]];
        find_regions(g, n, part, region);
        QFZ_EACH (j, QFZ_OMEGA_SOME)
            if (px[j] == QFZ_NONE || (region[j] == last && px[j] >= least)) region[j] = QFZ_NONE;
        /* First pixels only get smaller, so a look into the multiprocessor's own cache is enough
         * for most parts. */
        QFZ_EACH (j, QFZ_OMEGA_SOME)
            if (region[j] != QFZ_NONE) seen[j] = g.region_first[region[j]];
        QFZ_EACH (j, QFZ_OMEGA_SOME)
            if (region[j] != QFZ_NONE && px[j] < seen[j])
                seen[j] = qfz_peek(&g.region_first[region[j]]);
        QFZ_EACH (j, QFZ_OMEGA_SOME) {
            if (region[j] == QFZ_NONE) continue;
            if (px[j] < seen[j]) atomicMin(&g.region_first[region[j]], px[j]);
            last = region[j];
            least = min(px[j], seen[j]);
        }
    });
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_name_parts(qfz_omega_graph g)
{
    const uint32_t n = *g.n_vertices;
    qfz_omega_each_some((uint64_t)n + *g.n_records, [&](const uint32_t(&part)[QFZ_OMEGA_SOME]) {
        uint32_t region[QFZ_OMEGA_SOME], first[QFZ_OMEGA_SOME];
        find_regions(g, n, part, region);
        QFZ_EACH (j, QFZ_OMEGA_SOME)
            if (region[j] != QFZ_NONE) first[j] = g.region_first[region[j]];
        QFZ_EACH (j, QFZ_OMEGA_SOME)
            if (region[j] != QFZ_NONE) g.first[part[j]] = first[j];
    });
}

enum { NAME_EACH = 4 }; /* pixels of a thread; the look-ups of their parts overlap */

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_name_pixels(qfz_omega_graph g, int64_t n_px, uint32_t *root)
{
    const int64_t first = (int64_t)blockIdx.x * (NAME_EACH * QFZ_OMEGA_THREADS) + threadIdx.x;
    uint32_t word[NAME_EACH];
    QFZ_EACH (j, NAME_EACH) {
        const int64_t p = first + j * QFZ_OMEGA_THREADS;
        word[j] = p < n_px ? root[p] : QFZ_NONE;
    }
    QFZ_EACH (j, NAME_EACH)
        if (word[j] != QFZ_NONE && word[j] & QFZ_OMEGA_PART)
            root[first + j * QFZ_OMEGA_THREADS] = __ldg(&g.first[word[j] & ~QFZ_OMEGA_PART]);
}

static qfz_status name_regions(qfz_gpu *gpu, const qfz_omega_room *room,
                               const uint32_t *d_border_region, uint32_t *d_root)
{
    const qfz_gpu_forest *const forest = &room->forest;
    const qfz_omega_graph *const g = &room->graph;
    const int64_t n_px = (int64_t)forest->h * forest->w;
    const int64_t n_ring = qfz_ring_size(forest->h, forest->w), n = g->vertex_room;
    const int64_t n_parts = n + g->record_room;
    QFZ_TRY(qfz_omega_launch(gpu, k_find_regions, n, *g));
    if (d_border_region) {
        uint32_t *const d_border_of = room->d_border_of;
        QFZ_TRY(qfz_omega_launch(gpu, k_begin_border_regions, n, *g, n_ring, d_border_of));
        QFZ_TRY(qfz_omega_launch(gpu, k_find_border_regions, n_ring, *forest, *g, d_border_region,
                                 d_border_of));
        QFZ_TRY(qfz_omega_launch(gpu, k_use_border_regions, n, *g, d_border_of));
    }
    QFZ_TRY(qfz_omega_launch(gpu, k_find_firsts, n_parts, *g));
    QFZ_TRY(qfz_omega_launch(gpu, k_name_parts, n_parts, *g));
    return qfz_launch_each(gpu, k_name_pixels, (n_px + NAME_EACH - 1) / NAME_EACH,
                           QFZ_OMEGA_THREADS, *g, n_px, d_root);
}

/* ---- Launchers ------------------------------------------------------------------------------- */

qfz_status qfz_omega_set_rule(qfz_gpu *gpu, const qfz_rule *rule, qfz_omega_room *room)
{
    qfz_omega_values *const values = &room->values;
    uint32_t max_level;
    QFZ_TRY(qfz_max_level(rule, &max_level, gpu->err));
    const uint32_t alpha = rule->alpha_level < max_level ? rule->alpha_level : max_level;
    room->graph.after = alpha < QFZ_NONE ? alpha + 1 : QFZ_NONE;
    values->limit = rule->omega ? room->d_limit : NULL;
    values->n_bands = rule->n_bands;
    values->bytes = (int)qfz_type_bytes(rule->type);
    values->is_float = qfz_type_is_float(rule->type);
    const bool is_signed = rule->type == QFZ_I8 || rule->type == QFZ_I16 || rule->type == QFZ_I32;
    values->flip = is_signed ? 1u << (8 * values->bytes - 1) : 0;
    return QFZ_OK;
}

qfz_status qfz_omega_prepare(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                             bool keep_ring, qfz_omega_room *room)
{
    const int64_t n_px = (int64_t)image->h * image->w;
    qfz_gpu_edges edges;
    QFZ_TRY(qfz_gpu_edges_make(gpu, image, rule, room->d_edge_levels, &edges));
    if (has_greatest_level(rule, edges.max_level))
        QFZ_TRY(qfz_launch_each(gpu, k_lower_greatest, n_px, QFZ_OMEGA_THREADS, *image,
                                qfz_n_dirs(rule), room->d_edge_levels));
    QFZ_TRY(qfz_gpu_forest_make(gpu, &edges, keep_ring, room->d_forest, &room->forest));
    room->graph.n_vertices = room->forest.count + QFZ_COUNT_VERTICES;
    QFZ_TRY(qfz_omega_send_limits(gpu, rule, room));
    return qfz_omega_begin(gpu, room);
}

qfz_status qfz_gpu_omega(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                         const qfz_gpu_omega_exterior *exterior, void *d_scratch, uint32_t *d_root)
{
    qfz_omega_room room = {};
    QFZ_TRY(qfz_omega_cut(gpu, image, rule, d_scratch, &room));
    QFZ_TRY(qfz_omega_prepare(gpu, image, rule, exterior != NULL, &room));
    QFZ_TRY(qfz_omega_blocks(gpu, &room, d_root));
    QFZ_TRY(qfz_omega_solve(gpu, &room, exterior ? exterior->d_omega_level : NULL));
    return name_regions(gpu, &room, exterior ? exterior->d_border_region : NULL, d_root);
}
