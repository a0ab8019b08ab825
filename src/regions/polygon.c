/* SPDX-License-Identifier: MIT */
/* polygon.c - open chains are joined end to end, chains become rings of corners, rings that touch
 * themselves are cut, and all are put into their canonical order. */
#include "regions/polygon.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "regions/polygon_nest.h"
#include "regions/polygon_simplify.h"

enum { HEAD_BYTES = sizeof(qfz_arc_head) };

typedef struct piece { /* an open chain */
    uint64_t begin, end;
    int64_t at;
    bool used;
} piece;

typedef struct touch { /* a corner of a ring that the ring may pass twice */
    int32_t y, x;
    int64_t corner;
} touch;

struct qfz_polygon_maker {
    const uint64_t *weights_before;
    double tolerance;
    const qfz_corner_map *map;

    piece *pieces;
    int64_t n_pieces, pieces_room;
    qfz_polygon_corner *traced, *corners; /* as the chains are; of the rings */
    int64_t traced_room, corners_room, n_corners;
    qfz_polygon_ring *rings;
    int64_t n_rings, rings_room;
    touch *touches;
    int64_t touches_room;
    int64_t *next; /* of each corner of a ring that touches itself */
    int64_t next_room;
    qfz_simplify_memory simplify;
};

qfz_status qfz_polygon_maker_create(qfz_polygon_maker **maker, const uint64_t *weights_before,
                                    double tolerance, const qfz_corner_map *map, qfz_error *err)
{
    qfz_polygon_maker *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->weights_before = weights_before;
    made->tolerance = tolerance;
    made->map = map;
    *maker = made;
    return QFZ_OK;
}

void qfz_polygon_maker_close(qfz_polygon_maker *maker)
{
    if (!maker) return;
    free(maker->pieces);
    free(maker->traced);
    free(maker->corners);
    free(maker->rings);
    free(maker->touches);
    free(maker->next);
    qfz_simplify_fini(&maker->simplify);
    free(maker);
}

/* Traced corners and those of rings, arrays that have grown by half; and, in rare cases, the events
 * of nesting. */
int64_t qfz_polygon_bytes(int64_t group_bytes)
{
    return group_bytes * (int64_t)(3 * sizeof(qfz_polygon_corner) + 2 * 24);
}

static qfz_status reserve(void **array, int64_t *room, int64_t n, size_t item_bytes, qfz_error *err)
{
    if (n <= *room) return QFZ_OK;
    QFZ_TRY(qfz_realloc(array, n + n / 2, item_bytes, err));
    *room = n + n / 2;
    return QFZ_OK;
}

/* ----------------------------------------------------------------------------------- from chains
 */
/* Appends the corners of a chain to traced[]. */
static int64_t add_corners(qfz_polygon_corner *traced, int64_t n, const qfz_arc_head *head,
                           const uint8_t *steps)
{
    static const int dy[] = {0, 1, 0, -1}, dx[] = {1, 0, -1, 0};
    int64_t y, x;
    int direction;
    qfz_arc_edge_place(head->begin, &y, &x, &direction);
    for (uint64_t i = 0; i < head->n_steps; i++) {
        const uint8_t step = steps[i];
        const int length = qfz_arc_step_length(step);
        y += length * dy[direction];
        x += length * dx[direction];
        if (step & (QFZ_ARC_TURN | QFZ_ARC_JUNCTION))
            traced[n++] =
                (qfz_polygon_corner){(int32_t)x, (int32_t)y, (step & QFZ_ARC_JUNCTION) != 0,
                                     (step & QFZ_ARC_TURN) == QFZ_ARC_RIGHT_AT_TOUCH};
        direction = qfz_arc_step_turned(direction, step);
    }
    return n;
}

/* Inside less outside of a ring, in pixels. */
static int64_t ring_pixels(const qfz_polygon_corner *corners, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const qfz_polygon_corner a = corners[i], b = corners[i + 1 < n ? i + 1 : 0];
        sum += (int64_t)a.x * (b.y - a.y);
    }
    return sum;
}

static int64_t first_in_raster(const qfz_polygon_corner *corners, int64_t n)
{
    int64_t first = 0;
    for (int64_t i = 1; i < n; i++)
        if (corners[i].y < corners[first].y ||
            (corners[i].y == corners[first].y && corners[i].x < corners[first].x))
            first = i;
    return first;
}

/* Adds the ring whose corners are the last n of corners[], in their order around it. */
static qfz_status add_ring(qfz_polygon_maker *maker, int64_t n, qfz_error *err)
{
    QFZ_TRY(reserve((void **)&maker->rings, &maker->rings_room, maker->n_rings + 1,
                    sizeof *maker->rings, err));
    const int64_t first = maker->n_corners - n;
    maker->rings[maker->n_rings++] = (qfz_polygon_ring){
        .first = first, .n = n, .pixels = ring_pixels(maker->corners + first, n)};
    return QFZ_OK;
}

static int by_corner(const void *a, const void *b)
{
    const touch *const p = a, *const q = b;
    if (p->y != q->y) return p->y < q->y ? -1 : 1;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->corner > q->corner) - (p->corner < q->corner);
}

