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
    int64_t n_gates, n_seam;
} sizes;

/* blocks: NULL, or filled. */
static sizes lay_out(const qfz_cpu_blocks *in, int connectivity, qfz_filter_block *blocks)
{
    sizes n = {0};
    for (int64_t i = 0; i < in->n_y * in->n_x; i++) {
        const qfz_box box = qfz_cpu_blocks_box(in, i / in->n_x, i % in->n_x);
        if (blocks)
            blocks[i] =
                (qfz_filter_block){.first = (uint32_t)n.n_gates, .seam = (uint32_t)n.n_seam};
        n.n_gates += qfz_ring_size(qfz_box_h(box), qfz_box_w(box));
        n.n_seam += qfz_cpu_blocks_max_crossing(in, connectivity, box);
    }
    return n;
}

/* Patches of fewer blocks where each of n_threads would have less than a few. */
static int64_t patch_side(int64_t h, int64_t w, int64_t side, int n_threads)
{
    enum { FEW = 4 };
    int64_t blocks = QFZ_FILTER_PATCH_BLOCKS;
    for (; n_threads > 1 && blocks > 1; blocks /= 2) {
        const qfz_cpu_blocks in = qfz_cpu_blocks_of(h, w, side * blocks);
        if (in.n_y * in.n_x >= FEW * (int64_t)n_threads) break;
    }
    return side * blocks;
}

/* Without memory. */
static qfz_filter_graph graph_of(const qfz_rule *rule, int64_t h, int64_t w, int64_t side,
                                 int n_threads)
{
    qfz_filter_graph graph = {.rule = *rule,
                              .layout = qfz_cpu_blocks_of(h, w, side),
                              .patches =
                                  qfz_cpu_blocks_of(h, w, patch_side(h, w, side, n_threads))};
    graph.rule.alpha_level = qfz_top_level(rule);
    return graph;
}

/* Upper bounds of the tile's small graph.  External mass events may need more room. */
typedef struct graph_sizes {
    int64_t n_vertices, n_items;
} graph_sizes;

static graph_sizes most_of(const qfz_filter_graph *graph)
{
    const qfz_cpu_blocks *const in = &graph->patches;
    graph_sizes n = {.n_vertices = 1, .n_items = 2 * qfz_ring_size(in->h, in->w)};
    for (int64_t i = 0; i < in->n_y * in->n_x; i++) {
        const qfz_box box = qfz_cpu_blocks_box(in, i / in->n_x, i % in->n_x);
        n.n_vertices += qfz_filter_patch_max_vertices(box);
        n.n_items += qfz_filter_patch_max_items(box, graph->rule.min_mass) +
                     qfz_cpu_blocks_max_crossing(in, graph->rule.connectivity, box);
    }
    return n;
}

static qfz_status scratch_init(qfz_filter_tile *f, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW_ZERO(&f->scratch, f->n_threads, err));
    for (int i = 0; i < f->n_threads; i++)
        QFZ_TRY(qfz_filter_patch_scratch_init(&f->scratch[i], &f->graph, err));
    return QFZ_OK;
}

qfz_status qfz_filter_tile_init(qfz_filter_tile *f, const qfz_rule *rule, int64_t h, int64_t w,
                                int64_t side, int n_threads, qfz_error *err)
{
    qfz_filter_graph *const graph = &f->graph;
    *f = (qfz_filter_tile){.graph = graph_of(rule, h, w, side, n_threads), .n_threads = n_threads};
    const sizes n = lay_out(&graph->layout, rule->connectivity, NULL);
    const graph_sizes most = most_of(graph);
    qfz_status st;
    QFZ_TRY_OR(st, failed, QFZ_NEW(&graph->blocks, graph->layout.n_y * graph->layout.n_x, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&graph->seams, n.n_seam, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&graph->gate, n.n_gates, err));
    QFZ_TRY_OR(st, failed, qfz_filter_items_reserve(&f->items, most.n_items, err));
    QFZ_TRY_OR(st, failed, qfz_filter_sets_init(&f->sets, most.n_vertices, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&f->weight, most.n_vertices, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW(&f->ring, qfz_ring_size(h, w), err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&f->mark, most.n_vertices, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&f->at_zero, most.n_vertices, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&f->found, f->items.room, err));
    QFZ_TRY_OR(st, failed, scratch_init(f, err));
    return QFZ_OK;

failed:
    qfz_filter_tile_fini(f);
    return st;
}

void qfz_filter_tile_fini(qfz_filter_tile *f)
{
    for (int i = 0; f->scratch && i < f->n_threads; i++)
        qfz_filter_patch_scratch_fini(&f->scratch[i]);
    free(f->scratch);
    free(f->graph.blocks);
    free(f->graph.seams);
    free(f->graph.gate);
    qfz_filter_items_fini(&f->items);
    qfz_filter_sets_fini(&f->sets);
    free(f->weight);
    free(f->ring);
    free(f->mark);
    free(f->at_zero);
    free(f->found);
    *f = (qfz_filter_tile){0};
}

int64_t qfz_filter_tile_bytes(const qfz_rule *rule, int64_t h, int64_t w)
{
    const qfz_filter_graph graph = graph_of(rule, h, w, QFZ_CPU_BLOCK_SIDE, 1);
    const sizes n = lay_out(&graph.layout, rule->connectivity, NULL);
    const graph_sizes most = most_of(&graph);
    const int64_t word = sizeof(uint32_t), wide = sizeof(uint64_t);
    return graph.layout.n_y * graph.layout.n_x * (int64_t)sizeof(qfz_filter_block) +
           n.n_seam * (int64_t)sizeof(qfz_seam_edge) + (n.n_gates + qfz_ring_size(h, w)) * word +
           most.n_vertices * (2 * word + 3 * wide) + qfz_filter_items_bytes(most.n_items) +
           most.n_items + qfz_filter_patch_scratch_bytes(&graph);
}

/* ---- The small graph. */
/* A graph without items. */
static void start_graph(qfz_filter_tile *f, const qfz_image *tile, qfz_box box)
{
    qfz_filter_graph *const graph = &f->graph;
    graph->layout = qfz_cpu_blocks_of(tile->h, tile->w, graph->layout.side);
    graph->patches = qfz_cpu_blocks_of(tile->h, tile->w, graph->patches.side);
    graph->tile = tile;
    graph->box = box;
    graph->items = &f->items;
    graph->weight = f->sets.weight;
    graph->n_vertices = &f->sets.n;
    f->items.n = 0;
    f->sets.n = 1;
    f->sets.weight[QFZ_FILTER_HEAVY] = graph->rule.min_mass;
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
    start_graph(f, tile, box);
    (void)lay_out(&graph->layout, graph->rule.connectivity, graph->blocks);
    graph->row_mass = want->row_mass;
    graph->is_open_ring = want->is_open_ring;
    graph->zeroed = want->bits.zeroed;
    graph->forest = want->bits.forest;
    const int64_t n = graph->patches.n_y * graph->patches.n_x;
#pragma omp parallel num_threads(n < f->n_threads ? (int)n : f->n_threads)
    {
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < n; i++)
            qfz_filter_patch_join(graph, i, &f->scratch[omp_get_thread_num()]);
#pragma omp for
        for (int64_t i = 0; i < n; i++)
            qfz_filter_patch_add_crossing(graph, i, &f->scratch[omp_get_thread_num()]);
    }
    for (int64_t i = 0; want->is_open_ring && i < qfz_ring_size(tile->h, tile->w); i++) {
        int64_t y, x;
        qfz_ring_place(tile->h, tile->w, i, &y, &x);
        f->ring[i] = qfz_filter_gate(graph, y, x);
    }
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
        if (summary->valid[i]) f->mark[f->ring[i]] = (uint32_t)i;
    qfz_filter_sort(&f->items);
    return qfz_filter_summarise(&f->items, &f->sets, f->graph.rule.min_mass, &outside, err);
}

