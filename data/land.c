/* SPDX-License-Identifier: MIT */
/* land.c - see land.h.
 *
 * Everything starts from hashed cells: a cell of size S has one site in it, so that only sites of
 * the 3 x 3 cells around a point can matter to it.  District sites part the land into Voronoi
 * cells, each with its own field grid; town sites carry a town or not, and roads lead from each
 * town to the towns of the cells to the right and below. */
#include "land.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

enum { DISTRICT = 420, TOWN = 1100, RIVER = 1700, MAX_SITES = 25, MAX_ROADS = 64 };
enum { N_WAVES = 6 }; /* blue, green, red, near infrared, two of the short-wave infrared */

typedef struct spectrum {
    float at[N_WAVES];
} spectrum;

enum { WATER, FOREST, ROAD, STREET, GARDEN, HEDGE, ROOF, CROPS, N_CROPS = 9 };

/* Reflectance in percent. */
static const spectrum covers[CROPS + N_CROPS] = {
    [WATER] = {{5.5f, 5.0f, 3.2f, 1.6f, 0.9f, 0.6f}},
    [FOREST] = {{3.1f, 5.3f, 3.9f, 25.0f, 12.0f, 5.5f}},
    [ROAD] = {{12.0f, 13.0f, 14.0f, 17.0f, 19.0f, 18.0f}},
    [STREET] = {{10.0f, 10.5f, 11.0f, 14.0f, 16.0f, 15.0f}},
    [GARDEN] = {{4.5f, 7.0f, 6.0f, 27.0f, 17.0f, 10.0f}},
    [HEDGE] = {{3.2f, 5.2f, 3.9f, 25.0f, 14.0f, 7.0f}},
    [ROOF] = {{13.0f, 14.0f, 17.0f, 21.0f, 23.0f, 22.0f}},
    [CROPS + 0] = {{3.4f, 7.0f, 3.6f, 44.0f, 19.0f, 8.5f}},    /* young wheat */
    [CROPS + 1] = {{6.5f, 10.5f, 14.5f, 27.0f, 33.0f, 23.0f}}, /* ripe wheat */
    [CROPS + 2] = {{7.2f, 9.6f, 12.4f, 17.0f, 25.0f, 24.0f}},  /* bare soil */
    [CROPS + 3] = {{4.0f, 8.0f, 5.0f, 38.0f, 21.0f, 11.0f}},   /* maize */
    [CROPS + 4] = {{4.8f, 9.0f, 6.2f, 33.0f, 23.0f, 13.0f}},   /* meadow */
    [CROPS + 5] = {{5.0f, 12.5f, 12.0f, 40.0f, 20.0f, 10.0f}}, /* rape in flower */
    [CROPS + 6] = {{8.6f, 11.6f, 15.2f, 22.0f, 31.0f, 29.0f}}, /* stubble */
    [CROPS + 7] = {{3.9f, 6.6f, 5.2f, 35.0f, 16.0f, 7.5f}},    /* beet */
    [CROPS + 8] = {{5.6f, 7.4f, 9.2f, 13.0f, 19.0f, 18.0f}},   /* wet soil */
};

typedef struct district {
    float x, y; /* of the site, relative to the block */
    float cos_a, sin_a;
    float field_w, field_h;
    float hedge; /* half the width of what lies between fields, in pixels; 0: nothing */
    uint64_t key;
} district;

typedef struct town {
    float x, y, radius; /* 0: none */
    float cos_a, sin_a;
    uint64_t key;
} town;

typedef struct road {
    float x, y, dx, dy, length, half_width;
} road;

/* All objects that can reach one block. */
typedef struct scenery {
    district districts[MAX_SITES];
    int n_districts;
    town towns[MAX_SITES];
    int n_towns;
    road roads[MAX_ROADS];
    int n_roads;
    float river_y[2][LAND_BLOCK], river_w[2][LAND_BLOCK]; /* by column */
    float brook_x[2][LAND_BLOCK], brook_w[2][LAND_BLOCK]; /* by row */
} scenery;

