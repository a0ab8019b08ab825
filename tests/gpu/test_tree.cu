/* SPDX-License-Identifier: MIT */
/* Trees by every method, against the CPU engine's, which other tests check by brute force.  Trees
 * are compared as sorted lists of nodes: level, first pixel, number of pixels. */
#include <algorithm>
#include <tuple>

#include "check.h"
#include "cpu_worker.h"
#include "core/engine.h"
#include "gpu/tree/forest_tree.cuh"
#include "gpu/published/connect_tile.cuh"
#include "hostile.h"
#include "uploaded.h"

static qfz_error err;

namespace
{
struct tree {
    int64_t n_px;
    std::vector<uint32_t> parent, level;
};
} // namespace

typedef std::tuple<uint32_t, uint32_t, uint32_t> zone; /* level, first pixel, pixels */

/* Checks the contract of qfz_tree. */
static void check_canonical(const tree &t, const uint8_t *valid)
{
    const int64_t n = (int64_t)t.parent.size();
    std::vector<uint32_t> children((size_t)n);
    CHECK(n >= t.n_px && n <= 2 * t.n_px, "%lld nodes", (long long)n);
    for (int64_t i = 0; i < n; i++) {
        const uint32_t up = t.parent[i];
        const bool right = up < n && (up == i || up >= t.n_px);
        if (!CHECK(right, "parent %u of %lld", up, (long long)i)) continue;
        if (i < t.n_px) CHECK(t.level[i] == 0, "level of pixel %lld", (long long)i);
        if (i < t.n_px && valid && !valid[i]) CHECK(up == i, "invalid pixel %lld", (long long)i);
        if (i >= t.n_px && up != i)
            CHECK(t.level[up] > t.level[i], "node %lld of level %u under %u", (long long)i,
                  t.level[i], t.level[up]);
        if (up != i) children[up]++;
    }
    for (int64_t i = t.n_px; i < n; i++)
        CHECK(children[i] != 1 && (children[i] > 0 || t.parent[i] == i),
              "node %lld has %u children", (long long)i, children[i]);
}

static std::vector<zone> zones_of(const tree &t)
{
    const size_t n = t.parent.size();
    std::vector<uint32_t> first(n, UINT32_MAX), size(n), order;
    std::vector<zone> zones;
    const auto give = [&](uint32_t i) {
        const uint32_t up = t.parent[i];
        if (up == i) return;
        first[up] = std::min(first[up], first[i]);
        size[up] += size[i];
    };
    for (uint32_t i = 0; i < n; i++) {
        if (i >= t.n_px) {
            order.push_back(i);
            continue;
        }
        first[i] = i;
        size[i] = 1;
        give(i);
    }
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return t.level[a] < t.level[b]; });
    for (uint32_t i : order) {
        give(i);
        if (size[i] > 0) zones.push_back(zone(t.level[i], first[i], size[i]));
    }
    std::sort(zones.begin(), zones.end());
    return zones;
}

static tree by_cpu(const qfz_image *image, const qfz_rule *rule)
{
    qfz_worker *const worker = cpu_worker(image, rule, QFZ_TREE);
    tree t = {};
    int64_t n = 0;
    t.n_px = image->h * image->w;
    const size_t room = (size_t)qfz_engine_cpu.tree_room(rule, image->h, image->w);
    t.parent.resize(room);
    t.level.resize(room);
    CHECK(qfz_engine_cpu.tree(worker, t.parent.data(), t.level.data(), &n, &err) == QFZ_OK, "%s",
          err.message);
    qfz_engine_cpu.close(&worker, 1);
    t.parent.resize((size_t)n);
    t.level.resize((size_t)n);
    return t;
}

enum method { CONNECT_V1 = QFZ_CONNECT_V1, CONNECT_V2 = QFZ_CONNECT_V2, FOREST, N_METHODS };

template <typename T>
static void append(qfz_gpu *gpu, std::vector<uint32_t> *to, const T *d_from, int64_t n)
{
    const std::vector<T> part = from_device(gpu, d_from, n);
    to->insert(to->end(), part.begin(), part.end());
}

