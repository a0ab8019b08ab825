/* SPDX-License-Identifier: MIT */
/* test_polygons.c - polygons of random small rasters: each exterior with its holes covers exactly
 * one 4-connected piece of its label, found by a flood; rings are simple; neighbours have the same
 * segments; all is the same in any tiles, and with chains in a file.  Simplified polygons keep the
 * same segments on both sides, no two segments cross, and lines stay within the tolerance. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "regions/arc_edges.h"
#include "regions/polygon.h"

enum { MOST = 14, MOST_CORNERS = 4 * MOST * MOST, MOST_SEGMENTS = 4 * MOST_CORNERS };

typedef struct scene {
    int64_t w, h;
    uint64_t labels[MOST][MOST];
} scene;

typedef struct ring {
    uint64_t label;
    int64_t exterior, n, first;
    bool is_hole;
} ring;

typedef struct result { /* the polygons of all labels */
    ring rings[MOST_CORNERS];
    qfz_polygon_corner corners[MOST_CORNERS];
    int64_t n_rings, n_corners;
} result;

typedef struct segment {
    int64_t y0, x0, y1, x1, n; /* the first end is above or left; n: how often */
} segment;

static uint64_t weights_before[MOST + 1];

static uint64_t label_at(const scene *s, int64_t y, int64_t x)
{
    return y >= 0 && y < s->h && x >= 0 && x < s->w ? s->labels[y][x] : 0;
}

static void draw(scene *s)
{
    static const uint64_t names[] = {0, 1, 7, UINT64_C(1) << 40, UINT64_MAX, 3, 2, 900};
    const int64_t n_names = 2 + check_pick(7), smooth = check_pick(3) * 30;
    s->w = 1 + check_pick(MOST);
    s->h = 1 + check_pick(MOST);
    const bool no_zero = check_chance(40);
    for (int64_t y = 0; y < s->h; y++)
        for (int64_t x = 0; x < s->w; x++) {
            s->labels[y][x] = names[no_zero + check_pick(n_names - no_zero)];
            if (y > 0 && check_chance(smooth)) s->labels[y][x] = s->labels[y - 1][x];
            if (x > 0 && check_chance(smooth)) s->labels[y][x] = s->labels[y][x - 1];
        }
}

/* ------------------------------------------------------------------------------------ the library
 */
static void copy_polygon(result *r, const qfz_polygon *p)
{
    const int64_t rings_before = r->n_rings;
    for (int64_t i = 0; i < p->n_rings; i++) {
        const qfz_polygon_ring *const from = &p->rings[i];
        r->rings[r->n_rings++] = (ring){.label = p->label,
                                        .exterior = rings_before + from->exterior,
                                        .n = from->n,
                                        .first = r->n_corners,
                                        .is_hole = from->pixels < 0};
        for (int64_t c = 0; c < from->n; c++)
            r->corners[r->n_corners++] = p->corners[from->first + c];
    }
}

static void measures_are_right(const scene *s, const qfz_polygon *p)
{
    int64_t pixels = 0;
    uint64_t area = 0;
    for (int64_t y = 0; y < s->h; y++)
        for (int64_t x = 0; x < s->w; x++)
            if (s->labels[y][x] == p->label) {
                pixels++;
                area += weights_before[y + 1] - weights_before[y];
            }
    CHECK(p->pixels == pixels, "%" PRId64 " pixels of %" PRId64, p->pixels, pixels);
    CHECK(p->area == area, "area %" PRIu64 " of %" PRIu64, p->area, area);
}

static bool fits_32_bits(const scene *s)
{
    uint64_t all = 0;
    for (int64_t y = 0; y < s->h; y++)
        for (int64_t x = 0; x < s->w; x++)
            all |= s->labels[y][x];
    return all <= UINT32_MAX;
}

