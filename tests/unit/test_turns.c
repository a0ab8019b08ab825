/* SPDX-License-Identifier: MIT */
/* test_turns.c - threads take turns in the order of their parts, and none waits after a failure. */
#include "small.h"

#include "core/parallel.h"
#include "core/turns.h"

enum { THREADS = 4, PARTS = 2000, FAILS = 1234 };

typedef struct board {
    qfz_turns turns;
    bool fails;
    int64_t n;
    int64_t order[PARTS];
} board;

static qfz_status take_turn(void *arg, int64_t part, int thread, qfz_error *err)
{
    board *const b = arg;
    (void)thread;
    if (b->fails && part == FAILS) {
        qfz_turns_end(&b->turns, false);
        return qfz_fail(err, QFZ_EIO, "part %d", FAILS);
    }
    if (!qfz_turns_wait(&b->turns, part)) return QFZ_OK;
    b->order[b->n++] = part;
    qfz_turns_end(&b->turns, true);
    return QFZ_OK;
}

static void parts_come_in_order(void **state)
{
    (void)state;
    board b = {.n = 0};
    qfz_error err = {0};
    qfz_turns_init(&b.turns);
    assert_int_equal(qfz_parallel_for_once(THREADS, PARTS, take_turn, &b, &err), QFZ_OK);
    assert_int_equal(b.n, PARTS);
    for (int64_t i = 0; i < b.n; i++)
        assert_int_equal(b.order[i], i);
    qfz_turns_fini(&b.turns);
}

static void a_failure_ends_all_waiting(void **state)
{
    (void)state;
    board b = {.fails = true};
    qfz_error err = {0};
    qfz_turns_init(&b.turns);
    assert_int_equal(qfz_parallel_for_once(THREADS, PARTS, take_turn, &b, &err), QFZ_EIO);
    assert_string_equal(err.message, "part 1234");
    assert_true(b.n <= FAILS);
    for (int64_t i = 0; i < b.n; i++)
        assert_int_equal(b.order[i], i);
    qfz_turns_fini(&b.turns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_come_in_order),
        cmocka_unit_test(a_failure_ends_all_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
