/* SPDX-License-Identifier: MIT */
/* test_contract.c - images cut into small blocks and contracted: levels equal the oracle's, and
 * summaries keep every minimax level between ring pixels; (alpha, omega)-regions equal the
 * oracle's, and summaries keep the omega level of every ring pixel.
 *
 * The engine's blocks are larger than most rasters that brute force can process.  Here they have
 * sides of 1 to 9 pixels, and sometimes up to 48, so that rows of 32 pixels use vectors. */
#include "cpu/contract_omega.h"
#include "cpu/lightest.h"
#include "rasters.h"

typedef struct problem {
    raster r;
    oracle *o;
    qfz_rule rule;
    double weights[RASTER_BANDS];
    float singles[RASTER_BANDS]; /* the weights, for the rule */
    int64_t side, n_ring;
    int n_threads;
} problem;

static void make(problem *p)
{
    const bool wide = check_chance(5);
    raster_make(&p->r, wide ? 64 : 24, -1, RASTER_BANDS);
    const qfz_image *const image = &p->r.image;
    if (!strcmp(p->r.holes, "none") && check_chance(50)) p->r.image.valid = NULL;
    p->rule = (qfz_rule){.connectivity = check_chance(50) ? 4 : 8,
                         .distance = raster_distance(image),
                         .type = image->type,
                         .n_bands = image->n_bands,
                         .alpha_level = UINT32_MAX};
    const bool weighted = p->rule.distance != QFZ_SAM && check_chance(25);
    raster_weigh(p->weights, image->n_bands);
    for (int b = 0; b < image->n_bands; b++)
        p->singles[b] = (float)p->weights[b];
    if (weighted) p->rule.weights = p->singles;
    p->o = oracle_open_weighted(image, p->rule.connectivity, p->rule.distance,
                                weighted ? p->weights : NULL);
    p->side = wide ? 33 + check_pick(16) : 1 + check_pick(9);
    p->n_threads = 1 + (int)check_pick(3);
    p->n_ring = qfz_ring_size(image->h, image->w);
    check_describe("%dx%d, %d bands %s, %s in %s, holes %s, %d-connected, %s%s, blocks of %d, %d "
                   "threads",
                   (int)image->h, (int)image->w, image->n_bands, raster_types[image->type],
                   p->r.shape, p->r.palette, p->r.holes, p->rule.connectivity,
                   raster_distances[p->rule.distance], weighted ? " with weights" : "",
                   (int)p->side, p->n_threads);
}

/* The nodes of each block are at most as many as its memory holds. */
static void nodes_fit(const qfz_contraction *c)
{
    for (int64_t i = 0; i < c->layout.n_y * c->layout.n_x; i++) {
        const qfz_contracted_block *const block = &c->blocks[i];
        const qfz_box box = qfz_cpu_blocks_box(&c->layout, i / c->layout.n_x, i % c->layout.n_x);
        const int64_t n_ring = qfz_ring_size(qfz_box_h(box), qfz_box_w(box));
        CHECK(block->n_nodes <= qfz_lightest_max(block->n_px, (uint32_t)n_ring),
              "block %d of %u pixels has %u nodes", (int)i, block->n_px, block->n_nodes);
    }
}

/* Levels of two bytes equal those of four bytes, narrowed, if all levels are small enough. */
static void narrow_levels_equal(const qfz_contraction *c, const uint32_t *levels, int64_t n)
{
    uint16_t *narrow = raster_room(n, sizeof *narrow);
    int64_t different = 0;
    qfz_contraction_saliency(c, sizeof *narrow, narrow);
    for (int64_t i = 0; i < n; i++)
        different += narrow[i] != (uint16_t)levels[i];
    CHECK(different == 0, "%d levels of two bytes differ", (int)different);
    free(narrow);
}

