/* SPDX-License-Identifier: MIT */
/* test_sessions.c - random and hostile images in memory: every part equals the oracle. */
#include "engine_under_test.h"
#include "qfz_bench.h"
#include "rasters.h"

typedef struct problem {
    raster r;
    oracle *o;
    qfz_criterion criterion;
    double omega[RASTER_BANDS], weights[RASTER_BANDS];
    int n_threads;
    raster_edges edges; /* levels NULL: none */
} problem;

static int64_t n_pixels(const problem *p)
{
    return p->r.image.h * p->r.image.w;
}

static void make(problem *p, int64_t side)
{
    raster_make(&p->r, side, -1, RASTER_BANDS);
    if (!strcmp(p->r.holes, "none") && check_chance(50)) p->r.image.valid = NULL;
    p->criterion = (qfz_criterion){.connectivity = check_chance(50) ? 4 : 8,
                                   .distance = raster_distance(&p->r.image)};
    raster_weigh(p->weights, p->r.image.n_bands);
    if (p->criterion.distance != QFZ_SAM && check_chance(25)) {
        p->criterion.weights = p->weights;
        p->criterion.n_weights = p->r.image.n_bands;
    }
    p->edges = (raster_edges){0};
    if (check_chance(30)) {
        p->edges = raster_edges_make(&p->r.image, p->criterion.connectivity);
        p->r.image.edges = p->edges.levels;
        p->r.image.edges_are_float = p->edges.are_float;
        p->o = oracle_open_edges(&p->r.image, p->criterion.connectivity, p->edges.planes);
    } else {
        p->o = oracle_open_weighted(&p->r.image, p->criterion.connectivity, p->criterion.distance,
                                    p->criterion.weights);
    }
    p->criterion.has_alpha = p->edges.levels || check_chance(75);
    p->criterion.alpha = p->criterion.has_alpha ? raster_alpha(p->o, &p->r) : 0;
    if (p->edges.levels && check_chance(60))
        p->criterion.alpha = fmax(0, p->edges.planes[check_pick(n_pixels(p))]);
    for (int b = 0; b < RASTER_BANDS; b++)
        p->omega[b] = raster_omega(&p->r, b % p->r.image.n_bands);
    if (check_chance(80)) {
        p->criterion.omega = p->omega;
        p->criterion.n_omega = check_chance(50) ? 1 : p->r.image.n_bands;
        for (int b = 1; b < RASTER_BANDS && p->criterion.n_omega == 1; b++)
            p->omega[b] = p->omega[0];
    }
    p->n_threads = check_chance(50) ? 1 : 2;
    check_describe("%dx%d, %d bands %s, %s in %s, holes %s, %d-connected, %s%s, alpha %s %.17g, "
                   "omega %.17g (%d), %d threads",
                   (int)p->r.image.h, (int)p->r.image.w, p->r.image.n_bands,
                   raster_types[p->r.image.type], p->r.shape, p->r.palette, p->r.holes,
                   p->criterion.connectivity, raster_distances[p->criterion.distance],
                   p->edges.levels        ? " with edges"
                   : p->criterion.weights ? " with weights"
                                          : "",
                   p->criterion.has_alpha ? "at most" : "none", p->criterion.alpha, p->omega[0],
                   p->criterion.n_omega, p->n_threads);
}

static void same_labels(const char *name, qfz_session *s, const uint32_t *want, uint32_t n_want,
                        int64_t n)
{
    uint32_t n_got = 0;
    const uint32_t *got = qfz_session_labels(s, &n_got);
    CHECK(n_got == n_want, "%s: %u regions, not %u", name, n_got, n_want);
    for (int64_t i = 0; i < n; i++)
        if (!CHECK(got[i] == want[i], "%s: pixel %d has label %u, not %u", name, (int)i, got[i],
                   want[i]))
            return;
}

