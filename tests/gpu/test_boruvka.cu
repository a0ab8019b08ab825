/* SPDX-License-Identifier: MIT */
/* Saliency and border links by Boruvka's algorithm, against the CPU engine. */
#include <algorithm>
#include <cstring>

#include "check.h"
#include "cpu_worker.h"
#include "core/engine.h"
#include "gpu/forest/boruvka_parts.cuh"
#include "gpu/saliency/saliency_tile.cuh"
#include "hostile.h"
#include "uploaded.h"

static qfz_error err;

namespace
{
/* One raster, on the host and on the device. */
struct tile {
    qfz_image image;
    qfz_rule rule;
    int64_t n_px, n_ring;
    qfz_worker *cpu;
    qfz_gpu *gpu;
    uploaded up;
    uint32_t *d_edge_levels;
    qfz_gpu_edges edges;
};
} // namespace

static void must(bool good, const char *what)
{
    if (good) return;
    printf("the test itself failed: %s: %s\n", what, err.message);
    exit(1);
}

static tile open_tile(qfz_gpu *gpu, const qfz_image *image, const qfz_rule *rule)
{
    tile t = {};
    t.image = *image;
    t.rule = *rule;
    t.gpu = gpu;
    t.n_px = image->h * image->w;
    t.n_ring = qfz_ring_size(image->h, image->w);
    t.up = upload(image);
    t.d_edge_levels = device_room<uint32_t>((int64_t)qfz_gpu_edges_bytes(rule, t.n_px) / 4);
    must(qfz_gpu_edges_make(gpu, &t.up.image, rule, t.d_edge_levels, &t.edges) == QFZ_OK, "edges");
    t.cpu = cpu_worker(&t.image, rule, QFZ_LEVELS);
    return t;
}

static void close_tile(tile *t)
{
    qfz_engine_cpu.close(&t->cpu, 1);
    upload_free(&t->up);
    cudaFree(t->d_edge_levels);
}

/* ---- Saliency -------------------------------------------------------------------------------- */

/* In narrow planes, a missing edge and one of the greatest level have the same value. */
static int64_t count_wrong(const tile *t, const std::vector<uint32_t> &got, const uint32_t *want,
                           int64_t *first)
{
    const bool narrow = qfz_gpu_is_narrow(&t->edges);
    int64_t wrong = 0;
    *first = -1;
    for (size_t i = 0; i < got.size(); i++)
        if (got[i] != (narrow ? (uint16_t)want[i] : want[i]) && wrong++ == 0) *first = (int64_t)i;
    return wrong;
}

static std::vector<uint32_t> fetch_saliency(const tile *t, void *d, int64_t n)
{
    if (!qfz_gpu_is_narrow(&t->edges)) return from_device(t->gpu, static_cast<uint32_t *>(d), n);
    const std::vector<uint16_t> narrow = from_device(t->gpu, static_cast<uint16_t *>(d), n);
    return std::vector<uint32_t>(narrow.begin(), narrow.end());
}

static void check_saliency(const tile *t, const qfz_gpu_links *external, const uint32_t *want,
                           const char *what)
{
    const int64_t n = t->n_px * qfz_n_dirs(&t->rule);
    const int64_t bytes = (int64_t)qfz_gpu_saliency_bytes(&t->edges, external ? external->n : 0);
    void *const d_memory = device_room<char>(bytes), *d_saliency = NULL;
    CHECK(qfz_gpu_saliency(t->gpu, &t->edges, external, d_memory, &d_saliency) == QFZ_OK, "%s",
          err.message);
    const std::vector<uint32_t> got = fetch_saliency(t, d_saliency, n);
    int64_t first = -1;
    const int64_t wrong = count_wrong(t, got, want, &first);
    CHECK(wrong == 0, "%s: %lld of %lld levels differ, first %lld: %u is %u", what,
          (long long)wrong, (long long)n, (long long)first, first < 0 ? 0 : want[first],
          first < 0 ? 0 : got[(size_t)first]);
    cudaFree(d_memory);
}