static void levels_equal(const problem *p, qfz_contraction *c, const double *want,
                         const qfz_links *external)
{
    const int64_t n = p->r.image.h * p->r.image.w, n_dirs = p->rule.connectivity / 2;
    uint32_t *levels = raster_room(n * n_dirs, sizeof *levels);
    qfz_contract(c, &p->r.image, external != NULL);
    if (external) qfz_contraction_add_external(c, external);
    qfz_graph_sort(&c->graph);
    (void)qfz_forest_grow(&c->forest, &c->graph);
    qfz_contraction_saliency(c, sizeof *levels, levels);
    nodes_fit(c);
    narrow_levels_equal(c, levels, n * n_dirs);
    for (int64_t i = 0; i < n * n_dirs; i++) {
        const double got =
            levels[i] == QFZ_NONE ? ORACLE_NO_EDGE : qfz_level_value(&p->rule, levels[i]);
        if (want[i] == 4294967295.0 && levels[i] == QFZ_NONE) continue; /* both have this level */
        if (!CHECK(got == want[i], "%s: direction %d of pixel %d is %.9g, not %.9g",
                   external ? "with external" : "alone", (int)(i / n), (int)(i % n), got, want[i]))
            break;
    }
    free(levels);
}

/* meets[i * n_ring + j] = the minimax level of ring pixels i and j, infinite without a path: from
 * each ring pixel, every edge is relaxed until nothing changes. */
static void relax_from(const problem *p, int64_t start, double *to)
{
    const int64_t h = p->r.image.h, w = p->r.image.w;
    for (int64_t q = 0; q < h * w; q++)
        to[q] = q == start ? 0 : INFINITY;
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t a = 0; a < h * w; a++) {
            for (int d = 0; d < p->rule.connectivity / 2; d++) {
                const int64_t y = a / w + qfz_dir_dy[d], x = a % w + qfz_dir_dx[d], b = y * w + x;
                if (y >= h || x < 0 || x >= w) continue;
                if (!oracle_is_valid(p->o, a) || !oracle_is_valid(p->o, b)) continue;
                const double level = oracle_level(p->o, a, b);
                if (fmax(to[a], level) < to[b]) to[b] = fmax(to[a], level), changed = true;
                if (fmax(to[b], level) < to[a]) to[a] = fmax(to[b], level), changed = true;
            }
        }
    }
}

static void summary_keeps_levels(const problem *p, const qfz_links *links)
{
    const int64_t h = p->r.image.h, w = p->r.image.w, n = p->n_ring;
    qfz_graph graph;
    qfz_forest forest;
    qfz_error err = {0};
    double *to = raster_room(h * w, sizeof *to);
    raster_must(qfz_graph_init(&graph, links->n, &err));
    raster_must(qfz_forest_init(&forest, n, &err));
    qfz_graph_set_links(&graph, (uint32_t)n, links->u, links->v, links->level);
    qfz_graph_add_links(&graph, 0, links->n, UINT32_MAX);
    qfz_graph_sort(&graph);
    (void)qfz_forest_grow(&forest, &graph);
    bool same = CHECK(links->n < n, "%d links of %d ring pixels", (int)links->n, (int)n);
    for (int64_t i = 1; i < links->n; i++)
        same &= CHECK(links->level[i - 1] <= links->level[i], "links do not ascend");
    for (int64_t k = 0; same && k < 8; k++) {
        const uint32_t i = (uint32_t)check_pick(n);
        int64_t y, x;
        qfz_ring_place(h, w, i, &y, &x);
        if (!oracle_is_valid(p->o, y * w + x)) continue;
        relax_from(p, y * w + x, to);
        for (uint32_t j = 0; same && j < n; j++) {
            qfz_ring_place(h, w, j, &y, &x);
            const uint32_t level = qfz_forest_minimax(&forest, i, j);
            const double want = to[y * w + x];
            const double got = level == QFZ_NONE ? (want == 4294967295.0 ? want : INFINITY)
                                                 : qfz_level_value(&p->rule, level);
            same = CHECK(got == want, "ring pixels %u and %u: %.9g, not %.9g", i, j, got, want);
        }
    }
    free(to);
    qfz_graph_fini(&graph);
    qfz_forest_fini(&forest);
}

/* ---- (alpha, omega) -------------------------------------------------------------------------- */

typedef struct limits {
    double alpha, omega[RASTER_BANDS];
} limits;

static limits choose_limits(problem *p)
{
    limits l;
    l.alpha = check_chance(25) ? INFINITY : raster_alpha(p->o, &p->r);
    p->rule.alpha_level = qfz_level_of_alpha(&p->rule, l.alpha);
    for (int b = 0; b < RASTER_BANDS; b++)
        l.omega[b] = raster_omega(&p->r, b % p->r.image.n_bands);
    return l;
}