static bool runs(qfz_session *s, qfz_part part, const char *name)
{
    qfz_error err = {0};
    double ms = -1;
    const bool bench = part > QFZ_PART_FEATURES;
    const qfz_status st =
        bench ? qfz_bench_run(s, part, &ms, &err) : qfz_session_run(s, part, NULL, &err);
    CHECK(st != QFZ_OK || !bench || ms >= 0, "%s: took %g ms", name, ms);
    return CHECK(st == QFZ_OK, "%s: %s", name, err.message);
}

static void labels_equal(const problem *p, qfz_session *s)
{
    uint32_t *want = calloc((size_t)n_pixels(p), sizeof *want);
    if (!want) abort();
    if (runs(s, QFZ_PART_LABEL, "label"))
        same_labels("label", s, want,
                    p->criterion.has_alpha ? oracle_alpha(p->o, p->criterion.alpha, want)
                                           : oracle_flat(p->o, want),
                    n_pixels(p));
    if (runs(s, QFZ_PART_ALPHA_OMEGA, "alpha-omega"))
        same_labels("alpha-omega", s, want,
                    oracle_alpha_omega(p->o, p->criterion.has_alpha ? p->criterion.alpha : INFINITY,
                                       p->criterion.omega ? p->omega : NULL, want),
                    n_pixels(p));
    free(want);
}

static void saliency_equals(const problem *p, qfz_session *s, qfz_part part, const double *want)
{
    const char *name = part == QFZ_PART_RESOLVE ? "resolve" : "saliency";
    const int64_t n = p->criterion.connectivity / 2 * n_pixels(p);
    if (!runs(s, part, name)) return;
    const uint32_t *keys = qfz_session_saliency(s);
    for (int64_t i = 0; i < n; i++) {
        const bool none = keys[i] == UINT32_MAX;
        const double got = none ? ORACLE_NO_EDGE : qfz_session_level(s, keys[i]);
        if (want[i] == 4294967295.0 && none) continue; /* that level equals the number for "none" */
        if (!CHECK(got == want[i], "%s: direction %d of pixel %d is %.9g, not %.9g", name,
                   (int)(i / n_pixels(p)), (int)(i % n_pixels(p)), got, want[i]))
            return;
    }
}

/* The level of the lowest common ancestor of two pixels, or -1 if there is none. */
static double meeting_level(qfz_session *s, const qfz_tree *t, uint32_t a, uint32_t b,
                            uint8_t *seen)
{
    double level = -1;
    memset(seen, 0, (size_t)t->n_nodes);
    for (uint32_t i = a;; i = t->parent[i]) {
        seen[i] = 1;
        if (t->parent[i] == i) break;
    }
    for (uint32_t i = b;; i = t->parent[i]) {
        if (seen[i]) {
            level = qfz_session_level(s, t->level[i]);
            break;
        }
        if (t->parent[i] == i) break;
    }
    return level;
}

/* Parents come after their children, inner nodes have at least two children, and every chain
 * ends. */
static bool tree_is_canonical(const problem *p, const qfz_tree *t)
{
    const int64_t n = n_pixels(p);
    const int64_t before = (int64_t)check_.failures;
    uint32_t *children = calloc((size_t)t->n_nodes + 1, sizeof *children);
    if (!children) abort();
    CHECK(t->n_nodes >= n && t->n_nodes <= 2 * n, "tree: %d nodes", (int)t->n_nodes);
    for (int64_t i = 0; i < t->n_nodes; i++) {
        const uint32_t up = t->parent[i];
        if (!CHECK(up < t->n_nodes && (up == i || up >= n), "tree: parent %u of %d", up, (int)i))
            break;
        if (i < n) CHECK(t->level[i] == 0, "tree: pixel %d has level %u", (int)i, t->level[i]);
        if (up == i) continue;
        children[up]++;
        CHECK(i < n || t->level[up] > t->level[i], "tree: node %d of key %u under %u", (int)i,
              t->level[i], t->level[up]);
        if (i < n) CHECK(oracle_is_valid(p->o, i), "tree: invalid pixel %d has a parent", (int)i);
    }
    for (int64_t i = n; i < t->n_nodes; i++)
        CHECK(children[i] != 1 && (children[i] || t->parent[i] == i),
              "tree: node %d has %u children", (int)i, children[i]);
    free(children);
    return (int64_t)check_.failures == before;
}

