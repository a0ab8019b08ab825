/* SPDX-License-Identifier: MIT */
/* test_thin.c - removed range events are redundant: up to every level, a pixel has taken in the
 * same range of values. */
#include "stitch/thin.h"

#include "check.h"

#include <string.h>

enum { RING = 8, EVENTS = 60, LEVELS = 6, BANDS = 2, VALUES = 40 };

typedef struct range {
    uint8_t lo[BANDS], hi[BANDS];
} range;

static const qfz_rule rule = {
    .connectivity = 4, .distance = QFZ_L1, .type = QFZ_U8, .n_bands = BANDS};

static void must(bool holds)
{
    if (holds) return;
    printf("the test itself failed\n");
    abort();
}

/* A ring of random values, and events in order of their levels. */
static void fill(qfz_summary *summary)
{
    const qfz_box box = {.y0 = 0, .x0 = 0, .y1 = 2, .x1 = RING / 2};
    const int n = (int)check_pick(EVENTS + 1);
    qfz_error err;
    must(qfz_summary_init(summary, box, &rule, &err) == QFZ_OK && summary->n_ring == RING);
    must(qfz_ranges_reserve(&summary->ranges, n, &rule, &err) == QFZ_OK);
    for (int i = 0; i < RING * BANDS; i++)
        ((uint8_t *)summary->values)[i] = (uint8_t)check_pick(VALUES);
    memset(summary->valid, 1, RING);
    uint32_t level = 0;
    for (int i = 0; i < n; i++) {
        if (check_chance(100 * LEVELS / EVENTS)) level++;
        summary->ranges.at[i] = (uint32_t)check_pick(RING);
        summary->ranges.level[i] = level;
        for (int b = 0; b < BANDS; b++) {
            uint8_t *const lo = (uint8_t *)summary->ranges.lo + i * BANDS + b;
            uint8_t *const hi = (uint8_t *)summary->ranges.hi + i * BANDS + b;
            *lo = (uint8_t)check_pick(VALUES);
            *hi = (uint8_t)(*lo + check_pick(VALUES));
        }
    }
    summary->ranges.n = n;
}

/* The range of ring pixel `at` with all its events up to a level. */
static range taken(const qfz_summary *summary, const qfz_ranges *events, uint32_t at,
                   uint32_t level)
{
    range r;
    for (int b = 0; b < BANDS; b++)
        r.lo[b] = r.hi[b] = ((uint8_t *)summary->values)[(uint32_t)b * RING + at];
    for (int64_t i = 0; i < events->n; i++) {
        if (events->at[i] != at || events->level[i] > level) continue;
        for (int b = 0; b < BANDS; b++) {
            const uint8_t lo = ((uint8_t *)events->lo)[i * BANDS + b];
            const uint8_t hi = ((uint8_t *)events->hi)[i * BANDS + b];
            if (lo < r.lo[b]) r.lo[b] = lo;
            if (hi > r.hi[b]) r.hi[b] = hi;
        }
    }
    return r;
}

static int64_t events_of(const qfz_ranges *events, uint32_t at, uint32_t level)
{
    int64_t n = 0;
    for (int64_t i = 0; i < events->n; i++)
        n += events->at[i] == at && events->level[i] == level;
    return n;
}

static void one_case(int64_t number)
{
    qfz_summary summary;
    qfz_ranges thin = {0};
    qfz_error err = {0};
    check_case(number, "random events");
    fill(&summary);
    CHECK(qfz_thin_ranges(&summary, &rule, &thin, &err) == QFZ_OK, "%s", err.message);
    CHECK(thin.n <= summary.ranges.n, "%" PRId64 " of %" PRId64 " events", thin.n,
          summary.ranges.n);
    for (int64_t i = 1; i < thin.n; i++)
        CHECK(thin.level[i - 1] <= thin.level[i], "event %" PRId64 " is out of order", i);
    for (uint32_t at = 0; at < RING; at++)
        for (uint32_t level = 0; level < EVENTS; level++) {
            const range before = taken(&summary, &summary.ranges, at, level);
            const range after = taken(&summary, &thin, at, level);
            CHECK(memcmp(&before, &after, sizeof before) == 0, "pixel %u, level %u", at, level);
            CHECK(events_of(&thin, at, level) <= 1, "pixel %u, level %u: several", at, level);
        }
    qfz_ranges_fini(&thin);
    qfz_summary_fini(&summary);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 300);
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    return check_end();
}
