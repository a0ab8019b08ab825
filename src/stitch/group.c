/* SPDX-License-Identifier: MIT */
#include "stitch/group.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/parallel.h"

/* ----------------------------------------------------------------------------------------- sides
 *
 * The pixels of a side are consecutive on the ring, except its ends, which may lie elsewhere. */
typedef enum side { TOP, BOTTOM, LEFT, RIGHT, SIDES } side;

enum { PARTS = 3 }; /* a side: its first pixel, the pixels between, its last one */

static int64_t side_length(qfz_box box, side s)
{
    return s == TOP || s == BOTTOM ? qfz_box_w(box) : qfz_box_h(box);
}

static int64_t part_start(int64_t length, int part)
{
    return part == PARTS - 1 ? length - 1 : part;
}

static int64_t part_length(int64_t length, int part)
{
    if (part == 0) return 1;
    if (part == PARTS - 1) return length > 1;
    return length > 2 ? length - 2 : 0;
}

/* Pixel k of a side, in the raster. */
static void side_place(qfz_box box, side s, int64_t k, int64_t *y, int64_t *x)
{
    *y = s == TOP ? box.y0 : s == BOTTOM ? box.y1 - 1 : box.y0 + k;
    *x = s == LEFT ? box.x0 : s == RIGHT ? box.x1 - 1 : box.x0 + k;
}

static int64_t side_index(const qfz_ring *ring, side s, int64_t k)
{
    int64_t y, x;
    side_place(ring->box, s, k, &y, &x);
    return qfz_ring_at(ring, y, x);
}

/* ------------------------------------------------------------------------------ the group's ring
 */
/* True if a side of a member is part of the group's own ring. */
static bool is_outside(const qfz_group *group, int m, side s)
{
    const qfz_box box = group->members[m].box, all = group->ring.box;
    const int sides = group->ring.sides;
    switch (s) {
    case TOP: return (sides & QFZ_AT_TOP) && box.y0 == all.y0;
    case BOTTOM: return (sides & QFZ_AT_BOTTOM) && box.y1 == all.y1;
    case LEFT: return (sides & QFZ_AT_LEFT) && box.x0 == all.x0;
    case RIGHT: return (sides & QFZ_AT_RIGHT) && box.x1 == all.x1;
    case SIDES: break;
    }
    return false;
}

static void find_stretches(qfz_group *group, int m, side s)
{
    const qfz_box box = group->members[m].box;
    const int64_t length = side_length(box, s);
    for (int part = 0; part < PARTS; part++) {
        const int64_t k = part_start(length, part), n = part_length(length, part);
        int64_t y, x;
        if (n == 0) continue;
        side_place(box, s, k, &y, &x);
        group->stretches[group->n_stretches++] =
            (qfz_stretch){.member = m,
                          .from = qfz_ring_at(&group->rings[m], y, x),
                          .to = qfz_ring_at(&group->ring, y, x),
                          .n = n};
    }
}

qfz_status qfz_group_ring(const qfz_group *group, uint32_t **vertex, int64_t *n, qfz_error *err)
{
    uint32_t *at = NULL;
    *n = group->ring.n;
    QFZ_TRY(QFZ_NEW(&at, *n, err));
    for (int i = 0; i < group->n_stretches; i++) {
        const qfz_stretch *const s = &group->stretches[i];
        const uint32_t first = group->offset[s->member] + (uint32_t)s->from;
        for (int64_t k = 0; k < s->n; k++)
            at[s->to + k] = first + (uint32_t)k;
    }
    *vertex = at;
    return QFZ_OK;
}

/* The pixels of another ring or of a strip, n of them, as in a summary. */
typedef struct pixel_room {
    int64_t n;
    void *values;
    uint8_t *valid, *zeroed;
    uint32_t *edges;
} pixel_room;

