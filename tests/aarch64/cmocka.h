/* SPDX-License-Identifier: MIT */
/* cmocka.h - the few names of cmocka that the unit tests use, in place of the library, for a
 * processor that the library is not installed for (tools/test-aarch64.sh).  A failed assertion ends
 * the program. */
#ifndef QFZ_TESTS_CMOCKA_H
#define QFZ_TESTS_CMOCKA_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define cmocka_unit_test(function)                                                                 \
    {                                                                                              \
#function, function                                                                        \
    }
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    cmocka_run(tests, sizeof(tests) / sizeof *(tests))

static inline int cmocka_run(const struct CMUnitTest *tests, size_t n)
{
    void *state = NULL;
    for (size_t i = 0; i < n; i++) {
        tests[i].run(&state);
        printf("%s: passed\n", tests[i].name);
    }
    return 0;
}

#define fail_msg(...)                                                                              \
    (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), fprintf(stderr, __VA_ARGS__),                 \
     fprintf(stderr, "\n"), exit(1))

#define assert_true(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) fail_msg("failed: %s", #condition);                                      \
    } while (0)
#define assert_non_null(pointer) assert_true((pointer) != NULL)
#define assert_int_equal(a, b) assert_true((a) == (b))
#define assert_in_range(value, least, most) assert_true((value) >= (least) && (value) <= (most))
#define assert_memory_equal(a, b, bytes) assert_true(memcmp((a), (b), (bytes)) == 0)

#endif
