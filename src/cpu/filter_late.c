/* SPDX-License-Identifier: MIT */
/* filter_late.c - the pixels of a block that join their component later than its first pixels. */
#include "cpu/filter_block_parts.h"

static uint64_t mass_of(const qfz_filter_view *b, uint32_t px)
{
    return b->graph->row_mass ? qfz_filter_mass(b, px / (uint32_t)qfz_box_w(b->box)) : 1;
}

static uint64_t hook_position(const qfz_filter_view *b, uint32_t px)
{
    const uint32_t to = b->s->lightest.up[px];
    return qfz_filter_order_position(&b->s->order, px < to ? px : to, px < to ? to : px);
}

void qfz_filter_late_count(const qfz_filter_view *b, uint32_t root, uint64_t record)
{
    const qfz_filter_order *const order = &b->s->order;
    qfz_filter_late *const late = &b->s->late;
    qfz_filter_bounds *const weight = &b->s->weight[root];
    const uint32_t level = qfz_record_level(order, record), *const levels = b->s->level;
    const bool is_loop = qfz_record_is_loop(record);
    const uint64_t position = is_loop ? 0 : qfz_record_position(order, record);
    uint32_t node = root;
    if (weight->least == weight->most) return;
    do {
        for (uint16_t *at = &late->first[node]; *at > 0;) {
            const uint32_t px = *at - 1u;
            if (levels[px] > level ||
                (levels[px] == level && (is_loop || hook_position(b, px) > position))) {
                at = &late->next[*at];
                continue;
            }
            weight->least = qfz_filter_sum(weight->least, mass_of(b, px), b->least);
            if (weight->least == b->least) return;
            *at = late->next[*at];
        }
        node = late->node[node];
    } while (node != root);
}

void qfz_filter_late_give_one(const qfz_filter_view *b, uint32_t px, uint32_t vertex)
{
    const uint64_t mass = mass_of(b, px);
    if (mass > 0)
        qfz_filter_add(&b->patch->items, b->s->level[px], hook_position(b, px), vertex, QFZ_NONE,
                       mass);
}

void qfz_filter_late_give(const qfz_filter_view *b, uint32_t root, uint32_t vertex)
{
    qfz_filter_late *const late = &b->s->late;
    uint32_t node = root;
    do {
        for (uint32_t i = late->first[node]; i > 0; i = late->next[i])
            qfz_filter_late_give_one(b, i - 1, vertex);
        late->first[node] = 0;
        node = late->node[node];
    } while (node != root);
}
