/* SPDX-License-Identifier: MIT */
#include "cpu/contract.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/contract_parts.h"
#include "core/memory.h"

static size_t scratch_bytes(void)
{
    return (sizeof(qfz_contract_scratch) + 63) / 64 * 64;
}

static size_t thread_bytes(const qfz_rule *rule)
{
    return scratch_bytes() + qfz_block_edges_bytes(rule->connectivity);
}

/* Gives every block its pixels, vertices and links. */
typedef struct sizes {
    int64_t n_blocks, n_vertices, n_links, packed;
} sizes;

static sizes lay_out(const qfz_cpu_blocks *in, int connectivity, qfz_contracted_block *blocks)
{
    sizes n = {0};
    uint32_t px = 0;
    for (int64_t by = 0; by < in->n_y; by++) {
        for (int64_t bx = 0; bx < in->n_x; bx++, n.n_blocks++) {
            const qfz_box box = qfz_cpu_blocks_box(in, by, bx);
            const int64_t h = qfz_box_h(box), w = qfz_box_w(box);
            if (blocks)
                blocks[n.n_blocks] = (qfz_contracted_block){.px = px,
                                                            .n_px = (uint32_t)(h * w),
                                                            .vertex = (uint32_t)n.n_vertices,
                                                            .link = (uint32_t)n.n_links};
            px += (uint32_t)(h * w);
            n.n_vertices += qfz_ring_size(h, w);
            n.packed += qfz_block_packed_most(
                h * w, qfz_lightest_max((uint32_t)(h * w), (uint32_t)qfz_ring_size(h, w)));
            n.n_links += qfz_cpu_blocks_max_crossing(in, connectivity, box) + qfz_ring_size(h, w);
        }
    }
    return n;
}

qfz_status qfz_contraction_init(qfz_contraction *c, const qfz_rule *rule, int64_t h, int64_t w,
                                int64_t side, bool stays, int n_threads, qfz_error *err)
{
    const qfz_cpu_blocks in = qfz_cpu_blocks_of(h, w, side);
    const sizes n = lay_out(&in, rule->connectivity, NULL);
    const int64_t external = 2 * (h + w), n_own = n_threads * (int64_t)QFZ_BLOCK_MAX_NODES;
    *c = (qfz_contraction){.rule = rule,
                           .n_threads = n_threads,
                           .layout = in,
                           .stays = stays,
                           .packed_room = stays ? n.packed : 0,
                           .max_vertices = n.n_vertices};
    qfz_status st;
    c->link_room = n.n_links + external;
    QFZ_TRY_OR(st, failed, QFZ_NEW(&c->blocks, n.n_blocks, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&c->number, n_own, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&c->up, n_own, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&c->level, n_own, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&c->first, n_own, err));
    if (stays) QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&c->packed, c->packed_room, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&c->gate, n.n_vertices, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&c->u, c->link_room, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&c->v, c->link_room, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&c->link_level, c->link_room, err));
    QFZ_TRY_OR(st, failed, qfz_graph_init(&c->graph, c->link_room, err));
    QFZ_TRY_OR(st, failed, qfz_forest_init(&c->forest, n.n_vertices, err));
    QFZ_TRY_OR(st, failed, qfz_alloc_large(&c->scratch, n_threads, thread_bytes(rule), err));
    return QFZ_OK;

failed:
    qfz_contraction_fini(c);
    return st;
}

void qfz_contraction_fini(qfz_contraction *c)
{
    free(c->blocks);
    free(c->first);
    free(c->number);
    free(c->up);
    free(c->level);
    free(c->packed);
    free(c->gate);
    free(c->u);
    free(c->v);
    free(c->link_level);
    qfz_graph_fini(&c->graph);
    qfz_forest_fini(&c->forest);
    free(c->scratch);
    *c = (qfz_contraction){0};
}

void qfz_contraction_swap_rooms(qfz_contraction *a, qfz_contraction *b)
{
    const qfz_contraction was = *a;
    a->forest = b->forest;
    a->graph.spare_level = b->graph.spare_level;
    a->graph.spare_id = b->graph.spare_id;
    a->scratch = b->scratch;
    b->forest = was.forest;
    b->graph.spare_level = was.graph.spare_level;
    b->graph.spare_id = was.graph.spare_id;
    b->scratch = was.scratch;
    a->first = b->first;
    a->number = b->number;
    a->up = b->up;
    a->level = b->level;
    b->first = was.first;
    b->number = was.number;
    b->up = was.up;
    b->level = was.level;
}

