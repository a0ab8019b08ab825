/* SPDX-License-Identifier: MIT */
#include "job/output_specs.h"

#include <math.h>

/* The regions of forest are those of level 0; label without alpha joins equal values; simplify
 * without alpha has no limit. */
static double alpha_of(const qfz_job *job)
{
    if (job->task == QFZ_FOREST) return 0;
    if (job->criterion.has_alpha) return job->criterion.alpha;
    return job->task == QFZ_LABEL ? 0 : INFINITY;
}

static qfz_sink_spec spec_of(const qfz_setup *setup, const char *path, qfz_content content)
{
    const qfz_criterion *const criterion = &setup->job->criterion;
    return (qfz_sink_spec){.path = path,
                           .content = content,
                           .w = setup->info.w,
                           .h = setup->info.h,
                           .n_bands = 1,
                           .connectivity = setup->rule.connectivity,
                           .of_edges = setup->rule.edge_levels,
                           .distance = setup->rule.distance,
                           .weights = criterion->weights,
                           .n_weights = setup->rule.weights ? criterion->n_weights : 0,
                           .alpha = alpha_of(setup->job),
                           .omega = criterion->omega,
                           .n_omega = criterion->omega ? criterion->n_omega : 0,
                           .min_area = criterion->min_area,
                           .min_area_m2 = setup->job->min_area_m2};
}

qfz_sink_spec qfz_output_spec_labels(const qfz_setup *setup, const char *path, uint64_t n_regions)
{
    qfz_sink_spec spec = spec_of(setup, path, QFZ_CONTENT_LABELS);
    spec.type = n_regions <= UINT32_MAX ? QFZ_OUT_U32 : QFZ_OUT_U64;
    spec.max_value = (double)n_regions;
    spec.has_nodata = true;
    return spec;
}

static double type_max(qfz_type type)
{
    switch (type) {
    case QFZ_U8: return UINT8_MAX;
    case QFZ_I8: return INT8_MAX;
    case QFZ_U16: return UINT16_MAX;
    case QFZ_I16: return INT16_MAX;
    case QFZ_U32: return UINT32_MAX;
    case QFZ_I32: return INT32_MAX;
    case QFZ_F32: break;
    }
    return (double)3.402823466e38f;
}

qfz_sink_spec qfz_output_spec_painted(const qfz_setup *setup, const char *path)
{
    const qfz_source_info *const info = &setup->info;
    qfz_sink_spec spec = spec_of(setup, path, QFZ_CONTENT_PAINTED);
    spec.n_bands = info->n_bands;
    spec.type = qfz_out_type_of(info->type);
    spec.max_value = type_max(info->type);
    spec.has_nodata = info->has_nodata || (info->may_be_invalid && qfz_type_is_float(info->type));
    spec.nodata = info->has_nodata ? info->nodata : NAN;
    spec.has_mask = info->may_be_invalid && !spec.has_nodata;
    return spec;
}

bool qfz_output_type_is_found(const qfz_setup *setup)
{
    return !qfz_levels_are_float(&setup->rule) && !setup->job->type &&
           setup->max_level < UINT32_MAX && qfz_level_bytes(setup->max_level) > 1;
}

static void set_level_type(qfz_sink_spec *spec, int level_bytes)
{
    switch (level_bytes) {
    case 1:
        spec->type = QFZ_OUT_U8;
        spec->nodata = UINT8_MAX;
        break;
    case 2:
        spec->type = QFZ_OUT_U16;
        spec->nodata = UINT16_MAX;
        break;
    case 4:
        spec->type = QFZ_OUT_U32;
        spec->nodata = UINT32_MAX;
        break;
    default: spec->type = QFZ_OUT_U64; spec->nodata = (double)UINT64_MAX;
    }
    spec->max_value = spec->nodata;
}

qfz_sink_spec qfz_output_spec_saliency(const qfz_setup *setup, const char *path, qfz_layout layout,
                                       int level_bytes)
{
    qfz_sink_spec spec = spec_of(setup, path, QFZ_CONTENT_SALIENCY);
    const bool wide = layout == QFZ_KHALIMSKY;
    spec.layout = layout;
    spec.w = wide ? 2 * setup->info.w - 1 : setup->info.w;
    spec.h = wide ? 2 * setup->info.h - 1 : setup->info.h;
    spec.n_bands = layout == QFZ_EDGES ? qfz_n_dirs(&setup->rule) : 1;
    spec.has_nodata = true;
    spec.has_mask = layout == QFZ_EDGES && setup->info.may_be_invalid;
    if (qfz_levels_are_float(&setup->rule)) {
        spec.type = QFZ_OUT_F32;
        spec.max_value = INFINITY;
        spec.nodata = NAN;
        return spec;
    }
    const bool found = level_bytes > 0 && qfz_output_type_is_found(setup);
    set_level_type(&spec, found ? level_bytes : qfz_level_bytes(setup->max_level));
    return spec;
}

qfz_sink_spec qfz_output_spec_main(const qfz_setup *setup)
{
    const qfz_job *const job = setup->job;
    switch (job->task) {
    case QFZ_SIMPLIFY: return qfz_output_spec_painted(setup, job->dst);
    case QFZ_SALIENCY: return qfz_output_spec_saliency(setup, job->dst, job->layout, 0);
    default: return qfz_output_spec_labels(setup, job->dst, 0);
    }
}
