/* SPDX-License-Identifier: MIT */
/* test_filter.c - the area filter through the engine's table, whole and in tiles that are stitched,
 * equals its definition; and so do labels, saliency and (alpha, omega)-regions of the filtered
 * hierarchy. */
#include "engine_under_test.h"
#include "filter_cases.h"
#include "cpu/filter_tile.h"
#include "stitch/stitch.h"

static const qfz_ranks alone = {.n = 1, .n_local = 1};

static void ok(qfz_status st, const qfz_error *err)
{
    CHECK(st == QFZ_OK, "status %d: %s", (int)st, err->message);
}

/* One pass over the tiles of a case. */
typedef struct bench {
    filter_case *c;
    const qfz_rule *rule;
    qfz_tiling tiling;
    qfz_worker *worker;
    qfz_filter_tile *small; /* NULL, or in place of the worker for most tiles: the CPU engine's, in
                             * blocks of few pixels */
    qfz_stitch *stitch;
    qfz_filter_kept *kept[FILTER_PX]; /* of tiles; NULL: nothing */
    bool is_small[FILTER_PX];         /* kept by `small` */

    /* The loaded tile. */
    qfz_box box;
    uint8_t pixels[FILTER_PX * 3 * 4], valid[FILTER_PX], zeroed[FILTER_PX];
    qfz_image tile;
} bench;

static int64_t n_tiles(const bench *b)
{
    return b->tiling.n_x * b->tiling.n_y;
}

/* Threads that wait for each other take long on a busy machine. */
static int some_threads(void)
{
    return check_chance(95) ? 1 : 2 + (int)check_pick(3);
}

static void open_bench(bench *b, filter_case *c, const qfz_rule *rule, qfz_kind kind)
{
    qfz_error err = {0};
    const int64_t h = c->r.image.h, w = c->r.image.w;
    b->c = c;
    b->rule = rule;
    b->tiling = (qfz_tiling){.w = w,
                             .h = h,
                             .tile_w = c->tile_w,
                             .tile_h = c->tile_h,
                             .n_x = (w + c->tile_w - 1) / c->tile_w,
                             .n_y = (h + c->tile_h - 1) / c->tile_h};
    const qfz_worker_spec spec = {.rule = rule,
                                  .kind = kind,
                                  .max_h = (int32_t)c->tile_h,
                                  .max_w = (int32_t)c->tile_w,
                                  .n_threads = some_threads()};
    ok(TEST_ENGINE_TABLE.open(&b->worker, 1, &spec, &err), &err);
    ok(qfz_stitch_open(&b->stitch, rule, kind, &b->tiling, &alone, some_threads(),
                       check_chance(50) ? 0 : 1 << 30, ".", &err),
       &err);
}

static void close_bench(bench *b)
{
    if (b->small) qfz_filter_tile_fini(b->small);
    b->small = NULL;
    TEST_ENGINE_TABLE.close(&b->worker, 1);
    qfz_stitch_close(b->stitch);
}

/* Loads a tile; zeroed: of the whole raster, or NULL. */
static void load(bench *b, int64_t t, const uint8_t *zeroed)
{
    qfz_error err = {0};
    const qfz_image *const image = &b->c->r.image;
    const size_t bytes = qfz_type_bytes(image->type);
    b->box = qfz_tiling_box(&b->tiling, t / b->tiling.n_x, t % b->tiling.n_x);
    const int64_t h = qfz_box_h(b->box), w = qfz_box_w(b->box);
    for (int64_t i = 0; i < h * w; i++) {
        const int64_t from = (b->box.y0 + i / w) * image->w + b->box.x0 + i % w;
        b->valid[i] = image->valid[from];
        b->zeroed[i] = zeroed ? zeroed[from] : 0;
        for (int64_t band = 0; band < image->n_bands; band++)
            memcpy(b->pixels + (size_t)(band * h * w + i) * bytes,
                   (const uint8_t *)image->pixels +
                       (size_t)(band * image->h * image->w + from) * bytes,
                   bytes);
    }
    b->tile = (qfz_image){.h = h,
                          .w = w,
                          .n_bands = image->n_bands,
                          .type = image->type,
                          .pixels = b->pixels,
                          .valid = b->valid,
                          .zeroed = zeroed ? b->zeroed : NULL};
    ok(qfz_engine_load(&TEST_ENGINE_TABLE, b->worker, &b->tile, &err), &err);
}

