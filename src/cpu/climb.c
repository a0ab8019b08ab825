/* SPDX-License-Identifier: MIT */
#include "cpu/climb.h"

#include <string.h>

enum { LANES = QFZ_N_LANES, HALF = 16 };

/* A pair is one word: the lower node number in the low half, the higher one in the high half.  The
 * state of a pair is one word, too: the number of the pair's last hook in the low half, the pair's
 * place in the list in the high half.  A pair that has not climbed has an arbitrary root for a last
 * hook. */
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
                     const qfz_unpacked_block *unpacked, uint32_t *levels)
{
    s->c = c;
    s->block = block;
    s->up = unpacked->up;
    s->hook_level = unpacked->level;
    s->levels = levels;
    s->by_lanes = qfz_lanes_are_fast();
    s->n = 0;
    memset(s->lookups, 0xff, sizeof s->lookups);
    s->lanes_of[0] = 0;
    for (unsigned bits = 1; bits < 1 << LANES; bits++)
        s->lanes_of[bits] = s->lanes_of[bits & (bits - 1)] << 8 | (unsigned)__builtin_ctz(bits);
}

static void raise_level(uint32_t *level, uint32_t to)
{
    *level = *level > to ? *level : to;
}

/* The minimax level of two different roots. */
static uint32_t between_roots(qfz_climbs *s, uint32_t a, uint32_t b)
{
    const uint32_t p = qfz_contracted_vertex(s->block, a), q = qfz_contracted_vertex(s->block, b);
    if (p == QFZ_NONE || q == QFZ_NONE) return QFZ_NONE;
    qfz_lookup *const l = &s->lookups[(p + 31 * q) % QFZ_LOOKUPS];
    if (l->p != p || l->q != q) *l = (qfz_lookup){p, q, qfz_forest_minimax(&s->c->forest, p, q)};
    return l->level;
}

static void finish_apart(qfz_climbs *s, uint32_t roots, uint32_t state)
{
    uint32_t *const level = &s->levels[s->at[high_half(state)]];
    const uint32_t last = low_half(state);
    if (last < s->block->n_hooks) raise_level(level, s->hook_level[last]);
    raise_level(level, between_roots(s, low_half(roots), high_half(roots)));
}

static void finish_each(qfz_climbs *s)
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
            raise_level(&s->levels[s->at[i]], s->hook_level[last]);
        else
            finish_apart(s, word_of(low, high), word_of(last, (uint32_t)i));
    }
}

/* ---- Eight pairs at a time. */

/* Finished pairs: the states of pairs that have met; roots and states of pairs that have not. */
typedef struct results {
    int n_met, n_apart;
    uint32_t met[QFZ_MAX_CLIMBS + LANES];
    uint32_t apart[QFZ_MAX_CLIMBS + LANES], apart_state[QFZ_MAX_CLIMBS + LANES];
} results;

/* The order that moves the lanes of some bits to the front. */
QFZ_LANES static inline qfz_lanes order_of(const qfz_climbs *s, unsigned bits)
{
    return qfz_lanes_load_bytes(&s->lanes_of[bits]);
}

/* Stores the lanes that `order` moves to the front; the rest of the vector is overwritten later. */
QFZ_LANES static inline void store(uint32_t *to, qfz_lanes lanes, qfz_lanes order)
{
    qfz_lanes_store(to, qfz_lanes_pick(lanes, order));
}

/* Each of the n pairs of the list climbs one step.  Returns the number of pairs that continue: if
 * the lower node of a pair is a root, so is the other one, and the pair is finished. */
