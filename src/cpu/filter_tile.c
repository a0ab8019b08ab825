/* SPDX-License-Identifier: MIT */
#include "cpu/filter_tile.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/exterior_fits.h"
#include "core/filter_saved.h"
#include "core/position.h"

/* ---- Memory. */
typedef struct sizes {
    int64_t n_blocks, n_vertices, n_seam;
} sizes;

/* blocks: NULL, or filled. */
static sizes lay_out(const qfz_cpu_blocks *in, int connectivity, qfz_filter_block *blocks)
{
    sizes n = {0};
    for (int64_t by = 0; by < in->n_y; by++) {
        for (int64_t bx = 0; bx < in->n_x; bx++) {
            const qfz_box box = qfz_cpu_blocks_box(in, by, bx);
            if (blocks)
                blocks[n.n_blocks] =
                    (qfz_filter_block){.first = (uint32_t)n.n_vertices, .seam = (uint32_t)n.n_seam};
            n.n_blocks++;
            n.n_vertices += qfz_ring_size(qfz_box_h(box), qfz_box_w(box));
            n.n_seam += qfz_cpu_blocks_max_crossing(in, connectivity, box);
        }
    }
    return n;
}

/* Each link or event inside a block joins two components, so there are fewer than pixels.  External
 * mass events may need more room. */
static int64_t most_items(const sizes *n, int64_t h, int64_t w)
{
    return h * w + n->n_seam + 2 * qfz_ring_size(h, w);
}

qfz_status qfz_filter_tile_init(qfz_filter_tile *f, const qfz_rule *rule, int64_t h, int64_t w,
                                int64_t side, int n_threads, qfz_error *err)
{
    const qfz_cpu_blocks in = qfz_cpu_blocks_of(h, w, side);
    const sizes n = lay_out(&in, rule->connectivity, NULL);
    const int64_t n_items = most_items(&n, h, w), n_vertices = n.n_vertices + 1;
    qfz_filter_graph *const graph = &f->graph;
    *f = (qfz_filter_tile){.graph = {.rule = *rule, .layout = in}, .n_threads = n_threads};
    graph->rule.alpha_level = qfz_top_level(rule);
    qfz_status st;
    QFZ_TRY_OR(st, failed, QFZ_NEW(&graph->blocks, n.n_blocks, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&graph->seams, n.n_seam, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&graph->gate, n_vertices, err));
    QFZ_TRY_OR(st, failed, qfz_filter_items_reserve(&f->items, n_items, err));
    QFZ_TRY_OR(st, failed, qfz_filter_sets_init(&f->sets, n_vertices, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&f->weight, n_vertices, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&f->mark, n_vertices, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&f->at_zero, n_vertices, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&f->found, f->items.room, err));
    QFZ_TRY_OR(
        st, failed,
        qfz_alloc_large(&f->scratch, n_threads, qfz_filter_block_bytes(rule->connectivity), err));
    return QFZ_OK;

failed:
    qfz_filter_tile_fini(f);
    return st;
}

void qfz_filter_tile_fini(qfz_filter_tile *f)
{
    free(f->graph.blocks);
    free(f->graph.seams);
    free(f->graph.gate);
    qfz_filter_items_fini(&f->items);
    qfz_filter_sets_fini(&f->sets);
    free(f->weight);
    free(f->mark);
    free(f->at_zero);
    free(f->found);
    free(f->scratch);
    *f = (qfz_filter_tile){0};
}

int64_t qfz_filter_tile_bytes(const qfz_rule *rule, int64_t h, int64_t w)
{
    const qfz_cpu_blocks in = qfz_cpu_blocks_of(h, w, QFZ_CPU_BLOCK_SIDE);
    const sizes n = lay_out(&in, rule->connectivity, NULL);
    const int64_t word = sizeof(uint32_t), wide = sizeof(uint64_t);
    const int64_t of_item = 2 * word + wide + 2 * (int64_t)sizeof(qfz_filter_key) + 1;
    return n.n_blocks * (int64_t)sizeof(qfz_filter_block) +
           n.n_seam * (int64_t)sizeof(qfz_seam_edge) + n.n_vertices * (3 * word + 3 * wide) +
           most_items(&n, h, w) * of_item + (int64_t)qfz_filter_block_bytes(rule->connectivity);
}

/* ---- The small graph. */
static void *own_scratch(const qfz_filter_tile *f)
{
    const size_t bytes = qfz_filter_block_bytes(f->graph.rule.connectivity);
    return (char *)f->scratch + (size_t)omp_get_thread_num() * bytes;
}

