/* SPDX-License-Identifier: MIT */
#include "oracle.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

/* The four directions of edges; the same four backwards follow. */
enum { N_DIRS = 4 };
static const int dir_y[2 * N_DIRS] = {0, 1, 1, 1, 0, -1, -1, -1};
static const int dir_x[2 * N_DIRS] = {1, 0, 1, -1, -1, 0, -1, 1};

struct oracle {
    const qfz_image *image;
    int n_dirs;
    qfz_distance distance;
    const double *weights; /* or NULL */
    double *levels;        /* n_dirs planes of every edge's own level */
};

static void *room(int64_t n, size_t bytes)
{
    void *p = calloc(n > 0 ? (size_t)n : 1, bytes);
    if (!p) abort();
    return p;
}

/* ---------------------------------------------------------------------------------- values */

size_t oracle_type_bytes(qfz_type type)
{
    static const size_t bytes[] = {1, 1, 2, 2, 4, 4, 4};
    return bytes[type];
}

static int64_t whole_value(const qfz_image *image, int band, int64_t p)
{
    const int64_t i = band * image->h * image->w + p;
    switch (image->type) {
    case QFZ_U8: return ((const uint8_t *)image->pixels)[i];
    case QFZ_I8: return ((const int8_t *)image->pixels)[i];
    case QFZ_U16: return ((const uint16_t *)image->pixels)[i];
    case QFZ_I16: return ((const int16_t *)image->pixels)[i];
    case QFZ_U32: return ((const uint32_t *)image->pixels)[i];
    case QFZ_I32: return ((const int32_t *)image->pixels)[i];
    default: abort();
    }
}

static float float_value(const qfz_image *image, int band, int64_t p)
{
    return ((const float *)image->pixels)[band * image->h * image->w + p];
}

double oracle_value(const qfz_image *image, int band, int64_t p)
{
    return image->type == QFZ_F32 ? (double)float_value(image, band, p)
                                  : (double)whole_value(image, band, p);
}

/* ---------------------------------------------------------------------------------- levels */

/* Compares s with (m * 2^e)^2, m < 2^26. */
static int compare_square(u128 s, uint64_t m, int e)
{
    const u128 square = (u128)m * m;
    int shift = -2 * e; /* s * 2^shift against m^2 */
    if (shift < 0) {
        const u128 scaled = square << -shift;
        return s < scaled ? -1 : s > scaled;
    }
    if (shift > 127 || (shift && s >> (128 - shift))) return 1; /* s * 2^shift >= 2^128 > m^2 */
    s <<= shift;
    return s < square ? -1 : s > square;
}

/* The single nearest to the root of s, found from a guess and proved by whole numbers: the root
 * lies between the middles of the interval that rounds to the result. */
static float root_of_square(u128 s)
{
    float guess = (float)sqrtl((long double)s);
    if (s == 0) return 0;
    for (;;) {
        int e;
        const double fraction = frexp((double)guess, &e); /* guess = fraction * 2^e, 0.5 <= . < 1 */
        const uint64_t m = (uint64_t)ldexp(fraction, 25); /* twice the 24-bit mantissa: even */
        /* middles: below m - 1 (m - 1/2 at a power of two, taken at twice the scale), above m + 1
         */
        const bool even = m % 4 == 0;
        const bool power = m == (1u << 24);
        const int above = compare_square(s, m + 1, e - 25);
        const int below =
            power ? compare_square(s, 2 * m - 1, e - 26) : compare_square(s, m - 1, e - 25);
        if (above > 0 || (above == 0 && !even)) {
            guess = nextafterf(guess, INFINITY);
        } else if (below < 0 || (below == 0 && !even && !power)) {
            guess = nextafterf(guess, 0);
        } else {
            return guess;
        }
    }
}

