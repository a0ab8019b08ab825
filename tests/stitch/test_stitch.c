/* SPDX-License-Identifier: MIT */
/* test_stitch.c - tiles in memory, summarised, stitched and resolved through the engine's table,
 * equal the oracle's result for the whole image, for any tile shape and any number of threads per
 * group. */
#include "engine_under_test.h"
#include "rasters.h"
#include "stitch/stitch.h"

typedef struct problem {
    raster r;
    oracle *o;
    qfz_rule rule;
    double weights[RASTER_BANDS];
    float singles[RASTER_BANDS]; /* the weights, for the rule */
    double omega[RASTER_BANDS];
    double alpha;
    raster_edges edges; /* levels NULL: none */
    qfz_tiling tiling;
    int64_t memory_bytes;
    int n_threads;
    bool uses_workers; /* groups are stitched by workers, where the engine can */
} problem;

static void make(problem *p)
{
    raster_make(&p->r, 14, -1, RASTER_BANDS);
    const qfz_image *const image = &p->r.image;
    const qfz_distance distance = raster_distance(image);
    const bool weighted = distance != QFZ_SAM && check_chance(25);
    raster_weigh(p->weights, image->n_bands);
    for (int b = 0; b < image->n_bands; b++)
        p->singles[b] = (float)p->weights[b];
    p->rule = (qfz_rule){.connectivity = check_chance(50) ? 4 : 8,
                         .distance = distance,
                         .weights = weighted ? p->singles : NULL,
                         .type = image->type,
                         .n_bands = image->n_bands};
    p->edges = (raster_edges){0};
    if (check_chance(30)) {
        p->edges = raster_edges_make(image, p->rule.connectivity);
        p->r.image.edges = p->edges.levels;
        p->rule.edge_levels = true;
        p->rule.edges_are_float = p->edges.are_float;
        p->rule.max_edge = p->edges.are_float ? 0x7f800000u : QFZ_NO_EDGE - 1;
        p->o = oracle_open_edges(image, p->rule.connectivity, p->edges.planes);
    } else {
        p->o = oracle_open_weighted(image, p->rule.connectivity, distance,
                                    weighted ? p->weights : NULL);
    }
    p->alpha = check_chance(30) ? INFINITY : raster_alpha(p->o, &p->r);
    if (p->edges.levels && check_chance(60))
        p->alpha = fmax(0, p->edges.planes[check_pick(image->h * image->w)]);
    for (int b = 0; b < RASTER_BANDS; b++)
        p->omega[b] = raster_omega(&p->r, b % image->n_bands);
    const int64_t tile_w = 1 + check_pick(6), tile_h = 1 + check_pick(6);
    p->tiling = (qfz_tiling){.w = image->w,
                             .h = image->h,
                             .tile_w = tile_w,
                             .tile_h = tile_h,
                             .n_x = (image->w + tile_w - 1) / tile_w,
                             .n_y = (image->h + tile_h - 1) / tile_h};
    p->memory_bytes = check_chance(50) ? 0 : 1 << 30; /* 0: everything is spilled */
    p->n_threads = 1 + (int)check_pick(5);
    p->uses_workers = check_chance(70);
    check_describe("%dx%d in tiles of %dx%d, %d bands %s, %s in %s, holes %s, %d-connected, %s%s, "
                   "alpha %.17g, omega %.17g, %d threads%s",
                   (int)image->h, (int)image->w, (int)tile_h, (int)tile_w, image->n_bands,
                   raster_types[image->type], p->r.shape, p->r.palette, p->r.holes,
                   p->rule.connectivity, raster_distances[distance],
                   p->edges.levels ? " with edges"
                   : weighted      ? " with weights"
                                   : "",
                   p->alpha, p->omega[0], p->n_threads,
                   p->uses_workers ? ", groups by workers" : "");
}

static qfz_box box_of(const problem *p, int64_t tile)
{
    const qfz_group_tree group_tree = qfz_group_tree_of(&p->tiling);
    return qfz_group_tree_box(&group_tree, 0, tile);
}

