/* SPDX-License-Identifier: MIT */
/* reduce.c - one value for every region, combined from the values of its parts in all tiles.  On
 * the way up, the regions of a group combine the values of its members' border regions; on the way
 * down, the border regions get the value of their region. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "stitch/sound.h"
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

static qfz_status put(qfz_stitch *stitch, int what, int64_t node, const uint64_t *values, int64_t n,
                      qfz_error *err)
{
    return qfz_store_put(stitch->store, qfz_piece(stitch, what, node), values,
                         n * (int64_t)sizeof *values, err);
}

static qfz_status get(qfz_stitch *stitch, int what, int64_t node, uint64_t **values, int64_t *n,
                      qfz_error *err)
{
    void *data = NULL;
    int64_t bytes = 0;
    QFZ_TRY(qfz_store_get(stitch->store, qfz_piece(stitch, what, node), &data, &bytes, err));
    if (!data) {
        (void)qfz_fail(err, QFZ_EIO, "values of a tile are missing in the store");
        return QFZ_EIO;
    }
    *values = data;
    *n = bytes / (int64_t)sizeof **values;
    return QFZ_OK;
}

/* The combined values of the whole raster are final. */
static int final_piece(const qfz_stitch *stitch, qfz_value_set set, int64_t node)
{
    return (node + 1 < stitch->n_nodes ? PIECE_REDUCED : PIECE_GIVEN) + (int)set;
}

qfz_status qfz_stitch_put_values(qfz_stitch *stitch, qfz_value_set set, int64_t tile,
                                 const uint64_t *values, int64_t n, qfz_error *err)
{
    return put(stitch, PIECE_GIVEN + (int)set, tile, values, n, err);
}

bool qfz_stitch_has_values(qfz_stitch *stitch, qfz_value_set set, int64_t tile)
{
    return qfz_has(stitch, PIECE_GIVEN + (int)set, tile);
}

bool qfz_stitch_is_reduced(qfz_stitch *stitch, qfz_value_set set, int64_t tile)
{
    return qfz_has(stitch, final_piece(stitch, set, tile), tile);
}

qfz_status qfz_stitch_get_values(qfz_stitch *stitch, qfz_value_set set, int64_t tile,
                                 uint64_t **values, int64_t *n, qfz_error *err)
{
    return get(stitch, final_piece(stitch, set, tile), tile, values, n, err);
}

/* As get(), but exactly n values are there. */
static qfz_status get_n(qfz_stitch *stitch, int what, int level, int64_t node, int64_t n,
                        uint64_t **values, qfz_error *err)
{
    uint64_t *found = NULL;
    int64_t n_found;
    QFZ_TRY(get(stitch, what, node, &found, &n_found, err));
    if (n_found != n) {
        free(found);
        (void)qfz_unsound(qfz_group_tree_box(&stitch->group_tree, level, node), "values of regions",
                          err);
        return QFZ_EIO;
    }
    *values = found;
    return QFZ_OK;
}

typedef struct reduction {
    qfz_level_walk walk;
    qfz_stitch *stitch;
    qfz_value_set set;
    int words;
    qfz_combine combine;
} reduction;

/* A group's map, its members, and room for one value per region. */
typedef struct frame {
    uint32_t *map;
    int64_t members[QFZ_GROUP_CHILDREN];
    int n_members;
    uint32_t n_regions;
} frame;

static qfz_status frame_load(frame *f, const reduction *r, int64_t node, qfz_error *err)
{
    void *map = NULL;
    int64_t bytes = 0;
    QFZ_TRY(
        qfz_store_get(r->stitch->store, qfz_piece(r->stitch, PIECE_MAP, node), &map, &bytes, err));
    if (!map) return qfz_fail(err, QFZ_EIO, "the regions of a group are missing in the store");
    f->map = map;
    f->n_members = qfz_group_tree_children(&r->stitch->group_tree, r->walk.level, node, f->members);
    QFZ_TRY(qfz_sound_map(map, bytes, f->n_members,
                          qfz_group_tree_box(&r->stitch->group_tree, r->walk.level, node), err));
    f->n_regions = f->map[0];
    return QFZ_OK;
}

/* Combines the values of one member's border regions into their regions; the first value of a
 * region initialises it. */