static void tree_equals(const problem *p, qfz_session *s, const double *want)
{
    const int64_t n = n_pixels(p), w = p->r.image.w;
    static const int64_t dy[] = {0, 1, 1, 1}, dx[] = {1, 0, 1, -1};
    if (!runs(s, QFZ_PART_TREE, "tree")) return;
    const qfz_tree t = qfz_session_tree(s);
    if (!tree_is_canonical(p, &t)) return;
    uint8_t *seen = malloc((size_t)t.n_nodes);
    if (!seen) abort();
    for (int64_t i = 0; i < p->criterion.connectivity / 2 * n; i++) {
        const int64_t a = i % n, b = a + dy[i / n] * w + dx[i / n];
        if (want[i] == ORACLE_NO_EDGE) continue;
        const double got = meeting_level(s, &t, (uint32_t)a, (uint32_t)b, seen);
        if (!CHECK(got == want[i], "tree: pixels %d and %d meet at %.9g, not %.9g", (int)a, (int)b,
                   got, want[i]))
            break;
    }
    free(seen);
}

/* Cuts of the levels that the session keeps, and of a copy of them into memory of the caller. */
static void cuts_equal(const problem *p, qfz_session *s)
{
    const int64_t n = n_pixels(p);
    const double alphas[] = {0, raster_alpha(p->o, &p->r), INFINITY};
    const size_t bytes = (size_t)(p->criterion.connectivity / 2 * n) * sizeof(uint32_t);
    uint32_t *const want = calloc((size_t)n, sizeof *want), *const got = malloc((size_t)n * 4);
    uint32_t *const levels = malloc(bytes);
    if (!want || !got || !levels) abort();
    qfz_buffers into = qfz_buffers_default();
    into.labels = got;
    memcpy(levels, qfz_session_saliency(s), bytes);
    for (size_t i = 0; i < sizeof alphas / sizeof *alphas; i++) {
        qfz_error err = {0};
        const uint32_t n_want = oracle_alpha(p->o, alphas[i], want);
        const bool good = qfz_session_cut(s, alphas[i], NULL, NULL, &err) == QFZ_OK;
        if (CHECK(good, "cut: %s", err.message)) same_labels("cut", s, want, n_want, n);
        const bool again = qfz_session_cut(s, alphas[i], levels, &into, &err) == QFZ_OK;
        CHECK(again && !memcmp(got, want, (size_t)n * 4), "cut at %g of levels: %s", alphas[i],
              err.message);
        CHECK(!qfz_session_labels(s, NULL), "labels of the caller are the session's, too");
    }
    free(want);
    free(got);
    free(levels);
}

static bool close_to(double a, double b, double scale)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-11 * (fabs(b) + scale);
}

static void band_equals(const problem *p, const qfz_features *f, const oracle_region *want,
                        uint32_t i, int band)
{
    const int64_t at = (int64_t)i * p->r.image.n_bands + band;
    const double min = want->bands[band].min, max = want->bands[band].max;
    const double mean = want->bands[band].mean, stddev = want->bands[band].stddev;
    const double size = fmax(fabs(min), fabs(max));
    CHECK(f->min[at] == min && f->max[at] == max, "features: band %d: %g..%g, not %g..%g", band,
          f->min[at], f->max[at], min, max);
    CHECK(close_to(f->mean[at], mean, size), "features: band %d: mean %.17g, not %.17g", band,
          f->mean[at], mean);
    if (isfinite(size))
        CHECK(close_to(f->stddev[at], stddev, 1e4 * size), "features: band %d: stddev %g, not %g",
              band, f->stddev[at], stddev);
}

static void region_equals(const problem *p, const qfz_features *f, const oracle_region *want,
                          uint32_t i)
{
    CHECK(f->pixels[i] == want->pixels && close_to(f->x[i], want->x, 1) &&
              close_to(f->y[i], want->y, 1),
          "features: %d pixels about %g, %g", (int)f->pixels[i], f->x[i], f->y[i]);
    CHECK(f->x0[i] == want->x0 && f->y0[i] == want->y0 && f->x1[i] == want->x1 &&
              f->y1[i] == want->y1,
          "features: another box");
    for (int b = 0; b < p->r.image.n_bands; b++)
        band_equals(p, f, want, i, b);
}

