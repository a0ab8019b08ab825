/* SPDX-License-Identifier: MIT */
/* check.c - qfz_check_run(): proves or refutes a raster of labels or saliency.
 *
 * One sweep over the rows checks all that the room check/ can prove.  What it cannot is computed
 * anew, by the engine, and compared: labels of (alpha, omega)-components, labels and saliency with
 * a least area, and the place of a level of saliency that is too low. */
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "core/api.h"
#include "core/clock.h"
#include "core/memory.h"
#include "job/check_rows.h"
#include "job/check_table.h"
#include "job/comparison.h"
#include "job/defaults.h"
#include "job/filter_stage.h"
#include "job/progress.h"
#include "job/raster_options.h"
#include "job/setup_init.h"
#include "job/setup_memory.h"
#include "job/temp_folder.h"

enum { TABLE = 0, POLYGONS, N_TABLES };

typedef struct check_run {
    const qfz_check *check;
    qfz_job job; /* that made the raster */
    qfz_made *made;
    qfz_source *source; /* NULL: not known, and neither is the setup */
    qfz_setup setup;
    int64_t memory_bytes;
    qfz_check_rows *rows;
    qfz_pieces *pieces;                /* of labels */
    qfz_hierarchy *hierarchy;          /* of saliency */
    qfz_check_table *tables[N_TABLES]; /* NULL: none is checked */
    char folder[4096];                 /* of the tables' temporary files */
    qfz_faults faults;
    bool is_too_low; /* some level of saliency is */
    qfz_step_times times;
    qfz_job_progress progress;
    qfz_check_report report;
} check_run;

/* ----------------------------------------------------------------------------- what is to be right
 */
static bool has_min_area(const qfz_job *job)
{
    return job->criterion.min_area > 1 || job->min_area_m2 > 0;
}

/* Fills what the caller leaves open from the raster's metadata. */
static void complete_criterion(check_run *c)
{
    const qfz_made_facts *const facts = qfz_made_get_facts(c->made);
    qfz_criterion *const m = &c->job.criterion;
    if (!c->check->has_connectivity && facts->connectivity) m->connectivity = facts->connectivity;
    if (!c->check->has_distance && facts->has_distance) m->distance = facts->distance;
    if (!m->has_alpha && facts->has_alpha && facts->content == QFZ_CONTENT_LABELS) {
        m->has_alpha = true;
        m->alpha = facts->alpha;
    }
    if (!m->omega && facts->n_omega > 0) {
        m->omega = facts->omega;
        m->n_omega = facts->n_omega;
    }
    if (!m->weights && facts->n_weights > 0) {
        m->weights = facts->weights;
        m->n_weights = facts->n_weights;
    }
    if (has_min_area(&c->job)) return;
    m->min_area = facts->min_area;
    c->job.min_area_m2 = facts->min_area_m2;
}

/* The outputs get names, since a job needs them, but are compared, not written. */
static void name_outputs(qfz_job *job)
{
    job->dst = "check";
    job->labels = job->task == QFZ_SIMPLIFY ? "check.labels" : NULL;
    job->regions = NULL;
    job->work = NULL;
    job->ranks = NULL;
}

static int n_tables(const check_run *c)
{
    return (c->check->table != NULL) + (c->check->polygons != NULL);
}

static qfz_status check_content(const check_run *c, qfz_error *err)
{
    const qfz_made_facts *const facts = qfz_made_get_facts(c->made);
    const char *const name = c->check->raster;
    const bool is_saliency = c->job.task == QFZ_SALIENCY;
    if (facts->content == QFZ_CONTENT_PAINTED)
        return qfz_fail(err, QFZ_EARG,
                        "%s: it holds painted regions; labels and saliency can be checked", name);
    if (is_saliency && facts->layout != QFZ_EDGES)
        return qfz_fail(err, QFZ_EARG,
                        "%s: saliency of another layout than edges cannot be checked", name);
    if (is_saliency && !c->job.src)
        return qfz_fail(err, QFZ_EARG, "%s: saliency is checked against its source; name SRC",
                        name);
    if (is_saliency && n_tables(c) > 0)
        return qfz_fail(err, QFZ_EARG,
                        "%s: it holds saliency; a table of regions belongs to labels", name);
    const int n_bands = is_saliency ? c->job.criterion.connectivity / 2 : 1;
    if (facts->n_bands == n_bands) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "%s: bands: %d; %s of %d-connected pixels: %d%s", name,
                    facts->n_bands, is_saliency ? "saliency" : "labels",
                    c->job.criterion.connectivity, n_bands,
                    c->job.src ? "; RASTER comes first, then SRC" : "");
}

