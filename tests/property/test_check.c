/* SPDX-License-Identifier: MIT */
/* test_check.c - a check says that a raster is right exactly if the raster is the oracle's: labels
 * and saliency of random rasters, as they are and with planted faults of each kind. */
#include "files.h"

enum { SIDE = 17, FAULTS = 4 };

typedef struct problem {
    raster r;
    oracle *o;
    qfz_job job;
    qfz_task task;
    double omega[RASTER_BANDS], weights[RASTER_BANDS];
    int64_t least;
    int n_planes;
    double *right, *made; /* planes of the raster */
} problem;

static int64_t n_pixels(const problem *p)
{
    return p->r.image.h * p->r.image.w;
}

static void write_planes(const char *name, GDALDataType type, const problem *p,
                         const double *planes, const char *const *metadata, double nodata)
{
    const int h = (int)p->r.image.h, w = (int)p->r.image.w;
    GDALDatasetH d =
        GDALCreate(GDALGetDriverByName("GTiff"), scratch(name), w, h, p->n_planes, type, NULL);
    files_must(d != NULL);
    for (int i = 0; metadata[i]; i += 2)
        GDALSetMetadataItem(d, metadata[i], metadata[i + 1], NULL);
    for (int b = 0; b < p->n_planes; b++) {
        const GDALRasterBandH band = GDALGetRasterBand(d, b + 1);
        GDALSetRasterNoDataValue(band, nodata);
        files_must(GDALRasterIO(band, GF_Write, 0, 0, w, h, (void *)(planes + b * n_pixels(p)), w,
                                h, GDT_Float64, 0, 0) == CE_None);
    }
    GDALClose(d);
}

static void write_source(const problem *p)
{
    const int h = (int)p->r.image.h, w = (int)p->r.image.w;
    const qfz_type type = p->r.image.type;
    static double transform[6] = {100, 2, 0, 500, 0, -3};
    char **options = files_options(type);
    GDALDatasetH d = GDALCreate(GDALGetDriverByName("GTiff"), scratch("src.tif"), w, h,
                                p->r.image.n_bands, files_type(type), options);
    CSLDestroy(options);
    files_must(d != NULL);
    GDALSetGeoTransform(d, transform);
    for (int b = 0; b < p->r.image.n_bands; b++)
        files_must(
            GDALRasterIO(GDALGetRasterBand(d, b + 1), GF_Write, 0, 0, w, h,
                         (char *)p->r.pixels + (size_t)(b * n_pixels(p)) * oracle_type_bytes(type),
                         w, h, files_type(type), 0, 0) == CE_None);
    GDALClose(d);
    files_write_bytes(scratch("mask.tif"), p->r.valid, h, w);
}

/* The metadata of qfz, as its outputs carry them. */
static void write_made(const problem *p)
{
    static const char *const distances[] = {"l1", "l2", "linf", "sam"};
    const qfz_criterion *const m = &p->job.criterion;
    char alpha[40], omega[160] = "", area[40], weights[160] = "";
    const char *metadata[20];
    int n = 0;
    snprintf(alpha, sizeof alpha, "%.17g", m->alpha);
    for (int b = 0; b < p->r.image.n_bands; b++) {
        const char *const comma = b ? "," : "";
        snprintf(omega + strlen(omega), 40, "%s%.17g", comma, p->omega[b]);
        snprintf(weights + strlen(weights), 40, "%s%.17g", comma, p->weights[b]);
    }
    if (p->job.min_area_m2 > 0)
        snprintf(area, sizeof area, "%.17gm2", p->job.min_area_m2);
    else
        snprintf(area, sizeof area, "%d", (int)p->least);
    const bool is_saliency = p->task == QFZ_SALIENCY;
    const char *const items[][2] = {
        {"QFZ_CONTENT", is_saliency ? "saliency" : "labels"},
        {"QFZ_LAYOUT", is_saliency ? "edges" : NULL},
        {"QFZ_CONNECTIVITY", m->connectivity == 4 ? "4" : "8"},
        {"QFZ_DISTANCE", distances[m->distance]},
        {"QFZ_ALPHA", is_saliency ? NULL : alpha},
        {"QFZ_OMEGA", p->task == QFZ_SIMPLIFY ? omega : NULL},
        {"QFZ_WEIGHTS", m->weights ? weights : NULL},
        {"QFZ_MIN_AREA", p->least > 1 || p->job.min_area_m2 > 0 ? area : NULL}};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        if (items[i][1]) {
            metadata[n++] = items[i][0];
            metadata[n++] = items[i][1];
        }
    metadata[n] = NULL;
    write_planes("made.tif", GDT_Float64, p, p->made, metadata, is_saliency ? ORACLE_NO_EDGE : 0);
}

