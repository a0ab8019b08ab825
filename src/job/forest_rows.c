/* SPDX-License-Identifier: MIT */
#include "job/forest_rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/position.h"

enum { SOME_ROWS = 1024, NEIGHBOURS = 6 };

typedef struct making {
    qfz_run *run;
    const qfz_thread_context *context;
    const uint8_t *forest; /* as in qfz_edge_bits */
    qfz_image image;       /* the tile with its own levels */
    qfz_exterior exterior; /* of the filter */
    const void *labels;
    bool wide;
    uint32_t *levels; /* of a row of edges */

    /* Labels on the rings of neighbouring tiles, by 3 * (1 if below) + 1 + (-1 left .. 1 right);
     * NULL: not read yet. */
    uint64_t *rings[NEIGHBOURS];

    qfz_forest_rows_fn take;
    void *arg;
    qfz_forest_row rows[SOME_ROWS];
    int64_t n;
} making;

static const uint8_t *forest_of(const qfz_run *run, const qfz_thread_context *context)
{
    return run->filter.threads[context - run->contexts.list].bits.forest;
}

int64_t qfz_forest_rows_count(const qfz_run *run, const qfz_thread_context *context)
{
    const uint8_t *const forest = forest_of(run, context);
    int64_t n = 0;
    for (int64_t p = 0; p < context->tile.h * context->tile.w; p++)
        n += __builtin_popcount(forest[p]);
    return n;
}

static uint64_t label_at(const making *m, int64_t p)
{
    return m->wide ? ((const uint64_t *)m->labels)[p] : ((const uint32_t *)m->labels)[p];
}

static qfz_status flush(making *m, qfz_error *err)
{
    const int64_t n = m->n;
    m->n = 0;
    return n > 0 ? m->take(m->arg, m->rows, n, err) : QFZ_OK;
}

static qfz_status add(making *m, int64_t y, int64_t x, int dir, uint32_t level, uint64_t b,
                      qfz_error *err)
{
    const qfz_box box = m->context->box;
    const uint64_t a = label_at(m, y * m->image.w + x);
    const bool in_order = a < b || b == QFZ_FOREST_OPEN;
    m->rows[m->n++] = (qfz_forest_row){.level = level,
                                       .position = qfz_position(box.y0 + y, box.x0 + x, dir),
                                       .a = in_order ? a : b,
                                       .b = in_order ? b : a};
    return m->n == SOME_ROWS ? flush(m, err) : QFZ_OK;
}

/* The label of a pixel of a neighbouring tile, at (y, x) of the tile at work; QFZ_FOREST_OPEN in
 * another part. */
static qfz_status outer_label(making *m, int64_t y, int64_t x, uint64_t *label, qfz_error *err)
{
    const qfz_tiling *const t = &m->run->setup->tiling;
    const int64_t at_y = m->context->box.y0 + y, at_x = m->context->box.x0 + x;
    const int64_t tile_y = at_y / t->tile_h, tile_x = at_x / t->tile_w;
    const qfz_box box = qfz_tiling_box(t, tile_y, tile_x);
    const int right = x < 0 ? -1 : x >= m->image.w;
    const int64_t tile = tile_y * t->n_x + tile_x;
    uint64_t **const ring = &m->rings[3 * (y >= m->image.h) + 1 + right];
    *label = QFZ_FOREST_OPEN;
    if (tile >= m->run->end_tile) return QFZ_OK;
    if (!*ring) QFZ_TRY(qfz_stitch_ring_labels(m->run->stitch, tile, ring, err));
    *label = (*ring)[qfz_ring_index(qfz_box_h(box), qfz_box_w(box), at_y - box.y0, at_x - box.x0)];
    return QFZ_OK;
}

static qfz_status add_outer(making *m, int64_t y, int64_t x, int dir, qfz_error *err)
{
    const int64_t n_ring = m->exterior.n_ring;
    const int64_t i = qfz_ring_index(m->image.h, m->image.w, y, x);
    uint64_t other;
    QFZ_TRY(outer_label(m, y + qfz_dir_dy[dir], x + qfz_dir_dx[dir], &other, err));
    return add(m, y, x, dir, m->exterior.cross[dir * n_ring + i], other, err);
}

/* The first of pixels x .. w - 1 of a row from which an edge of the forest starts in this
 * direction; w: none.  Most pixels have none, so eight are looked at together. */
static int64_t next_edge(const uint8_t *forest, int64_t x, int64_t w, int dir)
{
    const uint64_t edges = UINT64_C(0x0101010101010101) << dir;
    uint64_t eight;
    for (; x + (int64_t)sizeof eight <= w; x += (int64_t)sizeof eight) {
        memcpy(&eight, forest + x, sizeof eight);
        if (eight & edges) break;
    }
    while (x < w && !(forest[x] >> dir & 1))
        x++;
    return x;
}

/* The edges of one direction from one row of pixels. */
static qfz_status add_row(making *m, int64_t y, int dir, qfz_error *err)
{
    const int64_t w = m->image.w, dx = qfz_dir_dx[dir], v = y + qfz_dir_dy[dir];
    const int64_t from = dx < 0 ? 1 : 0, to = v < m->image.h ? w - (dx > 0) : from;
    const uint8_t *const forest = m->forest + y * w;
    const int64_t first = next_edge(forest, 0, w, dir);
    if (first == w) return QFZ_OK;
    if (to > from)
        qfz_edge_levels(&m->image, &m->run->setup->rule, dir, y * w + from, v * w + from + dx,
                        to - from, m->levels);
    for (int64_t x = first; x < w; x = next_edge(forest, x + 1, w, dir)) {
        if (x < from || x >= to)
            QFZ_TRY(add_outer(m, y, x, dir, err));
        else
            QFZ_TRY(add(m, y, x, dir, m->levels[x - from], label_at(m, v * w + x + dx), err));
    }
    return QFZ_OK;
}

static qfz_status add_rows(making *m, qfz_error *err)
{
    for (int64_t y = 0; y < m->image.h; y++)
        for (int dir = 0; dir < qfz_n_dirs(&m->run->setup->rule); dir++)
            QFZ_TRY(add_row(m, y, dir, err));
    return flush(m, err);
}

qfz_status qfz_forest_rows_make(qfz_run *run, const qfz_thread_context *context, int64_t tile,
                                const void *labels, bool wide, qfz_forest_rows_fn take, void *arg,
                                qfz_error *err)
{
    making *m = NULL;
    qfz_status st;
    QFZ_TRY(QFZ_NEW_ZERO(&m, 1, err));
    m->run = run;
    m->context = context;
    m->forest = forest_of(run, context);
    m->image = context->tile;
    m->image.zeroed = NULL;
    m->labels = labels;
    m->wide = wide;
    m->take = take;
    m->arg = arg;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&m->levels, m->image.w, err));
    QFZ_TRY_OR(st, cleanup, qfz_stitch_exterior(run->filter.stitch, tile, &m->exterior, err));
    st = add_rows(m, err);

cleanup:
    qfz_exterior_fini(&m->exterior);
    free(m->levels);
    for (int i = 0; i < NEIGHBOURS; i++)
        free(m->rings[i]);
    free(m);
    return st;
}
