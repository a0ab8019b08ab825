/* SPDX-License-Identifier: MIT */
/* arc.c - tracing of one tile.
 *
 * A byte for each corner holds which of its four edges are border edges; that decides every turn,
 * so the labels are read only where a chain begins and where two pixels may touch.  Each closed
 * chain has an edge that leads east; a bit marks those that are traced. */
#include "regions/arc.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "regions/arc_edges.h"

enum { TRACED_EAST = 16, ON_RIM = 32 };

typedef struct tracer {
    qfz_arcs *arcs;
    qfz_box box;
    qfz_label_grid labels; /* from one pixel above and left of the tile */
    int64_t w, h, corners_pitch;
    int64_t corner_to[4]; /* differences of index, by direction */
} tracer;

typedef struct place { /* of an edge, in the tile */
    int64_t y, x;
    int direction;
} place;

void qfz_arcs_fini(qfz_arcs *arcs)
{
    free(arcs->bytes);
    free(arcs->index);
    free(arcs->corners);
    free(arcs->bits);
    *arcs = (qfz_arcs){0};
}

/* -------------------------------------------------------------------------------------- corners */
static void mark_rim(const tracer *t)
{
    for (int64_t y = 0; y <= t->h; y++) {
        uint8_t *const corners = t->arcs->corners + y * t->corners_pitch;
        corners[0] |= ON_RIM;
        corners[t->w] |= ON_RIM;
        if (y > 0 && y < t->h) continue;
        for (int64_t x = 0; x <= t->w; x++)
            corners[x] |= ON_RIM;
    }
}

/* --------------------------------------------------------------------------------------- tracing
 */
/* The pixel on the right of an edge. */
static int64_t right_y(place p)
{
    return p.y - (p.direction >= QFZ_ARC_WEST);
}

static int64_t right_x(place p)
{
    return p.x - (p.direction == QFZ_ARC_SOUTH || p.direction == QFZ_ARC_WEST);
}

static bool is_inside(const tracer *t, place p)
{
    const int64_t y = right_y(p), x = right_x(p);
    return y >= 0 && y < t->h && x >= 0 && x < t->w;
}

static uint64_t label_at(const tracer *t, int64_t y, int64_t x)
{
    return qfz_label_grid_get(t->labels, y + 1, x + 1);
}

static uint64_t edge_of(const tracer *t, place p)
{
    return qfz_arc_edge(t->box.y0 + p.y, t->box.x0 + p.x, p.direction);
}

/* The pixel ahead on the left of the end of an edge that arrives at corner (p.y, p.x). */
static uint64_t ahead_left(const tracer *t, place p)
{
    static const int dy[] = {-1, 0, 0, -1}, dx[] = {0, 0, -1, -1};
    return label_at(t, p.y + dy[p.direction], p.x + dx[p.direction]);
}

/* How a chain goes on at a corner. */
static int turn_at(const tracer *t, uint8_t corner, place p, uint64_t label)
{
    if (corner >> ((p.direction + 1) & 3) & 1)
        return (corner & QFZ_ARC_EDGES) == QFZ_ARC_EDGES && ahead_left(t, p) == label
                   ? QFZ_ARC_RIGHT_AT_TOUCH
                   : QFZ_ARC_RIGHT;
    return corner >> p.direction & 1 ? QFZ_ARC_STRAIGHT : QFZ_ARC_LEFT;
}

static uint8_t junction_bit(uint8_t corner)
{
    static const uint8_t is[16] = {[7] = QFZ_ARC_JUNCTION,
                                   [11] = QFZ_ARC_JUNCTION,
                                   [13] = QFZ_ARC_JUNCTION,
                                   [14] = QFZ_ARC_JUNCTION,
                                   [15] = QFZ_ARC_JUNCTION};
    return is[corner & QFZ_ARC_EDGES];
}

static qfz_status add_step(qfz_arcs *arcs, int length, int bits, qfz_error *err)
{
    if (arcs->n_bytes == arcs->bytes_room) {
        const int64_t room = 2 * arcs->bytes_room + 4096;
        QFZ_TRY(qfz_realloc((void **)&arcs->bytes, room, 1, err));
        arcs->bytes_room = room;
    }
    arcs->bytes[arcs->n_bytes++] = (uint8_t)(bits | (length - 1) << QFZ_ARC_LENGTH_SHIFT);
    return QFZ_OK;
}

/* Makes room for the head and the index of a chain. */
static qfz_status begin_chain(qfz_arcs *arcs, uint64_t label, qfz_error *err)
{
    const int64_t head_bytes = (int64_t)sizeof(qfz_arc_head);
    if (arcs->n == arcs->index_room) {
        const int64_t room = 2 * arcs->index_room + 1024;
        QFZ_TRY(qfz_realloc((void **)&arcs->index, room, sizeof *arcs->index, err));
        arcs->index_room = room;
    }
    if (arcs->n_bytes + head_bytes > arcs->bytes_room) {
        const int64_t room = 2 * arcs->bytes_room + 4096;
        QFZ_TRY(qfz_realloc((void **)&arcs->bytes, room, 1, err));
        arcs->bytes_room = room;
    }
    arcs->index[arcs->n++] = (qfz_arc_index){label, arcs->n_bytes};
    arcs->n_bytes += head_bytes;
    return QFZ_OK;
}

