/* SPDX-License-Identifier: MIT */
/* test_groups.c - groups of tiles stitched by an engine's worker against groups stitched by the
 * host's threads, from the same summaries: border regions, omega levels and levels of crossing
 * edges are equal, and external links give the same minimax levels. */
#include "cpu/graph.h"
#include "engine_under_test.h"
#include "gpu/stitched.h"
#include "rasters.h"

enum {
    SIDE = 48,         /* of the raster */
    WORKER_SIDE = 128, /* a worker for tiles of this size has memory for any group */
};

/* The engine under test; counts its calls, and on request returns wrong results. */
static qfz_engine watched;
static qfz_engine_groups watched_groups;
static int n_taken;
static bool lies;

static qfz_status watched_summarise(qfz_worker *worker, const qfz_group_graph *graph,
                                    qfz_summary *summary, qfz_error *err)
{
    n_taken++;
    return TEST_ENGINE_TABLE.groups->summarise(worker, graph, summary, err);
}

static qfz_status watched_levels(qfz_worker *worker, const qfz_group_graph *graph,
                                 qfz_exterior *members, uint32_t *cross_level, qfz_error *err)
{
    n_taken++;
    const qfz_status st =
        TEST_ENGINE_TABLE.groups->levels(worker, graph, members, cross_level, err);
    if (lies && graph->cross->n > 0) cross_level[0]++;
    for (int m = 0; lies && m < graph->n_members; m++)
        if (members[m].external.n > 0) members[m].external.level[0]++;
    return st;
}

static qfz_status watched_regions(qfz_worker *worker, const qfz_group_graph *graph,
                                  const qfz_exterior *own, qfz_group_regions *found, qfz_error *err)
{
    n_taken++;
    const qfz_status st = TEST_ENGINE_TABLE.groups->regions(worker, graph, own, found, err);
    if (lies) found->omega_level[0]--;
    return st;
}

static void watch(void)
{
    watched = TEST_ENGINE_TABLE;
    watched_groups = *TEST_ENGINE_TABLE.groups;
    watched_groups.summarise = watched_summarise;
    watched_groups.levels = watched_levels;
    watched_groups.regions = watched_regions;
    watched.groups = &watched_groups;
}

static bool ok(qfz_status st, const qfz_error *err)
{
    return CHECK(st == QFZ_OK, "status %d: %s", (int)st, err->message);
}

/* ---- One problem, stitched both ways --------------------------------------------------------- */
typedef struct problem {
    const qfz_image *image;
    const qfz_rule *rule;
    qfz_kind kind;
    int64_t tile_h, tile_w;
    int32_t worker_side; /* the worker's memory is for tiles of this size */
    stitched *host, *device;
    qfz_worker *worker;
} problem;

static void summarise(const problem *p, int64_t tile)
{
    qfz_error err = {0};
    qfz_worker *worker = NULL;
    qfz_summary summary;
    const qfz_image *const image = stitched_tile(p->host, tile);
    const qfz_worker_spec spec = {.rule = p->rule,
                                  .kind = p->kind,
                                  .max_h = (int32_t)image->h,
                                  .max_w = (int32_t)image->w,
                                  .n_threads = 1};
    ok(qfz_engine_cpu.open(&worker, 1, &spec, &err), &err);
    ok(qfz_engine_load(&qfz_engine_cpu, worker, image, &err), &err);
    ok(qfz_summary_init(&summary, stitched_box(p->host, tile), p->rule, &err), &err);
    ok(qfz_engine_cpu.summarise(worker, &summary, &err), &err);
    stitched_put(p->host, tile, &summary);
    stitched_put(p->device, tile, &summary);
    qfz_summary_fini(&summary);
    qfz_engine_cpu.close(&worker, 1);
}

static void solve_both(problem *p)
{
    const qfz_worker_spec spec = {.rule = p->rule,
                                  .kind = p->kind,
                                  .max_h = p->worker_side,
                                  .max_w = p->worker_side,
                                  .n_threads = 1};
    qfz_error err = {0};
    ok(watched.open(&p->worker, 1, &spec, &err), &err);
    p->host = stitched_open(p->image, p->rule, p->kind, p->tile_h, p->tile_w);
    p->device = stitched_open(p->image, p->rule, p->kind, p->tile_h, p->tile_w);
    for (int64_t t = 0; t < stitched_tiles(p->host); t++)
        summarise(p, t);
    stitched_use(p->device, &watched, p->worker);
    stitched_solve(p->host);
    stitched_solve(p->device);
}

static void close_both(problem *p)
{
    stitched_close(p->host);
    stitched_close(p->device);
    watched.close(&p->worker, 1);
}

