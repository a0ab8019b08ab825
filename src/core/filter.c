/* SPDX-License-Identifier: MIT */
#include "core/filter.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* ---- Items. */
qfz_status qfz_filter_items_reserve(qfz_filter_items *items, int64_t n, qfz_error *err)
{
    if (n <= items->room) return QFZ_OK;
    const int64_t more = items->room + items->room / 2, room = more > n ? more : n;
    QFZ_TRY(qfz_realloc((void **)&items->u, room, sizeof *items->u, err));
    QFZ_TRY(qfz_realloc((void **)&items->v, room, sizeof *items->v, err));
    QFZ_TRY(qfz_realloc((void **)&items->mass, room, sizeof *items->mass, err));
    QFZ_TRY(qfz_realloc((void **)&items->key, room, sizeof *items->key, err));
    QFZ_TRY(qfz_realloc((void **)&items->spare, room, sizeof *items->spare, err));
    items->room = room;
    return QFZ_OK;
}

int64_t qfz_filter_items_bytes(int64_t n)
{
    const qfz_filter_items items = {0};
    return n * (int64_t)(sizeof *items.u + sizeof *items.v + sizeof *items.mass +
                         sizeof *items.key + sizeof *items.spare);
}

void qfz_filter_items_fini(qfz_filter_items *items)
{
    free(items->u);
    free(items->v);
    free(items->mass);
    free(items->key);
    free(items->spare);
    *items = (qfz_filter_items){0};
}

static uint32_t vertex_at(uint32_t i, uint32_t first, const uint32_t *vertex_of)
{
    return vertex_of ? vertex_of[i] : first + i;
}

void qfz_filter_add_links(qfz_filter_items *items, const qfz_links *links, uint32_t first,
                          const uint32_t *vertex_of)
{
    for (int64_t i = 0; i < links->n; i++)
        qfz_filter_add(items, links->level[i], links->position[i],
                       vertex_at(links->u[i], first, vertex_of),
                       vertex_at(links->v[i], first, vertex_of), 0);
}

void qfz_filter_add_masses(qfz_filter_items *items, const qfz_masses *masses, uint32_t first,
                           const uint32_t *vertex_of)
{
    for (int64_t i = 0; i < masses->n; i++)
        qfz_filter_add(items, masses->level[i], masses->position[i],
                       vertex_at(masses->at[i], first, vertex_of), QFZ_NONE, masses->mass[i]);
}

/* ---- Sorting.  Positions are spread evenly, so a few of their first bits behind the level order
 * nearly all items; an insertion sort completes the order. */
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* The level, of so many bits, and what fits of the position. */
static uint64_t order_of(const qfz_filter_key *key, int level_bits)
{
    return (uint64_t)key->level << (64 - level_bits) | key->position >> level_bits;
}

static void sort_by_digit(qfz_filter_items *items, int level_bits, int shift, int bits)
{
    const uint32_t mask = (1u << bits) - 1;
    const int64_t n = items->n;
    const qfz_filter_key *const from = items->key;
    qfz_filter_key *const to = items->spare;
    uint32_t at[DIGITS] = {0}, sum = 0;
    for (int64_t i = 0; i < n; i++)
        at[order_of(&from[i], level_bits) >> shift & mask]++;
    for (uint32_t d = 0; d <= mask; d++) {
        const uint32_t count = at[d];
        at[d] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < n; i++)
        to[at[order_of(&from[i], level_bits) >> shift & mask]++] = from[i];
    items->spare = items->key;
    items->key = to;
}

static bool is_before(const qfz_filter_key *a, const qfz_filter_key *b)
{
    return a->level < b->level || (a->level == b->level && a->position < b->position);
}

static void insert_each(qfz_filter_key *key, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const qfz_filter_key own = key[i];
        int64_t at = i;
        for (; at > 0 && is_before(&own, &key[at - 1]); at--)
            key[at] = key[at - 1];
        key[at] = own;
    }
}

/* Bits of a number, at least one. */
static int bits_of(uint64_t number)
{
    return 64 - __builtin_clzll(number | 1);
}

void qfz_filter_sort(qfz_filter_items *items)
{
    enum { LEAST_BITS = 6 };
    const int64_t n = items->n;
    uint32_t any = 0;
    if (n < 2) return;
    for (int64_t i = 0; i < n; i++)
        any |= items->key[i].level;
    const int level_bits = bits_of(any), some = bits_of((uint64_t)n / 8);
    const int all = level_bits + (some > LEAST_BITS ? some : LEAST_BITS);
    const int passes = (all + DIGIT_BITS - 1) / DIGIT_BITS, bits = (all + passes - 1) / passes;
    for (int pass = passes; pass > 0; pass--)
        sort_by_digit(items, level_bits, 64 - pass * bits, bits);
    insert_each(items->key, n);
}