static int64_t pixel_of(const bench *b, int64_t i)
{
    return (b->box.y0 + i / b->tile.w) * b->tiling.w + b->box.x0 + i % b->tile.w;
}

static const uint64_t *rows_of(const bench *b)
{
    return b->c->has_weights ? b->c->row_mass + b->box.y0 : NULL;
}

/* ---- Stage one. */
static void same_bits(const bench *b, const uint8_t *got, const uint8_t *want)
{
    for (int64_t i = 0; i < b->tile.h * b->tile.w; i++)
        if (!CHECK(got[i] == want[pixel_of(b, i)],
                   "pixel %d of the tile at %d %d has bits %x, not %x", (int)i, (int)b->box.y0,
                   (int)b->box.x0, got[i], want[pixel_of(b, i)]))
            return;
}

/* Levels of the forest's edges that leave the tile. */
static void check_crossing(const bench *b, const qfz_exterior *exterior)
{
    const filter_case *const c = b->c;
    for (int i = 0; i < c->n_forest; i++) {
        const forest_edge *const e = &c->forest[i];
        const int64_t y = e->p / b->tiling.w - b->box.y0, x = e->p % b->tiling.w - b->box.x0;
        const int64_t v = y + qfz_dir_dy[e->dir], u = x + qfz_dir_dx[e->dir];
        const int64_t h = b->tile.h, w = b->tile.w;
        if (y < 0 || y >= h || x < 0 || x >= w) continue;
        if (v < h && u >= 0 && u < w) continue;
        const uint32_t got =
            exterior->cross[e->dir * exterior->n_ring + qfz_ring_index(h, w, y, x)];
        CHECK(got == e->filtered, "crossing edge from pixel %d in direction %d: %u, not %u", e->p,
              e->dir, got, e->filtered);
    }
}

/* What has been found of tile t, for its summary, is kept. */
static void keep_tile(bench *b, int64_t t, bool is_small, const qfz_edge_bits *bits)
{
    const qfz_engine_filter *const filter = TEST_ENGINE_TABLE.filter;
    qfz_error err = {0};
    const int64_t bytes =
        is_small ? qfz_filter_tile_kept_bytes(b->small) : filter->kept_bytes(b->worker);
    CHECK(bytes >= (b->tile.h * b->tile.w + 1) / 2, "%d bytes are kept", (int)bytes);
    ok(is_small ? qfz_filter_tile_keep(b->small, bits, &b->kept[t], &err)
                : filter->keep(b->worker, bits, &b->kept[t], &err),
       &err);
    b->is_small[t] = is_small;
}

static void summarise_tile(bench *b, int64_t t, qfz_summary *summary)
{
    const qfz_engine_filter *const filter = TEST_ENGINE_TABLE.filter;
    const bool is_small = b->small && check_chance(70);
    const bool keeps = filter->keep && check_chance(50);
    uint8_t zeroed[FILTER_PX], forest[FILTER_PX];
    const qfz_edge_bits room = {zeroed, b->rule->wants_forest ? forest : NULL};
    const qfz_edge_bits *const bits = keeps ? &room : NULL;
    qfz_error err = {0};
    b->kept[t] = NULL;
    if (is_small) {
        ok(qfz_summary_take_ring(summary, &b->tile, b->rule, &err), &err);
        ok(qfz_filter_tile_summarise(b->small, &b->tile, b->box, rows_of(b), bits, summary, &err),
           &err);
    } else {
        ok(filter->summarise(b->worker, b->box, rows_of(b), bits, summary, &err), &err);
    }
    if (keeps) keep_tile(b, t, is_small, bits);
}