static void choose_criterion(problem *p)
{
    qfz_criterion *const m = &p->job.criterion;
    m->connectivity = check_chance(50) ? 4 : 8;
    m->distance = raster_distance(&p->r.image);
    raster_weigh(p->weights, p->r.image.n_bands);
    if (m->distance != QFZ_SAM && check_chance(25)) {
        m->weights = p->weights;
        m->n_weights = p->r.image.n_bands;
    }
    p->o = oracle_open_weighted(&p->r.image, m->connectivity, m->distance, m->weights);
    p->least = 1;
    if (check_chance(30)) p->least = 2 + check_pick(9);
    if (p->least > 1) oracle_filter(p->o, NULL, (double)p->least);
    if (p->least > 1 && check_chance(30))
        p->job.min_area_m2 = 6.0 * (double)p->least - 3; /* a pixel has 6 square units */
    m->has_alpha = true;
    m->alpha = raster_alpha(p->o, &p->r);
    for (int b = 0; b < p->r.image.n_bands; b++)
        p->omega[b] = raster_omega(&p->r, b);
}

static void find_right(problem *p)
{
    static const qfz_task tasks[] = {QFZ_LABEL, QFZ_LABEL, QFZ_SIMPLIFY, QFZ_SALIENCY,
                                     QFZ_SALIENCY};
    const int64_t n = n_pixels(p);
    p->task = tasks[check_pick(5)];
    p->n_planes = p->task == QFZ_SALIENCY ? p->job.criterion.connectivity / 2 : 1;
    p->right = raster_room(n * p->n_planes, sizeof *p->right);
    p->made = raster_room(n * p->n_planes, sizeof *p->made);
    if (p->task == QFZ_SALIENCY) {
        oracle_saliency(p->o, p->right);
        return;
    }
    uint32_t *const labels = raster_room(n, sizeof *labels);
    if (p->task == QFZ_LABEL)
        oracle_alpha(p->o, p->job.criterion.alpha, labels);
    else
        oracle_alpha_omega(p->o, p->job.criterion.alpha, p->omega, labels);
    for (int64_t i = 0; i < n; i++)
        p->right[i] = labels[i];
    free(labels);
}

/* Half of the time all comes from the metadata. */
static void describe_job(problem *p, qfz_check *check)
{
    static const qfz_criterion none = {.connectivity = 4};
    static const int64_t memories[] = {0, INT64_C(128) << 20, INT64_C(200) << 20};
    qfz_criterion *const m = &p->job.criterion;
    check->raster = scratch("made.tif");
    check->job = &p->job;
    p->job.src = scratch("src.tif");
    p->job.mask = scratch("mask.tif");
    p->job.tile_px = (int32_t)(check_chance(50) ? 0 : 1 + check_pick(9));
    p->job.n_threads = (int)(1 + check_pick(2));
    p->job.memory_bytes = memories[check_pick(3)];
    if (check_chance(50)) {
        *m = none;
        p->job.min_area_m2 = 0;
        return;
    }
    check->has_connectivity = check->has_distance = 1;
    if (p->least > 1 && !(p->job.min_area_m2 > 0)) m->min_area = (uint64_t)p->least;
    if (p->task != QFZ_SIMPLIFY) return;
    m->omega = p->omega;
    m->n_omega = p->r.image.n_bands;
}

/* Returns whether the raster was right; false too if the check could not be made. */
static bool is_right(problem *p, qfz_check_report *report, bool *could)
{
    qfz_check check = qfz_check_default();
    qfz_error err = {0};
    const qfz_job before = p->job;
    write_made(p);
    describe_job(p, &check);
    *report = qfz_check_report_default();
    const qfz_status st = qfz_check_run(&check, report, &err);
    p->job = before;
    *could = st == QFZ_OK;
    CHECK(*could || strstr(err.message, "levels up to 2^32 - 1"), "%s", err.message);
    return *could && report->faults == 0;
}

/* -------------------------------------------------------------------------------------- the faults
 */
static void relabel(problem *p, double from, double to)
{
    for (int64_t i = 0; i < n_pixels(p); i++)
        if (p->made[i] == from) p->made[i] = to;
}

static double max_of(const problem *p)
{
    double most = 0;
    for (int64_t i = 0; i < n_pixels(p); i++)
        most = fmax(most, p->right[i]);
    return most;
}