/* Features of a few regions of the last run. */
static void features_equal(const problem *p, qfz_session *s)
{
    enum { SOME = 5, VALUES = SOME * RASTER_BANDS };
    qfz_error err = {0};
    uint32_t n = 0;
    const uint32_t *const labels = qfz_session_labels(s, &n);
    const uint32_t first = n ? (uint32_t)check_pick(n) : 0,
                   some = n - first < SOME ? n - first : SOME;
    uint64_t pixels[SOME];
    int64_t x0[SOME], y0[SOME], x1[SOME], y1[SOME];
    double x[SOME], y[SOME], mean[VALUES], min[VALUES], max[VALUES], stddev[VALUES];
    const qfz_features f = {sizeof f, pixels, x, y, x0, y0, x1, y1, mean, min, max, stddev};
    oracle_region *const want = calloc((size_t)n + 1, sizeof *want);
    if (!want) abort();
    oracle_regions(&p->r.image, labels, n, want);
    if (CHECK(qfz_session_features(s, first, some, &f, &err) == QFZ_OK, "%s", err.message))
        for (uint32_t i = 0; i < some; i++)
            region_equals(p, &f, &want[first + i], i);
    CHECK(qfz_session_features(s, n, 1, &f, NULL) == QFZ_EARG, "features of a region too many");
    free(want);
}

/* Two zeros are equal, and two NaN. */
static void same_pixels(const problem *p, const void *got, const void *want)
{
    const bool is_float = p->r.image.type == QFZ_F32;
    const size_t bytes = oracle_type_bytes(p->r.image.type);
    for (int64_t i = 0; i < n_pixels(p); i++) {
        const float a = is_float ? ((const float *)got)[i] : 0;
        const float b = is_float ? ((const float *)want)[i] : 0;
        const char *const at = (const char *)got + (size_t)i * bytes;
        const bool good = is_float ? a == b || (isnan(a) && isnan(b))
                                   : !memcmp(at, (const char *)want + (size_t)i * bytes, bytes);
        if (!CHECK(good, "painted: pixel %d differs", (int)i)) return;
    }
}

/* Painted means of every band; 0 where pixels are invalid. */
static void paint_equals(const problem *p, qfz_session *s)
{
    qfz_error err = {0};
    uint32_t n = 0;
    const uint32_t *const labels = qfz_session_labels(s, &n);
    const size_t plane = (size_t)n_pixels(p) * oracle_type_bytes(p->r.image.type);
    char *const want = calloc((size_t)p->r.image.n_bands, plane), *const got = malloc(plane);
    if (!want || !got) abort();
    oracle_paint(&p->r.image, labels, n, want);
    for (int b = 0; b < p->r.image.n_bands; b++) {
        const qfz_status st = qfz_session_paint(s, b, NULL, QFZ_MEMORY_HOST, got, &err);
        CHECK(st == QFZ_OK, "painted: %s", err.message);
        same_pixels(p, got, want + (size_t)b * plane);
    }
    CHECK(qfz_session_paint(s, p->r.image.n_bands, NULL, QFZ_MEMORY_HOST, got, NULL) == QFZ_EARG,
          "a band too many");
    free(want);
    free(got);
}

static void regions_equal(const problem *p, qfz_session *s)
{
    if (runs(s, QFZ_PART_FEATURES, "features")) features_equal(p, s);
    if (runs(s, QFZ_PART_LABEL, "label")) features_equal(p, s);
    if (!runs(s, QFZ_PART_ALPHA_OMEGA, "alpha-omega")) return;
    features_equal(p, s);
    paint_equals(p, s);
}

