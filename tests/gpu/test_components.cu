/* SPDX-License-Identifier: MIT */
/* Components of tiles on the device, against the CPU engine's: the first pixel of each component.
 */
#include <cstring>

#include "check.h"
#include "cpu_worker.h"
#include "core/engine.h"
#include "gpu/components/components.cuh"
#include "hostile.h"
#include "uploaded.h"

static qfz_error err;

/* The CPU engine's result: the first pixel of each pixel's region, QFZ_NONE where invalid. */
static std::vector<uint32_t> host_roots(const qfz_image *image, const qfz_rule *rule)
{
    const size_t n_px = (size_t)(image->h * image->w);
    std::vector<uint32_t> roots(n_px);
    qfz_worker *const worker = cpu_worker(image, rule, QFZ_COMPONENTS);
    qfz_partition partition;
    const qfz_engine *const cpu = &qfz_engine_cpu;
    const bool done = cpu->partition(worker, NULL, &partition, &err) == QFZ_OK &&
                      cpu->number(worker, NULL, &err) == QFZ_OK &&
                      cpu->labels(worker, false, roots.data(), &err) == QFZ_OK;
    CHECK(done, "CPU engine: %s", err.message);
    roots_of_labels(&roots);
    cpu->close(&worker, 1);
    return roots;
}

static void roots_are(const std::vector<uint32_t> &got, const std::vector<uint32_t> &want)
{
    size_t wrong = 0, at = 0;
    for (size_t p = 0; p < want.size(); p++)
        if (got[p] != want[p] && wrong++ == 0) at = p;
    CHECK(wrong == 0, "%zu pixels are wrong; the first, %zu, is %u, not %u", wrong, at, got[at],
          want[at]);
}

static void components_are(qfz_gpu *gpu, const qfz_image *image, const qfz_rule *rule)
{
    const int64_t n_px = image->h * image->w;
    const std::vector<uint32_t> want = host_roots(image, rule);
    uploaded up = upload(image);
    const int32_t h = up.image.h, w = up.image.w;
    char *const d_scratch = device_room<char>((int64_t)qfz_gpu_components_bytes(rule, h, w));
    uint32_t *const d_root = device_room<uint32_t>(n_px);
    CHECK(qfz_gpu_components(gpu, &up.image, rule, d_scratch, d_root) == QFZ_OK, "%s", err.message);
    roots_are(from_device(gpu, d_root, n_px), want);
    cudaFree(d_scratch);
    cudaFree(d_root);
    upload_free(&up);
}

static void random_raster(qfz_gpu *gpu, int64_t number)
{
    hostile made;
    const bool edge_bits = number % 11 == 0;
    hostile_make(&made, check_.seed, number, number % 3 ? 150 : 300, edge_bits ? QFZ_U8 : -1,
                 edge_bits || check_chance(60) ? 1 : 4);
    check_case(number, "%s", made.what);
    qfz_image seen = made.image;
    if (check_chance(25)) seen.valid = NULL;
    qfz_rule rule = {};
    rule.type = seen.type;
    rule.n_bands = seen.n_bands;
    rule.edge_bits = edge_bits;
    rule.distance = (qfz_distance)check_pick(3);
    rule.connectivity = check_chance(50) ? 4 : 8;
    const int64_t p = check_pick(seen.h * seen.w), q = check_pick(seen.h * seen.w);
    if (check_chance(60)) qfz_levels(&seen, &rule, p, q, 1, &rule.alpha_level);
    if (edge_bits) rule.alpha_level = UINT32_MAX;
    uint32_t max_level;
    qfz_error refused = {};
    if (qfz_max_level(&rule, &max_level, &refused) != QFZ_OK) rule.distance = QFZ_LINF;
    components_are(gpu, &seen, &rule);
    hostile_free(&made);
}