/* Copies n ring pixels of a summary, from pixel i on. */
static void copy_pixels(const qfz_rule *rule, const qfz_summary *from, int64_t i, int64_t n,
                        const pixel_room *room, int64_t to)
{
    const size_t bytes = qfz_type_bytes(rule->type);
    memcpy(room->valid + to, from->valid + i, (size_t)n);
    if (from->zeroed) memcpy(room->zeroed + to, from->zeroed + i, (size_t)n);
    for (int64_t d = 0; from->edges && d < qfz_n_dirs(rule); d++)
        memcpy(room->edges + d * room->n + to, from->edges + d * from->n_ring + i,
               (size_t)n * sizeof *room->edges);
    for (int64_t b = 0; b < rule->n_bands; b++)
        memcpy((char *)room->values + (size_t)(b * room->n + to) * bytes,
               (const char *)from->values + (size_t)(b * from->n_ring + i) * bytes,
               (size_t)n * bytes);
}

static bool has_weights(const qfz_group *group)
{
    return group->n_members > 0 && group->members[0].weight;
}

/* *zeroed = room for n pixels without zeroed edges, if a member of the group has such edges. */
static qfz_status zeroed_room(const qfz_group *group, uint8_t **zeroed, int64_t n, qfz_error *err)
{
    for (int m = 0; m < group->n_members; m++)
        if (group->members[m].zeroed) return QFZ_NEW_ZERO(zeroed, n, err);
    return QFZ_OK;
}

/* *edges = room for the levels of the edges of n pixels, if the rule has such levels. */
static qfz_status edges_room(const qfz_group *group, uint32_t **edges, int64_t n, qfz_error *err)
{
    const qfz_rule *const rule = group->rule;
    return rule->edge_levels ? QFZ_NEW(edges, qfz_n_dirs(rule) * n, err) : QFZ_OK;
}

qfz_status qfz_group_start_summary(const qfz_group *group, qfz_summary *summary, qfz_error *err)
{
    const qfz_ring *const ring = &group->ring;
    QFZ_TRY(qfz_summary_init_sides(summary, ring->box, ring->sides, group->rule, err));
    QFZ_TRY(zeroed_room(group, &summary->zeroed, summary->n_ring, err));
    QFZ_TRY(edges_room(group, &summary->edges, summary->n_ring, err));
    if (has_weights(group)) QFZ_TRY(QFZ_NEW(&summary->weight, summary->n_ring, err));
    const pixel_room room = {summary->n_ring, summary->values, summary->valid, summary->zeroed,
                             summary->edges};
    for (int i = 0; i < group->n_stretches; i++) {
        const qfz_stretch *const s = &group->stretches[i];
        const qfz_summary *const from = &group->members[s->member];
        copy_pixels(group->rule, from, s->from, s->n, &room, s->to);
        if (summary->weight)
            memcpy(summary->weight + s->to, from->weight + s->from,
                   (size_t)s->n * sizeof *from->weight);
    }
    return QFZ_OK;
}

/* ----------------------------------------------------------------------------------------- seams
 *
 * A seam is where two members meet.  Each seam gets room for all edges that may cross it, so that
 * threads fill the seams side by side; afterwards the edges are moved together. */
typedef struct seam {
    int a, b;      /* a < b */
    int64_t first; /* its room in group->cross, and the number of edges in it */
    int64_t n;
} seam;

enum { MAX_SEAMS = QFZ_GROUP_CHILDREN * (QFZ_GROUP_CHILDREN - 1) / 2 };

typedef struct seams {
    qfz_group *group;
    int n;
    seam list[MAX_SEAMS];
} seams;

/* The pixels on both sides of a seam, n each: an image of two rows, and the vertex of each. */
typedef struct strip {
    int64_t n;
    pixel_room px;
    uint32_t *vertex;
} strip;

static void strip_fini(strip *t)
{
    free(t->px.values);
    free(t->px.valid);
    free(t->px.zeroed);
    free(t->px.edges);
    free(t->vertex);
}