static qfz_status open_source(check_run *c, qfz_error *err)
{
    const qfz_made_facts *const facts = qfz_made_get_facts(c->made);
    QFZ_TRY(qfz_setup_init(&c->setup, &c->job, &c->source, err));
    if (facts->w != c->setup.info.w || facts->h != c->setup.info.h)
        return qfz_fail(err, QFZ_EARG, "%s: %lld x %lld pixels, but %s has %lld x %lld",
                        c->check->raster, (long long)facts->w, (long long)facts->h, c->job.src,
                        (long long)c->setup.info.w, (long long)c->setup.info.h);
    if (c->job.task == QFZ_SALIENCY && c->setup.max_level == QFZ_NONE)
        return qfz_fail(err, QFZ_EARG, "%s: levels up to 2^32 - 1 cannot be checked", c->job.src);
    return qfz_source_locate(c->source, err);
}

static qfz_status prepare(check_run *c, qfz_error *err)
{
    const qfz_job *const job = &c->job;
    const qfz_retry retry = qfz_job_source_options(job).retry;
    QFZ_TRY(qfz_raster_setup(job->config, qfz_setup_first_cache(job), err));
    QFZ_TRY(qfz_made_open(&c->made, c->check->raster, job->allow_network, retry, err));
    complete_criterion(c);
    c->job.task = qfz_made_get_facts(c->made)->content == QFZ_CONTENT_SALIENCY ? QFZ_SALIENCY
                  : job->criterion.omega                                       ? QFZ_SIMPLIFY
                                                                               : QFZ_LABEL;
    name_outputs(&c->job);
    QFZ_TRY(check_content(c, err));
    QFZ_TRY(qfz_job_budget(job, &c->memory_bytes, err));
    return job->src ? open_source(c, err) : QFZ_OK;
}

/* -------------------------------------------------------------------------------------- the sweep
 */
/* Pixels whose level is 0 are one region even where their values span more than omega. */
static qfz_status find_pieces_rule(const check_run *c, qfz_pieces_rule *rule, qfz_error *err)
{
    const bool filtered = has_min_area(&c->job);
    *rule = (qfz_pieces_rule){0};
    if (!c->source) return QFZ_OK;
    *rule = (qfz_pieces_rule){.rule = &c->setup.rule,
                              .must_join = c->job.task == QFZ_LABEL,
                              .within_alpha = !filtered,
                              .within_omega = c->job.task == QFZ_SIMPLIFY && !filtered &&
                                              qfz_level_0_is_equal(&c->setup.rule)};
    return filtered ? qfz_filter_least_mass(&c->setup, c->source, &rule->min_mass, err) : QFZ_OK;
}

/* Of the memory, one half is for what the sweep keeps of earlier rows, a quarter for strips and
 * blocks, and a quarter for the program and its libraries.  With tables, strips and the regions
 * that are gathered share their quarter. */
static int64_t strips_bytes(const check_run *c)
{
    return c->memory_bytes / (n_tables(c) ? 8 : 4);
}

static qfz_status open_tables(check_run *c, qfz_error *err)
{
    const qfz_made_facts *const facts = qfz_made_get_facts(c->made);
    const char *const names[N_TABLES] = {
        [TABLE] = c->check->table, [POLYGONS] = c->check->polygons};
    if (n_tables(c) == 0) return QFZ_OK;
    qfz_temp_folder(&c->job, c->folder, sizeof c->folder);
    for (int i = 0; i < N_TABLES; i++) {
        qfz_check_table_spec spec = {.name = names[i],
                                     .has_polygons = i == POLYGONS,
                                     .w = facts->w,
                                     .h = facts->h,
                                     .allow_network = c->job.allow_network,
                                     .bytes = c->memory_bytes / 8 / n_tables(c),
                                     .folder = c->folder};
        qfz_made_get_transform(c->made, spec.transform);
        if (names[i]) QFZ_TRY(qfz_check_table_open(&c->tables[i], &spec, err));
    }
    return QFZ_OK;
}

