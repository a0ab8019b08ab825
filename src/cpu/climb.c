/* SPDX-License-Identifier: MIT */
#include "cpu/climb.h"

#include <immintrin.h>
#include <string.h>

enum { LANES = 8, GROUPS = 4 };

/* Nothing has been climbed yet. */
#define NO_HOOK UINT32_MAX

void qfz_climbs_init(qfz_climbs *s, const qfz_contraction *c, const qfz_contracted_block *block,
                     const qfz_unpacked_block *unpacked)
{
    s->c = c;
    s->block = block;
    s->up = unpacked->up;
    s->level = unpacked->level;
    s->gathers = __builtin_cpu_supports("avx2");
    memset(s->lookups, 0xff, sizeof s->lookups);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t level_of(const qfz_climbs *s, uint32_t hook)
{
    return hook == NO_HOOK ? 0 : s->level[hook];
}

/* The minimax level of what has climbed to two different roots, by levels up to key. */
static uint32_t between_roots(qfz_climbs *s, uint32_t a, uint32_t b, uint32_t key)
{
    const uint32_t p = qfz_contracted_vertex(s->block, a), q = qfz_contracted_vertex(s->block, b);
    if (p == QFZ_NONE || q == QFZ_NONE) return QFZ_NONE;
    qfz_lookup *const l = &s->lookups[(p + 31 * q) % QFZ_LOOKUPS];
    if (l->p != p || l->q != q) *l = (qfz_lookup){p, q, qfz_forest_minimax(&s->c->forest, p, q)};
    return larger(l->key, key);
}

/* Where two climbs stand: at one hook, or at two roots. */
static uint32_t meeting_key(qfz_climbs *s, uint32_t a, uint32_t b, uint32_t last)
{
    const uint32_t key = level_of(s, last);
    return a == b ? key : between_roots(s, a, b, key);
}

static void query_each(qfz_climbs *s, const uint16_t *starts_a, const uint16_t *starts_b, int64_t n,
                       uint32_t *keys)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t a = starts_a[i], b = starts_b[i], last = NO_HOOK;
        while (a != b) {
            const uint32_t low = a < b ? a : b, high = a < b ? b : a;
            if (s->up[low] == low) break;
            last = low;
            a = s->up[low];
            b = high;
        }
        keys[i] = larger(keys[i], meeting_key(s, a, b, last));
    }
}

/* Eight climbs. */
typedef struct lanes {
    __m256i a, b, last;
} lanes;

/* One step of those that have not met; returns -1 for those that had, or that both stand at roots:
 * where a root has the lower number, nothing moves any more. */
__attribute__((target("avx2"))) static inline __m256i step(lanes *l, const uint16_t *up)
{
    const __m256i number = _mm256_set1_epi32(UINT16_MAX);
    const __m256i low = _mm256_min_epu32(l->a, l->b), high = _mm256_max_epu32(l->a, l->b);
    const __m256i two = _mm256_i32gather_epi32((const int *)(const void *)up, low, 2);
    const __m256i over = _mm256_and_si256(two, number);
    const __m256i met = _mm256_cmpeq_epi32(low, high);
    const __m256i done = _mm256_or_si256(met, _mm256_cmpeq_epi32(low, over));
    l->a = _mm256_blendv_epi8(over, low, met);
    l->b = high;
    l->last = _mm256_blendv_epi8(low, l->last, done);
    return done;
}

__attribute__((target("avx2"))) static void finish(qfz_climbs *s, const lanes *l, uint32_t *keys)
{
    const __m256i met = _mm256_cmpeq_epi32(l->a, l->b);
    const __m256i climbed = _mm256_andnot_si256(l->last, met); /* its sign bits are what counts */
    const __m256i key = _mm256_mask_i32gather_epi32(
        _mm256_setzero_si256(), (const int *)(const void *)s->level, l->last, climbed, 4);
    __m256i *const out = (__m256i *)(void *)keys;
    _mm256_storeu_si256(out, _mm256_max_epu32(key, _mm256_loadu_si256(out)));
    const int apart = ~_mm256_movemask_ps(_mm256_castsi256_ps(met)) & ((1 << LANES) - 1);
    if (!apart) return;
    uint32_t a[LANES], b[LANES], last[LANES];
    _mm256_storeu_si256((__m256i *)(void *)a, l->a);
    _mm256_storeu_si256((__m256i *)(void *)b, l->b);
    _mm256_storeu_si256((__m256i *)(void *)last, l->last);
    for (int left = apart; left; left &= left - 1) {
        const int i = __builtin_ctz((unsigned)left);
        keys[i] = larger(keys[i], meeting_key(s, a[i], b[i], last[i]));
    }
}

__attribute__((target("avx2"))) static inline __m256i numbers_at(const uint16_t *number)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)number));
}

/* Four times eight at a time: one waits for memory while the others climb. */
__attribute__((target("avx2"))) static void query_lanes(qfz_climbs *s, const uint16_t *a,
                                                        const uint16_t *b, uint32_t *keys)
{
    lanes l[GROUPS];
    for (int g = 0; g < GROUPS; g++) {
        l[g].a = numbers_at(a + g * LANES);
        l[g].b = numbers_at(b + g * LANES);
        l[g].last = _mm256_set1_epi32((int)NO_HOOK);
    }
    __m256i done;
    do {
        done = _mm256_set1_epi32(-1);
        for (int g = 0; g < GROUPS; g++)
            done = _mm256_and_si256(done, step(&l[g], s->up));
    } while (_mm256_movemask_epi8(done) != -1);
    for (int g = 0; g < GROUPS; g++)
        finish(s, &l[g], keys + g * LANES);
}

/* The last pairs are asked twice rather than one by one. */
void qfz_climbs_raise(qfz_climbs *s, const uint16_t *a, const uint16_t *b, int64_t n,
                      uint32_t *keys)
{
    const int64_t some = (int64_t)LANES * GROUPS;
    if (!s->gathers || n < some) {
        query_each(s, a, b, n, keys);
        return;
    }
    for (int64_t i = 0; i < n; i += some) {
        const int64_t at = i + some <= n ? i : n - some;
        query_lanes(s, a + at, b + at, keys + at);
    }
}
