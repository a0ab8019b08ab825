/* SPDX-License-Identifier: MIT */
#include "stitch/group.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Which member holds pixel (y, x)?  There are four at most. */
static int member_at(const qfz_group *group, int64_t y, int64_t x)
{
    int m = 0;
    while (!qfz_box_has(group->members[m].box, y, x))
        m++;
    return m;
}

/* The vertex of a pixel that lies on its member's ring. */
static uint32_t vertex_at(const qfz_group *group, int64_t y, int64_t x)
{
    const int m = member_at(group, y, x);
    const qfz_box box = group->members[m].box;
    const int64_t i = qfz_ring_index(qfz_box_h(box), qfz_box_w(box), y - box.y0, x - box.x0);
    return group->offset[m] + (uint32_t)i;
}

static qfz_status gather_ring(qfz_group *group, qfz_error *err)
{
    const size_t bytes = qfz_type_bytes(group->rule->type);
    const int64_t n = group->offset[group->n_members];
    void *values = NULL;
    uint8_t *valid = NULL;
    QFZ_TRY(qfz_alloc(&values, n * group->rule->n_bands, bytes, err));
    group->ring = (qfz_image){.h = 1,
                              .w = n,
                              .n_bands = group->rule->n_bands,
                              .type = group->rule->type,
                              .pixels = values};
    QFZ_TRY(QFZ_NEW(&valid, n, err));
    group->ring.valid = valid;
    for (int m = 0; m < group->n_members; m++) {
        const qfz_summary *const s = &group->members[m];
        memcpy(valid + group->offset[m], s->valid, (size_t)s->n_ring);
        for (int64_t b = 0; b < group->rule->n_bands; b++)
            memcpy((char *)values + (size_t)(b * n + group->offset[m]) * bytes,
                   (const char *)s->values + (size_t)(b * s->n_ring) * bytes,
                   (size_t)s->n_ring * bytes);
    }
    return QFZ_OK;
}

/* Joined pixels of a cut have level 0; the others are not there at all. */
static bool edge_between(const qfz_group *group, uint32_t u, uint32_t v, int dir, uint32_t *key)
{
    const qfz_image *const ring = &group->ring;
    if (!ring->valid[u] || !ring->valid[v]) return false;
    if (group->rule->edge_bits) {
        *key = 0;
        return ((const uint8_t *)ring->pixels)[u] >> dir & 1;
    }
    qfz_levels(ring, group->rule->distance, u, v, 1, key);
    return true;
}

static qfz_status add_cross(qfz_group *group, uint32_t u, uint32_t v, int dir, qfz_error *err)
{
    qfz_links *const cross = &group->cross;
    uint32_t key;
    if (!edge_between(group, u, v, dir, &key)) return QFZ_OK;
    if (cross->n == cross->room) {
        QFZ_TRY(qfz_links_reserve(cross, cross->n + 1, err));
        QFZ_TRY(qfz_realloc((void **)&group->cross_dir, cross->room, 1, err));
    }
    cross->u[cross->n] = u;
    cross->v[cross->n] = v;
    cross->level[cross->n] = key;
    group->cross_dir[cross->n++] = (uint8_t)dir;
    return QFZ_OK;
}

static qfz_status find_cross(qfz_group *group, int m, qfz_error *err)
{
    const qfz_box box = group->members[m].box;
    for (int64_t i = 0; i < group->members[m].n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(qfz_box_h(box), qfz_box_w(box), i, &y, &x);
        for (int d = 0; d < qfz_n_dirs(group->rule); d++) {
            const int64_t v = box.y0 + y + qfz_dir_dy[d], u = box.x0 + x + qfz_dir_dx[d];
            if (qfz_box_has(box, v, u) || !qfz_box_has(group->box, v, u)) continue;
            QFZ_TRY(
                add_cross(group, group->offset[m] + (uint32_t)i, vertex_at(group, v, u), d, err));
        }
    }
    return QFZ_OK;
}