/* Adds a region to all tables, as qfz_piece_fn. */
static qfz_status add_region(void *arg, const qfz_piece *region, qfz_error *err)
{
    const check_run *const c = arg;
    for (int i = 0; i < N_TABLES; i++)
        if (c->tables[i]) QFZ_TRY(qfz_check_table_add(c->tables[i], region, err));
    return QFZ_OK;
}

static qfz_status compare_tables(check_run *c, qfz_error *err)
{
    for (int i = 0; i < N_TABLES && c->faults.n == 0; i++)
        if (c->tables[i])
            QFZ_TRY(qfz_check_table_compare(c->tables[i], &c->faults, &c->progress, err));
    return QFZ_OK;
}

static qfz_status check_width(const check_run *c, int64_t column_bytes, qfz_error *err)
{
    const int64_t needed = qfz_made_get_facts(c->made)->w * column_bytes;
    if (needed <= c->memory_bytes / 2) return QFZ_OK;
    return qfz_fail(err, QFZ_ENOMEM,
                    "%s: a check needs %lld MB of memory for its rows; use "
                    "--memory %lldMB",
                    c->check->raster, (long long)(needed / 1000000 + 1),
                    (long long)(2 * needed / 1000000 + 2));
}

static qfz_status open_checks(check_run *c, qfz_error *err)
{
    const int64_t w = qfz_made_get_facts(c->made)->w;
    qfz_pieces_rule rule;
    if (c->job.task == QFZ_SALIENCY) {
        QFZ_TRY(check_width(c, qfz_hierarchy_bytes(&c->setup.rule), err));
        return qfz_hierarchy_open(&c->hierarchy, &c->setup.rule, w, &c->faults, err);
    }
    QFZ_TRY(find_pieces_rule(c, &rule, err));
    QFZ_TRY(check_width(c, qfz_pieces_bytes(&rule), err));
    QFZ_TRY(open_tables(c, err));
    return qfz_pieces_open(&c->pieces, &rule, w, n_tables(c) ? add_region : NULL, c, &c->faults,
                           err);
}

static qfz_status open_sweep(check_run *c, qfz_error *err)
{
    QFZ_TRY(open_checks(c, err));
    const qfz_check_rows_spec spec = {.made = c->made,
                                      .setup = c->source ? &c->setup : NULL,
                                      .source = c->source,
                                      .connectivity = c->job.criterion.connectivity,
                                      .is_saliency = c->job.task == QFZ_SALIENCY,
                                      .by_area = c->job.min_area_m2 > 0 && c->source,
                                      .config = c->job.config,
                                      .memory_bytes = strips_bytes(c)};
    return qfz_check_rows_open(&c->rows, &spec, err);
}

static qfz_status sweep_row(check_run *c, qfz_error *err)
{
    qfz_check_row row;
    QFZ_TRY(qfz_check_rows_next(c->rows, &row, err));
    return c->pieces ? qfz_pieces_row(c->pieces, &row, err)
                     : qfz_hierarchy_row(c->hierarchy, &row, err);
}

static qfz_status sweep(check_run *c, qfz_error *err)
{
    const int64_t h = qfz_made_get_facts(c->made)->h;
    QFZ_TRY(open_sweep(c, err));
    qfz_progress_begin(&c->progress, "sweep", 1, 0);
    for (int64_t y = 0; y <= h; y++) {
        QFZ_TRY(sweep_row(c, err));
        if (y % 64 == 0) QFZ_TRY(qfz_progress_advance_to(&c->progress, (double)y / (double)h, err));
    }
    if (c->pieces) return qfz_pieces_end(c->pieces, &c->report.regions, &c->report.pixels, err);
    bool same_weight;
    QFZ_TRY(qfz_hierarchy_end(c->hierarchy, &c->report.pixels, &same_weight, err));
    c->is_too_low = !same_weight && !has_min_area(&c->job);
    return QFZ_OK;
}