static qfz_status strip_init(strip *t, const qfz_group *group, int64_t n, qfz_error *err)
{
    const qfz_rule *const rule = group->rule;
    *t = (strip){.n = n, .px.n = 2 * n};
    QFZ_TRY(qfz_alloc(&t->px.values, 2 * n * rule->n_bands, qfz_type_bytes(rule->type), err));
    QFZ_TRY(QFZ_NEW(&t->px.valid, 2 * n, err));
    QFZ_TRY(zeroed_room(group, &t->px.zeroed, 2 * n, err));
    QFZ_TRY(edges_room(group, &t->px.edges, 2 * n, err));
    return QFZ_NEW(&t->vertex, 2 * n, err);
}

static void strip_take(strip *t, int row, const qfz_group *group, int m, side s)
{
    const qfz_summary *const from = &group->members[m];
    for (int part = 0; part < PARTS; part++) {
        const int64_t k = part_start(t->n, part), n = part_length(t->n, part);
        if (n == 0) continue;
        const int64_t i = side_index(&group->rings[m], s, k), to = row * t->n + k;
        copy_pixels(group->rule, from, i, n, &t->px, to);
        for (int64_t j = 0; j < n; j++)
            t->vertex[to + j] = group->offset[m] + (uint32_t)(i + j);
    }
}

/* Appends the edges of level <= alpha_level among n edges from vertices u[i] to v[i]. */
static void append_cross(const qfz_group *group, seam *at, const uint32_t *u, const uint32_t *v,
                         const uint32_t *key, const uint8_t *there, int64_t n)
{
    const qfz_links cross = group->cross;
    int64_t end = at->first + at->n;
    for (int64_t i = 0; i < n; i++) {
        cross.u[end] = u[i];
        cross.v[end] = v[i];
        cross.level[end] = key[i];
        end += there[i];
    }
    at->n = end - at->first;
}

/* Appends the edges from pixels p + i to q + i of the strip, 0 <= i < n.  In a cut, joined pixels
 * have level 0, and other pixels have no edge. */
static void add_cross(const qfz_group *group, seam *at, const strip *t, int64_t p, int64_t q,
                      int64_t n, int dir)
{
    enum { CHUNK = 256 };
    const qfz_rule *const rule = group->rule;
    const qfz_image image = {.h = 2,
                             .w = t->n,
                             .n_bands = rule->n_bands,
                             .type = rule->type,
                             .pixels = t->px.values,
                             .zeroed = t->px.zeroed,
                             .edges = t->px.edges};
    const uint8_t *const bits = rule->edge_bits ? t->px.values : NULL;
    const uint32_t alpha_level = rule->alpha_level;
    const int64_t before = at->n;
    uint32_t key[CHUNK] = {0};
    uint8_t there[CHUNK];
    for (int64_t done = 0; done < n; done += CHUNK) {
        const int64_t some = n - done < CHUNK ? n - done : CHUNK, from = p + done, to = q + done;
        const uint8_t *const valid = t->px.valid + from, *const valid_to = t->px.valid + to;
        if (!bits) qfz_edge_levels(&image, rule, dir, from, to, some, key);
        for (int64_t i = 0; i < some; i++)
            there[i] = (uint8_t)(valid[i] & valid_to[i] & (key[i] <= alpha_level));
        for (int64_t i = 0; bits && i < some; i++)
            there[i] = (uint8_t)(there[i] & bits[from + i] >> dir & 1);
        append_cross(group, at, t->vertex + from, t->vertex + to, key, there, some);
    }
    memset(group->cross_dir + at->first + before, dir, (size_t)(at->n - before));
}

/* Appends the edges between member a and member b, which is to the right of a or below it. */
static qfz_status join_sides(const qfz_group *group, seam *at, bool left, qfz_error *err)
{
    const int64_t n = side_length(group->members[at->a].box, left ? RIGHT : BOTTOM);
    strip t;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, strip_init(&t, group, n, err));
    strip_take(&t, 0, group, at->a, left ? RIGHT : BOTTOM);
    strip_take(&t, 1, group, at->b, left ? LEFT : TOP);
    add_cross(group, at, &t, 0, n, n, left ? QFZ_RIGHT : QFZ_BELOW);
    if (group->rule->connectivity == 4) goto cleanup;
    add_cross(group, at, &t, 0, n + 1, n - 1, QFZ_BELOW_RIGHT);
    if (left)
        add_cross(group, at, &t, n, 1, n - 1, QFZ_BELOW_LEFT);
    else
        add_cross(group, at, &t, 1, n, n - 1, QFZ_BELOW_LEFT);

