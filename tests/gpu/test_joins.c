/* SPDX-License-Identifier: MIT */
/* test_joins.c - the levels of a tile's minimum spanning forest and of the links of its boundary
 * summary: those of the CPU engine, which other tests check by brute force, on tiles of several
 * blocks of 64 x 64 pixels, one after the other in one worker, with edges of level 0, and with
 * levels of edges in the place of those of pixels. */
#include "rasters.h"

#include "core/histogram.h"
#include "cpu/cpu.h"
#include "engine_under_test.h"

enum { SIDE = 150, TILES = 3, FEW_CASES = 3, LARGE_H = 520, LARGE_W = 640 };

/* What joins() finds of a tile. */
typedef struct joins {
    uint32_t *level;
    uint64_t *count;
    int64_t n;
    int shift;
    uint32_t *links; /* their levels, ascending */
    int64_t n_links;
} joins;

static void ok(qfz_status st, const qfz_error *err)
{
    CHECK(st == QFZ_OK, "status %d: %s", (int)st, err->message);
}

static qfz_worker *open_worker(const qfz_engine *engine, const qfz_rule *rule,
                               const qfz_image *image)
{
    const qfz_worker_spec spec = {.rule = rule,
                                  .kind = QFZ_JOINS,
                                  .max_h = (int32_t)image->h,
                                  .max_w = (int32_t)image->w,
                                  .n_threads = 1};
    qfz_error err = {0};
    qfz_worker *worker = NULL;
    ok(engine->open(&worker, 1, &spec, &err), &err);
    return worker;
}

static joins find(const qfz_engine *engine, qfz_worker *worker, const qfz_rule *rule,
                  const qfz_image *tile, bool is_part)
{
    const qfz_box box = {0, 0, tile->h, tile->w};
    const qfz_histogram *settled = NULL;
    qfz_summary summary = {0};
    qfz_error err = {0};
    joins found = {0};
    ok(qfz_engine_load(engine, worker, tile, &err), &err);
    ok(qfz_summary_init(&summary, box, rule, &err), &err);
    ok(engine->joins(worker, is_part ? &summary : NULL, &settled, &err), &err);
    ok(qfz_histogram_list(settled, &found.level, &found.count, &found.n, &err), &err);
    found.shift = settled->shift;
    found.n_links = summary.links.n;
    found.links = raster_room(found.n_links, sizeof *found.links);
    if (found.n_links > 0)
        memcpy(found.links, summary.links.level, (size_t)found.n_links * sizeof *found.links);
    qfz_summary_fini(&summary);
    return found;
}

static void joins_free(joins *found)
{
    free(found->level);
    free(found->count);
    free(found->links);
}

static void same(const joins *got, const joins *want, const char *what)
{
    CHECK(got->shift == want->shift, "%s: shift %d, not %d", what, got->shift, want->shift);
    CHECK(got->n == want->n && got->n_links == want->n_links,
          "%s: %d levels and %d links, not %d and %d", what, (int)got->n, (int)got->n_links,
          (int)want->n, (int)want->n_links);
    for (int64_t i = 0; i < got->n && i < want->n; i++)
        if (!CHECK(got->level[i] == want->level[i] && got->count[i] == want->count[i],
                   "%s: %" PRIu64 " joins of level %u, not %" PRIu64 " of %u", what, got->count[i],
                   got->level[i], want->count[i], want->level[i]))
            break;
    for (int64_t i = 0; i < got->n_links && i < want->n_links; i++)
        if (!CHECK(got->links[i] == want->links[i], "%s: link %d has level %u, not %u", what,
                   (int)i, got->links[i], want->links[i]))
            break;
}

static void compare(qfz_worker *const workers[2], const qfz_rule *rule, const qfz_image *tile)
{
    for (int is_part = 0; is_part < 2; is_part++) {
        joins want = find(&qfz_engine_cpu, workers[0], rule, tile, is_part);
        joins got = find(&TEST_ENGINE_TABLE, workers[1], rule, tile, is_part);
        char what[128];
        snprintf(what, sizeof what, "%d x %d pixels, %s", (int)tile->w, (int)tile->h,
                 is_part ? "a part" : "all");
        same(&got, &want, what);
        joins_free(&got);
        joins_free(&want);
    }
}

/* The upper left part of a raster, h x w pixels. */
static void cut_out(const raster *r, int64_t h, int64_t w, raster *part)
{
    const int n_bands = r->image.n_bands;
    *part = *r;
    part->image.h = h;
    part->image.w = w;
    part->image.pixels = part->pixels = raster_room(h * w * n_bands, sizeof(uint32_t));
    part->image.valid = part->valid = raster_room(h * w, 1);
    for (int64_t i = 0; i < h * w; i++) {
        const int64_t from = i / w * r->image.w + i % w;
        part->valid[i] = r->valid[from];
        for (int b = 0; b < n_bands; b++)
            raster_set(part, b, i, oracle_value(&r->image, b, from));
    }
}

static void hide_nan(raster *r)
{
    for (int64_t i = 0; i < r->image.h * r->image.w; i++)
        for (int b = 0; b < r->image.n_bands; b++)
            if (isnan(oracle_value(&r->image, b, i))) r->valid[i] = 0;
}