/* Into the spare list. */
static void merge(const qfz_filter_items *items, const qfz_filter_key *second, int64_t n_first)
{
    const qfz_filter_key *first = items->key;
    const qfz_filter_key *const end_first = first + n_first;
    const qfz_filter_key *const end_second = second + items->n - n_first;
    for (qfz_filter_key *to = items->spare; first < end_first || second < end_second; to++) {
        const bool is_second =
            first == end_first || (second < end_second && is_before(second, first));
        *to = is_second ? *second++ : *first++;
    }
}

void qfz_filter_sort_rest(qfz_filter_items *items, int64_t n_sorted)
{
    if (n_sorted == 0) {
        qfz_filter_sort(items);
        return;
    }
    qfz_filter_key *const was = items->key, *const second = was + n_sorted;
    qfz_filter_items rest = {
        .n = items->n - n_sorted, .key = second, .spare = items->spare + n_sorted};
    qfz_filter_sort(&rest);
    if (rest.key != second) memcpy(second, rest.key, (size_t)rest.n * sizeof *second);
    merge(items, second, n_sorted);
    items->key = items->spare;
    items->spare = was;
}

/* ---- Components. */
qfz_status qfz_filter_sets_init(qfz_filter_sets *sets, int64_t n, qfz_error *err)
{
    *sets = (qfz_filter_sets){.n = (uint32_t)n};
    qfz_status st;
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&sets->up, n, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&sets->weight, n, err));
    return QFZ_OK;

failed:
    qfz_filter_sets_fini(sets);
    return st;
}

void qfz_filter_sets_fini(qfz_filter_sets *sets)
{
    free(sets->up);
    free(sets->weight);
    *sets = (qfz_filter_sets){0};
}

static void reset(qfz_filter_sets *sets)
{
    for (uint32_t v = 0; v < sets->n; v++)
        sets->up[v] = v;
}

/* Root b goes under root a. */
static void join(qfz_filter_sets *sets, uint32_t a, uint32_t b, uint64_t least)
{
    sets->up[b] = a;
    sets->weight[a] = qfz_filter_sum(sets->weight[a], sets->weight[b], least);
}

/* Items in ascending order become items 0 .. n - 1. */
static void keep_item(qfz_filter_items *items, const qfz_filter_items *from, int64_t i)
{
    const qfz_filter_key *const key = &from->key[i];
    qfz_filter_add(items, key->level, key->position, from->u[key->item], from->v[key->item],
                   from->mass[key->item]);
}

qfz_status qfz_filter_thin(qfz_filter_items *items, qfz_filter_sets *sets, uint64_t least,
                           qfz_error *err)
{
    qfz_filter_items kept = {0};
    uint64_t *taken = NULL; /* of each vertex, by its events so far */
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW_ZERO(&taken, sets->n, err));
    QFZ_TRY_OR(st, cleanup, qfz_filter_items_reserve(&kept, items->n, err));
    reset(sets);
    qfz_filter_sort(items);
    for (int64_t i = 0; i < items->n; i++) {
        const uint32_t item = items->key[i].item, u = items->u[item], v = items->v[item];
        if (v == QFZ_NONE) {
            if (taken[u] < least) keep_item(&kept, items, i);
            taken[u] = qfz_filter_sum(taken[u], items->mass[item], least);
            continue;
        }
        const uint32_t a = qfz_filter_root(sets->up, u), b = qfz_filter_root(sets->up, v);
        if (a == b) continue;
        keep_item(&kept, items, i);
        sets->up[b] = a;
    }
    const qfz_filter_items was = *items;
    *items = kept;
    kept = was;

cleanup:
    qfz_filter_items_fini(&kept);
    free(taken);
    return st;
}

/* ---- All items in ascending order. */
typedef struct item {
    uint32_t level, u, v;
    uint32_t number; /* of an event of a list: QFZ_NONE */
    int list;        /* of others: -1 */
    uint64_t position, mass;
} item;

typedef struct cursor {
    const qfz_filter_items *items;
    int64_t at;
    qfz_masses window[QFZ_FILTER_LISTS]; /* of each list; empty: the list has ended */
    int64_t at_window[QFZ_FILTER_LISTS];
    int64_t n_read[QFZ_FILTER_LISTS]; /* events, windows included */
    bool has_failed;
} cursor;

