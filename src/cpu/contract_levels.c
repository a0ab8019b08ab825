/* SPDX-License-Identifier: MIT */
/* contract_levels.c - joins the components of one block by levels alone. */
#include "cpu/contract_parts.h"
#include "cpu/spanning.h"

static void open_component(const qfz_block_work *b, uint32_t *component)
{
    if (qfz_set_weight(*component) & QFZ_SET_OPEN) return;
    qfz_block_open(b, qfz_set_node(*component));
    *component |= qfz_set_of(0, QFZ_SET_OPEN);
}

/* Open components that have met form one set, whose root counts as the root of each: all of them
 * are equally near at the current level.  The number of hooks is a local variable, because a store
 * to memory in each step would delay the next one. */
static void join_all(const qfz_block_work *b, const uint64_t *edges, int32_t n_edges)
{
    uint32_t *const component = b->s->component, *const level = b->level;
    uint16_t *const number = b->number, *const up = b->up;
    uint32_t n_hooks = 0;
    for (int32_t i = 0; i < n_edges; i++) {
        uint32_t *const stays = &component[qfz_edge_p(edges[i])];
        if (qfz_edge_is_loop(edges[i])) {
            open_component(b, stays);
            continue;
        }
        uint32_t larger;
        const uint32_t smaller = qfz_set_join(stays, component[qfz_edge_q(edges[i])], &larger);
        if (qfz_set_weight(smaller) & QFZ_SET_OPEN) {
            qfz_block_link(b, qfz_set_node(larger), qfz_set_node(smaller),
                           qfz_edge_level(edges[i]));
            continue;
        }
        number[qfz_set_node(smaller)] = (uint16_t)n_hooks;
        up[n_hooks] = (uint16_t)qfz_set_node(larger);
        level[n_hooks++] = qfz_edge_level(edges[i]);
    }
    b->block->n_hooks = n_hooks;
}

void qfz_contract_join_levels(const qfz_block_work *b, void *arg)
{
    int32_t n_edges;
    (void)arg;
    uint64_t *const edges = qfz_block_sort(b->edges, &n_edges);
    for (uint32_t i = 0; i < b->block->n_nodes; i++)
        b->s->component[i] = qfz_set_of(i, 0);
    qfz_spanning_start(b->s->set, b->block->n_nodes);
    join_all(b, edges, qfz_spanning_keep(b->s->set, edges, n_edges, false));
    qfz_block_finish(b);
}
