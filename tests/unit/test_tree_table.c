/* SPDX-License-Identifier: MIT */
/* test_tree_table.c - trees, linkages and cuts of tables: a hierarchy worked out by hand, random
 * ones against each other in shuffled rows, and tables that are no hierarchy. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "small.h"

enum { MOST = 40 };

typedef struct table {
    qfz_tree_table h;
    uint64_t a[MOST], b[MOST];
    double level[MOST];
} table;

static void use(table *t, int64_t n_regions, int64_t n)
{
    t->h = qfz_tree_table_default();
    t->h.n_regions = n_regions;
    t->h.n = n;
    t->h.a = t->a;
    t->h.b = t->b;
    t->h.level = t->level;
}

/* Regions 1 2 3 meet at 2, 4 5 at 3, these two at 7; 6 is an area of its own. */
static table by_hand(void)
{
    table t = {.a = {4, 3, 1, 2}, .b = {5, 5, 2, 3}, .level = {3, 7, 2, 2}};
    use(&t, 6, 4);
    return t;
}

static void a_cut_numbers_regions_by_their_first(void **state)
{
    (void)state;
    const table t = by_hand();
    const uint64_t want[][6] = {
        {1, 2, 3, 4, 5, 6}, {1, 1, 1, 2, 3, 4}, {1, 1, 1, 2, 2, 3}, {1, 1, 1, 1, 1, 2}};
    const double alpha[] = {0, 2.5, 3, INFINITY};
    const int64_t n_want[] = {6, 4, 3, 2};
    for (int i = 0; i < 4; i++) {
        uint64_t labels[6];
        int64_t n;
        table copy = t;
        use(&copy, 6, 4);
        assert_int_equal(qfz_tree_table_cut(&copy.h, alpha[i], labels, &n, NULL), QFZ_OK);
        assert_int_equal(n, n_want[i]);
        assert_memory_equal(labels, want[i], sizeof labels);
    }
}

static void a_linkage_is_that_of_scipy(void **state)
{
    (void)state;
    const double want[5][4] = {
        {0, 1, 2, 2}, {2, 6, 2, 3}, {3, 4, 3, 2}, {7, 8, 7, 5}, {5, 9, INFINITY, 6}};
    table t = by_hand();
    double got[5][4];
    use(&t, 6, 4);
    assert_int_equal(qfz_tree_table_linkage(&t.h, got[0], NULL), QFZ_OK);
    assert_memory_equal(got, want, sizeof got);
}

static void a_tree_is_canonical(void **state)
{
    (void)state;
    const int64_t want[9] = {6, 6, 6, 7, 7, 5, 8, 8, 8};
    const double want_level[9] = {0, 0, 0, 0, 0, 0, 2, 3, 7};
    table t = by_hand();
    int64_t parent[12], n;
    double level[12];
    use(&t, 6, 4);
    assert_int_equal(qfz_tree_table_tree(&t.h, parent, level, &n, NULL), QFZ_OK);
    assert_int_equal(n, 9);
    assert_memory_equal(parent, want, sizeof want);
    assert_memory_equal(level, want_level, sizeof want_level);
}

/* ---- Random forests. */
static void make(table *t, uint64_t *random)
{
    const int64_t n_regions = 1 + random_below(random, MOST - 1);
    int64_t n = 0;
    for (int64_t i = 1; i < n_regions; i++) {
        if (random_below(random, 6) == 0) continue;
        const bool swap = random_below(random, 2) == 0;
        const uint64_t p = (uint64_t)i + 1, q = 1 + (uint64_t)random_below(random, (int)i);
        t->a[n] = swap ? p : q;
        t->b[n] = swap ? q : p;
        t->level[n++] = 0.5 * random_below(random, 8);
    }
    use(t, n_regions, n);
}

static void shuffle(table *t, uint64_t *random)
{
    for (int64_t i = t->h.n - 1; i > 0; i--) {
        const int64_t k = random_below(random, (int)i + 1);
        const table was = *t;
        t->a[i] = was.b[k];
        t->b[i] = was.a[k];
        t->level[i] = was.level[k];
        t->a[k] = was.a[i];
        t->b[k] = was.b[i];
        t->level[k] = was.level[i];
    }
}

/* Regions i and k are one at alpha if they are in one subtree whose level is at most alpha. */
static int64_t top_of(const int64_t *parent, const double *level, double alpha, int64_t node)
{
    while (parent[node] != node && level[parent[node]] <= alpha)
        node = parent[node];
    return node;
}

static void same_components(const table *t, double alpha, const int64_t *parent,
                            const double *level)
{
    uint64_t labels[MOST];
    int64_t n;
    assert_int_equal(qfz_tree_table_cut(&t->h, alpha, labels, &n, NULL), QFZ_OK);
    for (int64_t i = 0; i < t->h.n_regions; i++)
        for (int64_t k = 0; k < i; k++)
            assert_int_equal(labels[i] == labels[k],
                             top_of(parent, level, alpha, i) == top_of(parent, level, alpha, k));
}

