/* SPDX-License-Identifier: MIT */
/* filter_cases.h - random rasters for the area filter, and the filter by its definition.
 *
 * The filtered hierarchy is computed here on the whole raster by Kruskal's algorithm with sets of
 * pixels; from the library come only the levels of single edges. */
#ifndef QFZ_TESTS_FILTER_CASES_H
#define QFZ_TESTS_FILTER_CASES_H

#include "rasters.h"

#include "core/level.h"

enum { FILTER_SIDE = 24, FILTER_PX = FILTER_SIDE * FILTER_SIDE };

/* An edge of the forest. */
typedef struct forest_edge {
    uint64_t position;
    uint32_t level, filtered;
    int p, q, dir;
} forest_edge;

typedef struct filter_case {
    raster r;
    qfz_rule rule;  /* min_mass is N */
    int64_t y0, x0; /* of the first pixel, for positions */
    uint64_t row_mass[FILTER_SIDE];
    bool has_weights;
    uint64_t total; /* of all valid pixels */
    int64_t tile_h, tile_w;

    forest_edge forest[FILTER_PX]; /* ascending in (level, position) */
    int n_forest;
    uint8_t zeroed[FILTER_PX]; /* as in qfz_image */
    uint8_t kept[FILTER_PX];   /* bit d: an edge of the forest with a filtered level above 0 */
} filter_case;

/* ---- Cases. */
static inline void filter_mask(filter_case *c, int64_t kind)
{
    const int64_t h = c->r.image.h, w = c->r.image.w, percent = 10 + 30 * check_pick(4);
    for (int64_t p = 0; p < h * w; p++) {
        const int64_t y = p / w, x = p % w;
        const double away = hypot((double)y - (double)h / 2, (double)x - (double)w / 2);
        const bool valid[] = {true, check_chance(percent), (x + y) % 2 == 0, x % 4 < 3,
                              fmod(away, 4) < 3};
        c->r.valid[p] = valid[kind];
    }
}

/* Noise, noise that fades along the columns, plateaus, and ramps on which all levels tie. */
static inline void filter_pixels(filter_case *c)
{
    static const int ranges[] = {1, 2, 3, 5, 16, 256, 65536};
    qfz_image *const image = &c->r.image;
    const int64_t h = image->h, w = image->w, n = h * w;
    const int64_t shape = check_pick(4), side = 1 + check_pick(6), range = ranges[check_pick(7)];
    const int64_t down = check_pick(3), right = check_pick(3);
    for (int b = 0; b < image->n_bands; b++) {
        int64_t noise[FILTER_PX], sum[FILTER_SIDE] = {0};
        for (int64_t p = 0; p < n; p++)
            noise[p] = check_pick(range);
        for (int64_t p = 0; p < n; p++) {
            const int64_t y = p / w, x = p % w;
            sum[x] += noise[p];
            const int64_t value[] = {noise[p], sum[x] / (1 + y),
                                     noise[y / side * side * w + x / side * side],
                                     y * down + x * right + noise[p] % 2};
            raster_set(&c->r, b, p,
                       image->type == QFZ_F32 ? (double)value[shape] * 0.25 : (double)value[shape]);
        }
    }
    c->r.shape = "one of the filter's own";
    c->r.palette = "none";
    filter_mask(c, check_pick(5));
}

static inline void filter_weights(filter_case *c)
{
    const qfz_image *const image = &c->r.image;
    const int64_t kind = check_pick(4);
    c->has_weights = kind > 0;
    c->total = 0;
    for (int64_t y = 0; y < image->h; y++) {
        const uint64_t weight[] = {1, 1 + (uint64_t)check_pick(5), 1 + (uint64_t)y,
                                   (uint64_t)check_pick(3)};
        c->row_mass[y] = weight[kind];
        for (int64_t x = 0; x < image->w; x++)
            c->total += image->valid[y * image->w + x] ? c->row_mass[y] : 0;
    }
    const uint64_t least[] = {1,
                              2,
                              2 + (uint64_t)check_pick(10),
                              2 + (uint64_t)check_pick(58),
                              1 + (uint64_t)check_pick((int64_t)c->total + 4),
                              c->total + 1,
                              UINT64_MAX};
    c->rule.min_mass = least[check_pick(7)];
}

