/* SPDX-License-Identifier: MIT */
/* test_histogram.c - counts of levels equal those of a sorted list; bins depend on the levels
 * alone, and sums up to a bin's name are exact also where levels share bins. */
#include "small.h"

#include <string.h>

#include "core/histogram.h"

enum { MOST = 3 * QFZ_HISTOGRAM_BINS };

static qfz_rule rule_of(qfz_type type)
{
    return (qfz_rule){.connectivity = 4, .distance = QFZ_LINF, .type = type, .n_bands = 1};
}

static int by_value(const void *a, const void *b)
{
    const uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
    return (p > q) - (p < q);
}

/* Checks that each bin's sum so far is the number of sorted levels up to the bin's name. */
static void sums_are_exact(const qfz_histogram *h, const uint32_t *sorted, int64_t n)
{
    uint32_t *level;
    uint64_t *count, sum = 0;
    int64_t n_bins, at = 0;
    qfz_error err = {.status = QFZ_OK};
    assert_int_equal(qfz_histogram_list(h, &level, &count, &n_bins, &err), QFZ_OK);
    for (int64_t i = 0; i < n_bins; i++) {
        assert_true(i == 0 || level[i] > level[i - 1]);
        assert_true(count[i] > 0);
        sum += count[i];
        while (at < n && sorted[at] <= level[i])
            at++;
        assert_int_equal(sum, at);
    }
    assert_int_equal(sum, n);
    free(level);
    free(count);
}

/* The levels in two orders, whole, and as two packed halves, give the same words. */
static void bins_are_the_same(const qfz_rule *rule, const uint32_t *levels, int64_t n)
{
    qfz_histogram parts[2], whole, sum;
    uint32_t *words[2];
    int64_t n_words[2];
    qfz_error err = {.status = QFZ_OK};
    assert_int_equal(qfz_histogram_init(&whole, rule, &err), QFZ_OK);
    assert_int_equal(qfz_histogram_init(&sum, rule, &err), QFZ_OK);
    for (int p = 0; p < 2; p++)
        assert_int_equal(qfz_histogram_init(&parts[p], rule, &err), QFZ_OK);
    qfz_histogram_add(&whole, levels[0], 1);
    qfz_histogram_clear(&whole);
    for (int64_t i = 0; i < n; i++) {
        qfz_histogram_add(&whole, levels[n - 1 - i], 1);
        qfz_histogram_add(&parts[i % 7 == 0], levels[i], 1);
    }
    assert_int_equal(qfz_histogram_pack(&parts[0], &words[0], &n_words[0], &err), QFZ_OK);
    assert_int_equal(qfz_histogram_add_packed(&sum, words[0], n_words[0], &err), QFZ_OK);
    free(words[0]);
    qfz_histogram_add_all(&sum, &parts[1]);
    assert_int_equal(qfz_histogram_pack(&whole, &words[0], &n_words[0], &err), QFZ_OK);
    assert_int_equal(qfz_histogram_pack(&sum, &words[1], &n_words[1], &err), QFZ_OK);
    assert_int_equal(n_words[0], n_words[1]);
    assert_memory_equal(words[0], words[1], (size_t)n_words[0] * sizeof *words[0]);
    for (int p = 0; p < 2; p++) {
        free(words[p]);
        qfz_histogram_fini(&parts[p]);
    }
    qfz_histogram_fini(&whole);
    qfz_histogram_fini(&sum);
}

static void counts(qfz_type type, uint32_t step, int64_t n, bool is_exact)
{
    const qfz_rule rule = rule_of(type);
    qfz_histogram h;
    qfz_error err = {.status = QFZ_OK};
    uint64_t state = 88172645463325252u + step;
    uint32_t max_level, *const levels = room((size_t)n, sizeof *levels);
    assert_int_equal(qfz_max_level(&rule, &max_level, &err), QFZ_OK);
    for (int64_t i = 0; i < n; i++)
        levels[i] = (uint32_t)(random_next(&state) % ((uint64_t)max_level + 1)) / step * step;
    levels[n - 1] = max_level;
    assert_int_equal(qfz_histogram_init(&h, &rule, &err), QFZ_OK);
    for (int64_t i = 0; i < n; i++)
        qfz_histogram_add(&h, levels[i], 1);
    assert_int_equal(h.shift == 0, is_exact);
    assert_true(h.n_bins <= QFZ_HISTOGRAM_BINS);
    bins_are_the_same(&rule, levels, n);
    qsort(levels, (size_t)n, sizeof *levels, by_value);
    sums_are_exact(&h, levels, n);
    qfz_histogram_fini(&h);
    free(levels);
}

static void few_levels_have_a_bin_each(void **state)
{
    (void)state;
    counts(QFZ_U8, 1, 5000, true);
    counts(QFZ_U16, 1, 100000, true);
    counts(QFZ_U32, 1, 1000, true);
    counts(QFZ_F32, 1, 1000, true);
    counts(QFZ_F32, 1 << 13, MOST, true);
}

static void many_levels_share_bins(void **state)
{
    (void)state;
    counts(QFZ_U32, 1, MOST, false);
    counts(QFZ_F32, 1, MOST, false);
    counts(QFZ_I32, 3, QFZ_HISTOGRAM_BINS + 1000, false);
}

static void damaged_words_are_refused(void **state)
{
    (void)state;
    const qfz_rule rule = rule_of(QFZ_U8);
    const uint32_t none[] = {0}, short_of_one[] = {0, 1, 3, 1}, too_high[] = {0, 1, 256, 1, 0},
                   good[] = {0, 1, 255, 1, 0};
    qfz_histogram h;
    qfz_error err = {.status = QFZ_OK};
    assert_int_equal(qfz_histogram_init(&h, &rule, &err), QFZ_OK);
    assert_int_equal(qfz_histogram_add_packed(&h, none, 1, &err), QFZ_EIO);
    assert_int_equal(qfz_histogram_add_packed(&h, short_of_one, 4, &err), QFZ_EIO);
    assert_int_equal(qfz_histogram_add_packed(&h, too_high, 5, &err), QFZ_EIO);
    assert_int_equal(qfz_histogram_add_packed(&h, good, 5, &err), QFZ_OK);
    assert_int_equal(h.dense[255], 1);
    qfz_histogram_fini(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_levels_have_a_bin_each),
        cmocka_unit_test(many_levels_share_bins),
        cmocka_unit_test(damaged_words_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