/* ---- Edges of filtered level 0, and of the forest. */
static qfz_status add_exterior(qfz_filter_tile *f, const qfz_exterior *exterior,
                               const uint32_t *ring, qfz_error *err)
{
    const int64_t was = f->items.room;
    QFZ_TRY(qfz_filter_items_reserve(&f->items,
                                     f->items.n + exterior->external.n + exterior->masses.n, err));
    if (f->items.room > was)
        QFZ_TRY(qfz_realloc((void **)&f->found, f->items.room, sizeof *f->found, err));
    qfz_filter_add_links(&f->items, &exterior->external, 0, ring);
    qfz_filter_add_masses(&f->items, &exterior->masses, 0, ring);
    return QFZ_OK;
}

/* The first n_own items are the tile's. */
static void set_found(const qfz_filter_tile *f, int64_t n_own)
{
    for (int64_t i = 0; i < f->items.n; i++) {
        const qfz_filter_key *const key = &f->items.key[i];
        if (key->item < n_own && f->found[key->item])
            qfz_filter_set_bit(&f->graph, key->position, f->found[key->item]);
    }
}

/* The graph has the tile's own items, of which n_sorted are in order; zeroed and forest have the
 * bits that patches decide.  ring: as in qfz_filter_tile. */
static qfz_status resolve_graph(qfz_filter_tile *f, const qfz_exterior *exterior,
                                const uint32_t *ring, int64_t n_sorted, qfz_error *err)
{
    const int64_t n_own = f->items.n;
    if (exterior) QFZ_TRY(add_exterior(f, exterior, ring, err));
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
    return resolve_graph(f, exterior, f->ring, 0, err);
}

/* ---- Tiles that are kept between summarise and resolve. */
struct qfz_filter_kept {
    qfz_filter_saved saved;
    uint32_t *ring; /* as in qfz_filter_tile */
};

static int64_t kept_px(const qfz_filter_tile *f)
{
    return f->graph.layout.h * f->graph.layout.w;
}

static int64_t n_ring(const qfz_filter_tile *f)
{
    return qfz_ring_size(f->graph.layout.h, f->graph.layout.w);
}

int64_t qfz_filter_tile_kept_bytes(const qfz_filter_tile *f)
{
    return qfz_filter_saved_bytes(&f->items, f->sets.n, kept_px(f), &f->graph.rule) +
           n_ring(f) * (int64_t)sizeof(uint32_t);
}

static qfz_status copy_graph(const qfz_filter_tile *f, const qfz_edge_bits *bits,
                             qfz_filter_kept *kept, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW(&kept->ring, n_ring(f), err));
    memcpy(kept->ring, f->ring, (size_t)n_ring(f) * sizeof *kept->ring);
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
    free(kept->ring);
    free(kept);
}

qfz_status qfz_filter_tile_resolve_kept(qfz_filter_tile *f, const qfz_image *tile, qfz_box box,
                                        const qfz_filter_kept *kept, const qfz_exterior *exterior,
                                        const qfz_edge_bits *bits, qfz_error *err)
{
    QFZ_TRY(qfz_exterior_fits(exterior, tile, err));
    start_graph(f, tile, box);
    f->graph.zeroed = bits->zeroed;
    f->graph.forest = bits->forest;
    QFZ_TRY(qfz_filter_restore(&kept->saved, &f->items, &f->sets, bits, err));
    return resolve_graph(f, exterior, kept->ring, kept->saved.n_items, err);
}