static double whole_level(const oracle *o, int64_t p, int64_t q)
{
    uint64_t sum = 0, largest = 0;
    u128 squares = 0;
    for (int b = 0; b < o->image->n_bands; b++) {
        const int64_t d = whole_value(o->image, b, p) - whole_value(o->image, b, q);
        const uint64_t far = (uint64_t)(d < 0 ? -d : d);
        sum += far;
        squares += (u128)far * far;
        if (far > largest) largest = far;
    }
    switch (o->distance) {
    case QFZ_L1: return (double)sum;
    case QFZ_LINF: return (double)largest;
    default: return (double)root_of_square(squares);
    }
}

/* Root of the sum of squares, all in double precision, as a single; weight is 1 without weights. */
static double wide_level(const oracle *o, int64_t p, int64_t q)
{
    volatile double sum = 0; /* volatile: no fused operations */
    for (int b = 0; b < o->image->n_bands; b++) {
        const double weight = o->weights ? (double)(float)o->weights[b] : 1;
        const double u = oracle_value(o->image, b, p), v = oracle_value(o->image, b, q);
        if (weight == 0 || u == v) continue; /* equal infinities are equal */
        volatile double far = weight * fabs(u - v);
        volatile double square = far * far;
        sum = sum + square;
    }
    volatile float root = (float)sqrt(sum);
    return (double)root;
}

static double float_level(const oracle *o, int64_t p, int64_t q)
{
    volatile float sum = 0, largest = 0; /* volatile: rounded to single at every step */
    if (o->distance == QFZ_L2) return wide_level(o, p, q);
    for (int b = 0; b < o->image->n_bands; b++) {
        const float u = float_value(o->image, b, p), v = float_value(o->image, b, q);
        volatile float far = u == v ? 0.0f : fabsf(u - v); /* equal infinities are equal */
        sum = sum + far;
        if (far > largest) largest = far;
    }
    return (double)(o->distance == QFZ_L1 ? sum : largest);
}

/* The difference in one band as a single, times the weight as a single. */
static float weighted_difference(const oracle *o, int band, int64_t p, int64_t q)
{
    volatile float far, weighted; /* volatile: rounded to single at every step */
    if (o->image->type == QFZ_F32) {
        const float u = float_value(o->image, band, p), v = float_value(o->image, band, q);
        far = u == v ? 0.0f : fabsf(u - v);
    } else {
        far = (float)llabs(whole_value(o->image, band, p) - whole_value(o->image, band, q));
    }
    weighted = (float)o->weights[band] * far;
    return weighted;
}

static double weighted_level(const oracle *o, int64_t p, int64_t q)
{
    volatile float sum = 0, largest = 0;
    if (o->distance == QFZ_L2) return wide_level(o, p, q);
    for (int b = 0; b < o->image->n_bands; b++) {
        if (o->weights[b] == 0) continue;
        const float far = weighted_difference(o, b, p, q);
        sum = sum + far;
        if (far > largest) largest = far;
    }
    return (double)(o->distance == QFZ_L1 ? sum : largest);
}

/* The acute angle whose tangent of half is t <= 1, by three more halvings and a series. */
static double angle_of_half_tangent(volatile double t)
{
    for (int i = 0; i < 3; i++) {
        volatile double square = t * t;
        volatile double secant = sqrt(1 + square);
        t = t / (1 + secant);
    }
    const volatile double square = t * t;
    volatile double series = 1.0 / 15;
    for (int k = 13; k >= 1; k -= 2) {
        volatile double rest = square * series;
        series = 1.0 / k - rest;
    }
    volatile double angle = t * series;
    return 16 * angle;
}

static double angle(const oracle *o, int64_t p, int64_t q)
{
    const double pi = 3.14159265358979323846;
    volatile double ab = 0, aa = 0, bb = 0;
    for (int b = 0; b < o->image->n_bands; b++) {
        const double u = oracle_value(o->image, b, p), v = oracle_value(o->image, b, q);
        volatile double uv = u * v, uu = u * u, vv = v * v;
        ab = ab + uv;
        aa = aa + uu;
        bb = bb + vv;
    }
    const bool directed = aa > 0 && aa<INFINITY, directed_too = bb> 0 && bb < INFINITY;
    if (!directed && !directed_too) return 0;
    if (!directed || !directed_too) return (double)(float)(pi / 2);
    volatile double product = aa * bb, square = ab * ab, gram = product - square;
    volatile double sine = gram > 0 ? sqrt(gram) : 0, length = sqrt(product);
    const double acute = angle_of_half_tangent(sine / (length + fabs(ab)));
    return (double)(float)(ab < 0 ? pi - acute : acute);
}