/* The cover of a pixel, before the reflectance of a band. */
typedef struct ground {
    int16_t cover;
    float gain; /* light and texture */
    float tint; /* shifts the spectrum a little, by field */
} ground;

static uint64_t mix(uint64_t v)
{
    v = (v ^ (v >> 32)) * 0xd6e8feb86659fd93u;
    v = (v ^ (v >> 32)) * 0xd6e8feb86659fd93u;
    return v ^ (v >> 32);
}

static uint64_t key_at(uint64_t seed, int64_t x, int64_t y)
{
    return mix(seed + (uint64_t)x * 0x9e3779b97f4a7c15u + (uint64_t)y * 0xc2b2ae3d27d4eb4fu);
}

/* The n-th number in [0, 1) of a key. */
static float part(uint64_t key, int n)
{
    return (float)(mix(key + (uint64_t)n * 0xa0761d6478bd642fu) >> 40) * 0x1p-24f;
}

static int64_t cell_of(int64_t v, int64_t size)
{
    return v >= 0 ? v / size : -((-v + size - 1) / size);
}

/* Smooth noise in [-1, 1] on a lattice of the given size, by its four corners. */
typedef struct lattice {
    float v00, v01, v10, v11, fx, fy, step;
} lattice;

/* The size is a power of two that is at least the block's, and blocks are aligned: one cell. */
static lattice lattice_at(uint64_t seed, int64_t x0, int64_t y0, int size)
{
    const int64_t cx = cell_of(x0, size), cy = cell_of(y0, size);
    const float step = 1.0f / (float)size;
    return (lattice){.v00 = 2 * part(key_at(seed, cx, cy), 0) - 1,
                     .v01 = 2 * part(key_at(seed, cx + 1, cy), 0) - 1,
                     .v10 = 2 * part(key_at(seed, cx, cy + 1), 0) - 1,
                     .v11 = 2 * part(key_at(seed, cx + 1, cy + 1), 0) - 1,
                     .fx = (float)(x0 - cx * size) * step,
                     .fy = (float)(y0 - cy * size) * step,
                     .step = step};
}

static float lattice_value(const lattice *l, int x, int y)
{
    float u = l->fx + (float)x * l->step, v = l->fy + (float)y * l->step;
    u = u * u * (3 - 2 * u);
    v = v * v * (3 - 2 * v);
    const float a = l->v00 + (l->v01 - l->v00) * u;
    return a + (l->v10 + (l->v11 - l->v10) * u - a) * v;
}

/* Smooth noise at any place and size. */
static float noise_at(uint64_t seed, float x, float y)
{
    const float bx = floorf(x), by = floorf(y);
    const int64_t cx = (int64_t)bx, cy = (int64_t)by;
    const lattice l = {.v00 = 2 * part(key_at(seed, cx, cy), 0) - 1,
                       .v01 = 2 * part(key_at(seed, cx + 1, cy), 0) - 1,
                       .v10 = 2 * part(key_at(seed, cx, cy + 1), 0) - 1,
                       .v11 = 2 * part(key_at(seed, cx + 1, cy + 1), 0) - 1,
                       .fx = x - bx,
                       .fy = y - by};
    return lattice_value(&l, 0, 0);
}

static district district_in(uint64_t seed, int64_t cx, int64_t cy, int64_t x0, int64_t y0)
{
    const uint64_t key = key_at(seed ^ 0x11, cx, cy);
    const float angle = 1.5707963f * part(key, 2), style = part(key, 3);
    return (district){.x = (float)(cx * DISTRICT - x0) + DISTRICT * part(key, 0),
                      .y = (float)(cy * DISTRICT - y0) + DISTRICT * part(key, 1),
                      .cos_a = cosf(angle),
                      .sin_a = sinf(angle),
                      .field_w = 16 + 52 * part(key, 4) * part(key, 4),
                      .field_h = 26 + 80 * part(key, 5),
                      .hedge = style < 0.35f  ? 0.75f
                               : style < 0.7f ? 0.45f
                                              : 0,
                      .key = key};
}