/* Copies a tile's pixels out of the whole image. */
static qfz_image cut_tile(const problem *p, qfz_box box, uint8_t *pixels, uint8_t *valid,
                          uint32_t *edges)
{
    const qfz_image *const image = &p->r.image;
    const size_t bytes = qfz_type_bytes(image->type);
    const int64_t h = qfz_box_h(box), w = qfz_box_w(box);
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            const int64_t from = (box.y0 + y) * image->w + box.x0 + x, to = y * w + x;
            valid[to] = image->valid ? image->valid[from] : 1;
            for (int64_t d = 0; image->edges && d < qfz_n_dirs(&p->rule); d++)
                edges[d * h * w + to] = image->edges[d * image->h * image->w + from];
            for (int64_t b = 0; b < image->n_bands; b++)
                memcpy(pixels + (size_t)(b * h * w + to) * bytes,
                       (const uint8_t *)image->pixels +
                           (size_t)(b * image->h * image->w + from) * bytes,
                       bytes);
        }
    return (qfz_image){.h = h,
                       .w = w,
                       .n_bands = image->n_bands,
                       .type = image->type,
                       .pixels = pixels,
                       .valid = valid,
                       .edges = image->edges ? edges : NULL};
}

typedef struct bench {
    qfz_worker *worker;
    qfz_stitch *stitch;
    uint8_t pixels[(64 + 3) * RASTER_BANDS * 4], valid[64];
    uint32_t edges[64 * QFZ_MAX_DIRS];
    qfz_image tile;
} bench;

static const qfz_ranks alone = {.n = 1, .n_local = 1};

static bool ok(qfz_status st, const qfz_error *err)
{
    return CHECK(st == QFZ_OK, "status %d: %s", (int)st, err->message);
}

/* Each published method of the kind of work, and none, in turn. */
static const char *method_of(const problem *p, qfz_kind kind)
{
    static const char *const methods[] = {NULL, "connect-v1", "connect-v2"};
    const bool by_tree = kind == QFZ_LEVELS || kind == QFZ_OMEGA;
    if (TEST_ENGINE != QFZ_ENGINE_CUDA || !by_tree || p->rule.edge_levels) return NULL;
    return methods[check_.now % 3];
}

enum { GROUP_SIDE = 64 }; /* a worker for such tiles has memory for groups of smaller ones */

static void open_bench(bench *b, const problem *p, qfz_kind kind)
{
    qfz_error err = {0};
    const qfz_worker_spec spec = {.rule = &p->rule,
                                  .kind = kind,
                                  .max_h = p->uses_workers ? GROUP_SIDE : (int32_t)p->tiling.tile_h,
                                  .max_w = p->uses_workers ? GROUP_SIDE : (int32_t)p->tiling.tile_w,
                                  .n_threads = 1,
                                  .method = method_of(p, kind)};
    ok(TEST_ENGINE_TABLE.open(&b->worker, 1, &spec, &err), &err);
    ok(qfz_stitch_open(&b->stitch, &p->rule, kind, &p->tiling, &alone, p->n_threads,
                       p->memory_bytes, ".", &err),
       &err);
    if (p->uses_workers) qfz_stitch_use(b->stitch, &TEST_ENGINE_TABLE, &b->worker, 1, 0);
}

static void close_bench(bench *b)
{
    TEST_ENGINE_TABLE.close(&b->worker, 1);
    qfz_stitch_close(b->stitch);
}

/* Passes rows of the tile in a buffer that is overwritten after the call. */
static void give_rows(bench *b, int64_t y0, int64_t y1)
{
    qfz_error err = {0};
    uint8_t moved[sizeof b->pixels];
    const size_t bytes = qfz_type_bytes(b->tile.type);
    const int64_t w = b->tile.w, n = (y1 - y0) * w, plane_px = n + 3;
    for (int64_t band = 0; band < b->tile.n_bands; band++)
        memcpy(moved + (size_t)(band * plane_px) * bytes,
               b->pixels + (size_t)(band * b->tile.h * w + y0 * w) * bytes, (size_t)n * bytes);
    const qfz_rows rows = {y0, y1, moved, plane_px};
    ok(TEST_ENGINE_TABLE.stream->rows(b->worker, &rows, &err), &err);
    memset(moved, 0xa5, sizeof moved);
}

