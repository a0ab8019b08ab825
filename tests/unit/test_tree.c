/* SPDX-License-Identifier: MIT */
/* test_tree.c - alpha-trees equal those of two slow methods: flooding at every level, one level at
 * a time, and Kruskal's algorithm on all edges.
 *
 * A tree is compared as the sorted list of its components (level, first pixel, number of pixels):
 * components of one level are disjoint, so equal lists are equal trees. */
#include "cpu/cpu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "small.h"

enum { MAX_BANDS = 3 };

/* ---- Images ---------------------------------------------------------------------------------- */

typedef struct problem {
    qfz_image image;
    qfz_rule rule;
    char name[200];
} problem;

static void set_value(qfz_image *image, int64_t i, uint32_t value)
{
    void *const pixels = (void *)(uintptr_t)image->pixels;
    switch (image->type) {
    case QFZ_U8: ((uint8_t *)pixels)[i] = (uint8_t)value; break;
    case QFZ_I8: ((int8_t *)pixels)[i] = (int8_t)(value - 100); break;
    case QFZ_U16: ((uint16_t *)pixels)[i] = (uint16_t)value; break;
    case QFZ_I16: ((int16_t *)pixels)[i] = (int16_t)(value - 1000); break;
    case QFZ_U32: ((uint32_t *)pixels)[i] = value; break;
    case QFZ_I32: ((int32_t *)pixels)[i] = (int32_t)(value - 100000); break;
    case QFZ_F32: ((float *)pixels)[i] = (float)value * 0.37f; break;
    }
}

static problem blank(qfz_type type, int n_bands, int64_t h, int64_t w)
{
    problem p = {.image = {.h = h, .w = w, .n_bands = n_bands, .type = type},
                 .rule = {.connectivity = 4,
                          .distance = QFZ_L1,
                          .type = type,
                          .n_bands = n_bands,
                          .alpha_level = UINT32_MAX}};
    p.image.pixels = room((size_t)(n_bands * h * w), qfz_type_bytes(type));
    return p;
}

static void destroy(problem *p)
{
    free((void *)(uintptr_t)p->image.pixels);
    free((void *)(uintptr_t)p->image.valid);
}

/* ---- Edges ----------------------------------------------------------------------------------- */

typedef struct edge {
    uint32_t level, p, q;
} edge;

typedef struct edge_list {
    edge *edges;
    int64_t n;
} edge_list;

static int by_key(const void *a, const void *b)
{
    const uint32_t x = ((const edge *)a)->level, y = ((const edge *)b)->level;
    return (x > y) - (x < y);
}

/* All edges of valid pixels, by level. */
static edge_list edges_of(const problem *p)
{
    const int64_t h = p->image.h, w = p->image.w;
    edge_list list = {room((size_t)(4 * h * w), sizeof(edge)), 0};
    for (int64_t px = 0; px < h * w; px++) {
        for (int dir = 0; dir < qfz_n_dirs(&p->rule); dir++) {
            const int64_t y = px / w + qfz_dir_dy[dir], x = px % w + qfz_dir_dx[dir];
            const int64_t q = y * w + x;
            if (y >= h || x < 0 || x >= w || !is_valid(&p->image, px) || !is_valid(&p->image, q))
                continue;
            uint32_t level;
            qfz_levels(&p->image, &p->rule, px, q, 1, &level);
            if (level <= p->rule.alpha_level)
                list.edges[list.n++] = (edge){level, (uint32_t)px, (uint32_t)q};
        }
    }
    qsort(list.edges, (size_t)list.n, sizeof *list.edges, by_key);
    return list;
}

/* ---- Components ------------------------------------------------------------------------------ */

typedef struct component {
    uint32_t level, first, size;
} component;

typedef struct component_list {
    component *components;
    int64_t n;
} component_list;

