/* SPDX-License-Identifier: MIT */
#include "job/job_identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 11 }; /* of all journals; increased when a record changes */

static void write_list(FILE *out, const char *what, const char *const *list)
{
    (void)fprintf(out, "%s\t", what);
    for (; list && *list; list++)
        (void)fprintf(out, "%s ", *list);
    (void)fputc('\n', out);
}

static void write_text(FILE *out, const char *what, const char *text)
{
    (void)fprintf(out, "%s\t%s\n", what, text ? text : "");
}

static void write_criterion(FILE *out, const qfz_setup *setup)
{
    static const char *const distances[] = {"l1", "l2", "linf", "sam"};
    const qfz_criterion *const m = &setup->job->criterion;
    (void)fprintf(out, "connectivity\t%d\n", setup->rule.connectivity);
    (void)fprintf(out, "largest number of regions\t");
    if (setup->job->regions_target > 0)
        (void)fprintf(out, "%llu", (unsigned long long)setup->job->regions_target);
    (void)fprintf(out, "\nalpha\t");
    if (m->has_alpha && setup->job->regions_target == 0) (void)fprintf(out, "%.17g", m->alpha);
    for (int64_t i = 1; i < setup->job->n_alphas; i++)
        (void)fprintf(out, ",%.17g", setup->job->alphas[i]);
    (void)fprintf(out, "\nomega\t");
    for (int i = 0; m->omega && i < m->n_omega; i++)
        (void)fprintf(out, "%s%.17g", i ? "," : "", m->omega[i]);
    (void)fprintf(out, "\ndistance\t%s\nweights\t", distances[setup->rule.distance]);
    for (int i = 0; m->weights && i < m->n_weights; i++)
        (void)fprintf(out, "%s%.17g", i ? "," : "", m->weights[i]);
    (void)fputc('\n', out);
    (void)fprintf(out, "least area\t%llu pixels, %.17g m2\n", (unsigned long long)m->min_area,
                  setup->job->min_area_m2);
}

static void write_stats(FILE *out, const qfz_job *job)
{
    (void)fprintf(out, "statistics\t%s", job->stats ? job->stats : "");
    for (int i = 0; i < job->n_stats_bands; i++)
        (void)fprintf(out, ",%d", job->stats_bands[i]);
    (void)fputc('\n', out);
}

static void write_outputs(FILE *out, const qfz_job *job)
{
    static const char *const layouts[] = {"edges", "pixel", "khalimsky"};
    static const char *const methods[] = {"none", "nearest", "mode"};
    write_text(out, "output", job->dst);
    write_text(out, "labels", job->labels);
    write_text(out, "regions", job->regions);
    if (job->columns) write_text(out, "columns", job->columns);
    write_text(out, "neighbours", job->neighbours);
    write_text(out, "polygons", job->polygons);
    if (job->polygons) (void)fprintf(out, "tolerance\t%.17g\n", job->simplify_tolerance);
    write_stats(out, job);
    if (job->attribute_table) write_text(out, "attribute table", "yes");
    write_text(out, "colours", job->colors);
    write_text(out, "quicklook", job->quicklook);
    if (job->quicklook) (void)fprintf(out, "quicklook style\t%d\n", (int)job->quicklook_style);
    write_text(out, "forest", job->forest);
    write_text(out, "layout", layouts[job->layout]);
    write_text(out, "format", job->format);
    write_text(out, "type", job->type);
    if (job->overviews) write_text(out, "overviews", methods[job->overviews]);
    write_list(out, "creation options", job->creation_options);
    write_text(out, "merged", job->merge ? "yes" : "no");
    write_text(out, "counted only", job->count_only ? "yes" : "no");
}

static void write_all(FILE *out, const qfz_setup *setup, qfz_source *source, int n_parts)
{
    static const char *const tasks[] = {"label", "simplify", "saliency", "cut",
                                        "curve", "regions",  "forest"};
    static const char *const rules[] = {"all", "any"};
    const qfz_job *const job = setup->job;
    (void)fprintf(out, QFZ_JOB_IDENTITY_VERSION "\t%s, journal %d\n", QFZ_VERSION, FORMAT);
    write_text(out, "task", tasks[job->task]);
    write_text(out, "source", job->src);
    if (source) qfz_source_describe(source, out);
    if (source && job->stats) qfz_output_describe(job->stats, out);
    write_text(out, "mask", job->mask);
    write_text(out, "edges", job->edges);
    write_text(out, "nodata rule", rules[job->nodata_rule]);
    write_list(out, "open options", job->open_options);
    write_list(out, "configuration", job->config);
    write_criterion(out, setup);
    write_outputs(out, job);
    (void)fprintf(out, QFZ_JOB_IDENTITY_TILE "\t%lld x %lld\n", (long long)setup->tiling.tile_w,
                  (long long)setup->tiling.tile_h);
    (void)fprintf(out, QFZ_JOB_IDENTITY_PARTS "\t%d\n", n_parts);
}