static qfz_box load(bench *b, const problem *p, int64_t tile)
{
    qfz_error err = {0};
    const qfz_engine *const engine = &TEST_ENGINE_TABLE;
    const qfz_box box = box_of(p, tile);
    b->tile = cut_tile(p, box, b->pixels, b->valid, b->edges);
    if (engine->stream) b->tile.pixels = NULL;
    ok(engine->load(b->worker, &b->tile, &err), &err);
    const int64_t half = b->tile.h / 2;
    if (engine->stream && half > 0) give_rows(b, 0, half);
    if (engine->stream) give_rows(b, half, b->tile.h);
    return box;
}

/* ---- A partition, and labels by random numbers, compared with counts from the labels 1, 2, 3 ...
 * that the tile's regions have if the tile is the whole raster. */
typedef struct census {
    uint32_t region[64]; /* of each pixel, from 0; QFZ_NONE: invalid */
    uint32_t n_regions, first[64], count[64];
    uint32_t border_region[64]; /* of each region; QFZ_NONE: inner */
    uint32_t n_border_regions;
} census;

static census take_census(bench *b, bool has_slots)
{
    qfz_error err = {0};
    census c = {0};
    const int64_t h = b->tile.h, w = b->tile.w;
    memset(c.border_region, 0xff, sizeof c.border_region);
    ok(TEST_ENGINE_TABLE.number(b->worker, NULL, &err), &err);
    ok(TEST_ENGINE_TABLE.labels(b->worker, false, c.region, &err), &err);
    for (int64_t i = 0; i < h * w; i++) {
        if (c.region[i]-- == 0) continue;
        CHECK(c.region[i] <= c.n_regions, "pixel %d has region %u, after %u", (int)i, c.region[i],
              c.n_regions);
        if (c.region[i] == c.n_regions) c.first[c.n_regions++] = (uint32_t)i;
        c.count[c.region[i]]++;
    }
    for (int64_t i = 0; has_slots && i < qfz_ring_size(h, w); i++) {
        int64_t y, x;
        qfz_ring_place(h, w, i, &y, &x);
        const uint32_t region = c.region[y * w + x];
        if (region != QFZ_NONE && c.border_region[region] == QFZ_NONE)
            c.border_region[region] = c.n_border_regions++;
    }
    return c;
}

/* counts: true if the partition has the pixels of border regions. */
static void check_partition(const bench *b, const census *c, bool counts, const qfz_partition *got)
{
    const uint32_t w = (uint32_t)b->tile.w;
    uint32_t row_inner[64] = {0};
    CHECK(got->n_regions == c->n_regions && got->n_border_regions == c->n_border_regions,
          "%u regions and %u border_regions, not %u and %u", got->n_regions, got->n_border_regions,
          c->n_regions, c->n_border_regions);
    for (uint32_t r = 0; r < c->n_regions; r++) {
        const uint32_t s = c->border_region[r], row = c->first[r] / w;
        if (s == QFZ_NONE) {
            row_inner[row]++;
            continue;
        }
        const qfz_border_region *const border_region = &got->border_regions[s];
        CHECK(border_region->first == c->first[r] && border_region->before == row_inner[row] &&
                  (!counts || border_region->pixels == c->count[r]),
              "border_region %u: from %u, behind %u, %u pixels; not %u, %u, %u", s,
              border_region->first, border_region->before, border_region->pixels, c->first[r],
              row_inner[row], c->count[r]);
    }
    CHECK(memcmp(got->row_inner, row_inner, (size_t)b->tile.h * sizeof *row_inner) == 0,
          "regions that begin in rows are miscounted; the first: %u, not %u", got->row_inner[0],
          row_inner[0]);
}