static std::vector<uint32_t> cpu_saliency(const tile *t, const qfz_exterior *exterior)
{
    std::vector<uint32_t> keys((size_t)(t->n_px * qfz_n_dirs(&t->rule)));
    must(qfz_engine_cpu.saliency(t->cpu, exterior, sizeof keys[0], keys.data(), &err) == QFZ_OK,
         "saliency");
    return keys;
}

/* ---- External links -------------------------------------------------------------------------- */

namespace
{
struct host_links {
    std::vector<uint32_t> u, v, level;
};
} // namespace

static qfz_gpu_links links_to_device(const host_links &links)
{
    qfz_gpu_links d = {(int64_t)links.u.size(), to_device(links.u), to_device(links.v),
                       to_device(links.level)};
    return d;
}

static void links_free(qfz_gpu_links *links)
{
    cudaFree(links->d_u);
    cudaFree(links->d_v);
    cudaFree(links->d_level);
}

static bool ring_is_valid(const tile *t, uint32_t i)
{
    int64_t y, x;
    qfz_ring_place(t->image.h, t->image.w, i, &y, &x);
    return !t->image.valid || t->image.valid[y * t->image.w + x];
}

/* External links, many of them lighter than all edges inside. */
static host_links random_external(const tile *t)
{
    host_links external;
    const uint32_t most = check_chance(50) ? 3 : t->edges.max_level;
    for (int64_t k = check_pick(t->n_ring); k > 0; k--) {
        const uint32_t u = (uint32_t)check_pick(t->n_ring), v = (uint32_t)check_pick(t->n_ring);
        if (!ring_is_valid(t, u) || !ring_is_valid(t, v)) continue;
        external.u.push_back(u);
        external.v.push_back(v);
        external.level.push_back((uint32_t)check_pick((int64_t)most));
    }
    return external;
}

static void check_external(const tile *t)
{
    host_links external = random_external(t);
    std::vector<uint32_t> cross((size_t)(t->n_ring * QFZ_MAX_DIRS));
    std::vector<uint8_t> cross_has((size_t)t->n_ring);
    qfz_exterior exterior = {};
    exterior.n_ring = t->n_ring;
    exterior.external.n = (int64_t)external.u.size();
    exterior.external.u = external.u.data();
    exterior.external.v = external.v.data();
    exterior.external.level = external.level.data();
    exterior.cross = cross.data();
    exterior.cross_has = cross_has.data();
    const std::vector<uint32_t> want = cpu_saliency(t, &exterior);
    qfz_gpu_links on_device = links_to_device(external);
    check_saliency(t, &on_device, want.data(), "with external");
    links_free(&on_device);
}

/* ---- Border links ---------------------------------------------------------------------------- */

namespace
{
/* Components of ring pixels after all links up to a level. */
struct partition {
    std::vector<uint32_t> label; /* the least member of each pixel's component */
    size_t at;

    void advance(const host_links &links, uint32_t level)
    {
        for (; at < links.u.size() && links.level[at] <= level; at++) {
            const uint32_t a = label[links.u[at]], b = label[links.v[at]];
            for (uint32_t &l : label)
                if (l == std::max(a, b)) l = std::min(a, b);
        }
    }
};
} // namespace

static partition partition_of(int64_t n)
{
    partition p = {std::vector<uint32_t>((size_t)n), 0};
    for (size_t i = 0; i < p.label.size(); i++)
        p.label[i] = (uint32_t)i;
    return p;
}

static void same_minimax(const tile *t, const host_links &got, const host_links &want)
{
    CHECK(std::is_sorted(got.level.begin(), got.level.end()), "links do not ascend");
    CHECK((int64_t)got.u.size() < t->n_ring, "%zu links of %lld ring pixels", got.u.size(),
          (long long)t->n_ring);
    for (size_t i = 0; i < got.u.size(); i++)
        if (!CHECK(got.u[i] < t->n_ring && got.v[i] < t->n_ring, "link %zu: %u - %u", i, got.u[i],
                   got.v[i]))
            return;
    std::vector<uint32_t> levels = got.level;
    levels.insert(levels.end(), want.level.begin(), want.level.end());
    std::sort(levels.begin(), levels.end());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    partition a = partition_of(t->n_ring), b = partition_of(t->n_ring);
    for (const uint32_t level : levels) {
        a.advance(got, level);
        b.advance(want, level);
        if (!CHECK(a.label == b.label, "up to level %u the ring differs", level)) return;
    }
}