/* Closes a memory stream; *text stays NULL after a failure. */
static qfz_status close_text(FILE *out, char **text, qfz_error *err)
{
    const bool failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed) return QFZ_OK;
    free(*text);
    *text = NULL;
    return qfz_fail(err, QFZ_ENOMEM, "out of memory");
}

static qfz_status open_text(FILE **out, char **text, size_t *bytes, qfz_error *err)
{
    *text = NULL;
    *out = open_memstream(text, bytes);
    if (*out) return QFZ_OK;
    (void)qfz_fail(err, QFZ_ENOMEM, "out of memory");
    return QFZ_ENOMEM;
}

qfz_status qfz_job_identity_make(char **text, const qfz_setup *setup, qfz_source *source,
                                 int n_parts, qfz_error *err)
{
    FILE *out;
    size_t bytes;
    QFZ_TRY(open_text(&out, text, &bytes, err));
    write_all(out, setup, source, n_parts);
    return close_text(out, text, err);
}

static void describe_outputs(FILE *out, const qfz_job *job)
{
    if (job->dst) qfz_output_describe(job->dst, out);
    if (job->labels) qfz_output_describe(job->labels, out);
    if (job->regions) qfz_output_describe(job->regions, out);
    if (job->neighbours) qfz_output_describe(job->neighbours, out);
    if (job->colors) qfz_output_describe(job->colors, out);
    if (job->quicklook) qfz_output_describe(job->quicklook, out);
    if (job->forest) qfz_output_describe(job->forest, out);
    if (job->polygons) qfz_output_describe(job->polygons, out);
}

qfz_status qfz_job_identity_of_outputs(char **text, const qfz_outcome *list, int64_t n,
                                       const qfz_report *report, qfz_error *err)
{
    FILE *out;
    size_t bytes;
    QFZ_TRY(open_text(&out, text, &bytes, err));
    (void)fprintf(out, "pixels\t%llu\nwide\t%llu\nalpha\t%.17g\n",
                  (unsigned long long)report->pixels, (unsigned long long)report->wide_pixels,
                  report->alpha);
    for (int64_t i = 0; i < n; i++)
        (void)fprintf(out, "regions\t%llu\n", (unsigned long long)list[i].regions);
    for (int64_t i = 0; i < n; i++)
        describe_outputs(out, list[i].job);
    return close_text(out, text, err);
}

/* -------------------------------------------------------------------------------------- reading */
static bool is_line_of(const char *line, const char *what)
{
    const size_t n = strlen(what);
    return strncmp(line, what, n) == 0 && line[n] == '\t';
}

static const char *next_line(const char *line)
{
    const char *const end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

const char *qfz_job_identity_find(const char *text, const char *what)
{
    for (; *text; text = next_line(text))
        if (is_line_of(text, what)) return text + strlen(what) + 1;
    return NULL;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void copy(char *to, size_t room, const char *from, size_t n)
{
    n = least(n, room - 1);
    memcpy(to, from, n);
    to[n] = '\0';
}

bool qfz_job_identity_differs(const char *there, const char *here, qfz_job_difference *d)
{
    for (; *here; there = next_line(there), here = next_line(here)) {
        const size_t n = strcspn(here, "\n"), m = strcspn(there, "\n");
        if (n == m && memcmp(here, there, n) == 0) continue;
        if (is_line_of(here, QFZ_JOB_IDENTITY_TILE) || is_line_of(here, QFZ_JOB_IDENTITY_PARTS))
            continue;
        const size_t what = least(strcspn(here, "\t"), n);
        const size_t skip = least(strcspn(there, "\t") + 1, m);
        copy(d->what, sizeof d->what, here, what);
        copy(d->here, sizeof d->here, here + least(what + 1, n), n - least(what + 1, n));
        copy(d->there, sizeof d->there, there + skip, m - skip);
        return true;
    }
    return false;
}

bool qfz_job_identity_read_counts(const char *text, qfz_outcome *list, int64_t n,
                                  qfz_report *report)
{
    unsigned long long pixels, wide, regions;
    if (sscanf(text, "pixels %llu wide %llu alpha %lf", &pixels, &wide, &report->alpha) != 3)
        return false;
    text = next_line(next_line(next_line(text)));
    for (int64_t i = 0; i < n; i++, text = next_line(text)) {
        if (sscanf(text, "regions %llu", &regions) != 1) return false;
        list[i].regions = regions;
    }
    report->pixels = pixels;
    report->wide_pixels = wide;
    report->regions = list[0].regions;
    return true;
}