double oracle_level(const oracle *o, int64_t p, int64_t q)
{
    if (o->distance == QFZ_SAM) return angle(o, p, q);
    if (o->weights) return weighted_level(o, p, q);
    return o->image->type == QFZ_F32 ? float_level(o, p, q) : whole_level(o, p, q);
}

/* ----------------------------------------------------------------------------------- floods */

bool oracle_is_valid(const oracle *o, int64_t p)
{
    return !o->image->valid || o->image->valid[p];
}

/* The neighbour of p in one of the 2 * n_dirs directions, -1 if there is none. */
static int64_t neighbour(const oracle *o, int64_t p, int k)
{
    const int64_t w = o->image->w, y = p / w + dir_y[k], x = p % w + dir_x[k];
    if (y < 0 || y >= o->image->h || x < 0 || x >= w) return -1;
    return oracle_is_valid(o, y * w + x) ? y * w + x : -1;
}

static int nth_direction(const oracle *o, int i)
{
    return i < o->n_dirs ? i : i - o->n_dirs + N_DIRS;
}

oracle *oracle_open(const qfz_image *image, int connectivity, qfz_distance distance)
{
    return oracle_open_weighted(image, connectivity, distance, NULL);
}

oracle *oracle_open_weighted(const qfz_image *image, int connectivity, qfz_distance distance,
                             const double *weights)
{
    oracle *o = room(1, sizeof *o);
    const int64_t n = image->h * image->w;
    assert(image->n_bands <= ORACLE_MAX_BANDS);
    *o = (oracle){
        .image = image, .n_dirs = connectivity / 2, .distance = distance, .weights = weights};
    o->levels = room(o->n_dirs * n, sizeof *o->levels);
    for (int d = 0; d < o->n_dirs; d++)
        for (int64_t p = 0; p < n; p++) {
            const int64_t q = oracle_is_valid(o, p) ? neighbour(o, p, d) : -1;
            o->levels[d * n + p] = q < 0 ? ORACLE_NO_EDGE : oracle_level(o, p, q);
        }
    return o;
}

oracle *oracle_open_edges(const qfz_image *image, int connectivity, const double *planes)
{
    oracle *o = oracle_open(image, connectivity, QFZ_LINF);
    const int64_t n = image->h * image->w;
    for (int64_t i = 0; i < o->n_dirs * n; i++)
        if (o->levels[i] != ORACLE_NO_EDGE) o->levels[i] = planes[i];
    return o;
}

void oracle_close(oracle *o)
{
    free(o->levels);
    free(o);
}

/* ----------------------------------------------------------------------------- area filter */

typedef struct filter_edge {
    double level;
    uint64_t position;
    int64_t at; /* d * n + p */
} filter_edge;