static void check_tree(const table *t, const int64_t *parent, const double *level, int64_t n)
{
    int children[2 * MOST] = {0};
    for (int64_t i = 0; i < n; i++) {
        assert_true(parent[i] == i || (parent[i] > i && level[parent[i]] > level[i]) ||
                    (i < t->h.n_regions && level[parent[i]] == 0));
        if (parent[i] != i) children[parent[i]]++;
    }
    for (int64_t i = t->h.n_regions; i < n; i++) {
        assert_true(children[i] > 1);
        assert_true(i == t->h.n_regions || level[i - 1] <= level[i]);
    }
}

/* The linkage as a tree of two children a node. */
static void check_linkage(const table *t, double *linkage)
{
    const int64_t m = t->h.n_regions;
    int64_t parent[2 * MOST];
    double level[2 * MOST] = {0}, regions[2 * MOST];
    for (int64_t i = 0; i < 2 * m - 1; i++) {
        parent[i] = i;
        regions[i] = i < m ? 1 : 0;
    }
    for (int64_t i = 0; i < m - 1; i++) {
        const double *const row = linkage + 4 * i;
        for (int side = 0; side < 2; side++) {
            const int64_t child = (int64_t)row[side];
            assert_true(child >= 0 && child < m + i && parent[child] == child);
            parent[child] = m + i;
            regions[m + i] += regions[child];
        }
        assert_true(row[0] < row[1] && row[3] == regions[m + i]);
        assert_true(i == 0 || linkage[4 * (i - 1) + 2] <= row[2]);
        level[m + i] = row[2];
    }
    for (double alpha = 0; alpha < 4; alpha += 0.5)
        same_components(t, alpha, parent, level);
}

static void trees_linkages_and_cuts_agree(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (int i = 0; i < 300; i++) {
        table t;
        int64_t parent[2][2 * MOST] = {{0}}, n[2];
        double level[2][2 * MOST] = {{0}}, linkage[2][4 * MOST] = {{0}};
        make(&t, &random);
        for (int way = 0; way < 2; way++) {
            assert_int_equal(qfz_tree_table_tree(&t.h, parent[way], level[way], &n[way], NULL),
                             QFZ_OK);
            assert_int_equal(qfz_tree_table_linkage(&t.h, linkage[way], NULL), QFZ_OK);
            shuffle(&t, &random);
        }
        assert_int_equal(n[0], n[1]);
        assert_memory_equal(parent[0], parent[1], sizeof parent[0]);
        assert_memory_equal(linkage[0], linkage[1], sizeof linkage[0]);
        check_tree(&t, parent[0], level[0], n[0]);
        for (double alpha = 0; alpha < 4; alpha += 0.5)
            same_components(&t, alpha, parent[0], level[0]);
        check_linkage(&t, linkage[0]);
    }
}

/* ---- No hierarchies. */
static void refused(table *t, const char *why)
{
    qfz_error err = {0};
    uint64_t labels[MOST];
    int64_t n, parent[2 * MOST];
    double level[2 * MOST], linkage[4 * MOST];
    assert_int_equal(qfz_tree_table_cut(&t->h, INFINITY, labels, &n, &err), QFZ_EARG);
    assert_non_null(strstr(err.message, why));
    assert_int_equal(qfz_tree_table_tree(&t->h, parent, level, &n, &err), QFZ_EARG);
    assert_non_null(strstr(err.message, why));
    assert_int_equal(qfz_tree_table_linkage(&t->h, linkage, &err), QFZ_EARG);
    assert_non_null(strstr(err.message, why));
}

static void tables_that_are_no_hierarchy_are_refused(void **state)
{
    (void)state;
    table t = by_hand();
    use(&t, 6, 4);
    t.a[2] = 0;
    refused(&t, "row 2 joins 0 and 2; regions are 1 to 6");
    t.a[2] = 7;
    refused(&t, "row 2 joins 7 and 2");
    t.a[2] = 1;
    t.b[1] = 3;
    refused(&t, "row 1 joins 3 and 3, which other rows join already");
    t.b[1] = 1;
    t.level[1] = 1;
    refused(&t, "joins");
    t.b[1] = 5;
    t.level[1] = NAN;
    refused(&t, "row 1 has the level");
    t.level[1] = -1;
    refused(&t, "row 1 has the level -1");
    t.level[1] = 7;
    t.h.a = NULL;
    refused(&t, "6 regions and 4 rows");
    t.h.struct_size = 0;
    refused(&t, "qfz_tree_table");
    t.h.struct_size = sizeof t.h;
    t.h.a = t.a;
    qfz_error err = {0};
    uint64_t labels[6];
    int64_t n;
    assert_int_equal(qfz_tree_table_cut(&t.h, -1, labels, &n, &err), QFZ_EARG);
    assert_int_equal(qfz_tree_table_cut(&t.h, NAN, labels, &n, &err), QFZ_EARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_numbers_regions_by_their_first),
        cmocka_unit_test(a_linkage_is_that_of_scipy),
        cmocka_unit_test(a_tree_is_canonical),
        cmocka_unit_test(trees_linkages_and_cuts_agree),
        cmocka_unit_test(tables_that_are_no_hierarchy_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
