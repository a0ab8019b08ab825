/* SPDX-License-Identifier: MIT */
#include "gpu/published/published.cuh"

#include <string.h>

const char *const qfz_gpu_method_names[QFZ_N_METHODS] = {"stava", "c2fl", "ha4", "ha4-32"};

/* Names what the labeling methods do not support in a rule; NULL if they support it. */
static const char *obstacle(const qfz_rule *rule)
{
    if (rule->omega) return "alpha-omega";
    if (rule->edge_bits) return "cutting a saliency raster";
    if (rule->alpha_level > 0) return "an alpha above 0";
    if (rule->n_bands > 1) return "more than one band";
    if (rule->weights) return "weights";
    if (rule->min_mass > 0) return "a least area of regions";
    if (qfz_type_is_float(rule->type)) return "floating-point rasters";
    return NULL;
}

qfz_status qfz_gpu_method_of(const char *name, const qfz_rule *rule, qfz_gpu_method *method,
                             qfz_error *err)
{
    for (int m = 0; m < QFZ_N_METHODS; m++) {
        if (strcmp(name, qfz_gpu_method_names[m]) != 0) continue;
        const char *const what = obstacle(rule);
        if (what)
            return qfz_fail(err, QFZ_EARG,
                            "method %s labels equal values of one band of integers and does not "
                            "accept %s; leave --method out",
                            name, what);
        *method = (qfz_gpu_method)m;
        return QFZ_OK;
    }
    return qfz_fail(err, QFZ_EARG, "there is no labeling method %s", name);
}

qfz_status qfz_gpu_segments_check(qfz_gpu *gpu, const qfz_gpu_segments *in)
{
    if (in->h < 1 || in->w < 1 || (int64_t)in->h * in->w > INT32_MAX)
        return qfz_fail(gpu->err, QFZ_EARG, "a tile of %d x %d pixels does not fit a GPU's indices",
                        (int)in->w, (int)in->h);
    if (in->connectivity != 4 && in->connectivity != 8)
        return qfz_fail(gpu->err, QFZ_EARG, "connectivity %d", in->connectivity);
    if (in->d_values ? qfz_type_is_float(in->type) : !in->d_valid)
        return qfz_fail(gpu->err, QFZ_EARG, "published methods label integers or a foreground");
    return QFZ_OK;
}

size_t qfz_gpu_published_bytes(qfz_gpu_method method, int32_t h, int32_t w)
{
    switch (method) {
    case QFZ_METHOD_HA4: return qfz_gpu_ha4_bytes(h, w);
    case QFZ_METHOD_HA4_32: return qfz_gpu_ha4_32_bytes(h, w);
    default: return 0;
    }
}

qfz_status qfz_gpu_published(qfz_gpu *gpu, qfz_gpu_method method, const qfz_gpu_segments *segments,
                             void *d_scratch, uint32_t *d_root)
{
    switch (method) {
    case QFZ_METHOD_STAVA: return qfz_gpu_stava(gpu, segments, d_root);
    case QFZ_METHOD_C2FL: return qfz_gpu_c2fl(gpu, segments, d_root);
    case QFZ_METHOD_HA4: return qfz_gpu_ha4(gpu, segments, d_scratch, d_root);
    case QFZ_METHOD_HA4_32: return qfz_gpu_ha4_32(gpu, segments, d_scratch, d_root);
    case QFZ_N_METHODS: break;
    }
    return qfz_fail(gpu->err, QFZ_EARG, "labeling method %d", (int)method);
}