qfz_status qfz_group_init(qfz_group *group, const qfz_rule *rule, qfz_box box, int n_members,
                          qfz_summary *take_members, qfz_error *err)
{
    *group = (qfz_group){.rule = rule, .box = box, .n_members = n_members};
    int64_t n = 0;
    for (int m = 0; m < n_members; m++) {
        group->members[m] = take_members[m];
        take_members[m] = (qfz_summary){0};
        n += group->members[m].n_ring;
        group->offset[m + 1] = (uint32_t)n;
    }
    qfz_status st = QFZ_OK;
    if (n >= INT32_MAX)
        st = qfz_fail(err, QFZ_EARG,
                      "a group of tiles has a border of %lld pixels; 2^31 are the most",
                      (long long)n);
    if (st == QFZ_OK) st = gather_ring(group, err);
    for (int m = 0; m < n_members && st == QFZ_OK; m++)
        st = find_cross(group, m, err);
    if (st != QFZ_OK) qfz_group_fini(group);
    return st;
}

void qfz_group_fini(qfz_group *group)
{
    for (int m = 0; m < group->n_members; m++)
        qfz_summary_fini(&group->members[m]);
    free((void *)(uintptr_t)group->ring.pixels); /* ours, read-only to everyone else */
    free((void *)(uintptr_t)group->ring.valid);
    qfz_links_fini(&group->cross);
    free(group->cross_dir);
    *group = (qfz_group){0};
}

qfz_status qfz_group_ring(const qfz_group *group, uint32_t **vertex, int64_t *n, qfz_error *err)
{
    const int64_t h = qfz_box_h(group->box), w = qfz_box_w(group->box);
    uint32_t *at = NULL;
    *n = qfz_ring_size(h, w);
    QFZ_TRY(QFZ_NEW(&at, *n, err));
    for (int64_t i = 0; i < *n; i++) {
        int64_t y, x;
        qfz_ring_place(h, w, i, &y, &x);
        at[i] = vertex_at(group, group->box.y0 + y, group->box.x0 + x);
    }
    *vertex = at;
    return QFZ_OK;
}

qfz_status qfz_group_start_summary(const qfz_group *group, const uint32_t *ring_vertex,
                                   qfz_summary *summary, qfz_error *err)
{
    const size_t bytes = qfz_type_bytes(group->rule->type);
    QFZ_TRY(qfz_summary_init(summary, group->box, group->rule, err));
    for (int64_t i = 0; i < summary->n_ring; i++) {
        summary->valid[i] = group->ring.valid[ring_vertex[i]];
        for (int64_t b = 0; b < group->rule->n_bands; b++)
            memcpy((char *)summary->values + (size_t)(b * summary->n_ring + i) * bytes,
                   (const char *)group->ring.pixels +
                       (size_t)(b * group->ring.w + ring_vertex[i]) * bytes,
                   bytes);
    }
    return QFZ_OK;
}

static void append(qfz_links *to, const qfz_links *from, uint32_t offset)
{
    for (int64_t i = 0; i < from->n; i++) {
        to->u[to->n] = from->u[i] + offset;
        to->v[to->n] = from->v[i] + offset;
        to->level[to->n++] = from->level[i];
    }
}

qfz_status qfz_group_links(const qfz_group *group, const qfz_links *extra,
                           const uint32_t *ring_vertex, qfz_links *links, qfz_error *err)
{
    int64_t n = group->cross.n + (extra ? extra->n : 0);
    for (int m = 0; m < group->n_members; m++)
        n += group->members[m].links.n;
    QFZ_TRY(qfz_links_reserve(links, n, err));
    for (int m = 0; m < group->n_members; m++)
        append(links, &group->members[m].links, group->offset[m]);
    append(links, &group->cross, 0);
    for (int64_t i = 0; extra && i < extra->n; i++) {
        links->u[links->n] = ring_vertex[extra->u[i]];
        links->v[links->n] = ring_vertex[extra->v[i]];
        links->level[links->n++] = extra->level[i];
    }
    return QFZ_OK;
}
