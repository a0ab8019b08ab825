/* SPDX-License-Identifier: MIT */
/* test_progress_log.c - what a batch job writes of its progress, by a clock that the test turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress_log.h"

enum { WALL = 1795252620 }; /* 2026-11-21 09:17:00 UTC */

static char line[256];

static bool line_at(pace *so_far, const char *step, int64_t tiles_done, int64_t tiles, double done,
                    double seconds)
{
    const qfz_progress state = {
        .done = done, .step = step, .tiles_done = tiles_done, .tiles = tiles};
    const double now_s = 1000 + seconds;
    if (!pace_is_due(so_far, &state, now_s)) return false;
    progress_log_text(so_far, &state, now_s, WALL + (time_t)seconds, line, sizeof line);
    return true;
}

static void writes_a_line_a_minute(void **state)
{
    (void)state;
    pace so_far = {.every_s = 60};
    int n = 0;
    for (int i = 0; i < 600; i++)
        n += line_at(&so_far, "pass 1 of 2", i, 1200, 0.0005 * i, i);
    assert_int_equal(n, 9);
}

static void says_tiles_rate_and_end(void **state)
{
    (void)state;
    pace so_far = {.every_s = 60};
    assert_false(line_at(&so_far, "pass 1 of 2", 0, 1000, 0, 0));
    assert_false(line_at(&so_far, "pass 1 of 2", 90, 1000, 0.05, 59));
    assert_true(line_at(&so_far, "pass 1 of 2", 100, 1000, 0.05, 60));
    assert_string_equal(line, "2026-11-21 09:18:00 pass 1 of 2, 100 of 1000 tiles, 1.67 tiles/s, "
                              "5.0 % of the job, end about 2026-11-21 09:37");
    assert_false(line_at(&so_far, "stitching", 0, 0, 0.5, 119));
    assert_true(line_at(&so_far, "stitching", 0, 0, 0.5, 120));
    assert_string_equal(line, "2026-11-21 09:19:00 stitching, 50.0 % of the job, end about "
                              "2026-11-21 09:21");
}

/* What an earlier run has done counts for nothing in the rate. */
static void a_resumed_run_is_as_fast_as_it_is_now(void **state)
{
    (void)state;
    pace so_far = {.every_s = 60};
    assert_false(line_at(&so_far, "pass 2 of 2", 0, 400, 0.8, 0));
    assert_true(line_at(&so_far, "pass 2 of 2", 100, 400, 0.85, 60));
    assert_string_equal(line, "2026-11-21 09:18:00 pass 2 of 2, 100 of 400 tiles, 1.67 tiles/s, "
                              "85.0 % of the job, end about 2026-11-21 09:21");
}

static void says_no_end_where_nothing_moves(void **state)
{
    (void)state;
    pace so_far = {.every_s = 60};
    assert_false(line_at(&so_far, "stitching", 0, 0, 0.4, 0));
    assert_true(line_at(&so_far, "stitching", 0, 0, 0.4, 300));
    assert_string_equal(line, "2026-11-21 09:22:00 stitching, 40.0 % of the job");
}

/* The same facts as members of an object on one line. */
static void writes_json(void **state)
{
    (void)state;
    pace so_far = {.every_s = 60};
    char *text = NULL;
    size_t size = 0;
    const qfz_progress before = {.done = 0, .step = "pass 1 of 2", .tiles = 1000};
    const qfz_progress now = {
        .done = 0.05, .step = "pass 1 of 2", .tiles_done = 120, .tiles = 1000, .retries = 2};
    FILE *const out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_false(pace_is_due(&so_far, &before, 1000));
    assert_true(pace_is_due(&so_far, &now, 1060));
    json to = json_line_to(out);
    json_open(&to, NULL, '{');
    json_time(&to, "time", WALL + 60);
    progress_log_json(&so_far, &now, 1060, WALL + 60, &to);
    json_close(&to, '}');
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "{\"time\": \"2026-11-21T09:18:00Z\", \"step\": \"pass 1 of 2\", "
                              "\"tiles_done\": 120, \"tiles\": 1000, \"tiles_per_second\": 2, "
                              "\"done\": 0.05, \"retries\": 2, "
                              "\"expected_end\": \"2026-11-21T09:37:00Z\"}\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_a_line_a_minute),
        cmocka_unit_test(says_tiles_rate_and_end),
        cmocka_unit_test(a_resumed_run_is_as_fast_as_it_is_now),
        cmocka_unit_test(says_no_end_where_nothing_moves),
        cmocka_unit_test(writes_json),
    };
    (void)setenv("TZ", "UTC", 1);
    tzset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
