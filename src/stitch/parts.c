/* SPDX-License-Identifier: MIT */
/* parts.c - components by a union-find that all threads share, then a counting sort by part.
 *
 * Invariant of the union-find: parent[v] <= v, and parent[v] only decreases; so every climb ends,
 * at the least vertex of a component once all links are joined.  That vertex decides the part. */
#include "stitch/parts.h"

#include <stdlib.h>

#include "core/memory.h"
#include "core/parallel.h"

enum {
    PARTS_A_THREAD = 2,     /* several per thread, for an even load */
    PART_VERTICES = 1 << 4, /* fewer are not worth a part */
    MAX_PARTS = 1 << 12
};

/* The links of one member, or the crossing links, are processed in pieces. */
typedef struct splitting {
    const qfz_group *group;
    qfz_parts *parts;
    int n_pieces;     /* of each source */
    uint32_t *parent; /* of each vertex */
    int64_t *links;   /* [piece][part]: their number, then the next position */
} splitting;

typedef struct piece {
    const qfz_links *links;
    int64_t link, end_link;
    uint32_t offset; /* of the source's first vertex */
} piece;

/* First item of piece i of n. */
static int64_t bound(int64_t n_items, int64_t i, int n)
{
    return n_items * i / n;
}

/* The sources are the members, then the crossing links. */
static piece piece_of(const splitting *s, int64_t item)
{
    const qfz_group *const group = s->group;
    const int m = (int)(item / s->n_pieces);
    const int64_t i = item % s->n_pieces;
    const bool crosses = m == group->n_members;
    piece it = {.links = crosses ? &group->cross : &group->members[m].links,
                .offset = crosses ? 0 : group->offset[m]};
    it.link = bound(it.links->n, i, s->n_pieces);
    it.end_link = bound(it.links->n, i + 1, s->n_pieces);
    return it;
}

/* ------------------------------------------------------------------------------------ components
 */
static uint32_t root_of(uint32_t *parent, uint32_t v)
{
    for (;;) {
        const uint32_t up = __atomic_load_n(&parent[v], __ATOMIC_RELAXED);
        if (up == v) return v;
        const uint32_t over = __atomic_load_n(&parent[up], __ATOMIC_RELAXED);
        if (over == up) return up;
        __atomic_store_n(&parent[v], over, __ATOMIC_RELAXED);
        v = over;
    }
}

