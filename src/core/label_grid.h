/* SPDX-License-Identifier: MIT */
/* label_grid.h - rows of labels in memory, of 32 or 64 bits each. */
#ifndef QFZ_LABEL_GRID_H
#define QFZ_LABEL_GRID_H

#include <stdbool.h>
#include <stdint.h>

/* Label x of row y is element y * pitch + x of an array of uint64_t (is_wide) or uint32_t. */
typedef struct qfz_label_grid {
    void *labels;
    int64_t pitch;
    bool is_wide;
} qfz_label_grid;

static inline int64_t qfz_label_grid_bytes(qfz_label_grid rows)
{
    return rows.is_wide ? (int64_t)sizeof(uint64_t) : (int64_t)sizeof(uint32_t);
}

/* The place of label x of row y. */
static inline void *qfz_label_grid_at(qfz_label_grid rows, int64_t y, int64_t x)
{
    return (char *)rows.labels + (y * rows.pitch + x) * qfz_label_grid_bytes(rows);
}

static inline uint64_t qfz_label_grid_get(qfz_label_grid rows, int64_t y, int64_t x)
{
    const int64_t i = y * rows.pitch + x;
    return rows.is_wide ? ((const uint64_t *)rows.labels)[i] : ((const uint32_t *)rows.labels)[i];
}

#endif