static void trace_tiles(const scene *s, int64_t tile_w, int64_t tile_h, qfz_arc_store *store,
                        qfz_corner_map *map)
{
    static uint64_t wide[(MOST + 2) * (MOST + 2)];
    static uint32_t narrow[(MOST + 2) * (MOST + 2)];
    const bool is_wide = !fits_32_bits(s);
    qfz_arcs arcs = {0};
    qfz_error err = {.status = QFZ_OK};
    for (int64_t y0 = 0; y0 < s->h; y0 += tile_h)
        for (int64_t x0 = 0; x0 < s->w; x0 += tile_w) {
            const qfz_box box = {y0, x0, y0 + tile_h < s->h ? y0 + tile_h : s->h,
                                 x0 + tile_w < s->w ? x0 + tile_w : s->w};
            int64_t n = 0;
            for (int64_t y = box.y0 - 1; y <= box.y1; y++)
                for (int64_t x = box.x0 - 1; x <= box.x1; x++, n++) {
                    wide[n] = label_at(s, y, x);
                    narrow[n] = (uint32_t)wide[n];
                }
            const qfz_label_grid grid = {is_wide ? (void *)wide : narrow, qfz_box_w(box) + 2,
                                         is_wide};
            CHECK(qfz_arcs_trace(&arcs, box, grid, &err) == QFZ_OK, "%s", err.message);
            CHECK(qfz_arc_store_add(store, &arcs, &err) == QFZ_OK, "%s", err.message);
            qfz_corner_map_add(map, box, &arcs);
        }
    qfz_arcs_fini(&arcs);
}

static void make(const scene *s, int64_t tile_w, int64_t tile_h, int64_t memory, double tolerance,
                 result *r)
{
    qfz_error err = {.status = QFZ_OK};
    qfz_arc_store *store = NULL;
    qfz_polygon_maker *maker = NULL;
    qfz_corner_map *map = NULL;
    qfz_arc_group group;
    uint64_t before = 0;
    int64_t n_labels = -1;
    *r = (result){.n_rings = 0};
    CHECK(qfz_arc_store_create(&store, memory, 1 << 20, "/tmp", &err) == QFZ_OK, "%s", err.message);
    CHECK(qfz_corner_map_create(&map, s->w, s->h, &err) == QFZ_OK, "%s", err.message);
    CHECK(qfz_polygon_maker_create(&maker, weights_before, tolerance, map, &err) == QFZ_OK, "%s",
          err.message);
    trace_tiles(s, tile_w, tile_h, store, map);
    CHECK(qfz_arc_store_sort(store, &n_labels, &err) == QFZ_OK, "%s", err.message);
    while (CHECK(qfz_arc_store_next(store, &group, &err) == QFZ_OK, "%s", err.message) && group.n) {
        qfz_polygon p;
        CHECK(group.label > before, "labels are not ascending");
        before = group.label;
        n_labels--;
        if (!CHECK(qfz_polygon_make(maker, &group, &p, &err) == QFZ_OK, "%s", err.message)) break;
        measures_are_right(s, &p);
        copy_polygon(r, &p);
    }
    CHECK(n_labels == 0, "%" PRId64 " more labels were announced", n_labels);
    qfz_polygon_maker_close(maker);
    qfz_corner_map_close(map);
    qfz_arc_store_close(store);
}

/* -------------------------------------------------------------------------------------- checks */
/* Whether the middle of a pixel is inside an odd number of the rings of one exterior. */
static bool covers(const result *r, int64_t exterior, int64_t y, int64_t x)
{
    bool inside = false;
    for (int64_t i = 0; i < r->n_rings; i++) {
        if (r->rings[i].exterior != exterior) continue;
        const qfz_polygon_corner *const c = r->corners + r->rings[i].first;
        for (int64_t k = 0; k < r->rings[i].n; k++) {
            const qfz_polygon_corner a = c[k], b = c[(k + 1) % r->rings[i].n];
            if (a.x != b.x || a.x > x) continue;
            if ((a.y <= y) != (b.y <= y)) inside = !inside;
        }
    }
    return inside;
}

static void flood(const scene *s, int64_t y, int64_t x, int64_t piece, int64_t pieces[MOST][MOST])
{
    pieces[y][x] = piece;
    for (int i = 0; i < 4; i++) {
        const int64_t ny = y + (i == 0) - (i == 1), nx = x + (i == 2) - (i == 3);
        if (label_at(s, ny, nx) == s->labels[y][x] && pieces[ny][nx] < 0)
            flood(s, ny, nx, piece, pieces);
    }
}

