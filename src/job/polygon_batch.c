/* SPDX-License-Identifier: MIT */
#include "job/polygon_batch.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* Of a corner: in chains, as a number in the CRS, in the batch, in the table and in GDAL. */
enum { CORNER_BYTES = 3 + 2 * 16 + 2 * 16 + 3 * 16 };

int64_t qfz_polygon_batch_cost(void)
{
    return qfz_polygon_bytes(1) + CORNER_BYTES;
}

void qfz_polygon_batch_fini(qfz_polygon_batch *b)
{
    free(b->chains);
    free(b->x);
    free(b->y);
    qfz_polygon_maker_close(b->maker);
    qfz_polygon_wkb_fini(&b->wkb);
    b->chains = NULL;
    b->x = b->y = NULL;
    b->maker = NULL;
    b->chains_room = b->corners_room = b->n = b->n_bytes = 0;
}

/* ------------------------------------------------------------------------------------------ chains
 */
static qfz_status add_group(qfz_polygon_batch *b, const qfz_arc_group *group, qfz_error *err)
{
    const int64_t n_bytes = b->n_bytes + group->n_bytes;
    if (n_bytes > b->chains_room) {
        const int64_t room = n_bytes > QFZ_POLYGON_BATCH_MOST ? n_bytes : QFZ_POLYGON_BATCH_MOST;
        QFZ_TRY(qfz_realloc((void **)&b->chains, room, 1, err));
        b->chains_room = room;
    }
    memcpy(b->chains + b->n_bytes, group->bytes, (size_t)group->n_bytes);
    b->groups[b->n++] = *group;
    b->n_bytes = n_bytes;
    return QFZ_OK;
}

qfz_status qfz_polygon_batch_take(qfz_polygon_batch *b, qfz_arc_store *store, qfz_error *err)
{
    b->n = b->n_bytes = 0;
    while (b->n < QFZ_POLYGON_BATCH_ROWS && b->n_bytes < QFZ_POLYGON_BATCH_BYTES) {
        qfz_arc_group group;
        QFZ_TRY(qfz_arc_store_next(store, &group, err));
        if (group.n == 0) break;
        QFZ_TRY(add_group(b, &group, err));
    }
    return QFZ_OK;
}

bool qfz_polygon_batch_is_large(const qfz_polygon_batch *b)
{
    return b->n_bytes > QFZ_POLYGON_BATCH_MOST;
}

/* -------------------------------------------------------------------------------------------- rows
 */
/* Computes the coordinates of all corners. */
static qfz_status place_corners(qfz_polygon_batch *b, const qfz_source *source,
                                const qfz_polygon *polygon, qfz_error *err)
{
    int64_t n = 0;
    for (int64_t r = 0; r < polygon->n_rings; r++)
        if (polygon->rings[r].first + polygon->rings[r].n > n)
            n = polygon->rings[r].first + polygon->rings[r].n;
    if (n > b->corners_room) {
        const int64_t room = n + n / 2;
        QFZ_TRY(qfz_realloc((void **)&b->x, room, sizeof *b->x, err));
        QFZ_TRY(qfz_realloc((void **)&b->y, room, sizeof *b->y, err));
        b->corners_room = room;
    }
    for (int64_t i = 0; i < n; i++) {
        b->x[i] = polygon->corners[i].x;
        b->y[i] = polygon->corners[i].y;
    }
    qfz_source_to_crs(source, n, b->x, b->y);
    return QFZ_OK;
}

static qfz_status make_row(qfz_polygon_batch *b, const qfz_polygon_rule *rule, int64_t i,
                           qfz_error *err)
{
    qfz_polygon polygon;
    QFZ_TRY(qfz_polygon_make(b->maker, &b->groups[i], &polygon, err));
    QFZ_TRY(place_corners(b, rule->source, &polygon, err));
    b->labels[i] = polygon.label;
    b->pixels[i] = (uint64_t)polygon.pixels;
    b->areas[i] = (double)polygon.area * qfz_source_area_unit(rule->source);
    b->wkb_starts[i] = b->wkb.n_bytes;
    return qfz_polygon_wkb_add(&b->wkb, &polygon, b->x, b->y, rule->is_mirrored, err);
}

qfz_status qfz_polygon_batch_make(qfz_polygon_batch *b, const qfz_polygon_rule *rule,
                                  qfz_error *err)
{
    const uint8_t *chains = b->chains;
    if (!b->maker)
        QFZ_TRY(qfz_polygon_maker_create(&b->maker, rule->weights_before, rule->tolerance,
                                         rule->map, err));
    b->wkb.n_bytes = 0;
    for (int64_t i = 0; i < b->n; i++) {
        b->groups[i].bytes = chains;
        chains += b->groups[i].n_bytes;
        QFZ_TRY(make_row(b, rule, i, err));
    }
    b->wkb_starts[b->n] = b->wkb.n_bytes;
    return QFZ_OK;
}