cleanup:
    strip_fini(&t);
    return st;
}

/* Appends the diagonal edge where ring pixel i of member a meets ring pixel j of member b, one row
 * of members below. */
static qfz_status join_corners(const qfz_group *group, seam *at, int64_t i, int64_t j, int dir,
                               qfz_error *err)
{
    const int a = at->a, b = at->b;
    strip t;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, strip_init(&t, group, 1, err));
    copy_pixels(group->rule, &group->members[a], i, 1, &t.px, 0);
    copy_pixels(group->rule, &group->members[b], j, 1, &t.px, 1);
    t.vertex[0] = group->offset[a] + (uint32_t)i;
    t.vertex[1] = group->offset[b] + (uint32_t)j;
    add_cross(group, at, &t, 0, 1, 1, dir);

cleanup:
    strip_fini(&t);
    return st;
}

/* Members are in row order, so no edge starts in b and leads up to a. */
static qfz_status join_members(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    seams *const all = arg;
    const qfz_group *const group = all->group;
    seam *const at = &all->list[item];
    const qfz_box p = group->members[at->a].box, q = group->members[at->b].box;
    if (p.y0 == q.y0) return join_sides(group, at, true, err);
    if (p.x0 == q.x0) return join_sides(group, at, false, err);
    const bool right = p.x0 < q.x0;
    const int64_t i = qfz_ring_at(&group->rings[at->a], p.y1 - 1, right ? p.x1 - 1 : p.x0);
    const int64_t j = qfz_ring_at(&group->rings[at->b], q.y0, right ? q.x0 : q.x1 - 1);
    return join_corners(group, at, i, j, right ? QFZ_BELOW_RIGHT : QFZ_BELOW_LEFT, err);
}

/* Upper bound of the edges between two members.  Members of one column or row that are not
 * neighbours have none. */
static int64_t most_cross(const qfz_group *group, int a, int b)
{
    const qfz_box p = group->members[a].box, q = group->members[b].box;
    const bool is_row = p.y0 == q.y0, is_column = p.x0 == q.x0,
               four = group->rule->connectivity == 4;
    if (is_row ? p.x1 != q.x0 : p.y1 != q.y0) return 0;
    if (!is_row && !is_column) return four ? 0 : 1;
    const int64_t n = is_row ? qfz_box_h(p) : qfz_box_w(p);
    return four ? n : 3 * n - 2;
}

static void close_gaps(qfz_group *group, const seams *all)
{
    qfz_links *const cross = &group->cross;
    for (int i = 0; i < all->n; i++) {
        const seam *const s = &all->list[i];
        const size_t n = (size_t)s->n, bytes = n * sizeof *cross->u;
        memmove(cross->u + cross->n, cross->u + s->first, bytes);
        memmove(cross->v + cross->n, cross->v + s->first, bytes);
        memmove(cross->level + cross->n, cross->level + s->first, bytes);
        memmove(group->cross_dir + cross->n, group->cross_dir + s->first, n);
        cross->n += s->n;
    }
}

static qfz_status find_cross(qfz_group *group, qfz_error *err)
{
    seams all = {.group = group};
    int64_t most = 0;
    for (int a = 0; a < group->n_members; a++)
        for (int b = a + 1; b < group->n_members; b++) {
            const int64_t n = most_cross(group, a, b);
            if (n > 0) all.list[all.n++] = (seam){.a = a, .b = b, .first = most};
            most += n;
        }
    QFZ_TRY(qfz_links_reserve(&group->cross, most, err));
    QFZ_TRY(QFZ_NEW(&group->cross_dir, most, err));
    QFZ_TRY(qfz_parallel_within(group->n_threads, all.n, join_members, &all, err));
    close_gaps(group, &all);
    return QFZ_OK;
}