/* A graph without items. */
static sizes start_graph(qfz_filter_tile *f, const qfz_image *tile, qfz_box box)
{
    qfz_filter_graph *const graph = &f->graph;
    graph->layout = qfz_cpu_blocks_of(tile->h, tile->w, graph->layout.side);
    const sizes n = lay_out(&graph->layout, graph->rule.connectivity, graph->blocks);
    graph->tile = tile;
    graph->box = box;
    graph->heavy = (uint32_t)n.n_vertices;
    graph->weight = f->sets.weight;
    graph->items = &f->items;
    f->sets.n = graph->heavy + 1;
    f->sets.weight[graph->heavy] = graph->rule.min_mass;
    f->items.n = 0;
    return n;
}

/* What is wanted of the blocks, as in qfz_filter_graph. */
typedef struct wanted {
    const uint64_t *row_mass;
    bool is_open_ring;
    qfz_edge_bits bits;
} wanted;

static void make_graph(qfz_filter_tile *f, const qfz_image *tile, qfz_box box, const wanted *want)
{
    qfz_filter_graph *const graph = &f->graph;
    const sizes n = start_graph(f, tile, box);
    graph->row_mass = want->row_mass;
    graph->is_open_ring = want->is_open_ring;
    graph->zeroed = want->bits.zeroed;
    graph->forest = want->bits.forest;
#pragma omp parallel num_threads(n.n_blocks < f->n_threads ? (int)n.n_blocks : f->n_threads)
    {
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < n.n_blocks; i++)
            qfz_filter_block_join(graph, i, own_scratch(f));
#pragma omp for
        for (int64_t i = 0; i < n.n_blocks; i++)
            qfz_filter_block_add_seam(graph, i, own_scratch(f));
    }
}

static uint32_t ring_vertex(const qfz_filter_graph *graph, int64_t i)
{
    int64_t y, x;
    qfz_ring_place(graph->layout.h, graph->layout.w, i, &y, &x);
    return qfz_filter_gate(graph, y, x);
}

/* ---- Summaries. */
static qfz_status set_ring_weights(const qfz_image *tile, const uint64_t *row_mass,
                                   qfz_summary *summary, qfz_error *err)
{
    if (!row_mass) return QFZ_OK;
    QFZ_TRY(QFZ_NEW(&summary->weight, summary->n_ring, err));
    for (int64_t i = 0; i < summary->n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(tile->h, tile->w, i, &y, &x);
        summary->weight[i] = row_mass[y];
    }
    return QFZ_OK;
}

qfz_status qfz_filter_tile_summarise(qfz_filter_tile *f, const qfz_image *tile, qfz_box box,
                                     const uint64_t *row_mass, const qfz_edge_bits *bits,
                                     qfz_summary *summary, qfz_error *err)
{
    const wanted want = {
        .row_mass = row_mass, .is_open_ring = true, .bits = bits ? *bits : (qfz_edge_bits){0}};
    const qfz_filter_outside outside = {.mark = f->mark,
                                        .at_zero = f->at_zero,
                                        .links = &summary->links,
                                        .masses = &summary->masses};
    QFZ_TRY(set_ring_weights(tile, row_mass, summary, err));
    QFZ_TRY(qfz_links_reserve_placed(&summary->links, summary->n_ring, err));
    make_graph(f, tile, box, &want);
    memcpy(f->weight, f->sets.weight, f->sets.n * sizeof *f->weight);
    memset(f->mark, 0xff, f->sets.n * sizeof *f->mark);
    memset(f->at_zero, 0, f->sets.n * sizeof *f->at_zero);
    for (int64_t i = 0; i < summary->n_ring; i++)
        if (summary->valid[i]) f->mark[ring_vertex(&f->graph, i)] = (uint32_t)i;
    qfz_filter_sort(&f->items);
    return qfz_filter_summarise(&f->items, &f->sets, f->graph.rule.min_mass, &outside, err);
}

/* ---- Edges of filtered level 0, and of the forest. */
static qfz_status add_exterior(qfz_filter_tile *f, const qfz_exterior *exterior, qfz_error *err)
{
    const int64_t n_ring = exterior->n_ring, was = f->items.room;
    uint32_t *vertex = NULL;
    QFZ_TRY(qfz_filter_items_reserve(&f->items,
                                     f->items.n + exterior->external.n + exterior->masses.n, err));
    if (f->items.room > was)
        QFZ_TRY(qfz_realloc((void **)&f->found, f->items.room, sizeof *f->found, err));
    QFZ_TRY(QFZ_NEW(&vertex, n_ring, err));
    for (int64_t i = 0; i < n_ring; i++)
        vertex[i] = ring_vertex(&f->graph, i);
    qfz_filter_add_links(&f->items, &exterior->external, 0, vertex);
    qfz_filter_add_masses(&f->items, &exterior->masses, 0, vertex);
    free(vertex);
    return QFZ_OK;
}