/* Cuts a ring at the corners that it passes twice: the two visits exchange what follows them.  As
 * the ring does not cross itself, visits are nested like brackets, and each exchange divides one
 * ring into two. */
static qfz_status cut_ring(qfz_polygon_maker *maker, int64_t n, int64_t n_touches, qfz_error *err)
{
    const qfz_polygon_corner *const traced = maker->traced;
    QFZ_TRY(reserve((void **)&maker->next, &maker->next_room, n, sizeof *maker->next, err));
    int64_t *const next = maker->next;
    for (int64_t i = 0; i < n; i++)
        next[i] = i + 1 < n ? i + 1 : 0;
    if (n_touches > 1) qsort(maker->touches, (size_t)n_touches, sizeof *maker->touches, by_corner);
    for (int64_t i = 0; i + 1 < n_touches; i++) {
        const touch a = maker->touches[i], b = maker->touches[i + 1];
        if (a.y != b.y || a.x != b.x) continue;
        const int64_t after = next[a.corner];
        next[a.corner] = next[b.corner];
        next[b.corner] = after;
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t before = maker->n_corners;
        for (int64_t at = i; next[at] >= 0;) {
            const int64_t after = next[at];
            maker->corners[maker->n_corners++] = traced[at];
            next[at] = -1;
            at = after;
        }
        if (maker->n_corners == before) continue;
        const int64_t m = maker->n_corners - before;
        QFZ_TRY(add_ring(maker, m, err));
    }
    return QFZ_OK;
}

/* Adds the ring or rings of the first n of traced[]. */
static qfz_status add_traced(qfz_polygon_maker *maker, int64_t n, qfz_error *err)
{
    int64_t n_touches = 0;
    for (int64_t i = 0; i < n; i++)
        n_touches += maker->traced[i].is_touch;
    QFZ_TRY(reserve((void **)&maker->corners, &maker->corners_room, maker->n_corners + n,
                    sizeof *maker->corners, err));
    if (n_touches < 2) {
        memcpy(maker->corners + maker->n_corners, maker->traced,
               (size_t)n * sizeof *maker->corners);
        maker->n_corners += n;
        return add_ring(maker, n, err);
    }
    QFZ_TRY(reserve((void **)&maker->touches, &maker->touches_room, n_touches,
                    sizeof *maker->touches, err));
    n_touches = 0;
    for (int64_t i = 0; i < n; i++)
        if (maker->traced[i].is_touch)
            maker->touches[n_touches++] = (touch){maker->traced[i].y, maker->traced[i].x, i};
    return cut_ring(maker, n, n_touches, err);
}

/* -------------------------------------------------------------------------------------- joining */
static int by_begin(const void *a, const void *b)
{
    const piece *const p = a, *const q = b;
    return (p->begin > q->begin) - (p->begin < q->begin);
}

static piece *piece_of(const qfz_polygon_maker *maker, uint64_t begin)
{
    const piece key = {.begin = begin};
    return bsearch(&key, maker->pieces, (size_t)maker->n_pieces, sizeof key, by_begin);
}

/* Joins the open chains into rings. */
static qfz_status join_pieces(qfz_polygon_maker *maker, const qfz_arc_group *group, qfz_error *err)
{
    if (maker->n_pieces > 1)
        qsort(maker->pieces, (size_t)maker->n_pieces, sizeof *maker->pieces, by_begin);
    for (int64_t i = 0; i < maker->n_pieces; i++) {
        int64_t n = 0;
        for (piece *p = &maker->pieces[i]; p && !p->used; p = piece_of(maker, p->end)) {
            qfz_arc_head head;
            memcpy(&head, group->bytes + p->at, sizeof head);
            n = add_corners(maker->traced, n, &head, group->bytes + p->at + HEAD_BYTES);
            p->used = true;
        }
        if (n) QFZ_TRY(add_traced(maker, n, err));
    }
    return QFZ_OK;
}

static qfz_status find_rings(qfz_polygon_maker *maker, const qfz_arc_group *group, qfz_error *err)
{
    int64_t at = 0;
    QFZ_TRY(reserve((void **)&maker->traced, &maker->traced_room, group->n_bytes,
                    sizeof *maker->traced, err));
    maker->n_rings = maker->n_corners = maker->n_pieces = 0;
    for (int64_t i = 0; i < group->n; i++) {
        qfz_arc_head head;
        memcpy(&head, group->bytes + at, sizeof head);
        if (head.begin == head.end) {
            const int64_t n = add_corners(maker->traced, 0, &head, group->bytes + at + HEAD_BYTES);
            QFZ_TRY(add_traced(maker, n, err));
        } else {
            QFZ_TRY(reserve((void **)&maker->pieces, &maker->pieces_room, maker->n_pieces + 1,
                            sizeof *maker->pieces, err));
            maker->pieces[maker->n_pieces++] = (piece){head.begin, head.end, at, false};
        }
        at += HEAD_BYTES + (int64_t)head.n_steps;
    }
    return join_pieces(maker, group, err);
}