static inline void filter_make(filter_case *c)
{
    static const qfz_type types[] = {QFZ_U16, QFZ_I32, QFZ_F32};
    const int64_t side = check_chance(30) ? 8 : FILTER_SIDE;
    const bool own = check_chance(60);
    raster_make(&c->r, side, own ? (int)types[check_pick(3)] : -1, 3);
    if (own) filter_pixels(c);
    const qfz_image *const image = &c->r.image;
    qfz_distance distance = (qfz_distance)check_pick(3);
    if (raster_levels_overflow(image, distance)) distance = QFZ_LINF;
    c->rule = (qfz_rule){.connectivity = check_chance(50) ? 4 : 8,
                         .distance = distance,
                         .type = image->type,
                         .n_bands = image->n_bands,
                         .alpha_level = UINT32_MAX};
    filter_weights(c);
    c->tile_h = 1 + check_pick(check_chance(80) ? 9 : FILTER_SIDE);
    c->tile_w = 1 + check_pick(check_chance(80) ? 9 : FILTER_SIDE);
    check_describe("%dx%d in tiles of %dx%d, %d bands %s, %s in %s, holes %s, %d-connected, %s, N "
                   "%llu%s",
                   (int)image->h, (int)image->w, (int)c->tile_h, (int)c->tile_w, image->n_bands,
                   raster_types[image->type], c->r.shape, c->r.palette, c->r.holes,
                   c->rule.connectivity, raster_distances[distance],
                   (unsigned long long)c->rule.min_mass, c->has_weights ? ", weighted rows" : "");
}