static host_links cpu_links(const tile *t)
{
    const qfz_image *const image = &t->image;
    const qfz_box box = {0, 0, image->h, image->w};
    qfz_summary summary;
    host_links links;
    must(qfz_summary_init(&summary, box, &t->rule, &err) == QFZ_OK, "summary");
    must(qfz_engine_cpu.summarise(t->cpu, &summary, &err) == QFZ_OK, "summarise");
    for (int64_t i = 0; i < summary.links.n; i++) {
        if (summary.links.level[i] == QFZ_NONE) break; /* the same as no link */
        links.u.push_back(summary.links.u[i]);
        links.v.push_back(summary.links.v[i]);
        links.level.push_back(summary.links.level[i]);
    }
    qfz_summary_fini(&summary);
    return links;
}

/* The second list of edges is shorter than the first one. */
static void check_room(const tile *t, const qfz_gpu_forest *forest)
{
    const std::vector<uint32_t> counts = from_device(t->gpu, forest->count, QFZ_COUNTERS);
    const int64_t n = counts[QFZ_COUNT_EDGES], left = counts[QFZ_COUNT_EDGES + 1];
    CHECK(n <= forest->edge_room, "%lld edges, room for %lld", (long long)n,
          (long long)forest->edge_room);
    CHECK(left <= forest->left_room, "%lld edges left, room for %lld", (long long)left,
          (long long)forest->left_room);
}

/* Checks the links of a forest; with these as external links the saliency is the same, because they
 * connect nothing at lower levels. */
static void check_border_links(const tile *t, const std::vector<uint32_t> &want)
{
    qfz_gpu_forest forest;
    void *const d_forest = device_room<char>((int64_t)qfz_gpu_ring_forest_bytes(&t->edges));
    void *const d_scratch =
        device_room<char>((int64_t)qfz_gpu_border_links_bytes(t->edges.h, t->edges.w));
    uint32_t *const d_n = device_room<uint32_t>(1);
    qfz_gpu_links links = {0, device_room<uint32_t>(t->n_ring), device_room<uint32_t>(t->n_ring),
                           device_room<uint32_t>(t->n_ring)};
    CHECK(qfz_gpu_ring_forest_make(t->gpu, &t->edges, d_forest, &forest) == QFZ_OK, "%s",
          err.message);
    check_room(t, &forest);
    CHECK(qfz_gpu_border_links(t->gpu, &forest, d_scratch, &links, d_n) == QFZ_OK, "%s",
          err.message);
    links.n = from_device(t->gpu, d_n, 1)[0];
    if (CHECK(links.n < t->n_ring, "%lld links", (long long)links.n)) {
        const host_links got = {from_device(t->gpu, links.d_u, links.n),
                                from_device(t->gpu, links.d_v, links.n),
                                from_device(t->gpu, links.d_level, links.n)};
        same_minimax(t, got, cpu_links(t));
        check_saliency(t, &links, want.data(), "with its own links");
    }
    links_free(&links);
    cudaFree(d_n);
    cudaFree(d_scratch);
    cudaFree(d_forest);
}

/* ---- Without planes of levels ---------------------------------------------------------------- */