static void summarise_filter(bench *b)
{
    qfz_error err = {0};
    for (int64_t t = 0; t < n_tiles(b); t++) {
        qfz_summary summary;
        load(b, t, NULL);
        ok(qfz_summary_init(&summary, b->box, b->rule, &err), &err);
        summarise_tile(b, t, &summary);
        CHECK(summary.links.n < summary.n_ring || summary.n_ring == 0, "%d links, %d ring pixels",
              (int)summary.links.n, (int)summary.n_ring);
        ok(qfz_stitch_put(b->stitch, t, &summary, &err), &err);
        qfz_summary_fini(&summary);
    }
    ok(qfz_stitch_solve(b->stitch, NULL, NULL, &err), &err);
}

static qfz_status resolve_filter(bench *b, const qfz_exterior *exterior, const qfz_edge_bits *bits,
                                 qfz_error *err)
{
    const uint64_t *const rows = rows_of(b);
    return b->small && check_chance(70)
               ? qfz_filter_tile_resolve(b->small, &b->tile, b->box, rows, exterior, bits, err)
               : TEST_ENGINE_TABLE.filter->resolve(b->worker, b->box, rows, exterior, bits, err);
}

/* From what is kept, without the tile's pixels. */
static qfz_status resolve_kept(bench *b, int64_t t, const qfz_exterior *exterior,
                               const qfz_edge_bits *bits, qfz_error *err)
{
    memset(b->pixels, 0xa5, sizeof b->pixels);
    if (b->is_small[t])
        return qfz_filter_tile_resolve_kept(b->small, &b->tile, b->box, b->kept[t], exterior, bits,
                                            err);
    return TEST_ENGINE_TABLE.filter->resolve_kept(b->worker, &b->tile, b->box, b->kept[t], exterior,
                                                  bits, err);
}

static void drop_kept(bench *b)
{
    for (int64_t t = 0; t < n_tiles(b); t++)
        if (b->kept[t]) TEST_ENGINE_TABLE.filter->drop(b->kept[t]);
}

static void check_zeroed(filter_case *c)
{
    static bench b;
    static qfz_filter_tile small;
    qfz_error err = {0};
    uint8_t got[FILTER_PX], forest[FILTER_PX];
    c->rule.wants_forest = check_chance(50);
    const qfz_edge_bits bits = {got, c->rule.wants_forest ? forest : NULL};
    open_bench(&b, c, &c->rule, QFZ_FILTER);
    if (check_chance(60)) {
        b.small = &small;
        ok(qfz_filter_tile_init(&small, &c->rule, c->tile_h, c->tile_w, 1 + check_pick(9),
                                some_threads(), &err),
           &err);
    }
    summarise_filter(&b);
    for (int64_t t = 0; t < n_tiles(&b); t++) {
        qfz_exterior exterior;
        load(&b, t, NULL);
        ok(qfz_stitch_exterior(b.stitch, t, &exterior, &err), &err);
        const qfz_exterior *const from = exterior.n_ring ? &exterior : NULL;
        CHECK(exterior.masses.n <= exterior.n_ring, "%d mass events for %d ring pixels",
              (int)exterior.masses.n, (int)exterior.n_ring);
        ok(from && b.kept[t] ? resolve_kept(&b, t, from, &bits, &err)
                             : resolve_filter(&b, from, &bits, &err),
           &err);
        same_bits(&b, got, c->zeroed);
        if (c->rule.wants_forest) same_bits(&b, forest, c->kept);
        if (c->rule.wants_forest && from) check_crossing(&b, from);
        qfz_exterior_fini(&exterior);
    }
    drop_kept(&b);
    close_bench(&b);
}

