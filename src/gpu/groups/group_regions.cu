/* SPDX-License-Identifier: MIT */
/* group_regions.cu - the regions of a group's vertices, and the border regions of its members.
 *
 * Every vertex climbs to the vertex that represents its region.  A border region of a member begins
 * at the member's first vertex in a region; so its number is the number of border regions of that
 * member that begin before it. */
#include "gpu/device/collective.cuh"
#include "gpu/groups/group.cuh"
#include "core/host_device.h"

/* The keys of regions: a border region of the group, or n_ring + the vertex that represents it. */
QFZ_HOST_AND_DEVICE int64_t n_keys(const qfz_gpu_group &g)
{
    return g.n_ring + g.n;
}

static QFZ_DEVICE uint32_t key_of(const qfz_gpu_group &g, uint32_t top)
{
    return g.d_named[top] != QFZ_NONE ? g.d_named[top] : (uint32_t)g.n_ring + top;
}

void qfz_gpu_group_regions_carve(qfz_gpu_group *group, qfz_carve *carve)
{
    const int64_t n = group->n;
    qfz_carve_take(carve, &group->d_border_region, 3 * n);
    group->d_omega_level = group->d_border_region ? group->d_border_region + n : NULL;
    group->d_region = group->d_border_region ? group->d_border_region + 2 * n : NULL;
    qfz_carve_take(carve, &group->d_counts, QFZ_GROUP_MEMBERS + 1);
    qfz_carve_take(carve, &group->d_top, n);
    qfz_carve_take(carve, &group->d_named, n);
    qfz_carve_take(carve, &group->d_first, n_keys(*group) * group->members.n);
    qfz_carve_take(carve, &group->d_n_before, n + 1);
    qfz_carve_take(carve, &group->d_new_before, n + 1);
    group->d_scan = qfz_carve_bytes(carve, qfz_gpu_scan_bytes(n + 1));
}

/* The vertex that represents the region of v.  *omega_level = the largest level at which its
 * component is within omega: below the level at which it breaks, or joins a vertex that breaks. */
static QFZ_DEVICE uint32_t climb(const qfz_omega_graph &graph, uint32_t v, uint32_t *omega_level)
{
    for (uint32_t up; (up = graph.vertex[v].up) != QFZ_NONE &&
                      qfz_omega_joins(graph, up, graph.vertex[v].up_level);)
        v = up;
    const uint32_t breaks = min(graph.vertex[v].breaks, graph.vertex[v].up_level);
    *omega_level = breaks < graph.after ? breaks - 1 : QFZ_NONE;
    return v;
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_climb(qfz_gpu_group g)
{
    QFZ_OMEGA_EACH(i, g.n)
    {
        const uint32_t v = (uint32_t)i;
        uint32_t top = QFZ_NONE, omega_level = QFZ_NONE;
        if (g.d_valid[v]) top = climb(g.room.graph, v, &omega_level);
        g.d_top[v] = top;
        g.d_omega_level[v] = omega_level;
        g.d_named[v] = QFZ_NONE;
        g.d_region[v] = QFZ_NONE; /* a member may have fewer border regions than vertices */
    }
    QFZ_OMEGA_EACH(i, g.members.n * n_keys(g)) g.d_first[i] = QFZ_NONE;
}

/* Marks the regions that are border regions of the group.  Parts of such a region may be connected
 * only outside the group, and then share the mark. */
static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_name(qfz_gpu_group g)
{
    QFZ_OMEGA_EACH(i, g.n_ring)
    if (g.d_own_border_region[i] != QFZ_NONE)
        g.d_named[g.d_top[g.d_ring[i]]] = g.d_own_border_region[i];
}

/* The word for a member and a region, those of v: the member's first vertex in the region. */
static QFZ_DEVICE uint32_t *first_of(const qfz_gpu_group &g, uint32_t v)
{
    return &g.d_first[qfz_list_of(g.members, v) * n_keys(g) + key_of(g, g.d_top[v])];
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_find_firsts(qfz_gpu_group g)
{
    QFZ_OMEGA_EACH(v, g.n)
    if (g.d_top[v] != QFZ_NONE) qfz_lower(first_of(g, (uint32_t)v), (uint32_t)v);
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_flag(qfz_gpu_group g)
{
    QFZ_OMEGA_EACH(i, g.n + 1)
    {
        const uint32_t v = (uint32_t)i;
        const bool valid = v < g.n && g.d_top[v] != QFZ_NONE;
        g.d_n_before[v] = valid && *first_of(g, v) == v;
        g.d_new_before[v] = valid && g.d_top[v] == v && g.d_named[v] == QFZ_NONE;
    }
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_number(qfz_gpu_group g, uint32_t n_own)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int m = 0; m < QFZ_GROUP_MEMBERS; m++)
            g.d_counts[m] = m < g.members.n ? g.d_n_before[g.members.first[m + 1]] -
                                                  g.d_n_before[g.members.first[m]]
                                            : 0;
        g.d_counts[QFZ_GROUP_MEMBERS] = n_own + g.d_new_before[g.n];
    }
    QFZ_OMEGA_EACH(i, g.n)
    {
        const uint32_t v = (uint32_t)i, top = g.d_top[v];
        g.d_border_region[v] = QFZ_NONE;
        if (top == QFZ_NONE) continue;
        const uint32_t first = *first_of(g, v), member = g.members.first[qfz_list_of(g.members, v)];
        const uint32_t border_region = g.d_n_before[first] - g.d_n_before[member];
        g.d_border_region[v] = border_region;
        if (first == v)
            g.d_region[member + border_region] =
                g.d_named[top] != QFZ_NONE ? g.d_named[top] : n_own + g.d_new_before[top];
    }
}

qfz_status qfz_gpu_group_regions(qfz_gpu *gpu, const qfz_gpu_group *group, uint32_t n_own)
{
    uint32_t *const n_before = group->d_n_before, *const new_before = group->d_new_before;
    const int64_t n = group->n + 1;
    QFZ_TRY(qfz_omega_launch(gpu, k_climb, n, *group));
    QFZ_TRY(qfz_omega_launch(gpu, k_name, n, *group));
    QFZ_TRY(qfz_omega_launch(gpu, k_find_firsts, n, *group));
    QFZ_TRY(qfz_omega_launch(gpu, k_flag, n, *group));
    QFZ_TRY(qfz_gpu_scan(gpu, group->d_scan, n_before, n_before, n));
    QFZ_TRY(qfz_gpu_scan(gpu, group->d_scan, new_before, new_before, n));
    return qfz_omega_launch(gpu, k_number, n, *group, n_own);
}