static uint64_t mix64(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static int by_level_and_position(const void *a, const void *b)
{
    const filter_edge *const e = a, *const f = b;
    if (e->level != f->level) return e->level < f->level ? -1 : 1;
    return e->position < f->position ? -1 : e->position > f->position;
}

/* All edges in order; returns their number. */
static int64_t ordered_edges(const oracle *o, filter_edge *edges)
{
    static const uint64_t numbers[N_DIRS] = {0, 2, 3, 1}; /* of right, below, below right, left */
    const int64_t n = o->image->h * o->image->w, w = o->image->w;
    int64_t count = 0;
    for (int64_t i = 0; i < o->n_dirs * n; i++) {
        const uint64_t y = (uint64_t)(i % n / w), x = (uint64_t)(i % n % w);
        if (o->levels[i] == ORACLE_NO_EDGE) continue;
        edges[count++] = (filter_edge){
            .level = o->levels[i], .position = mix64(y << 34 | x << 2 | numbers[i / n]), .at = i};
    }
    qsort(edges, (size_t)count, sizeof *edges, by_level_and_position);
    return count;
}

static double weight_of(const int64_t *component, const double *weights, int64_t n, int64_t c)
{
    double weight = 0;
    for (int64_t p = 0; p < n; p++)
        if (component[p] == c) weight += weights[p];
    return weight;
}

void oracle_filter(oracle *o, const double *row_weight, double least)
{
    const int64_t n = o->image->h * o->image->w, w = o->image->w;
    filter_edge *const edges = room(o->n_dirs * n, sizeof *edges);
    int64_t *const component = room(n, sizeof *component);
    double *const weights = room(n, sizeof *weights);
    const int64_t n_edges = ordered_edges(o, edges);
    for (int64_t p = 0; p < n; p++) {
        component[p] = p;
        weights[p] = row_weight ? row_weight[p / w] : 1;
    }
    for (int64_t i = 0; i < n_edges; i++) {
        const int64_t d = edges[i].at / n, p = edges[i].at % n, q = p + dir_y[d] * w + dir_x[d];
        const int64_t a = component[p], b = component[q];
        o->levels[edges[i].at] = INFINITY;
        if (a == b) continue;
        const bool is_light = weight_of(component, weights, n, a) < least ||
                              weight_of(component, weights, n, b) < least;
        o->levels[edges[i].at] = is_light ? 0 : edges[i].level;
        for (int64_t r = 0; r < n; r++)
            if (component[r] == b) component[r] = a;
    }
    free(edges);
    free(component);
    free(weights);
}

static bool same_values(const oracle *o, int64_t p, int64_t q)
{
    for (int b = 0; b < o->image->n_bands; b++)
        if (oracle_value(o->image, b, p) != oracle_value(o->image, b, q)) return false;
    return true;
}

/* True if p and its neighbour q in direction k are joined.  alpha < 0: by equal values. */
static bool joined(const oracle *o, int64_t p, int64_t q, int k, double alpha)
{
    const int64_t n = o->image->h * o->image->w;
    if (alpha < 0) return same_values(o, p, q);
    const double level = k < N_DIRS ? o->levels[k * n + p] : o->levels[(k - N_DIRS) * n + q];
    return level != ORACLE_NO_EDGE && level <= alpha;
}

static uint32_t flood(const oracle *o, double alpha, uint32_t *labels)
{
    const int64_t n = o->image->h * o->image->w;
    int64_t *queue = room(n, sizeof *queue);
    uint32_t n_regions = 0;
    memset(labels, 0, (size_t)n * sizeof *labels);
    for (int64_t start = 0; start < n; start++) {
        int64_t head = 0, tail = 0;
        if (labels[start] || !oracle_is_valid(o, start)) continue;
        labels[start] = ++n_regions;
        queue[tail++] = start;
        while (head < tail) {
            const int64_t p = queue[head++];
            for (int i = 0; i < 2 * o->n_dirs; i++) {
                const int k = nth_direction(o, i);
                const int64_t q = neighbour(o, p, k);
                if (q < 0 || labels[q] || !joined(o, p, q, k, alpha)) continue;
                labels[q] = n_regions;
                queue[tail++] = q;
            }
        }
    }
    free(queue);
    return n_regions;
}

uint32_t oracle_flat(const oracle *o, uint32_t *labels)
{
    return flood(o, -1, labels);
}

uint32_t oracle_alpha(const oracle *o, double alpha, uint32_t *labels)
{
    return flood(o, alpha, labels);
}

/* The smallest level of an edge that is above `level`, or -1. */
static double next_level(const oracle *o, double level)
{
    const int64_t n = o->n_dirs * o->image->h * o->image->w;
    double next = -1;
    for (int64_t i = 0; i < n; i++)
        if (o->levels[i] > level && (next < 0 || o->levels[i] < next)) next = o->levels[i];
    return next;
}

/* within[label - 1]: is the region's max - min <= omega in every band? */
static void find_within(const oracle *o, const uint32_t *labels, uint32_t n_regions,
                        const double *omega, bool *within)
{
    const int64_t n = o->image->h * o->image->w;
    for (uint32_t r = 0; r < n_regions; r++)
        within[r] = true;
    for (int b = 0; omega && b < o->image->n_bands; b++) {
        double *lo = room(n_regions, sizeof *lo), *hi = room(n_regions, sizeof *hi);
        for (uint32_t r = 0; r < n_regions; r++) {
            lo[r] = INFINITY;
            hi[r] = -INFINITY;
        }
        for (int64_t p = 0; p < n; p++) {
            if (!labels[p]) continue;
            const double v = oracle_value(o->image, b, p);
            lo[labels[p] - 1] = fmin(lo[labels[p] - 1], v);
            hi[labels[p] - 1] = fmax(hi[labels[p] - 1], v);
        }
        for (uint32_t r = 0; r < n_regions; r++)
            if (lo[r] != hi[r] && !(hi[r] - lo[r] <= omega[b])) within[r] = false;
        free(lo);
        free(hi);
    }
}

/* Marks (partition, label), label 0 = none, -> labels by first pixel. */
static uint32_t in_raster_order(const uint64_t *marks, int64_t n, uint64_t n_partitions,
                                uint32_t *labels)
{
    uint32_t n_regions = 0;
    uint32_t *given = room((int64_t)n_partitions * (n + 1), sizeof *given);
    for (int64_t p = 0; p < n; p++) {
        uint32_t *label = &given[(int64_t)(marks[p] >> 32) * (n + 1) + (uint32_t)marks[p]];
        if (marks[p] && !*label) *label = ++n_regions;
        labels[p] = marks[p] ? *label : 0;
    }
    free(given);
    return n_regions;
}

uint32_t oracle_alpha_omega(const oracle *o, double alpha, const double *omega, uint32_t *labels)
{
    const int64_t n = o->image->h * o->image->w;
    uint64_t *best = room(n, sizeof *best);
    uint32_t *at = room(n, sizeof *at);
    bool *within = room(n, sizeof *within);
    uint64_t step = 0;
    for (double level = 0; level >= 0 && level <= alpha; level = next_level(o, level), step++) {
        const uint32_t n_regions = flood(o, level, at);
        /* The alpha' = 0 components always qualify. */
        find_within(o, at, n_regions, step ? omega : NULL, within);
        for (int64_t p = 0; p < n; p++)
            if (at[p] && within[at[p] - 1]) best[p] = (step << 32) + at[p];
    }
    const uint32_t n_regions = in_raster_order(best, n, step, labels);
    free(best);
    free(at);
    free(within);
    return n_regions;
}

void oracle_saliency(const oracle *o, double *planes)
{
    const int64_t n = o->image->h * o->image->w;
    uint32_t *at = room(n, sizeof *at);
    for (int64_t i = 0; i < o->n_dirs * n; i++)
        planes[i] = ORACLE_NO_EDGE;
    for (double level = 0; level >= 0; level = next_level(o, level)) {
        flood(o, level, at);
        for (int d = 0; d < o->n_dirs; d++)
            for (int64_t p = 0; p < n; p++) {
                const int64_t q = neighbour(o, p, d);
                if (o->levels[d * n + p] == ORACLE_NO_EDGE) continue;
                if (planes[d * n + p] < 0 && at[p] && q >= 0 && at[p] == at[q])
                    planes[d * n + p] = level;
            }
    }
    free(at);
}

/* ---------------------------------------------------------------------------------- layouts */

/* The level of the edge between two places, ORACLE_NO_EDGE if there is none. */
static double between(const oracle *o, const double *planes, int64_t y, int64_t x, int64_t v,
                      int64_t u)
{
    const int64_t h = o->image->h, w = o->image->w;
    if (y < 0 || v < 0 || x < 0 || u < 0 || y >= h || v >= h || x >= w || u >= w)
        return ORACLE_NO_EDGE;
    for (int d = 0; d < o->n_dirs; d++) {
        if (v - y == dir_y[d] && u - x == dir_x[d]) return planes[d * h * w + y * w + x];
        if (y - v == dir_y[d] && x - u == dir_x[d]) return planes[d * h * w + v * w + u];
    }
    return ORACLE_NO_EDGE;
}

void oracle_pixel_layout(const oracle *o, const double *planes, double *out)
{
    const int64_t h = o->image->h, w = o->image->w;
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            double most = oracle_is_valid(o, y * w + x) ? 0 : ORACLE_INVALID;
            for (int64_t v = y - 1; v <= y + 1; v++)
                for (int64_t u = x - 1; u <= x + 1; u++)
                    if (v != y || u != x) most = fmax(most, between(o, planes, y, x, v, u));
            out[y * w + x] = oracle_is_valid(o, y * w + x) ? most : ORACLE_INVALID;
        }
}

