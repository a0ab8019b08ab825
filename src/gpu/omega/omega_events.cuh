/* SPDX-License-Identifier: MIT */
/* omega_events.cuh - the items from which the range events of a summary are made, for
 * omega_summary.cu and omega_thin.cu.
 *
 * An item is a record; n_records + a vertex: its T or, if T has a ring pixel, its own pixels; or
 * n_records + n_vertices + a vertex that breaks.  After all items there are, by the number of the
 * event, events of several parts. */
#pragma once

#include "gpu/omega/omega_parts.cuh"

/* ---- Vertices that reach the ring ------------------------------------------------------------ */

QFZ_DEVICE bool qfz_omega_reaches_ring(const qfz_omega_events &s, uint32_t v)
{
    return s.representatives[v] != QFZ_OMEGA_NO_RING;
}

/* The least level of an event of vertex v, which reaches the ring. */
QFZ_DEVICE uint32_t qfz_omega_least_level(const qfz_omega_events &s, uint32_t v)
{
    return (uint32_t)(s.representatives[v] >> 32);
}

/* ---- Items ----------------------------------------------------------------------------------- */

enum qfz_omega_item_kind {
    QFZ_OMEGA_ATTACHED = 0, /* attached to y */
    QFZ_OMEGA_OWN,          /* y's own pixels, and what is merged with them */
    QFZ_OMEGA_BREAK,        /* y breaks */
    QFZ_OMEGA_JOINED        /* several parts of one level (omega_thin.cu) */
};

/* An item, and the vertex whose representative has its event. */
struct qfz_omega_item {
    uint32_t i, y;  /* y: QFZ_NONE if there is no event */
    uint32_t level; /* at which the item joins y; QFZ_OMEGA_BREAK: at which y breaks */
    qfz_omega_item_kind kind;
};

QFZ_DEVICE qfz_omega_item qfz_omega_item_of(const qfz_omega_graph &g, const qfz_omega_events &s,
                                            uint32_t i)
{
    const uint32_t n_vertices = *g.n_vertices, n_records = *g.n_records;
    if (i < n_records) {
        const uint2 to = qfz_omega_attached(g, i);
        const uint32_t y = qfz_omega_reaches_ring(s, to.x) ? to.x : QFZ_NONE;
        return qfz_omega_item{i, y, to.y, QFZ_OMEGA_ATTACHED};
    }
    uint32_t v = i - n_records;
    if (v >= 2 * n_vertices)
        return qfz_omega_item{i, s.vertex[v - 2 * n_vertices], 0, QFZ_OMEGA_JOINED};
    if (v >= n_vertices) {
        v -= n_vertices;
        const uint32_t y = qfz_omega_reaches_ring(s, v) ? v : QFZ_NONE;
        return qfz_omega_item{i, y, g.vertex[v].breaks, QFZ_OMEGA_BREAK};
    }
    if (qfz_omega_reaches_ring(s, v)) return qfz_omega_item{i, v, 0, QFZ_OMEGA_OWN};
    const uint32_t up = g.vertex[v].up;
    const uint32_t y = up != QFZ_NONE && qfz_omega_reaches_ring(s, up) ? up : QFZ_NONE;
    return qfz_omega_item{i, y, g.vertex[v].up_level, QFZ_OMEGA_ATTACHED};
}

/* True for a part that is no event of its own if it has joined y at the least level: its range is
 * merged with that of y's own pixels.  Of several bands, only those of records are known at the
 * same time. */
QFZ_DEVICE bool qfz_omega_merges(const qfz_omega_values &values, const qfz_omega_graph &g,
                                 const qfz_omega_item &item)
{
    return item.kind == QFZ_OMEGA_ATTACHED && (values.n_bands == 1 || item.i < *g.n_records);
}

/* The level of an item's event: both the item and the representative have joined y.  QFZ_NONE: the
 * item has no event. */
QFZ_DEVICE uint32_t qfz_omega_event_level(const qfz_omega_values &values, const qfz_omega_graph &g,
                                          const qfz_omega_events &s, const qfz_omega_item &item)
{
    if (item.y == QFZ_NONE) return QFZ_NONE;
    const uint32_t least = qfz_omega_least_level(s, item.y), level = max(item.level, least);
    if (item.kind == QFZ_OMEGA_BREAK) return level < g.after ? level : QFZ_NONE;
    if (item.kind == QFZ_OMEGA_OWN && g.first[item.y] == QFZ_NONE) return QFZ_NONE;
    if (item.level <= least && qfz_omega_merges(values, g, item)) return QFZ_NONE;
    return level < g.vertex[item.y].breaks ? level : QFZ_NONE;
}

/* The range of an item in one band.  Of several bands, the range of a vertex's T must be that of
 * this band (qfz_omega_spread()). */
QFZ_DEVICE uint2 qfz_omega_item_range(const qfz_omega_values &values, const qfz_omega_graph &g,
                                      const qfz_omega_item &item, int band)
{
    const uint32_t n_records = *g.n_records;
    if (item.kind == QFZ_OMEGA_BREAK) return make_uint2(values.least(), values.greatest());
    if (item.i < n_records)
        return make_uint2(values.read(g.lo, band * g.record_room + item.i),
                          values.read(g.hi, band * g.record_room + item.i));
    const uint32_t v = item.i - n_records;
    if (item.kind == QFZ_OMEGA_ATTACHED) return make_uint2(g.vertex[v].lo, g.vertex[v].hi);
    return make_uint2(g.own_lo[band * g.vertex_room + v], g.own_hi[band * g.vertex_room + v]);
}

/* The same of several parts of one level; there is one band. */
QFZ_DEVICE uint2 qfz_omega_joined_range(const qfz_omega_values &values, const qfz_omega_graph &g,
                                        const qfz_omega_events &s, const qfz_omega_item &item)
{
    const uint32_t e = item.i - *g.n_records - 2 * *g.n_vertices;
    return make_uint2(values.read(s.lo, e), values.read(s.hi, e));
}

/* Makes the events of all items, except for those that widen nothing.  counts has their number; if
 * that is above their room, not all are there. */
qfz_status qfz_omega_thin(qfz_gpu *gpu, const qfz_omega_room *room);
