/* SPDX-License-Identifier: MIT */
#include "regions/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/exact.h"
#include "core/memory.h"

/* Words of a record.  The words from N_LEVELS on are there only if there are levels; SUM is an
 * exact sum (exact.h). */
enum { A = 0, B, EDGES, LENGTH, N_LEVELS = LENGTH + 2, LEAST, SUM };

struct qfz_neighbours {
    const qfz_rule *rule; /* NULL: no levels */
    qfz_type level_type;
    qfz_gather *gather;
    uint32_t **levels; /* of the edges of a row, for each thread */
    int64_t *levels_room;
    int n_threads;
};

static void add_records(void *arg, uint64_t *into, const uint64_t *more)
{
    const qfz_neighbours *const neighbours = arg;
    for (int i = EDGES; i < N_LEVELS; i++)
        into[i] += more[i];
    if (!neighbours->rule || more[N_LEVELS] == 0) return;
    if (into[N_LEVELS] == 0 || more[LEAST] < into[LEAST]) into[LEAST] = more[LEAST];
    into[N_LEVELS] += more[N_LEVELS];
    qfz_words_add(into + SUM, more + SUM, qfz_sum_words(neighbours->level_type));
}

qfz_status qfz_neighbours_open(qfz_neighbours **out, const qfz_rule *rule, int n_threads,
                               int64_t bytes, const char *folder, qfz_error *err)
{
    qfz_neighbours *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->rule = rule;
    made->n_threads = n_threads;
    made->level_type = rule && qfz_levels_are_float(rule) ? QFZ_F32 : QFZ_U32;
    const qfz_gather_format format = {.words =
                                          rule ? SUM + qfz_sum_words(made->level_type) : N_LEVELS,
                                      .key_words = 2,
                                      .add = add_records,
                                      .arg = made};
    qfz_status st = QFZ_NEW_ZERO(&made->levels, n_threads, err);
    if (st == QFZ_OK) st = QFZ_NEW_ZERO(&made->levels_room, n_threads, err);
    if (st == QFZ_OK) st = qfz_gather_open(&made->gather, &format, n_threads, bytes, folder, err);
    if (st != QFZ_OK) {
        qfz_neighbours_close(made);
        return st;
    }
    *out = made;
    return QFZ_OK;
}

void qfz_neighbours_close(qfz_neighbours *neighbours)
{
    if (!neighbours) return;
    for (int i = 0; neighbours->levels && i < neighbours->n_threads; i++)
        free(neighbours->levels[i]);
    free(neighbours->levels);
    free(neighbours->levels_room);
    qfz_gather_close(neighbours->gather);
    free(neighbours);
}

/* --------------------------------------------------------------------------------------- a tile */
typedef struct walk {
    qfz_neighbours *neighbours;
    int thread;
    const qfz_label_tile *tile;
    const qfz_image *values; /* NULL: no levels */
    uint64_t key[2];
    uint64_t *record; /* of the key; NULL: there is none yet */
} walk;

static qfz_status find(walk *k, uint64_t p, uint64_t q, qfz_error *err)
{
    const uint64_t key[2] = {p < q ? p : q, p < q ? q : p};
    bool is_new;
    if (k->record && k->key[0] == key[0] && k->key[1] == key[1]) return QFZ_OK;
    memcpy(k->key, key, sizeof key);
    return qfz_gather_find(k->neighbours->gather, k->thread, key, &k->record, &is_new, err);
}

static void add_level(const walk *k, int64_t p, int64_t q, uint32_t level)
{
    const uint8_t *const valid = k->values->valid;
    const qfz_neighbours *const neighbours = k->neighbours;
    if (valid && !(valid[p] && valid[q])) return;
    if (neighbours->rule->edge_levels && level == QFZ_NO_EDGE) return;
    if (k->record[N_LEVELS]++ == 0 || level < k->record[LEAST]) k->record[LEAST] = level;
    qfz_sum_add_pixel(k->record + SUM, neighbours->level_type, &level, 0);
}