static item item_at(const qfz_filter_items *items, int64_t i)
{
    const qfz_filter_key *const key = &items->key[i];
    return (item){.level = key->level,
                  .u = items->u[key->item],
                  .v = items->v[key->item],
                  .number = key->item,
                  .list = -1,
                  .position = key->position,
                  .mass = items->mass[key->item]};
}

static item event_at(const cursor *c, int list)
{
    const qfz_masses *const masses = &c->window[list];
    const int64_t i = c->at_window[list];
    return (item){.level = masses->level[i],
                  .u = c->items->lists[list].first + masses->at[i],
                  .v = QFZ_NONE,
                  .number = QFZ_NONE,
                  .list = list,
                  .position = masses->position[i],
                  .mass = masses->mass[i]};
}

/* The list of the first event that comes before *out, or -1; *out becomes the event. */
static int first_list(const cursor *c, bool is_there, item *out)
{
    const qfz_filter_items *const items = c->items;
    int list = -1;
    for (int i = 0; i < items->n_lists; i++) {
        const qfz_masses *const masses = &c->window[i];
        const int64_t at = c->at_window[i];
        if (at == masses->n) continue;
        const uint32_t level = masses->level[at];
        if (is_there &&
            (out->level < level || (out->level == level && out->position <= masses->position[at])))
            continue;
        *out = event_at(c, i);
        is_there = true;
        list = i;
    }
    return list;
}

/* Reads the next window of a list. */
static void read_list(cursor *c, int list)
{
    const qfz_filter_events *const events = &c->items->lists[list];
    const int64_t from = c->n_read[list];
    qfz_masses *const window = &c->window[list];
    *window = (qfz_masses){0};
    c->at_window[list] = 0;
    if (from == events->n) return;
    if (!events->read(events->arg, from, window)) c->has_failed = true;
    c->n_read[list] += window->n;
}

static cursor start(const qfz_filter_items *items)
{
    cursor c = {.items = items};
    for (int list = 0; list < items->n_lists; list++)
        read_list(&c, list);
    return c;
}

static void pass_event(cursor *c, int list)
{
    if (++c->at_window[list] == c->window[list].n) read_list(c, list);
}

static inline bool next(cursor *c, item *out)
{
    const bool is_there = c->at < c->items->n;
    if (c->has_failed) return false;
    *out = is_there ? item_at(c->items, c->at) : (item){0};
    const int list = c->items->n_lists > 0 ? first_list(c, is_there, out) : -1;
    if (list >= 0)
        pass_event(c, list);
    else
        c->at++;
    return is_there || list >= 0;
}

void qfz_filter_resolve(const qfz_filter_items *items, qfz_filter_sets *sets, uint64_t least,
                        uint8_t *found)
{
    cursor c = start(items);
    item e;
    reset(sets);
    while (next(&c, &e)) {
        const uint32_t a = qfz_filter_root(sets->up, e.u);
        const bool is_found = e.level > 0 && e.number != QFZ_NONE;
        if (e.v == QFZ_NONE) {
            if (is_found && e.mass == least)
                found[e.number] = sets->weight[a] < least ? QFZ_FILTER_ZEROED : QFZ_FILTER_KEPT;
            sets->weight[a] = qfz_filter_sum(sets->weight[a], e.mass, least);
            continue;
        }
        const uint32_t b = qfz_filter_root(sets->up, e.v);
        if (a == b) continue;
        const bool is_light = sets->weight[a] < least || sets->weight[b] < least;
        if (is_found) found[e.number] = is_light ? QFZ_FILTER_ZEROED : QFZ_FILTER_KEPT;
        join(sets, a, b, least);
    }
}

void qfz_filter_split_bits(uint8_t *restrict zeroed, uint8_t *restrict forest, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        forest[i] = zeroed[i] >> 4;
        zeroed[i] &= 15;
    }
}

void qfz_filter_take_crossing(const qfz_exterior *exterior, int64_t h, int64_t w, int n_dirs,
                              uint8_t *zeroed, uint8_t *forest)
{
    for (int64_t i = 0; i < exterior->n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(h, w, i, &y, &x);
        zeroed[y * w + x] |= exterior->zeroed[i];
        for (int d = 0; forest && d < n_dirs; d++)
            if (exterior->cross[d * exterior->n_ring + i] > 0)
                forest[y * w + x] |= (uint8_t)(1u << d);
    }
}

/* ---- The graph as seen from outside.
 *
 * A component is open while it has a mark: it may be larger than the graph shows.  A join with a
 * component that is not open is final: the mass of that component is known, and nothing outside can
 * replace the edge. */