static void check_numbers(bench *b, const census *c)
{
    qfz_error err = {0};
    uint64_t start[64], border_label[64], name[64], wide[64];
    uint32_t narrow[64];
    const int64_t n = b->tile.h * b->tile.w;
    for (int i = 0; i < 64; i++) {
        start[i] = check_random() >> 4;
        border_label[i] = check_chance(50) ? 0 : check_random();
    }
    qfz_numbers numbers = {.row_start = start, .border_label = border_label};
    ok(TEST_ENGINE_TABLE.number(b->worker, &numbers, &err), &err);
    ok(TEST_ENGINE_TABLE.labels(b->worker, true, wide, &err), &err);
    ok(TEST_ENGINE_TABLE.labels(b->worker, false, narrow, &err), &err);
    for (uint32_t r = 0; r < c->n_regions; r++) {
        const uint64_t foreign =
            c->border_region[r] == QFZ_NONE ? 0 : border_label[c->border_region[r]];
        name[r] = foreign ? foreign : ++start[c->first[r] / b->tile.w];
    }
    for (int64_t i = 0; i < n; i++) {
        const uint64_t want = c->region[i] == QFZ_NONE ? 0 : name[c->region[i]];
        if (!CHECK(wide[i] == want && narrow[i] == (uint32_t)want,
                   "pixel %d has labels %llx and %x, not %llx", (int)i, (unsigned long long)wide[i],
                   narrow[i], (unsigned long long)want))
            return;
    }
}

static void check_regions(bench *b, qfz_kind kind, const qfz_partition *partition, bool has_slots)
{
    const census c = take_census(b, has_slots);
    check_partition(b, &c, kind == QFZ_OMEGA, partition);
    check_numbers(b, &c);
}

static void summarise(bench *b, const problem *p, qfz_kind kind)
{
    for (int64_t t = 0; t < p->tiling.n_x * p->tiling.n_y; t++) {
        qfz_error err = {0};
        const qfz_box box = load(b, p, t);
        qfz_summary summary;
        qfz_partition partition;
        if (kind == QFZ_COMPONENTS) {
            ok(TEST_ENGINE_TABLE.partition(b->worker, NULL, &partition, &err), &err);
            ok(qfz_stitch_put_partition(b->stitch, t, &partition, &err), &err);
            check_regions(b, kind, &partition, true);
        }
        ok(qfz_summary_init(&summary, box, &p->rule, &err), &err);
        ok(TEST_ENGINE_TABLE.summarise(b->worker, &summary, &err), &err);
        CHECK(summary.links.n < summary.n_ring || summary.n_ring == 0,
              "%d links for %d ring pixels", (int)summary.links.n, (int)summary.n_ring);
        ok(qfz_stitch_put(b->stitch, t, &summary, &err), &err);
        qfz_summary_fini(&summary);
    }
    qfz_error err = {0};
    ok(qfz_stitch_solve(b->stitch, NULL, NULL, &err), &err);
}

static void partition_tile(bench *b, int64_t t, qfz_partition *partition)
{
    qfz_error err = {0};
    qfz_exterior answer;
    ok(qfz_stitch_exterior(b->stitch, t, &answer, &err), &err);
    ok(TEST_ENGINE_TABLE.partition(b->worker, answer.n_ring ? &answer : NULL, partition, &err),
       &err);
    qfz_exterior_fini(&answer);
}

static void check_labels(bench *b, const problem *p, qfz_kind kind, const uint32_t *want,
                         uint32_t n_want)
{
    qfz_error err = {0};
    qfz_partition partition;
    qfz_count count = {0};
    qfz_numbers numbers = {0};
    const int64_t n_tiles = p->tiling.n_x * p->tiling.n_y;
    for (int64_t t = 0; kind == QFZ_OMEGA && t < n_tiles; t++) {
        load(b, p, t);
        partition_tile(b, t, &partition);
        ok(qfz_stitch_put_partition(b->stitch, t, &partition, &err), &err);
        check_regions(b, kind, &partition, n_tiles > 1);
    }
    ok(qfz_stitch_number(b->stitch, &err), &err);
    ok(qfz_stitch_count(b->stitch, 0, 1, &count, &err), &err);
    CHECK(count.total == n_want, "%d regions, not %d", (int)count.total, (int)n_want);
    for (int64_t t = 0; t < n_tiles; t++) {
        uint32_t got[64];
        const qfz_box box = load(b, p, t);
        partition_tile(b, t, &partition);
        ok(qfz_stitch_numbers(b->stitch, t, &partition, &numbers, &err), &err);
        ok(TEST_ENGINE_TABLE.number(b->worker, &numbers, &err), &err);
        ok(TEST_ENGINE_TABLE.labels(b->worker, false, got, &err), &err);
        qfz_numbers_fini(&numbers);
        for (int64_t i = 0; i < b->tile.h * b->tile.w; i++) {
            const int64_t y = box.y0 + i / b->tile.w, x = box.x0 + i % b->tile.w;
            if (!CHECK(got[i] == want[y * p->tiling.w + x], "pixel %d %d has label %u, not %u",
                       (int)y, (int)x, got[i], want[y * p->tiling.w + x]))
                return;
        }
    }
}

