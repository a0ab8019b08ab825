/* SPDX-License-Identifier: MIT */
/* test_method.c - the table of published methods: each name is found for the work of its paper, and
 * each refusal names the method, the reason and the remedy. */
#include "small.h"

#include <string.h>

#include "core/method.h"

static const char *const names[QFZ_N_METHODS] = {"stava",  "c2fl",       "ha4",
                                                 "ha4-32", "connect-v1", "connect-v2"};

static qfz_rule rule_of(qfz_type type, int connectivity)
{
    return (qfz_rule){
        .connectivity = connectivity, .distance = QFZ_LINF, .type = type, .n_bands = 1};
}

/* Every integer type, with both connectivities. */
static void names_are_found(void **state)
{
    (void)state;
    for (int m = 0; m < QFZ_N_METHODS; m++)
        for (int k = 0; k < 2 * QFZ_F32; k++) {
            const qfz_rule rule = rule_of((qfz_type)(k / 2), k % 2 ? 8 : 4);
            const qfz_kind kind = m < QFZ_N_LABELING_METHODS ? QFZ_COMPONENTS : QFZ_TREE;
            qfz_method method = QFZ_N_METHODS;
            qfz_error err = {.status = QFZ_OK};
            assert_int_equal(qfz_method_find(names[m], &rule, kind, &method, &err), QFZ_OK);
            assert_int_equal(method, m);
            assert_string_equal(qfz_method_name(method), names[m]);
        }
}

static void refused(const char *name, const qfz_rule *rule, qfz_kind kind, const char *reason,
                    const char *remedy)
{
    qfz_method method = QFZ_N_METHODS;
    qfz_error err = {.status = QFZ_OK};
    assert_int_equal(qfz_method_find(name, rule, kind, &method, &err), QFZ_EARG);
    assert_int_equal(method, QFZ_N_METHODS);
    if (!strstr(err.message, name) || !strstr(err.message, reason) || !strstr(err.message, remedy))
        fail_msg("%s has no '%s' or no '%s'", err.message, reason, remedy);
}

static void rules_of_other_papers_are_refused(void **state)
{
    (void)state;
    const double omega = 1;
    const float weight = 1;
    const struct {
        qfz_rule rule;
        const char *reason;
    } cases[] = {
        {{.n_bands = 1, .type = QFZ_U8, .alpha_level = 1}, "an alpha above 0"},
        {{.n_bands = 2, .type = QFZ_U8}, "more than one band"},
        {{.n_bands = 1, .type = QFZ_U8, .weights = &weight}, "weights"},
        {{.n_bands = 1, .type = QFZ_U8, .min_mass = 2}, "a least area"},
        {{.n_bands = 1, .type = QFZ_U8, .edge_bits = true}, "cutting a saliency raster"},
        {{.n_bands = 1, .type = QFZ_U8, .edge_levels = true}, "levels of edges"},
        {{.n_bands = 1, .type = QFZ_U8, .wants_forest = true}, "the table of the hierarchy"},
        {{.n_bands = 1, .type = QFZ_F32}, "floating-point"},
    };
    for (int m = 0; m < QFZ_N_LABELING_METHODS; m++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            refused(names[m], &cases[i].rule, QFZ_COMPONENTS, cases[i].reason,
                    "leave --method out");
        const qfz_rule with_omega = {.n_bands = 1, .type = QFZ_U8, .omega = &omega};
        refused(names[m], &with_omega, QFZ_OMEGA, "(alpha, omega)", "leave --method out");
    }
}

/* Trees stand on levels of any origin, except those of a raster of edges. */
static void trees_take_all_pixels(void **state)
{
    (void)state;
    static const qfz_kind kinds[] = {QFZ_TREE, QFZ_LEVELS, QFZ_OMEGA};
    const qfz_rule taken = {.n_bands = 3, .type = QFZ_F32, .alpha_level = 9, .min_mass = 2};
    const qfz_rule edges = {.n_bands = 1, .type = QFZ_U8, .edge_levels = true};
    for (int m = QFZ_METHOD_CONNECT_V1; m <= QFZ_METHOD_CONNECT_V2; m++)
        for (int k = 0; k < 3; k++) {
            qfz_method method = QFZ_N_METHODS;
            qfz_error err = {.status = QFZ_OK};
            assert_int_equal(qfz_method_find(names[m], &taken, kinds[k], &method, &err), QFZ_OK);
            assert_int_equal(method, m);
            refused(names[m], &edges, kinds[k], "levels of edges", "leave --method out");
        }
}

static void other_work_is_refused(void **state)
{
    (void)state;
    const qfz_rule rule = rule_of(QFZ_U8, 4);
    refused("connect-v1", &rule, QFZ_COMPONENTS, "builds alpha-trees",
            "one of stava, c2fl, ha4, ha4-32,");
    refused("ha4", &rule, QFZ_TREE, "labels equal values", "one of connect-v1, connect-v2,");
    refused("ha4", &rule, QFZ_LEVELS, "saliency", "one of connect-v1, connect-v2,");
    refused("ha4", &rule, QFZ_OMEGA, "(alpha, omega)", "one of connect-v1, connect-v2,");
    refused("stava", &rule, QFZ_JOINS, "no published method makes a curve", "leave --method out");
    refused("ha5", &rule, QFZ_COMPONENTS, "there is no method", "ha5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(rules_of_other_papers_are_refused),
        cmocka_unit_test(trees_take_all_pixels),
        cmocka_unit_test(other_work_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
