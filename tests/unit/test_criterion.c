/* SPDX-License-Identifier: MIT */
/* test_criterion.c - omega as the engines get it: one value per band, or none if no two values of
 * the type exceed it.  Summaries of simplify with an omega as large as the type's range had range
 * events, which no component could break by. */
#include "small.h"

#include <math.h>

#include "core/criterion.h"

enum { BANDS = 3 };

static double *spread(const double *omega, int n, qfz_type type)
{
    const qfz_criterion criterion = {.connectivity = 4, .omega = omega, .n_omega = n};
    qfz_error err = {.status = QFZ_OK};
    double *found = NULL;
    assert_int_equal(qfz_criterion_spread_omega(&criterion, type, BANDS, &found, &err), QFZ_OK);
    return found;
}

static void one_value_is_for_every_band(void **state)
{
    (void)state;
    const double omega = 7.5;
    double *const found = spread(&omega, 1, QFZ_F32);
    assert_non_null(found);
    for (int b = 0; b < BANDS; b++)
        assert_true(found[b] == omega);
    free(found);
    assert_null(spread(NULL, 0, QFZ_U8));
}

/* The largest difference of two values is no limit; half a unit less is one. */
static void a_value_that_nothing_exceeds_is_none(void **state)
{
    (void)state;
    static const double widest[] = {
        [QFZ_U8] = 255,          [QFZ_I8] = 255,          [QFZ_U16] = 65535,   [QFZ_I16] = 65535,
        [QFZ_U32] = 4294967295., [QFZ_I32] = 4294967295., [QFZ_F32] = INFINITY};
    for (qfz_type type = QFZ_U8; type <= QFZ_F32; type++) {
        const double less = type == QFZ_F32 ? 1e300 : widest[type] - 0.5;
        assert_null(spread(&widest[type], 1, type));
        double *const found = spread(&less, 1, type);
        assert_non_null(found);
        free(found);
    }
}

static void one_band_with_a_limit_is_enough(void **state)
{
    (void)state;
    const double omega[BANDS] = {300, 255, 254};
    double *const found = spread(omega, BANDS, QFZ_U8);
    assert_non_null(found);
    for (int b = 0; b < BANDS; b++)
        assert_true(found[b] == omega[b]);
    free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_value_is_for_every_band),
        cmocka_unit_test(a_value_that_nothing_exceeds_is_none),
        cmocka_unit_test(one_band_with_a_limit_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