/* A raster of several blocks of full size, with many ties: the same whatever the blocks. */
static void check_blocks(void)
{
    enum { H = 180, W = 150 };
    static uint8_t pixels[H * W], valid[H * W], got[2][H * W], forest[2][H * W];
    const int64_t range = 1 + check_pick(20), holes = check_pick(3) * 20;
    qfz_error err = {0};
    for (int i = 0; i < H * W; i++) {
        pixels[i] = (uint8_t)(i / W / 8 + check_pick(range));
        valid[i] = !check_chance(holes);
    }
    const qfz_image image = {
        .h = H, .w = W, .n_bands = 1, .type = QFZ_U8, .pixels = pixels, .valid = valid};
    const qfz_rule rule = {.connectivity = check_chance(50) ? 4 : 8,
                           .distance = QFZ_LINF,
                           .type = QFZ_U8,
                           .n_bands = 1,
                           .min_mass = 2 + (uint64_t)check_pick(check_chance(50) ? 100 : 10000),
                           .wants_forest = true};
    check_describe("%d values, %d %% holes, %d-connected, N %d", (int)range, (int)holes,
                   rule.connectivity, (int)rule.min_mass);
    for (int i = 0; i < 2; i++) {
        qfz_filter_tile f;
        const int64_t side = i == 0 ? QFZ_CPU_BLOCK_SIDE : 5 + check_pick(20);
        const qfz_edge_bits bits = {got[i], forest[i]};
        ok(qfz_filter_tile_init(&f, &rule, H, W, side, some_threads(), &err), &err);
        ok(qfz_filter_tile_resolve(&f, &image, (qfz_box){0, 0, H, W}, NULL, NULL, &bits, &err),
           &err);
        qfz_filter_tile_fini(&f);
    }
    CHECK(memcmp(got[0], got[1], sizeof got[0]) == 0, "the bits depend on the blocks");
    CHECK(memcmp(forest[0], forest[1], sizeof forest[0]) == 0, "the forest depends on the blocks");
}

/* A chessboard, all of whose edges have one level, around a pixel with two edges whose positions
 * agree in the higher 32 bits: they were found by a search. */
static void check_near_ties(void)
{
    static const int64_t places[][2] = {
        {29388, 34810},  {32108, 31661},  {88256, 4886},   {91840, 60182},  {119626, 55302},
        {140120, 20741}, {141010, 54232}, {146477, 16343}, {147713, 53213}, {152040, 22365}};
    static filter_case c;
    static qfz_worker *worker;
    uint8_t pixels[FILTER_PX], valid[FILTER_PX], zeroed[FILTER_PX], forest[FILTER_PX];
    const int64_t *const place = places[check_pick(sizeof places / sizeof *places)];
    const int64_t side = 2 + check_pick(5), before = check_pick(side);
    qfz_error err = {0};
    for (int64_t p = 0; p < side * side; p++) {
        pixels[p] = (uint8_t)((p / side + p % side) % 2);
        valid[p] = 1;
    }
    c = (filter_case){.y0 = place[0] - before, .x0 = place[1] - check_pick(side)};
    c.r.image = (qfz_image){
        .h = side, .w = side, .n_bands = 1, .type = QFZ_U8, .pixels = pixels, .valid = valid};
    c.rule = (qfz_rule){.connectivity = 4,
                        .distance = QFZ_LINF,
                        .type = QFZ_U8,
                        .n_bands = 1,
                        .alpha_level = UINT32_MAX,
                        .min_mass = 1 + (uint64_t)check_pick(side * side),
                        .wants_forest = true};
    for (int64_t y = 0; y < side; y++)
        c.row_mass[y] = 1;
    filter_by_definition(&c);
    check_describe("%d x %d pixels at %d %d, N %d", (int)side, (int)side, (int)c.y0, (int)c.x0,
                   (int)c.rule.min_mass);
    const qfz_worker_spec spec = {.rule = &c.rule,
                                  .kind = QFZ_FILTER,
                                  .max_h = (int32_t)side,
                                  .max_w = (int32_t)side,
                                  .n_threads = 1};
    const qfz_edge_bits bits = {zeroed, forest};
    const qfz_box box = {c.y0, c.x0, c.y0 + side, c.x0 + side};
    ok(TEST_ENGINE_TABLE.open(&worker, 1, &spec, &err), &err);
    ok(qfz_engine_load(&TEST_ENGINE_TABLE, worker, &c.r.image, &err), &err);
    ok(TEST_ENGINE_TABLE.filter->resolve(worker, box, NULL, NULL, &bits, &err), &err);
    for (int64_t p = 0; p < side * side; p++)
        CHECK(zeroed[p] == c.zeroed[p] && forest[p] == c.kept[p],
              "pixel %d has bits %x and %x, not %x and %x", (int)p, zeroed[p], forest[p],
              c.zeroed[p], c.kept[p]);
    TEST_ENGINE_TABLE.close(&worker, 1);
}