void oracle_khalimsky_layout(const oracle *o, const double *planes, double *out)
{
    const int64_t h = o->image->h, w = o->image->w, kw = 2 * w - 1;
    for (int64_t ky = 0; ky < 2 * h - 1; ky++)
        for (int64_t kx = 0; kx < kw; kx++) {
            const int64_t y = ky / 2, x = kx / 2;
            double cell;
            if (ky % 2 == 0 && kx % 2 == 0) {
                cell = oracle_is_valid(o, y * w + x) ? 0 : ORACLE_INVALID;
            } else if (ky % 2 == 0) {
                cell = between(o, planes, y, x, y, x + 1);
            } else if (kx % 2 == 0) {
                cell = between(o, planes, y, x, y + 1, x);
            } else {
                const double edges[] = {
                    between(o, planes, y, x, y, x + 1),
                    between(o, planes, y + 1, x, y + 1, x + 1),
                    between(o, planes, y, x, y + 1, x),
                    between(o, planes, y, x + 1, y + 1, x + 1),
                    between(o, planes, y, x, y + 1, x + 1), /* none if 4-connected */
                    between(o, planes, y, x + 1, y + 1, x),
                };
                cell = ORACLE_NO_EDGE;
                for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
                    cell = fmax(cell, edges[i]);
            }
            out[ky * kw + kx] = cell == ORACLE_NO_EDGE ? ORACLE_INVALID : cell;
        }
}

