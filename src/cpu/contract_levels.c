/* SPDX-License-Identifier: MIT */
/* contract_levels.c - the components of one block, where levels are all that counts. */
#include "cpu/contract_parts.h"
#include "cpu/spanning.h"

/* Of a set, by its root in spanning.h: the node that its next hook leads to, and the component's
 * size - 1 with QFZ_SET_OPEN.  So an open component counts as larger than any closed one. */
enum { WEIGHT_SHIFT = 16 };

static uint32_t node_of(uint32_t component)
{
    return (uint16_t)component;
}

static uint32_t weight_of(uint32_t component)
{
    return component >> WEIGHT_SHIFT;
}

static uint32_t component_of(uint32_t node, uint32_t weight)
{
    return node | weight << WEIGHT_SHIFT;
}

static void open_component(const qfz_block_work *b, uint32_t *component)
{
    if (weight_of(*component) & QFZ_SET_OPEN) return;
    qfz_block_open(b, node_of(*component));
    *component |= (uint32_t)QFZ_SET_OPEN << WEIGHT_SHIFT;
}

/* Open components that have met are one set, each with its own root for those that are hooked to
 * it: all of them are as near to it as the current level.  What is hooked is counted here, as a
 * number in memory would be waited for. */
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
        const uint32_t p = *stays, q = component[qfz_edge_q(edges[i])];
        const bool p_stays = weight_of(p) > weight_of(q);
        const uint32_t larger = p_stays ? p : q, smaller = p_stays ? q : p;
        const uint32_t size = (weight_of(smaller) & (QFZ_SET_OPEN - 1)) + 1;
        *stays = larger + component_of(0, size);
        if (weight_of(smaller) & QFZ_SET_OPEN) {
            qfz_block_link(b, node_of(larger), node_of(smaller), qfz_edge_key(edges[i]));
            continue;
        }
        number[node_of(smaller)] = (uint16_t)n_hooks;
        up[n_hooks] = (uint16_t)node_of(larger);
        level[n_hooks++] = qfz_edge_key(edges[i]);
    }
    b->block->n_hooks = n_hooks;
}

void qfz_contract_join_levels(const qfz_block_work *b, void *arg)
{
    int32_t n_edges;
    (void)arg;
    uint64_t *const edges = qfz_block_sort(b->edges, &n_edges);
    for (uint32_t i = 0; i < b->block->n_nodes; i++)
        b->s->component[i] = component_of(i, 0);
    qfz_spanning_start(b->s->set, b->block->n_nodes);
    join_all(b, edges, qfz_spanning_keep(b->s->set, edges, n_edges));
    qfz_block_finish(b);
}