/* The districts that own a pixel of the block: none farther than the nearest's farthest reach. */
static void find_districts(scenery *s, uint64_t seed, int64_t x0, int64_t y0)
{
    const float half = LAND_BLOCK / 2.0f, reach = half * 1.4143f;
    const int64_t cx = cell_of(x0 + LAND_BLOCK / 2, DISTRICT);
    const int64_t cy = cell_of(y0 + LAND_BLOCK / 2, DISTRICT);
    district all[25] = {0};
    float away[25] = {0}, nearest = INFINITY;
    for (int i = 0; i < 25; i++) {
        all[i] = district_in(seed, cx + i % 5 - 2, cy + i / 5 - 2, x0, y0);
        away[i] = hypotf(all[i].x - half, all[i].y - half);
        nearest = fminf(nearest, away[i]);
    }
    s->n_districts = 0;
    for (int i = 0; i < 25; i++)
        if (away[i] <= nearest + 2 * reach + 16) s->districts[s->n_districts++] = all[i];
}

static town town_in(uint64_t seed, int64_t cx, int64_t cy, int64_t x0, int64_t y0)
{
    const uint64_t key = key_at(seed ^ 0x22, cx, cy);
    const float size = part(key, 2), angle = 1.5707963f * part(key, 3);
    return (town){.x = (float)(cx * TOWN - x0) + TOWN * (0.2f + 0.6f * part(key, 0)),
                  .y = (float)(cy * TOWN - y0) + TOWN * (0.2f + 0.6f * part(key, 1)),
                  .radius = size < 0.2f ? 18 : 25 + 190 * size * size * size,
                  .cos_a = cosf(angle),
                  .sin_a = sinf(angle),
                  .key = key};
}

static void add_road(scenery *s, const town *a, const town *b, float half_width)
{
    const float half = LAND_BLOCK / 2.0f, length = hypotf(b->x - a->x, b->y - a->y);
    const road r = {.x = a->x,
                    .y = a->y,
                    .dx = (b->x - a->x) / length,
                    .dy = (b->y - a->y) / length,
                    .length = length,
                    .half_width = half_width};
    const float px = half - r.x, py = half - r.y, along = px * r.dx + py * r.dy;
    if (fabsf(px * r.dy - py * r.dx) > 60 || along < -60 || along > length + 60) return;
    if (s->n_roads < MAX_ROADS) s->roads[s->n_roads++] = r;
}

static void find_towns(scenery *s, uint64_t seed, int64_t x0, int64_t y0)
{
    const float half = LAND_BLOCK / 2.0f;
    const int64_t cx = cell_of(x0, TOWN), cy = cell_of(y0, TOWN);
    s->n_towns = s->n_roads = 0;
    for (int64_t j = cy - 2; j <= cy + 1; j++) {
        for (int64_t i = cx - 2; i <= cx + 1; i++) {
            const uint64_t key = key_at(seed ^ 0x22, i, j);
            const town here = town_in(seed, i, j, x0, y0);
            const town right = town_in(seed, i + 1, j, x0, y0);
            const town below = town_in(seed, i, j + 1, x0, y0);
            const town across = town_in(seed, i + 1, j + 1, x0, y0);
            add_road(s, &here, &right, part(key, 5) < 0.4f ? 1.3f : 0.8f);
            add_road(s, &here, &below, part(key, 6) < 0.4f ? 1.3f : 0.8f);
            if (part(key, 7) < 0.4f) add_road(s, &here, &across, 0.7f);
            if (hypotf(here.x - half, here.y - half) < here.radius * 1.4f + 50 &&
                s->n_towns < MAX_SITES)
                s->towns[s->n_towns++] = here;
        }
    }
}

