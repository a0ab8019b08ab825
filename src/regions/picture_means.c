/* SPDX-License-Identifier: MIT */
/* Regions are in n_classes classes by a hash of their labels; the sums of one class at a time are
 * in a table of fixed size.  Where the regions of a class do not fit into the table, there are
 * twice as many classes. */
#include "regions/picture_means.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/temp_file.h"

enum { SLOT_BITS = 18, SLOTS = 1 << SLOT_BITS, FULL = SLOTS / 4 * 3 };

typedef struct total {
    uint64_t label; /* 0: the slot is free */
    uint64_t n, sum[QFZ_RGB];
} total;

typedef struct means {
    int file;
    const char *folder;
    int64_t n_x, n_y;
    qfz_picture_sample *row;
    uint8_t *shown;
    total *table;
    uint64_t n_classes, in_class;
    int64_t n_totals;
} means;

static uint64_t hash(uint64_t label)
{
    label *= UINT64_C(0x9E3779B97F4A7C15);
    return label ^ label >> 32;
}

/* The region's slot, or a free one. */
static total *find(const means *m, uint64_t label)
{
    for (uint64_t i = hash(label) & (SLOTS - 1);; i = (i + 1) & (SLOTS - 1))
        if (m->table[i].label == label || m->table[i].label == 0) return &m->table[i];
}

static bool has_value(const qfz_picture_sample *sample)
{
    return isfinite(sample->value[0]) && isfinite(sample->value[1]) && isfinite(sample->value[2]);
}

static void add(means *m, uint64_t label, const uint8_t *shown)
{
    total *const t = find(m, label);
    if (t->label == 0) {
        t->label = label;
        m->n_totals++;
    }
    t->n++;
    for (int c = 0; c < QFZ_RGB; c++)
        t->sum[c] += shown[c];
}

static void take(const means *m, uint64_t label, uint8_t *shown)
{
    const total *const t = find(m, label);
    for (int c = 0; c < QFZ_RGB; c++)
        shown[c] = (uint8_t)(t->n == 0 ? UINT8_MAX : (t->sum[c] + t->n / 2) / t->n);
}

/* One of two passes over the samples of a class: their sums, or their means. */
static qfz_status pass(means *m, bool adds, qfz_error *err)
{
    const int64_t bytes = m->n_x * (int64_t)sizeof *m->row;
    for (int64_t y = 0; y < m->n_y && m->n_totals < FULL; y++) {
        QFZ_TRY(qfz_temp_read(m->file, m->folder, m->row, bytes, y * bytes, err));
        for (int64_t x = 0; x < m->n_x && m->n_totals < FULL; x++) {
            const uint64_t label = m->row[x].label;
            uint8_t *const shown = m->shown + (y * m->n_x + x) * QFZ_RGB;
            if (label == 0) memset(shown, UINT8_MAX, QFZ_RGB);
            if (label == 0 || (hash(label) >> SLOT_BITS) % m->n_classes != m->in_class) continue;
            if (!adds)
                take(m, label, shown);
            else if (has_value(&m->row[x]))
                add(m, label, shown);
        }
    }
    return QFZ_OK;
}

static void clear(means *m)
{
    memset(m->table, 0, SLOTS * sizeof *m->table);
    m->n_totals = 0;
}

/* *fits: the sums of every class fit the table. */
static qfz_status count(means *m, bool *fits, qfz_error *err)
{
    for (m->in_class = 0; m->in_class < m->n_classes; m->in_class++) {
        clear(m);
        QFZ_TRY(pass(m, true, err));
        *fits = m->n_totals < FULL;
        if (!*fits) return QFZ_OK;
    }
    return QFZ_OK;
}

qfz_status qfz_picture_means_take(int file, const char *folder, int64_t n_x, int64_t n_y,
                                  qfz_picture_sample *row, uint8_t *shown, qfz_error *err)
{
    means m = {.file = file, .folder = folder, .n_x = n_x, .n_y = n_y, .row = row, .shown = shown};
    bool fits = false;
    QFZ_TRY(QFZ_NEW(&m.table, SLOTS, err));
    qfz_status st = QFZ_OK;
    for (m.n_classes = 1; st == QFZ_OK; m.n_classes *= 2) {
        st = count(&m, &fits, err);
        if (fits) break;
    }
    for (m.in_class = 0; m.in_class < m.n_classes && st == QFZ_OK; m.in_class++) {
        clear(&m);
        st = pass(&m, true, err);
        if (st == QFZ_OK) st = pass(&m, false, err);
    }
    free(m.table);
    return st;
}