static int by_level_and_first(const void *a, const void *b)
{
    const component *const x = a, *const y = b;
    if (x->level != y->level) return x->level < y->level ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static void assert_same_components(const problem *p, const component_list *got,
                                   const component_list *want)
{
    for (int64_t i = 0; i < got->n && i < want->n; i++)
        if (memcmp(&got->components[i], &want->components[i], sizeof(component)) != 0)
            fail_msg("%s: component %d is (%u, %u, %u), not (%u, %u, %u)", p->name, (int)i,
                     got->components[i].level, got->components[i].first, got->components[i].size,
                     want->components[i].level, want->components[i].first,
                     want->components[i].size);
    if (got->n != want->n)
        fail_msg("%s: %d components, not %d", p->name, (int)got->n, (int)want->n);
}

static uint32_t root_of(uint32_t *find, uint32_t v)
{
    while (find[v] != v)
        v = find[v] = find[find[v]];
    return v;
}

/* Kruskal's algorithm, one level at a time; the root of a set is its first pixel. */
static component_list components_by_kruskal(const problem *p, const edge_list *list)
{
    const size_t n = (size_t)(p->image.h * p->image.w);
    uint32_t *const find = room(n, sizeof *find), *const size = room(n, sizeof *size);
    uint8_t *const grew = room(n, 1);
    component_list result = {room(n, sizeof(component)), 0};
    for (uint32_t i = 0; i < n; i++)
        find[i] = i, size[i] = 1;
    for (int64_t from = 0, end; from < list->n; from = end) {
        const uint32_t level = list->edges[from].level;
        for (end = from; end < list->n && list->edges[end].level == level; end++) {
            const uint32_t a = root_of(find, list->edges[end].p);
            const uint32_t b = root_of(find, list->edges[end].q);
            if (a == b) continue;
            const uint32_t first = a < b ? a : b;
            find[a < b ? b : a] = first;
            size[first] = size[a] + size[b];
            grew[a] = grew[b] = 1;
        }
        for (int64_t i = from; i < end; i++) {
            const uint32_t root = root_of(find, list->edges[i].p);
            if (grew[root]) result.components[result.n++] = (component){level, root, size[root]};
            grew[root] = 0;
        }
    }
    qsort(result.components, (size_t)result.n, sizeof(component), by_level_and_first);
    free(find);
    free(size);
    free(grew);
    return result;
}

/* label[px] = first pixel of the component at a level, by sweeps until nothing changes. */
static void flood(const problem *p, const edge_list *list, uint32_t level, uint32_t *label)
{
    for (uint32_t i = 0; i < (uint32_t)(p->image.h * p->image.w); i++)
        label[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t i = 0; i < list->n && list->edges[i].level <= level; i++) {
            const edge *const e = &list->edges[i];
            const uint32_t a = label[e->p], b = label[e->q], low = a < b ? a : b;
            changed |= a != b;
            label[e->p] = label[e->q] = low;
            if (label[a] > low) label[a] = low;
            if (label[b] > low) label[b] = low;
        }
        for (uint32_t i = 0; i < (uint32_t)(p->image.h * p->image.w); i++)
            label[i] = label[label[i]];
    }
}

static uint32_t *sizes_of(const uint32_t *label, size_t n)
{
    uint32_t *const size = room(n, sizeof *size);
    for (size_t i = 0; i < n; i++)
        size[label[i]]++;
    return size;
}

/* The components, and for each edge of the list the level at which its pixels meet. */
static component_list components_by_flooding(const problem *p, const edge_list *list,
                                             uint32_t *meets)
{
    const size_t n = (size_t)(p->image.h * p->image.w);
    uint32_t *const label = room(n, sizeof *label), *const before = room(n, sizeof *before);
    component_list result = {room(n, sizeof(component)), 0};
    uint8_t *const met = room((size_t)list->n, 1);
    for (size_t i = 0; i < n; i++)
        before[i] = 1;
    for (int64_t k = 0; k < list->n; k++) {
        const uint32_t level = list->edges[k].level;
        if (k > 0 && list->edges[k - 1].level == level) continue;
        flood(p, list, level, label);
        uint32_t *const size = sizes_of(label, n);
        for (uint32_t i = 0; i < n; i++) {
            if (label[i] == i && size[i] > before[i])
                result.components[result.n++] = (component){level, i, size[i]};
            before[i] = size[label[i]];
        }
        for (int64_t i = 0; i < list->n; i++)
            if (!met[i] && label[list->edges[i].p] == label[list->edges[i].q])
                met[i] = 1, meets[i] = level;
        free(size);
    }
    free(label);
    free(before);
    free(met);
    return result;
}

/* ---- Trees ----------------------------------------------------------------------------------- */

typedef struct tree {
    int64_t n_px, n_nodes;
    uint32_t *parent, *level;
} tree;