/* Plants a fault; *pixel: the only one that is changed, or -1.  Returns its name. */
static const char *plant(problem *p, int64_t *pixel)
{
    static const double odd[] = {0, -1, 0.5, 1e15, NAN};
    const int64_t n = n_pixels(p) * p->n_planes, i = check_pick(n);
    const double before = p->made[i], most = max_of(p);
    *pixel = -1;
    if (p->task == QFZ_SALIENCY) {
        const int64_t other = check_pick(n);
        const int way = (int)check_pick(4);
        p->made[i] = way == 0   ? p->right[other]
                     : way == 1 ? ORACLE_NO_EDGE
                     : way == 2 ? fmax(0, floor(before / 2))
                                : before + 1;
        return "another level";
    }
    switch (check_pick(6)) {
    case 0:
        relabel(p, 1 + (double)check_pick((int64_t)most + 1), 1);
        return "two labels become one";
    case 1:
        for (int64_t k = 0; k < n; k++)
            if (p->made[k] > before && before > 0) p->made[k]++;
        return "a gap in the labels";
    case 2:
        relabel(p, 1, most + 1);
        relabel(p, most, 1);
        relabel(p, most + 1, most);
        return "two labels change places";
    case 3: p->made[i] = odd[check_pick(5)]; break;
    case 4: p->made[i] = most + 1; break;
    default: p->made[i] = 1 + (double)check_pick((int64_t)most + 1);
    }
    *pixel = i;
    return "one pixel";
}

static bool is_changed(const problem *p)
{
    for (int64_t i = 0; i < n_pixels(p) * p->n_planes; i++) {
        const bool none = isnan(p->made[i]) && p->task != QFZ_SALIENCY && p->right[i] == 0;
        if (p->made[i] != p->right[i] && !none) return true;
    }
    return false;
}

static void try_fault(problem *p)
{
    qfz_check_report report;
    int64_t pixel;
    bool could;
    memcpy(p->made, p->right, (size_t)(n_pixels(p) * p->n_planes) * sizeof *p->made);
    const char *const what = plant(p, &pixel);
    if (!is_changed(p)) return;
    const bool right = is_right(p, &report, &could);
    if (!could) return;
    CHECK(!right, "%s: not found", what);
    if (right) return;
    CHECK(report.what[0] && report.x >= 0 && report.y >= 0 && report.x < p->r.image.w &&
              report.y < p->r.image.h,
          "%s: column %d, row %d", what, (int)report.x, (int)report.y);
    /* A pixel that leaves its region can tear the region apart before it. */
    const int64_t found = report.y * p->r.image.w + report.x;
    if (pixel >= 0 && p->task == QFZ_LABEL && p->least == 1)
        CHECK(found == pixel || p->right[found] == p->right[pixel] ||
                  p->right[found] == p->made[pixel],
              "%s: found in column %d, row %d, planted at %d: %s", what, (int)report.x,
              (int)report.y, (int)pixel, report.what);
}

static void run_case(int64_t number)
{
    problem p = {.job = qfz_job_default(QFZ_LABEL)};
    qfz_check_report report;
    bool could;
    check_case(number, "a check");
    raster_make(&p.r, check_chance(50) ? 6 : SIDE, -1, RASTER_BANDS);
    choose_criterion(&p);
    find_right(&p);
    write_source(&p);
    check_describe("%dx%d, %d bands %s, %s in %s, %s, task %d, %d-connected, %s%s, alpha %g, at "
                   "least %d pixels",
                   (int)p.r.image.h, (int)p.r.image.w, p.r.image.n_bands,
                   raster_types[p.r.image.type], p.r.shape, p.r.palette, p.r.holes, (int)p.task,
                   p.job.criterion.connectivity, raster_distances[p.job.criterion.distance],
                   p.job.criterion.weights ? " with weights" : "", p.job.criterion.alpha,
                   (int)p.least);
    memcpy(p.made, p.right, (size_t)(n_pixels(&p) * p.n_planes) * sizeof *p.made);
    const bool right = is_right(&p, &report, &could);
    CHECK(right || !could, "false alarm: column %d, row %d: %s", (int)report.x, (int)report.y,
          report.what);
    for (int i = 0; could && i < FAULTS; i++)
        try_fault(&p);
    oracle_close(p.o);
    raster_free(&p.r);
    free(p.right);
    free(p.made);
    files_clear();
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 60);
    files_begin();
    for (int64_t i = check_.first; i < check_.cases; i++)
        run_case(i);
    files_end();
    return check_end();
}