static void close_sweep(check_run *c)
{
    qfz_check_rows_close(c->rows);
    qfz_pieces_close(c->pieces);
    qfz_hierarchy_close(c->hierarchy);
    c->rows = NULL;
    c->pieces = NULL;
    c->hierarchy = NULL;
}

static void close_tables(check_run *c)
{
    for (int i = 0; i < N_TABLES; i++) {
        qfz_check_table_close(c->tables[i]);
        c->tables[i] = NULL;
    }
}

/* ---------------------------------------------------------------------------------- the comparison
 */
static bool must_compare(const check_run *c)
{
    if (!c->source || c->faults.n > 0) return false;
    return c->job.task == QFZ_SIMPLIFY || has_min_area(&c->job) || c->is_too_low;
}

static qfz_status compare(check_run *c, qfz_error *err)
{
    qfz_comparison comparison;
    qfz_report report = {0};
    const bool is_saliency = c->job.task == QFZ_SALIENCY;
    qfz_comparison_init(&comparison, c->made,
                        is_saliency ? QFZ_CONTENT_SALIENCY : QFZ_CONTENT_LABELS, &c->faults);
    const qfz_status st = qfz_job_compare(&c->job, &comparison, &report, err);
    qfz_comparison_fini(&comparison);
    c->report.compared = true;
    return st;
}

/* -------------------------------------------------------------------------------------- the report
 */
static void fill_report(check_run *c, double began)
{
    const qfz_made_facts *const facts = qfz_made_get_facts(c->made);
    qfz_check_report *const report = &c->report;
    report->faults = c->faults.n;
    report->x = c->faults.x;
    report->y = c->faults.y;
    memcpy(report->what, c->faults.what, sizeof report->what);
    report->width = facts->w;
    report->height = facts->h;
    report->task = c->job.task;
    report->seconds = qfz_seconds_now() - began;
    report->peak_rss_bytes = qfz_peak_memory_bytes();
}

static qfz_status run(const qfz_check *check, qfz_check_report *report, qfz_error *err)
{
    static const qfz_ranks alone = {.n = 1, .n_local = 1};
    const double began = qfz_seconds_now();
    check_run c = {.check = check};
    qfz_status st;
    QFZ_TRY(qfz_job_read(&c.job, check->job, err));
    qfz_progress_init(&c.progress, &c.job, &alone, &c.times);
    c.progress.scale = 1;
    QFZ_TRY_OR(st, cleanup, prepare(&c, err));
    QFZ_TRY_OR(st, cleanup, sweep(&c, err));
    close_sweep(&c);
    QFZ_TRY_OR(st, cleanup, compare_tables(&c, err));
    close_tables(&c);
    if (must_compare(&c)) QFZ_TRY_OR(st, cleanup, compare(&c, err));
    if (c.is_too_low && c.faults.n == 0)
        qfz_faults_add(&c.faults, -1, -1,
                       "some level is too low: the minimum spanning forest weighs less than that "
                       "of the dissimilarities");
    fill_report(&c, began);
    *report = c.report;

cleanup:
    close_sweep(&c);
    close_tables(&c);
    qfz_source_close(c.source);
    if (c.source) qfz_setup_fini(&c.setup);
    qfz_made_close(c.made);
    return st;
}

qfz_status qfz_check_run(const qfz_check *check, qfz_check_report *report, qfz_error *err)
{
    qfz_error own;
    qfz_check complete = {0};
    qfz_check_report found = {0};
    err = qfz_api_error(err, &own);
    QFZ_TRY(qfz_api_read(&complete, sizeof complete, check, "qfz_check", err));
    QFZ_TRY(qfz_api_check(report, sizeof *report, "qfz_check_report", err));
    if (!complete.raster || !complete.job)
        return qfz_fail(err, QFZ_EARG, "a check needs a raster and a job");
    QFZ_TRY(run(&complete, &found, err));
    qfz_api_write(report, &found, sizeof found);
    return QFZ_OK;
}