/* The first n_own items are the tile's. */
static void set_found(const qfz_filter_tile *f, int64_t n_own)
{
    const qfz_box box = f->graph.box;
    for (int64_t i = 0; i < f->items.n; i++) {
        const qfz_filter_key *const key = &f->items.key[i];
        int64_t y, x;
        int dir;
        if (key->item >= n_own || !f->found[key->item]) continue;
        uint8_t *const to =
            f->found[key->item] == QFZ_FILTER_ZEROED ? f->graph.zeroed : f->graph.forest;
        if (!to) continue;
        qfz_position_edge(key->position, &y, &x, &dir);
        to[(y - box.y0) * f->graph.layout.w + x - box.x0] |= (uint8_t)(1u << dir);
    }
}

/* The graph has the tile's own items, of which n_sorted are in order; zeroed and forest have the
 * bits of the edges inside blocks. */
static qfz_status resolve_graph(qfz_filter_tile *f, const qfz_exterior *exterior, int64_t n_sorted,
                                qfz_error *err)
{
    const int64_t n_own = f->items.n;
    if (exterior) QFZ_TRY(add_exterior(f, exterior, err));
    memset(f->found, 0, (size_t)f->items.n);
    qfz_filter_sort_rest(&f->items, n_sorted);
    qfz_filter_resolve(&f->items, &f->sets, f->graph.rule.min_mass, f->found);
    set_found(f, n_own);
    if (exterior)
        qfz_filter_take_crossing(exterior, f->graph.tile->h, f->graph.tile->w,
                                 qfz_n_dirs(&f->graph.rule), f->graph.zeroed, f->graph.forest);
    return QFZ_OK;
}

qfz_status qfz_filter_tile_resolve(qfz_filter_tile *f, const qfz_image *tile, qfz_box box,
                                   const uint64_t *row_mass, const qfz_exterior *exterior,
                                   const qfz_edge_bits *bits, qfz_error *err)
{
    const wanted want = {.row_mass = row_mass, .is_open_ring = exterior != NULL, .bits = *bits};
    if (exterior) QFZ_TRY(qfz_exterior_fits(exterior, tile, err));
    make_graph(f, tile, box, &want);
    return resolve_graph(f, exterior, 0, err);
}

/* ---- Tiles that are kept between summarise and resolve. */
struct qfz_filter_kept {
    qfz_filter_saved saved;
    uint32_t *gate; /* by vertex */
};

static int64_t kept_px(const qfz_filter_tile *f)
{
    return f->graph.layout.h * f->graph.layout.w;
}

int64_t qfz_filter_tile_kept_bytes(const qfz_filter_tile *f)
{
    return qfz_filter_saved_bytes(&f->items, f->sets.n, kept_px(f), &f->graph.rule) +
           f->sets.n * (int64_t)sizeof(uint32_t);
}

static qfz_status copy_graph(const qfz_filter_tile *f, const qfz_edge_bits *bits,
                             qfz_filter_kept *kept, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW_LARGE(&kept->gate, f->sets.n, err));
    memcpy(kept->gate, f->graph.gate, f->sets.n * sizeof *kept->gate);
    return qfz_filter_save(&kept->saved, &f->items, f->weight, f->sets.n, bits, kept_px(f), err);
}

qfz_status qfz_filter_tile_keep(const qfz_filter_tile *f, const qfz_edge_bits *bits,
                                qfz_filter_kept **out, qfz_error *err)
{
    qfz_filter_kept *kept = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&kept, 1, err));
    const qfz_status st = copy_graph(f, bits, kept, err);
    if (st == QFZ_OK)
        *out = kept;
    else
        qfz_filter_kept_drop(kept);
    return st;
}

void qfz_filter_kept_drop(qfz_filter_kept *kept)
{
    if (!kept) return;
    qfz_filter_saved_fini(&kept->saved);
    free(kept->gate);
    free(kept);
}

qfz_status qfz_filter_tile_resolve_kept(qfz_filter_tile *f, const qfz_image *tile, qfz_box box,
                                        const qfz_filter_kept *kept, const qfz_exterior *exterior,
                                        const qfz_edge_bits *bits, qfz_error *err)
{
    QFZ_TRY(qfz_exterior_fits(exterior, tile, err));
    (void)start_graph(f, tile, box);
    f->graph.zeroed = bits->zeroed;
    f->graph.forest = bits->forest;
    memcpy(f->graph.gate, kept->gate, kept->saved.n_vertices * sizeof *kept->gate);
    QFZ_TRY(qfz_filter_restore(&kept->saved, &f->items, &f->sets, bits, err));
    return resolve_graph(f, exterior, kept->saved.n_items, err);
}