static void pieces_are_covered(const scene *s, const result *r)
{
    int64_t pieces[MOST][MOST], n_pieces = 0, n_exteriors = 0;
    int64_t exterior_of[MOST * MOST];
    for (int64_t y = 0; y < s->h; y++)
        for (int64_t x = 0; x < s->w; x++)
            pieces[y][x] = -1;
    for (int64_t y = 0; y < s->h; y++)
        for (int64_t x = 0; x < s->w; x++)
            if (s->labels[y][x] && pieces[y][x] < 0) flood(s, y, x, n_pieces++, pieces);
    for (int64_t i = 0; i < n_pieces; i++)
        exterior_of[i] = -1;
    for (int64_t i = 0; i < r->n_rings; i++) {
        if (r->rings[i].is_hole) continue;
        n_exteriors++;
        for (int64_t y = 0; y < s->h; y++)
            for (int64_t x = 0; x < s->w; x++) {
                if (!covers(r, i, y, x)) continue;
                const int64_t piece = pieces[y][x];
                if (!CHECK(piece >= 0 && s->labels[y][x] == r->rings[i].label,
                           "pixel %" PRId64 ", %" PRId64 " is covered by another label", y, x))
                    return;
                if (exterior_of[piece] < 0) exterior_of[piece] = i;
                CHECK(exterior_of[piece] == i, "a piece is covered by two exteriors");
            }
        for (int64_t y = 0; y < s->h; y++)
            for (int64_t x = 0; x < s->w; x++)
                if (pieces[y][x] >= 0 && exterior_of[pieces[y][x]] == i)
                    CHECK(covers(r, i, y, x), "pixel %" PRId64 ", %" PRId64 " is not covered", y,
                          x);
    }
    CHECK(n_exteriors == n_pieces, "%" PRId64 " exteriors, %" PRId64 " pieces", n_exteriors,
          n_pieces);
}

static int64_t doubled_area(const result *r, const ring *g)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < g->n; k++) {
        const qfz_polygon_corner a = r->corners[g->first + k];
        const qfz_polygon_corner b = r->corners[g->first + (k + 1) % g->n];
        sum += (int64_t)a.x * b.y - (int64_t)b.x * a.y;
    }
    return sum;
}

/* Clockwise in pixels, where y leads down, is positive. */
static void rings_are_canonical(const result *r)
{
    for (int64_t i = 0; i < r->n_rings; i++) {
        const ring *const g = &r->rings[i];
        const qfz_polygon_corner *const c = r->corners + g->first;
        CHECK(g->n >= 3, "a ring of %" PRId64 " corners", g->n);
        CHECK((doubled_area(r, g) < 0) == g->is_hole && doubled_area(r, g) != 0,
              "a ring in the wrong direction");
        for (int64_t a = 0; a < g->n; a++) {
            CHECK(a == 0 || c[a].y > c[0].y || (c[a].y == c[0].y && c[a].x > c[0].x),
                  "a ring does not begin at its first corner");
            for (int64_t b = 0; b < a; b++)
                CHECK(c[a].x != c[b].x || c[a].y != c[b].y, "a ring passes a corner twice");
        }
    }
}

static segment *segments_of(const result *r, int64_t *n_segments)
{
    static segment list[MOST_SEGMENTS];
    int64_t n = 0;
    for (int64_t i = 0; i < r->n_rings; i++)
        for (int64_t k = 0; k < r->rings[i].n; k++) {
            const qfz_polygon_corner a = r->corners[r->rings[i].first + k];
            const qfz_polygon_corner b = r->corners[r->rings[i].first + (k + 1) % r->rings[i].n];
            const bool is_first = a.y < b.y || (a.y == b.y && a.x < b.x);
            const segment s =
                is_first ? (segment){a.y, a.x, b.y, b.x, 1} : (segment){b.y, b.x, a.y, a.x, 1};
            int64_t j = 0;
            while (j < n && (list[j].y0 != s.y0 || list[j].x0 != s.x0 || list[j].y1 != s.y1 ||
                             list[j].x1 != s.x1))
                j++;
            if (j == n)
                list[n++] = s;
            else
                list[j].n++;
        }
    *n_segments = n;
    return list;
}

static int64_t side(const segment *s, int64_t y, int64_t x)
{
    const int64_t cross = (s->x1 - s->x0) * (y - s->y0) - (s->y1 - s->y0) * (x - s->x0);
    return (cross > 0) - (cross < 0);
}

static bool is_end(const segment *s, int64_t y, int64_t x)
{
    return (s->y0 == y && s->x0 == x) || (s->y1 == y && s->x1 == x);
}

static bool is_on(const segment *s, int64_t y, int64_t x)
{
    return side(s, y, x) == 0 && y >= s->y0 && y <= s->y1 && x >= (s->x0 < s->x1 ? s->x0 : s->x1) &&
           x <= (s->x0 < s->x1 ? s->x1 : s->x0);
}

