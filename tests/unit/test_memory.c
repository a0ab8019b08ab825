/* SPDX-License-Identifier: MIT */
/* test_memory.c - sizes that overflow are refused; large pages are used for memory that fills
 * one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <malloc.h>

#include "core/memory.h"

static void refuses_sizes_that_overflow(void **state)
{
    (void)state;
    void *p = NULL;
    qfz_error err = {.status = QFZ_OK};
    assert_int_equal(qfz_alloc(&p, INT64_MAX, 16, &err), QFZ_ENOMEM);
    assert_int_equal(qfz_alloc_large(&p, INT64_MAX, 16, &err), QFZ_ENOMEM);
    assert_int_equal(qfz_alloc_large(&p, -1, 1, &err), QFZ_ENOMEM);
    assert_null(p);
}

static void takes_large_pages_for_what_fills_some(void **state)
{
    (void)state;
    static const int64_t sizes[] = {QFZ_LARGE_PAGE, 5 * QFZ_LARGE_PAGE + 17,
                                    16 * QFZ_LARGE_PAGE - 1};
    qfz_error err = {.status = QFZ_OK};
    for (int i = 0; i < 3; i++) {
        char *p = NULL;
        assert_int_equal(QFZ_NEW_LARGE(&p, sizes[i], &err), QFZ_OK);
        assert_int_equal((uintptr_t)p % QFZ_LARGE_PAGE, 0);
        memset(p, 1, (size_t)sizes[i]);
        free(p);
    }
}

static void grows_from_nothing(void **state)
{
    (void)state;
    qfz_error err = {.status = QFZ_OK};
    char *p = NULL;
    assert_int_equal(qfz_realloc((void **)&p, 3 * QFZ_LARGE_PAGE, 1, &err), QFZ_OK);
    assert_int_equal((uintptr_t)p % QFZ_LARGE_PAGE, 0);
    memset(p, 7, 3 * QFZ_LARGE_PAGE);
    assert_int_equal(qfz_realloc((void **)&p, 20 * QFZ_LARGE_PAGE, 1, &err), QFZ_OK);
    assert_int_equal(p[0], 7);
    assert_int_equal(p[3 * QFZ_LARGE_PAGE - 1], 7);
    free(p);
}

static void rounds_nothing_up(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 4096, QFZ_LARGE_PAGE - 1, 3 * QFZ_LARGE_PAGE + 1};
    qfz_error err = {.status = QFZ_OK};
    for (int i = 0; i < 5; i++) {
        char *p = NULL;
        assert_int_equal(QFZ_NEW_LARGE(&p, sizes[i], &err), QFZ_OK);
        assert_non_null(p);
        assert_true((int64_t)malloc_usable_size(p) < sizes[i] + 2 * 4096);
        free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_sizes_that_overflow),
        cmocka_unit_test(takes_large_pages_for_what_fills_some),
        cmocka_unit_test(grows_from_nothing),
        cmocka_unit_test(rounds_nothing_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
