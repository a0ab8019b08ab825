/* SPDX-License-Identifier: MIT */
#include "regions/polygon_simplify.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"

typedef struct line { /* a part of a ring whose first and last corners stay; corners are cyclic */
    const qfz_polygon_corner *corners;
    int64_t n_corners;
    double tolerance;
    const qfz_corner_map *map;
    qfz_simplify_memory *memory;
} line;

void qfz_simplify_fini(qfz_simplify_memory *memory)
{
    free(memory->keep);
    free(memory->stack);
    free(memory->least);
    free(memory->most);
    *memory = (qfz_simplify_memory){0};
}

static qfz_polygon_corner corner_at(const line *l, int64_t i)
{
    return l->corners[i < l->n_corners ? i : i - l->n_corners];
}

static bool is_fixed(const line *l, int64_t i)
{
    const qfz_polygon_corner p = corner_at(l, i);
    return p.is_junction || qfz_corner_map_is_outermost(l->map, p.y, p.x);
}

static bool is_before(qfz_polygon_corner a, qfz_polygon_corner b)
{
    return a.y != b.y ? a.y < b.y : a.x < b.x;
}

/* Square of the distance from p to the chord a - b.  All differences are whole numbers, so the
 * value is the same if a and b change places. */
static double distance_squared(qfz_polygon_corner p, qfz_polygon_corner a, qfz_polygon_corner b)
{
    const int64_t bx = (int64_t)b.x - a.x, by = (int64_t)b.y - a.y;
    const int64_t px = (int64_t)p.x - a.x, py = (int64_t)p.y - a.y;
    const int64_t qx = (int64_t)p.x - b.x, qy = (int64_t)p.y - b.y;
    if (px * bx + py * by <= 0) return (double)(px * px + py * py);
    if (qx * bx + qy * by >= 0) return (double)(qx * qx + qy * qy);
    const double cross = fabs((double)(bx * py - by * px));
    return cross / (double)(bx * bx + by * by) * cross;
}

/* The corner between from and to that is farthest from the chord; of several, the first in raster
 * order, so that the direction of the line does not show. */
static int64_t farthest(const line *l, int64_t from, int64_t to, double *distance)
{
    const qfz_polygon_corner a = corner_at(l, from), b = corner_at(l, to);
    int64_t found = -1;
    *distance = -1;
    for (int64_t i = from + 1; i < to; i++) {
        const qfz_polygon_corner p = corner_at(l, i);
        const double here = distance_squared(p, a, b);
        if (here < *distance) continue;
        if (here == *distance && !is_before(p, corner_at(l, found))) continue;
        *distance = here;
        found = i;
    }
    return found;
}

static qfz_status reserve_rows(qfz_simplify_memory *memory, int64_t n, qfz_error *err)
{
    if (n <= memory->rows_room) return QFZ_OK;
    QFZ_TRY(qfz_realloc((void **)&memory->least, 2 * n, sizeof *memory->least, err));
    QFZ_TRY(qfz_realloc((void **)&memory->most, 2 * n, sizeof *memory->most, err));
    memory->rows_room = 2 * n;
    return QFZ_OK;
}

/* Widens a row to columns x0 and x1. */
static void widen(qfz_simplify_memory *memory, int64_t row, int64_t x0, int64_t x1)
{
    if (x0 < memory->least[row]) memory->least[row] = (int32_t)x0;
    if (x1 > memory->most[row]) memory->most[row] = (int32_t)x1;
}

/* Widens rows to the chord a - b, a being above b or beside: to the first whole column right of it
 * and to the last one left of it, as the line lies on either side. */
static void widen_by_chord(qfz_simplify_memory *memory, int64_t y0, qfz_polygon_corner a,
                           qfz_polygon_corner b)
{
    const int64_t h = (int64_t)b.y - a.y, w = (int64_t)b.x - a.x;
    for (int64_t i = 0; i <= h && h > 0; i++) {
        const int64_t across = i * w;
        const int64_t down = across >= 0 ? across / h : -((-across + h - 1) / h);
        const int64_t up = across % h == 0 ? down : down + 1;
        widen(memory, a.y + i - y0, a.x + up, a.x + down);
    }
}

/* Whether no other border passes between the line from..to and its chord: in each row, from the
 * leftmost to the rightmost column of both, borders pass at the corners of the line and no others.
 */
