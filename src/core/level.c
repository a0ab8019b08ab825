/* SPDX-License-Identifier: MIT */
/* level.c - levels of pairs of pixels, and the limits of a rule. */
#include "core/simd.h"
#include "core/angle.h"
#include "core/level.h"
#include "core/root_level.h"
#include "core/wide.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 256 }; /* pairs at a time, so that the accumulators stay in the first-level cache */

static const struct {
    size_t bytes;
    const char *name;
    uint32_t range; /* largest difference of two values; 0: a floating-point type */
} types[] = {
    [QFZ_U8] = {1, "Byte", UINT8_MAX},     [QFZ_I8] = {1, "Int8", UINT8_MAX},
    [QFZ_U16] = {2, "UInt16", UINT16_MAX}, [QFZ_I16] = {2, "Int16", UINT16_MAX},
    [QFZ_U32] = {4, "UInt32", UINT32_MAX}, [QFZ_I32] = {4, "Int32", UINT32_MAX},
    [QFZ_F32] = {4, "Float32", 0},
};

static const uint32_t infinity_level = 0x7f800000u;
static const uint32_t pi_level = 0x40490fdbu; /* the nearest single */

size_t qfz_type_bytes(qfz_type type)
{
    return types[type].bytes;
}

const char *qfz_type_name(qfz_type type)
{
    return types[type].name;
}

bool qfz_type_is_float(qfz_type type)
{
    return type == QFZ_F32;
}

bool qfz_levels_are_float(const qfz_rule *rule)
{
    if (rule->edge_levels) return rule->edges_are_float;
    return qfz_type_is_float(rule->type) || rule->weights || rule->distance == QFZ_L2 ||
           rule->distance == QFZ_SAM;
}

/* The product of a difference and a weight may vanish.  Equal floats may differ in their bits. */
bool qfz_level_0_is_equal(const qfz_rule *rule)
{
    return !qfz_type_is_float(rule->type) && !rule->weights && rule->distance != QFZ_SAM &&
           !rule->edge_levels;
}