/* True if two arrays are the same partition, whatever the names of its parts. */
static void same_regions(const problem *p, const char *what, const uint32_t *got,
                         const uint32_t *want)
{
    const int64_t n = p->r.image.h * p->r.image.w;
    int64_t *const first =
        raster_room(n + 1, sizeof *first); /* label of each name; name of each label */
    int64_t *const first_want = raster_room(n + 1, sizeof *first_want);
    for (int64_t i = 0; i < n; i++)
        first[i] = first_want[i] = first_want[n] = -1;
    for (int64_t i = 0; i < n; i++) {
        if (!want[i]) continue;
        if (first[got[i]] < 0) first[got[i]] = i;
        if (first_want[want[i]] < 0) first_want[want[i]] = i;
        if (!CHECK(first[got[i]] == first_want[want[i]], "%s: pixel %d is with %d, not %d", what,
                   (int)i, (int)first[got[i]], (int)first_want[want[i]]))
            break;
    }
    free(first);
    free(first_want);
}

/* A graph of vertices with values, and its joined forest. */
typedef struct grown {
    qfz_graph graph;
    qfz_forest forest;
    qfz_spans spans;
} grown;

static grown grow(const problem *p, const qfz_image *values, const qfz_links *links,
                  const qfz_ranges *ranges)
{
    grown g;
    qfz_error err = {0};
    const int64_t n = values->h * values->w;
    const qfz_omega_input input = {.graph = &g.graph, .ranges = ranges};
    raster_must(qfz_graph_init(&g.graph, links->n, &err));
    raster_must(qfz_forest_init(&g.forest, n, &err));
    raster_must(qfz_spans_init(&g.spans, n, &p->rule, &err));
    qfz_graph_set_links(&g.graph, (uint32_t)n, links->u, links->v, links->level);
    qfz_graph_add_links(&g.graph, 0, links->n, p->rule.alpha_level);
    qfz_graph_sort(&g.graph);
    qfz_forest_reset(&g.forest, (uint32_t)n);
    qfz_spans_start(&g.spans, 0, values);
    raster_must(qfz_omega_join(&g.forest, &g.spans, &p->rule, &input, NULL, &err));
    return g;
}

static void grown_fini(grown *g)
{
    qfz_graph_fini(&g->graph);
    qfz_forest_fini(&g->forest);
    qfz_spans_fini(&g->spans);
}

/* The graph of all edges of the image; its vertices are pixels. */
static qfz_links all_edges(const problem *p)
{
    const int64_t h = p->r.image.h, w = p->r.image.w;
    qfz_links links = {0};
    qfz_error err = {0};
    raster_must(qfz_links_reserve(&links, 4 * h * w, &err));
    for (int64_t a = 0; a < h * w; a++) {
        for (int d = 0; d < p->rule.connectivity / 2; d++) {
            const int64_t y = a / w + qfz_dir_dy[d], x = a % w + qfz_dir_dx[d], b = y * w + x;
            if (y >= h || x < 0 || x >= w) continue;
            if (!oracle_is_valid(p->o, a) || !oracle_is_valid(p->o, b)) continue;
            links.u[links.n] = (uint32_t)a;
            links.v[links.n] = (uint32_t)b;
            qfz_levels(&p->r.image, &p->rule, a, b, 1, &links.level[links.n++]);
        }
    }
    return links;
}

/* The omega level of each ring pixel, computed from all edges of the image, equals the one computed
 * from its summary. */
static void summary_keeps_omega(const problem *p, const qfz_summary *summary, uint32_t *omega_level)
{
    const int64_t h = p->r.image.h, w = p->r.image.w;
    const qfz_image ring = {.h = 1,
                            .w = summary->n_ring,
                            .n_bands = p->rule.n_bands,
                            .type = p->rule.type,
                            .pixels = summary->values};
    qfz_links edges = all_edges(p);
    grown whole = grow(p, &p->r.image, &edges, NULL);
    grown by_summary = grow(p, &ring, &summary->links, &summary->ranges);
    for (int64_t i = 0; i < summary->n_ring; i++) {
        int64_t y, x;
        uint32_t got;
        qfz_ring_place(h, w, i, &y, &x);
        omega_level[i] = UINT32_MAX;
        if (!summary->valid[i]) continue;
        (void)qfz_omega_top(&whole.forest, &whole.spans, (uint32_t)(y * w + x), &omega_level[i]);
        (void)qfz_omega_top(&by_summary.forest, &by_summary.spans, (uint32_t)i, &got);
        if (!CHECK(got == omega_level[i], "ring pixel %d holds up to %u, not %u", (int)i, got,
                   omega_level[i]))
            break;
    }
    grown_fini(&whole);
    grown_fini(&by_summary);
    qfz_links_fini(&edges);
}