/* Results in memory of the caller are those of the session; nothing is written beside them. */
static void fills_buffer(qfz_session *s, qfz_part part, qfz_buffers *into, uint32_t **member,
                         const uint32_t *own, int64_t n)
{
    enum { GUARD = 0x5a5a5a5a };
    qfz_error err = {0};
    uint32_t *const memory = malloc((size_t)(n + 2) * sizeof *memory);
    uint32_t *const want = malloc((size_t)n * sizeof *want);
    if (!memory || !want) abort();
    memcpy(want, own, (size_t)n * sizeof *want);
    memory[0] = memory[n + 1] = GUARD;
    *member = memory + 1;
    CHECK(qfz_session_run(s, part, into, &err) == QFZ_OK, "part %d: %s", (int)part, err.message);
    CHECK(!memcmp(want, memory + 1, (size_t)n * sizeof *want), "part %d: other results", (int)part);
    CHECK(memory[0] == GUARD && memory[n + 1] == GUARD, "part %d: written beside", (int)part);
    *member = NULL;
    free(memory);
    free(want);
}

static void fills_buffers(const problem *p, qfz_session *s)
{
    const int64_t n = n_pixels(p), room = qfz_session_tree_room(s);
    qfz_buffers into = qfz_buffers_default();
    if (runs(s, QFZ_PART_ALPHA_OMEGA, "alpha-omega"))
        fills_buffer(s, QFZ_PART_ALPHA_OMEGA, &into, &into.labels, qfz_session_labels(s, NULL), n);
    CHECK(!qfz_session_labels(s, NULL), "labels in memory of the caller are the session's");
    if (runs(s, QFZ_PART_SALIENCY, "saliency"))
        fills_buffer(s, QFZ_PART_SALIENCY, &into, &into.levels, qfz_session_saliency(s),
                     p->criterion.connectivity / 2 * n);
    uint32_t *const level = malloc((size_t)room * sizeof *level);
    uint32_t *const parent = malloc((size_t)room * sizeof *parent);
    if (!level || !parent) abort();
    into.tree_parent = parent;
    into.tree_level = level;
    into.tree_room = room;
    if (runs(s, QFZ_PART_TREE, "tree")) {
        qfz_error err = {0};
        const qfz_tree own = qfz_session_tree(s);
        uint32_t *const want = malloc((size_t)own.n_nodes * sizeof *want);
        if (!want) abort();
        memcpy(want, own.level, (size_t)own.n_nodes * sizeof *want);
        CHECK(qfz_session_run(s, QFZ_PART_TREE, &into, &err) == QFZ_OK, "%s", err.message);
        const qfz_tree tree = qfz_session_tree(s);
        CHECK(!tree.parent && !tree.level && tree.n_nodes == own.n_nodes, "%d nodes, not %d",
              (int)tree.n_nodes, (int)own.n_nodes);
        CHECK(!memcmp(level, want, (size_t)n * sizeof *want), "other levels of pixels");
        free(want);
    }
    into.tree_room = 1;
    CHECK(qfz_session_run(s, QFZ_PART_TREE, &into, NULL) == QFZ_EARG, "a tree of one node");
    free(level);
    free(parent);
}

static void one_case(int64_t number)
{
    problem p;
    qfz_session *s = NULL;
    qfz_error err = {0};
    check_case(number, "making it");
    make(&p, number % 4 == 3 ? 24 : 9);
    double *want = calloc((size_t)(4 * n_pixels(&p)), sizeof *want);
    if (!want) abort();
    oracle_saliency(p.o, want);
    const qfz_session_options options = {.struct_size = sizeof(qfz_session_options),
                                         .engine = TEST_ENGINE,
                                         .n_threads = p.n_threads};
    const qfz_status st = qfz_session_open(&s, &p.r.image, &p.criterion, &options, &err);
    if (CHECK(st == QFZ_OK, "open: %s", err.message)) {
        CHECK(!strcmp(qfz_session_engine(s), TEST_ENGINE_NAME), "engine %s", qfz_session_engine(s));
        labels_equal(&p, s);
        saliency_equals(&p, s, QFZ_PART_SALIENCY, want);
        tree_equals(&p, s, want);
        (void)runs(s, QFZ_PART_SUMMARISE, "summarise");
        saliency_equals(&p, s, QFZ_PART_RESOLVE, want);
        cuts_equal(&p, s);
        labels_equal(&p, s); /* the parts of a session may run again, in any order */
        regions_equal(&p, s);
        if (number % 4 == 0) fills_buffers(&p, s);
    }
    qfz_session_close(s);
    oracle_close(p.o);
    raster_edges_free(&p.edges);
    raster_free(&p.r);
    free(want);
}