static tree build(const problem *p, int n_threads)
{
    const int64_t n = p->image.h * p->image.w;
    tree t = {.n_px = n};
    const size_t bytes = qfz_tree_bytes(&p->rule, p->image.h, p->image.w, n_threads);
    char *const scratch = malloc(bytes);
    const size_t words = (size_t)qfz_tree_room(&p->rule, p->image.h, p->image.w);
    t.parent = malloc(words * sizeof *t.parent);
    t.level = malloc(words * sizeof *t.level);
    assert_true(scratch && t.parent && t.level);
    memset(scratch, 0xa5, bytes);
    memset(t.parent, 0x5a, words * sizeof *t.parent);
    memset(t.level, 0xa5, words * sizeof *t.level);
    qfz_tree_build(&p->image, &p->rule, n_threads, scratch, t.parent, t.level, &t.n_nodes);
    free(scratch);
    return t;
}

static void tree_destroy(tree *t)
{
    free(t->parent);
    free(t->level);
}

static void assert_canonical(const problem *p, const tree *t)
{
    uint32_t *const children = room((size_t)t->n_nodes, sizeof *children);
    if (t->n_nodes < t->n_px || t->n_nodes > 2 * t->n_px) fail_msg("%s: nodes", p->name);
    for (int64_t i = 0; i < t->n_nodes; i++) {
        const uint32_t up = t->parent[i];
        if (up >= t->n_nodes || (up != i && up < t->n_px))
            fail_msg("%s: parent %u of %d", p->name, up, (int)i);
        if (i < t->n_px && t->level[i] != 0) fail_msg("%s: level of pixel %d", p->name, (int)i);
        if (i < t->n_px && up != i && !is_valid(&p->image, i))
            fail_msg("%s: invalid pixel %d has a parent", p->name, (int)i);
        if (i >= t->n_px && up != i && t->level[up] <= t->level[i])
            fail_msg("%s: node %d of level %u under %u", p->name, (int)i, t->level[i],
                     t->level[up]);
        if (up != i) children[up]++;
    }
    for (int64_t i = t->n_px; i < t->n_nodes; i++)
        if (children[i] == 1 || (children[i] == 0 && t->parent[i] != i))
            fail_msg("%s: node %d has %u children", p->name, (int)i, children[i]);
    free(children);
}

/* The numbers of the nodes, in order of level. */
static uint32_t *ascending_nodes(const tree *t)
{
    const int64_t n = t->n_nodes - t->n_px;
    edge *const order = room((size_t)n, sizeof *order);
    uint32_t *const result = room((size_t)n, sizeof *result);
    for (int64_t i = 0; i < n; i++)
        order[i] = (edge){.level = t->level[t->n_px + i], .p = (uint32_t)(t->n_px + i)};
    qsort(order, (size_t)n, sizeof *order, by_key);
    for (int64_t i = 0; i < n; i++)
        result[i] = order[i].p;
    free(order);
    return result;
}

static void give_to_parent(const tree *t, component *components, uint32_t i)
{
    const uint32_t up = t->parent[i];
    if (up == i) return;
    components[up].size += components[i].size;
    if (components[i].first < components[up].first) components[up].first = components[i].first;
}

static component_list components_of_tree(const tree *t)
{
    component *const components = room((size_t)t->n_nodes, sizeof *components);
    uint32_t *const order = ascending_nodes(t);
    component_list result = {room((size_t)t->n_nodes, sizeof(component)), 0};
    for (uint32_t i = 0; i < t->n_nodes; i++)
        components[i] =
            i < t->n_px ? (component){0, i, 1} : (component){t->level[i], UINT32_MAX, 0};
    for (uint32_t i = 0; i < t->n_px; i++)
        give_to_parent(t, components, i);
    for (int64_t i = 0; i < t->n_nodes - t->n_px; i++) {
        give_to_parent(t, components, order[i]);
        if (components[order[i]].size > 0) result.components[result.n++] = components[order[i]];
    }
    qsort(result.components, (size_t)result.n, sizeof(component), by_level_and_first);
    free(components);
    free(order);
    return result;
}

static int64_t height(const tree *t, uint32_t node)
{
    return node < t->n_px ? -1 : (int64_t)t->level[node];
}

/* The level of the lowest common ancestor of two pixels; they must have one. */
static uint32_t meeting_level(const problem *p, const tree *t, uint32_t a, uint32_t b)
{
    while (a != b) {
        uint32_t *const lower = height(t, a) <= height(t, b) ? &a : &b;
        if (t->parent[*lower] == *lower) fail_msg("%s: pixels do not meet", p->name);
        *lower = t->parent[*lower];
    }
    return t->level[a];
}

