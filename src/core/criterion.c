/* SPDX-License-Identifier: MIT */
#include "core/criterion.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"

static qfz_status check_limit(const char *name, double value, qfz_error *err)
{
    if (value >= 0) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "%s is %g; it must be a number that is at least 0", name, value);
}

qfz_status qfz_criterion_check(const qfz_criterion *criterion, qfz_error *err)
{
    if (criterion->connectivity != 4 && criterion->connectivity != 8)
        return qfz_fail(err, QFZ_EARG, "connectivity is %d; it must be 4 or 8",
                        criterion->connectivity);
    if (criterion->weights && criterion->distance == QFZ_SAM)
        return qfz_fail(err, QFZ_EARG,
                        "weights belong to --distance l1, l2 and linf; an angle has none");
    for (size_t i = 0; i < sizeof criterion->reserved / sizeof *criterion->reserved; i++)
        if (criterion->reserved[i])
            return qfz_fail(err, QFZ_EARG, "qfz_criterion.reserved[%zu] is not 0", i);
    if (criterion->has_alpha) QFZ_TRY(check_limit("alpha", criterion->alpha, err));
    for (int i = 0; criterion->omega && i < criterion->n_omega; i++)
        QFZ_TRY(check_limit("omega", criterion->omega[i], err));
    return QFZ_OK;
}

/* The largest difference of two values of a type. */
static double widest(qfz_type type)
{
    switch (type) {
    case QFZ_U8:
    case QFZ_I8: return UINT8_MAX;
    case QFZ_U16:
    case QFZ_I16: return UINT16_MAX;
    case QFZ_U32:
    case QFZ_I32: return UINT32_MAX;
    case QFZ_F32: break;
    }
    return INFINITY;
}

static bool any_limits(const double *omega, int n_bands, qfz_type type)
{
    for (int b = 0; b < n_bands; b++)
        if (omega[b] < widest(type)) return true;
    return false;
}

qfz_status qfz_criterion_spread_omega(const qfz_criterion *criterion, qfz_type type, int n_bands,
                                      double **omega, qfz_error *err)
{
    double *spread = NULL;
    *omega = NULL;
    if (!criterion->omega) return QFZ_OK;
    if (criterion->n_omega != 1 && criterion->n_omega != n_bands)
        return qfz_fail(err, QFZ_EARG, "%d values of omega for %d bands; give one, or one per band",
                        criterion->n_omega, n_bands);
    QFZ_TRY(QFZ_NEW(&spread, n_bands, err));
    for (int b = 0; b < n_bands; b++)
        spread[b] = criterion->omega[criterion->n_omega == 1 ? 0 : b];
    if (any_limits(spread, n_bands, type))
        *omega = spread;
    else
        free(spread);
    return QFZ_OK;
}

static qfz_status convert_weights(const double *from, int n, float *to, qfz_error *err)
{
    bool any = false;
    for (int b = 0; b < n; b++) {
        to[b] = (float)from[b];
        if (!(from[b] >= 0) || isinf(to[b]))
            return qfz_fail(err, QFZ_EARG,
                            "weight %g of band %d; a weight is a number from 0 to 3.4e38", from[b],
                            b + 1);
        if (from[b] > 0 && !(to[b] > 0))
            return qfz_fail(err, QFZ_EARG,
                            "weight %g of band %d is too small; 1.4e-45 is the least", from[b],
                            b + 1);
        any |= to[b] > 0;
    }
    return any ? QFZ_OK : qfz_fail(err, QFZ_EARG, "all weights are 0; one must be greater than 0");
}

qfz_status qfz_criterion_spread_weights(const qfz_criterion *criterion, int n_bands,
                                        float **weights, qfz_error *err)
{
    float *made = NULL;
    *weights = NULL;
    if (!criterion->weights) return QFZ_OK;
    if (criterion->n_weights != n_bands)
        return qfz_fail(err, QFZ_EARG, "%d weights for %d bands; give one per band",
                        criterion->n_weights, n_bands);
    QFZ_TRY(QFZ_NEW(&made, n_bands, err));
    const qfz_status st = convert_weights(criterion->weights, n_bands, made, err);
    if (st != QFZ_OK)
        free(made);
    else
        *weights = made;
    return st;
}
