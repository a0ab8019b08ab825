/* SPDX-License-Identifier: MIT */
/* test_gather.c - records with keys come out in order and added up, whatever the memory. */
#include "small.h"

#include <string.h>

#include "core/position.h"
#include "regions/gather.h"

enum { KEYS = 40, PUTS = 3000, THREADS = 3 };

/* A record: two words of key, a count, a sum. */
static void add(void *arg, uint64_t *into, const uint64_t *more)
{
    (void)arg;
    into[2] += more[2];
    into[3] += more[3];
}

static void put(qfz_gather *gather, int thread, const uint64_t *key, uint64_t value)
{
    uint64_t *record;
    bool is_new;
    qfz_error err = {0};
    assert_int_equal(qfz_gather_find(gather, thread, key, &record, &is_new, &err), QFZ_OK);
    if (is_new) assert_true(record[2] == 0 && record[3] == 0);
    assert_true(record[0] == key[0] && record[1] == key[1]);
    record[2]++;
    record[3] += value;
}

/* Words of keys that differ in low and in high bytes, both ends included. */
static uint64_t word_of(uint64_t i)
{
    static const uint64_t steps[] = {0, UINT64_MAX, UINT64_C(1) << 63, 256};
    return i < 4 ? steps[i] : i * (i % 2 ? 1 : UINT64_C(0x0101010101010101));
}

/* Reads one record at a time, or several. */
typedef struct reading {
    qfz_gather *gather;
    bool takes_some;
    qfz_gather_some some;
    int64_t at, n_taken;
} reading;

static const uint64_t *next(reading *r)
{
    const uint64_t *record = NULL;
    bool more = true;
    qfz_error err = {0};
    if (!r->takes_some) {
        assert_int_equal(qfz_gather_next(r->gather, &record, &err), QFZ_OK);
        return record;
    }
    for (; r->at == r->some.n; r->n_taken++, r->at = 0) {
        assert_int_equal(qfz_gather_take(r->gather, &r->some, &more, &err), QFZ_OK);
        if (!more) break;
        assert_true(r->some.number == r->n_taken && r->some.part <= 1);
    }
    if (more) return r->some.records + 4 * r->at++;
    assert_true(r->n_taken == 0 || r->some.part == 1);
    qfz_gather_some_fini(&r->some);
    return NULL;
}

static void compare(uint64_t seed, int64_t bytes, bool takes_some)
{
    static uint64_t counts[KEYS][KEYS], sums[KEYS][KEYS];
    const qfz_gather_format format = {.words = 4, .key_words = 2, .add = add};
    const uint64_t *record, *before = NULL;
    uint64_t last[2] = {0, 0}, state = seed;
    qfz_gather *gather = NULL;
    qfz_error err = {0};
    int n = 0, n_keys = 0;
    int64_t counted = 0;
    memset(counts, 0, sizeof counts);
    memset(sums, 0, sizeof sums);
    assert_int_equal(qfz_gather_open(&gather, &format, THREADS, bytes, "/tmp", &err), QFZ_OK);
    for (int i = 0; i < PUTS; i++) {
        const int a = random_below(&state, KEYS), b = random_below(&state, KEYS);
        const uint64_t key[2] = {word_of((uint64_t)a), word_of((uint64_t)b)};
        const uint64_t value = random_next(&state);
        const int thread = random_below(&state, THREADS);
        const uint64_t whole[4] = {key[0], key[1], 1, value};
        if (i % 2)
            put(gather, thread, key, value);
        else
            assert_int_equal(qfz_gather_put(gather, thread, whole, &err), QFZ_OK);
        n_keys += counts[a][b]++ == 0;
        sums[a][b] += value;
    }
    assert_int_equal(qfz_gather_begin_reading(gather, &err), QFZ_OK);
    if (seed % 4 != 0) {
        assert_int_equal(qfz_gather_count(gather, &counted, &err), QFZ_OK);
        assert_int_equal(counted, n_keys);
        assert_true(qfz_gather_part(gather) == 0);
    }
    reading r = {.gather = gather, .takes_some = takes_some};
    for (; (record = next(&r)) != NULL; n++) {
        if (before)
            assert_true(last[0] < record[0] || (last[0] == record[0] && last[1] < record[1]));
        memcpy(last, record, sizeof last);
        before = last;
        int a = 0, b = 0;
        while (word_of((uint64_t)a) != record[0])
            a++;
        while (word_of((uint64_t)b) != record[1])
            b++;
        assert_true(record[2] == counts[a][b] && record[3] == sums[a][b]);
    }
    assert_int_equal(n, n_keys);
    if (!takes_some) assert_true(qfz_gather_part(gather) == 1);
    qfz_gather_close(gather);
}

static void memory_changes_nothing(void **state)
{
    (void)state;
    /* All in memory; runs merged at once; the least memory, in several rounds. */
    static const int64_t bytes[] = {1 << 20, 3 << 14, 1 << 18, 1};
    for (uint64_t i = 0; i < 8; i++)
        for (int takes_some = 0; takes_some < 2; takes_some++)
            compare(i + 7, bytes[i % 4], takes_some);
}

/* Key number i. */
static void set_key(uint64_t i, uint64_t key[2])
{
    key[0] = i % 3;
    key[1] = qfz_mix64(i);
}