/* ---- Comparison: counts differences ---------------------------------------------------------- */
static qfz_forest forest_of(const qfz_links *links, uint32_t n)
{
    qfz_error err = {0};
    qfz_graph graph;
    qfz_forest forest;
    ok(qfz_graph_init(&graph, links->n, &err), &err);
    ok(qfz_forest_init(&forest, n, &err), &err);
    qfz_graph_set_links(&graph, n, links->u, links->v, links->level);
    qfz_graph_add_links(&graph, 0, links->n, UINT32_MAX);
    qfz_graph_sort(&graph);
    (void)qfz_forest_grow(&forest, &graph);
    qfz_graph_fini(&graph);
    return forest;
}

static int64_t externals_differ(const qfz_exterior *a, const qfz_exterior *b)
{
    const uint32_t n = (uint32_t)a->n_ring;
    qfz_forest by_a = forest_of(&a->external, n), by_b = forest_of(&b->external, n);
    int64_t n_differ = 0;
    for (uint32_t u = 0; u < n; u++)
        for (uint32_t v = 0; v < u; v++)
            n_differ += qfz_forest_minimax(&by_a, u, v) != qfz_forest_minimax(&by_b, u, v);
    qfz_forest_fini(&by_a);
    qfz_forest_fini(&by_b);
    return n_differ;
}

static int64_t levels_differ(const qfz_exterior *a, const qfz_exterior *b, int n_dirs)
{
    int64_t n_differ = externals_differ(a, b);
    for (int64_t i = 0; i < a->n_ring; i++) {
        n_differ += a->cross_has[i] != b->cross_has[i];
        for (int64_t d = 0; d < n_dirs; d++)
            if (a->cross_has[i] >> d & 1)
                n_differ += a->cross[d * a->n_ring + i] != b->cross[d * a->n_ring + i];
    }
    return n_differ;
}

static int64_t regions_differ(const qfz_exterior *a, const qfz_exterior *b)
{
    int64_t n_differ = a->n_border_regions != b->n_border_regions;
    for (int64_t i = 0; i < a->n_ring; i++)
        n_differ +=
            a->border_region[i] != b->border_region[i] || a->omega_level[i] != b->omega_level[i];
    return n_differ;
}

static int64_t exteriors_differ(const problem *p, int64_t tile)
{
    qfz_exterior a, b;
    stitched_exterior(p->host, tile, &a);
    stitched_exterior(p->device, tile, &b);
    int64_t n_differ = a.n_ring != b.n_ring;
    if (n_differ == 0 && a.n_ring > 0)
        n_differ = p->kind == QFZ_LEVELS ? levels_differ(&a, &b, qfz_n_dirs(p->rule))
                                         : regions_differ(&a, &b);
    qfz_exterior_fini(&a);
    qfz_exterior_fini(&b);
    return n_differ;
}

static int64_t differences(problem *p)
{
    int64_t n_differ = 0;
    solve_both(p);
    for (int64_t t = 0; t < stitched_tiles(p->host); t++)
        n_differ += exteriors_differ(p, t);
    close_both(p);
    return n_differ;
}

/* ---- Cases ----------------------------------------------------------------------------------- */
static void test_case(void)
{
    raster r;
    raster_make(&r, SIDE, -1, 2);
    const qfz_image *const image = &r.image;
    qfz_distance distance = (qfz_distance)check_pick(3);
    if (raster_levels_overflow(image, distance)) distance = QFZ_LINF;
    qfz_rule rule = {.connectivity = check_chance(50) ? 4 : 8,
                     .distance = distance,
                     .type = image->type,
                     .n_bands = image->n_bands,
                     .alpha_level = UINT32_MAX};
    double omega[RASTER_BANDS];
    oracle *const o = oracle_open(image, rule.connectivity, distance);
    const double alpha = check_chance(30) ? INFINITY : raster_alpha(o, &r);
    for (int b = 0; b < RASTER_BANDS; b++)
        omega[b] = raster_omega(&r, b % image->n_bands);
    problem p = {.image = image,
                 .rule = &rule,
                 .kind = QFZ_LEVELS,
                 .tile_h = 1 + check_pick(16),
                 .tile_w = 1 + check_pick(16),
                 .worker_side = WORKER_SIDE};
    check_describe("%dx%d in tiles of %dx%d, %d bands %s, %s in %s, holes %s, %d-connected, %s, "
                   "alpha %.17g, omega %.17g",
                   (int)image->h, (int)image->w, (int)p.tile_h, (int)p.tile_w, image->n_bands,
                   raster_types[image->type], r.shape, r.palette, r.holes, rule.connectivity,
                   raster_distances[distance], alpha, omega[0]);
    int64_t n = differences(&p);
    CHECK(n == 0, "%d differences of levels", (int)n);

    p.kind = QFZ_OMEGA;
    rule.alpha_level = qfz_level_of_alpha(&rule, alpha);
    rule.omega = omega;
    n = differences(&p);
    CHECK(n == 0, "%d differences of regions", (int)n);
    oracle_close(o);
    raster_free(&r);
}

