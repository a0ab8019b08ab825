/* SPDX-License-Identifier: MIT */
/* Lock-free union-find under random schedules: many threads unite the ends of random edges in any
 * order.  The test must detect a mutant that does not unite the set of a replaced link. */
#include <algorithm>
#include <cstring>

#include "check.h"
#include "device_test.h"
#include "gpu/device/launch.cuh"
#include "gpu/device/union_find.cuh"

static qfz_error err;

namespace
{
struct graph {
    uint32_t n, n_edges;
    std::vector<uint32_t> u, v;
};
} // namespace

static graph random_graph(void)
{
    graph g;
    g.n = 2 + (uint32_t)check_pick(300);
    g.n_edges = 1 + (uint32_t)check_pick(2 * g.n);
    const uint32_t near = 1 + (uint32_t)check_pick(g.n);
    for (uint32_t e = 0; e < g.n_edges; e++) {
        g.u.push_back((uint32_t)check_pick(g.n));
        g.v.push_back((g.u[e] + (uint32_t)check_pick(near)) % g.n);
    }
    return g;
}

/* The least vertex of each component, by a sequential algorithm. */
static std::vector<uint32_t> least_of(const graph &g)
{
    std::vector<uint32_t> least(g.n);
    for (uint32_t i = 0; i < g.n; i++)
        least[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t e = 0; e < g.n_edges; e++) {
            const uint32_t low = std::min(least[g.u[e]], least[g.v[e]]);
            changed |= least[g.u[e]] != low || least[g.v[e]] != low;
            least[g.u[e]] = least[g.v[e]] = low;
        }
    }
    return least;
}

/* The mutant: drops the link that it replaces. */
static __device__ void unite_once(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = qfz_find_shortening<qfz_in_global>(parent, a);
    b = qfz_find_shortening<qfz_in_global>(parent, b);
    if (a != b) atomicMin(parent + max(a, b), min(a, b));
}

template <bool MUTANT>
static __global__ void k_unite(const uint32_t *u, const uint32_t *v, uint32_t n_edges,
                               uint32_t *parent)
{
    const uint32_t e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n_edges) return;
    if (MUTANT)
        unite_once(parent, u[e], v[e]);
    else
        qfz_unite<qfz_in_global>(parent, u[e], v[e]);
}

static __global__ void k_flatten(uint32_t *parent, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) parent[i] = qfz_find<qfz_in_global>(parent, i);
}

template <bool MUTANT> static bool finds_least(qfz_gpu *gpu, const graph &g)
{
    enum { BLOCK = 64 };
    std::vector<uint32_t> own(g.n);
    for (uint32_t i = 0; i < g.n; i++)
        own[i] = i;
    uint32_t *const d_u = to_device(g.u), *const d_v = to_device(g.v),
                    *const d_parent = to_device(own);
    CHECK(qfz_launch(gpu, k_unite<MUTANT>, dim3(qfz_launch_blocks(g.n_edges, BLOCK)), dim3(BLOCK),
                     0, d_u, d_v, g.n_edges, d_parent) == QFZ_OK &&
              qfz_launch(gpu, k_flatten, dim3(qfz_launch_blocks(g.n, BLOCK)), dim3(BLOCK), 0,
                         d_parent, g.n) == QFZ_OK,
          "%s", err.message);
    const bool same = from_device(gpu, d_parent, g.n) == least_of(g);
    for (uint32_t *d : {d_u, d_v, d_parent})
        cudaFree(d);
    return same;
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 400);
    qfz_gpu gpu = open_gpu(&err);
    int64_t caught = 0;
    for (int64_t number = check_.first; number < check_.cases; number++) {
        check_case(number, "a random graph");
        const graph g = random_graph();
        CHECK(finds_least<false>(&gpu, g), "%u vertices, %u edges", g.n, g.n_edges);
        caught += !finds_least<true>(&gpu, g);
    }
    cudaDeviceProp properties;
    MUST(cudaGetDeviceProperties(&properties, 0));
    const bool simulated =
        strcmp(properties.name, "simulator") == 0; /* whose schedules are hostile */
    CHECK(!simulated || caught > 0, "the mutant was not caught in %lld graphs",
          (long long)check_.cases);
    printf("mutant caught %lld times\n", (long long)caught);
    return check_end();
}