/* ----------------------------------------------------------------------------------------- group
 */
qfz_status qfz_group_init(qfz_group *group, const qfz_rule *rule, int n_threads, qfz_ring ring,
                          int n_members, qfz_summary *take_members, qfz_error *err)
{
    *group =
        (qfz_group){.rule = rule, .n_threads = n_threads, .ring = ring, .n_members = n_members};
    int64_t n = 0;
    for (int m = 0; m < n_members; m++) {
        group->members[m] = take_members[m];
        take_members[m] = (qfz_summary){0};
        group->rings[m] = qfz_ring_of(group->members[m].box, group->members[m].sides);
        n += group->members[m].n_ring;
        group->offset[m + 1] = (uint32_t)n;
    }
    for (int m = 0; m < n_members; m++)
        for (side s = TOP; s < SIDES; s++)
            if (is_outside(group, m, s)) find_stretches(group, m, s);
    qfz_status st = QFZ_OK;
    if (n >= INT32_MAX)
        st = qfz_fail(err, QFZ_EARG,
                      "a group of tiles has a border of %lld pixels; 2^31 are the most",
                      (long long)n);
    if (st == QFZ_OK) st = find_cross(group, err);
    if (st != QFZ_OK) qfz_group_fini(group);
    return st;
}

void qfz_group_fini(qfz_group *group)
{
    for (int m = 0; m < group->n_members; m++)
        qfz_summary_fini(&group->members[m]);
    for (int m = 0; m < group->n_members; m++)
        qfz_ranges_fini(&group->loaded[m]);
    qfz_links_fini(&group->cross);
    free(group->cross_dir);
    *group = (qfz_group){0};
}

_Static_assert((int)QFZ_GROUP_CHILDREN <= (int)QFZ_GROUP_MEMBERS, "an engine gets whole groups");

bool qfz_group_on_device(const qfz_group *group, const uint32_t *ring_vertex, int64_t n_ring,
                         const qfz_links *outside, qfz_group_graph *graph)
{
    *graph = (qfz_group_graph){.n_members = group->n_members,
                               .members = group->members,
                               .offset = group->offset,
                               .cross = &group->cross,
                               .outside = outside,
                               .ring = ring_vertex,
                               .n_ring = n_ring};
    return group->worker && group->engine->groups->fits(group->worker, graph);
}

static qfz_status load_ranges(qfz_group *group, int m, qfz_error *err)
{
    const qfz_event_list *const list = &group->events[m];
    qfz_ranges *const to = &group->loaded[m];
    qfz_event_reader reader = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, qfz_event_reader_open(&reader, list, err));
    QFZ_TRY_OR(st, cleanup, qfz_ranges_reserve(to, list->n, group->rule, err));
    while (to->n < list->n) {
        qfz_events some;
        if (!qfz_event_read(&reader, to->n, &some)) break;
        const size_t at = (size_t)to->n * list->value_bytes,
                     bytes = (size_t)some.n * list->value_bytes;
        memcpy(to->at + to->n, some.at, (size_t)some.n * sizeof *to->at);
        memcpy(to->level + to->n, some.level, (size_t)some.n * sizeof *to->level);
        memcpy((char *)to->lo + at, some.first, bytes);
        memcpy((char *)to->hi + at, some.second, bytes);
        to->n += some.n;
    }
    st = reader.st;
    group->members[m].ranges = *to;

cleanup:
    qfz_event_reader_close(&reader);
    return st;
}

qfz_status qfz_group_load_ranges(qfz_group *group, qfz_error *err)
{
    enum { EVENTS_A_VERTEX = 4 }; /* no more than the memory of vertices that the plan counts */
    int64_t n = 0;
    for (int m = 0; m < group->n_members; m++)
        n += group->events[m].n;
    if (n > EVENTS_A_VERTEX * (int64_t)qfz_group_n(group)) group->worker = NULL;
    for (int m = 0; m < group->n_members && group->worker; m++)
        QFZ_TRY(load_ranges(group, m, err));
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