/* The compared results come from the worker: a wrong result of the worker is a difference. */
static void a_lie_is_seen(qfz_kind kind)
{
    static const uint8_t pixels[16] = {1, 9, 2, 8, 3, 7, 4, 6, 1, 9, 2, 8, 3, 7, 4, 6};
    const qfz_image image = {.h = 4, .w = 4, .n_bands = 1, .type = QFZ_U8, .pixels = pixels};
    const double omega[1] = {4};
    const qfz_rule rule = {.connectivity = 4,
                           .distance = QFZ_LINF,
                           .type = QFZ_U8,
                           .n_bands = 1,
                           .alpha_level = kind == QFZ_LEVELS ? UINT32_MAX : 8,
                           .omega = kind == QFZ_OMEGA ? omega : NULL};
    problem p = {.image = &image,
                 .rule = &rule,
                 .kind = kind,
                 .tile_h = 2,
                 .tile_w = 2,
                 .worker_side = WORKER_SIDE};
    check_describe("kind %d, a worker that lies", (int)kind);
    n_taken = 0;
    CHECK(differences(&p) == 0, "differences");
    CHECK(n_taken == 1, "%d of 1 groups by the worker", n_taken);
    lies = true;
    CHECK(differences(&p) > 0, "nothing is noticed");
    lies = false;
}

enum { LARGE = 96, N_LARGE = LARGE * LARGE };

/* Noise in tiles of tile x tile pixels. */
static int64_t noise_differences(const qfz_rule *rule, qfz_kind kind, int64_t tile,
                                 int32_t worker_side)
{
    static float pixels[N_LARGE];
    for (int i = 0; i < N_LARGE; i++) {
        const uint8_t value = (uint8_t)check_pick(9);
        if (rule->type == QFZ_F32)
            pixels[i] = value;
        else
            ((uint8_t *)pixels)[i] = value;
    }
    const qfz_image image = {
        .h = LARGE, .w = LARGE, .n_bands = 1, .type = rule->type, .pixels = pixels};
    problem p = {.image = &image,
                 .rule = rule,
                 .kind = kind,
                 .tile_h = tile,
                 .tile_w = tile,
                 .worker_side = worker_side};
    n_taken = 0;
    return differences(&p);
}

/* The host stitches a group that does not fit the worker's memory. */
static void too_large_for_the_worker(void)
{
    const qfz_rule rule = {.connectivity = 4,
                           .distance = QFZ_LINF,
                           .type = QFZ_U8,
                           .n_bands = 1,
                           .alpha_level = UINT32_MAX};
    check_describe("a group that is too large for the worker");
    CHECK(noise_differences(&rule, QFZ_LEVELS, LARGE / 2, 2) == 0, "differences");
    CHECK(n_taken == 0, "%d groups by a worker that has no room", n_taken);
    CHECK(noise_differences(&rule, QFZ_LEVELS, LARGE / 2, WORKER_SIDE) == 0, "differences");
    CHECK(n_taken == 1, "%d of 1 groups by a worker that has room", n_taken);
}

/* Four groups and the group of these, with more vertices than a block of threads has. */
static void groups_of_groups(void)
{
    const double omega[1] = {5};
    const qfz_rule rule = {.connectivity = 8,
                           .distance = QFZ_LINF,
                           .type = QFZ_F32,
                           .n_bands = 1,
                           .alpha_level = UINT32_MAX,
                           .omega = omega};
    check_describe("groups of groups");
    CHECK(noise_differences(&rule, QFZ_OMEGA, LARGE / 4, WORKER_SIDE) == 0, "differences");
    CHECK(n_taken == 9, "%d of 4 groups and 5 by the worker", n_taken);
    CHECK(noise_differences(&rule, QFZ_LEVELS, LARGE / 4, WORKER_SIDE) == 0, "differences");
    CHECK(n_taken == 9, "%d of 4 groups and 5 by the worker", n_taken);
}

/* PROGRAM SEED 0: no random rasters. */
int main(int argc, char **argv)
{
    need_engine();
    check_begin(argc, argv, 60);
    watch();
    a_lie_is_seen(QFZ_LEVELS);
    a_lie_is_seen(QFZ_OMEGA);
    too_large_for_the_worker();
    groups_of_groups();
    for (int64_t i = check_.first; i < check_.cases; i++) {
        check_case(i, "making the case");
        test_case();
    }
    CHECK(n_taken > check_.cases - check_.first, "%d groups by workers", n_taken);
    return check_end();
}
