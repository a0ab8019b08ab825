/* SPDX-License-Identifier: MIT */
#include "regions/tally.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* Words of a record.  An item is the label of a neighbour; or the number of a band in the upper
 * half and, in the lower one, a value in an order-preserving form. */
enum { LABEL = 0, ITEM, COUNT, WORDS };

struct qfz_tally {
    qfz_gather *gather;
    const uint64_t *next; /* the first record that is not read; NULL: none */
};

static void add_records(void *arg, uint64_t *into, const uint64_t *more)
{
    (void)arg;
    into[COUNT] += more[COUNT];
}

qfz_status qfz_tally_open(qfz_tally **out, int n_threads, int64_t bytes, const char *folder,
                          qfz_error *err)
{
    static const qfz_gather_format format = {.words = WORDS, .key_words = 2, .add = add_records};
    qfz_tally *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    const qfz_status st = qfz_gather_open(&made->gather, &format, n_threads, bytes, folder, err);
    if (st != QFZ_OK) {
        qfz_tally_close(made);
        return st;
    }
    *out = made;
    return QFZ_OK;
}

void qfz_tally_close(qfz_tally *tally)
{
    if (!tally) return;
    qfz_gather_close(tally->gather);
    free(tally);
}

/* --------------------------------------------------------------------------------------- a tile */
static qfz_status add(qfz_tally *tally, int thread, uint64_t label, uint64_t item, uint64_t n,
                      qfz_error *err)
{
    const uint64_t key[2] = {label, item};
    uint64_t *record;
    bool is_new;
    QFZ_TRY(qfz_gather_find(tally->gather, thread, key, &record, &is_new, err));
    record[COUNT] += n;
    return QFZ_OK;
}

/* The sides between pixels p .. p + n - 1 and pixels q .. q + n - 1: each pair counts for both. */
static qfz_status add_sides(qfz_tally *tally, int thread, const uint64_t *p, const uint64_t *q,
                            int64_t n, qfz_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        if (p[i] == q[i] || p[i] == 0 || q[i] == 0) continue;
        if (i > 0 && p[i] == p[i - 1] && q[i] == q[i - 1]) continue;
        QFZ_TRY(add(tally, thread, p[i], q[i], 1, err));
        QFZ_TRY(add(tally, thread, q[i], p[i], 1, err));
    }
    return QFZ_OK;
}

qfz_status qfz_tally_add_neighbours(qfz_tally *tally, int thread, const qfz_label_tile *tile,
                                    qfz_error *err)
{
    const int64_t w = qfz_box_w(tile->box), h = qfz_box_h(tile->box);
    const int64_t n_right = w < tile->w ? w : w - 1;
    for (int64_t y = 0; y < h; y++) {
        const uint64_t *const row = tile->labels + y * tile->w;
        QFZ_TRY(add_sides(tally, thread, row, row + 1, n_right, err));
        if (y + 1 < tile->h) QFZ_TRY(add_sides(tally, thread, row, row + tile->w, w, err));
    }
    return QFZ_OK;
}

static bool is_signed(qfz_type type)
{
    return type == QFZ_I8 || type == QFZ_I16 || type == QFZ_I32;
}

/* Negative numbers come before the others. */
static uint32_t ordered_value(qfz_type type, const void *plane, int64_t i)
{
    const uint32_t sign = UINT32_C(1) << 31;
    switch (type) {
    case QFZ_U8: return ((const uint8_t *)plane)[i];
    case QFZ_I8: return (uint32_t)(int32_t)((const int8_t *)plane)[i] ^ sign;
    case QFZ_U16: return ((const uint16_t *)plane)[i];
    case QFZ_I16: return (uint32_t)(int32_t)((const int16_t *)plane)[i] ^ sign;
    case QFZ_U32: return ((const uint32_t *)plane)[i];
    case QFZ_I32: return (uint32_t)((const int32_t *)plane)[i] ^ sign;
    case QFZ_F32: break;
    }
    return 0;
}

static int64_t value_of(qfz_type type, uint64_t item)
{
    const int64_t value = (int64_t)(item & UINT32_MAX);
    return is_signed(type) ? value - (INT64_C(1) << 31) : value;
}

/* Pixels of equal labels and values that follow each other count together. */
static qfz_status add_band_row(qfz_tally *tally, int thread, const uint64_t *labels, int64_t w,
                               const qfz_image *values, int band, int64_t first, qfz_error *err)
{
    const size_t plane_bytes = (size_t)(values->h * values->w) * qfz_type_bytes(values->type);
    const void *const plane = (const char *)values->pixels + (size_t)band * plane_bytes;
    const uint64_t of_band = (uint64_t)band << 32;
    uint64_t label = 0, item = 0, n = 0;
    for (int64_t x = 0; x < w; x++) {
        if (labels[x] == 0 || (values->valid && !values->valid[first + x])) continue;
        const uint64_t found = of_band | ordered_value(values->type, plane, first + x);
        if (n > 0 && (labels[x] != label || found != item)) {
            QFZ_TRY(add(tally, thread, label, item, n, err));
            n = 0;
        }
        label = labels[x];
        item = found;
        n++;
    }
    return n > 0 ? add(tally, thread, label, item, n, err) : QFZ_OK;
}

qfz_status qfz_tally_add_values(qfz_tally *tally, int thread, const qfz_label_tile *tile,
                                const qfz_image *values, qfz_error *err)
{
    const int64_t w = qfz_box_w(tile->box), h = qfz_box_h(tile->box);
    for (int64_t y = 0; y < h; y++)
        for (int b = 0; b < values->n_bands; b++)
            QFZ_TRY(add_band_row(tally, thread, tile->labels + y * tile->w, w, values, b,
                                 y * tile->w, err));
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------------ the counts
 */
qfz_gather *qfz_tally_gather(const qfz_tally *tally)
{
    return tally->gather;
}

qfz_status qfz_tally_begin_reading(qfz_tally *tally, qfz_error *err)
{
    QFZ_TRY(qfz_gather_begin_reading(tally->gather, err));
    return qfz_gather_next(tally->gather, &tally->next, err);
}

qfz_status qfz_tally_number(qfz_tally *tally, uint64_t label, uint64_t *n, qfz_error *err)
{
    *n = 0;
    for (; tally->next && tally->next[LABEL] == label; *n += 1)
        QFZ_TRY(qfz_gather_next(tally->gather, &tally->next, err));
    return QFZ_OK;
}

static void add_value(qfz_tally_mode *mode, int64_t value, uint64_t n)
{
    if (mode->n == 0 || n > mode->n_majority) {
        mode->majority = value;
        mode->n_majority = n;
    }
    if (mode->n == 0 || n < mode->n_minority) {
        mode->minority = value;
        mode->n_minority = n;
    }
    mode->n += n;
}

qfz_status qfz_tally_modes(qfz_tally *tally, uint64_t label, qfz_type type, int n_bands,
                           qfz_tally_mode *modes, qfz_error *err)
{
    memset(modes, 0, (size_t)n_bands * sizeof *modes);
    while (tally->next && tally->next[LABEL] == label) {
        const uint64_t *const record = tally->next;
        add_value(&modes[record[ITEM] >> 32], value_of(type, record[ITEM]), record[COUNT]);
        QFZ_TRY(qfz_gather_next(tally->gather, &tally->next, err));
    }
    return QFZ_OK;
}