/* --------------------------------------------------------------------------------------- order */
static void reverse(qfz_polygon_corner *corners, int64_t n)
{
    for (int64_t i = 0, j = n - 1; i < j; i++, j--) {
        const qfz_polygon_corner swapped = corners[i];
        corners[i] = corners[j];
        corners[j] = swapped;
    }
}

/* Rotates each ring in place, so that it begins at its first corner in raster order. */
static void rotate_rings(qfz_polygon_maker *maker)
{
    for (int64_t r = 0; r < maker->n_rings; r++) {
        const qfz_polygon_ring ring = maker->rings[r];
        qfz_polygon_corner *const corners = maker->corners + ring.first;
        const int64_t first = first_in_raster(corners, ring.n);
        if (first == 0) continue;
        reverse(corners, first);
        reverse(corners + first, ring.n - first);
        reverse(corners, ring.n);
    }
}

typedef struct order_key {
    qfz_polygon_corner exterior, first;
    bool is_hole;
    int64_t ring;
} order_key;

static int compare_corners(qfz_polygon_corner a, qfz_polygon_corner b)
{
    if (a.y != b.y) return a.y < b.y ? -1 : 1;
    return (a.x > b.x) - (a.x < b.x);
}

static int by_exterior(const void *a, const void *b)
{
    const order_key *const p = a, *const q = b;
    const int exterior = compare_corners(p->exterior, q->exterior);
    if (exterior) return exterior;
    if (p->is_hole != q->is_hole) return p->is_hole ? 1 : -1;
    return compare_corners(p->first, q->first);
}

/* Sorts rings: exteriors, each followed by its holes.  Holes of one piece begin at different
 * corners; so do exteriors, since two pieces that touch there lie above and below. */
static qfz_status sort_rings(qfz_polygon_maker *maker, qfz_error *err)
{
    const int64_t n = maker->n_rings;
    order_key *keys = NULL;
    qfz_polygon_ring *sorted = NULL;
    qfz_status st;
    if (n == 1) return QFZ_OK;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&keys, n, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&sorted, n, err));
    for (int64_t r = 0; r < n; r++) {
        const qfz_polygon_ring *const ring = &maker->rings[r];
        keys[r] = (order_key){maker->corners[maker->rings[ring->exterior].first],
                              maker->corners[ring->first], ring->pixels < 0, r};
    }
    if (n > 1) qsort(keys, (size_t)n, sizeof *keys, by_exterior);
    for (int64_t i = 0, exterior = 0; i < n; i++) {
        sorted[i] = maker->rings[keys[i].ring];
        if (!keys[i].is_hole) exterior = i;
        sorted[i].exterior = exterior;
    }
    memcpy(maker->rings, sorted, (size_t)n * sizeof *sorted);
cleanup:
    free(keys);
    free(sorted);
    return st;
}

/* ------------------------------------------------------------------------------------- measures */
static uint64_t ring_area(const qfz_polygon_maker *maker, const qfz_polygon_ring *ring)
{
    const qfz_polygon_corner *const corners = maker->corners + ring->first;
    const uint64_t *const before = maker->weights_before;
    uint64_t sum = 0;
    for (int64_t i = 0; i < ring->n; i++) {
        const qfz_polygon_corner a = corners[i], b = corners[i + 1 < ring->n ? i + 1 : 0];
        sum += (uint64_t)a.x * (before[b.y] - before[a.y]);
    }
    return sum;
}

static qfz_status simplify(qfz_polygon_maker *maker, qfz_error *err)
{
    for (int64_t r = 0; r < maker->n_rings; r++) {
        qfz_polygon_ring *const ring = &maker->rings[r];
        QFZ_TRY(qfz_polygon_simplify(&maker->simplify, maker->corners + ring->first, &ring->n,
                                     maker->tolerance, maker->map, err));
    }
    return QFZ_OK;
}

qfz_status qfz_polygon_make(qfz_polygon_maker *maker, const qfz_arc_group *group,
                            qfz_polygon *polygon, qfz_error *err)
{
    int64_t pixels = 0, n_exteriors = 0;
    uint64_t area = 0;
    QFZ_TRY(find_rings(maker, group, err));
    rotate_rings(maker);
    QFZ_TRY(qfz_polygon_nest(maker->rings, maker->n_rings, maker->corners, err));
    QFZ_TRY(sort_rings(maker, err));
    for (int64_t r = 0; r < maker->n_rings; r++) {
        const qfz_polygon_ring *const ring = &maker->rings[r];
        pixels += ring->pixels;
        n_exteriors += ring->pixels > 0;
        if (maker->weights_before) area += ring_area(maker, ring);
    }
    if (maker->tolerance > 0) {
        QFZ_TRY(simplify(maker, err));
        rotate_rings(maker); /* the first corner may be gone */
    }
    *polygon = (qfz_polygon){.label = group->label,
                             .pixels = pixels,
                             .area = area,
                             .n_rings = maker->n_rings,
                             .n_exteriors = n_exteriors,
                             .rings = maker->rings,
                             .corners = maker->corners};
    return QFZ_OK;
}