/* A bowl, whose components are rows and columns of pixels: so nearly each pixel is a mass event,
 * and a group has several blocks of them (event_lists.h). */
static void check_bowl(void)
{
    static filter_case c;
    static uint16_t pixels[FILTER_PX];
    static uint8_t valid[FILTER_PX];
    const int64_t y0 = check_pick(FILTER_SIDE), x0 = check_pick(FILTER_SIDE);
    for (int64_t p = 0; p < FILTER_PX; p++) {
        const int64_t y = p / FILTER_SIDE - y0, x = p % FILTER_SIDE - x0;
        pixels[p] = (uint16_t)(y * y + x * x);
        valid[p] = 1;
    }
    c = (filter_case){.tile_h = 3 + check_pick(10), .tile_w = 3 + check_pick(10)};
    c.r.image = (qfz_image){.h = FILTER_SIDE,
                            .w = FILTER_SIDE,
                            .n_bands = 1,
                            .type = QFZ_U16,
                            .pixels = pixels,
                            .valid = valid};
    c.rule = (qfz_rule){.connectivity = check_chance(50) ? 4 : 8,
                        .distance = QFZ_LINF,
                        .type = QFZ_U16,
                        .n_bands = 1,
                        .alpha_level = UINT32_MAX,
                        .min_mass = 2 + (uint64_t)check_pick(FILTER_PX)};
    for (int64_t y = 0; y < FILTER_SIDE; y++)
        c.row_mass[y] = 1;
    filter_by_definition(&c);
    check_describe("a bowl about %d %d, tiles of %d x %d, N %d", (int)y0, (int)x0, (int)c.tile_h,
                   (int)c.tile_w, (int)c.rule.min_mass);
    check_zeroed(&c);
}

/* ---- Stage two. */
static void summarise(bench *b, qfz_kind kind)
{
    qfz_error err = {0};
    for (int64_t t = 0; t < n_tiles(b); t++) {
        qfz_summary summary;
        qfz_partition partition;
        load(b, t, b->c->zeroed);
        if (kind == QFZ_COMPONENTS) {
            ok(TEST_ENGINE_TABLE.partition(b->worker, NULL, &partition, &err), &err);
            ok(qfz_stitch_put_partition(b->stitch, t, &partition, &err), &err);
        }
        ok(qfz_summary_init(&summary, b->box, b->rule, &err), &err);
        ok(TEST_ENGINE_TABLE.summarise(b->worker, &summary, &err), &err);
        ok(qfz_stitch_put(b->stitch, t, &summary, &err), &err);
        qfz_summary_fini(&summary);
    }
    ok(qfz_stitch_solve(b->stitch, NULL, NULL, &err), &err);
}

static void partition_tile(bench *b, int64_t t, qfz_partition *partition)
{
    qfz_error err = {0};
    qfz_exterior exterior;
    load(b, t, b->c->zeroed);
    ok(qfz_stitch_exterior(b->stitch, t, &exterior, &err), &err);
    ok(TEST_ENGINE_TABLE.partition(b->worker, exterior.n_ring ? &exterior : NULL, partition, &err),
       &err);
    qfz_exterior_fini(&exterior);
}

static void same_labels(const bench *b, const uint32_t *got, const uint32_t *want)
{
    for (int64_t i = 0; i < b->tile.h * b->tile.w; i++)
        if (!CHECK(got[i] == want[pixel_of(b, i)], "pixel %d has label %u, not %u",
                   (int)pixel_of(b, i), got[i], want[pixel_of(b, i)]))
            return;
}

