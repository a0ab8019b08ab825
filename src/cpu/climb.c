/* SPDX-License-Identifier: MIT */
#include "cpu/climb.h"

#include <immintrin.h>
#include <string.h>

enum { LANES = QFZ_CLIMB_LANES, HALF = 16 };

/* Pairs have two numbers in one word, the lower one in the lower half, states the number of the
 * last hook and the pair's in the list as it was.  Two that stand at roots from the start have one
 * of these for a hook. */
static uint32_t word_of(uint32_t low, uint32_t high)
{
    return low | high << HALF;
}

static uint32_t low_half(uint32_t word)
{
    return word & UINT16_MAX;
}

static uint32_t high_half(uint32_t word)
{
    return word >> HALF;
}

void qfz_climbs_init(qfz_climbs *s, const qfz_contraction *c, const qfz_contracted_block *block,
                     const qfz_unpacked_block *unpacked, uint32_t *keys)
{
    s->c = c;
    s->block = block;
    s->up = unpacked->up;
    s->level = unpacked->level;
    s->keys = keys;
    s->by_vectors = __builtin_cpu_supports("avx2");
    s->n = 0;
    memset(s->lookups, 0xff, sizeof s->lookups);
    s->lanes_of[0] = 0;
    for (unsigned bits = 1; bits < 1 << LANES; bits++)
        s->lanes_of[bits] = s->lanes_of[bits & (bits - 1)] << 8 | (unsigned)__builtin_ctz(bits);
}

static void raise_key(uint32_t *key, uint32_t to)
{
    *key = *key > to ? *key : to;
}

/* The minimax level of what has climbed to two different roots. */
static uint32_t between_roots(qfz_climbs *s, uint32_t a, uint32_t b)
{
    const uint32_t p = qfz_contracted_vertex(s->block, a), q = qfz_contracted_vertex(s->block, b);
    if (p == QFZ_NONE || q == QFZ_NONE) return QFZ_NONE;
    qfz_lookup *const l = &s->lookups[(p + 31 * q) % QFZ_LOOKUPS];
    if (l->p != p || l->q != q) *l = (qfz_lookup){p, q, qfz_forest_minimax(&s->c->forest, p, q)};
    return l->key;
}

static void answer_apart(qfz_climbs *s, uint32_t roots, uint32_t state)
{
    uint32_t *const key = &s->keys[s->at[high_half(state)]];
    const uint32_t last = low_half(state);
    if (last < s->block->n_hooks) raise_key(key, s->level[last]);
    raise_key(key, between_roots(s, low_half(roots), high_half(roots)));
}

static void answer_each(qfz_climbs *s)
{
    for (int i = 0; i < s->n; i++) {
        uint32_t low = low_half(s->pair[i]), high = high_half(s->pair[i]), last;
        do {
            const uint32_t over = s->up[low];
            last = low;
            low = over < high ? over : high;
            high = over < high ? high : over;
        } while (low != high && low < s->block->n_hooks);
        if (low == high)
            raise_key(&s->keys[s->at[i]], s->level[last]);
        else
            answer_apart(s, word_of(low, high), word_of(last, (uint32_t)i));
    }
}

/* ---- Eight at a time. */

/* Pairs that are through: the states of those that have met, roots and states of those that have
 * not. */
typedef struct results {
    int n_met, n_apart;
    uint32_t met[QFZ_MAX_CLIMBS + LANES];
    uint32_t apart[QFZ_MAX_CLIMBS + LANES], apart_state[QFZ_MAX_CLIMBS + LANES];
} results;

__attribute__((target("avx2"))) static inline __m256i load(const uint32_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

__attribute__((target("avx2"))) static inline __m256i order_of(const qfz_climbs *s, unsigned lanes)
{
    return _mm256_cvtepu8_epi32(
        _mm_loadl_epi64((const __m128i *)(const void *)&s->lanes_of[lanes]));
}

/* Some lanes, close together, and what is behind them is of no use. */
__attribute__((target("avx2"))) static inline void store(uint32_t *to, __m256i lanes, __m256i order)
{
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_permutevar8x32_epi32(lanes, order));
}

__attribute__((target("avx2"))) static inline unsigned bits_of(__m256i lanes)
{
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(lanes));
}

/* What the lower numbers of eight pairs are hooked to: looked up one by one, as a gather is slower
 * than that. */
__attribute__((target("avx2"))) static inline __m256i over_of(const uint16_t *up,
                                                              const uint32_t *pair)
{
    __m128i first = _mm_cvtsi32_si128(up[low_half(pair[0])]);
    __m128i second = _mm_cvtsi32_si128(up[low_half(pair[4])]);
    first = _mm_insert_epi16(first, up[low_half(pair[1])], 1);
    second = _mm_insert_epi16(second, up[low_half(pair[5])], 1);
    first = _mm_insert_epi16(first, up[low_half(pair[2])], 2);
    second = _mm_insert_epi16(second, up[low_half(pair[6])], 2);
    first = _mm_insert_epi16(first, up[low_half(pair[3])], 3);
    second = _mm_insert_epi16(second, up[low_half(pair[7])], 3);
    return _mm256_cvtepu16_epi32(_mm_unpacklo_epi64(first, second));
}

/* Everybody on the list, which has n left, climbs one step; returns how many have more to climb:
 * where the lower of two is a root, so is the other. */