static void check_saliency(bench *b, const problem *p, const double *want)
{
    qfz_error err = {0};
    const int64_t n_px = p->tiling.w * p->tiling.h;
    for (int64_t t = 0; t < p->tiling.n_x * p->tiling.n_y; t++) {
        uint32_t keys[64 * QFZ_MAX_DIRS];
        qfz_exterior answer;
        const qfz_box box = load(b, p, t);
        const int64_t n = b->tile.h * b->tile.w;
        ok(qfz_stitch_exterior(b->stitch, t, &answer, &err), &err);
        ok(TEST_ENGINE_TABLE.saliency(b->worker, answer.n_ring ? &answer : NULL, sizeof *keys, keys,
                                      &err),
           &err);
        for (int64_t i = 0; i < n * qfz_n_dirs(&p->rule); i++) {
            const int64_t y = box.y0 + i % n / b->tile.w, x = box.x0 + i % n % b->tile.w;
            const double level = want[i / n * n_px + y * p->tiling.w + x];
            const double got = qfz_level_value(&p->rule, keys[i]);
            if (!CHECK(level == ORACLE_NO_EDGE ? keys[i] == QFZ_NONE : got == level,
                       "edge %d of pixel %d %d has level %.17g, not %.17g", (int)(i / n), (int)y,
                       (int)x, got, level)) {
                qfz_exterior_fini(&answer);
                return;
            }
        }
        qfz_exterior_fini(&answer);
    }
}

/* The width of the largest saliency, which decides on the type of the output, is known without the
 * pixels: a single tile has no exterior that could say it. */
static void check_level_bytes(const bench *b, const problem *p, const double *want)
{
    const int64_t n = p->tiling.w * p->tiling.h * qfz_n_dirs(&p->rule);
    qfz_error err = {0};
    uint32_t max_level;
    double largest = 0;
    int bytes;
    ok(qfz_max_level(&p->rule, &max_level, &err), &err);
    if (qfz_levels_are_float(&p->rule) || max_level == UINT32_MAX) return;
    for (int64_t i = 0; i < n; i++)
        if (want[i] != ORACLE_NO_EDGE && want[i] > largest) largest = want[i];
    ok(qfz_stitch_level_bytes(b->stitch, &bytes, &err), &err);
    const int wanted = p->tiling.n_x * p->tiling.n_y == 1 ? 0
                       : largest < 255                    ? 1
                       : largest < 65535                  ? 2
                                                          : 4;
    CHECK(bytes == wanted, "levels up to %.17g have %d bytes, not %d", largest, bytes, wanted);
}

static void check_omega(problem *p, uint32_t *labels)
{
    bench b;
    const uint32_t n = oracle_alpha_omega(p->o, p->alpha, p->omega, labels);
    p->rule.omega = p->omega;
    open_bench(&b, p, QFZ_OMEGA);
    summarise(&b, p, QFZ_OMEGA);
    check_labels(&b, p, QFZ_OMEGA, labels, n);
    close_bench(&b);
}

