/* SPDX-License-Identifier: MIT */
/* test_filter_blocks.c - the CUDA engine's area filter on rasters of several blocks of 64 x 64
 * pixels, whole and in tiles that are stitched, gives the bits of the CPU engine on the whole
 * raster; so does its minimum spanning forest. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cpu/cpu.h"
#include "engine_under_test.h"
#include "stitch/stitch.h"

enum { MAX_PX = 1 << 16, MAX_BANDS = 3 };

static const qfz_ranks alone = {.n = 1, .n_local = 1};

static void ok(qfz_status st, const qfz_error *err)
{
    CHECK(st == QFZ_OK, "status %d: %s", (int)st, err->message);
}

typedef struct problem {
    int64_t h, w;
    qfz_rule rule;
    const uint64_t *row_mass; /* h, or NULL */
    const void *pixels;       /* planes */
    const uint8_t *valid;
    const uint32_t *edges;    /* planes of levels, or NULL */
    uint8_t want[2 * MAX_PX]; /* zeroed and, if it is wanted, forest behind it */
} problem;

static uint8_t pixel_room[MAX_PX * MAX_BANDS * 4], valid_room[MAX_PX];
static uint32_t edge_room[MAX_PX * QFZ_MAX_DIRS];
static uint64_t mass_room[MAX_PX];

/* ---- Problems. */
static double value_at(int shape, int64_t y, int64_t x, int64_t range)
{
    switch (shape) {
    case 0: return (double)check_pick(range);                          /* noise */
    case 1: return (double)(y / 9 + x / 7 + check_pick(range));        /* steps with noise */
    case 2: return (double)((y * y + 3 * x * x) / 64 % 251);           /* chains of choices */
    case 3: return (double)((y / 20 * 7 + x / 31 * 5) % 4);            /* plateaus */
    default: return (double)((y + x) % 2 * 3 + check_pick(range) / 2); /* ties */
    }
}

static void set_value(qfz_type type, int64_t i, double value)
{
    switch (type) {
    case QFZ_U8: pixel_room[i] = (uint8_t)value; break;
    case QFZ_I16: ((int16_t *)(void *)pixel_room)[i] = (int16_t)(value - 100); break;
    case QFZ_U16: ((uint16_t *)(void *)pixel_room)[i] = (uint16_t)(value * 200); break;
    case QFZ_I32: ((int32_t *)(void *)pixel_room)[i] = (int32_t)(value * 8e6 - 1e9); break;
    default: ((float *)(void *)pixel_room)[i] = (float)(value / 3); break;
    }
}

/* Levels of edges in the place of those of pixels; some edges are missing. */
static void make_edges(problem *p, int shape, int64_t range)
{
    const int64_t missing = check_pick(4) * 15;
    for (int64_t i = 0; i < qfz_n_dirs(&p->rule) * p->h * p->w; i++) {
        const double value = value_at(shape, i / p->w % p->h, i % p->w, range);
        const float single = (float)(value / 3);
        edge_room[i] = (uint32_t)value;
        if (p->rule.edges_are_float) memcpy(&edge_room[i], &single, sizeof single);
        if (check_chance(missing)) edge_room[i] = QFZ_NO_EDGE;
    }
    p->edges = edge_room;
}

/* Steps with noise, and holes, in two blocks. */
static void make_small(problem *p, qfz_type type, int connectivity)
{
    *p = (problem){.h = 40,
                   .w = 70,
                   .pixels = pixel_room,
                   .valid = valid_room,
                   .rule = {.connectivity = connectivity,
                            .distance = QFZ_L1,
                            .type = type,
                            .n_bands = 1,
                            .min_mass = 12,
                            .wants_forest = true}};
    for (int64_t i = 0; i < p->h * p->w; i++) {
        set_value(type, i, value_at(1, i / p->w, i % p->w, 4));
        valid_room[i] = !check_chance(8);
    }
    p->rule.alpha_level = qfz_top_level(&p->rule);
    check_describe("small, type %d, %d-connected", (int)type, connectivity);
}