__attribute__((target("avx2,popcnt"))) static int step_all(qfz_climbs *s, uint32_t *state, int n,
                                                           results *out)
{
    const __m256i last_hook = _mm256_set1_epi32((int)s->block->n_hooks - 1);
    uint32_t *const pair = s->pair;
    int n_left = 0, n_met = out->n_met, n_apart = out->n_apart;
    for (int i = 0; i < n; i += LANES) {
        const unsigned all = n - i < LANES ? (1u << (n - i)) - 1 : (1u << LANES) - 1;
        const __m256i two = load(pair + i), was = load(state + i);
        const __m256i high = _mm256_srli_epi32(two, HALF), over = over_of(s->up, pair + i);
        const __m256i lower = _mm256_min_epu32(over, high);
        const unsigned met = bits_of(_mm256_cmpeq_epi32(over, high)) & all;
        const unsigned apart = bits_of(_mm256_cmpgt_epi32(lower, last_hook)) & all & ~met;
        const unsigned left = all & ~(met | apart);
        const __m256i higher = _mm256_max_epu32(over, high);
        const __m256i at = _mm256_or_si256(lower, _mm256_slli_epi32(higher, HALF));
        const __m256i now = _mm256_blend_epi16(was, two, 0x55); /* the low half has the hook */
        const __m256i left_order = order_of(s, left), apart_order = order_of(s, apart);
        store(pair + n_left, at, left_order);
        store(state + n_left, now, left_order);
        store(out->met + n_met, now, order_of(s, met));
        store(out->apart + n_apart, at, apart_order);
        store(out->apart_state + n_apart, now, apart_order);
        n_left += __builtin_popcount(left);
        n_met += __builtin_popcount(met);
        n_apart += __builtin_popcount(apart);
    }
    out->n_met = n_met;
    out->n_apart = n_apart;
    return n_left;
}

static void answer_met(const qfz_climbs *s, const results *out)
{
    uint32_t *const keys = s->keys;
    const uint32_t *const level = s->level, *const at = s->at;
    for (int i = 0; i < out->n_met; i++)
        raise_key(&keys[at[high_half(out->met[i])]], level[low_half(out->met[i])]);
}

__attribute__((target("avx2,popcnt"))) static void answer_lanes(qfz_climbs *s)
{
    uint32_t state[QFZ_MAX_CLIMBS + LANES];
    results out;
    out.n_met = out.n_apart = 0;
    memset(s->pair + s->n, 0, LANES * sizeof *s->pair); /* looked at, and of no use */
    for (int i = 0; i < s->n; i++)
        state[i] = word_of(0, (uint32_t)i);
    for (int n = s->n; n > 0;)
        n = step_all(s, state, n, &out);
    answer_met(s, &out);
    for (int i = 0; i < out.n_apart; i++)
        answer_apart(s, out.apart[i], out.apart_state[i]);
}

void qfz_climbs_exterior(qfz_climbs *s)
{
    if (s->by_vectors)
        answer_lanes(s);
    else
        answer_each(s);
    s->n = 0;
}

/* ---- The list. */

static void ask_each(qfz_climbs *s, const uint16_t *a, const uint16_t *b, const uint8_t *doubt,
                     int64_t n, uint32_t at)
{
    for (int64_t i = 0; i < n; i++) {
        s->pair[s->n] = a[i] < b[i] ? word_of(a[i], b[i]) : word_of(b[i], a[i]);
        s->at[s->n] = at + (uint32_t)i;
        s->n += doubt[i];
    }
}

__attribute__((target("avx2"))) static inline __m256i numbers_at(const uint16_t *number)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)number));
}

/* n: eight at least.  The last may be too few, and those before them are passed over. */
__attribute__((target("avx2,popcnt"))) static void ask_lanes(qfz_climbs *s, const uint16_t *a,
                                                             const uint16_t *b,
                                                             const uint8_t *doubt, int64_t n,
                                                             uint32_t at)
{
    const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    int n_listed = s->n;
    for (int64_t next = 0; next < n; next += LANES) {
        const int64_t i = next + LANES <= n ? next : n - LANES;
        const __m128i eight = _mm_loadl_epi64((const __m128i *)(const void *)(doubt + i));
        const int listed = _mm_movemask_epi8(_mm_cmpgt_epi8(eight, _mm_setzero_si128()));
        const unsigned lanes = (unsigned)listed >> (next - i) << (next - i);
        const __m256i order = order_of(s, lanes);
        const __m256i p = numbers_at(a + i), q = numbers_at(b + i);
        const __m256i low = _mm256_min_epu32(p, q), high = _mm256_max_epu32(p, q);
        const __m256i two = _mm256_or_si256(low, _mm256_slli_epi32(high, HALF));
        const __m256i first = _mm256_set1_epi32((int)(at + (uint32_t)i));
        store(s->pair + n_listed, two, order);
        store(s->at + n_listed, _mm256_add_epi32(first, places), order);
        n_listed += __builtin_popcount(lanes);
    }
    s->n = n_listed;
}

void qfz_climbs_ask(qfz_climbs *s, const uint16_t *a, const uint16_t *b, const uint8_t *doubt,
                    int64_t n, uint32_t at)
{
    if (s->n + n > QFZ_MAX_CLIMBS) qfz_climbs_exterior(s);
    if (s->by_vectors && n >= LANES)
        ask_lanes(s, a, b, doubt, n, at);
    else
        ask_each(s, a, b, doubt, n, at);
}
