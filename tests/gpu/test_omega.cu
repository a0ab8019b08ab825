/* SPDX-License-Identifier: MIT */
/* (alpha, omega)-components, against the CPU engine: of whole rasters, and of tiles with the
 * exteriors that stitching computes.  PROGRAM SEED CASES FIRST METHOD: by a published method. */
#include <algorithm>
#include <cstring>

#include "check.h"
#include "cpu_worker.h"
#include "core/engine.h"
#include "gpu/omega/omega.cuh"
#include "gpu/published/connect_tile.cuh"
#include "hostile.h"
#include "stitched.h"
#include "uploaded.h"

static qfz_error err;

static void must(bool good, const char *what)
{
    if (good) return;
    printf("the test itself failed: %s: %s\n", what, err.message);
    exit(1);
}

/* ---- Results of the CPU engine --------------------------------------------------------------- */

/* First pixels of regions, QFZ_NONE where invalid. */
static std::vector<uint32_t> cpu_roots(qfz_worker *cpu, const qfz_image *image,
                                       const qfz_exterior *exterior)
{
    const size_t n = (size_t)(image->h * image->w);
    qfz_partition partition = {};
    must(qfz_engine_cpu.partition(cpu, exterior, &partition, &err) == QFZ_OK, "partition");
    std::vector<uint32_t> roots(n);
    must(qfz_engine_cpu.number(cpu, NULL, &err) == QFZ_OK, "numbers");
    must(qfz_engine_cpu.labels(cpu, false, roots.data(), &err) == QFZ_OK, "labels");
    roots_of_labels(&roots);
    return roots;
}

/* ---- Results of the device ------------------------------------------------------------------- */

/* The method under test: CONNECT of a version, or, if that is 0, the default. */
static int version;

static size_t omega_bytes(const qfz_rule *rule, int64_t h, int64_t w)
{
    return version ? qfz_connect_omega_bytes(rule, (int32_t)h, (int32_t)w)
                   : qfz_gpu_omega_bytes(rule, (int32_t)h, (int32_t)w);
}

static qfz_status find_roots(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                             const qfz_gpu_omega_exterior *exterior, void *d_scratch,
                             uint32_t *d_root)
{
    if (!version) return qfz_gpu_omega(gpu, image, rule, exterior, d_scratch, d_root);
    return qfz_connect_omega(gpu, (qfz_gpu_connect)version, image, rule, exterior, QFZ_CONNECT_READ,
                             d_scratch, d_root);
}

static qfz_status find_links(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                             void *d_scratch, qfz_gpu_links *links, uint32_t **d_n)
{
    if (!version) return qfz_gpu_omega_links(gpu, image, rule, d_scratch, links, d_n);
    return qfz_connect_omega_links(gpu, (qfz_gpu_connect)version, image, rule, d_scratch, links,
                                   d_n);
}

static qfz_status find_ranges(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                              void *d_scratch, uint32_t n, qfz_gpu_ranges *ranges)
{
    return version ? qfz_connect_omega_ranges(gpu, image, rule, d_scratch, n, ranges)
                   : qfz_gpu_omega_ranges(gpu, image, rule, d_scratch, n, ranges);
}

