/* SPDX-License-Identifier: MIT */
#include "stitch/sound.h"

qfz_status qfz_unsound(qfz_box box, const char *what, qfz_error *err)
{
    return qfz_fail(err, QFZ_EIO,
                    "rows %lld to %lld, columns %lld to %lld: the stored %s does not fit the "
                    "pixels: the source has changed since the first pass, or a file of the work "
                    "folder is damaged",
                    (long long)box.y0, (long long)box.y1 - 1, (long long)box.x0,
                    (long long)box.x1 - 1, what);
}

static bool are_below(const uint32_t *numbers, int64_t n, int64_t end)
{
    for (int64_t i = 0; i < n; i++)
        if (numbers[i] >= end) return false;
    return true;
}

/* Links form a forest. */
static bool are_links(const qfz_links *links, int64_t n_ring, bool placed)
{
    if (links->n == 0) return true;
    return links->n > 0 && links->n < n_ring && links->u && links->v && links->level &&
           (!placed || links->position) && are_below(links->u, links->n, n_ring) &&
           are_below(links->v, links->n, n_ring);
}

static bool are_ranges(const qfz_ranges *ranges, int64_t n_ring)
{
    if (ranges->n == 0) return true;
    return ranges->n > 0 && ranges->at && ranges->level && ranges->lo && ranges->hi &&
           are_below(ranges->at, ranges->n, n_ring);
}

static bool are_masses(const qfz_masses *masses, int64_t n_ring)
{
    if (masses->n == 0) return true;
    return masses->n > 0 && masses->at && masses->level && masses->position && masses->mass &&
           are_below(masses->at, masses->n, n_ring);
}

/* Border regions are numbered from 0 by first appearance on the ring.  valid: NULL, or whether each
 * pixel must have one. */
static bool are_border_regions(const uint32_t *border_region, uint32_t n, const uint8_t *valid,
                               int64_t n_ring)
{
    uint32_t next = 0;
    if (!border_region) return false;
    for (int64_t i = 0; i < n_ring; i++) {
        const uint32_t s = border_region[i];
        if (valid && (s != QFZ_NONE) != (valid[i] != 0)) return false;
        if (s == QFZ_NONE) continue;
        if (s > next) return false;
        next += s == next;
    }
    return next == n;
}

static bool is_same_box(qfz_box a, qfz_box b)
{
    return a.y0 == b.y0 && a.x0 == b.x0 && a.y1 == b.y1 && a.x1 == b.x1;
}

static bool are_flags(const uint8_t *flags, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (flags[i] > 1) return false;
    return true;
}

/* Counts of what this kind does not have. */
static bool has_other_kinds(qfz_kind kind, const qfz_ranges *ranges, const qfz_masses *masses)
{
    return (kind != QFZ_OMEGA && ranges && ranges->n != 0) ||
           (kind != QFZ_FILTER && masses->n != 0);
}

static bool is_summary(const qfz_summary *s, const qfz_rule *rule, qfz_kind kind,
                       const qfz_ring *ring)
{
    const int64_t n = ring->n;
    if (!is_same_box(s->box, ring->box) || s->sides != ring->sides || s->n_ring != n) return false;
    if (!s->values || !s->valid || !are_flags(s->valid, n)) return false;
    if (rule->edge_levels != (s->edges != NULL)) return false;
    if (has_other_kinds(kind, &s->ranges, &s->masses)) return false;
    switch (kind) {
    case QFZ_COMPONENTS:
        return are_border_regions(s->border_region, s->n_border_regions, s->valid, n);
    case QFZ_OMEGA: return are_links(&s->links, n, false) && are_ranges(&s->ranges, n);
    case QFZ_FILTER: return are_links(&s->links, n, true) && are_masses(&s->masses, n);
    case QFZ_LEVELS:
    case QFZ_JOINS: return are_links(&s->links, n, false);
    case QFZ_TREE: break;
    }
    return false;
}

qfz_status qfz_sound_summary(const qfz_summary *summary, const qfz_rule *rule, qfz_kind kind,
                             const qfz_ring *ring, qfz_error *err)
{
    return is_summary(summary, rule, kind, ring) ? QFZ_OK
                                                 : qfz_unsound(ring->box, "boundary summary", err);
}

static bool is_exterior(const qfz_exterior *e, const qfz_rule *rule, qfz_kind kind,
                        const qfz_ring *ring)
{
    const int64_t n = ring->n;
    if (e->n_ring != n || has_other_kinds(kind, NULL, &e->masses)) return false;
    if (kind != QFZ_OMEGA && e->border_region) return false;
    switch (kind) {
    case QFZ_LEVELS: return e->cross && e->cross_has && are_links(&e->external, n, false);
    case QFZ_OMEGA:
        return e->external.n == 0 && e->omega_level &&
               are_border_regions(e->border_region, e->n_border_regions, NULL, n);
    case QFZ_FILTER:
        return e->zeroed && (!rule->wants_forest || e->cross) && are_links(&e->external, n, true) &&
               are_masses(&e->masses, n);
    case QFZ_COMPONENTS:
    case QFZ_JOINS:
    case QFZ_TREE: break;
    }
    return true;
}

qfz_status qfz_sound_exterior(const qfz_exterior *exterior, const qfz_rule *rule, qfz_kind kind,
                              const qfz_ring *ring, qfz_error *err)
{
    return is_exterior(exterior, rule, kind, ring) ? QFZ_OK
                                                   : qfz_unsound(ring->box, "exterior", err);
}

qfz_status qfz_sound_map(const uint32_t *words, int64_t bytes, int n_members, qfz_box box,
                         qfz_error *err)
{
    const int64_t n = bytes / (int64_t)sizeof *words;
    int64_t at = 1;
    bool good = n > 0 && words[0] <= n; /* each region is in a list */
    for (int list = 0; list <= n_members && good; list++) {
        good = at < n && words[at] <= n - at - 1 && are_below(words + at + 1, words[at], words[0]);
        if (good) at += 1 + (int64_t)words[at];
    }
    return good && at == n ? QFZ_OK : qfz_unsound(box, "map of regions", err);
}
