/* SPDX-License-Identifier: MIT */
/* polygon_nest.c - a sweep over the rows of a label with several pieces.
 *
 * The pixel on the left of a hole's first corner has the label.  The nearest vertical border on the
 * left of it bounds the same piece: it belongs to the piece's exterior, or to a hole that begins
 * before this one in raster order.  At most one border of the label passes each column in a row, so
 * a bit for each column holds the borders of the present row. */
#include "regions/polygon_nest.h"

#include <stdlib.h>

#include "core/memory.h"

enum { END = 0, BEGIN, ASK, LEVELS = 6, WORD_BITS = 64 };

typedef struct event {
    int32_t y, x;
    int64_t ring;
    int kind; /* END, BEGIN of a vertical border; ASK: the first corner of a hole */
} event;

/* A set of columns in which the largest member below a number is found quickly: bit i of level k is
 * set if word i of level k - 1 is not 0. */
typedef struct columns {
    uint64_t *words[LEVELS];
    int n_levels;
    uint64_t *memory;
    int64_t *ring; /* of each column that is in the set */
    int32_t first; /* column of bit 0 */
} columns;

static qfz_status columns_init(columns *set, int32_t first, int32_t last, qfz_error *err)
{
    int64_t n[LEVELS], total = 0, bits = (int64_t)last - first + 1;
    *set = (columns){.first = first};
    do {
        bits = n[set->n_levels] = (bits + WORD_BITS - 1) / WORD_BITS;
        total += n[set->n_levels++];
    } while (bits > 1);
    QFZ_TRY(QFZ_NEW_ZERO(&set->memory, total, err));
    uint64_t *at = set->memory;
    for (int k = 0; k < set->n_levels; at += n[k++])
        set->words[k] = at;
    const qfz_status st = QFZ_NEW(&set->ring, (int64_t)last - first + 1, err);
    if (st != QFZ_OK) free(set->memory);
    return st;
}

static void columns_fini(columns *set)
{
    free(set->memory);
    free(set->ring);
}

static void columns_put(columns *set, int32_t x, int64_t ring)
{
    int64_t i = (int64_t)x - set->first;
    set->ring[i] = ring;
    for (int k = 0; k < set->n_levels; k++, i /= WORD_BITS)
        set->words[k][i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
}

static void columns_take(columns *set, int32_t x)
{
    int64_t i = (int64_t)x - set->first;
    for (int k = 0; k < set->n_levels; k++, i /= WORD_BITS) {
        set->words[k][i / WORD_BITS] &= ~(UINT64_C(1) << i % WORD_BITS);
        if (set->words[k][i / WORD_BITS]) return;
    }
}

/* The ring of the largest column below x, which there is. */
static int64_t columns_before(const columns *set, int32_t x)
{
    int64_t i = (int64_t)x - set->first;
    int k = 0;
    uint64_t word;
    while ((word = set->words[k][i / WORD_BITS] & ((UINT64_C(1) << i % WORD_BITS) - 1)) == 0) {
        i /= WORD_BITS;
        k++;
    }
    for (;; k--) {
        i = i / WORD_BITS * WORD_BITS + (WORD_BITS - 1 - __builtin_clzll(word));
        if (k == 0) return set->ring[i];
        word = set->words[k - 1][i];
        i *= WORD_BITS;
    }
}

static int by_place(const void *a, const void *b)
{
    const event *const p = a, *const q = b;
    if (p->y != q->y) return p->y < q->y ? -1 : 1;
    if (p->kind != q->kind) return p->kind - q->kind;
    return (p->x > q->x) - (p->x < q->x);
}

static int64_t list_events(event *events, const qfz_polygon_ring *rings, int64_t n_rings,
                           const qfz_polygon_corner *corners)
{
    int64_t n = 0;
    for (int64_t r = 0; r < n_rings; r++) {
        const qfz_polygon_corner *const ring = corners + rings[r].first;
        if (rings[r].pixels < 0) events[n++] = (event){ring[0].y, ring[0].x, r, ASK};
        for (int64_t i = 0; i < rings[r].n; i++) {
            const qfz_polygon_corner a = ring[i], b = ring[i + 1 < rings[r].n ? i + 1 : 0];
            if (a.x != b.x) continue;
            events[n++] = (event){a.y < b.y ? a.y : b.y, a.x, r, BEGIN};
            events[n++] = (event){a.y < b.y ? b.y : a.y, a.x, r, END};
        }
    }
    return n;
}

static qfz_status sweep(qfz_polygon_ring *rings, const event *events, int64_t n, qfz_error *err)
{
    columns set;
    int32_t lo = INT32_MAX, hi = 0;
    for (int64_t i = 0; i < n; i++) {
        if (events[i].x < lo) lo = events[i].x;
        if (events[i].x > hi) hi = events[i].x;
    }
    QFZ_TRY(columns_init(&set, lo, hi, err));
    for (int64_t i = 0; i < n; i++) {
        const event e = events[i];
        if (e.kind == BEGIN) columns_put(&set, e.x, e.ring);
        if (e.kind == END) columns_take(&set, e.x);
        if (e.kind == ASK) rings[e.ring].exterior = rings[columns_before(&set, e.x)].exterior;
    }
    columns_fini(&set);
    return QFZ_OK;
}

qfz_status qfz_polygon_nest(qfz_polygon_ring *rings, int64_t n_rings,
                            const qfz_polygon_corner *corners, qfz_error *err)
{
    int64_t n_exteriors = 0, exterior = 0, n_events = 0;
    event *events = NULL;
    for (int64_t r = 0; r < n_rings; r++) {
        n_events += rings[r].n + 2;
        if (rings[r].pixels < 0) continue;
        rings[r].exterior = exterior = r;
        n_exteriors++;
    }
    if (n_exteriors == 1)
        for (int64_t r = 0; r < n_rings; r++)
            rings[r].exterior = exterior;
    if (n_exteriors == 1 || n_exteriors == n_rings) return QFZ_OK;
    QFZ_TRY(QFZ_NEW(&events, 2 * n_events, err));
    n_events = list_events(events, rings, n_rings, corners);
    if (n_events > 1) qsort(events, (size_t)n_events, sizeof *events, by_place);
    const qfz_status st = sweep(rings, events, n_events, err);
    free(events);
    return st;
}