static void refused(const char *what, const qfz_image *image, const qfz_criterion *criterion)
{
    qfz_session *s = NULL;
    qfz_error err = {0};
    const qfz_session_options options = {.struct_size = sizeof(qfz_session_options),
                                         .engine = TEST_ENGINE};
    const qfz_status st = qfz_session_open(&s, image, criterion, &options, &err);
    CHECK(st == QFZ_EARG && !s, "%s: status %d", what, (int)st);
    CHECK(err.status == st && err.message[0] && !strchr(err.message, '\n'), "%s: message \"%s\"",
          what, err.message);
    if (st == QFZ_OK) qfz_session_close(s);
}

/* There is one time per run, for every part. */
static void times_every_part(void)
{
    static const uint8_t pixels[6] = {1, 1, 2, 3, 2, 2};
    const double omega = 1;
    const qfz_image image = {.struct_size = sizeof(qfz_image),
                             .h = 2,
                             .w = 3,
                             .n_bands = 1,
                             .type = QFZ_U8,
                             .pixels = pixels};
    const qfz_criterion criterion = {.connectivity = 4, .omega = &omega, .n_omega = 1};
    const qfz_session_options options = {.struct_size = sizeof(qfz_session_options),
                                         .engine = TEST_ENGINE};
    qfz_session *s = NULL;
    qfz_error err = {0};
    check_case(-2, "times");
    if (!CHECK(qfz_session_open(&s, &image, &criterion, &options, &err) == QFZ_OK, "%s",
               err.message))
        return;
    for (int part = QFZ_PART_LABEL; part <= QFZ_PART_FEATURES; part++) {
        double ms[3] = {-1, -1, -1};
        const qfz_status st = qfz_bench_time(s, (qfz_part)part, 2, ms, &err);
        CHECK(st == QFZ_OK && ms[0] >= 0 && ms[1] >= 0 && ms[2] == -1, "part %d: %g, %g, %g: %s",
              part, ms[0], ms[1], ms[2], err.message);
    }
    qfz_session_close(s);
}

static void refuses_what_makes_no_sense(void)
{
    const uint32_t pixels[4] = {0, 1, 2, 3};
    const double negative = -1, not_a_number = NAN, fine[2] = {3, 3};
    const qfz_image image = {.struct_size = sizeof(qfz_image),
                             .h = 1,
                             .w = 2,
                             .n_bands = 1,
                             .type = QFZ_U32,
                             .pixels = pixels};
    qfz_image i = image;
    const qfz_criterion criterion = {.connectivity = 4, .has_alpha = true, .alpha = 1};
    qfz_criterion m = criterion;
    check_case(-1, "criteria that are refused");
    m.connectivity = 6, refused("6-connected", &image, &m), m = criterion;
    m.alpha = -0.5, refused("alpha < 0", &image, &m), m = criterion;
    m.alpha = NAN, refused("alpha NaN", &image, &m), m = criterion;
    m.omega = &negative, m.n_omega = 1, refused("omega < 0", &image, &m), m = criterion;
    m.omega = &not_a_number, m.n_omega = 1, refused("omega NaN", &image, &m), m = criterion;
    m.omega = fine, m.n_omega = 2, refused("2 omegas for 1 band", &image, &m), m = criterion;
    i.n_bands = 2, refused("l1 of 2 bands UInt32", &i, &m), i = image;
    i.h = 0, refused("no rows", &i, &m), i = image;
    i.h = (int64_t)1 << 20, i.w = (int64_t)1 << 20, refused("2^40 pixels", &i, &m), i = image;
}

int main(int argc, char **argv)
{
    need_engine();
    check_begin(argc, argv, 1500);
    refuses_what_makes_no_sense();
    times_every_part();
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    return check_end();
}
