/* SPDX-License-Identifier: MIT */
#include "regions/polygon_wkb.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum { POLYGON = 3, MULTIPOLYGON = 6, HEAD_BYTES = 9, POINT_BYTES = 16 };

void qfz_polygon_wkb_fini(qfz_polygon_wkb *wkb)
{
    free(wkb->bytes);
    *wkb = (qfz_polygon_wkb){0};
}

static int64_t bytes_of(const qfz_polygon *polygon)
{
    int64_t bytes = HEAD_BYTES + polygon->n_exteriors * HEAD_BYTES;
    for (int64_t r = 0; r < polygon->n_rings; r++)
        bytes += 4 + (polygon->rings[r].n + 1) * POINT_BYTES;
    return bytes;
}

static uint8_t *put_count(uint8_t *at, int64_t count)
{
    const uint32_t word = (uint32_t)count;
    memcpy(at, &word, sizeof word);
    return at + sizeof word;
}

/* Byte order, type, and number of parts. */
static uint8_t *put_head(uint8_t *at, int type, int64_t n_parts)
{
    *at++ = 1;
    at = put_count(at, type);
    return put_count(at, n_parts);
}

static uint8_t *put_point(uint8_t *at, double x, double y)
{
    memcpy(at, &x, sizeof x);
    memcpy(at + sizeof x, &y, sizeof y);
    return at + POINT_BYTES;
}

/* From the first corner round to the first corner. */
static uint8_t *put_ring(uint8_t *at, const qfz_polygon_ring *ring, const double *x,
                         const double *y, bool backward)
{
    at = put_count(at, ring->n + 1);
    for (int64_t i = 0; i <= ring->n; i++) {
        const int64_t k = i == 0 || i == ring->n ? 0 : backward ? ring->n - i : i;
        at = put_point(at, x[ring->first + k], y[ring->first + k]);
    }
    return at;
}

static int64_t end_of_piece(const qfz_polygon *polygon, int64_t exterior)
{
    int64_t r = exterior;
    while (r < polygon->n_rings && polygon->rings[r].exterior == exterior)
        r++;
    return r;
}

qfz_status qfz_polygon_wkb_add(qfz_polygon_wkb *wkb, const qfz_polygon *polygon, const double *x,
                               const double *y, bool is_mirrored, qfz_error *err)
{
    const int64_t bytes = bytes_of(polygon);
    if (bytes / POINT_BYTES > UINT32_MAX)
        return qfz_fail(err, QFZ_EARG, "label %llu: its polygon has more than 2^32 corners",
                        (unsigned long long)polygon->label);
    if (wkb->n_bytes + bytes > wkb->room) {
        const int64_t room = 2 * (wkb->n_bytes + bytes);
        QFZ_TRY(qfz_realloc((void **)&wkb->bytes, room, 1, err));
        wkb->room = room;
    }
    uint8_t *at = put_head(wkb->bytes + wkb->n_bytes, MULTIPOLYGON, polygon->n_exteriors);
    for (int64_t r = 0, end; r < polygon->n_rings; r = end) {
        end = end_of_piece(polygon, r);
        at = put_head(at, POLYGON, end - r);
        for (int64_t i = r; i < end; i++)
            at = put_ring(at, &polygon->rings[i], x, y, is_mirrored);
    }
    wkb->n_bytes += bytes;
    return QFZ_OK;
}
