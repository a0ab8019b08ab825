/* SPDX-License-Identifier: MIT */
/* contract_omega_stops.c - the ends of climbs from the pixels of one block. */
#include <string.h>

#include "cpu/contract_omega_parts.h"

typedef struct finder {
    const qfz_block_work *b;
    qfz_omega_contraction *o;
    qfz_joined *joined;
} finder;

static uint16_t new_stop(const finder *u, uint32_t *n, uint32_t vertex, uint32_t level)
{
    u->joined->stops[*n] = (qfz_stop){vertex, level};
    return (uint16_t)(*n)++;
}

/* Stops of roots.  Below the level at which a vertex opened, its omega level is known. */
static void find_root_stops(const finder *u, uint32_t *n)
{
    const qfz_block_work *const b = u->b;
    const qfz_contracted_block *const block = b->block;
    const uint32_t first_open = block->n_nodes - block->n_open;
    qfz_joined *const s = u->joined;
    s->till[b->number[0]] = 0; /* the node of invalid pixels */
    for (uint32_t i = 1; i < block->n_nodes; i++) {
        const uint32_t number = b->number[i];
        if (number < block->n_hooks) continue;
        s->top[number] = (uint16_t)number;
        s->held[number] = s->till[number] = s->holds[i];
        s->stop[number] = new_stop(u, n, qfz_contracted_vertex(block, number), 0);
        if (number < first_open) continue;
        s->till[number] = qfz_min(s->holds[i], qfz_level_before(s->opened[i]));
    }
}

/* Stops of climbs that begin at a hook; later hooks come first. */
static void find_hook_stops(const finder *u, uint32_t *n)
{
    const qfz_block_work *const b = u->b;
    const uint32_t n_hooks = b->block->n_hooks;
    qfz_joined *const s = u->joined;
    for (uint32_t i = n_hooks; i-- > 0;) {
        const uint32_t up = b->up[i], level = b->level[i];
        const uint32_t top = up < n_hooks && b->level[up] == level ? s->top[up] : up;
        s->top[i] = (uint16_t)top;
        if (level <= s->till[top]) {
            s->stop[i] = s->stop[top];
            s->till[i] = s->till[top];
            continue;
        }
        const bool breaks = s->held[top] < level;
        const uint32_t vertex = breaks ? QFZ_NONE : qfz_contracted_vertex(b->block, top);
        s->stop[i] = new_stop(u, n, vertex, level);
        s->till[i] = qfz_min(s->held[i], level - 1);
    }
}

/* The stop of a pixel whose hook leads into a component that exceeds omega, or may do so.  The
 * first pixel of a node gets the node's own stop, which no other pixel has then. */
static uint16_t stop_of_px(const finder *u, uint32_t *n, uint32_t px)
{
    const qfz_block_work *const b = u->b;
    const uint32_t level = b->px_first[px], node = b->px_number[px];
    qfz_joined *const s = u->joined;
    uint32_t at = node;
    while (b->up[at] != at && b->level[at] <= level)
        at = b->up[at];
    const uint32_t vertex = s->held[at] < level ? QFZ_NONE : qfz_contracted_vertex(b->block, at);
    if (b->s->lightest.up[px] != px) return new_stop(u, n, vertex, level);
    s->stops[s->stop[node]] = (qfz_stop){vertex, level};
    return s->stop[node];
}

/* Whether a pixel has its node's stop is random, so the others are listed first. */
static void find_px_stops(const finder *u, uint32_t *n)
{
    const qfz_block_work *const b = u->b;
    const uint32_t *const first = b->px_first, *const till = u->joined->till;
    const uint16_t *const number = b->px_number, *const of_node = u->joined->stop;
    uint16_t *const stop = u->o->stop + b->block->px, *const others = u->joined->others;
    const uint32_t n_px = b->block->n_px;
    uint32_t n_others = 0, invalid = QFZ_NONE; /* the common stop of invalid pixels */
    for (uint32_t i = 0; i < n_px; i++) {
        const uint32_t node = number[i];
        stop[i] = of_node[node];
        others[n_others] = (uint16_t)i;
        n_others += first[i] > till[node];
    }
    for (uint32_t k = 0; k < n_others; k++) {
        const uint32_t i = others[k];
        if (first[i] != QFZ_NONE)
            stop[i] = stop_of_px(u, n, i);
        else if (invalid != QFZ_NONE)
            stop[i] = (uint16_t)invalid;
        else
            stop[i] = (uint16_t)(invalid = new_stop(u, n, QFZ_NONE, 0));
    }
}

/* Appends the block's stops to those of the blocks that are complete. */
static void put_stops(const finder *u, uint32_t n)
{
    qfz_omega_contraction *const o = u->o;
    const qfz_contracted_block *const block = u->b->block;
    const qfz_joined *const s = u->joined;
    uint32_t first;
#pragma omp atomic capture
    {
        first = o->n_stops;
        o->n_stops += n;
    }
    o->block_stops[block - o->c.blocks] = (qfz_block_stops){first, n};
    memcpy(o->stops + first, s->stops, n * sizeof *s->stops);
    for (uint32_t i = block->n_nodes - block->n_open; i < block->n_nodes; i++)
        o->vertex_stop[qfz_contracted_vertex(block, i)] = first + s->stop[i];
}

void qfz_omega_find_stops(const qfz_block_work *b, qfz_omega_contraction *o, qfz_joined *joined)
{
    const finder u = {b, o, joined};
    uint32_t n = 0;
    find_root_stops(&u, &n);
    find_hook_stops(&u, &n);
    find_px_stops(&u, &n);
    put_stops(&u, n);
}
