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

static inline int64_t qfz_label_grid_bytes(qfz_label_grid view)
{
    return view.is_wide ? (int64_t)sizeof(uint64_t) : (int64_t)sizeof(uint32_t);
}

/* The place of label x of row y. */
static inline void *qfz_label_grid_at(qfz_label_grid view, int64_t y, int64_t x)
{
    return (char *)view.labels + (y * view.pitch + x) * qfz_label_grid_bytes(view);
}

static inline uint64_t qfz_label_grid_get(qfz_label_grid view, int64_t y, int64_t x)
{
    const int64_t i = y * view.pitch + x;
    return view.is_wide ? ((const uint64_t *)view.labels)[i] : ((const uint32_t *)view.labels)[i];
}

#endif