/* region[px] = the stop that represents the pixel's region. */
static void find_regions(qfz_omega_contraction *o, const uint32_t *omega_level, uint32_t *region)
{
    const int64_t h = o->c.layout.h, w = o->c.layout.w;
    qfz_error err = {0};
    uint32_t *const of_stop = raster_room(h * w, sizeof *of_stop);
    raster_must(qfz_omega_contraction_regions(o, omega_level, of_stop, &err));
    for (int64_t y = 0; y < h; y++) {
        qfz_omega_contraction_row(o, y, of_stop, region + y * w);
        for (int64_t x = 0; x < w; x++) {
            const uint32_t stop = qfz_omega_contraction_stop(o, y, x);
            CHECK(region[y * w + x] == of_stop[stop], "region of %d, %d", (int)y, (int)x);
        }
    }
    free(of_stop);
}

static void omega_equals(problem *p)
{
    const int64_t h = p->r.image.h, w = p->r.image.w;
    const limits l = choose_limits(p);
    qfz_omega_contraction o;
    qfz_summary summary = {0};
    qfz_error err = {0};
    if (check_chance(80)) p->rule.omega = l.omega;
    raster_must(qfz_omega_contraction_init(&o, &p->rule, h + check_pick(5), w + check_pick(5),
                                           p->side, p->n_threads, &err));
    raster_must(qfz_summary_init(&summary, (qfz_box){.y1 = h, .x1 = w}, &p->rule, &err));
    raster_must(qfz_links_reserve(&summary.links, p->n_ring, &err));
    uint32_t *got = raster_room(h * w, sizeof *got), *want = raster_room(h * w, sizeof *want);
    uint32_t *mark = raster_room(o.c.max_vertices, sizeof *mark);
    uint32_t *omega_level = raster_room(p->n_ring, sizeof *omega_level);
    (void)oracle_alpha_omega(p->o, l.alpha, p->rule.omega, want);
    raster_must(qfz_omega_contract(&o, &p->r.image, false, &err));
    find_regions(&o, NULL, got);
    same_regions(p, "alone", got, want);
    raster_must(qfz_summary_take_ring(&summary, &p->r.image, &p->rule, &err));
    raster_must(qfz_omega_contract(&o, &p->r.image, true, &err));
    raster_must(qfz_omega_contraction_summarise(&o, mark, &summary, &err));
    summary_keeps_omega(p, &summary, omega_level);
    find_regions(&o, omega_level, got);
    same_regions(p, "knowing its ring", got, want);
    qfz_summary_fini(&summary);
    qfz_omega_contraction_fini(&o);
    free(got);
    free(want);
    free(mark);
    free(omega_level);
}

static void one_case(int64_t number)
{
    check_case(number, "making it");
    problem p = {0};
    qfz_error err = {0};
    qfz_contraction c;
    qfz_links links = {0};
    make(&p);
    const int64_t h = p.r.image.h, w = p.r.image.w;
    /* The contraction is made for a larger image, as it is for the last tiles of a row. */
    raster_must(qfz_contraction_init(&c, &p.rule, h + check_pick(5), w + check_pick(5), p.side,
                                     true, p.n_threads, &err));
    double *want = raster_room(p.rule.connectivity / 2 * h * w, sizeof *want);
    uint8_t *ring_valid = raster_room(p.n_ring, 1);
    uint32_t *mark = raster_room(c.max_vertices, sizeof *mark);
    for (int64_t i = 0; i < p.n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(h, w, i, &y, &x);
        ring_valid[i] = oracle_is_valid(p.o, y * w + x);
    }
    oracle_saliency(p.o, want);
    levels_equal(&p, &c, want, NULL);
    raster_must(qfz_links_reserve(&links, p.n_ring, &err));
    qfz_contract(&c, &p.r.image, true);
    (void)qfz_contraction_summarise(&c, ring_valid, mark, &links);
    summary_keeps_levels(&p, &links);
    levels_equal(&p, &c, want, &links);
    qfz_links_fini(&links);
    qfz_contraction_fini(&c);
    omega_equals(&p);
    oracle_close(p.o);
    raster_free(&p.r);
    free(want);
    free(ring_valid);
    free(mark);
}