static void test_case(void)
{
    problem p;
    bench b;
    make(&p);
    const int64_t n_px = p.tiling.w * p.tiling.h;
    uint32_t *const labels = malloc((size_t)n_px * sizeof *labels);
    double *const planes = malloc((size_t)(n_px * QFZ_MAX_DIRS) * sizeof *planes);

    p.rule.alpha_level = qfz_level_of_alpha(&p.rule, p.alpha);
    const uint32_t n = oracle_alpha(p.o, p.alpha, labels);
    open_bench(&b, &p, QFZ_COMPONENTS);
    summarise(&b, &p, QFZ_COMPONENTS);
    check_labels(&b, &p, QFZ_COMPONENTS, labels, n);
    close_bench(&b);
    check_omega(&p, labels);

    p.rule.alpha_level = qfz_top_level(&p.rule);
    oracle_saliency(p.o, planes);
    open_bench(&b, &p, QFZ_LEVELS);
    summarise(&b, &p, QFZ_LEVELS);
    check_level_bytes(&b, &p, planes);
    check_saliency(&b, &p, planes);
    close_bench(&b);

    free(labels);
    free(planes);
    oracle_close(p.o);
    raster_edges_free(&p.edges);
    raster_free(&p.r);
}

/* A bowl, whose components are rows and columns of pixels: so nearly each pixel is a range event,
 * and a group has several blocks of them (event_lists.h). */
static void check_bowl(void)
{
    enum { SIDE = 28, PX = SIDE * SIDE };
    static uint16_t pixels[PX];
    static uint8_t valid[PX];
    static uint32_t labels[PX];
    const int64_t y0 = check_pick(SIDE), x0 = check_pick(SIDE);
    problem p = {.alpha = INFINITY,
                 .omega = {1 + (double)check_pick(2 * PX)},
                 .n_threads = 1 + (int)check_pick(5),
                 .uses_workers = check_chance(50)};
    for (int64_t i = 0; i < PX; i++) {
        const int64_t y = i / SIDE - y0, x = i % SIDE - x0;
        pixels[i] = (uint16_t)(y * y + x * x);
        valid[i] = !check_chance(2);
    }
    p.r.image = (qfz_image){
        .h = SIDE, .w = SIDE, .n_bands = 1, .type = QFZ_U16, .pixels = pixels, .valid = valid};
    p.rule = (qfz_rule){.connectivity = check_chance(50) ? 4 : 8,
                        .distance = QFZ_LINF,
                        .type = QFZ_U16,
                        .n_bands = 1};
    const int64_t tile_w = 2 + check_pick(5), tile_h = 2 + check_pick(5);
    p.tiling = (qfz_tiling){.w = SIDE,
                            .h = SIDE,
                            .tile_w = tile_w,
                            .tile_h = tile_h,
                            .n_x = (SIDE + tile_w - 1) / tile_w,
                            .n_y = (SIDE + tile_h - 1) / tile_h};
    p.o = oracle_open(&p.r.image, p.rule.connectivity, p.rule.distance);
    p.rule.alpha_level = qfz_level_of_alpha(&p.rule, p.alpha);
    check_describe("a bowl about %d %d in tiles of %d x %d, %d-connected, omega %g, %d threads%s",
                   (int)y0, (int)x0, (int)tile_h, (int)tile_w, p.rule.connectivity, p.omega[0],
                   p.n_threads, p.uses_workers ? ", groups by workers" : "");
    check_omega(&p, labels);
    oracle_close(p.o);
}

/* If all valid pixels have one value, published methods join by validity alone; they must see the
 * rows of all parts of the tile. */