static void check_band(tile *t, const std::vector<uint32_t> &want)
{
    const bool nan = qfz_gpu_edges_know_nan(&t->rule) && t->up.image.d_valid && check_chance(50);
    if (nan) must(upload_nan(t->gpu, &t->up) == QFZ_OK, "NaN");
    must(qfz_gpu_edges_make(t->gpu, &t->up.image, &t->rule, NULL, &t->edges) == QFZ_OK, "edges");
    check_saliency(t, NULL, want.data(), "out of the band");
    check_external(t);
    check_border_links(t, want);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static void check_tile(qfz_gpu *gpu, const qfz_image *image, const qfz_rule *rule)
{
    tile t = open_tile(gpu, image, rule);
    const std::vector<uint32_t> want = cpu_saliency(&t, NULL);
    check_saliency(&t, NULL, want.data(), "alone");
    check_external(&t);
    check_border_links(&t, want);
    if (!qfz_gpu_edges_need_levels(rule)) check_band(&t, want);
    close_tile(&t);
}

static void random_raster(qfz_gpu *gpu, int64_t number)
{
    hostile made;
    const int64_t sides[] = {20, 80, 210, 400};
    const int type = number % 5 < 3 ? (int)(number % 4) : -1; /* mostly levels of 16 bits */
    hostile_make(&made, check_.seed, number, sides[number % 4], type, type >= 0 ? 1 : 3);
    check_case(number, "%s", made.what);
    qfz_image seen = made.image;
    if (check_chance(25)) seen.valid = NULL;
    qfz_rule rule = {};
    rule.type = seen.type;
    rule.n_bands = seen.n_bands;
    rule.distance = check_chance(60) ? QFZ_LINF : QFZ_L2;
    rule.connectivity = check_chance(50) ? 4 : 8;
    rule.alpha_level = UINT32_MAX;
    check_describe("%s; distance %d, connectivity %d", made.what, rule.distance, rule.connectivity);
    check_tile(gpu, &seen, &rule);
    hostile_free(&made);
}

/* Pixels of an image's type, from whole numbers below 65536. */
template <typename T>
static std::vector<char> cast_to(const std::vector<uint16_t> &values, T factor)
{
    std::vector<char> bytes(values.size() * sizeof(T));
    for (size_t i = 0; i < values.size(); i++) {
        const T value = (T)((T)values[i] * factor);
        memcpy(&bytes[i * sizeof value], &value, sizeof value);
    }
    return bytes;
}

static std::vector<char> as_type(qfz_type type, const std::vector<uint16_t> &values)
{
    switch (type) {
    case QFZ_U8: return cast_to<uint8_t>(values, 1);
    case QFZ_I8: return cast_to<int8_t>(values, 1);
    case QFZ_U16: return cast_to<uint16_t>(values, 1);
    case QFZ_U32: return cast_to<uint32_t>(values, 0x10001); /* 65535 becomes the greatest value */
    case QFZ_I32: return cast_to<int32_t>(values, 0x8000);
    default: return cast_to<float>(values, 1e-41f); /* denormal numbers */
    }
}

static void check_values(qfz_gpu *gpu, qfz_image *image, const std::vector<uint16_t> &values,
                         int connectivity)
{
    const std::vector<char> pixels = as_type(image->type, values);
    qfz_rule rule = {};
    rule.type = image->type;
    rule.n_bands = 1;
    rule.connectivity = connectivity;
    rule.alpha_level = UINT32_MAX;
    image->pixels = pixels.data();
    check_tile(gpu, image, &rule);
}

/* White noise, whose rows begin at multiples of 16 bytes, over several whole blocks. */
static void noise(qfz_gpu *gpu, int64_t number)
{
    static const qfz_type types[] = {QFZ_U16, QFZ_I8, QFZ_F32, QFZ_U32, QFZ_I32};
    qfz_image image = {};
    image.h = 40 + check_pick(160);
    image.w = 64 * (1 + check_pick(4));
    image.n_bands = 1;
    image.type = types[number % 5];
    const size_t n = (size_t)(image.h * image.w);
    const bool ends = check_chance(25); /* the greatest level of the type is frequent */
    const int64_t holes = check_chance(50) ? 0 : 5, hole = check_pick((int64_t)n); /* % ; one */
    const int connectivity = check_chance(50) ? 4 : 8;
    std::vector<uint16_t> values(n);
    std::vector<uint8_t> valid(n);
    for (size_t i = 0; i < n; i++) {
        values[i] = (uint16_t)(ends ? 0 - check_random() % 2 : check_random());
        valid[i] = !check_chance(holes) && (int64_t)i != hole;
    }
    if (check_chance(50)) image.valid = valid.data();
    check_describe("noise, %d x %d, type %d, connectivity %d, %s", (int)image.w, (int)image.h,
                   (int)image.type, connectivity, image.valid ? "mask" : "no mask");
    check_values(gpu, &image, values, connectivity);
}

/* One invalid pixel beside a side of the middle one of nine whole blocks, just inside or just
 * outside: at a corner for the first eight numbers, elsewhere on the side for the next eight. */
enum { HOLES = 16 };
static void hole(qfz_gpu *gpu, int i)
{
    enum { SIDE = 192, FIRST = 64, LAST = 127 };
    static const int across[] = {FIRST - 1, FIRST, LAST, LAST + 1};
    qfz_image image = {};
    image.h = image.w = SIDE;
    image.n_bands = 1;
    image.type = QFZ_U16;
    std::vector<uint16_t> values;
    for (int px = 0; px < SIDE * SIDE; px++)
        values.push_back((uint16_t)check_random());
    const int corner = check_chance(50) ? FIRST - 1 : LAST + 1;
    const int along = i < HOLES / 2 ? corner : FIRST + (int)check_pick(64), to = across[i % 4];
    const int y = i % 8 < 4 ? to : along, x = i % 8 < 4 ? along : to;
    std::vector<uint8_t> valid(values.size(), 1);
    valid[(size_t)(y * SIDE + x)] = 0;
    image.valid = valid.data();
    const int connectivity = check_chance(50) ? 4 : 8;
    check_describe("hole at %d, %d, connectivity %d", y, x, connectivity);
    check_values(gpu, &image, values, connectivity);
}

/* Columns of very different values, whose lightest edges lead from block to block: almost every
 * edge between columns is open after the block's rounds, more edges than its list holds. */
static void stripes(qfz_gpu *gpu, int64_t height, int64_t width, qfz_type type, int connectivity)
{
    qfz_image image = {};
    image.h = height;
    image.w = width;
    image.n_bands = 1;
    image.type = type;
    std::vector<uint16_t> values;
    for (int64_t i = 0; i < height * width; i++) {
        const int64_t y = i / width, x = i % width;
        values.push_back((uint16_t)(x % 2 * (100 + x) + y % 2 * 5 + y / 64 % 2));
    }
    check_describe("stripes, %d x %d, type %d, connectivity %d", (int)image.w, (int)image.h,
                   (int)type, connectivity);
    check_values(gpu, &image, values, connectivity);
}

/* Rows of very different values; in a row, the steps between blocks have the levels of a ruler's
 * marks: every round on the graph joins pairs only, and edges between rows stay open until the last
 * rounds. */
static void ruler(qfz_gpu *gpu, qfz_type type)
{
    enum { H = 16, W = 600 * 64 };
    qfz_image image = {};
    image.h = H;
    image.w = W;
    image.n_bands = 1;
    image.type = type;
    std::vector<uint16_t> values;
    for (int64_t y = 0; y < H; y++)
        for (int64_t x = 0, value = 0; x < W; x++) {
            const int64_t block = x / 64, step = block == 0 ? 0 : __builtin_ctzll(block) + 1;
            if (x % 64 == 0) value += block % 4 < 2 ? step : -step;
            values.push_back((uint16_t)(1000 + value + y % 2 * 1000));
        }
    const std::vector<char> pixels = as_type(type, values);
    image.pixels = pixels.data();
    qfz_rule rule = {};
    rule.type = image.type;
    rule.n_bands = 1;
    rule.connectivity = 4;
    rule.alpha_level = UINT32_MAX;
    check_describe("ruler, %d x %d, type %d", (int)image.w, (int)image.h, (int)type);
    tile t = open_tile(gpu, &image, &rule);
    check_saliency(&t, NULL, cpu_saliency(&t, NULL).data(), "alone");
    close_tile(&t);
}

namespace
{
/* Plateaus with a little noise; every third pixel of the first row is a hole. */
struct small_raster {
    std::vector<char> pixels;
    std::vector<uint8_t> valid;
    qfz_image image;
    qfz_rule rule;
};
} // namespace

static small_raster make_small(qfz_type type, int64_t w, int n_bands, int connectivity)
{
    enum { H = 65 };
    small_raster made = {};
    std::vector<uint16_t> values;
    for (int64_t i = 0; i < H * w * n_bands; i++)
        values.push_back((uint16_t)(i / w / 9 * 3 + i % w / 23 * 5 + check_pick(4)));
    made.pixels = as_type(type, values);
    made.valid.assign((size_t)(H * w), 1);
    for (int64_t x = 0; x < w; x += 3)
        made.valid[(size_t)x] = 0;
    made.image = qfz_image_default();
    made.image.h = H;
    made.image.w = w;
    made.image.n_bands = n_bands;
    made.image.type = type;
    made.image.pixels = made.pixels.data();
    made.image.valid = made.valid.data();
    made.rule.type = type;
    made.rule.n_bands = n_bands;
    made.rule.connectivity = connectivity;
    made.rule.alpha_level = UINT32_MAX;
    check_describe("small, %d x %d, %d bands of type %d, connectivity %d", (int)w, H, n_bands,
                   (int)type, connectivity);
    return made;
}

static void small_tile(qfz_gpu *gpu, qfz_type type, int64_t w, int n_bands, int connectivity)
{
    const small_raster made = make_small(type, w, n_bands, connectivity);
    check_tile(gpu, &made.image, &made.rule);
}

/* The saliency only, without planes of levels. */
static void small_band(qfz_gpu *gpu, qfz_type type, int64_t w, int connectivity)
{
    const small_raster made = make_small(type, w, 1, connectivity);
    tile t = open_tile(gpu, &made.image, &made.rule);
    must(qfz_gpu_edges_make(gpu, &t.up.image, &t.rule, NULL, &t.edges) == QFZ_OK, "edges");
    check_saliency(&t, NULL, cpu_saliency(&t, NULL).data(), "out of the band");
    close_tile(&t);
}

/* Small cases for tools that slow kernels down ten thousandfold: every kernel, in blocks with and
 * without holes, with rows aligned to 16 bytes and others. */
static void small_rasters(qfz_gpu *gpu)
{
    check_case(0, "small rasters");
    for (const int connectivity : {4, 8}) {
        small_tile(gpu, QFZ_U8, 80, 1, connectivity);
        small_tile(gpu, QFZ_U16, 72, 1, connectivity);
        small_tile(gpu, QFZ_F32, 65, 1, connectivity);
        small_tile(gpu, QFZ_U8, 65, 2, connectivity);
        small_band(gpu, QFZ_U32, 65, connectivity);
        small_band(gpu, QFZ_I32, 68, connectivity);
    }
    stripes(gpu, 65, 80, QFZ_U8, 4);
    stripes(gpu, 65, 65, QFZ_F32, 8);
}

/* PROGRAM SEED 0: small cases only. */
int main(int argc, char **argv)
{
    check_begin(argc, argv, 100);
    qfz_gpu gpu = open_gpu(&err);
    if (check_.first == 0) small_rasters(&gpu);
    if (check_.first == 0 && check_.cases > 0) {
        stripes(&gpu, 130, 128, QFZ_U8, 4);
        stripes(&gpu, 130, 139, QFZ_U8, 4);
        stripes(&gpu, 130, 139, QFZ_F32, 4);
        stripes(&gpu, 130, 128, QFZ_U8, 8);
        stripes(&gpu, 130, 139, QFZ_U16, 8);
        stripes(&gpu, 130, 139, QFZ_F32, 8);
        ruler(&gpu, QFZ_U16);
        ruler(&gpu, QFZ_F32);
    }
    for (int64_t i = check_.first; i < check_.cases; i++) {
        random_raster(&gpu, i);
        if (i % 7 == 6) noise(&gpu, i / 7);
        if (i < HOLES) hole(&gpu, (int)i);
    }
    return check_end();
}
