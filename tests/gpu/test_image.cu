/* SPDX-License-Identifier: MIT */
/* Joins and levels of edges, against the host's levels of the same pairs of pixels. */
#include <cstring>

#include "check.h"
#include "gpu/device/image.cuh"
#include "hostile.h"
#include "uploaded.h"

static qfz_error err;

/* The pixel to which pixel p has an edge in direction d, or -1. */
static int64_t neighbour(const qfz_image *image, int64_t p, int d)
{
    const int64_t y = p / image->w + qfz_dir_dy[d], x = p % image->w + qfz_dir_dx[d];
    if (y >= image->h || x < 0 || x >= image->w) return -1;
    const int64_t q = y * image->w + x;
    return image->valid && (!image->valid[p] || !image->valid[q]) ? -1 : q;
}

/* The levels of all edges, by the host. */
static std::vector<uint32_t> host_keys(const qfz_image *image, const qfz_rule *rule)
{
    const int64_t n_px = image->h * image->w;
    std::vector<uint32_t> keys((size_t)(n_px * qfz_n_dirs(rule)), QFZ_NONE);
    for (int d = 0; d < qfz_n_dirs(rule); d++)
        for (int64_t p = 0; p < n_px; p++) {
            const int64_t q = neighbour(image, p, d);
            if (q >= 0) qfz_levels(image, rule, p, q, 1, &keys[(size_t)(d * n_px + p)]);
        }
    return keys;
}

static void joins_are(qfz_gpu *gpu, const qfz_image *image, const uploaded *up,
                      const qfz_rule *rule, const std::vector<uint32_t> &keys)
{
    const int64_t n_px = image->h * image->w;
    uint8_t *const d_joins = device_room<uint8_t>(n_px);
    CHECK(qfz_gpu_joins(gpu, &up->image, rule, d_joins) == QFZ_OK, "%s", err.message);
    const std::vector<uint8_t> joins = from_device(gpu, d_joins, n_px);
    for (int64_t p = 0; p < n_px; p++) {
        unsigned want = !image->valid || image->valid[p] ? QFZ_JOIN_VALID : 0;
        for (int d = 0; d < qfz_n_dirs(rule); d++) {
            const uint32_t key = keys[(size_t)(d * n_px + p)];
            const uint8_t own =
                static_cast<const uint8_t *>(image->pixels)[rule->edge_bits ? p : 0];
            const bool joined = rule->edge_bits ? own >> d & 1 : key <= rule->alpha_level;
            if (joined && neighbour(image, p, d) >= 0) want |= 1u << d;
        }
        if (!CHECK(joins[(size_t)p] == want, "pixel %lld: joins 0x%02x, not 0x%02x", (long long)p,
                   joins[(size_t)p], want))
            break;
    }
    cudaFree(d_joins);
}

static void edges_are(qfz_gpu *gpu, const uploaded *up, const qfz_rule *rule,
                      const std::vector<uint32_t> &keys)
{
    const int64_t n_px = (int64_t)up->image.h * up->image.w;
    const size_t bytes = qfz_gpu_edges_bytes(rule, n_px);
    uint32_t *const d_edge_levels = device_room<uint32_t>((int64_t)bytes / 4);
    qfz_gpu_edges edges;
    CHECK(qfz_gpu_edges_make(gpu, &up->image, rule, d_edge_levels, &edges) == QFZ_OK, "%s",
          err.message);
    const bool narrow = qfz_type_bytes(rule->type) <= 2 && rule->n_bands == 1;
    CHECK((edges.form == QFZ_EDGES_LEVELS) ==
              !(narrow && rule->distance != QFZ_L2 && !rule->weights),
          "form %d", (int)edges.form);
    if (edges.form == QFZ_EDGES_LEVELS)
        CHECK(from_device(gpu, edges.d_levels, (int64_t)keys.size()) == keys, "keys of edges");
    else
        CHECK(bytes == 0 && edges.d_values == up->image.d_pixels, "a band that is read as it is");
    cudaFree(d_edge_levels);
}