qfz_status qfz_max_level(const qfz_rule *rule, uint32_t *level, qfz_error *err)
{
    const uint64_t n_bands = (uint64_t)rule->n_bands;
    if (rule->edge_levels) {
        *level = rule->max_edge;
        return QFZ_OK;
    }
    if (rule->distance == QFZ_SAM && n_bands < 2)
        return qfz_fail(err, QFZ_EARG,
                        "an angle between two pixels needs two bands or more; use --distance l1");
    if (qfz_levels_are_float(rule)) {
        *level = rule->distance == QFZ_SAM ? pi_level : infinity_level;
        return QFZ_OK;
    }
    const uint64_t sum = types[rule->type].range * (rule->distance == QFZ_L1 ? n_bands : 1);
    if (sum > UINT32_MAX)
        return qfz_fail(err, QFZ_EARG,
                        "l1 levels of %d bands of %s can pass 2^32 - 1; use --distance linf or l2, "
                        "or fewer bands",
                        rule->n_bands, types[rule->type].name);
    *level = (uint32_t)sum;
    return QFZ_OK;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint32_t qfz_level_of_alpha(const qfz_rule *rule, double alpha)
{
    if (alpha == 0) return 0; /* includes negative zero */
    if (!qfz_levels_are_float(rule))
        return alpha >= (double)qfz_top_level(rule) ? qfz_top_level(rule) : (uint32_t)alpha;
    if (isinf(alpha)) return infinity_level;
    const float nearest = (float)alpha;
    return (double)nearest <= alpha ? bits_of(nearest) : bits_of(nextafterf(nearest, 0));
}

double qfz_level_value(const qfz_rule *rule, uint32_t level)
{
    if (!qfz_levels_are_float(rule)) return level;
    float value;
    memcpy(&value, &level, sizeof value);
    return (double)value;
}

/* |a - b| of two values, exactly, as an unsigned number of the same width: so a vector has as many
 * lanes as possible. */
#define INTEGER_DIFFERENCE(DIFF, a, b)                                                             \
    (DIFF)((DIFF)((a) > (b) ? (a) : (b)) - (DIFF)((a) > (b) ? (b) : (a)))

/* acc[i] = FOLD(acc[i], d), d being the difference of values p + i and q + i. */
#define FOLD_BAND(TYPE, DIFF, DIFFERENCE, FOLD)                                                    \
    do {                                                                                           \
        const TYPE *const a = (const TYPE *)plane + p;                                             \
        const TYPE *const b = (const TYPE *)plane + q;                                             \
        for (int i = 0; i < n; i++) {                                                              \
            const DIFF d = DIFFERENCE(DIFF, a[i], b[i]);                                           \
            acc[i] = FOLD(acc[i], d);                                                              \
        }                                                                                          \
    } while (0)

#define FOLD_INTEGER_BAND(FOLD)                                                                    \
    switch (type) {                                                                                \
    case QFZ_U8: FOLD_BAND(uint8_t, uint8_t, INTEGER_DIFFERENCE, FOLD); break;                     \
    case QFZ_I8: FOLD_BAND(int8_t, uint8_t, INTEGER_DIFFERENCE, FOLD); break;                      \
    case QFZ_U16: FOLD_BAND(uint16_t, uint16_t, INTEGER_DIFFERENCE, FOLD); break;                  \
    case QFZ_I16: FOLD_BAND(int16_t, uint16_t, INTEGER_DIFFERENCE, FOLD); break;                   \
    case QFZ_U32: FOLD_BAND(uint32_t, uint32_t, INTEGER_DIFFERENCE, FOLD); break;                  \
    case QFZ_I32: FOLD_BAND(int32_t, uint32_t, INTEGER_DIFFERENCE, FOLD); break;                   \
    case QFZ_F32: break;                                                                           \
    }

#define FOLD_FIRST(acc, d) (d)
#define FOLD_SUM(acc, d) ((acc) + (d))
#define FOLD_MAX(acc, d) ((acc) > (d) ? (acc) : (d))
#define FOLD_SQUARE(acc, d) ((acc) + (uint64_t)(d) * (d))

QFZ_CLONES static void first_band(qfz_type type, const void *plane, int64_t p, int64_t q, int n,
                                  uint32_t *acc)
{
    FOLD_INTEGER_BAND(FOLD_FIRST);
}

QFZ_CLONES static void sum_band(qfz_type type, const void *plane, int64_t p, int64_t q, int n,
                                uint32_t *acc)
{
    FOLD_INTEGER_BAND(FOLD_SUM);
}

QFZ_CLONES static void max_band(qfz_type type, const void *plane, int64_t p, int64_t q, int n,
                                uint32_t *acc)
{
    FOLD_INTEGER_BAND(FOLD_MAX);
}

static void square_band(qfz_type type, const void *plane, int64_t p, int64_t q, int n,
                        qfz_u128 *acc)
{
    FOLD_INTEGER_BAND(FOLD_SQUARE);
}

/* Equal values differ by 0, infinite ones too. */
#define FLOAT_DIFFERENCE(DIFF, a, b) ((a) == (b) ? (DIFF)0 : fabsf((a) - (b)))

QFZ_CLONES static void float_band(qfz_distance distance, const void *plane, int64_t p, int64_t q,
                                  int n, float *acc)
{
    switch (distance) {
    case QFZ_L1: FOLD_BAND(float, float, FLOAT_DIFFERENCE, FOLD_SUM); break;
    case QFZ_LINF: FOLD_BAND(float, float, FLOAT_DIFFERENCE, FOLD_MAX); break;
    case QFZ_L2:
    case QFZ_SAM: break;
    }
}

#define FOLD_ANY_BAND(FOLD)                                                                        \
    if (type == QFZ_F32)                                                                           \
        FOLD_BAND(float, float, FLOAT_DIFFERENCE, FOLD);                                           \
    else                                                                                           \
        FOLD_INTEGER_BAND(FOLD)

#define WEIGHTED(d) (weight * (float)(d))
#define FOLD_WEIGHTED_SUM(acc, d) ((acc) + WEIGHTED(d))
#define FOLD_WEIGHTED_MAX(acc, d) ((acc) > WEIGHTED(d) ? (acc) : WEIGHTED(d))

QFZ_CLONES static void weighted_band(qfz_distance distance, qfz_type type, float weight,
                                     const void *plane, int64_t p, int64_t q, int n, float *acc)
{
    switch (distance) {
    case QFZ_L1: FOLD_ANY_BAND(FOLD_WEIGHTED_SUM); break;
    case QFZ_LINF: FOLD_ANY_BAND(FOLD_WEIGHTED_MAX); break;
    case QFZ_L2:
    case QFZ_SAM: break;
    }
}

/* Squares in double precision, which holds that of any finite difference of singles, also times a
 * weight.  weight 1: none. */
#define WIDE_DIFFERENCE(DIFF, a, b) ((a) == (b) ? 0 : (double)(a) - (double)(b))
#define WIDE_SQUARE(d) (weight * (double)(d) * (weight * (double)(d)))
#define FOLD_WIDE_SQUARE(acc, d) ((acc) + WIDE_SQUARE(d))

QFZ_CLONES static void wide_square_band(qfz_type type, double weight, const void *plane, int64_t p,
                                        int64_t q, int n, double *acc)
{
    if (type == QFZ_F32)
        FOLD_BAND(float, double, WIDE_DIFFERENCE, FOLD_WIDE_SQUARE);
    else
        FOLD_INTEGER_BAND(FOLD_WIDE_SQUARE)
}

/* Dot products of the vectors of two pixels, with each other and with themselves. */
typedef struct dot_products {
    double ab[CHUNK], aa[CHUNK], bb[CHUNK];
} dot_products;

#define ADD_PRODUCTS(TYPE)                                                                         \
    do {                                                                                           \
        const TYPE *const a = (const TYPE *)plane + p;                                             \
        const TYPE *const b = (const TYPE *)plane + q;                                             \
        for (int i = 0; i < n; i++) {                                                              \
            const double x = (double)a[i], y = (double)b[i];                                       \
            dots->ab[i] += x * y;                                                                  \
            dots->aa[i] += x * x;                                                                  \
            dots->bb[i] += y * y;                                                                  \
        }                                                                                          \
    } while (0)

QFZ_CLONES static void add_products(qfz_type type, const void *plane, int64_t p, int64_t q, int n,
                                    dot_products *dots)
{
    switch (type) {
    case QFZ_U8: ADD_PRODUCTS(uint8_t); break;
    case QFZ_I8: ADD_PRODUCTS(int8_t); break;
    case QFZ_U16: ADD_PRODUCTS(uint16_t); break;
    case QFZ_I16: ADD_PRODUCTS(int16_t); break;
    case QFZ_U32: ADD_PRODUCTS(uint32_t); break;
    case QFZ_I32: ADD_PRODUCTS(int32_t); break;
    case QFZ_F32: ADD_PRODUCTS(float); break;
    }
}

static const void *plane_of(const qfz_image *image, int band)
{
    const size_t plane_bytes = (size_t)image->h * (size_t)image->w * types[image->type].bytes;
    return (const char *)image->pixels + (size_t)band * plane_bytes;
}

static void float_levels(const qfz_image *image, qfz_distance distance, int64_t p, int64_t q, int n,
                         uint32_t *levels)
{
    float acc[CHUNK];
    memset(acc, 0, (size_t)n * sizeof *acc);
    for (int b = 0; b < image->n_bands; b++)
        float_band(distance, plane_of(image, b), p, q, n, acc);
    memcpy(levels, acc, (size_t)n * sizeof *levels);
}

/* A band of weight 0 is left out: an infinite difference has no product with 0. */
static void weighted_levels(const qfz_image *image, const qfz_rule *rule, int64_t p, int64_t q,
                            int n, uint32_t *levels)
{
    float acc[CHUNK];
    memset(acc, 0, (size_t)n * sizeof *acc);
    for (int b = 0; b < image->n_bands; b++)
        if (rule->weights[b] > 0)
            weighted_band(rule->distance, image->type, rule->weights[b], plane_of(image, b), p, q,
                          n, acc);
    memcpy(levels, acc, (size_t)n * sizeof *levels);
}

QFZ_CLONES static void wide_roots(const double *squares, int n, uint32_t *levels)
{
    float roots[CHUNK];
    for (int i = 0; i < n; i++)
        roots[i] = (float)sqrt(squares[i]);
    memcpy(levels, roots, (size_t)n * sizeof *levels);
}

/* l2 of floats, and l2 with weights. */
static void wide_root_levels(const qfz_image *image, const qfz_rule *rule, int64_t p, int64_t q,
                             int n, uint32_t *levels)
{
    double acc[CHUNK];
    memset(acc, 0, (size_t)n * sizeof *acc);
    for (int b = 0; b < image->n_bands; b++) {
        const double weight = rule->weights ? (double)rule->weights[b] : 1;
        if (weight > 0) wide_square_band(image->type, weight, plane_of(image, b), p, q, n, acc);
    }
    wide_roots(acc, n, levels);
}

static void angle_levels(const qfz_image *image, int64_t p, int64_t q, int n, uint32_t *levels)
{
    dot_products dots = {{0}, {0}, {0}};
    float angles[CHUNK];
    for (int b = 0; b < image->n_bands; b++)
        add_products(image->type, plane_of(image, b), p, q, n, &dots);
    for (int i = 0; i < n; i++)
        angles[i] = qfz_angle(dots.ab[i], dots.aa[i], dots.bb[i]);
    memcpy(levels, angles, (size_t)n * sizeof *levels);
}

static void root_levels(const qfz_image *image, int64_t p, int64_t q, int n, uint32_t *levels)
{
    qfz_u128 acc[CHUNK];
    memset(acc, 0, (size_t)n * sizeof *acc);
    for (int b = 0; b < image->n_bands; b++)
        square_band(image->type, plane_of(image, b), p, q, n, acc);
    for (int i = 0; i < n; i++)
        levels[i] = qfz_root_level(acc[i]);
}

static void integer_levels(const qfz_image *image, qfz_distance distance, int64_t p, int64_t q,
                           int n, uint32_t *levels)
{
    first_band(image->type, plane_of(image, 0), p, q, n, levels);
    for (int b = 1; b < image->n_bands; b++) {
        if (distance == QFZ_L1)
            sum_band(image->type, plane_of(image, b), p, q, n, levels);
        else
            max_band(image->type, plane_of(image, b), p, q, n, levels);
    }
}

/* One band of floats without weights has the same l1, l2 and linf. */
static qfz_distance plain_distance(const qfz_rule *rule, const qfz_image *image)
{
    const bool one_difference =
        qfz_type_is_float(image->type) && image->n_bands == 1 && !rule->weights;
    return one_difference && rule->distance == QFZ_L2 ? QFZ_LINF : rule->distance;
}

void qfz_levels(const qfz_image *image, const qfz_rule *rule, int64_t p, int64_t q, int64_t n,
                uint32_t *levels)
{
    const qfz_distance distance = plain_distance(rule, image);
    for (int64_t done = 0; done < n; done += CHUNK) {
        const int some = n - done < CHUNK ? (int)(n - done) : CHUNK;
        if (distance == QFZ_SAM)
            angle_levels(image, p + done, q + done, some, levels + done);
        else if (distance == QFZ_L2 && (rule->weights || qfz_type_is_float(image->type)))
            wide_root_levels(image, rule, p + done, q + done, some, levels + done);
        else if (rule->weights)
            weighted_levels(image, rule, p + done, q + done, some, levels + done);
        else if (qfz_type_is_float(image->type))
            float_levels(image, distance, p + done, q + done, some, levels + done);
        else if (distance == QFZ_L2)
            root_levels(image, p + done, q + done, some, levels + done);
        else
            integer_levels(image, distance, p + done, q + done, some, levels + done);
    }
}

static void set_zeroed(const uint8_t *zeroed, int dir, int64_t n, uint32_t *levels)
{
    for (int64_t i = 0; i < n; i++)
        levels[i] &= (uint32_t)(zeroed[i] >> dir & 1) - 1;
}

void qfz_edge_levels(const qfz_image *image, const qfz_rule *rule, int dir, int64_t p, int64_t q,
                     int64_t n, uint32_t *levels)
{
    const uint32_t *const edges = image->edges;
    if (edges)
        memcpy(levels, edges + dir * image->h * image->w + p, (size_t)n * sizeof *levels);
    else
        qfz_levels(image, rule, p, q, n, levels);
    if (image->zeroed) set_zeroed(image->zeroed + p, dir, n, levels);
}

#define EACH_TYPE(DO)                                                                              \
    switch (rule->type) {                                                                          \
    case QFZ_U8: DO(uint8_t, int64_t)                                                              \
    case QFZ_I8: DO(int8_t, int64_t)                                                               \
    case QFZ_U16: DO(uint16_t, int64_t)                                                            \
    case QFZ_I16: DO(int16_t, int64_t)                                                             \
    case QFZ_U32: DO(uint32_t, int64_t)                                                            \
    case QFZ_I32: DO(int32_t, int64_t)                                                             \
    case QFZ_F32: DO(float, double)                                                                \
    }

/* Equal ends are a range of 0, infinite ones too. */
#define TOO_WIDE(TYPE, WIDE)                                                                       \
    {                                                                                              \
        const TYPE *const low = lo, *const high = hi;                                              \
        for (int b = 0; b < rule->n_bands; b++)                                                    \
            if (low[b] < high[b] && (double)((WIDE)high[b] - (WIDE)low[b]) > rule->omega[b])       \
                return true;                                                                       \
        return false;                                                                              \
    }

bool qfz_too_wide(const qfz_rule *rule, const void *lo, const void *hi)
{
    if (!rule->omega) return false;
    EACH_TYPE(TOO_WIDE)
    return false;
}

#define WIDEN(TYPE, WIDE)                                                                          \
    {                                                                                              \
        TYPE *const low = lo, *const high = hi;                                                    \
        const TYPE *const low2 = lo2, *const high2 = hi2;                                          \
        bool grew = false;                                                                         \
        for (int b = 0; b < rule->n_bands; b++) {                                                  \
            grew |= low2[b] < low[b] || high2[b] > high[b];                                        \
            if (low2[b] < low[b]) low[b] = low2[b];                                                \
            if (high2[b] > high[b]) high[b] = high2[b];                                            \
        }                                                                                          \
        return grew;                                                                               \
    }

bool qfz_widen(const qfz_rule *rule, void *lo, void *hi, const void *lo2, const void *hi2)
{
    EACH_TYPE(WIDEN)
    return false;
}