int64_t qfz_contraction_bytes(const qfz_rule *rule, int64_t h, int64_t w, bool stays)
{
    const qfz_cpu_blocks in = qfz_cpu_blocks_of(h, w, QFZ_CPU_BLOCK_SIDE);
    const sizes n = lay_out(&in, rule->connectivity, NULL);
    const int64_t word = sizeof(uint32_t), half = sizeof(uint16_t);
    const int64_t of_px = 2 * (half + word) * QFZ_BLOCK_MAX_NODES;
    return of_px + (stays ? n.packed : 0) + 7 * word * (n.n_links + 2 * (h + w)) +
           5 * word * n.n_vertices + (int64_t)sizeof(qfz_contracted_block) * n.n_blocks +
           (int64_t)thread_bytes(rule);
}

int64_t qfz_contraction_used_bytes(const qfz_contraction *c, int64_t h, int64_t w)
{
    const int64_t free_bytes = c->packed_room - c->packed_bytes - QFZ_LARGE_PAGE;
    return qfz_contraction_bytes(c->rule, h, w, c->stays) - (free_bytes > 0 ? free_bytes : 0);
}

/* ---- One block. */

/* Adds a loop for each ring pixel of the block from which an edge leaves the block, or that lies on
 * the image's own ring, at the level at which its component opens. */
static void open_block(const qfz_block_work *b, bool open_ring)
{
    const int64_t h = qfz_box_h(b->box), w = qfz_box_w(b->box);
    const qfz_image *const image = b->image;
    const bool at_border =
        b->box.y0 == 0 || b->box.x0 == 0 || b->box.y1 == image->h || b->box.x1 == image->w;
    for (int64_t i = 0; i < qfz_ring_size(h, w); i++) {
        int64_t y, x;
        qfz_ring_place(h, w, i, &y, &x);
        uint64_t level = b->s->open[i];
        if (open_ring && at_border) {
            const int64_t at_y = y + b->box.y0, at_x = x + b->box.x0;
            if (qfz_on_ring(image->h, image->w, at_y, at_x) &&
                (!image->valid || image->valid[at_y * image->w + at_x]))
                level = 0;
        }
        const uint32_t place = (uint32_t)(y * w + x);
        if (level != UINT64_MAX) qfz_block_add_loop(b->edges, (uint32_t)level, b->px_number[place]);
    }
}

/* Prepares the hooks of a block's pixels. */
static qfz_lightest *lightest_of(const qfz_block_work *b, bool open_ring)
{
    qfz_lightest *const l = &b->s->lightest;
    l->box = b->box;
    l->image_h = b->image->h;
    l->image_w = b->image->w;
    l->connectivity = b->c->rule->connectivity;
    l->alpha_level = b->c->rule->alpha_level;
    l->open_ring = open_ring;
    l->lonely = b->c->stays ? NULL : b->image;
    l->by_key = NULL;
    l->level = b->px_first;
    l->component = b->px_number;
    return l;
}

static void find_edges(const qfz_block_work *b, bool open_ring)
{
    qfz_contracted_block *const block = b->block;
    qfz_seam seam = {.edges = b->s->seam};
    qfz_lightest *const lightest = lightest_of(b, open_ring);
    const int64_t n_ring = qfz_ring_size(qfz_box_h(b->box), qfz_box_w(b->box));
    memset(b->s->open, 0xff, (size_t)n_ring * sizeof *b->s->open);
    qfz_block_find(b->edges, b->image, b->c->rule, b->box, &seam, b->s->open, lightest);
    block->n_nodes = lightest->n_components;
    block->n_seam = seam.n_right + seam.n_below + seam.n_corner;
    for (uint32_t i = 0; i < block->n_seam; i++) {
        b->c->u[block->link + i] = seam.edges[i].id; /* until join_seams() */
        b->c->link_level[block->link + i] = seam.edges[i].level;
    }
    open_block(b, open_ring);
}

/* The number of a node that has none yet. */
enum { UNNUMBERED = UINT16_MAX };

static void start_components(const qfz_block_work *b)
{
    const int64_t n = b->block->n_nodes;
    memset(b->number, 0xff, (size_t)n * sizeof *b->number);
}

static uint32_t vertex_at(const qfz_block_work *b, uint32_t root)
{
    return qfz_contracted_vertex(b->block, b->number[root]);
}