static void same_roots(qfz_gpu *gpu, const qfz_image *image, const qfz_rule *rule,
                       const qfz_exterior *exterior, const std::vector<uint32_t> &want,
                       const char *what)
{
    const int64_t n = image->h * image->w;
    uploaded up = upload(image);
    void *const d_scratch = device_room<char>((int64_t)omega_bytes(rule, image->h, image->w));
    const bool apart = check_chance(50);
    uint32_t *const d_root = apart ? device_room<uint32_t>(n) : static_cast<uint32_t *>(d_scratch);
    qfz_gpu_omega_exterior on_device = {};
    uint32_t *d_border_region = NULL, *d_omega_level = NULL;
    if (exterior) {
        d_border_region = to_device(exterior->border_region, exterior->n_ring);
        d_omega_level = to_device(exterior->omega_level, exterior->n_ring);
        on_device = qfz_gpu_omega_exterior{d_border_region, d_omega_level};
    }
    CHECK(find_roots(gpu, &up.image, rule, exterior ? &on_device : NULL, d_scratch, d_root) ==
              QFZ_OK,
          "%s", err.message);
    const std::vector<uint32_t> got = from_device(gpu, d_root, n);
    int64_t wrong = 0, first = -1;
    for (int64_t i = 0; i < n; i++)
        if (got[(size_t)i] != want[(size_t)i] && wrong++ == 0) first = i;
    CHECK(wrong == 0, "%s: %lld of %lld pixels differ, first (%lld, %lld): %d is %d", what,
          (long long)wrong, (long long)n, (long long)(first % image->w),
          (long long)(first / image->w), first < 0 ? 0 : (int)want[(size_t)first],
          first < 0 ? 0 : (int)got[(size_t)first]);
    for (void *d : {(void *)d_border_region, (void *)d_omega_level, (void *)(apart ? d_root : NULL),
                    d_scratch})
        cudaFree(d);
    upload_free(&up);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

/* One value of the image as a number, exactly. */
static double value_of(const qfz_image *image, int64_t i)
{
    switch (image->type) {
    case QFZ_U8: return static_cast<const uint8_t *>(image->pixels)[i];
    case QFZ_I8: return static_cast<const int8_t *>(image->pixels)[i];
    case QFZ_U16: return static_cast<const uint16_t *>(image->pixels)[i];
    case QFZ_I16: return static_cast<const int16_t *>(image->pixels)[i];
    case QFZ_U32: return static_cast<const uint32_t *>(image->pixels)[i];
    case QFZ_I32: return static_cast<const int32_t *>(image->pixels)[i];
    case QFZ_F32: return (double)static_cast<const float *>(image->pixels)[i];
    }
    return 0;
}

/* A limit near a value that occurs: the difference of a pair, a little less, or an extreme value.
 */
static double some_omega(const qfz_image *image, int band)
{
    const int64_t n = image->h * image->w;
    const double width = std::fabs(value_of(image, band * n + check_pick(n)) -
                                   value_of(image, band * n + check_pick(n)));
    switch (check_pick(8)) {
    case 0: return 0;
    case 1: return INFINITY;
    case 2: return (double)check_pick(8);
    case 3: return std::max(0.0, std::nextafter(width, 0));
    default: return std::isfinite(width) ? width : 1;
    }
}

static uint32_t some_alpha(const qfz_image *image, const qfz_rule *rule, uint32_t max_level)
{
    const int64_t n = image->h * image->w;
    uint32_t key;
    if (check_chance(35)) return check_chance(50) ? UINT32_MAX : max_level;
    if (check_chance(15)) return 0;
    qfz_levels(image, rule, check_pick(n), check_pick(n), 1, &key);
    return key;
}

/* A rule for one band with distance linf and alpha without limit. */
static qfz_rule rule_of(qfz_type type, int connectivity, const double *omega)
{
    qfz_rule rule = {};
    rule.type = type;
    rule.n_bands = 1;
    rule.distance = QFZ_LINF;
    rule.connectivity = connectivity;
    rule.alpha_level = UINT32_MAX;
    rule.omega = omega;
    return rule;
}

/* Pixels of one band, all of them valid. */
static qfz_image image_of(qfz_type type, int64_t h, int64_t w, const void *pixels)
{
    qfz_image image = {};
    image.h = h;
    image.w = w;
    image.n_bands = 1;
    image.type = type;
    image.pixels = pixels;
    return image;
}

static void check_alone(qfz_gpu *gpu, const qfz_image *image, const qfz_rule *rule)
{
    qfz_worker *const cpu = cpu_worker(image, rule, QFZ_OMEGA);
    same_roots(gpu, image, rule, NULL, cpu_roots(cpu, image, NULL), "alone");
    qfz_engine_cpu.close(&cpu, 1);
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

static void cpu_summary(const qfz_image *tile, const qfz_rule *rule, qfz_summary *summary)
{
    qfz_worker *const cpu = cpu_worker(tile, rule, QFZ_OMEGA);
    must(qfz_engine_cpu.summarise(cpu, summary, &err) == QFZ_OK, "summarise");
    qfz_engine_cpu.close(&cpu, 1);
}

template <typename T> static void fetch(const qfz_gpu *gpu, void *to, const void *d_from, int64_t n)
{
    const std::vector<T> h = from_device(gpu, static_cast<const T *>(d_from), n);
    std::copy(h.begin(), h.end(), static_cast<T *>(to));
}

/* Appends range events, as many as n, that the device has made. */
static void fetch_ranges(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                         void *d_scratch, uint32_t n, qfz_ranges *ranges)
{
    const int64_t bytes = (int64_t)qfz_type_bytes(rule->type) * rule->n_bands, at = ranges->n;
    qfz_gpu_ranges d_ranges;
    must(qfz_ranges_reserve(ranges, at + n, rule, &err) == QFZ_OK, "ranges");
    CHECK(find_ranges(gpu, image, rule, d_scratch, n, &d_ranges) == QFZ_OK, "%s", err.message);
    fetch<uint32_t>(gpu, ranges->at + at, d_ranges.d_at, n);
    fetch<uint32_t>(gpu, ranges->level + at, d_ranges.d_level, n);
    fetch<char>(gpu, (char *)ranges->lo + at * bytes, d_ranges.d_lo, n * bytes);
    fetch<char>(gpu, (char *)ranges->hi + at * bytes, d_ranges.d_hi, n * bytes);
    ranges->n = at + n;
    must(qfz_ranges_merge(ranges, at, rule, &err) == QFZ_OK, "merged");
}

/* In parts of at most `most` items. */
static void fetch_parts(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                        void *d_scratch, const uint32_t *d_n, uint32_t n_items, uint32_t most,
                        qfz_ranges *ranges)
{
    for (uint32_t first = 0; first < n_items; first += most) {
        CHECK(qfz_gpu_omega_part(gpu, image, rule, d_scratch, first, most) == QFZ_OK, "%s",
              err.message);
        fetch_ranges(gpu, image, rule, d_scratch, from_device(gpu, d_n, 2)[1], ranges);
    }
}

static void gpu_summary(qfz_gpu *gpu, const qfz_image *tile, const qfz_rule *rule,
                        qfz_summary *summary)
{
    uploaded up = upload(tile);
    void *const d_scratch = device_room<char>((int64_t)omega_bytes(rule, tile->h, tile->w));
    qfz_gpu_links d_links;
    uint32_t *d_n = NULL;
    qfz_links *const links = &summary->links;
    must(qfz_summary_take_ring(summary, tile, rule, &err) == QFZ_OK, "the ring");
    CHECK(find_links(gpu, &up.image, rule, d_scratch, &d_links, &d_n) == QFZ_OK, "%s", err.message);
    const std::vector<uint32_t> n = from_device(gpu, d_n, version ? 2 : 3);
    must(qfz_links_reserve(links, n[0], &err) == QFZ_OK, "links");
    links->n = n[0];
    fetch<uint32_t>(gpu, links->u, d_links.d_u, links->n);
    fetch<uint32_t>(gpu, links->v, d_links.d_v, links->n);
    fetch<uint32_t>(gpu, links->level, d_links.d_level, links->n);
    const uint32_t most = version ? QFZ_NONE : qfz_gpu_omega_events(rule, tile->h, tile->w);
    if (n[1] > most)
        fetch_parts(gpu, &up.image, rule, d_scratch, d_n, n[2], most, &summary->ranges);
    else
        fetch_ranges(gpu, &up.image, rule, d_scratch, n[1], &summary->ranges);
    cudaFree(d_scratch);
    upload_free(&up);
}

/* Checks that lists are in ascending order, have ring pixels only, and no level above alpha. */
static void is_sound(const qfz_summary *summary, const qfz_rule *rule)
{
    const qfz_links *const l = &summary->links;
    const qfz_ranges *const a = &summary->ranges;
    bool good =
        std::is_sorted(l->level, l->level + l->n) && std::is_sorted(a->level, a->level + a->n);
    good = good && (l->n == 0 || l->level[l->n - 1] <= rule->alpha_level);
    good = good && (a->n == 0 || a->level[a->n - 1] <= rule->alpha_level);
    for (int64_t i = 0; i < l->n; i++)
        good = good && l->u[i] < summary->n_ring && l->v[i] < summary->n_ring;
    for (int64_t i = 0; i < a->n; i++)
        good = good && a->at[i] < summary->n_ring;
    CHECK(good, "%lld links, %lld ranges that no summary may have", (long long)l->n,
          (long long)a->n);
}

/* Regions of tiles with exteriors from the device's summaries equal those with exteriors from the
 * CPU's summaries. */
static void check_tiles(qfz_gpu *gpu, const qfz_image *image, const qfz_rule *rule, int64_t tile_h,
                        int64_t tile_w)
{
    stitched *const by_cpu = stitched_open(image, rule, QFZ_OMEGA, tile_h, tile_w);
    stitched *const by_gpu = stitched_open(image, rule, QFZ_OMEGA, tile_h, tile_w);
    const int64_t n_tiles = stitched_tiles(by_cpu);
    for (int64_t t = 0; n_tiles <= 60 && t < n_tiles; t++) {
        qfz_summary summary;
        must(qfz_summary_init(&summary, stitched_box(by_cpu, t), rule, &err) == QFZ_OK, "summary");
        cpu_summary(stitched_tile(by_cpu, t), rule, &summary);
        stitched_put(by_cpu, t, &summary);
        qfz_summary_fini(&summary);
        must(qfz_summary_init(&summary, stitched_box(by_gpu, t), rule, &err) == QFZ_OK, "summary");
        gpu_summary(gpu, stitched_tile(by_gpu, t), rule, &summary);
        is_sound(&summary, rule);
        stitched_put(by_gpu, t, &summary);
        qfz_summary_fini(&summary);
    }
    if (n_tiles <= 60) {
        stitched_solve(by_cpu);
        stitched_solve(by_gpu);
    }
    for (int64_t t = 0; n_tiles <= 60 && t < n_tiles; t++) {
        const qfz_image *const tile = stitched_tile(by_cpu, t);
        qfz_exterior want = {}, got = {};
        stitched_exterior(by_cpu, t, &want);
        stitched_exterior(by_gpu, t, &got);
        qfz_worker *const cpu = cpu_worker(tile, rule, QFZ_OMEGA);
        const std::vector<uint32_t> roots = cpu_roots(cpu, tile, want.n_ring ? &want : NULL);
        same_roots(gpu, tile, rule, want.n_ring ? &want : NULL, roots, "a tile");
        CHECK(cpu_roots(cpu, tile, got.n_ring ? &got : NULL) == roots,
              "tile %lld has other regions by the device's summaries", (long long)t);
        CHECK(
            got.n_ring == want.n_ring &&
                std::equal(want.border_region, want.border_region + want.n_ring, got.border_region),
            "tile %lld has other border_regions", (long long)t);
        qfz_engine_cpu.close(&cpu, 1);
        qfz_exterior_fini(&want);
        qfz_exterior_fini(&got);
    }
    stitched_close(by_cpu);
    stitched_close(by_gpu);
}

static void check_any_tiles(qfz_gpu *gpu, const qfz_image *image, const qfz_rule *rule)
{
    const int64_t tile_h = 1 + check_pick(image->h), tile_w = 1 + check_pick(image->w);
    check_tiles(gpu, image, rule, tile_h, tile_w);
}

/* Checks a raster as one tile and in tiles, with random limits. */
static void check_raster(qfz_gpu *gpu, const qfz_image *image, qfz_distance distance,
                         const char *what)
{
    double omega[4];
    qfz_rule rule = {};
    uint32_t max_level;
    rule.type = image->type;
    rule.n_bands = image->n_bands;
    rule.distance = distance;
    rule.connectivity = check_chance(50) ? 4 : 8;
    must(qfz_max_level(&rule, &max_level, &err) == QFZ_OK, "keys");
    rule.alpha_level = some_alpha(image, &rule, max_level);
    for (int b = 0; b < image->n_bands; b++)
        omega[b] = some_omega(image, b);
    if (!check_chance(5)) rule.omega = omega;
    check_describe("%s; distance %d, connectivity %d, alpha %u, omega %g", what, rule.distance,
                   rule.connectivity, rule.alpha_level, rule.omega ? omega[0] : -1.0);
    check_alone(gpu, image, &rule);
    check_any_tiles(gpu, image, &rule);
}

static void random_raster(qfz_gpu *gpu, int64_t number)
{
    hostile made;
    const int64_t sides[] = {20, 80, 210};
    const int type = number % 7 == 6  ? (int)QFZ_F32 /* squares underflow */
                     : number % 5 < 3 ? (int)(number % 4)
                                      : -1; /* mostly levels of 16 bits */
    hostile_make(&made, check_.seed, number, sides[number % 3], type, type >= 0 ? 1 : 3);
    check_case(number, "%s", made.what);
    qfz_image seen = made.image;
    if (check_chance(25)) seen.valid = NULL;
    check_raster(gpu, &seen, check_chance(60) && number % 7 != 6 ? QFZ_LINF : QFZ_L2, made.what);
    hostile_free(&made);
}

/* Hills on hills: nested components over many blocks and many levels. */
static std::vector<uint16_t> hills(int64_t side)
{
    std::vector<uint16_t> px((size_t)(side * side), 20000);
    std::vector<int> at((size_t)(side * side));
    for (int64_t step = 128; step >= 1; step /= 2) {
        const int64_t n = side / step + 2;
        for (int64_t i = 0; i < n * n; i++)
            at[(size_t)i % at.size()] = (int)check_pick(step * 40 + 20);
        for (int64_t p = 0; p < side * side; p++)
            px[(size_t)p] =
                (uint16_t)(px[(size_t)p] + at[(size_t)((p / side / step * n + p % side / step) %
                                                       (int64_t)at.size())]);
    }
    return px;
}

static void hilly_raster(qfz_gpu *gpu, int64_t number)
{
    check_case(number, "hills");
    const int64_t side = 150 + check_pick(120);
    const std::vector<uint16_t> px = hills(side);
    const qfz_image image = image_of(QFZ_U16, side, side, px.data());
    for (const double omega : {300.0, 1500.0, 4000.0, 8000.0}) {
        qfz_rule rule = rule_of(QFZ_U16, check_chance(50) ? 4 : 8, &omega);
        if (check_chance(50)) rule.alpha_level = (uint32_t)omega / 2;
        check_describe("hills, omega %g, alpha %u", omega, rule.alpha_level);
        check_alone(gpu, &image, &rule);
        check_any_tiles(gpu, &image, &rule);
    }
}

/* Levels of 2^32 - 1 join, too, where alpha and omega permit it. */
static void greatest_level(qfz_gpu *gpu, double omega, uint32_t alpha, bool in_tiles)
{
    const uint32_t values[] = {0, UINT32_MAX, 1, UINT32_MAX, 0, 0, 5, UINT32_MAX - 1, 0, 7};
    const qfz_image image = image_of(QFZ_U32, 1, sizeof values / sizeof *values, values);
    qfz_rule rule = rule_of(QFZ_U32, 4, &omega);
    rule.alpha_level = alpha;
    check_case(0, "greatest levels, omega %.17g, alpha %u", omega, alpha);
    check_alone(gpu, &image, &rule);
    if (in_tiles) check_any_tiles(gpu, &image, &rule);
}

static void greatest_levels(qfz_gpu *gpu)
{
    for (const double omega : {(double)INFINITY, 4294967295.0, 4294967294.0, 5.0})
        for (const uint32_t alpha : {UINT32_MAX, UINT32_MAX - 1})
            greatest_level(gpu, omega, alpha, true);
}

/* Squares of small differences underflow, so that components of level 0 have unequal pixels, and
 * qualify all the same.  Slanted stripes of such components over many blocks, with larger steps
 * between stripes. */
static void vanishing_squares(qfz_gpu *gpu)
{
    enum { H = 70, W = 210 };
    static const double omega = 0;
    std::vector<float> px(H * W);
    for (int i = 0; i < H * W; i++) {
        const int stripe = i / W + i % W;
        px[(size_t)i] = (stripe / 6 % 2 ? 1.0f : 0.0f) * (float)(1 << stripe / 24) +
                        (stripe % 2 ? 1e-26f : 0.0f);
    }
    const qfz_image image = image_of(QFZ_F32, H, W, px.data());
    for (const int connectivity : {4, 8}) {
        qfz_rule rule = rule_of(QFZ_F32, connectivity, &omega);
        rule.distance = QFZ_L2;
        check_case(0, "vanishing squares, %d-connected", connectivity);
        check_alone(gpu, &image, &rule);
        check_any_tiles(gpu, &image, &rule);
    }
}

/* Pairs of equal pixels: as many components as a block can have, most of them parts of a few too
 * wide components. */
static void dominoes(qfz_gpu *gpu)
{
    enum { SIDE = 130 };
    std::vector<uint8_t> px(SIDE * SIDE);
    check_case(0, "dominoes");
    for (size_t i = 0; i < px.size(); i++)
        px[i] = i % 2 ? px[i - 1] : (uint8_t)(check_pick(20) * 3);
    const qfz_image image = image_of(QFZ_U8, SIDE, SIDE, px.data());
    for (const double omega : {20.0, 40.0, 56.0})
        for (const int connectivity : {4, 8}) {
            const qfz_rule rule = rule_of(QFZ_U8, connectivity, &omega);
            check_describe("dominoes, %d-connected, omega %g", connectivity, omega);
            check_alone(gpu, &image, &rule);
            check_any_tiles(gpu, &image, &rule);
        }
}

/* A quarter of the pixels lie alone in a background, at levels of their own: more range events than
 * one part of a summary has, and more undecided parts than a list has (omega_memory.cu).  Values
 * are above the background or, in every second block, below it, so that with the second omega no
 * block is too wide, but the raster is.  The published methods climb one level at a time, so they
 * get fewer pixels. */
static void isolated_pixels(qfz_gpu *gpu)
{
    enum { BLOCK = 64, BACKGROUND = 30000 };
    const int h = version ? 130 : 300, w = 2 * h, n = h / 2 * (w / 2), largest = n / 2;
    std::vector<uint16_t> px((size_t)(h * w), BACKGROUND);
    std::vector<int> level((size_t)n);
    for (size_t i = 0; i < level.size(); i++) {
        level[i] = (int)i / 2 + 1;
        std::swap(level[i], level[(size_t)check_pick((int64_t)i + 1)]);
    }
    for (int i = 0; i < n; i++) {
        const int y = i / (w / 2) * 2 + 1, x = i % (w / 2) * 2 + 1;
        const int step = x / BLOCK % 2 ? level[(size_t)i] : -level[(size_t)i];
        px[(size_t)(y * w + x)] = (uint16_t)(BACKGROUND + step);
    }
    const qfz_image image = image_of(QFZ_U16, h, w, px.data());
    check_case(0, "isolated pixels");
    for (const double omega : {2.0 * largest, largest * 4 / 3.0, largest * 2 / 5.0})
        for (const int connectivity : {4, 8}) {
            const qfz_rule rule = rule_of(QFZ_U16, connectivity, &omega);
            check_describe("isolated pixels, %d-connected, omega %g", connectivity, omega);
            check_alone(gpu, &image, &rule);
            check_tiles(gpu, &image, &rule, h, w / 2);
        }
}

/* Diagonal stripes that rise and fall by small steps: every component leaves its blocks, so that
 * nearly every pixel is a part of its own, and hardly any of them widens a range. */
static void few_events(qfz_gpu *gpu)
{
    enum { SIDE = 300, STEP = 5 };
    static const double omega = 500;
    std::vector<uint16_t> value(2 * SIDE, 30000), px(SIDE * SIDE);
    if (version) return;
    check_case(0, "few events");
    for (size_t i = 1; i < value.size(); i++)
        value[i] = (uint16_t)(value[i - 1] + check_pick(2 * STEP + 1) - STEP);
    for (size_t i = 0; i < px.size(); i++)
        px[i] = value[i / SIDE + i % SIDE];
    const qfz_image image = image_of(QFZ_U16, SIDE, SIDE, px.data());
    for (const int connectivity : {4, 8}) {
        qfz_summary summary;
        qfz_rule rule = rule_of(QFZ_U16, connectivity, &omega);
        rule.alpha_level = STEP;
        must(qfz_summary_init(&summary, qfz_box{0, 0, SIDE, SIDE}, &rule, &err) == QFZ_OK,
             "summary");
        gpu_summary(gpu, &image, &rule, &summary);
        CHECK(summary.ranges.n < 2 * summary.n_ring, "%lld range events of %lld ring pixels",
              (long long)summary.ranges.n, (long long)summary.n_ring);
        qfz_summary_fini(&summary);
        check_tiles(gpu, &image, &rule, SIDE, SIDE / 2);
    }
}

/* The memory of a tile is enough for every smaller tile. */
static void smaller_tiles_fit(void)
{
    static const double omega[] = {1, 1, 1};
    static const qfz_type types[] = {QFZ_U8, QFZ_U16, QFZ_F32};
    if (version) return;
    check_case(0, "memory of smaller tiles");
    for (int i = 0; i < 20000; i++) {
        qfz_rule rule = rule_of(types[i % 3], i % 2 ? 4 : 8, omega);
        rule.n_bands = i % 5 ? 1 : 3;
        const int64_t most = i % 7 ? 700 : 5000;
        const int64_t h = 1 + check_pick(most), w = 1 + check_pick(most),
                      low_h = i % 4 ? h : 1 + check_pick(h), low_w = 1 + check_pick(w);
        CHECK(omega_bytes(&rule, low_h, low_w) <= omega_bytes(&rule, h, w),
              "%lld x %lld needs more than %lld x %lld", (long long)low_h, (long long)low_w,
              (long long)h, (long long)w);
    }
}

/* Numbers of parts have 31 bits. */
static void refuses_too_many_parts(qfz_gpu *gpu)
{
    static const double omega = 1;
    const qfz_rule rule = rule_of(QFZ_U8, 4, &omega);
    const qfz_gpu_image image = {45000, 45000, 1, QFZ_U8, NULL, NULL, NULL, NULL, NULL};
    if (version) return;
    check_case(0, "a tile of 2 Gpixel");
    CHECK(qfz_gpu_omega(gpu, &image, &rule, NULL, NULL, NULL) == QFZ_EARG, "taken");
}

/* Plateaus with a little noise, in four blocks, three of which are not whole. */
template <typename T>
static void small_raster(qfz_gpu *gpu, qfz_type type, int connectivity, bool in_tiles)
{
    enum { H = 65, W = 66 };
    check_case(0, "%s, %d x %d, %d-connected", qfz_type_name(type), H, W, connectivity);
    const double omega = (double)(2 + check_pick(6));
    std::vector<T> px(H * W);
    for (int i = 0; i < H * W; i++)
        px[(size_t)i] = (T)(i / W / 9 * 3 + i % W / 23 * 5 + check_pick(4));
    const qfz_image image = image_of(type, H, W, px.data());
    const qfz_rule rule = rule_of(type, connectivity, &omega);
    check_alone(gpu, &image, &rule);
    if (in_tiles) check_tiles(gpu, &image, &rule, H, W / 2);
}

/* Three bands with a little noise, of which one, the other two, or none can be too wide: what a
 * block does for a band must have ended before the next one. */
static void small_bands(qfz_gpu *gpu)
{
    enum { H = 20, W = 66, BANDS = 3 };
    static const double limits[][BANDS] = {
        {INFINITY, 5, INFINITY}, {5, INFINITY, 4}, {INFINITY, INFINITY, INFINITY}};
    std::vector<uint16_t> px(BANDS * H * W);
    check_case(0, "three bands");
    for (size_t i = 0; i < px.size(); i++)
        px[i] = (uint16_t)(i % W / 23 * 5 + check_pick(4));
    qfz_image image = image_of(QFZ_U16, H, W, px.data());
    image.n_bands = BANDS;
    for (const double(&omega)[BANDS] : limits) {
        qfz_rule rule = rule_of(QFZ_U16, 4, omega);
        rule.n_bands = BANDS;
        check_alone(gpu, &image, &rule);
    }
}

/* Small cases for tools that slow kernels down ten thousandfold: every kernel, for each width of
 * levels. */
static void small_rasters(qfz_gpu *gpu)
{
    for (const int connectivity : {4, 8}) {
        small_raster<uint8_t>(gpu, QFZ_U8, connectivity, connectivity == 4);
        small_raster<uint16_t>(gpu, QFZ_U16, connectivity, connectivity == 8);
        small_raster<float>(gpu, QFZ_F32, connectivity, connectivity == 4);
    }
    greatest_level(gpu, INFINITY, UINT32_MAX, false);
    small_bands(gpu);
}

/* PROGRAM SEED 0: small cases only. */
int main(int argc, char **argv)
{
    check_begin(argc, argv, 36);
    if (argc > 4) version = strcmp(argv[4], "connect-v1") == 0 ? QFZ_CONNECT_V1 : QFZ_CONNECT_V2;
    qfz_gpu gpu = open_gpu(&err);
    if (check_.first == 0) small_rasters(&gpu);
    if (check_.first == 0 && check_.cases > 0) {
        greatest_levels(&gpu);
        vanishing_squares(&gpu);
        dominoes(&gpu);
        isolated_pixels(&gpu);
        few_events(&gpu);
        smaller_tiles_fit();
        refuses_too_many_parts(&gpu);
    }
    for (int64_t i = check_.first; i < check_.cases; i++)
        random_raster(&gpu, i);
    for (int64_t i = check_.first; i < check_.cases; i += 12)
        hilly_raster(&gpu, i);
    return check_end();
}