/* One of the types whose levels are below 2^32 - 1. */
static qfz_type some_type(void)
{
    static const qfz_type types[] = {QFZ_U8, QFZ_I8, QFZ_U16, QFZ_I16, QFZ_F32, QFZ_F32};
    return types[check_pick(sizeof types / sizeof *types)];
}

/* Levels of edges of one of the types that have bins of their own, and of the others. */
static raster_edges give_edges(const raster *r, qfz_rule *rule)
{
    static const uint32_t most[] = {254, 65535, QFZ_NO_EDGE - 1};
    raster_edges edges = raster_edges_make(&r->image, rule->connectivity);
    rule->edge_levels = true;
    rule->edges_are_float = edges.are_float;
    rule->max_edge = edges.are_float ? 0x7f800000u : most[check_pick(3)];
    for (int64_t i = 0; i < qfz_n_dirs(rule) * r->image.h * r->image.w; i++)
        if (edges.levels[i] != QFZ_NO_EDGE && edges.levels[i] > rule->max_edge)
            edges.levels[i] = rule->max_edge;
    return edges;
}

static void test_case(void)
{
    static uint8_t zeroed[SIDE * SIDE];
    raster_edges edges = {0};
    const int dirs_and_chance = (int)check_pick(50);
    double weights[RASTER_BANDS];
    float singles[RASTER_BANDS];
    raster r;
    raster_make(&r, SIDE, some_type(), 3);
    hide_nan(&r);
    raster_weigh(weights, r.image.n_bands);
    for (int b = 0; b < r.image.n_bands; b++)
        singles[b] = (float)weights[b];
    const qfz_distance distance = raster_distance(&r.image);
    qfz_rule rule = {.connectivity = check_chance(50) ? 4 : 8,
                     .distance = distance,
                     .weights = distance != QFZ_SAM && check_chance(20) ? singles : NULL,
                     .type = r.image.type,
                     .n_bands = r.image.n_bands,
                     .min_mass = check_chance(30) ? 5 : 0};
    if (check_chance(30)) edges = give_edges(&r, &rule);
    rule.alpha_level = qfz_top_level(&rule);
    qfz_worker *const workers[2] = {open_worker(&qfz_engine_cpu, &rule, &r.image),
                                    open_worker(&TEST_ENGINE_TABLE, &rule, &r.image)};
    check_describe("%s, %d bands, %s, shape %s, palette %s, holes %s, %d neighbours, N %d%s",
                   raster_types[r.image.type], r.image.n_bands, raster_distances[distance], r.shape,
                   r.palette, r.holes, rule.connectivity, (int)rule.min_mass,
                   edges.levels ? ", with edges" : "");
    for (int i = 0; i < SIDE * SIDE; i++)
        zeroed[i] = check_chance(dirs_and_chance) ? (uint8_t)check_pick(1 << qfz_n_dirs(&rule)) : 0;
    for (int i = 0; i < TILES; i++) {
        raster tile;
        cut_out(&r, i == 0 ? r.image.h : 1 + check_pick(r.image.h),
                i == 0 ? r.image.w : 1 + check_pick(r.image.w), &tile);
        if (check_chance(30)) tile.image.valid = NULL;
        if (rule.min_mass > 0 && check_chance(80)) tile.image.zeroed = zeroed;
        tile.image.edges = edges.levels; /* of the whole raster: as many as any tile has */
        compare(workers, &rule, &tile.image);
        raster_free(&tile);
    }
    qfz_engine_cpu.close(&workers[0], 1);
    TEST_ENGINE_TABLE.close(&workers[1], 1);
    raster_edges_free(&edges);
    raster_free(&r);
}

/* More levels than a histogram has bins, so that bins are shared. */
static void many_levels(void)
{
    static float pixels[LARGE_H * LARGE_W];
    const qfz_rule rule = {.connectivity = 4,
                           .distance = QFZ_LINF,
                           .type = QFZ_F32,
                           .n_bands = 1,
                           .alpha_level = UINT32_MAX};
    qfz_image image = {.h = LARGE_H, .w = LARGE_W, .n_bands = 1, .type = QFZ_F32, .pixels = pixels};
    check_case(-1, "more levels than bins");
    for (int64_t i = 0; i < LARGE_H * LARGE_W; i++)
        pixels[i] = (float)check_pick(1 << 24) * 0x1p-24f;
    qfz_worker *const workers[2] = {open_worker(&qfz_engine_cpu, &rule, &image),
                                    open_worker(&TEST_ENGINE_TABLE, &rule, &image)};
    compare(workers, &rule, &image);
    qfz_engine_cpu.close(&workers[0], 1);
    TEST_ENGINE_TABLE.close(&workers[1], 1);
}

/* PROGRAM SEED CASES with few cases: without the large image, which takes a sanitizer too long. */
int main(int argc, char **argv)
{
    need_engine();
    check_begin(argc, argv, 60);
    if (check_.first == 0 && check_.cases > FEW_CASES) many_levels();
    for (int64_t i = check_.first; i < check_.cases; i++) {
        check_case(i, "making the case");
        test_case();
    }
    return check_end();
}