/* Two segments have at most one point in common, an end of both. */
static bool meet_well(const segment *a, const segment *b)
{
    if (is_on(a, b->y0, b->x0) && !is_end(a, b->y0, b->x0)) return false;
    if (is_on(a, b->y1, b->x1) && !is_end(a, b->y1, b->x1)) return false;
    if (is_on(b, a->y0, a->x0) && !is_end(b, a->y0, a->x0)) return false;
    if (is_on(b, a->y1, a->x1) && !is_end(b, a->y1, a->x1)) return false;
    return !(side(a, b->y0, b->x0) * side(a, b->y1, b->x1) < 0 &&
             side(b, a->y0, a->x0) * side(b, a->y1, a->x1) < 0);
}

/* Of a raster without label 0, a segment that is not on the raster's outline has two sides. */
static void segments_are_shared(const scene *s, const result *r)
{
    int64_t n;
    const segment *const list = segments_of(r, &n);
    bool has_zero = false;
    for (int64_t y = 0; y < s->h; y++)
        for (int64_t x = 0; x < s->w; x++)
            has_zero |= s->labels[y][x] == 0;
    for (int64_t i = 0; i < n; i++) {
        const segment *const a = &list[i];
        const bool is_outline = (a->y0 == a->y1 && (a->y0 == 0 || a->y0 == s->h)) ||
                                (a->x0 == a->x1 && (a->x0 == 0 || a->x0 == s->w));
        CHECK(a->n <= 2, "a segment of %" PRId64 " polygons", a->n);
        if (!has_zero)
            CHECK(a->n == (is_outline ? 1 : 2),
                  "a segment at %" PRId64 ", %" PRId64 " has %" PRId64 " sides", a->y0, a->x0,
                  a->n);
        for (int64_t j = 0; j < i; j++)
            CHECK(meet_well(a, &list[j]),
                  "segments at %" PRId64 ", %" PRId64 " and %" PRId64 ", %" PRId64 " cross", a->y0,
                  a->x0, list[j].y0, list[j].x0);
    }
}

static void same(const result *a, const result *b)
{
    if (!CHECK(a->n_rings == b->n_rings && a->n_corners == b->n_corners, "other numbers")) return;
    for (int64_t i = 0; i < a->n_rings; i++)
        CHECK(a->rings[i].label == b->rings[i].label && a->rings[i].n == b->rings[i].n &&
                  a->rings[i].exterior == b->rings[i].exterior,
              "ring %" PRId64 " is another", i);
    for (int64_t i = 0; i < a->n_corners; i++)
        CHECK(a->corners[i].x == b->corners[i].x && a->corners[i].y == b->corners[i].y,
              "corner %" PRId64 " is another", i);
}

static double distance_to(qfz_polygon_corner p, qfz_polygon_corner a, qfz_polygon_corner b)
{
    const double bx = b.x - a.x, by = b.y - a.y, px = p.x - a.x, py = p.y - a.y;
    double along = (px * bx + py * by) / (bx * bx + by * by);
    along = fmin(1, fmax(0, along));
    return hypot(px - along * bx, py - along * by);
}

/* Each corner of the exact rings is within the tolerance of the simplified ring; rings are in the
 * same order. */
static void lines_are_near(const result *exact, const result *simple, double tolerance)
{
    if (!CHECK(exact->n_rings == simple->n_rings, "rings are gone")) return;
    for (int64_t i = 0; i < exact->n_rings; i++)
        for (int64_t k = 0; k < exact->rings[i].n; k++) {
            const qfz_polygon_corner p = exact->corners[exact->rings[i].first + k];
            const ring *const g = &simple->rings[i];
            double least = INFINITY;
            bool is_kept = false;
            for (int64_t j = 0; j < g->n; j++) {
                const qfz_polygon_corner a = simple->corners[g->first + j];
                const qfz_polygon_corner b = simple->corners[g->first + (j + 1) % g->n];
                least = fmin(least, distance_to(p, a, b));
                is_kept |= a.x == p.x && a.y == p.y;
            }
            CHECK(least <= tolerance + 1e-9, "a corner is %g away", least);
            CHECK(is_kept || !p.is_junction, "a junction is gone");
        }
}