/* ---- The definition. */
static inline uint64_t filter_place(uint64_t y, uint64_t x, int dir)
{
    static const uint64_t numbers[] = {0, 2, 3, 1}; /* right, below left, below, below right */
    uint64_t z = y * (UINT64_C(1) << 34) + x * 4 + numbers[dir];
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline int filter_compare(const void *a, const void *b)
{
    const forest_edge *const e = a, *const f = b;
    if (e->level != f->level) return e->level < f->level ? -1 : 1;
    return e->position < f->position ? -1 : e->position > f->position;
}

/* All edges in order; returns their number. */
static inline int filter_edges(const filter_case *c, forest_edge *edges)
{
    const qfz_image *const image = &c->r.image;
    int n = 0;
    for (int64_t y = 0; y < image->h; y++)
        for (int64_t x = 0; x < image->w; x++)
            for (int dir = 0; dir < c->rule.connectivity / 2; dir++) {
                const int64_t v = y + qfz_dir_dy[dir], u = x + qfz_dir_dx[dir];
                const int64_t p = y * image->w + x, q = v * image->w + u;
                if (v >= image->h || u < 0 || u >= image->w) continue;
                if (!image->valid[p] || !image->valid[q]) continue;
                edges[n] = (forest_edge){.p = (int)p, .q = (int)q, .dir = dir};
                edges[n].position = filter_place((uint64_t)(c->y0 + y), (uint64_t)(c->x0 + x), dir);
                qfz_levels(image, &c->rule, p, q, 1, &edges[n++].level);
            }
    qsort(edges, (size_t)n, sizeof *edges, filter_compare);
    return n;
}

static inline uint64_t filter_weight(const filter_case *c, const int *set, int of)
{
    const int64_t w = c->r.image.w, n = c->r.image.h * w;
    uint64_t sum = 0;
    for (int64_t p = 0; p < n; p++)
        sum += set[p] == of ? c->row_mass[p / w] : 0;
    return sum;
}

static inline void filter_by_definition(filter_case *c)
{
    static forest_edge edges[FILTER_PX * QFZ_MAX_DIRS];
    const int64_t n_px = c->r.image.h * c->r.image.w;
    const int n = filter_edges(c, edges);
    int set[FILTER_PX];
    for (int p = 0; p < n_px; p++)
        set[p] = p;
    memset(c->zeroed, 0, sizeof c->zeroed);
    memset(c->kept, 0, sizeof c->kept);
    c->n_forest = 0;
    for (int i = 0; i < n; i++) {
        forest_edge *const e = &edges[i];
        const int a = set[e->p], b = set[e->q];
        if (a == b) continue;
        const uint64_t of_a = filter_weight(c, set, a), of_b = filter_weight(c, set, b);
        const bool is_light = (of_a < of_b ? of_a : of_b) < c->rule.min_mass;
        e->filtered = is_light ? 0 : e->level;
        if (e->level > 0) (is_light ? c->zeroed : c->kept)[e->p] |= (uint8_t)(1 << e->dir);
        c->forest[c->n_forest++] = *e;
        for (int p = 0; p < n_px; p++)
            if (set[p] == b) set[p] = a;
    }
}

/* ---- The hierarchy of the forest under its filtered levels. */
static inline int filter_root(int *up, int p)
{
    while (up[p] != p)
        p = up[p] = up[up[p]];
    return p;
}

/* Numbers the roots in raster order, from 1; 0 where invalid.  Returns their number. */
static inline uint32_t filter_number(const filter_case *c, int *up, uint32_t *labels)
{
    const int64_t n_px = c->r.image.h * c->r.image.w;
    uint32_t number[FILTER_PX] = {0}, n = 0;
    for (int p = 0; p < n_px; p++) {
        const int root = filter_root(up, p);
        labels[p] = 0;
        if (!c->r.image.valid[p]) continue;
        if (!number[root]) number[root] = ++n;
        labels[p] = number[root];
    }
    return n;
}

/* Labels at a level; with_all: of whole areas. */
static inline uint32_t filter_labels(const filter_case *c, uint32_t level, uint32_t *labels)
{
    const int64_t n_px = c->r.image.h * c->r.image.w;
    int up[FILTER_PX];
    for (int p = 0; p < n_px; p++)
        up[p] = p;
    for (int i = 0; i < c->n_forest; i++)
        if (c->forest[i].filtered <= level)
            up[filter_root(up, c->forest[i].p)] = filter_root(up, c->forest[i].q);
    return filter_number(c, up, labels);
}

static inline int filter_by_level(const void *a, const void *b)
{
    const uint32_t e = ((const forest_edge *)a)->filtered, f = ((const forest_edge *)b)->filtered;
    return e < f ? -1 : e > f;
}

/* planes: minimax level of the edge from p in direction d at d * n_px + p; QFZ_NONE: no edge. */
static inline void filter_saliency(const filter_case *c, uint32_t *planes)
{
    const qfz_image *const image = &c->r.image;
    const int64_t n_px = image->h * image->w;
    static forest_edge sorted[FILTER_PX];
    static uint32_t minimax[FILTER_PX][FILTER_PX];
    int set[FILTER_PX];
    memcpy(sorted, c->forest, sizeof sorted);
    qsort(sorted, (size_t)c->n_forest, sizeof *sorted, filter_by_level);
    memset(minimax, 0xff, sizeof minimax);
    for (int p = 0; p < n_px; p++)
        set[p] = p;
    for (int i = 0; i < c->n_forest; i++) {
        const int a = set[sorted[i].p], b = set[sorted[i].q];
        int of_b[FILTER_PX], n_b = 0;
        for (int p = 0; p < n_px; p++)
            if (set[p] == b) of_b[n_b++] = p;
        for (int p = 0; p < n_px; p++)
            for (int k = 0; set[p] == a && k < n_b; k++)
                minimax[p][of_b[k]] = minimax[of_b[k]][p] = sorted[i].filtered;
        for (int p = 0; p < n_px; p++)
            if (set[p] == b) set[p] = a;
    }
    for (int64_t i = 0; i < n_px * c->rule.connectivity / 2; i++) {
        const int64_t p = i % n_px, dir = i / n_px, y = p / image->w + qfz_dir_dy[dir];
        const int64_t x = p % image->w + qfz_dir_dx[dir], q = y * image->w + x;
        const bool is_inside = y < image->h && x >= 0 && x < image->w;
        planes[i] = is_inside ? minimax[p][q] : QFZ_NONE;
    }
}

/* The components that span more than omega in a band, by label from 1. */
static inline void filter_too_wide(const filter_case *c, const uint32_t *labels,
                                   const double *omega, bool *is_wide)
{
    const qfz_image *const image = &c->r.image;
    memset(is_wide, 0, (FILTER_PX + 1) * sizeof *is_wide);
    for (int b = 0; b < image->n_bands; b++) {
        double lo[FILTER_PX + 1], hi[FILTER_PX + 1];
        for (int i = 0; i <= FILTER_PX; i++) {
            lo[i] = INFINITY;
            hi[i] = -INFINITY;
        }
        for (int64_t p = 0; p < image->h * image->w; p++) {
            const double value = labels[p] ? oracle_value(image, b, p) : 0;
            lo[labels[p]] = fmin(lo[labels[p]], value);
            hi[labels[p]] = fmax(hi[labels[p]], value);
        }
        for (int i = 0; i <= FILTER_PX; i++)
            is_wide[i] |= lo[i] < hi[i] && hi[i] - lo[i] > omega[b];
    }
}

/* Of each pixel the largest component at a level <= alpha that keeps within omega; its component at
 * level 0 in any case. */
static inline uint32_t filter_alpha_omega(const filter_case *c, uint32_t alpha, const double *omega,
                                          uint32_t *labels)
{
    const int64_t n_px = c->r.image.h * c->r.image.w;
    static forest_edge sorted[FILTER_PX];
    uint32_t at[FILTER_PX];
    int64_t region[FILTER_PX];
    bool is_wide[FILTER_PX + 1];
    int up[FILTER_PX];
    memcpy(sorted, c->forest, sizeof sorted);
    qsort(sorted, (size_t)c->n_forest, sizeof *sorted, filter_by_level);
    (void)filter_labels(c, 0, at);
    for (int p = 0; p < n_px; p++)
        region[p] = at[p];
    for (int i = 0; i < c->n_forest; i++) {
        const uint32_t level = sorted[i].filtered;
        if (level == 0 || level > alpha || (i > 0 && sorted[i - 1].filtered == level)) continue;
        (void)filter_labels(c, level, at);
        filter_too_wide(c, at, omega, is_wide);
        for (int p = 0; p < n_px; p++)
            if (!is_wide[at[p]]) region[p] = (i + 1) * (int64_t)(FILTER_PX + 1) + at[p];
    }
    for (int p = 0; p < n_px; p++) {
        up[p] = 0;
        while (region[up[p]] != region[p])
            up[p]++;
    }
    return filter_number(c, up, labels);
}

#endif