static void assert_tree_has_components(const problem *p, int n_threads, const component_list *want)
{
    tree t = build(p, n_threads);
    assert_canonical(p, &t);
    component_list got = components_of_tree(&t);
    assert_same_components(p, &got, want);
    free(got.components);
    tree_destroy(&t);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static void name_it(problem *p, const char *what)
{
    snprintf(p->name, sizeof p->name,
             "%s: %dx%d, %d bands %s, distance %d, %d-connected, %s, alpha %u", what,
             (int)p->image.h, (int)p->image.w, p->image.n_bands, qfz_type_name(p->image.type),
             (int)p->rule.distance, p->rule.connectivity, p->image.valid ? "holes" : "no holes",
             p->rule.alpha_level);
}

static void check_by_kruskal(problem *p, int max_threads)
{
    edge_list list = edges_of(p);
    component_list want = components_by_kruskal(p, &list);
    for (int n = 1; n <= max_threads; n++)
        assert_tree_has_components(p, n, &want);
    free(want.components);
    free(list.edges);
}

static void check_by_flooding(problem *p)
{
    edge_list list = edges_of(p);
    uint32_t *const meets = room((size_t)list.n, sizeof *meets);
    component_list want = components_by_flooding(p, &list, meets);
    tree t = build(p, 1);
    assert_canonical(p, &t);
    component_list got = components_of_tree(&t);
    assert_same_components(p, &got, &want);
    for (int64_t i = 0; i < list.n; i++) {
        const uint32_t level = meeting_level(p, &t, list.edges[i].p, list.edges[i].q);
        if (level != meets[i])
            fail_msg("%s: pixels %u and %u meet at %u, not %u", p->name, list.edges[i].p,
                     list.edges[i].q, level, meets[i]);
    }
    tree_destroy(&t);
    free(meets);
    free(got.components);
    free(want.components);
    free(list.edges);
}

static void punch_holes(problem *p, uint64_t *seed)
{
    const int64_t n = p->image.h * p->image.w;
    const int percent = 1 + random_below(seed, 60);
    uint8_t *const valid = room((size_t)n, 1);
    for (int64_t i = 0; i < n; i++)
        valid[i] = random_below(seed, 100) >= percent;
    p->image.valid = valid;
}

static problem random_problem(uint64_t *seed, int64_t h, int64_t w, uint32_t n_values)
{
    const qfz_type type = (qfz_type)random_below(seed, QFZ_F32 + 1);
    problem p = blank(type, 1 + random_below(seed, MAX_BANDS), h, w);
    const bool smooth = random_below(seed, 2);
    for (int64_t i = 0; i < p.image.n_bands * h * w; i++) {
        const uint32_t noise = (uint32_t)(random_next(seed) % n_values);
        const uint32_t slope = smooth ? (uint32_t)(i % w + i / w) * 7 : 0;
        set_value(&p.image, i, noise + slope);
    }
    p.rule.connectivity = random_below(seed, 2) ? 4 : 8;
    p.rule.distance = (qfz_distance)random_below(seed, 3);
    uint32_t max = 0;
    if (qfz_max_level(&p.rule, &max, NULL) != QFZ_OK) p.rule.distance = QFZ_LINF;
    if (random_below(seed, 3) == 0) punch_holes(&p, seed);
    if (random_below(seed, 3) == 0)
        p.rule.alpha_level = qfz_level_of_alpha(&p.rule, (double)random_below(seed, 20));
    return p;
}

static void equals_flooding_at_every_level(void **state)
{
    (void)state;
    uint64_t seed = 0x9e3779b97f4a7c15u;
    static const uint32_t values[] = {1, 2, 3, 8, 40, 250, 60000};
    for (int i = 0; i < 600; i++) {
        const bool thin = i % 3 == 0; /* several blocks, but few edges */
        const int h = 1 + random_below(&seed, thin ? 3 : 20);
        const int w = 1 + random_below(&seed, thin ? 200 : 20);
        const uint32_t n_values = values[random_below(&seed, 7)];
        problem p =
            i % 2 ? random_problem(&seed, h, w, n_values) : random_problem(&seed, w, h, n_values);
        char what[40];
        snprintf(what, sizeof what, "case %d", i);
        name_it(&p, what);
        check_by_flooding(&p);
        destroy(&p);
    }
}

static void equals_flooding_across_many_blocks(void **state)
{
    (void)state;
    uint64_t seed = 0x2545f4914f6cdd1du;
    for (int i = 0; i < 12; i++) {
        problem p = random_problem(&seed, 100 + random_below(&seed, 100),
                                   100 + random_below(&seed, 50), 2 + (uint32_t)i % 4);
        name_it(&p, "many blocks");
        check_by_flooding(&p);
        destroy(&p);
    }
}

static void equals_kruskal_whatever_the_threads(void **state)
{
    (void)state;
    uint64_t seed = 0x853c49e6748fea9bu;
    static const uint32_t values[] = {2, 5, 60, 1000, 1000000};
    for (int i = 0; i < 40; i++) {
        problem p = random_problem(&seed, 1 + random_below(&seed, 400),
                                   1 + random_below(&seed, 500), values[i % 5]);
        name_it(&p, "random");
        check_by_kruskal(&p, 4);
        destroy(&p);
    }
}

/* ---- Hostile images ---------------------------------------------------------------------------
 */

static uint32_t spiral(int64_t y, int64_t x, int64_t h, int64_t w)
{
    const int64_t right = w - 1 - x, down = h - 1 - y;
    int64_t ring = y < x ? y : x;
    if (right < ring) ring = right;
    if (down < ring) ring = down;
    const bool gate = x == ring && y == ring + 1;
    return (uint32_t)((ring + gate) % 2 * 200);
}

static uint32_t hostile_value(int shape, int64_t y, int64_t x, int64_t h, int64_t w)
{
    const uint32_t i = (uint32_t)(y * w + x);
    switch (shape) {
    case 0: return 77;
    case 1: return i;                             /* a ramp that passes 65535 */
    case 2: return i * (i + 1) / 2;               /* every edge has another level */
    case 3: return (uint32_t)(y + x) % 2 * 65535; /* checkerboard */
    case 4: return y == 0 ? 9 : (uint32_t)x % 2 * 60000 + (x % 2 ? 0 : 9); /* comb */
    case 5: return spiral(y, x, h, w);
    default: return (i * 2654435761u) >> 8; /* white noise */
    }
}

static const char *const shapes[] = {"constant", "ramp",   "steps", "checkerboard",
                                     "comb",     "spiral", "noise"};

static void survives_hostile_images(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{1, 1},   {1, 2},   {2, 1},    {1, 70000}, {66000, 1},
                                       {64, 64}, {65, 65}, {63, 129}, {260, 300}};
    static const qfz_type types[] = {QFZ_U8, QFZ_U16, QFZ_U32, QFZ_F32};
    for (int i = 0; i < 7 * 9 * 4 * 2; i++) {
        const int shape = i % 7;
        const int64_t h = sizes[i / 7 % 9][0], w = sizes[i / 7 % 9][1];
        problem p = blank(types[i / 63 % 4], 1, h, w);
        p.rule.connectivity = i / 252 ? 8 : 4;
        for (int64_t px = 0; px < h * w; px++)
            set_value(&p.image, px, hostile_value(shape, px / w, px % w, h, w));
        name_it(&p, shapes[shape]);
        check_by_kruskal(&p, 2);
        destroy(&p);
    }
}