void qfz_block_link(const qfz_block_work *b, uint32_t p, uint32_t q, uint32_t level)
{
    qfz_contracted_block *const block = b->block;
    const uint32_t at = block->link + block->n_seam + block->n_inside++;
    b->c->u[at] = vertex_at(b, p);
    b->c->v[at] = vertex_at(b, q);
    b->c->link_level[at] = level;
}

/* Replaces the nodes of pixels by their numbers. */
static void number_pixels(const uint16_t *number, uint32_t n, uint16_t *of_px)
{
    for (uint32_t i = 0; i < n; i++)
        of_px[i] = number[of_px[i]];
}

static void number_rest(const qfz_block_work *b)
{
    const qfz_contracted_block *const block = b->block;
    const uint32_t first_open = block->n_nodes - block->n_open;
    uint32_t number = block->n_hooks;
    for (uint32_t i = 0; number < first_open; i++)
        if (b->number[i] == UNNUMBERED) b->number[i] = (uint16_t)number++;
    for (uint32_t i = 0; i < block->n_hooks; i++)
        b->up[i] = b->number[b->up[i]];
    for (uint32_t i = block->n_hooks; i < block->n_nodes; i++)
        b->up[i] = (uint16_t)i;
}

/* Gates are found while the block is in the cache; its neighbours use them later. */
static void find_gates(const qfz_block_work *b)
{
    const int64_t h = qfz_box_h(b->box), w = qfz_box_w(b->box);
    qfz_gate *const gate = b->c->gate + b->block->vertex;
    for (int64_t i = 0; i < qfz_ring_size(h, w); i++) {
        int64_t y, x;
        qfz_ring_place(h, w, i, &y, &x);
        const uint32_t first = b->px_first[y * w + x];
        uint32_t at = b->number[b->px_number[y * w + x]], level = 0;
        for (; b->up[at] != at; at = b->up[at])
            level = b->level[at];
        gate[i] = (qfz_gate){qfz_contracted_vertex(b->block, at), level > first ? level : first};
    }
}

void qfz_block_finish(const qfz_block_work *b)
{
    if (b->c->settled) qfz_block_count(b, &b->c->settled[b->thread]);
    number_rest(b);
    find_gates(b);
    if (!b->c->settled) number_pixels(b->number, b->block->n_px, b->px_number);
    if (b->c->stays) qfz_block_pack(b);
}

void *qfz_contraction_scratch(const qfz_contraction *c)
{
    return (char *)c->scratch + (size_t)omp_get_thread_num() * thread_bytes(c->rule);
}

static qfz_block_work work_on(qfz_contraction *c, const qfz_image *image, int64_t i)
{
    const int thread = omp_get_thread_num();
    char *const own = qfz_contraction_scratch(c);
    const int64_t room = thread * (int64_t)QFZ_BLOCK_MAX_NODES;
    qfz_contract_scratch *const s = (qfz_contract_scratch *)(void *)own;
    return (qfz_block_work){
        .c = c,
        .image = image,
        .block = &c->blocks[i],
        .box = qfz_cpu_blocks_box(&c->layout, i / c->layout.n_x, i % c->layout.n_x),
        .thread = thread,
        .s = s,
        .edges = (qfz_block_edges *)(void *)(own + scratch_bytes()),
        .number = s->number,
        .up = c->up + room,
        .level = c->level + room,
        .px_number = c->number + room,
        .px_first = c->first + room};
}

/* ---- The graph. */

qfz_gate qfz_contraction_gate(const qfz_contraction *c, int64_t y, int64_t x)
{
    const int64_t by = y / c->layout.side, bx = x / c->layout.side;
    const qfz_box box = qfz_cpu_blocks_box(&c->layout, by, bx);
    const int64_t i = qfz_ring_index(qfz_box_h(box), qfz_box_w(box), y - box.y0, x - box.x0);
    return c->gate[c->blocks[by * c->layout.n_x + bx].vertex + i];
}

/* Edges across seams become links.  The climb from a pixel of such an edge to its vertex meets no
 * level above the edge's own, because the edge had opened the component at that level. */
static void join_seams(const qfz_contraction *c, const qfz_contracted_block *block)
{
    static const int from[QFZ_EDGE_KINDS] = {0, 0, 0, 1}, to_x[QFZ_EDGE_KINDS] = {1, 0, 1, 0};
    static const int to_y[QFZ_EDGE_KINDS] = {0, 1, 1, 1};
    for (uint32_t i = block->link; i < block->link + block->n_seam; i++) {
        const uint32_t id = c->u[i], kind = id % QFZ_EDGE_KINDS;
        const int64_t a = id / QFZ_EDGE_KINDS, y = a / c->layout.w, x = a % c->layout.w;
        c->u[i] = qfz_contraction_gate(c, y, x + from[kind]).vertex;
        c->v[i] = qfz_contraction_gate(c, y + to_y[kind], x + to_x[kind]).vertex;
    }
}