/* The middle and half the width of the stream number n at a place along it. */
static void stream_at(uint64_t seed, int64_t n, double along, bool wide, float *middle,
                      float *half_width)
{
    const uint64_t key = key_at(seed ^ (wide ? 0x33u : 0x44u), n, 7);
    const float bend = wide ? 1 : 0.5f;
    double at = RIVER * ((double)n + 0.25 + 0.5 * (double)part(key, 0));
    for (int i = 0; i < 5; i++) {
        const double period = (2600 >> i) * (0.8 + 0.4 * (double)part(key, 2 * i + 1));
        at += (double)bend * 0.075 * period *
              sin(along * 6.283185307 / period + 6.28 * (double)part(key, 2 * i + 2));
    }
    *middle = (float)at;
    const double swell = sin(along * 0.0021 + 6.28 * (double)part(key, 20));
    *half_width =
        wide ? (float)(9 + 14 * (double)part(key, 21) + 3 * swell) : (float)(1.6 + 0.8 * swell);
}

/* The two streams around the block, by column (rivers) and by row (brooks). */
static void find_streams(scenery *s, uint64_t seed, int64_t x0, int64_t y0)
{
    for (int k = 0; k < 2; k++) {
        const int64_t river = cell_of(y0 - RIVER / 2, RIVER) + k;
        const int64_t brook = cell_of(x0 - RIVER / 2, RIVER) + k;
        for (int i = 0; i < LAND_BLOCK; i++) {
            stream_at(seed, river, (double)(x0 + i), true, &s->river_y[k][i], &s->river_w[k][i]);
            stream_at(seed, brook, (double)(y0 + i), false, &s->brook_x[k][i], &s->brook_w[k][i]);
            s->river_y[k][i] -= (float)y0;
            s->brook_x[k][i] -= (float)x0;
        }
    }
}

/* How far a point is outside the nearest stream; negative in it. */
static float dry(const scenery *s, int x, int y)
{
    float away = INFINITY;
    for (int k = 0; k < 2; k++) {
        away = fminf(away, fabsf((float)y - s->river_y[k][x]) - s->river_w[k][x]);
        away = fminf(away, fabsf((float)x - s->brook_x[k][y]) - s->brook_w[k][y]);
    }
    return away;
}

static bool on_road(const scenery *s, float x, float y)
{
    for (int i = 0; i < s->n_roads; i++) {
        const road *r = &s->roads[i];
        const float px = x - r->x, py = y - r->y, along = px * r->dx + py * r->dy;
        /* A road that leads straight from one town to the other looks drawn: let it sway. */
        const float way = along / r->length;
        const float sway = way * (1 - way) * 36 * sinf(along * 0.011f);
        if (along >= 0 && along <= r->length &&
            fabsf(px * r->dy - py * r->dx + sway) < r->half_width)
            return true;
    }
    return false;
}

/* Streets, roofs and gardens on the town's own grid; false outside its ragged edge. */
static bool in_town(const scenery *s, float x, float y, float rag, ground *g)
{
    for (int i = 0; i < s->n_towns; i++) {
        const town *t = &s->towns[i];
        const float px = x - t->x, py = y - t->y;
        const float away = sqrtf(px * px + py * py) / t->radius;
        if (away > 1 + 0.35f * rag) continue;
        const float u = px * t->cos_a + py * t->sin_a + 4096,
                    v = py * t->cos_a - px * t->sin_a + 4096;
        const int bu = (int)(u / 11), bv = (int)(v / 17);
        const float iu = u - (float)bu * 11, iv = v - (float)bv * 17;
        const uint64_t key = key_at(t->key, (int)(u / 3.6f), (int)(v / 4.2f));
        g->cover = GARDEN;
        if (iu < 1.5f || iv < 1.5f)
            g->cover = STREET;
        else if (part(key, 0) > 0.25f + 0.5f * away)
            g->cover = ROOF;
        g->gain = g->cover == ROOF ? 0.7f + 0.8f * part(key, 1) * part(key, 1)
                                   : 0.95f + 0.1f * part(key, 2);
        g->tint = g->cover == ROOF ? part(key, 3) - 0.4f : 0;
        return true;
    }
    return false;
}

/* The field that a point of a district lies in, cut out of the district's slanted grid: each column
 * of fields is shifted, and a field may be halved again. */