/* ------------------------------------------------------------------------------ regions' sums */

/* An exact sum of doubles: parts that do not overlap (Shewchuk), rounded once at the end. */
typedef struct exact {
    double parts[64];
    int n;
    int64_t infinities; /* the positive ones less the negative ones */
} exact;

static void exact_add(exact *e, double x)
{
    int kept = 0;
    if (isinf(x)) {
        e->infinities += x > 0 ? 1 : -1;
        return;
    }
    for (int i = 0; i < e->n; i++) {
        double y = e->parts[i];
        if (fabs(x) < fabs(y)) {
            const double swap = x;
            x = y;
            y = swap;
        }
        const volatile double high = x + y;
        const volatile double low = y - (high - x);
        if (low != 0) e->parts[kept++] = low;
        x = high;
    }
    assert(kept < 64);
    e->parts[kept++] = x;
    e->n = kept;
}

static double exact_value(const exact *e)
{
    if (e->infinities) return e->infinities > 0 ? INFINITY : -INFINITY; /* opposite ones cancel */
    int n = e->n;
    if (!n) return 0;
    double high = e->parts[--n], low = 0;
    while (n > 0) {
        const double x = high, y = e->parts[--n];
        high = x + y;
        low = y - (high - x);
        if (low != 0) break;
    }
    /* Half way between two doubles: the parts below decide. */
    if (n > 0 && ((low < 0 && e->parts[n - 1] < 0) || (low > 0 && e->parts[n - 1] > 0))) {
        const double y = low * 2, x = high + y;
        if (y == x - high) high = x;
    }
    return high;
}

double oracle_sum(const double *values, int64_t n)
{
    exact e = {.n = 0};
    for (int64_t i = 0; i < n; i++)
        exact_add(&e, values[i]);
    return exact_value(&e);
}