typedef struct pass {
    qfz_filter_sets *sets;
    uint64_t least;
    const qfz_filter_outside *out;
    bool has_zero; /* at_zero is not zero everywhere */
} pass;

static void add_link(qfz_links *links, const item *from, uint32_t u, uint32_t v)
{
    links->u[links->n] = u;
    links->v[links->n] = v;
    links->level[links->n] = from->level;
    links->position[links->n++] = from->position;
}

static qfz_status add_event(qfz_masses *masses, const item *from, uint32_t at, uint64_t mass,
                            qfz_error *err)
{
    QFZ_TRY(qfz_masses_reserve(masses, masses->n + 1, err));
    masses->at[masses->n] = at;
    masses->level[masses->n] = from->level;
    masses->position[masses->n] = from->position;
    masses->mass[masses->n++] = mass;
    return QFZ_OK;
}

/* An event of the component a; full() takes those before if they are many. */
static qfz_status report_event(const pass *p, const item *from, uint32_t a, uint64_t mass,
                               qfz_error *err)
{
    const qfz_filter_outside *const out = p->out;
    if (out->n_full > 0 && out->masses->n == out->n_full)
        QFZ_TRY(out->full(out->full_arg, out->masses, err));
    return add_event(out->masses, from, out->mark[a], mass, err);
}

/* All that a component takes in at level 0 is one event: within level 0 the order does not
 * matter. */
static qfz_status end_zero(pass *p, qfz_error *err)
{
    const item zero = {0};
    uint64_t *const at_zero = p->out->at_zero;
    p->has_zero = false;
    for (uint32_t v = 0; v < p->sets->n; v++) {
        if (at_zero[v] == 0) continue;
        QFZ_TRY(report_event(p, &zero, v, at_zero[v], err));
        at_zero[v] = 0;
    }
    return QFZ_OK;
}

/* The open component a takes in a mass. */
static qfz_status take_in(pass *p, const item *from, uint32_t a, uint64_t mass, qfz_error *err)
{
    uint64_t *const at_zero = p->out->at_zero;
    if (from->level > 0) return report_event(p, from, a, mass, err);
    at_zero[a] = qfz_filter_sum(at_zero[a], mass, p->least);
    p->has_zero = true;
    return QFZ_OK;
}

/* An item between the roots a and b, of which a has a mark if one has; b is QFZ_NONE for an event.
 */
typedef struct ends {
    uint32_t a, b;
    uint64_t mass; /* that a takes in */
    bool are_open; /* both have marks */
} ends;

static ends ends_of(const pass *p, const item *from)
{
    const qfz_filter_outside *const out = p->out;
    const bool is_event = from->v == QFZ_NONE;
    ends e = {.a = qfz_filter_root(p->sets->up, from->u),
              .b = is_event ? QFZ_NONE : qfz_filter_root(p->sets->up, from->v)};
    if (!is_event && out->mark[e.a] == QFZ_NONE) {
        const uint32_t was = e.a;
        e.a = e.b;
        e.b = was;
    }
    e.mass = is_event ? from->mass : p->sets->weight[e.b];
    e.are_open = !is_event && out->mark[e.b] != QFZ_NONE;
    return e;
}

static void join_ends(const pass *p, const ends *e)
{
    uint64_t *const weight = p->sets->weight;
    if (e->b == QFZ_NONE)
        weight[e->a] = qfz_filter_sum(weight[e->a], e->mass, p->least);
    else
        join(p->sets, e->a, e->b, p->least);
}

/* What both have taken in at level 0 is the joined component's. */
static void join_zero(const pass *p, const ends *e)
{
    uint64_t *const at_zero = p->out->at_zero;
    at_zero[e->a] = qfz_filter_sum(at_zero[e->a], at_zero[e->b], p->least);
    at_zero[e->b] = 0;
}

static qfz_status add_item(pass *p, const item *from, qfz_error *err)
{
    const ends e = ends_of(p, from);
    if (e.a == e.b) return QFZ_OK;
    if (e.are_open) {
        add_link(p->out->links, from, p->out->mark[e.a], p->out->mark[e.b]);
        join_zero(p, &e);
    } else if (p->out->mark[e.a] != QFZ_NONE && p->sets->weight[e.a] < p->least && e.mass > 0) {
        QFZ_TRY(take_in(p, from, e.a, e.mass, err));
    }
    join_ends(p, &e);
    return QFZ_OK;
}