/* Begins with the least possible memory, then with as much as the tree needs. */
static tree by_forest(qfz_gpu *gpu, const qfz_gpu_edges *edges, uint32_t alpha_level)
{
    tree t = {};
    qfz_gpu_forest_tree making;
    qfz_gpu_tree_counts counts = {};
    char *d_scratch = NULL;
    t.n_px = (int64_t)edges->h * edges->w;
    for (size_t needed = 1, bytes = 0; needed > bytes;) {
        cudaFree(d_scratch);
        bytes = qfz_gpu_forest_tree_bytes(edges, &counts);
        d_scratch = device_room<char>((int64_t)bytes);
        CHECK(qfz_gpu_forest_tree_begin(gpu, edges, alpha_level, d_scratch, bytes, &making) ==
                  QFZ_OK,
              "%s", err.message);
        counts = from_device(gpu, making.d_counts, 1)[0];
        needed = qfz_gpu_forest_tree_bytes(edges, &counts);
        CHECK(counts.pairs <= t.n_px && counts.inside <= t.n_px, "%u pairs, %u nodes", counts.pairs,
              counts.inside);
    }
    CHECK(qfz_gpu_forest_tree_end(gpu, &making, edges, &counts) == QFZ_OK, "%s", err.message);
    counts = from_device(gpu, making.d_counts, 1)[0];
    append(gpu, &t.parent, making.d_parent, t.n_px);
    append(gpu, &t.parent, making.d_inside_parent, counts.inside);
    append(gpu, &t.parent, making.d_other_parent, counts.others);
    t.level.resize((size_t)t.n_px);
    if (making.forest.wide)
        append(gpu, &t.level, static_cast<uint32_t *>(making.d_inside_level), counts.inside);
    else
        append(gpu, &t.level, static_cast<uint16_t *>(making.d_inside_level), counts.inside);
    append(gpu, &t.level, making.d_other_level, counts.others);
    cudaFree(d_scratch);
    return t;
}

static tree by_gpu(qfz_gpu *gpu, method how, const qfz_gpu_edges *edges, uint32_t alpha_level)
{
    tree t = {};
    if (how == FOREST) return by_forest(gpu, edges, alpha_level);
    t.n_px = (int64_t)edges->h * edges->w;
    const size_t bytes = qfz_gpu_tree_bytes(edges->connectivity, edges->h, edges->w);
    uint32_t *const d_parent = device_room<uint32_t>(2 * t.n_px);
    uint32_t *const d_level = device_room<uint32_t>(2 * t.n_px);
    uint32_t *const d_n = device_room<uint32_t>(1);
    char *const d_scratch = device_room<char>((int64_t)bytes);
    CHECK(qfz_gpu_tree(gpu, (qfz_gpu_connect)how, edges, alpha_level, d_scratch, d_parent, d_level,
                       d_n) == QFZ_OK,
          "%s", err.message);
    const int64_t n = std::min((int64_t)from_device(gpu, d_n, 1)[0], 2 * t.n_px);
    t.parent = from_device(gpu, d_parent, n);
    t.level = from_device(gpu, d_level, n);
    for (void *d : {(void *)d_parent, (void *)d_level, (void *)d_n, (void *)d_scratch})
        cudaFree(d);
    return t;
}

/* Compares trees; by forest only if no level is QFZ_NONE. */
static void compare(qfz_gpu *gpu, const qfz_image *image, const qfz_rule *rule)
{
    const std::vector<zone> want = zones_of(by_cpu(image, rule));
    const int64_t n_px = image->h * image->w;
    uploaded up = upload(image);
    uint32_t *const d_edge_levels =
        device_room<uint32_t>((int64_t)qfz_gpu_edges_bytes(rule, n_px) / 4);
    qfz_gpu_edges edges;
    CHECK(qfz_gpu_edges_make(gpu, &up.image, rule, d_edge_levels, &edges) == QFZ_OK, "%s",
          err.message);
    qfz_gpu_edges as_they_are = edges;
    if (qfz_gpu_edges_know_nan(rule) && up.d_valid && check_chance(50))
        CHECK(upload_nan(gpu, &up) == QFZ_OK, "%s", err.message);
    if (!qfz_gpu_edges_need_levels(rule))
        CHECK(qfz_gpu_edges_make(gpu, &up.image, rule, NULL, &as_they_are) == QFZ_OK, "%s",
              err.message);
    for (int how = CONNECT_V1; how < N_METHODS; how++) {
        if (how == FOREST && edges.max_level == QFZ_NONE) continue;
        const tree got =
            by_gpu(gpu, (method)how, how == FOREST ? &as_they_are : &edges, rule->alpha_level);
        check_canonical(got, image->valid);
        const std::vector<zone> zones = zones_of(got);
        size_t i = 0;
        while (i < want.size() && i < zones.size() && want[i] == zones[i])
            i++;
        CHECK(want == zones, "method %d: %zu zones, not %zu; the first that differs is %zu", how,
              zones.size(), want.size(), i);
    }
    cudaFree(d_edge_levels);
    upload_free(&up);
}