static void a_published_method_sees_all_rows(void)
{
    static const struct {
        uint8_t pixels[8];
        uint32_t n_regions;
    } tiles[] = {{"AAAABBBB", 2}, {"AAAAAAAA", 1}, {"ABAAAAAA", 2}};
    const qfz_rule rule = {
        .connectivity = 4, .distance = QFZ_LINF, .type = QFZ_U8, .n_bands = 1, .alpha_level = 0};
    const qfz_worker_spec spec = {.rule = &rule,
                                  .kind = QFZ_COMPONENTS,
                                  .max_h = 4,
                                  .max_w = 2,
                                  .n_threads = 1,
                                  .method = "ha4"};
    bench b = {.valid = {1, 1, 1, 1, 1, 1, 1, 1}};
    qfz_error err = {0};
    if (TEST_ENGINE != QFZ_ENGINE_CUDA) return;
    ok(TEST_ENGINE_TABLE.open(&b.worker, 1, &spec, &err), &err);
    for (int i = 0; i < 3; i++) {
        qfz_partition got;
        memcpy(b.pixels, tiles[i].pixels, 8);
        b.tile = (qfz_image){.h = 4, .w = 2, .n_bands = 1, .type = QFZ_U8, .valid = b.valid};
        ok(TEST_ENGINE_TABLE.load(b.worker, &b.tile, &err), &err);
        give_rows(&b, 0, 2);
        give_rows(&b, 2, 4);
        ok(TEST_ENGINE_TABLE.partition(b.worker, NULL, &got, &err), &err);
        CHECK(got.n_regions == tiles[i].n_regions, "tile %d has %u regions", i, got.n_regions);
    }
    TEST_ENGINE_TABLE.close(&b.worker, 1);
}

/* Workers for large tiles compute a small tile of their own before the first one, to load kernels.
 */
static void a_worker_that_has_warmed_up(qfz_type type, qfz_kind kind, int connectivity)
{
    static const uint32_t u8[2] = {0x05050505, 0x06060606}, f32 = 0x3f800000;
    const double omega[1] = {0};
    const qfz_rule rule = {.connectivity = connectivity,
                           .distance = QFZ_LINF,
                           .type = type,
                           .n_bands = 1,
                           .alpha_level = kind == QFZ_LEVELS ? UINT32_MAX : 0,
                           .omega = kind == QFZ_OMEGA ? omega : NULL};
    const qfz_worker_spec spec = {
        .rule = &rule, .kind = kind, .max_h = 512, .max_w = 512, .n_threads = 1};
    bench b = {.tile = {.h = 4, .w = 2, .n_bands = 1, .type = type}};
    uint32_t keys[4 * 8];
    qfz_error err = {0};
    qfz_partition got;
    for (int i = 0; i < 8; i++)
        memcpy(b.pixels + 4 * i, i < 4 ? &(const uint32_t){0} : &f32, sizeof f32);
    if (type == QFZ_U8) memcpy(b.pixels, u8, sizeof u8);
    ok(TEST_ENGINE_TABLE.open(&b.worker, 1, &spec, &err), &err);
    ok(TEST_ENGINE_TABLE.load(b.worker, &b.tile, &err), &err);
    give_rows(&b, 0, 4);
    if (kind == QFZ_LEVELS) {
        ok(TEST_ENGINE_TABLE.saliency(b.worker, NULL, sizeof *keys, keys, &err), &err);
        CHECK(keys[0] == 0 && keys[8 + 2] == (type == QFZ_U8 ? 1 : f32), "levels %u, %u", keys[0],
              keys[8 + 2]);
    } else {
        ok(TEST_ENGINE_TABLE.partition(b.worker, NULL, &got, &err), &err);
        CHECK(got.n_regions == 2, "%u regions", got.n_regions);
    }
    TEST_ENGINE_TABLE.close(&b.worker, 1);
}

static void workers_that_have_warmed_up(void)
{
    static const qfz_kind kinds[] = {QFZ_COMPONENTS, QFZ_OMEGA, QFZ_LEVELS};
    if (TEST_ENGINE != QFZ_ENGINE_CUDA) return;
    for (int i = 0; i < 3; i++) {
        check_describe("a worker of kind %d that has warmed up", (int)kinds[i]);
        a_worker_that_has_warmed_up(QFZ_U8, kinds[i], 4);
        a_worker_that_has_warmed_up(QFZ_F32, kinds[i], 8);
    }
}

int main(int argc, char **argv)
{
    need_engine();
    check_begin(argc, argv, 1500);
    a_published_method_sees_all_rows();
    workers_that_have_warmed_up();
    for (int64_t i = check_.first; i < check_.cases; i++) {
        check_case(i, "making the case");
        test_case();
        if (check_chance(5)) check_bowl();
    }
    return check_end();
}
