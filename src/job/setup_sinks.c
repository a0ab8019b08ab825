/* SPDX-License-Identifier: MIT */
#include "job/setup_sinks.h"

#include "job/label_outputs.h"
#include "job/output_specs.h"
#include "job/raster_options.h"

/* Parts of a VRT are GTiffs; parts that are merged have the default blocks. */
static void add(qfz_setup *setup, const qfz_source *source, const qfz_sink_options *options,
                qfz_sink_spec spec)
{
    if (qfz_output_is_vrt(options->format, spec.path)) {
        spec.n_parts = 1;
        spec.y1 = spec.h;
    }
    setup->sinks[setup->n_sinks++] = qfz_sink_memory_of(source, options, &spec);
}

/* The path of a hidden raster does not matter here. */
static void add_hidden(qfz_setup *setup, const qfz_source *source, const qfz_sink_spec *spec)
{
    const qfz_sink_options options = qfz_job_hidden_options(setup->job, 1);
    add(setup, source, &options, *spec);
}

static void add_named(qfz_setup *setup, const qfz_source *source, const qfz_sink_spec *spec)
{
    const qfz_sink_options options = qfz_job_sink_options(setup->job, spec->path);
    add(setup, source, &options, *spec);
}

void qfz_setup_find_sinks(qfz_setup *setup, const qfz_source *source)
{
    const qfz_job *const job = setup->job;
    const bool has_layout = job->task == QFZ_SALIENCY && job->layout != QFZ_EDGES;
    if (job->count_only || !job->dst || setup->comparison) return;
    const qfz_sink_spec main = qfz_output_spec_main(setup);
    add_named(setup, source, &main);
    const qfz_sink_spec edges = qfz_output_spec_saliency(setup, job->dst, QFZ_EDGES, 0);
    const qfz_sink_spec labels = qfz_output_spec_labels(setup, job->labels, 0);
    if (has_layout)
        add_hidden(setup, source, &edges);
    else if (job->labels)
        add_named(setup, source, &labels);
    else if (qfz_label_outputs_hide_labels(job))
        add_hidden(setup, source, &labels);
}