static void make_any(problem *p)
{
    static const qfz_type types[] = {QFZ_U8, QFZ_I16, QFZ_U16, QFZ_I32, QFZ_F32};
    static const uint64_t most[] = {4, 30, 120, 1500, 2 * MAX_PX};
    const qfz_type type = types[check_pick(5)];
    const int shape = (int)check_pick(5);
    const int n_bands = type == QFZ_I32 || check_chance(70) ? 1 : MAX_BANDS; /* l1 is bounded */
    const int64_t range = 1 + check_pick(check_chance(50) ? 4 : 60), holes = check_pick(4) * 8;
    p->h = 1 + check_pick(check_chance(80) ? 220 : 70);
    p->w = 1 + check_pick(check_chance(80) ? 220 : 70);
    for (int64_t i = 0; i < n_bands * p->h * p->w; i++)
        set_value(type, i, value_at(shape, i / p->w % p->h, i % p->w, range));
    for (int64_t i = 0; i < p->h * p->w; i++)
        valid_room[i] = !check_chance(holes);
    for (int64_t y = 0; y < p->h; y++)
        mass_room[y] = (uint64_t)check_pick(4);
    p->pixels = pixel_room;
    p->valid = holes > 0 ? valid_room : NULL;
    p->row_mass = check_chance(25) ? mass_room : NULL;
    p->rule = (qfz_rule){.connectivity = check_chance(50) ? 4 : 8,
                         .distance = (qfz_distance)check_pick(3),
                         .type = type,
                         .n_bands = n_bands,
                         .min_mass = 2 + (uint64_t)check_pick((int64_t)most[check_pick(5)]),
                         .wants_forest = check_chance(50)};
    if (p->rule.wants_forest && check_chance(30)) p->rule.min_mass = 1;
    if (check_chance(5)) p->rule.min_mass = UINT64_C(1) << 40; /* more than blocks can add up */
    p->edges = NULL;
    if (check_chance(30)) {
        p->rule.edge_levels = true;
        p->rule.edges_are_float = check_chance(50);
        p->rule.max_edge = p->rule.edges_are_float ? 0x7f800000u : QFZ_NO_EDGE - 1;
        make_edges(p, shape, range);
    }
    p->rule.alpha_level = qfz_top_level(&p->rule);
    check_describe("%dx%d, %d bands of type %d, shape %d of %d values, %d %% holes, distance %d, "
                   "%d-connected, N %llu%s%s%s",
                   (int)p->h, (int)p->w, n_bands, (int)type, shape, (int)range, (int)holes,
                   (int)p->rule.distance, p->rule.connectivity,
                   (unsigned long long)p->rule.min_mass, p->row_mass ? ", weights" : "",
                   p->edges ? ", with edges" : "", p->rule.wants_forest ? ", forest" : "");
}

/* ---- Tiles. */
typedef struct tiles {
    const problem *p;
    qfz_tiling tiling;
    qfz_worker *worker;
    qfz_stitch *stitch;
    qfz_box box;
    uint8_t pixels[MAX_PX * MAX_BANDS * 4], valid[MAX_PX], got[2][MAX_PX];
    uint32_t edges[MAX_PX * QFZ_MAX_DIRS];
} tiles;

static void load(tiles *t, const qfz_engine *engine, int64_t tile)
{
    const problem *const p = t->p;
    const size_t bytes = qfz_type_bytes(p->rule.type);
    qfz_error err = {0};
    t->box = qfz_tiling_box(&t->tiling, tile / t->tiling.n_x, tile % t->tiling.n_x);
    const int64_t h = qfz_box_h(t->box), w = qfz_box_w(t->box);
    for (int64_t i = 0; i < h * w; i++) {
        const int64_t from = (t->box.y0 + i / w) * p->w + t->box.x0 + i % w;
        t->valid[i] = p->valid ? p->valid[from] : 1;
        for (int64_t d = 0; p->edges && d < qfz_n_dirs(&p->rule); d++)
            t->edges[d * h * w + i] = p->edges[d * p->h * p->w + from];
        for (int64_t b = 0; b < p->rule.n_bands; b++)
            memcpy(t->pixels + (size_t)(b * h * w + i) * bytes,
                   (const uint8_t *)p->pixels + (size_t)(b * p->h * p->w + from) * bytes, bytes);
    }
    const qfz_image image = {.h = h,
                             .w = w,
                             .n_bands = p->rule.n_bands,
                             .type = p->rule.type,
                             .pixels = t->pixels,
                             .valid = p->valid ? t->valid : NULL,
                             .edges = p->edges ? t->edges : NULL};
    ok(qfz_engine_load(engine, t->worker, &image, &err), &err);
}

static const uint64_t *masses_of(const tiles *t)
{
    return t->p->row_mass ? t->p->row_mass + t->box.y0 : NULL;
}

static void summarise(tiles *t, const qfz_engine *engine, int64_t tile)
{
    qfz_error err = {0};
    qfz_summary summary;
    load(t, engine, tile);
    ok(qfz_summary_init(&summary, t->box, &t->p->rule, &err), &err);
    ok(engine->filter->summarise(t->worker, t->box, masses_of(t), NULL, &summary, &err), &err);
    CHECK(summary.links.n < summary.n_ring, "%d links, %d ring pixels", (int)summary.links.n,
          (int)summary.n_ring);
    ok(qfz_stitch_put(t->stitch, tile, &summary, &err), &err);
    qfz_summary_fini(&summary);
}

