/* SPDX-License-Identifier: MIT */
#include "method.h"

#include "memory.h"

static qfz_status check_limit(const char *name, double value, qfz_error *err)
{
    if (value >= 0) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "%s is %g; it must be a number that is at least 0", name, value);
}

qfz_status qfz_method_check(const qfz_method *method, qfz_error *err)
{
    if (method->connectivity != 4 && method->connectivity != 8)
        return qfz_fail(err, QFZ_EARG, "connectivity is %d; it must be 4 or 8",
                        method->connectivity);
    if (method->has_alpha) QFZ_TRY(check_limit("alpha", method->alpha, err));
    for (int i = 0; method->omega && i < method->n_omega; i++)
        QFZ_TRY(check_limit("omega", method->omega[i], err));
    return QFZ_OK;
}

qfz_status qfz_method_spread_omega(const qfz_method *method, int n_bands, double **omega,
                                   qfz_error *err)
{
    double *spread = NULL;
    *omega = NULL;
    if (!method->omega) return QFZ_OK;
    if (method->n_omega != 1 && method->n_omega != n_bands)
        return qfz_fail(err, QFZ_EARG, "%d values of omega for %d bands; give one, or one per band",
                        method->n_omega, n_bands);
    QFZ_TRY(QFZ_NEW(&spread, n_bands, err));
    for (int b = 0; b < n_bands; b++)
        spread[b] = method->omega[method->n_omega == 1 ? 0 : b];
    *omega = spread;
    return QFZ_OK;
}