qfz_status qfz_filter_summarise(const qfz_filter_items *items, qfz_filter_sets *sets,
                                uint64_t least, const qfz_filter_outside *outside, qfz_error *err)
{
    pass p = {.sets = sets, .least = least, .out = outside};
    cursor c = start(items);
    item from;
    reset(sets);
    while (next(&c, &from)) {
        if (from.level > 0 && p.has_zero) QFZ_TRY(end_zero(&p, err));
        QFZ_TRY(add_item(&p, &from, err));
    }
    return p.has_zero ? end_zero(&p, err) : QFZ_OK;
}

/* ---- The members of a group as their outsides need them, all in one pass: they have the same
 * components. */

/* By member: the mark of a component. */
typedef struct marks {
    uint32_t of[QFZ_FILTER_LISTS];
} marks;

/* An item that joins the components a and b, or the event of component a, whose b is QFZ_NONE. */
typedef struct joining {
    const item *from;
    uint32_t a, b;
    uint64_t weight, mass; /* of a, and what it takes in */
    uint64_t joined;
} joining;

static bool has_item(const qfz_filter_member *member, int m, const item *from)
{
    return from->list < 0 ? from->number >= member->first_item && from->number < member->end_item
                          : from->list == m;
}

/* A member sees by itself that a component takes in one that weighs `least`: if an event came
 * first, the edge between the two would seem to join two that do. */
static qfz_status weigh_for(const qfz_filter_member *member, int m, const joining *j,
                            const marks *mark, uint64_t least, qfz_error *err)
{
    const uint32_t at_a = mark[j->a].of[m], at_b = j->b == QFZ_NONE ? QFZ_NONE : mark[j->b].of[m];
    const bool of_a = at_a != QFZ_NONE, are_open = of_a && at_b != QFZ_NONE;
    if (!of_a && at_b == QFZ_NONE) return QFZ_OK;
    const uint64_t weight = of_a ? j->weight : j->mass, mass = of_a ? j->mass : j->weight;
    const bool is_own = has_item(member, m, j->from);
    const bool was_light = weight < least && !(are_open && mass == least);
    const bool is_seen = is_own && !are_open && mass == least;
    if (are_open && !is_own) add_link(member->links, j->from, at_a, at_b);
    if (!was_light || j->joined < least || is_seen) return QFZ_OK;
    return add_event(member->masses, j->from, of_a ? at_a : at_b, least, err);
}

static void join_marks(const joining *j, marks *mark)
{
    for (int m = 0; m < QFZ_FILTER_LISTS; m++)
        if (mark[j->a].of[m] == QFZ_NONE) mark[j->a].of[m] = mark[j->b].of[m];
}

static qfz_status start_marks(const qfz_filter_member *members, int n_members, uint32_t n,
                              marks **mark, qfz_error *err)
{
    QFZ_TRY(qfz_alloc_large((void **)mark, n, sizeof **mark, err));
    memset(*mark, 0xff, n * sizeof **mark);
    for (int m = 0; m < n_members; m++)
        for (uint32_t v = members[m].first; v < members[m].end; v++)
            (*mark)[v].of[m] = v - members[m].first;
    return QFZ_OK;
}

qfz_status qfz_filter_find_exteriors(const qfz_filter_items *items, qfz_filter_sets *sets,
                                     uint64_t least, const qfz_filter_member *members,
                                     int n_members, uint8_t *found, qfz_error *err)
{
    cursor c = start(items);
    item e;
    marks *mark = NULL;
    qfz_status st;
    QFZ_TRY(start_marks(members, n_members, sets->n, &mark, err));
    reset(sets);
    while (next(&c, &e)) {
        const bool is_event = e.v == QFZ_NONE;
        joining j = {.from = &e,
                     .a = qfz_filter_root(sets->up, e.u),
                     .b = is_event ? QFZ_NONE : qfz_filter_root(sets->up, e.v)};
        if (j.a == j.b) continue;
        j.weight = sets->weight[j.a];
        j.mass = is_event ? e.mass : sets->weight[j.b];
        j.joined = qfz_filter_sum(j.weight, j.mass, least);
        if (e.level > 0 && e.number != QFZ_NONE && (!is_event || e.mass == least))
            found[e.number] =
                j.weight < least || j.mass < least ? QFZ_FILTER_ZEROED : QFZ_FILTER_KEPT;
        for (int m = 0; m < n_members; m++)
            QFZ_TRY_OR(st, cleanup, weigh_for(&members[m], m, &j, mark, least, err));
        sets->weight[j.a] = j.joined;
        if (is_event) continue;
        sets->up[j.b] = j.a;
        join_marks(&j, mark);
    }
    st = QFZ_OK;

cleanup:
    free(mark);
    return st;
}