/* Joins at some alpha, and edges. */
static void rule_is(qfz_gpu *gpu, const qfz_image *image, const uploaded *up, qfz_rule *rule)
{
    uint32_t max_level;
    qfz_error refused = {};
    if (qfz_max_level(rule, &max_level, &refused) != QFZ_OK) return;
    const std::vector<uint32_t> keys = host_keys(image, rule);
    const uint32_t some = keys[(size_t)check_pick((int64_t)keys.size())];
    rule->alpha_level = check_chance(30) ? 0 : check_chance(10) ? max_level : some;
    joins_are(gpu, image, up, rule, keys);
    if (!rule->edge_bits) edges_are(gpu, up, rule, keys);
}

/* Joins and edges from levels that the image has, some of them missing; as often as they are made,
 * edges are the same. */
static void given_levels_are(qfz_gpu *gpu, const qfz_image *image, uploaded *up, qfz_rule rule)
{
    const int64_t n_px = image->h * image->w, n = qfz_n_dirs(&rule) * n_px;
    std::vector<uint32_t> given((size_t)n), keys((size_t)n, QFZ_NONE);
    for (int64_t i = 0; i < n; i++) {
        given[(size_t)i] = check_chance(20) ? QFZ_NONE : (uint32_t)check_pick(9);
        if (neighbour(image, i % n_px, (int)(i / n_px)) >= 0) keys[(size_t)i] = given[(size_t)i];
    }
    rule.edge_levels = true;
    rule.max_edge = QFZ_NONE - 1;
    rule.alpha_level = check_chance(20) ? rule.max_edge : (uint32_t)check_pick(9);
    up->image.d_edges = to_device(given.data(), n);
    joins_are(gpu, image, up, &rule, keys);
    CHECK(qfz_gpu_edges_bytes(&rule, n_px) == 0, "room for levels that are there");
    for (int i = 0; i < 2; i++) {
        qfz_gpu_edges edges;
        CHECK(qfz_gpu_edges_make(gpu, &up->image, &rule, NULL, &edges) == QFZ_OK, "%s",
              err.message);
        CHECK(edges.form == QFZ_EDGES_LEVELS && from_device(gpu, edges.d_levels, n) == keys,
              "levels of the image, time %d", i + 1);
    }
    cudaFree(up->image.d_edges);
    up->image.d_edges = NULL;
}

static void one_raster(qfz_gpu *gpu, int64_t number)
{
    hostile made;
    const bool edge_bits = number % 11 == 0;
    hostile_make(&made, check_.seed, number, 70, edge_bits ? QFZ_U8 : -1, edge_bits ? 1 : 4);
    check_case(number, "%s", made.what);
    qfz_image *const image = &made.image;
    const bool masked = check_chance(80);
    qfz_image seen = *image;
    if (!masked) seen.valid = NULL;
    uploaded up = upload(&seen);
    qfz_rule rule = {};
    rule.connectivity = check_chance(50) ? 4 : 8;
    rule.type = image->type;
    rule.n_bands = image->n_bands;
    rule.edge_bits = edge_bits;
    if (!edge_bits) given_levels_are(gpu, &seen, &up, rule);
    for (int d = 0; d < 4; d++) {
        rule.distance = (qfz_distance)d;
        rule_is(gpu, &seen, &up, &rule);
        if (rule.distance == QFZ_SAM || edge_bits) continue;
        float weights[4];
        for (int b = 0; b < image->n_bands; b++)
            weights[b] = check_chance(25) ? 0 : (float)check_pick(1000) / 7;
        weights[check_pick(image->n_bands)] = check_chance(20) ? 1 : 0.1f;
        rule.weights = weights;
        upload_weights(&up, weights);
        rule_is(gpu, &seen, &up, &rule);
        rule.weights = NULL;
    }
    upload_free(&up);
    hostile_free(&made);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 120);
    qfz_gpu gpu = open_gpu(&err);
    for (int64_t number = check_.first; number < check_.cases; number++)
        one_raster(&gpu, number);
    return check_end();
}