static void one_case(int64_t number)
{
    static const double tolerances[] = {0.5, 0.75, 1, 1.5, 3, 100};
    static result whole, tiled, simple;
    static scene s;
    check_case(number, "a raster");
    draw(&s);
    const int64_t tile_w = 1 + check_pick(s.w), tile_h = 1 + check_pick(s.h);
    const int64_t memory = check_chance(50) ? 1 << 20 : 1 + check_pick(3000);
    const double tolerance = tolerances[check_pick(6)];
    check_describe("%" PRId64 " x %" PRId64 ", tiles %" PRId64 " x %" PRId64 ", memory %" PRId64
                   ", tolerance %g",
                   s.w, s.h, tile_w, tile_h, memory, tolerance);
    make(&s, s.w, s.h, 1 << 20, 0, &whole);
    pieces_are_covered(&s, &whole);
    rings_are_canonical(&whole);
    segments_are_shared(&s, &whole);
    make(&s, tile_w, tile_h, memory, 0, &tiled);
    same(&whole, &tiled);
    make(&s, s.w, s.h, 1 << 20, tolerance, &simple);
    rings_are_canonical(&simple);
    segments_are_shared(&s, &simple);
    lines_are_near(&whole, &simple, tolerance);
    make(&s, tile_w, tile_h, memory, tolerance, &tiled);
    same(&simple, &tiled);
}

/* Border edges of tiles that are wider than a word of bits, of labels of both widths. */
static void edges_are_right(int64_t number)
{
    enum { H = 4, W = 200 };
    static uint64_t wide[(H + 2) * (W + 2)];
    static uint32_t narrow[(H + 2) * (W + 2)];
    static qfz_arcs arcs;
    qfz_error err = {.status = QFZ_OK};
    const int64_t w = 1 + check_pick(W), h = 1 + check_pick(H), pitch = w + 2;
    const int64_t change = check_chance(50) ? 2 : 60, shift = check_chance(50) ? 32 : 0;
    check_case(number, "edges of %" PRId64 " x %" PRId64 " pixels", w, h);
    for (int64_t i = 0; i < (h + 2) * pitch; i++) {
        wide[i] = i == 0 || check_chance(change) ? (uint64_t)check_pick(3) << shift : wide[i - 1];
        narrow[i] = (uint32_t)wide[i];
    }
    const qfz_label_grid grid = {shift ? (void *)wide : narrow, pitch, shift > 0};
    CHECK(qfz_arcs_find_edges(&arcs, w, h, grid, &err) == QFZ_OK, "%s", err.message);
    for (int64_t y = 0; y <= h; y++)
        for (int64_t x = 0; x <= w; x++) {
            const uint64_t *const above = wide + y * pitch + x, *const below = above + pitch;
            const int expected =
                (above[1] != below[1]) << QFZ_ARC_EAST | (below[0] != below[1]) << QFZ_ARC_SOUTH |
                (above[0] != below[0]) << QFZ_ARC_WEST | (above[0] != above[1]) << QFZ_ARC_NORTH;
            const int found = arcs.corners[y * arcs.corners_pitch + x];
            CHECK(found == expected, "corner %" PRId64 ", %" PRId64 ": %d, not %d", y, x, found,
                  expected);
        }
    if (number + 1 == check_.cases) qfz_arcs_fini(&arcs);
}

/* A label with more chains than one polygon may have. */
static void long_borders_are_refused(void)
{
    static scene s;
    qfz_error err = {.status = QFZ_OK};
    qfz_arc_store *store = NULL;
    qfz_corner_map *map = NULL;
    qfz_arc_group group;
    int64_t n_labels;
    check_case(0, "a chessboard of two labels, borders of at most 500 bytes");
    s = (scene){.w = MOST, .h = MOST};
    for (int64_t i = 0; i < MOST * MOST; i++)
        s.labels[i / MOST][i % MOST] = (uint64_t)(i / MOST + i % MOST) % 2 + 5;
    CHECK(qfz_corner_map_create(&map, s.w, s.h, &err) == QFZ_OK, "%s", err.message);
    CHECK(qfz_arc_store_create(&store, 1 << 20, 500, "/tmp", &err) == QFZ_OK, "%s", err.message);
    trace_tiles(&s, 5, 5, store, map);
    CHECK(qfz_arc_store_sort(store, &n_labels, &err) == QFZ_OK, "%s", err.message);
    CHECK(qfz_arc_store_next(store, &group, &err) == QFZ_ENOMEM, "no error");
    CHECK(strstr(err.message, "label 5") != NULL, "%s", err.message);
    qfz_arc_store_close(store);
    qfz_corner_map_close(map);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 1500);
    for (int64_t y = 0; y < MOST; y++)
        weights_before[y + 1] = weights_before[y] + (uint64_t)(1000 + 17 * y * y);
    for (int64_t i = check_.first; i < check_.cases; i++)
        one_case(i);
    for (int64_t i = check_.first; i < check_.cases; i++)
        edges_are_right(i);
    long_borders_are_refused();
    return check_end();
}