/* The lightest edges of the pixels form one chain like a flight of stairs, which turns at every
 * pixel, through a whole block. */
static void stairs_are_climbed_to_the_end(void)
{
    enum { SIDE = 40 };
    uint16_t pixels[SIDE * SIDE] = {0};
    uint8_t valid[SIDE * SIDE] = {0};
    problem p = {
        .r.image =
            {.h = SIDE, .w = SIDE, .n_bands = 1, .type = QFZ_U16, .pixels = pixels, .valid = valid},
        .rule = {.connectivity = 4,
                 .distance = QFZ_L1,
                 .type = QFZ_U16,
                 .n_bands = 1,
                 .alpha_level = UINT32_MAX}};
    double *want = raster_room(2 * SIDE * SIDE, sizeof *want);
    qfz_contraction c;
    qfz_error err = {0};
    int at = (SIDE - 1) * SIDE;
    uint16_t value = 1000;
    for (int step = 0; step < 2 * SIDE - 1; step++) {
        pixels[at] = value;
        valid[at] = 1;
        value = (uint16_t)(step % 2 ? value - (200 - step) : value + (200 - step));
        at += step % 2 ? -SIDE : 1;
    }
    check_describe("stairs");
    p.o = oracle_open(&p.r.image, 4, QFZ_L1);
    oracle_saliency(p.o, want);
    raster_must(qfz_contraction_init(&c, &p.rule, SIDE, SIDE, SIDE, true, 1, &err));
    levels_equal(&p, &c, want, NULL);
    qfz_contraction_fini(&c);
    oracle_close(p.o);
    free(want);
}

/* Two halves of an image, with the largest level between them, which determines the bytes of packed
 * levels; and an invalid pixel, whose level is all bits set. */
static void levels_stay_as_wide_as_the_largest(void)
{
    enum { SIDE = 40, HOLE = 5 * SIDE + 7 };
    static const struct {
        uint32_t level;
        int bytes;
    } cases[] = {{254, 1}, {255, 2}, {65534, 2}, {65535, 4}, {UINT32_MAX - 1, 4}};
    uint32_t pixels[SIDE * SIDE];
    uint8_t valid[SIDE * SIDE];
    memset(valid, 1, sizeof valid);
    valid[HOLE] = 0;
    problem p = {
        .r.image =
            {.h = SIDE, .w = SIDE, .n_bands = 1, .type = QFZ_U32, .pixels = pixels, .valid = valid},
        .rule = {.connectivity = 8,
                 .distance = QFZ_LINF,
                 .type = QFZ_U32,
                 .n_bands = 1,
                 .alpha_level = UINT32_MAX}};
    double *want = raster_room(4 * SIDE * SIDE, sizeof *want);
    qfz_contraction c;
    qfz_error err = {0};
    raster_must(qfz_contraction_init(&c, &p.rule, SIDE, SIDE, SIDE, true, 1, &err));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int px = 0; px < SIDE * SIDE; px++)
            pixels[px] = px % SIDE < SIDE / 2 ? 0 : cases[i].level;
        check_describe("levels of %d bytes", cases[i].bytes);
        p.o = oracle_open(&p.r.image, 8, QFZ_LINF);
        oracle_saliency(p.o, want);
        levels_equal(&p, &c, want, NULL);
        CHECK(c.blocks[0].level_bytes == cases[i].bytes, "%u in %d bytes", cases[i].level,
              c.blocks[0].level_bytes);
        oracle_close(p.o);
    }
    qfz_contraction_fini(&c);
    free(want);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 500);
    stairs_are_climbed_to_the_end();
    levels_stay_as_wide_as_the_largest();
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    return check_end();
}
