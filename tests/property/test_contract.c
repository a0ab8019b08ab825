/* SPDX-License-Identifier: MIT */
/* test_contract.c - images cut into small blocks and contracted: levels equal the oracle's, and
 * summaries keep every minimax level between ring pixels.
 *
 * The engine's blocks are larger than rasters that brute force can do; here they have sides of 1 to
 * 9 pixels. */
#include "cpu/contract.h"
#include "rasters.h"

typedef struct problem {
    raster r;
    oracle *o;
    qfz_rule rule;
    int64_t side, n_ring;
    int n_threads;
} problem;

static void must(qfz_status st)
{
    if (st != QFZ_OK) abort();
}

static void *room(int64_t n, size_t size)
{
    void *const ptr = calloc((size_t)n + 1, size);
    if (!ptr) abort();
    return ptr;
}

static void make(problem *p)
{
    raster_make(&p->r, 24, -1, RASTER_BANDS);
    const qfz_image *const image = &p->r.image;
    if (!strcmp(p->r.holes, "none") && check_chance(50)) p->r.image.valid = NULL;
    p->rule = (qfz_rule){.connectivity = check_chance(50) ? 4 : 8,
                         .distance = (qfz_distance)check_pick(3),
                         .type = image->type,
                         .n_bands = image->n_bands,
                         .alpha_key = UINT32_MAX};
    if (raster_levels_overflow(image, p->rule.distance)) p->rule.distance = QFZ_LINF;
    p->o = oracle_open(image, p->rule.connectivity, p->rule.distance);
    p->side = 1 + check_pick(9);
    p->n_threads = 1 + (int)check_pick(3);
    p->n_ring = qfz_ring_size(image->h, image->w);
    check_describe("%dx%d, %d bands %s, %s in %s, holes %s, %d-connected, %s, blocks of %d, %d "
                   "threads",
                   (int)image->h, (int)image->w, image->n_bands, raster_types[image->type],
                   p->r.shape, p->r.palette, p->r.holes, p->rule.connectivity,
                   raster_distances[p->rule.distance], (int)p->side, p->n_threads);
}

static void levels_equal(const problem *p, qfz_contraction *c, const double *want,
                         const qfz_links *ghosts)
{
    const int64_t n = p->r.image.h * p->r.image.w, n_dirs = p->rule.connectivity / 2;
    uint32_t *keys = room(n * n_dirs, sizeof *keys);
    qfz_contract(c, &p->r.image, ghosts != NULL);
    if (ghosts) qfz_contraction_add_ghosts(c, ghosts);
    qfz_graph_sort(&c->graph);
    qfz_forest_grow(&c->forest, &c->graph);
    qfz_contraction_saliency(c, keys);
    for (int64_t i = 0; i < n * n_dirs; i++) {
        const double got = keys[i] == QFZ_NONE
                               ? ORACLE_NO_EDGE
                               : qfz_level_of_key(p->rule.type, p->rule.distance, keys[i]);
        if (want[i] == 4294967295.0 && keys[i] == QFZ_NONE) continue; /* they share this key */
        if (!CHECK(got == want[i], "%s: direction %d of pixel %d is %.9g, not %.9g",
                   ghosts ? "with ghosts" : "alone", (int)(i / n), (int)(i % n), got, want[i]))
            break;
    }
    free(keys);
}

/* meets[i * n_ring + j] = the minimax level of ring pixels i and j, infinite without a path: by
 * relaxing every edge until nothing changes, from each ring pixel. */
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
    double *to = room(h * w, sizeof *to);
    must(qfz_graph_init(&graph, links->n, &err));
    must(qfz_forest_init(&forest, n, &err));
    qfz_graph_set_links(&graph, (uint32_t)n, links->u, links->v, links->level);
    qfz_graph_add_links(&graph, 0, links->n, UINT32_MAX);
    qfz_graph_sort(&graph);
    qfz_forest_grow(&forest, &graph);
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
            const uint32_t key = qfz_forest_minimax(&forest, i, j);
            const double want = to[y * w + x];
            const double got = key == QFZ_NONE
                                   ? (want == 4294967295.0 ? want : INFINITY)
                                   : qfz_level_of_key(p->rule.type, p->rule.distance, key);
            same = CHECK(got == want, "ring pixels %u and %u: %.9g, not %.9g", i, j, got, want);
        }
    }
    free(to);
    qfz_graph_fini(&graph);
    qfz_forest_fini(&forest);
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
    /* Made for a larger image, as it is for the last tiles of a row. */
    must(qfz_contraction_init(&c, &p.rule, h + check_pick(5), w + check_pick(5), p.side,
                              p.n_threads, &err));
    double *want = room(p.rule.connectivity / 2 * h * w, sizeof *want);
    uint8_t *ring_valid = room(p.n_ring, 1);
    uint32_t *mark = room(c.max_vertices, sizeof *mark);
    for (int64_t i = 0; i < p.n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(h, w, i, &y, &x);
        ring_valid[i] = oracle_is_valid(p.o, y * w + x);
    }
    oracle_saliency(p.o, want);
    levels_equal(&p, &c, want, NULL);
    must(qfz_links_reserve(&links, p.n_ring, &err));
    qfz_contract(&c, &p.r.image, true);
    qfz_contraction_summarise(&c, ring_valid, mark, &links);
    summary_keeps_levels(&p, &links);
    levels_equal(&p, &c, want, &links);
    qfz_links_fini(&links);
    qfz_contraction_fini(&c);
    oracle_close(p.o);
    raster_free(&p.r);
    free(want);
    free(ring_valid);
    free(mark);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 500);
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    return check_end();
}