/* So many records that threads merge pieces of them, and each key in several tables. */
static void many_records_in_pieces(void **state)
{
    (void)state;
    enum { N = 40000 };
    static uint64_t counts[N], sums[N];
    const qfz_gather_format format = {.words = 4, .key_words = 2, .add = add};
    const uint64_t *record;
    uint64_t last[2] = {0, 0}, seed = 5;
    qfz_gather *gather = NULL;
    qfz_error err = {0};
    int64_t n = 0, n_keys = 0;
    assert_int_equal(qfz_gather_open(&gather, &format, THREADS, 1 << 24, "/tmp", &err), QFZ_OK);
    for (int i = 0; i < 3 * N; i++) {
        const uint64_t number = random_next(&seed) % N, value = random_next(&seed);
        uint64_t key[2];
        set_key(number, key);
        put(gather, i % THREADS, key, value);
        n_keys += counts[number]++ == 0;
        sums[number] += value;
    }
    assert_int_equal(qfz_gather_begin_reading(gather, &err), QFZ_OK);
    reading r = {.gather = gather, .takes_some = true};
    for (; (record = next(&r)) != NULL; n++) {
        const uint64_t number = qfz_unmix64(record[1]);
        assert_true(number < N && record[0] == number % 3);
        assert_true(n == 0 || last[0] < record[0] || (last[0] == record[0] && last[1] < record[1]));
        memcpy(last, record, sizeof last);
        assert_true(record[2] == counts[number] && record[3] == sums[number]);
    }
    assert_int_equal(n, n_keys);
    assert_true(r.n_taken > 2);
    qfz_gather_close(gather);
}

/* All tables have the same few keys: some pieces are empty. */
static void the_same_keys_in_all_tables(void **state)
{
    (void)state;
    enum { TABLES = 40, N = 1100 };
    const qfz_gather_format format = {.words = 4, .key_words = 2, .add = add};
    const uint64_t *record;
    qfz_gather *gather = NULL;
    qfz_error err = {0};
    uint64_t n = 0;
    assert_int_equal(qfz_gather_open(&gather, &format, TABLES, 1 << 24, "/tmp", &err), QFZ_OK);
    for (uint64_t i = 0; i < TABLES * N; i++) {
        const uint64_t key[2] = {7, i / TABLES};
        put(gather, (int)(i % TABLES), key, i);
    }
    assert_int_equal(qfz_gather_begin_reading(gather, &err), QFZ_OK);
    for (reading r = {.gather = gather, .takes_some = true}; (record = next(&r)) != NULL; n++)
        assert_true(record[1] == n && record[2] == TABLES);
    assert_int_equal(n, N);
    qfz_gather_close(gather);
}

/* Without add(): all keys differ, in memory or outside. */
static void keys_that_all_differ(void **state)
{
    (void)state;
    enum { N = 30000 };
    static const int64_t bytes[] = {1 << 24, 1 << 18, 1};
    const qfz_gather_format format = {.words = 4, .key_words = 2};
    for (int i = 0; i < 6; i++) {
        reading r = {.takes_some = i % 2 == 1};
        const uint64_t *record;
        uint64_t last[2] = {0, 0};
        bool seen[N] = {false};
        qfz_error err = {0};
        int64_t n = 0;
        assert_int_equal(qfz_gather_open(&r.gather, &format, THREADS, bytes[i / 2], "/tmp", &err),
                         QFZ_OK);
        for (uint64_t k = 0; k < N; k++) {
            uint64_t whole[4] = {0, 0, k, ~k};
            set_key(k, whole);
            assert_int_equal(qfz_gather_put(r.gather, (int)(k % THREADS), whole, &err), QFZ_OK);
        }
        assert_int_equal(qfz_gather_begin_reading(r.gather, &err), QFZ_OK);
        for (; (record = next(&r)) != NULL; n++) {
            assert_true(record[2] < N && record[3] == ~record[2] && !seen[record[2]]);
            assert_true(record[0] == record[2] % 3 && record[1] == qfz_mix64(record[2]));
            assert_true(n == 0 || last[0] < record[0] ||
                        (last[0] == record[0] && last[1] < record[1]));
            memcpy(last, record, sizeof last);
            seen[record[2]] = true;
        }
        assert_int_equal(n, N);
        qfz_gather_close(r.gather);
    }
}

static void nothing_gathered(void **state)
{
    (void)state;
    const qfz_gather_format format = {.words = 4, .key_words = 2, .add = add};
    const uint64_t *record;
    qfz_gather *gather = NULL;
    qfz_error err = {0};
    int64_t n = 1;
    assert_int_equal(qfz_gather_open(&gather, &format, 2, 1 << 16, "/tmp", &err), QFZ_OK);
    assert_int_equal(qfz_gather_begin_reading(gather, &err), QFZ_OK);
    assert_int_equal(qfz_gather_count(gather, &n, &err), QFZ_OK);
    assert_int_equal(n, 0);
    assert_int_equal(qfz_gather_next(gather, &record, &err), QFZ_OK);
    assert_null(record);
    reading r = {.gather = gather, .takes_some = true};
    assert_null(next(&r));
    qfz_gather_close(gather);
}

static void a_missing_folder_is_named(void **state)
{
    (void)state;
    const qfz_gather_format format = {.words = 4, .key_words = 2, .add = add};
    qfz_gather *gather = NULL;
    qfz_error err = {0};
    qfz_status st = qfz_gather_open(&gather, &format, 1, 1, "/nowhere/at/all", &err);
    for (uint64_t i = 0; i < 100 && st == QFZ_OK; i++) {
        const uint64_t key[2] = {i, i};
        uint64_t *record;
        bool is_new;
        st = qfz_gather_find(gather, 0, key, &record, &is_new, &err);
    }
    assert_int_equal(st, QFZ_EIO);
    assert_non_null(strstr(err.message, "/nowhere/at/all"));
    qfz_gather_close(gather);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_changes_nothing),
        cmocka_unit_test(many_records_in_pieces),
        cmocka_unit_test(the_same_keys_in_all_tables),
        cmocka_unit_test(keys_that_all_differ),
        cmocka_unit_test(nothing_gathered),
        cmocka_unit_test(a_missing_folder_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