static void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    for (;;) {
        a = root_of(parent, a);
        b = root_of(parent, b);
        if (a == b) return;
        const uint32_t low = a < b ? a : b;
        uint32_t high = a < b ? b : a;
        if (__atomic_compare_exchange_n(&parent[high], &high, low, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return;
    }
}

static qfz_status start_piece(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    (void)err;
    const splitting *const s = arg;
    const uint32_t n = qfz_group_n(s->group);
    const int64_t end = bound(n, item + 1, s->group->n_threads);
    for (int64_t v = bound(n, item, s->group->n_threads); v < end; v++)
        s->parent[v] = (uint32_t)v;
    return QFZ_OK;
}

static qfz_status unite_piece(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    (void)err;
    const splitting *const s = arg;
    const piece it = piece_of(s, item);
    for (int64_t i = it.link; i < it.end_link; i++)
        unite(s->parent, it.links->u[i] + it.offset, it.links->v[i] + it.offset);
    return QFZ_OK;
}

static qfz_status name_piece(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    (void)err;
    const splitting *const s = arg;
    const uint32_t n = qfz_group_n(s->group);
    const int64_t end = bound(n, item + 1, s->group->n_threads);
    for (int64_t v = bound(n, item, s->group->n_threads); v < end; v++)
        s->parts->part[v] =
            (uint16_t)((uint64_t)root_of(s->parent, (uint32_t)v) * (uint64_t)s->parts->n / n);
    return QFZ_OK;
}

static qfz_status find_components(splitting *s, qfz_error *err)
{
    const int n_threads = s->group->n_threads;
    const int64_t n_sources = s->group->n_members + 1;
    QFZ_TRY(QFZ_NEW(&s->parent, qfz_group_n(s->group), err));
    QFZ_TRY(QFZ_NEW(&s->parts->part, qfz_group_n(s->group), err));
    QFZ_TRY(qfz_parallel_within(n_threads, n_threads, start_piece, s, err));
    QFZ_TRY(qfz_parallel_within(n_threads, n_sources * s->n_pieces, unite_piece, s, err));
    return qfz_parallel_within(n_threads, n_threads, name_piece, s, err);
}

/* ------------------------------------------------------------------------------------------ parts
 */
static qfz_status count_piece(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    (void)err;
    const splitting *const s = arg;
    const piece it = piece_of(s, item);
    int64_t *const links = s->links + item * s->parts->n;
    if (!s->parts->part) {
        *links = it.end_link - it.link;
        return QFZ_OK;
    }
    for (int64_t i = it.link; i < it.end_link; i++)
        links[s->parts->part[it.links->u[i] + it.offset]]++;
    return QFZ_OK;
}

/* Turns counts into positions: part by part, and piece by piece in each part. */
static void place(int64_t *counts, int64_t n_pieces, int n_parts, int64_t *first)
{
    int64_t sum = 0;
    for (int p = 0; p < n_parts; p++) {
        first[p] = sum;
        for (int64_t i = 0; i < n_pieces; i++) {
            const int64_t n = counts[i * n_parts + p];
            counts[i * n_parts + p] = sum;
            sum += n;
        }
    }
    first[n_parts] = sum;
}

static void put_links(const splitting *s, const piece *it, int64_t *next)
{
    qfz_links *const to = &s->parts->links;
    for (int64_t i = it->link; i < it->end_link; i++) {
        const uint32_t u = it->links->u[i] + it->offset;
        const int64_t at = next[s->parts->part ? s->parts->part[u] : 0]++;
        to->u[at] = u;
        to->v[at] = it->links->v[i] + it->offset;
        to->level[at] = it->links->level[i];
    }
}

static qfz_status put_piece(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    (void)err;
    const splitting *const s = arg;
    const piece it = piece_of(s, item);
    put_links(s, &it, s->links + item * s->parts->n);
    return QFZ_OK;
}

static qfz_status sort_by_part(splitting *s, qfz_error *err)
{
    qfz_parts *const parts = s->parts;
    const int n_threads = s->group->n_threads, n = parts->n;
    const int64_t n_items = (s->group->n_members + 1) * (int64_t)s->n_pieces;
    QFZ_TRY(QFZ_NEW_ZERO(&s->links, n_items * n, err));
    QFZ_TRY(QFZ_NEW(&parts->first_link, n + 1, err));
    QFZ_TRY(qfz_parallel_within(n_threads, n_items, count_piece, s, err));
    place(s->links, n_items, n, parts->first_link);
    QFZ_TRY(qfz_links_reserve(&parts->links, parts->first_link[n], err));
    return qfz_parallel_within(n_threads, n_items, put_piece, s, err);
}

static int parts_for(const qfz_group *group)
{
    const int64_t wanted = PARTS_A_THREAD * (int64_t)group->n_threads;
    const int64_t worth = 1 + qfz_group_n(group) / PART_VERTICES;
    const int64_t n = wanted < worth ? wanted : worth;
    if (group->n_threads == 1) return 1;
    return (int)(n < MAX_PARTS ? n : MAX_PARTS);
}

qfz_status qfz_parts_init(qfz_parts *parts, const qfz_group *group, qfz_error *err)
{
    *parts = (qfz_parts){.n = parts_for(group)};
    splitting s = {.group = group, .parts = parts, .n_pieces = qfz_group_pieces(group)};
    qfz_status st = QFZ_OK;
    if (parts->n > 1) st = find_components(&s, err);
    if (st == QFZ_OK) st = sort_by_part(&s, err);
    free(s.parent);
    free(s.links);
    if (st != QFZ_OK) qfz_parts_fini(parts);
    return st;
}

void qfz_parts_fini(qfz_parts *parts)
{
    free(parts->first_link);
    free(parts->part);
    qfz_links_fini(&parts->links);
    *parts = (qfz_parts){0};
}

qfz_links qfz_part_links(const qfz_parts *parts, int p)
{
    const int64_t first = parts->first_link[p];
    return (qfz_links){.n = parts->first_link[p + 1] - first,
                       .u = parts->links.u + first,
                       .v = parts->links.v + first,
                       .level = parts->links.level + first};
}