/* Traces the chain that begins with an edge, to its end in the tile. */
static qfz_status trace(const tracer *t, place p, qfz_error *err)
{
    qfz_arcs *const arcs = t->arcs;
    const uint64_t begin = edge_of(t, p), label = label_at(t, right_y(p), right_x(p));
    const place first = p;
    uint8_t *corner = arcs->corners + p.y * t->corners_pitch + p.x;
    int length = 0;
    QFZ_TRY(begin_chain(arcs, label, err));
    const int64_t at = arcs->index[arcs->n - 1].at;
    for (bool more = true; more;) {
        if (p.direction == QFZ_ARC_EAST) *corner |= TRACED_EAST;
        corner += t->corner_to[p.direction];
        p.x += (p.direction == QFZ_ARC_EAST) - (p.direction == QFZ_ARC_WEST);
        p.y += (p.direction == QFZ_ARC_SOUTH) - (p.direction == QFZ_ARC_NORTH);
        length++;
        const int turn = turn_at(t, *corner, p, label);
        const int bits = turn | junction_bit(*corner);
        p.direction = qfz_arc_step_turned(p.direction, (uint8_t)turn);
        more = !(p.y == first.y && p.x == first.x && p.direction == first.direction) &&
               (!(*corner & ON_RIM) || is_inside(t, p));
        if (bits || length == QFZ_ARC_LONGEST_STEP || !more) {
            QFZ_TRY(add_step(arcs, length, bits, err));
            length = 0;
        }
    }
    const qfz_arc_head head = {begin, edge_of(t, p),
                               (uint64_t)(arcs->n_bytes - at) - sizeof(qfz_arc_head)};
    memcpy(arcs->bytes + at, &head, sizeof head);
    return QFZ_OK;
}

/* Whether the chain of an edge enters the tile with this edge: the edge before belongs to a pixel
 * of another tile.  The edge before arrives at the corner; looking back from there, it is the first
 * border edge clockwise: on the right, straight behind, or on the left. */
static bool is_entrance(const tracer *t, place p)
{
    const uint8_t corner = t->arcs->corners[p.y * t->corners_pitch + p.x];
    static const int dy[] = {0, 1, 0, -1}, dx[] = {1, 0, -1, 0};
    for (int i = 1; i <= 3; i++) {
        const int back = (p.direction + i) & 3;
        if (!(corner >> back & 1)) continue;
        return !is_inside(t, (place){p.y + dy[back], p.x + dx[back], (back + 2) & 3});
    }
    return false;
}

/* Traces from those edges of a pixel at which a chain enters the tile. */
static qfz_status trace_entrances(const tracer *t, int64_t y, int64_t x, qfz_error *err)
{
    const place edges[] = {{y, x, QFZ_ARC_EAST},
                           {y, x + 1, QFZ_ARC_SOUTH},
                           {y + 1, x + 1, QFZ_ARC_WEST},
                           {y + 1, x, QFZ_ARC_NORTH}};
    if (label_at(t, y, x) == 0) return QFZ_OK;
    for (int i = 0; i < 4; i++) {
        const place p = edges[i];
        const uint8_t corner = t->arcs->corners[p.y * t->corners_pitch + p.x];
        if (corner >> p.direction & 1 && is_entrance(t, p)) QFZ_TRY(trace(t, p, err));
    }
    return QFZ_OK;
}

static qfz_status trace_open(const tracer *t, qfz_error *err)
{
    const int64_t n = qfz_ring_size(t->h, t->w);
    for (int64_t i = 0; i < n; i++) {
        int64_t y, x;
        qfz_ring_place(t->h, t->w, i, &y, &x);
        QFZ_TRY(trace_entrances(t, y, x, err));
    }
    return QFZ_OK;
}

static qfz_status trace_from(const tracer *t, int64_t y, int64_t x, qfz_error *err)
{
    const uint8_t corner = t->arcs->corners[y * t->corners_pitch + x];
    if ((corner & (1 << QFZ_ARC_EAST | TRACED_EAST)) != 1 << QFZ_ARC_EAST) return QFZ_OK;
    if (label_at(t, y, x) == 0) return QFZ_OK;
    return trace(t, (place){y, x, QFZ_ARC_EAST}, err);
}

/* True if no border edge leads east from these eight corners that is not traced. */
static bool has_none(const uint8_t *corners)
{
    uint64_t word;
    memcpy(&word, corners, sizeof word);
    return (word & ~(word >> 4) & UINT64_C(0x0101010101010101)) == 0;
}
_Static_assert(QFZ_ARC_EAST == 0 && TRACED_EAST == 1 << 4, "the two bits of has_none()");

static qfz_status trace_closed(const tracer *t, qfz_error *err)
{
    for (int64_t y = 0; y < t->h; y++) {
        const uint8_t *const corners = t->arcs->corners + y * t->corners_pitch;
        for (int64_t x = 0; x < t->w; x++) {
            while (x + 8 <= t->w && has_none(corners + x))
                x += 8;
            if (x < t->w) QFZ_TRY(trace_from(t, y, x, err));
        }
    }
    return QFZ_OK;
}

qfz_status qfz_arcs_trace(qfz_arcs *arcs, qfz_box tile, qfz_label_grid labels, qfz_error *err)
{
    const int64_t w = qfz_box_w(tile), h = qfz_box_h(tile);
    QFZ_TRY(qfz_arcs_find_edges(arcs, w, h, labels, err));
    const int64_t pitch = arcs->corners_pitch;
    const tracer t = {.arcs = arcs,
                      .box = tile,
                      .labels = labels,
                      .w = w,
                      .h = h,
                      .corners_pitch = pitch,
                      .corner_to = {1, pitch, -1, -pitch}};
    arcs->n = arcs->n_bytes = 0;
    mark_rim(&t);
    QFZ_TRY(trace_open(&t, err));
    return trace_closed(&t, err);
}