static void in_field(const district *d, float x, float y, ground *g)
{
    const float px = x - d->x, py = y - d->y;
    const float u = (px * d->cos_a + py * d->sin_a) / d->field_w + 512;
    const float slant = 0.25f * (d->cos_a - 0.5f) * (u - 512);
    const int column = (int)u;
    const float shift = part(d->key + (uint64_t)column, 11);
    const float v = (py * d->cos_a - px * d->sin_a) / d->field_h + slant + 512 + shift;
    const int row = (int)v;
    uint64_t key = key_at(d->key, column, row);
    float iu = u - (float)column, iv = v - (float)row;
    float edge_u = fminf(iu, 1 - iu) * d->field_w, edge_v = fminf(iv, 1 - iv) * d->field_h;
    const float halving = part(key, 0), cut = 0.35f + 0.3f * part(key, 1);
    if (halving < 0.45f) {
        edge_v = fminf(edge_v, fabsf(iv - cut) * d->field_h);
        key += iv < cut;
    } else if (halving < 0.6f) {
        edge_u = fminf(edge_u, fabsf(iu - cut) * d->field_w);
        key += iu < cut;
    }
    if (fminf(edge_u, edge_v) < d->hedge) {
        g->cover = d->hedge > 0.6f ? HEDGE : CROPS + 4;
        g->gain = 0.95f;
        g->tint = 0;
        return;
    }
    const int crop = (int)(part(key, 2) * N_CROPS);
    const float stripes = part(key, 3) < 0.5f ? 0 : 0.035f * part(key, 4);
    const float rows = part(key, 5) < 0.5f ? iu * d->field_w : iv * d->field_h;
    /* Tramlines: a wave of about four pixels, cheap. */
    const float wave = rows * 0.26f - floorf(rows * 0.26f);
    g->cover = (int16_t)(CROPS + crop);
    g->gain = (0.86f + 0.28f * part(key, 6)) * (1 + stripes * (wave < 0.5f ? 1.0f : -1.0f));
    g->tint = 0.3f * (part(key, 7) - 0.5f);
}

static const district *nearest_district(const scenery *s, float x, float y, float *lead)
{
    float best = INFINITY, second = INFINITY;
    const district *nearest = &s->districts[0];
    for (int i = 0; i < s->n_districts; i++) {
        const float dx = x - s->districts[i].x, dy = y - s->districts[i].y;
        const float away = dx * dx + dy * dy;
        if (away < best) {
            second = best;
            best = away;
            nearest = &s->districts[i];
        } else if (away < second) {
            second = away;
        }
    }
    *lead = sqrtf(second) - sqrtf(best);
    return nearest;
}

typedef struct climate {
    lattice relief, woods, woods_edge, soil, moist;
} climate;

static ground ground_at(const scenery *s, const climate *w, uint64_t seed, int64_t x0, int64_t y0,
                        int col, int row)
{
    ground g = {.cover = WATER, .gain = 1, .tint = 0};
    const float x = (float)col, y = (float)row;
    const float rag = lattice_value(&w->woods_edge, col, row);
    const float shore = dry(s, col, row);
    if (shore < 0) {
        g.gain = 1 + 0.05f * lattice_value(&w->soil, col, row) + 0.4f / (1 - shore);
        return g;
    }
    if (on_road(s, x, y)) {
        g.cover = ROAD;
        return g;
    }
    if (in_town(s, x, y, rag, &g)) return g;
    const float wood = lattice_value(&w->woods, col, row) + 0.45f * rag - 0.006f * fminf(shore, 40);
    const float wx = x + 3 * lattice_value(&w->soil, col, row);
    const float wy = y + 3 * rag;
    if (wood > 0.3f || shore < 2.5f) {
        g.cover = FOREST;
        g.gain = 1 + 0.22f * noise_at(seed ^ 0x66, (float)((x0 & 0xffff) + col) * 0.37f,
                                      (float)((y0 & 0xffff) + row) * 0.37f);
        g.tint = 0.2f * rag;
        return g;
    }
    float lead;
    const district *d = nearest_district(s, wx, wy, &lead);
    if (lead < 1.8f) {
        g.cover = STREET;
        g.gain = 1.05f;
        return g;
    }
    in_field(d, wx, wy, &g);
    g.gain *=
        1 + 0.07f * lattice_value(&w->soil, col, row) + 0.05f * lattice_value(&w->moist, col, row);
    return g;
}