static qfz_status collect(const reduction *r, int64_t member, const uint32_t *region, uint32_t n,
                          uint64_t *values, uint8_t *started, qfz_error *err)
{
    uint64_t *parts = NULL;
    QFZ_TRY(get_n(r->stitch, PIECE_GIVEN + (int)r->set, r->walk.level - 1, member,
                  (int64_t)n * r->words, &parts, err));
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

/* Puts the values of n border regions, each that of its region, as a piece of a node. */
static qfz_status put_values(const reduction *r, int what, int64_t node, const uint32_t *region,
                             uint32_t n, const uint64_t *values, qfz_error *err)
{
    uint64_t *out = NULL;
    QFZ_TRY(QFZ_NEW(&out, (int64_t)n * r->words, err));
    for (uint32_t s = 0; s < n; s++)
        memcpy(out + (int64_t)s * r->words, values + (int64_t)region[s] * r->words,
               (size_t)r->words * sizeof *out);
    const qfz_status st = put(r->stitch, what, node, out, (int64_t)n * r->words, err);
    free(out);
    return st;
}

static qfz_status go_up(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    reduction *const r = arg;
    const int64_t node = r->walk.first + item;
    const int set = (int)r->set;
    frame f = {0};
    uint64_t *values = NULL;
    uint8_t *started = NULL;
    qfz_status st;
    if (qfz_has(r->stitch, PIECE_GIVEN + set, node) &&
        qfz_has(r->stitch, PIECE_REGIONS + set, node))
        return QFZ_OK;
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
    QFZ_TRY_OR(st, cleanup, put_values(r, PIECE_GIVEN + set, node, own, n_own, values, err));
    QFZ_TRY_OR(
        st, cleanup,
        put(r->stitch, PIECE_REGIONS + set, node, values, (int64_t)f.n_regions * r->words, err));
    for (int m = 0; m < f.n_members; m++)
        qfz_store_drop(r->stitch->store, qfz_piece(r->stitch, PIECE_GIVEN + set, f.members[m]));

cleanup:
    free(f.map);
    free(values);
    free(started);
    return st;
}

/* Regions that reach the group's ring take the final value of the group's border region; the values
 * of all others are complete. */
static void take_own(const reduction *r, const uint32_t *region, uint32_t n, const uint64_t *final,
                     uint64_t *values)
{
    for (uint32_t s = 0; s < n; s++)
        memcpy(values + (int64_t)region[s] * r->words, final + (int64_t)s * r->words,
               (size_t)r->words * sizeof *values);
}

static bool is_down(const reduction *r, int64_t node)
{
    int64_t members[QFZ_GROUP_CHILDREN];
    const int n = qfz_group_tree_children(&r->stitch->group_tree, r->walk.level, node, members);
    for (int m = 0; m < n; m++)
        if (!qfz_has(r->stitch, PIECE_REDUCED + (int)r->set, members[m])) return false;
    return true;
}

static qfz_status go_down(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    reduction *const r = arg;
    qfz_stitch *const stitch = r->stitch;
    const int64_t node = r->walk.first + item;
    const int set = (int)r->set;
    frame f = {0};
    uint64_t *values = NULL, *final = NULL;
    qfz_status st;
    if (is_down(r, node)) return QFZ_OK;
    QFZ_TRY_OR(st, cleanup, frame_load(&f, r, node, err));
    int64_t at = 1;
    uint32_t n_own, n;
    const uint32_t *const own = qfz_map_next(f.map, &at, &n_own);
    QFZ_TRY_OR(st, cleanup,
               get_n(stitch, PIECE_REGIONS + set, r->walk.level, node,
                     (int64_t)f.n_regions * r->words, &values, err));
    QFZ_TRY_OR(st, cleanup,
               get_n(stitch, final_piece(stitch, r->set, node), r->walk.level, node,
                     (int64_t)n_own * r->words, &final, err));
    take_own(r, own, n_own, final, values);
    for (int m = 0; m < f.n_members; m++) {
        const uint32_t *const list = qfz_map_next(f.map, &at, &n);
        QFZ_TRY_OR(st, cleanup,
                   put_values(r, PIECE_REDUCED + set, f.members[m], list, n, values, err));
    }
    qfz_store_drop(stitch->store, qfz_piece(stitch, PIECE_REGIONS + set, node));
    qfz_store_drop(stitch->store, qfz_piece(stitch, final_piece(stitch, r->set, node), node));

cleanup:
    free(f.map);
    free(values);
    free(final);
    return st;
}

qfz_status qfz_stitch_reduce(qfz_stitch *stitch, qfz_value_set set, int words, qfz_combine combine,
                             qfz_error *err)
{
    const int n_levels = stitch->group_tree.n_levels, what = (int)set;
    reduction r = {.stitch = stitch, .set = set, .words = words, .combine = combine};
    qfz_status st = QFZ_OK;
    for (int level = 1; level < n_levels; level++) {
        st = qfz_stitch_exchange(stitch, PIECE_GIVEN + what, level - 1, QFZ_UP, st, err);
        if (st == QFZ_OK)
            st = qfz_walk_level(&r.walk, stitch, stitch->n_threads, level, go_up, &r, err);
    }
    for (int level = n_levels - 1; level > 0; level--) {
        if (st == QFZ_OK)
            st = qfz_walk_level(&r.walk, stitch, stitch->n_threads, level, go_down, &r, err);
        st = qfz_stitch_exchange(stitch, PIECE_REDUCED + what, level - 1, QFZ_DOWN, st, err);
    }
    return qfz_ranks_agree(stitch->ranks, st, err);
}