QFZ_LANES static int step_all(qfz_climbs *s, uint32_t *state, int n, results *out)
{
    const qfz_lanes last_hook = qfz_lanes_all(s->block->n_hooks - 1);
    uint32_t *const pair = s->pair;
    int n_left = 0, n_met = out->n_met, n_apart = out->n_apart;
    for (int i = 0; i < n; i += LANES) {
        const unsigned all = n - i < LANES ? (1u << (n - i)) - 1 : (1u << LANES) - 1;
        const qfz_lanes two = qfz_lanes_load(pair + i), was = qfz_lanes_load(state + i);
        const qfz_lanes high = qfz_lanes_high(two), over = qfz_lanes_look_up(s->up, pair + i);
        const qfz_lanes lower = qfz_lanes_min(over, high);
        const unsigned met = qfz_lanes_equal(over, high) & all;
        const unsigned apart = qfz_lanes_greater(lower, last_hook) & all & ~met;
        const unsigned left = all & ~(met | apart);
        const qfz_lanes at = qfz_lanes_of_halves(lower, qfz_lanes_max(over, high));
        const qfz_lanes now = qfz_lanes_mix_halves(two, was); /* the low node is the last hook */
        const qfz_lanes left_order = order_of(s, left), apart_order = order_of(s, apart);
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

static void finish_met(const qfz_climbs *s, const results *out)
{
    uint32_t *const levels = s->levels;
    const uint32_t *const hook_level = s->hook_level, *const at = s->at;
    for (int i = 0; i < out->n_met; i++)
        raise_level(&levels[at[high_half(out->met[i])]], hook_level[low_half(out->met[i])]);
}

QFZ_LANES static void finish_lanes(qfz_climbs *s)
{
    uint32_t state[QFZ_MAX_CLIMBS + LANES];
    results out;
    out.n_met = out.n_apart = 0;
    /* The rest of the last vector is read, and its results are discarded. */
    memset(s->pair + s->n, 0, LANES * sizeof *s->pair);
    memset(state + s->n, 0, LANES * sizeof *state);
    for (int i = 0; i < s->n; i++)
        state[i] = word_of(0, (uint32_t)i);
    for (int n = s->n; n > 0;)
        n = step_all(s, state, n, &out);
    finish_met(s, &out);
    for (int i = 0; i < out.n_apart; i++)
        finish_apart(s, out.apart[i], out.apart_state[i]);
}

void qfz_climbs_finish(qfz_climbs *s)
{
    if (s->by_lanes)
        finish_lanes(s);
    else
        finish_each(s);
    s->n = 0;
}

/* ---- The list. */

static void add_each(qfz_climbs *s, const uint16_t *a, const uint16_t *b, const uint8_t *doubt,
                     int64_t n, uint32_t at)
{
    for (int64_t i = 0; i < n; i++) {
        s->pair[s->n] = a[i] < b[i] ? word_of(a[i], b[i]) : word_of(b[i], a[i]);
        s->at[s->n] = at + (uint32_t)i;
        s->n += doubt[i];
    }
}

/* n is at least 8.  The last vector of pairs overlaps the one before it if n is no multiple of 8;
 * pairs that are in the list already are skipped. */
QFZ_LANES static void add_lanes(qfz_climbs *s, const uint16_t *a, const uint16_t *b,
                                const uint8_t *doubt, int64_t n, uint32_t at)
{
    const qfz_lanes places = qfz_lanes_load_bytes(&s->lanes_of[(1 << LANES) - 1]); /* 0, 1, 2 ... */
    int n_listed = s->n;
    for (int64_t next = 0; next < n; next += LANES) {
        const int64_t i = next + LANES <= n ? next : n - LANES;
        const unsigned bits = qfz_lanes_bits_of(doubt + i) >> (next - i) << (next - i);
        const qfz_lanes order = order_of(s, bits);
        const qfz_lanes p = qfz_lanes_load_halves(a + i), q = qfz_lanes_load_halves(b + i);
        const qfz_lanes two = qfz_lanes_of_halves(qfz_lanes_min(p, q), qfz_lanes_max(p, q));
        const qfz_lanes first = qfz_lanes_all(at + (uint32_t)i);
        store(s->pair + n_listed, two, order);
        store(s->at + n_listed, qfz_lanes_add(first, places), order);
        n_listed += __builtin_popcount(bits);
    }
    s->n = n_listed;
}

void qfz_climbs_add(qfz_climbs *s, const uint16_t *a, const uint16_t *b, const uint8_t *doubt,
                    int64_t n, uint32_t at)
{
    if (s->n + n > QFZ_MAX_CLIMBS) qfz_climbs_finish(s);
    if (s->by_lanes && n >= LANES)
        add_lanes(s, a, b, doubt, n, at);
    else
        add_each(s, a, b, doubt, n, at);
}