static qfz_status is_free(const line *l, int64_t from, int64_t to, bool *answer, qfz_error *err)
{
    qfz_simplify_memory *const memory = l->memory;
    int64_t y0 = INT64_MAX, y1 = 0, on_line = 1, passed = 0;
    for (int64_t i = from; i <= to; i++) {
        const int64_t y = corner_at(l, i).y;
        if (y < y0) y0 = y;
        if (y > y1) y1 = y;
    }
    QFZ_TRY(reserve_rows(memory, y1 - y0 + 1, err));
    for (int64_t y = y0; y <= y1; y++) {
        memory->least[y - y0] = INT32_MAX;
        memory->most[y - y0] = -1;
    }
    for (int64_t i = from; i < to; i++) {
        const qfz_polygon_corner a = corner_at(l, i), b = corner_at(l, i + 1);
        on_line += llabs((int64_t)b.x - a.x) + llabs((int64_t)b.y - a.y);
        for (int32_t y = a.y < b.y ? a.y : b.y; y <= (a.y < b.y ? b.y : a.y); y++) {
            widen(memory, y - y0, a.x < b.x ? a.x : b.x, a.x < b.x ? b.x : a.x);
        }
    }
    const qfz_polygon_corner a = corner_at(l, from), b = corner_at(l, to);
    widen_by_chord(memory, y0, a.y < b.y ? a : b, a.y < b.y ? b : a);
    for (int64_t y = y0; y <= y1; y++)
        passed += qfz_corner_map_count(l->map, y, memory->least[y - y0], memory->most[y - y0]);
    *answer = passed == on_line;
    return QFZ_OK;
}

static bool is_straight(const line *l, int64_t from, int64_t to)
{
    const qfz_polygon_corner a = corner_at(l, from), b = corner_at(l, to);
    if (a.x != b.x && a.y != b.y) return false;
    for (int64_t i = from + 1; i < to; i++) {
        const qfz_polygon_corner p = corner_at(l, i);
        if (a.x == b.x ? p.x != a.x : p.y != a.y) return false;
    }
    return a.x != b.x || a.y != b.y;
}

static qfz_status push(qfz_simplify_memory *memory, int64_t *n, int64_t from, int64_t to,
                       qfz_error *err)
{
    if (*n + 2 > memory->stack_room) {
        QFZ_TRY(qfz_realloc((void **)&memory->stack, 2 * (*n + 2), sizeof *memory->stack, err));
        memory->stack_room = 2 * (*n + 2);
    }
    memory->stack[(*n)++] = from;
    memory->stack[(*n)++] = to;
    return QFZ_OK;
}

/* Sets keep[] of the corners of a line. */
static qfz_status simplify_line(const line *l, int64_t first, int64_t last, qfz_error *err)
{
    qfz_simplify_memory *const memory = l->memory;
    const qfz_polygon_corner a = corner_at(l, first), b = corner_at(l, last);
    const bool is_closed = a.x == b.x && a.y == b.y;
    const double limit = l->tolerance * l->tolerance;
    int64_t n = 0, farthest_of_all = -1;
    double distance;
    memory->keep[first] = memory->keep[last % l->n_corners] = true;
    if (is_straight(l, first, last)) return QFZ_OK;
    QFZ_TRY(push(memory, &n, first, last, err));
    farthest_of_all = farthest(l, first, last, &distance);
    while (n > 0) {
        const int64_t to = memory->stack[--n], from = memory->stack[--n];
        const int64_t middle = farthest(l, from, to, &distance);
        /* The whole line stays no single chord, nor, if it is closed, a chord there and back. */
        const bool must =
            (from == first && to == last) ||
            (is_closed && (from == farthest_of_all || to == farthest_of_all) &&
             ((from == first && to == farthest_of_all) || (from == farthest_of_all && to == last)));
        bool is_enough = false;
        if (middle < 0) continue;
        if (!must && distance <= limit) QFZ_TRY(is_free(l, from, to, &is_enough, err));
        if (is_enough) continue;
        memory->keep[middle % l->n_corners] = true;
        QFZ_TRY(push(memory, &n, from, middle, err));
        QFZ_TRY(push(memory, &n, middle, to, err));
    }
    return QFZ_OK;
}

qfz_status qfz_polygon_simplify(qfz_simplify_memory *memory, qfz_polygon_corner *corners,
                                int64_t *n_corners, double tolerance, const qfz_corner_map *map,
                                qfz_error *err)
{
    const int64_t n = *n_corners;
    const line l = {corners, n, tolerance, map, memory};
    int64_t first = 0, kept = 0;
    if (n > memory->keep_room) {
        QFZ_TRY(qfz_realloc((void **)&memory->keep, 2 * n, sizeof *memory->keep, err));
        memory->keep_room = 2 * n;
    }
    for (int64_t i = 0; i < n; i++)
        memory->keep[i] = false;
    while (first < n && !is_fixed(&l, first))
        first++;
    if (first == n) first = 0; /* a line from the first corner to itself */
    for (int64_t from = first, to; from < first + n; from = to) {
        to = from + 1;
        while (to < first + n && !is_fixed(&l, to))
            to++;
        QFZ_TRY(simplify_line(&l, from % n, from % n + (to - from), err));
    }
    for (int64_t i = 0; i < n; i++)
        if (memory->keep[i]) corners[kept++] = corners[i];
    *n_corners = kept;
    return QFZ_OK;
}