static void check_labels(filter_case *c, const qfz_rule *rule, const uint32_t *want,
                         uint32_t n_want)
{
    static bench b;
    qfz_error err = {0};
    qfz_partition partition;
    qfz_count count = {0};
    const qfz_kind kind = rule->omega ? QFZ_OMEGA : QFZ_COMPONENTS;
    open_bench(&b, c, rule, kind);
    summarise(&b, kind);
    for (int64_t t = 0; kind == QFZ_OMEGA && t < n_tiles(&b); t++) {
        partition_tile(&b, t, &partition);
        ok(qfz_stitch_put_partition(b.stitch, t, &partition, &err), &err);
    }
    ok(qfz_stitch_number(b.stitch, &err), &err);
    ok(qfz_stitch_count(b.stitch, 0, 1, &count, &err), &err);
    CHECK(count.total == n_want, "%d regions, not %d", (int)count.total, (int)n_want);
    for (int64_t t = 0; t < n_tiles(&b); t++) {
        uint32_t got[FILTER_PX];
        qfz_numbers numbers = {0};
        partition_tile(&b, t, &partition);
        ok(qfz_stitch_numbers(b.stitch, t, &partition, &numbers, &err), &err);
        ok(TEST_ENGINE_TABLE.number(b.worker, &numbers, &err), &err);
        ok(TEST_ENGINE_TABLE.labels(b.worker, false, got, &err), &err);
        qfz_numbers_fini(&numbers);
        same_labels(&b, got, want);
    }
    close_bench(&b);
}

static void check_saliency(filter_case *c)
{
    static bench b;
    static uint32_t want[FILTER_PX * QFZ_MAX_DIRS];
    const int64_t n_px = c->r.image.h * c->r.image.w;
    qfz_error err = {0};
    filter_saliency(c, want);
    open_bench(&b, c, &c->rule, QFZ_LEVELS);
    summarise(&b, QFZ_LEVELS);
    for (int64_t t = 0; t < n_tiles(&b); t++) {
        uint32_t got[FILTER_PX * QFZ_MAX_DIRS];
        qfz_exterior exterior;
        load(&b, t, c->zeroed);
        ok(qfz_stitch_exterior(b.stitch, t, &exterior, &err), &err);
        ok(TEST_ENGINE_TABLE.saliency(b.worker, exterior.n_ring ? &exterior : NULL, sizeof *got,
                                      got, &err),
           &err);
        qfz_exterior_fini(&exterior);
        for (int dir = 0; dir < qfz_n_dirs(&c->rule); dir++)
            same_labels(&b, got + dir * b.tile.h * b.tile.w, want + dir * n_px);
    }
    close_bench(&b);
}

/* No region is lighter than N unless it is a whole area. */
static void check_weights(const filter_case *c, const uint32_t *labels, uint32_t n)
{
    static uint32_t area[FILTER_PX];
    uint64_t weight[FILTER_PX + 1] = {0}, whole[FILTER_PX + 1] = {0}, px[FILTER_PX + 1] = {0};
    uint32_t area_of[FILTER_PX + 1] = {0};
    (void)filter_labels(c, UINT32_MAX, area);
    for (int64_t p = 0; p < c->r.image.h * c->r.image.w; p++) {
        weight[labels[p]] += c->row_mass[p / c->r.image.w];
        px[labels[p]]++;
        whole[area[p]]++;
        area_of[labels[p]] = area[p];
    }
    for (uint32_t i = 1; i <= n; i++)
        CHECK(weight[i] >= c->rule.min_mass || px[i] == whole[area_of[i]],
              "region %u weighs %llu and is not a whole area", i, (unsigned long long)weight[i]);
}

static uint32_t some_level(const filter_case *c)
{
    if (c->n_forest == 0 || check_chance(10)) return check_chance(50) ? 0 : UINT32_MAX;
    return c->forest[check_pick(c->n_forest)].level;
}

