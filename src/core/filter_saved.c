/* SPDX-License-Identifier: MIT */
#include "core/filter_saved.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/packed_bits.h"

int64_t qfz_filter_saved_bytes(const qfz_filter_items *items, uint32_t n_vertices, int64_t n_px,
                               const qfz_rule *rule)
{
    const int64_t word = sizeof(uint32_t), wide = sizeof(uint64_t);
    return (rule->wants_forest ? 2 : 1) * qfz_packed_bits_bytes(n_px) + n_vertices * wide +
           items->n * (2 * word + wide + (int64_t)sizeof(qfz_filter_key));
}

#define COPY(to, from, n, err)                                                                     \
    do {                                                                                           \
        QFZ_TRY(QFZ_NEW_LARGE(&(to), n, err));                                                     \
        memcpy(to, from, (size_t)(n) * sizeof *(to));                                              \
    } while (0)

/* bits: NULL, as in qfz_edge_bits. */
static qfz_status copy_bits(const uint8_t *bits, int64_t n, uint8_t **packed, qfz_error *err)
{
    if (!bits) return QFZ_OK;
    QFZ_TRY(QFZ_NEW_LARGE(packed, qfz_packed_bits_bytes(n), err));
    qfz_pack_bits(bits, n, *packed);
    return QFZ_OK;
}

qfz_status qfz_filter_save(qfz_filter_saved *saved, const qfz_filter_items *items,
                           const uint64_t *weight, uint32_t n_vertices, const qfz_edge_bits *bits,
                           int64_t n_px, qfz_error *err)
{
    saved->n_px = n_px;
    saved->n_items = items->n;
    saved->n_vertices = n_vertices;
    COPY(saved->weight, weight, n_vertices, err);
    COPY(saved->u, items->u, items->n, err);
    COPY(saved->v, items->v, items->n, err);
    COPY(saved->mass, items->mass, items->n, err);
    COPY(saved->key, items->key, items->n, err);
    QFZ_TRY(copy_bits(bits->zeroed, n_px, &saved->zeroed, err));
    return copy_bits(bits->forest, n_px, &saved->forest, err);
}

void qfz_filter_saved_fini(qfz_filter_saved *saved)
{
    free(saved->zeroed);
    free(saved->forest);
    free(saved->weight);
    free(saved->u);
    free(saved->v);
    free(saved->mass);
    free(saved->key);
    *saved = (qfz_filter_saved){0};
}

qfz_status qfz_filter_restore(const qfz_filter_saved *saved, qfz_filter_items *items,
                              qfz_filter_sets *sets, const qfz_edge_bits *bits, qfz_error *err)
{
    const size_t n = (size_t)saved->n_items;
    QFZ_TRY(qfz_filter_items_reserve(items, saved->n_items, err));
    sets->n = saved->n_vertices;
    memcpy(sets->weight, saved->weight, saved->n_vertices * sizeof *saved->weight);
    memcpy(items->u, saved->u, n * sizeof *saved->u);
    memcpy(items->v, saved->v, n * sizeof *saved->v);
    memcpy(items->mass, saved->mass, n * sizeof *saved->mass);
    memcpy(items->key, saved->key, n * sizeof *saved->key);
    items->n = saved->n_items;
    qfz_unpack_bits(saved->zeroed, saved->n_px, bits->zeroed);
    if (bits->forest) qfz_unpack_bits(saved->forest, saved->n_px, bits->forest);
    return QFZ_OK;
}