static i128 floor_half_up(i128 sum, i128 n)
{
    const i128 a = 2 * sum + n, b = 2 * n; /* floor(sum / n + 1/2) */
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

static void store_whole(const qfz_image *image, int64_t i, i128 v, void *out)
{
    switch (image->type) {
    case QFZ_U8: ((uint8_t *)out)[i] = (uint8_t)v; break;
    case QFZ_I8: ((int8_t *)out)[i] = (int8_t)v; break;
    case QFZ_U16: ((uint16_t *)out)[i] = (uint16_t)v; break;
    case QFZ_I16: ((int16_t *)out)[i] = (int16_t)v; break;
    case QFZ_U32: ((uint32_t *)out)[i] = (uint32_t)v; break;
    case QFZ_I32: ((int32_t *)out)[i] = (int32_t)v; break;
    default: abort();
    }
}

static void paint_one(const qfz_image *image, const uint32_t *labels, uint32_t label, int band,
                      void *out)
{
    const int64_t n = image->h * image->w;
    const bool whole = image->type != QFZ_F32;
    exact sum = {.n = 0};
    i128 whole_sum = 0, count = 0;
    for (int64_t p = 0; p < n; p++) {
        if (labels[p] != label) continue;
        count++;
        if (whole)
            whole_sum += whole_value(image, band, p);
        else
            exact_add(&sum, oracle_value(image, band, p));
    }
    for (int64_t p = 0; p < n; p++) {
        if (labels[p] != label) continue;
        if (whole)
            store_whole(image, band * n + p, floor_half_up(whole_sum, count), out);
        else
            ((float *)out)[band * n + p] = (float)(exact_value(&sum) / (double)count);
    }
}

void oracle_paint(const qfz_image *image, const uint32_t *labels, uint32_t n, void *out)
{
    for (uint32_t label = 1; label <= n; label++)
        for (int b = 0; b < image->n_bands; b++)
            paint_one(image, labels, label, b, out);
}

static void measure(const qfz_image *image, const uint32_t *labels, uint32_t label, int band,
                    oracle_region *r)
{
    const int64_t n = image->h * image->w;
    exact sum = {.n = 0}, squares = {.n = 0};
    double lo = INFINITY, hi = -INFINITY;
    for (int64_t p = 0; p < n; p++) {
        if (labels[p] != label) continue;
        const double v = oracle_value(image, band, p);
        exact_add(&sum, v);
        lo = fmin(lo, v);
        hi = fmax(hi, v);
    }
    const double mean = exact_value(&sum) / (double)r->pixels;
    for (int64_t p = 0; p < n; p++)
        if (labels[p] == label) {
            const double d = oracle_value(image, band, p) - mean;
            exact_add(&squares, isfinite(d) ? d * d : INFINITY);
        }
    r->bands[band].mean = mean;
    r->bands[band].min = lo;
    r->bands[band].max = hi;
    r->bands[band].stddev = sqrt(exact_value(&squares) / (double)r->pixels);
}

void oracle_regions(const qfz_image *image, const uint32_t *labels, uint32_t n,
                    oracle_region *regions)
{
    const int64_t w = image->w;
    for (uint32_t label = 1; label <= n; label++) {
        oracle_region *r = &regions[label - 1];
        double sum_x = 0, sum_y = 0; /* of halves: exact on small rasters */
        *r = (oracle_region){.x0 = w, .y0 = image->h};
        for (int64_t p = 0; p < image->h * w; p++) {
            const int64_t y = p / w, x = p % w;
            if (labels[p] != label) continue;
            r->pixels++;
            sum_x += (double)x + 0.5;
            sum_y += (double)y + 0.5;
            if (x < r->x0) r->x0 = x;
            if (x >= r->x1) r->x1 = x + 1;
            if (y < r->y0) r->y0 = y;
            if (y >= r->y1) r->y1 = y + 1;
        }
        r->x = sum_x / (double)r->pixels;
        r->y = sum_y / (double)r->pixels;
        for (int b = 0; b < image->n_bands; b++)
            measure(image, labels, label, b, r);
    }
}
