/* SPDX-License-Identifier: MIT */
/* test_tally.c - neighbours, values and borders of regions, gathered from tiles in several orders
 * and with little memory, against loops over all pixels. */
#include "small.h"

#include <string.h>

#include "regions/regions.h"

enum { SIDE = 37, LABELS = 60, VALUES = 5, THREADS = 3 };

typedef struct scene {
    uint64_t labels[SIDE * SIDE];
    int16_t values[SIDE * SIDE];
    uint8_t valid[SIDE * SIDE];
} scene;

static void make(scene *s, uint64_t *state)
{
    for (int i = 0; i < SIDE * SIDE; i++) {
        const bool repeats = i > 0 && random_below(state, 2);
        s->labels[i] = repeats ? s->labels[i - 1] : (uint64_t)random_below(state, LABELS);
        s->values[i] = (int16_t)(random_below(state, VALUES) - 2);
        s->valid[i] = random_below(state, 8) > 0;
    }
}

static uint64_t label_at(const scene *s, int y, int x)
{
    return y < 0 || x < 0 || y == SIDE || x == SIDE ? 0 : s->labels[y * SIDE + x];
}

/* The sides of all pixels of a region, and its neighbours. */
static qfz_zone_border look_around(const scene *s, uint64_t label, uint64_t *n_neighbours)
{
    static const int steps[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    bool is_beside[LABELS] = {false};
    qfz_zone_border border = {0};
    for (int i = 0; i < 4 * SIDE * SIDE; i++) {
        const int y = i / 4 / SIDE, x = i / 4 % SIDE, *const step = steps[i % 4];
        const uint64_t other = label_at(s, y + step[0], x + step[1]);
        if (label_at(s, y, x) != label || other == label) continue;
        is_beside[other] = true;
        border.sides++;
        if (i % 4 < 2)
            border.length_below += (uint64_t)(step[0] < 0 ? y : y + 1) + 10;
        else
            border.length_right += (uint64_t)y + 1000;
    }
    *n_neighbours = 0;
    for (int other = 1; other < LABELS; other++)
        *n_neighbours += is_beside[other];
    return border;
}

static qfz_tally_mode find_mode(const scene *s, uint64_t label)
{
    uint64_t counts[VALUES] = {0};
    qfz_tally_mode mode = {.n_minority = UINT64_MAX};
    for (int i = 0; i < SIDE * SIDE; i++)
        if (s->labels[i] == label && s->valid[i]) counts[s->values[i] + 2]++;
    for (int v = 0; v < VALUES; v++) {
        mode.n += counts[v];
        if (counts[v] > mode.n_majority) {
            mode.n_majority = counts[v];
            mode.majority = v - 2;
        }
        if (counts[v] > 0 && counts[v] < mode.n_minority) {
            mode.n_minority = counts[v];
            mode.minority = v - 2;
        }
    }
    return mode.n > 0 ? mode : (qfz_tally_mode){0};
}

typedef struct gathered {
    qfz_zones *zones;
    qfz_tally *neighbours, *values;
} gathered;

/* Weights: of sides between rows y - 1 and y, y + 10; of sides in row y, y + 1000. */
static void add_tile(const gathered *g, const scene *s, qfz_box box, int thread)
{
    static const uint64_t areas[SIDE];
    uint64_t labels[(SIDE + 1) * (SIDE + 1)], lengths[2 * SIDE + 2];
    int16_t values[(SIDE + 1) * (SIDE + 1)];
    uint8_t valid[(SIDE + 1) * (SIDE + 1)];
    const int64_t y1 = box.y1 < SIDE ? box.y1 + 1 : SIDE, x1 = box.x1 < SIDE ? box.x1 + 1 : SIDE;
    const qfz_label_tile tile = {.box = box, .h = y1 - box.y0, .w = x1 - box.x0, .labels = labels};
    const qfz_image image = {
        .h = tile.h, .w = tile.w, .n_bands = 1, .type = QFZ_I16, .pixels = values, .valid = valid};
    qfz_error err = {0};
    for (int64_t i = 0; i < tile.h * tile.w; i++) {
        const int64_t at = (box.y0 + i / tile.w) * SIDE + box.x0 + i % tile.w;
        labels[i] = s->labels[at];
        values[i] = s->values[at];
        valid[i] = s->valid[at];
    }
    for (int64_t y = box.y0 - 1; y < box.y1; y++) {
        lengths[2 * (y - box.y0 + 1)] = (uint64_t)y + 11;
        lengths[2 * (y - box.y0 + 1) + 1] = (uint64_t)y + 1000;
    }
    assert_int_equal(qfz_zones_add(g->zones, thread, &tile, areas, lengths, NULL, &err), QFZ_OK);
    assert_int_equal(qfz_tally_add_neighbours(g->neighbours, thread, &tile, &err), QFZ_OK);
    assert_int_equal(qfz_tally_add_values(g->values, thread, &tile, &image, &err), QFZ_OK);
}

static void check_region(const gathered *g, const scene *s, const qfz_record *record)
{
    const uint64_t label = record->label;
    const qfz_tally_mode mode = find_mode(s, label);
    const qfz_zone_border border = qfz_zones_border(g->zones, record);
    qfz_tally_mode found;
    uint64_t n, n_neighbours;
    qfz_error err = {0};
    int first = 0;
    const qfz_zone_border wanted = look_around(s, label, &n_neighbours);
    assert_memory_equal(&border, &wanted, sizeof border);
    while (s->labels[first] != label)
        first++;
    assert_int_equal(record->y0, first / SIDE);
    assert_int_equal(qfz_zones_first_x(record), first % SIDE);
    assert_int_equal(qfz_tally_number(g->neighbours, label, &n, &err), QFZ_OK);
    assert_int_equal(n, n_neighbours);
    assert_int_equal(qfz_tally_modes(g->values, label, QFZ_I16, 1, &found, &err), QFZ_OK);
    assert_memory_equal(&found, &mode, sizeof found);
}

static void compare(uint64_t seed, int tile, int64_t bytes)
{
    static scene s;
    gathered g = {0};
    uint64_t state = seed;
    qfz_error err = {0};
    const qfz_record *record;
    int n = 0, n_labels = 0;
    make(&s, &state);
    assert_int_equal(qfz_zones_open(&g.zones, QFZ_U8, 0, true, THREADS, bytes, "/tmp", &err), 0);
    assert_int_equal(qfz_tally_open(&g.neighbours, THREADS, bytes, "/tmp", &err), QFZ_OK);
    assert_int_equal(qfz_tally_open(&g.values, THREADS, bytes, "/tmp", &err), QFZ_OK);
    for (int y = SIDE - 1 - (SIDE - 1) % tile; y >= 0; y -= tile)
        for (int x = 0; x < SIDE; x += tile)
            add_tile(&g, &s,
                     (qfz_box){y, x, y + tile < SIDE ? y + tile : SIDE,
                               x + tile < SIDE ? x + tile : SIDE},
                     random_below(&state, THREADS));
    assert_int_equal(qfz_zones_begin_reading(g.zones, &err), QFZ_OK);
    assert_int_equal(qfz_tally_begin_reading(g.neighbours, &err), QFZ_OK);
    assert_int_equal(qfz_tally_begin_reading(g.values, &err), QFZ_OK);
    for (;; n++) {
        assert_int_equal(qfz_zones_next(g.zones, &record, &err), QFZ_OK);
        if (!record) break;
        check_region(&g, &s, record);
    }
    for (uint64_t label = 1, i; label < LABELS; label++) {
        for (i = 0; i < SIDE * SIDE && s.labels[i] != label; i++)
            ;
        n_labels += i < SIDE * SIDE;
    }
    assert_int_equal(n, n_labels);
    qfz_zones_close(g.zones);
    qfz_tally_close(g.neighbours);
    qfz_tally_close(g.values);
}

static void any_tiles_and_memory(void **state)
{
    (void)state;
    for (int64_t bytes = 1 << 10; bytes <= 1 << 22; bytes <<= 6)
        for (int tile = 1; tile <= SIDE; tile += 6)
            compare((uint64_t)(bytes + tile), tile, bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_tiles_and_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