static void leaves_invalid_pixels_alone(void **state)
{
    (void)state;
    problem p = blank(QFZ_U8, 1, 130, 70);
    p.image.valid = room(130 * 70, 1);
    name_it(&p, "all invalid");
    tree t = build(&p, 2);
    assert_int_equal(t.n_nodes, t.n_px);
    for (uint32_t i = 0; i < t.n_px; i++)
        assert_int_equal(t.parent[i], i);
    assert_canonical(&p, &t);
    tree_destroy(&t);
    destroy(&p);
}

/* All memory, including the result. */
static void takes_less_than_18_bytes_a_pixel(void **state)
{
    (void)state;
    for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
        const qfz_rule rule = {.connectivity = connectivity, .type = QFZ_U16, .n_bands = 1};
        const int64_t side = 4096, words = 2 * qfz_tree_room(&rule, side, side);
        const int64_t bytes = 4 * words + (int64_t)qfz_tree_bytes(&rule, side, side, 1);
        assert_in_range(bytes, 16 * side * side, 18 * side * side - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_flooding_at_every_level),
        cmocka_unit_test(equals_flooding_across_many_blocks),
        cmocka_unit_test(equals_kruskal_whatever_the_threads),
        cmocka_unit_test(survives_hostile_images),
        cmocka_unit_test(leaves_invalid_pixels_alone),
        cmocka_unit_test(takes_less_than_18_bytes_a_pixel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