static void check_cuts(filter_case *c)
{
    static uint32_t want[FILTER_PX];
    double omega[3];
    for (int i = 0; i < 2; i++) {
        qfz_rule rule = c->rule;
        rule.alpha_level = some_level(c);
        uint32_t n = filter_labels(c, rule.alpha_level, want);
        check_labels(c, &rule, want, n);
        check_weights(c, want, n);
        if (i == 0) continue;
        for (int b = 0; b < 3; b++)
            omega[b] = raster_omega(&c->r, b % c->r.image.n_bands);
        rule.omega = omega;
        n = filter_alpha_omega(c, rule.alpha_level, omega, want);
        check_labels(c, &rule, want, n);
        check_weights(c, want, n);
    }
}

/* Nothing weighs less than one pixel. */
static void check_least_of_one(filter_case *c)
{
    filter_case one = *c;
    one.rule.min_mass = 1;
    one.has_weights = false;
    for (int64_t y = 0; y < FILTER_SIDE; y++)
        one.row_mass[y] = 1;
    filter_by_definition(&one);
    check_zeroed(&one);
}

/* ---- Sessions: the image as a whole, weights being pixels. */
static void check_part(qfz_session *s, qfz_part part, const uint32_t *want, int64_t n)
{
    qfz_error err = {0};
    ok(qfz_session_run(s, part, NULL, &err), &err);
    const uint32_t *const got =
        part == QFZ_PART_SALIENCY ? qfz_session_saliency(s) : qfz_session_labels(s, NULL);
    for (int64_t i = 0; got && i < n; i++)
        if (!CHECK(got[i] == want[i], "part %d: element %d is %u, not %u", (int)part, (int)i,
                   got[i], want[i]))
            return;
}

static void check_session(filter_case *c)
{
    static uint32_t want[FILTER_PX * QFZ_MAX_DIRS];
    const int64_t n_px = c->r.image.h * c->r.image.w;
    const uint32_t level = some_level(c) % UINT32_MAX;
    const double alpha = qfz_level_value(&c->rule, level);
    const double omega = raster_omega(&c->r, 0), omegas[3] = {omega, omega, omega};
    const qfz_criterion criterion = {.connectivity = c->rule.connectivity,
                                     .distance = c->rule.distance,
                                     .has_alpha = true,
                                     .alpha = alpha,
                                     .omega = &omega,
                                     .n_omega = 1,
                                     .min_area = c->rule.min_mass};
    qfz_session_options options = qfz_session_options_default();
    qfz_session *s = NULL;
    qfz_error err = {0};
    options.engine = TEST_ENGINE;
    options.n_threads = some_threads();
    ok(qfz_session_open(&s, &c->r.image, &criterion, &options, &err), &err);
    if (!s) return;
    (void)filter_labels(c, level, want);
    check_part(s, QFZ_PART_LABEL, want, n_px);
    (void)filter_alpha_omega(c, level, omegas, want);
    check_part(s, QFZ_PART_ALPHA_OMEGA, want, n_px);
    filter_saliency(c, want);
    check_part(s, QFZ_PART_SALIENCY, want, n_px * qfz_n_dirs(&c->rule));
    qfz_session_close(s);
}

static void test_case(void)
{
    static filter_case c;
    filter_make(&c);
    filter_by_definition(&c);
    check_zeroed(&c);
    if (check_chance(10)) check_least_of_one(&c);
    if (check_chance(40)) check_cuts(&c);
    if (check_chance(15)) check_saliency(&c);
    if (check_chance(25) && !c.has_weights) check_session(&c);
    raster_free(&c.r);
}

int main(int argc, char **argv)
{
    need_engine();
    check_begin(argc, argv, 3000);
    for (int64_t i = check_.first; i < check_.cases; i++) {
        check_case(i, "making the case");
        test_case();
        if (check_chance(2)) check_blocks();
        if (check_chance(20)) check_near_ties();
        if (check_chance(20)) check_bowl();
    }
    return check_end();
}