static void open_worker(tiles *t, const qfz_engine *engine)
{
    qfz_error err = {0};
    const qfz_worker_spec spec = {.rule = &t->p->rule,
                                  .kind = QFZ_FILTER,
                                  .max_h = (int32_t)t->tiling.tile_h,
                                  .max_w = (int32_t)t->tiling.tile_w,
                                  .n_threads = 1};
    ok(engine->open(&t->worker, 1, &spec, &err), &err);
}

/* to: the bits of the whole raster, as in a problem. */
static void resolve(tiles *t, const qfz_engine *engine, int64_t tile, uint8_t *to)
{
    qfz_error err = {0};
    qfz_exterior exterior;
    load(t, engine, tile);
    ok(qfz_stitch_exterior(t->stitch, tile, &exterior, &err), &err);
    const qfz_exterior *const from = exterior.n_ring ? &exterior : NULL;
    const uint64_t *const masses = masses_of(t);
    const int n_planes = t->p->rule.wants_forest ? 2 : 1;
    const qfz_edge_bits bits = {t->got[0], n_planes == 2 ? t->got[1] : NULL};
    ok(engine->filter->resolve(t->worker, t->box, masses, from, &bits, &err), &err);
    qfz_exterior_fini(&exterior);
    const int64_t w = qfz_box_w(t->box);
    for (int i = 0; i < n_planes; i++)
        for (int64_t y = t->box.y0; y < t->box.y1; y++)
            memcpy(to + i * MAX_PX + y * t->p->w + t->box.x0, t->got[i] + (y - t->box.y0) * w,
                   (size_t)w);
}

static void filter_in_tiles(const problem *p, const qfz_engine *engine, int64_t tile_h,
                            int64_t tile_w, uint8_t *to)
{
    static tiles t;
    qfz_error err = {0};
    t.p = p;
    t.tiling = (qfz_tiling){.w = p->w,
                            .h = p->h,
                            .tile_w = tile_w,
                            .tile_h = tile_h,
                            .n_x = (p->w + tile_w - 1) / tile_w,
                            .n_y = (p->h + tile_h - 1) / tile_h};
    const int64_t n = t.tiling.n_x * t.tiling.n_y;
    ok(qfz_stitch_open(&t.stitch, &p->rule, QFZ_FILTER, &t.tiling, &alone, 1, 1 << 30, ".", &err),
       &err);
    open_worker(&t, engine);
    for (int64_t tile = 0; n > 1 && tile < n; tile++)
        summarise(&t, engine, tile);
    ok(qfz_stitch_solve(t.stitch, NULL, NULL, &err), &err);
    for (int64_t tile = 0; tile < n; tile++)
        resolve(&t, engine, tile, to);
    engine->close(&t.worker, 1);
    qfz_stitch_close(t.stitch);
}

static void same_bits(const problem *p, const uint8_t *got, const char *what)
{
    for (int64_t i = 0; i < p->h * p->w; i++) {
        const int64_t f = p->rule.wants_forest ? MAX_PX + i : i;
        if (!CHECK(got[i] == p->want[i] && got[f] == p->want[f],
                   "%s: pixel %d %d has bits %x %x, not %x %x", what, (int)(i / p->w),
                   (int)(i % p->w), got[i], got[f], p->want[i], p->want[f]))
            return;
    }
}

static problem p;

static void test_problem(void)
{
    static uint8_t got[2 * MAX_PX];
    filter_in_tiles(&p, &qfz_engine_cpu, p.h, p.w, p.want);
    filter_in_tiles(&p, &TEST_ENGINE_TABLE, p.h, p.w, got);
    same_bits(&p, got, "whole");
    const int64_t least = check_chance(20) ? 5 : 60;
    const int64_t tile_h = least + check_pick(140), tile_w = least + check_pick(140);
    filter_in_tiles(&p, &TEST_ENGINE_TABLE, tile_h < p.h ? tile_h : p.h,
                    tile_w < p.w ? tile_w : p.w, got);
    same_bits(&p, got, "in tiles");
}

/* For tools that slow kernels down ten thousandfold: blocks of each kind. */
static void small_cases(void)
{
    static const qfz_type types[] = {QFZ_U8, QFZ_U16, QFZ_F32};
    for (int i = 0; i < 6; i++) {
        check_case(0, "making the case");
        make_small(&p, types[i / 2], i % 2 ? 8 : 4);
        test_problem();
    }
}

/* PROGRAM SEED 0: small cases only. */
int main(int argc, char **argv)
{
    need_engine();
    check_begin(argc, argv, 100);
    if (check_.first == 0) small_cases();
    for (int64_t i = check_.first; i < check_.cases; i++) {
        check_case(i, "making the case");
        make_any(&p);
        test_problem();
    }
    return check_end();
}
