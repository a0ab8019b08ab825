/* SPDX-License-Identifier: MIT */
#include "job/alphas.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "job/output_names.h"

enum { ALPHAS_MAX = 100 };

/* ---------------------------------------------------------------------------------------- checks
 */
static qfz_status check_numbers(const qfz_job *job, qfz_error *err)
{
    if (job->n_alphas > ALPHAS_MAX)
        return qfz_fail(err, QFZ_EARG, "%lld alphas; at most %d are possible in one job",
                        (long long)job->n_alphas, (int)ALPHAS_MAX);
    for (int64_t i = 0; i < job->n_alphas; i++) {
        if (!(job->alphas[i] >= 0))
            return qfz_fail(err, QFZ_EARG, "alpha is %g; it must be at least 0", job->alphas[i]);
        for (int64_t j = 0; j < i; j++)
            if (job->alphas[i] == job->alphas[j])
                return qfz_fail(err, QFZ_EARG, "alpha %.17g is given twice; leave one out",
                                job->alphas[i]);
    }
    return QFZ_OK;
}

static bool has_method(const qfz_job *job)
{
    return job->gpu_method && strcmp(job->gpu_method, "auto") != 0;
}

static qfz_status check_task(const qfz_job *job, qfz_error *err)
{
    if (job->task != QFZ_LABEL && job->task != QFZ_SIMPLIFY && job->task != QFZ_CUT)
        return qfz_fail(err, QFZ_EARG, "several alphas are for label, simplify and cut only");
    if (job->criterion.has_alpha)
        return qfz_fail(err, QFZ_EARG, "one alpha is given, and a list of alphas; leave one out");
    if (job->regions_target > 0)
        return qfz_fail(err, QFZ_EARG,
                        "alphas are given, and a largest number of regions, from which alpha is "
                        "found; leave one out");
    if (job->count_only)
        return qfz_fail(err, QFZ_EARG,
                        "regions are only counted for one alpha; qfz curve counts them for all "
                        "alphas");
    if (job->phase != QFZ_PHASE_ALL)
        return qfz_fail(err, QFZ_EARG,
                        "a job of several alphas has no phases; start a job for each alpha, or cut "
                        "a saliency raster that such a job has made");
    if (has_method(job))
        return qfz_fail(err, QFZ_EARG,
                        "the published methods have one alpha at a time; leave --method out, or "
                        "start a job for each alpha");
    return QFZ_OK;
}

static qfz_status check_names(qfz_job *job, qfz_error *err)
{
    const char **names[QFZ_OUTPUTS_MAX];
    qfz_output_names_of(job, names);
    for (int i = 0; i < QFZ_OUTPUTS_MAX; i++) {
        const char *const name = *names[i];
        const bool has_place = name && strstr(name, QFZ_ALPHA_PLACE);
        if (name && job->n_alphas > 0 && !has_place)
            return qfz_fail(err, QFZ_EARG,
                            "%s: with several alphas there is an output for each; the name must "
                            "contain " QFZ_ALPHA_PLACE ", which the alpha replaces",
                            name);
        if (has_place && job->n_alphas == 0)
            return qfz_fail(err, QFZ_EARG,
                            "%s: " QFZ_ALPHA_PLACE " in a name is the place of each of several "
                            "alphas; give a list of them, such as --alpha 5,10",
                            name);
    }
    return QFZ_OK;
}

qfz_status qfz_alphas_take(qfz_job *job, qfz_error *err)
{
    if (job->n_alphas < 0 || (job->n_alphas > 0 && !job->alphas))
        return qfz_fail(err, QFZ_EARG, "a list of %lld alphas", (long long)job->n_alphas);
    QFZ_TRY(check_names(job, err));
    if (job->n_alphas == 0) return QFZ_OK;
    QFZ_TRY(check_numbers(job, err));
    QFZ_TRY(check_task(job, err));
    job->criterion.has_alpha = true;
    job->criterion.alpha = job->alphas[0];
    return QFZ_OK;
}

/* Looks for a name of the job among those of another job. */
static qfz_status check_pair(qfz_job *a, qfz_job *b, qfz_error *err)
{
    const char **of_a[QFZ_OUTPUTS_MAX], **of_b[QFZ_OUTPUTS_MAX];
    qfz_output_names_of(a, of_a);
    qfz_output_names_of(b, of_b);
    for (int i = 0; i < QFZ_OUTPUTS_MAX; i++)
        for (int j = 0; j < QFZ_OUTPUTS_MAX; j++)
            if (*of_a[i] && *of_b[j] && strcmp(*of_a[i], *of_b[j]) == 0)
                return qfz_fail(err, QFZ_EARG,
                                "%s: outputs of the alphas %.17g and %.17g have this name; give "
                                "each its own name",
                                *of_a[i], a->criterion.alpha, b->criterion.alpha);
    return QFZ_OK;
}