/* Percent of a cover at band b of n: bands are spread over the wavelengths of the table. */
static float reflectance(int cover, int b, int n)
{
    const float *at = covers[cover].at;
    if (n == 1) return (at[1] + at[2] + at[3]) / 3;
    if (n <= N_WAVES) return at[b];
    const float wave = (float)b * (N_WAVES - 1) / (float)(n - 1);
    const int i = wave < N_WAVES - 1 ? (int)wave : N_WAVES - 2;
    return at[i] + (at[i + 1] - at[i]) * (wave - (float)i);
}

static void paint(const landscape *land, int band, const ground *grounds, int64_t x0, int64_t y0,
                  int w, int h, uint16_t *plane, int64_t stride)
{
    const float scale = land->max_value == 255 ? 4.0f : 100.0f;
    const float sigma = land->max_value == 255 ? 0.35f : 8.0f; /* of the sensor */
    const uint64_t seed = mix(land->seed + 977 * (uint64_t)band);
    float base[CROPS + N_CROPS];
    for (int c = 0; c < CROPS + N_CROPS; c++)
        base[c] = scale * reflectance(c, band, land->n_bands);
    const float lean = band % 2 ? 0.3f : -0.3f; /* a tint lifts some bands, lowers others */
    for (int y = 0; y < h; y++) {
        const uint64_t line = mix(seed ^ (uint64_t)(y0 + y));
        for (int x = 0; x < w; x++) {
            const ground *g = &grounds[y * LAND_BLOCK + x];
            uint64_t r = (line + (uint64_t)(x0 + x)) * 0x9e3779b97f4a7c15u;
            r = (r ^ (r >> 32)) * 0xd6e8feb86659fd93u;
            r ^= r >> 32;
            /* The sum of four bytes is near enough to a normal deviate; its sigma is 148. */
            const int sum = (int)(r & 255) + (int)(r >> 8 & 255) + (int)(r >> 16 & 255) +
                            (int)(r >> 24 & 255) - 510;
            const float v =
                base[g->cover] * g->gain * (1 + lean * g->tint) + (float)sum * (sigma / 148);
            const int n = (int)(v + 0.5f);
            plane[y * stride + x] = (uint16_t)(n < 1                 ? 1
                                               : n > land->max_value ? land->max_value
                                                                     : n);
        }
    }
}

void land_block(const landscape *land, int64_t x0, int64_t y0, int w, int h,
                uint16_t *const *planes, int64_t stride)
{
    const uint64_t seed = mix(land->seed);
    scenery s;
    find_districts(&s, seed, x0, y0);
    find_towns(&s, seed, x0, y0);
    find_streams(&s, seed, x0, y0);
    const climate weather = {.relief = lattice_at(seed ^ 1, x0, y0, 1024),
                             .woods = lattice_at(seed ^ 2, x0, y0, 512),
                             .woods_edge = lattice_at(seed ^ 3, x0, y0, 64),
                             .soil = lattice_at(seed ^ 4, x0, y0, 128),
                             .moist = lattice_at(seed ^ 5, x0, y0, 64)};
    ground grounds[LAND_BLOCK * LAND_BLOCK];
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            ground *g = &grounds[y * LAND_BLOCK + x];
            *g = ground_at(&s, &weather, seed, x0, y0, x, y);
            g->gain *= 1 + 0.08f * lattice_value(&weather.relief, x, y);
        }
    }
    for (int b = 0; b < land->n_bands; b++)
        paint(land, b, grounds, x0, y0, w, h, planes[b], stride);
}