/* A random distance that the image's type allows. */
static qfz_rule pick_rule(const qfz_image *image)
{
    qfz_rule rule = {};
    uint32_t max_level;
    rule.connectivity = check_chance(50) ? 4 : 8;
    rule.type = image->type;
    rule.n_bands = image->n_bands;
    rule.distance = check_chance(60) ? QFZ_L1 : check_chance(50) ? QFZ_L2 : QFZ_LINF;
    rule.alpha_level = QFZ_NONE;
    if (qfz_max_level(&rule, &max_level, &err) != QFZ_OK) rule.distance = QFZ_LINF;
    if (check_chance(30)) rule.alpha_level = qfz_level_of_alpha(&rule, (double)check_pick(40));
    return rule;
}

static void check_hostile(qfz_gpu *gpu, int64_t number)
{
    const int64_t side = number % 6 == 5 ? 200 : number % 3 == 0 ? 20 : 90;
    const int type = number % 2 == 0 ? QFZ_U8 : number % 4 == 1 ? QFZ_U16 : -1;
    hostile made;
    hostile_make(&made, check_.seed, number, side, type, number % 4 == 3 ? 3 : 1);
    check_case(number, "%s", made.what);
    const qfz_rule rule = pick_rule(&made.image);
    check_describe("%s; %d-connected, distance %d, alpha %u", made.what, rule.connectivity,
                   (int)rule.distance, rule.alpha_level);
    compare(gpu, &made.image, &rule);
    hostile_free(&made);
}

/* In each block of 64 x 64 pixels, a slope that is one node, with some 3,000 links, and noise of as
 * many nodes as pixels. */
static void check_slopes(qfz_gpu *gpu, int64_t number, int32_t side)
{
    enum { BLOCK = 64, SLOPE = 46, HIGH = 30000 };
    std::vector<uint16_t> pixels((size_t)side * (size_t)side);
    qfz_image image = {};
    qfz_rule rule = {};
    check_case(number, "%d x %d, slopes above noise", (int)side, (int)side);
    for (int32_t y = 0; y < side; y++)
        for (int32_t x = 0; x < side; x++) {
            const int32_t in_y = y % BLOCK, in_x = x % BLOCK;
            const int32_t up = (y / BLOCK + x / BLOCK) % 2 ? HIGH : 0;
            pixels[(size_t)(y * side + x)] =
                (uint16_t)(in_y < SLOPE ? up + in_y + in_x : check_pick(65536));
        }
    image.h = image.w = side;
    image.n_bands = 1;
    image.type = QFZ_U16;
    image.pixels = pixels.data();
    rule.type = QFZ_U16;
    rule.n_bands = 1;
    rule.alpha_level = QFZ_NONE;
    rule.connectivity = 4;
    compare(gpu, &image, &rule);
}

/* All levels of a row are different, so that one chain has all of its pairs; rows are equal. */
static void check_long_chain(qfz_gpu *gpu, int64_t number, int32_t h, int32_t w, bool falls)
{
    std::vector<uint16_t> pixels((size_t)h * (size_t)w);
    qfz_image image = {};
    qfz_rule rule = {};
    check_case(number, "%d x %d, steps that %s", (int)w, (int)h, falls ? "fall" : "grow");
    for (int32_t y = 0; y < h; y++)
        for (int32_t x = 0, at = 0; x < w; x++) {
            pixels[(size_t)(y * w + x)] = (uint16_t)at;
            at += falls ? w - x : x + 1;
        }
    image.h = h;
    image.w = w;
    image.n_bands = 1;
    image.type = QFZ_U16;
    image.pixels = pixels.data();
    rule.type = QFZ_U16;
    rule.n_bands = 1;
    rule.alpha_level = QFZ_NONE;
    for (rule.connectivity = 4; rule.connectivity <= 8; rule.connectivity += 4)
        compare(gpu, &image, &rule);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 60);
    qfz_gpu gpu = open_gpu(&err);
    for (int64_t c = check_.first; c < check_.cases; c++)
        check_hostile(&gpu, c);
    check_long_chain(&gpu, check_.cases, 3, 300, false);
    check_long_chain(&gpu, check_.cases, 70, 130, true);
    check_slopes(&gpu, check_.cases, 6 * 64);
    return check_end();
}
