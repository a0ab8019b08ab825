/* SPDX-License-Identifier: MIT */
/* reduce.c - one value for every region out of the values of its parts, in whatever tiles: up, a
 * group's regions combine their members' slots; down, the slots get what the region has. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parallel.h"
#include "stitch/state.h"

void qfz_combine_min(uint64_t *into, const uint64_t *from, int words)
{
    for (int i = 0; i < words; i++)
        if (from[i] < into[i]) into[i] = from[i];
}

void qfz_combine_max(uint64_t *into, const uint64_t *from, int words)
{
    for (int i = 0; i < words; i++)
        if (from[i] > into[i]) into[i] = from[i];
}

qfz_status qfz_stitch_put_values(qfz_stitch *stitch, qfz_value_set set, int64_t node,
                                 const uint64_t *values, int64_t n, qfz_error *err)
{
    return qfz_store_put(stitch->store, qfz_piece(stitch, PIECE_VALUES + (int)set, node), values,
                         n * (int64_t)sizeof *values, err);
}

qfz_status qfz_stitch_get_values(qfz_stitch *stitch, qfz_value_set set, int64_t node,
                                 uint64_t **values, int64_t *n, qfz_error *err)
{
    void *data = NULL;
    int64_t bytes = 0;
    QFZ_TRY(qfz_store_get(stitch->store, qfz_piece(stitch, PIECE_VALUES + (int)set, node), &data,
                          &bytes, err));
    *values = data;
    *n = bytes / (int64_t)sizeof **values;
    return QFZ_OK;
}

typedef struct reduction {
    qfz_stitch *stitch;
    qfz_value_set set;
    int words;
    qfz_combine combine;
    int level;
} reduction;

/* A group's map, its members, and room for one value a region. */
typedef struct frame {
    uint32_t *map;
    int64_t members[QFZ_MAX_CHILDREN];
    int n_members;
    uint32_t n_regions;
} frame;

static qfz_status frame_load(frame *f, const reduction *r, int64_t node, qfz_error *err)
{
    void *map = NULL;
    int64_t bytes = 0;
    QFZ_TRY(
        qfz_store_get(r->stitch->store, qfz_piece(r->stitch, PIECE_MAP, node), &map, &bytes, err));
    f->map = map;
    f->n_regions = f->map[0];
    f->n_members = qfz_hierarchy_children(&r->stitch->hierarchy, r->level, node, f->members);
    return QFZ_OK;
}

/* The values of one member's slots go to their regions; the first one that comes starts it. */
static qfz_status collect(const reduction *r, int64_t member, const uint32_t *region, uint32_t n,
                          uint64_t *values, uint8_t *started, qfz_error *err)
{
    uint64_t *parts = NULL;
    int64_t n_values;
    QFZ_TRY(qfz_stitch_get_values(r->stitch, r->set, member, &parts, &n_values, err));
    for (uint32_t s = 0; s < n; s++) {
        uint64_t *const to = values + (int64_t)region[s] * r->words;
        const uint64_t *const from = parts + (int64_t)s * r->words;
        if (started[region[s]])
            r->combine(to, from, r->words);
        else
            memcpy(to, from, (size_t)r->words * sizeof *to);
        started[region[s]] = 1;
    }
    free(parts);
    return QFZ_OK;
}

/* The values of n slots, each being its region's. */
static qfz_status hand_out(const reduction *r, int64_t node, const uint32_t *region, uint32_t n,
                           const uint64_t *values, qfz_error *err)
{
    uint64_t *out = NULL;
    QFZ_TRY(QFZ_NEW(&out, (int64_t)n * r->words, err));
    for (uint32_t s = 0; s < n; s++)
        memcpy(out + (int64_t)s * r->words, values + (int64_t)region[s] * r->words,
               (size_t)r->words * sizeof *out);
    const qfz_status st =
        qfz_stitch_put_values(r->stitch, r->set, node, out, (int64_t)n * r->words, err);
    free(out);
    return st;
}

static qfz_status go_up(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    reduction *const r = arg;
    const int64_t node = r->stitch->hierarchy.first[r->level] + item;
    frame f = {0};
    uint64_t *values = NULL;
    uint8_t *started = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, frame_load(&f, r, node, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW_ZERO(&values, (int64_t)f.n_regions * r->words, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW_ZERO(&started, f.n_regions, err));
    int64_t at = 1;
    uint32_t n_own, n;
    const uint32_t *const own = qfz_map_next(f.map, &at, &n_own);
    for (int m = 0; m < f.n_members; m++) {
        const uint32_t *const list = qfz_map_next(f.map, &at, &n);
        QFZ_TRY_OR(st, cleanup, collect(r, f.members[m], list, n, values, started, err));
    }
    QFZ_TRY_OR(st, cleanup, hand_out(r, node, own, n_own, values, err));
    st = qfz_store_put(r->stitch->store, qfz_piece(r->stitch, PIECE_REGIONS, node), values,
                       (int64_t)f.n_regions * r->words * (int64_t)sizeof *values, err);

cleanup:
    free(f.map);
    free(values);
    free(started);
    return st;
}

/* The regions that reach the group's border have what the group was told; the others are whole. */
static void take_own(const reduction *r, const uint32_t *region, uint32_t n, const uint64_t *told,
                     uint64_t *values)
{
    for (uint32_t s = 0; s < n; s++)
        memcpy(values + (int64_t)region[s] * r->words, told + (int64_t)s * r->words,
               (size_t)r->words * sizeof *values);
}

static qfz_status go_down(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    reduction *const r = arg;
    qfz_stitch *const stitch = r->stitch;
    const int64_t node = stitch->hierarchy.first[r->level] + item;
    frame f = {0};
    void *values = NULL;
    uint64_t *told = NULL;
    int64_t bytes, n_told;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, frame_load(&f, r, node, err));
    QFZ_TRY_OR(
        st, cleanup,
        qfz_store_get(stitch->store, qfz_piece(stitch, PIECE_REGIONS, node), &values, &bytes, err));
    QFZ_TRY_OR(st, cleanup, qfz_stitch_get_values(stitch, r->set, node, &told, &n_told, err));
    int64_t at = 1;
    uint32_t n_own, n;
    const uint32_t *const own = qfz_map_next(f.map, &at, &n_own);
    take_own(r, own, n_own, told, values);
    for (int m = 0; m < f.n_members; m++) {
        const uint32_t *const list = qfz_map_next(f.map, &at, &n);
        QFZ_TRY_OR(st, cleanup, hand_out(r, f.members[m], list, n, values, err));
    }
    qfz_store_drop(stitch->store, qfz_piece(stitch, PIECE_REGIONS, node));

cleanup:
    free(f.map);
    free(values);
    free(told);
    return st;
}

qfz_status qfz_stitch_reduce(qfz_stitch *stitch, qfz_value_set set, int words, qfz_combine combine,
                             qfz_error *err)
{
    const qfz_hierarchy *const h = &stitch->hierarchy;
    reduction r = {.stitch = stitch, .set = set, .words = words, .combine = combine};
    for (r.level = 1; r.level < h->n_levels; r.level++)
        QFZ_TRY(qfz_parallel_for(stitch->n_threads, h->first[r.level + 1] - h->first[r.level],
                                 go_up, &r, err));
    for (r.level = h->n_levels - 1; r.level > 0; r.level--)
        QFZ_TRY(qfz_parallel_for(stitch->n_threads, h->first[r.level + 1] - h->first[r.level],
                                 go_down, &r, err));
    return QFZ_OK;
}