/* Steps of integers of each width, of equal values and of values that differ by 1. */
template <typename T> static void small_raster(qfz_gpu *gpu, qfz_type type)
{
    enum { H = 66, W = 140 };
    std::vector<T> px(H * W);
    for (size_t i = 0; i < px.size(); i++)
        px[i] = (T)(i / W / 9 * 3 + i % W / 23 * 5 + (size_t)check_pick(3));
    qfz_image image = {};
    image.h = H;
    image.w = W;
    image.n_bands = 1;
    image.type = type;
    image.pixels = px.data();
    for (const int connectivity : {4, 8})
        for (const uint32_t alpha : {0u, 1u}) {
            check_case(0, "%s, %d-connected, alpha %u", qfz_type_name(type), connectivity, alpha);
            qfz_rule rule = {};
            rule.type = type;
            rule.n_bands = 1;
            rule.connectivity = connectivity;
            rule.alpha_level = alpha;
            components_are(gpu, &image, &rule);
        }
}

static void bytes_are(qfz_gpu *gpu, int64_t h, int64_t w, const std::vector<uint8_t> &px,
                      const uint8_t *valid, const qfz_rule *rule)
{
    qfz_image image = {};
    image.h = h;
    image.w = w;
    image.n_bands = 1;
    image.type = QFZ_U8;
    image.pixels = px.data();
    image.valid = valid;
    components_are(gpu, &image, rule);
}

/* Squares of grain x grain pixels, each set with a probability, and valid where set. */
static void binary_noise(qfz_gpu *gpu, int64_t h, int64_t w, int grain, int density, int joined)
{
    check_case(density, "noise, %lld x %lld, grain %d, density %d, %d-connected", (long long)w,
               (long long)h, grain, density, joined);
    std::vector<uint8_t> px((size_t)(h * w)), squares((size_t)(h * w));
    for (uint8_t &square : squares)
        square = check_chance(density);
    for (int64_t p = 0; p < h * w; p++)
        px[(size_t)p] = squares[(size_t)(p / w / grain * w + p % w / grain)];
    qfz_rule rule = {};
    rule.type = QFZ_U8;
    rule.n_bands = 1;
    rule.connectivity = joined;
    bytes_are(gpu, h, w, px, px.data(), &rule);
}

static void bytes_that_differ_by_one(qfz_gpu *gpu, int64_t h, int64_t w,
                                     const std::vector<uint8_t> &px)
{
    qfz_rule rule = {};
    rule.type = QFZ_U8;
    rule.n_bands = 1;
    rule.connectivity = 8;
    rule.alpha_level = 1;
    bytes_are(gpu, h, w, px, NULL, &rule);
}

/* Random values of which adjacent values join, with components that stay small: two pixels that
 * join a third need not join each other, so any edge that is omitted at a seam changes the result.
 */
static void levels_noise(qfz_gpu *gpu, int64_t h, int64_t w, int levels)
{
    check_case(levels, "noise of %d levels, %lld x %lld", levels, (long long)w, (long long)h);
    std::vector<uint8_t> px((size_t)(h * w));
    for (uint8_t &value : px)
        value = (uint8_t)check_pick(levels);
    bytes_that_differ_by_one(gpu, h, w, px);
}

/* Every pixel is a run, linked to two runs of the row above: more links than fit a block's memory
 * beside its runs. */
static void crowded_links(qfz_gpu *gpu, int64_t h, int64_t w)
{
    check_case(0, "crowded links, %lld x %lld", (long long)w, (long long)h);
    std::vector<uint8_t> px((size_t)(h * w));
    for (int64_t p = 0; p < h * w; p++)
        px[(size_t)p] = (uint8_t)(p / w % 2 + 2 * (p % w % 2));
    bytes_that_differ_by_one(gpu, h, w, px);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 150);
    qfz_gpu gpu = open_gpu(&err);
    for (int64_t number = check_.first; number < check_.cases; number++)
        random_raster(&gpu, number);
    if (check_.first == 0) {
        small_raster<uint8_t>(&gpu, QFZ_U8);
        small_raster<uint16_t>(&gpu, QFZ_U16);
        small_raster<uint32_t>(&gpu, QFZ_U32);
    }
    for (int joined = 4; joined <= 8; joined += 4)
        for (int grain = 1; grain <= 16; grain *= 4)
            for (int density = 20; density <= 80; density += 20)
                binary_noise(&gpu, 200, 256, grain, density, joined);
    for (int levels = 10; levels <= 22; levels += 6)
        levels_noise(&gpu, 256, 320, levels);
    crowded_links(&gpu, 130, 200);
    return check_end();
}
