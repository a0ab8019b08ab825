/* SPDX-License-Identifier: MIT */
/* Trees by both versions of CONNECT, against brute force on the levels of common ancestors; and two
 * mutants with races, which the same test must detect. */
#include "check.h"
#include "device_test.h"
#include "gpu/published/connect.cuh"
#include "gpu/device/launch.cuh"
#include "gpu/published/connect_tile.cuh"

static qfz_error err;

namespace
{
/* A mutant that reads, compares and writes instead of a compare-and-swap: another thread may write
 * in between. */
struct careless_links {
    unsigned long long *words;

    __device__ qfz_link get(uint32_t node) const
    {
        return qfz_tree_links::unpack(__ldcg(words + node));
    }
    __device__ bool swap(uint32_t node, qfz_link *link, qfz_link to) const
    {
        const unsigned long long expected = qfz_tree_links::pack(*link);
        const unsigned long long was = __ldcg(words + node);
        *link = qfz_tree_links::unpack(was);
        if (was != expected) return false;
        __threadfence();
        words[node] = qfz_tree_links::pack(to);
        return true;
    }
};

/* A mutant that ignores the failure of a compare-and-swap, and does not join the lost link again.
 */
struct hasty_links {
    unsigned long long *words;

    __device__ qfz_link get(uint32_t node) const
    {
        return qfz_tree_links::unpack(__ldcg(words + node));
    }
    __device__ bool swap(uint32_t node, qfz_link *link, qfz_link to) const
    {
        (void)qfz_tree_links{words}.swap(node, link, to);
        return true;
    }
};
} // namespace

/* n leaves 0..n-1, edges n + k of level[k] between u[k] and v[k]; one edge a thread. */
template <typename LINKS>
static __global__ void k_connect_edges(LINKS links, uint32_t n, uint32_t n_edges, const uint32_t *u,
                                       const uint32_t *v, const uint32_t *level)
{
    const uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n_edges) qfz_connect_with(links, u[k], v[k], n + k, level[k]);
}

static uint32_t find(std::vector<uint32_t> &root, uint32_t a)
{
    while (root[a] != a)
        a = root[a] = root[root[a]];
    return a;
}

/* The minimax level of the ends of each edge in the graph; UINT32_MAX: not connected. */
static std::vector<uint32_t> minimax(uint32_t n, const std::vector<uint32_t> &u,
                                     const std::vector<uint32_t> &v,
                                     const std::vector<uint32_t> &level, uint32_t max_level)
{
    std::vector<uint32_t> root(n), meets(u.size(), UINT32_MAX);
    for (uint32_t i = 0; i < n; i++)
        root[i] = i;
    for (uint32_t l = 0; l <= max_level; l++) {
        for (size_t k = 0; k < u.size(); k++)
            if (level[k] == l) root[find(root, u[k])] = find(root, v[k]);
        for (size_t k = 0; k < u.size(); k++)
            if (meets[k] == UINT32_MAX && find(root, u[k]) == find(root, v[k])) meets[k] = l;
    }
    return meets;
}

/* The level of the lowest common ancestor; UINT32_MAX: there is none. */
static uint32_t meet(const std::vector<unsigned long long> &words, uint32_t a, uint32_t b)
{
    uint32_t la = 0, lb = 0;
    while (a != b) {
        if (la > lb || (la == lb && a > b)) {
            std::swap(a, b);
            std::swap(la, lb);
        }
        const qfz_link up = qfz_tree_links::unpack(words[a]);
        if (up.parent == a) return UINT32_MAX;
        a = up.parent;
        la = up.level;
    }
    return la > lb ? la : lb;
}

/* Runs the kernel on a random graph; returns the number of edges whose ends have a common ancestor
 * of the wrong level. */
template <typename LINKS> static int64_t wrong_edges(qfz_gpu *gpu, uint32_t max_level)
{
    const uint32_t n = 200, n_edges = 2048;
    std::vector<uint32_t> u(n_edges), v(n_edges), level(n_edges);
    std::vector<unsigned long long> words(n + n_edges);
    for (uint32_t k = 0; k < n_edges; k++) {
        u[k] = (uint32_t)check_pick(n);
        v[k] = (uint32_t)check_pick(n);
        level[k] = (uint32_t)check_pick(max_level + 1);
    }
    for (uint32_t i = 0; i < n + n_edges; i++)
        words[i] = qfz_tree_links::pack(qfz_link{i, i < n ? 0 : level[i - n]});
    uint32_t *const d_u = to_device(u), *const d_v = to_device(v),
                    *const d_level = to_device(level);
    unsigned long long *const d_words = to_device(words);
    const LINKS links = {d_words};
    CHECK(qfz_launch(gpu, k_connect_edges<LINKS>, dim3(n_edges / 64), dim3(64), 0, links, n,
                     n_edges, d_u, d_v, d_level) == QFZ_OK,
          "%s", err.message);
    words = from_device(gpu, d_words, n + n_edges);
    for (void *d : {(void *)d_u, (void *)d_v, (void *)d_level, (void *)d_words})
        cudaFree(d);
    const std::vector<uint32_t> want = minimax(n, u, v, level, max_level);
    int64_t wrong = 0;
    for (uint32_t k = 0; k < n_edges; k++)
        wrong += u[k] != v[k] && meet(words, u[k], v[k]) != want[k];
    return wrong;
}

int main(int argc, char **argv)
{
    int64_t caught[2] = {0, 0};
    check_begin(argc, argv, 30);
    qfz_gpu gpu = open_gpu(&err);
    for (int64_t c = check_.first; c < check_.cases; c++) {
        const uint32_t max_level = c % 3 == 0 ? 3 : c % 3 == 1 ? 40 : 400;
        check_case(c, "levels up to %u", max_level);
        const int64_t wrong = wrong_edges<qfz_tree_links>(&gpu, max_level);
        CHECK(wrong == 0, "%lld edges meet at a wrong level", (long long)wrong);
        caught[0] += wrong_edges<careless_links>(&gpu, max_level) > 0;
        caught[1] += wrong_edges<hasty_links>(&gpu, max_level) > 0;
    }
    if (check_.cases - check_.first >= 10)
        CHECK(caught[0] > 0 && caught[1] > 0, "links that lose races passed: %lld, %lld caught",
              (long long)caught[0], (long long)caught[1]);
    return check_end();
}