static qfz_status check_pairs(qfz_alphas *alphas, const qfz_setup *setup, qfz_error *err)
{
    qfz_job first = *setup->job;
    for (int64_t i = 0; i < alphas->n; i++) {
        qfz_job *const job = &alphas->list[i].job;
        QFZ_TRY(check_pair(&first, job, err));
        for (int64_t j = 0; j < i; j++)
            QFZ_TRY(check_pair(&alphas->list[j].job, job, err));
    }
    return QFZ_OK;
}

/* ---------------------------------------------------------------------------------- open and close
 */
qfz_status qfz_alphas_first_names(qfz_job *job, char *owned[QFZ_OUTPUTS_MAX], qfz_error *err)
{
    return job->n_alphas > 0 ? qfz_output_names_fill(job, job->alphas[0], owned, err)
                             : qfz_output_names_follow(job, owned, err);
}

/* A cut has its alpha in the bits that are read, and no level in its rule. */
static void follow_one(qfz_alpha_run *own, const qfz_setup *setup)
{
    qfz_rule *const rule = &own->setup.rule;
    own->job.overwrite = setup->job->overwrite;
    own->setup = *setup;
    own->setup.job = &own->job;
    if (own->job.task != QFZ_CUT)
        rule->alpha_level = qfz_level_of_alpha(rule, own->job.criterion.alpha);
}

void qfz_alphas_follow(qfz_alphas *alphas, const qfz_setup *setup)
{
    for (int64_t i = 0; i < alphas->n; i++)
        follow_one(&alphas->list[i], setup);
}

static qfz_status init_one(qfz_alpha_run *own, const qfz_job *job, double alpha, qfz_error *err)
{
    own->job = *job;
    own->job.criterion.alpha = alpha;
    return qfz_output_names_fill(&own->job, alpha, own->names, err);
}

/* Of every alpha, the first included. */
static qfz_status init_outcomes(qfz_alphas *alphas, const qfz_job *first, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW_ZERO(&alphas->outcomes, alphas->n + 1, err));
    alphas->outcomes[0].job = first;
    for (int64_t i = 0; i < alphas->n; i++)
        alphas->outcomes[i + 1].job = &alphas->list[i].job;
    return QFZ_OK;
}

qfz_status qfz_alphas_init(qfz_alphas *alphas, const qfz_job *job, const qfz_setup *setup,
                           qfz_error *err)
{
    const int64_t n = qfz_job_n_alphas(job) - 1;
    QFZ_TRY(QFZ_NEW_ZERO(&alphas->list, n, err));
    alphas->n = n;
    for (int64_t i = 0; i < n; i++)
        QFZ_TRY(init_one(&alphas->list[i], job, job->alphas[i + 1], err));
    QFZ_TRY(init_outcomes(alphas, setup->job, err));
    qfz_alphas_follow(alphas, setup);
    return check_pairs(alphas, setup, err);
}

qfz_status qfz_alphas_open(qfz_alphas *alphas, qfz_run *first, qfz_error *err)
{
    qfz_run *last = first;
    qfz_alphas_follow(alphas, first->setup);
    for (int64_t i = 0; i < alphas->n; i++) {
        qfz_alpha_run *const own = &alphas->list[i];
        QFZ_TRY(qfz_run_open_alpha(&own->run, first, i + 1, &own->setup, err));
        last->next_alpha = &own->run;
        last = &own->run;
    }
    return QFZ_OK;
}

void qfz_alphas_close(qfz_alphas *alphas)
{
    for (int64_t i = 0; i < alphas->n; i++) {
        qfz_run_close_alpha(&alphas->list[i].run);
        for (int j = 0; j < QFZ_OUTPUTS_MAX; j++)
            free(alphas->list[i].names[j]);
    }
    free(alphas->list);
    free(alphas->outcomes);
    *alphas = (qfz_alphas){0};
}

void qfz_alphas_count(qfz_alphas *alphas, const qfz_run *first)
{
    for (const qfz_run *run = first; run; run = run->next_alpha)
        alphas->outcomes[run->alpha].regions = run->count.total;
}

/* --------------------------------------------------------------------------------------- one tile
 */
/* The planes of a cut are bits, one plane for each alpha. */
qfz_status qfz_alphas_load(const qfz_run *run, qfz_thread_context *context, const qfz_image *tile,
                           qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    const qfz_engine_stream *const stream = setup->engine->stream;
    const int64_t plane = setup->job->task == QFZ_CUT ? run->alpha : 0;
    const size_t plane_bytes = (size_t)(tile->h * tile->w) * qfz_type_bytes(tile->type);
    if (stream) return stream->again(context->worker, &setup->rule, (int)plane, err);
    context->rule.alpha_level = setup->rule.alpha_level;
    context->tile = *tile;
    context->tile.n_bands = setup->rule.n_bands;
    context->tile.pixels = (const char *)tile->pixels + (size_t)plane * plane_bytes;
    return setup->engine->load(context->worker, &context->tile, err);
}
