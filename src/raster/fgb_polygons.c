/* SPDX-License-Identifier: MIT */
/* fgb_polygons.c - FlatBuffers as by the schema of FlatGeobuf.
 *
 * A table begins with the distance back to its vtable: bytes of the vtable, bytes of the table, and
 * for each field its offset in the table, 0 for one that is absent.  Vectors begin with their
 * length; numbers are aligned to their size, counted from the size of the feature. */
#include "raster/fgb_polygons.h"

#include <string.h>

enum { POLYGON = 3, MULTIPOLYGON = 6, WKB_HEAD = 9, POINT = 16 };
enum { PART_BYTES = 48, FRONT_BYTES = 96 }; /* without points and ends of rings */

/* Offsets in the feature: tables and vtables. */
enum {
    FEATURE_AT = 16,
    GEOMETRY_VTABLE_AT = 28,
    GEOMETRY_AT = 48,
    PART_VTABLE_AT = 60,
    PARTS_AT = 80
};

static char *put_16s(char *to, const uint16_t *values, int n)
{
    memcpy(to, values, (size_t)n * sizeof *values);
    return to + (size_t)n * sizeof *values;
}

static char *put_32(char *to, uint32_t value)
{
    memcpy(to, &value, sizeof value);
    return to + sizeof value;
}

static uint32_t get_32(const uint8_t *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static uint32_t n_parts_of(const uint8_t *wkb)
{
    return get_32(wkb + 5);
}

int64_t qfz_fgb_polygons_room(const uint8_t *wkb, int64_t n)
{
    return FRONT_BYTES + n_parts_of(wkb) * (int64_t)PART_BYTES + n;
}

/* The feature with its geometry, up to the vector of parts. */
static char *put_front(char *start)
{
    static const uint16_t feature[] = {8, 12, 4, 8}; /* geometry at 4, properties at 8 */
    static const uint16_t geometry[] = {20, 12, 0, 0, 0, 0, 0, 0, 8, 4}; /* type at 8, parts at 4 */
    static const uint16_t part[] = {18, 16, 4, 8, 0, 0, 0, 0, 12}; /* ends at 4, xy 8, type 12 */
    memset(start, 0, PARTS_AT);
    (void)put_32(start + 4, FEATURE_AT - 4);
    (void)put_16s(start + 8, feature, 4);
    (void)put_32(start + FEATURE_AT, FEATURE_AT - 8);
    (void)put_32(start + FEATURE_AT + 4, GEOMETRY_AT - (FEATURE_AT + 4));
    (void)put_16s(start + GEOMETRY_VTABLE_AT, geometry, 10);
    (void)put_32(start + GEOMETRY_AT, GEOMETRY_AT - GEOMETRY_VTABLE_AT);
    (void)put_32(start + GEOMETRY_AT + 4, PARTS_AT - (GEOMETRY_AT + 4));
    start[GEOMETRY_AT + 8] = MULTIPOLYGON;
    (void)put_16s(start + PART_VTABLE_AT, part, 9);
    return start + PARTS_AT;
}

static void widen(qfz_extent *box, const char *points, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        double at[2];
        memcpy(at, points + (size_t)i * POINT, sizeof at);
        const qfz_extent point = {at[0], at[1], at[0], at[1]};
        qfz_extent_widen(box, &point);
    }
}

/* One polygon: its table, the ends of its rings, and their points.  *wkb moves to its end. */
static char *put_part(char *start, char *to, const uint8_t **wkb, qfz_extent *box)
{
    const uint32_t n_rings = get_32(*wkb + 5);
    char *const table = to;
    uint32_t n_points = 0;
    to = put_32(to, (uint32_t)(table - start) - PART_VTABLE_AT);
    to = put_32(to, 12); /* the ends follow the table, 16 - 4 */
    to = put_32(to, 0);  /* xy: below */
    to = put_32(to, POLYGON);
    to = put_32(to, n_rings);
    char *ends = to;
    to += 4 * (size_t)n_rings;
    if ((to - start) % 8 == 0) to = put_32(to, 0);
    (void)put_32(table + 8, (uint32_t)(to - (table + 8)));
    char *const length = to;
    to += 4;
    *wkb += WKB_HEAD;
    for (uint32_t r = 0; r < n_rings; r++) {
        const uint32_t n = get_32(*wkb);
        memcpy(to, *wkb + 4, (size_t)n * POINT);
        if (r == 0) widen(box, to, n);
        to += (size_t)n * POINT;
        *wkb += 4 + (size_t)n * POINT;
        n_points += n;
        ends = put_32(ends, n_points);
    }
    (void)put_32(length, 2 * n_points);
    return to;
}

char *qfz_fgb_put_polygons(char *start, const uint8_t *wkb, qfz_extent *box)
{
    const uint32_t n_parts = n_parts_of(wkb);
    char *offsets = put_32(put_front(start), n_parts), *to = offsets + 4 * (size_t)n_parts;
    *box = qfz_extent_none();
    wkb += WKB_HEAD;
    for (uint32_t i = 0; i < n_parts; i++) {
        offsets = put_32(offsets, (uint32_t)(to - offsets));
        to = put_part(start, to, &wkb, box);
    }
    (void)put_32(start + FEATURE_AT + 8, (uint32_t)(to - (start + FEATURE_AT + 8)));
    return to;
}