/* The edges from pixels p .. p + n - 1 to pixels q .. q + n - 1. */
static qfz_status add_edges(walk *k, int dir, int64_t p, int64_t q, int64_t n, uint64_t length,
                            qfz_error *err)
{
    const uint64_t *const labels = k->tile->labels;
    uint32_t *const levels = k->neighbours->levels[k->thread];
    const int at_length = dir == QFZ_BELOW ? LENGTH : LENGTH + 1;
    if (k->values) qfz_edge_levels(k->values, k->neighbours->rule, dir, p, q, n, levels);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t a = labels[p + i], b = labels[q + i];
        if (a == b || a == 0 || b == 0) continue;
        QFZ_TRY(find(k, a, b, err));
        k->record[EDGES]++;
        k->record[at_length] += length;
        if (k->values) add_level(k, p + i, q + i, levels[i]);
    }
    return QFZ_OK;
}

static qfz_status make_room(qfz_neighbours *neighbours, int thread, int64_t n, qfz_error *err)
{
    if (neighbours->levels_room[thread] >= n) return QFZ_OK;
    free(neighbours->levels[thread]);
    neighbours->levels[thread] = NULL;
    QFZ_TRY(QFZ_NEW(&neighbours->levels[thread], n, err));
    neighbours->levels_room[thread] = n;
    return QFZ_OK;
}

qfz_status qfz_neighbours_add(qfz_neighbours *neighbours, int thread, const qfz_label_tile *tile,
                              const uint64_t *lengths, const qfz_image *values, qfz_error *err)
{
    const int64_t w = qfz_box_w(tile->box), h = qfz_box_h(tile->box);
    const int64_t n_right = w < tile->w ? w : w - 1;
    walk k = {.neighbours = neighbours,
              .thread = thread,
              .tile = tile,
              .values = neighbours->rule ? values : NULL};
    QFZ_TRY(make_room(neighbours, thread, w, err));
    for (int64_t y = 0; y < h; y++) {
        const int64_t p = y * tile->w;
        QFZ_TRY(add_edges(&k, QFZ_RIGHT, p, p + 1, n_right, lengths[2 * y + 1], err));
        if (y + 1 < tile->h)
            QFZ_TRY(add_edges(&k, QFZ_BELOW, p, p + tile->w, w, lengths[2 * y], err));
    }
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------------- the pairs
 */
qfz_gather *qfz_neighbours_gather(const qfz_neighbours *neighbours)
{
    return neighbours->gather;
}

qfz_status qfz_neighbours_begin_reading(qfz_neighbours *neighbours, qfz_error *err)
{
    return qfz_gather_begin_reading(neighbours->gather, err);
}

static double sum_of(const qfz_neighbours *neighbours, const uint64_t *record)
{
    return qfz_sum_value(record + SUM, neighbours->level_type);
}

qfz_status qfz_neighbours_next(qfz_neighbours *neighbours, qfz_neighbours_pair *pair, bool *more,
                               qfz_error *err)
{
    const uint64_t *record;
    QFZ_TRY(qfz_gather_next(neighbours->gather, &record, err));
    *more = record != NULL;
    if (!record) return QFZ_OK;
    *pair = (qfz_neighbours_pair){.a = record[A],
                                  .b = record[B],
                                  .edges = record[EDGES],
                                  .length_below = record[LENGTH],
                                  .length_right = record[LENGTH + 1],
                                  .mean_level = NAN,
                                  .least_level = NAN};
    if (!neighbours->rule || record[N_LEVELS] == 0) return QFZ_OK;
    pair->n_levels = record[N_LEVELS];
    pair->mean_level = sum_of(neighbours, record) / (double)record[N_LEVELS];
    pair->least_level = qfz_level_value(neighbours->rule, (uint32_t)record[LEAST]);
    return QFZ_OK;
}

double qfz_neighbours_part(const qfz_neighbours *neighbours)
{
    return qfz_gather_part(neighbours->gather);
}