void qfz_contract_by(qfz_contraction *c, const qfz_image *image, bool open_ring, qfz_join_fn join,
                     void *arg)
{
    c->layout = qfz_cpu_blocks_of(image->h, image->w, c->layout.side);
    const sizes n = lay_out(&c->layout, c->rule->connectivity, c->blocks);
    c->n_vertices = (uint32_t)n.n_vertices;
    c->first_external = n.n_links;
    c->packed_bytes = 0;
#pragma omp parallel num_threads(qfz_contraction_threads(c))
    {
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < n.n_blocks; i++) {
            const qfz_block_work b = work_on(c, image, i);
            find_edges(&b, open_ring);
            start_components(&b);
            join(&b, arg);
        }
#pragma omp for
        for (int64_t i = 0; i < n.n_blocks; i++)
            join_seams(c, &c->blocks[i]);
    }
    qfz_graph_set_links(&c->graph, c->n_vertices, c->u, c->v, c->link_level);
    for (int64_t i = 0; i < n.n_blocks; i++)
        qfz_graph_add_links(&c->graph, c->blocks[i].link,
                            c->blocks[i].n_seam + c->blocks[i].n_inside, c->rule->alpha_level);
}

void qfz_contract(qfz_contraction *c, const qfz_image *image, bool open_ring)
{
    qfz_contract_by(c, image, open_ring, qfz_contract_join_levels, NULL);
}

void qfz_contraction_add_external(qfz_contraction *c, const qfz_links *external)
{
    const int64_t h = c->layout.h, w = c->layout.w;
    for (int64_t i = 0; i < external->n; i++) {
        int64_t y, x;
        qfz_ring_place(h, w, external->u[i], &y, &x);
        c->u[c->first_external + i] = qfz_contraction_gate(c, y, x).vertex;
        qfz_ring_place(h, w, external->v[i], &y, &x);
        c->v[c->first_external + i] = qfz_contraction_gate(c, y, x).vertex;
        c->link_level[c->first_external + i] = external->level[i];
    }
    qfz_graph_add_links(&c->graph, (uint32_t)c->first_external, (uint32_t)external->n,
                        c->rule->alpha_level);
}

void qfz_contraction_mark_ring(const qfz_contraction *c, const uint8_t *ring_valid, uint32_t *mark,
                               qfz_links *links)
{
    const int64_t h = c->layout.h, w = c->layout.w;
    memset(mark, 0xff, c->n_vertices * sizeof *mark);
    for (int64_t i = 0; i < qfz_ring_size(h, w); i++) {
        int64_t y, x;
        if (!ring_valid[i]) continue;
        qfz_ring_place(h, w, i, &y, &x);
        uint32_t *const first = &mark[qfz_contraction_gate(c, y, x).vertex];
        if (*first == QFZ_NONE) {
            *first = (uint32_t)i;
            continue;
        }
        links->u[links->n] = *first;
        links->v[links->n] = (uint32_t)i;
        links->level[links->n++] = 0;
    }
}

uint32_t qfz_contraction_summarise(qfz_contraction *c, const uint8_t *ring_valid, uint32_t *mark,
                                   qfz_links *links)
{
    links->n = 0;
    qfz_graph_sort(&c->graph);
    qfz_contraction_mark_ring(c, ring_valid, mark, links);
    if (c->settled) qfz_histogram_add(c->settled, 0, -(uint64_t)links->n);
    return qfz_forest_summarise(&c->forest, &c->graph, mark, links, c->settled);
}

int qfz_contraction_level_bytes(const qfz_contraction *c)
{
    int bytes = 1;
    for (int64_t i = 0; i < c->layout.n_y * c->layout.n_x; i++)
        if (c->blocks[i].level_bytes > bytes) bytes = c->blocks[i].level_bytes;
    return bytes;
}

void qfz_contraction_count_joins(qfz_contraction *c, uint32_t *mark)
{
    qfz_links none = {0};
    memset(mark, 0xff, c->n_vertices * sizeof *mark);
    qfz_graph_sort(&c->graph);
    (void)qfz_forest_summarise(&c->forest, &c->graph, mark, &none, c->settled);
}
