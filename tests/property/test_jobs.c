/* SPDX-License-Identifier: MIT */
/* test_jobs.c - random rasters as files, processed by whole jobs: every output equals the oracle's,
 * whatever the tile size, the number of threads and the memory; tables have the same text. */
#include "engine_under_test.h"
#include "files.h"

enum { SIDE = 23, VARIANTS = 3, TABLE_ROOM = 1 << 20 };

typedef struct problem {
    raster r; /* expected input: bands in use, and validity after all masks */
    oracle *o;
    qfz_job base;
    double omega[RASTER_BANDS], weights[RASTER_BANDS];
    char edges[PATH_ROOM]; /* base.edges */
    double *planes;        /* its levels as the oracle has them; NULL: levels are of pixels */
    double max_edge;       /* largest level of its type, INFINITY for floats */
    int bands[RASTER_BANDS];
    const char *hiding; /* how pixels are made invalid */
    int64_t least;      /* pixels of a region; 1: any number */
    uint64_t wide;      /* pixels in regions that exceed omega, as a report should have them */
    double nodata;
    bool in_memory;
    char src[PATH_ROOM], mask[PATH_ROOM];
    char table[TABLE_ROOM];
} problem;

static int64_t n_pixels(const problem *p)
{
    return p->r.image.h * p->r.image.w;
}

/* ---- The source. */

static double pick_nodata(qfz_type type)
{
    static const double floats[] = {-9999, NAN, -1e34, -3.4028234663852886e38, 0};
    double lo, hi;
    raster_range(type, &lo, &hi);
    if (type == QFZ_F32) return floats[check_pick(5)];
    return check_chance(50) ? lo : hi;
}

/* Writes nodata into the pixels that are holes of the raster, then computes validity. */
static void hide_by_nodata(problem *p, bool any)
{
    const int64_t n = n_pixels(p);
    const bool floats = p->r.image.type == QFZ_F32;
    for (int64_t i = 0; i < n; i++)
        for (int b = 0; b < p->r.image.n_bands; b++)
            if (!p->r.valid[i] && (!any || b == 0)) raster_set(&p->r, b, i, p->nodata);
    for (int64_t i = 0; i < n; i++) {
        int held = 0;
        bool nan = false;
        for (int b = 0; b < p->r.image.n_bands; b++) {
            const double v = oracle_value(&p->r.image, b, i);
            held += v == (floats ? (double)(float)p->nodata : p->nodata);
            nan |= isnan(v);
        }
        p->r.valid[i] = !nan && (any ? held == 0 : held < p->r.image.n_bands);
    }
}

static void hide_by_nan(problem *p)
{
    for (int64_t i = 0; i < n_pixels(p); i++)
        if (!p->r.valid[i]) raster_set(&p->r, (int)check_pick(p->r.image.n_bands), i, NAN);
}

static void choose_hiding(problem *p)
{
    static const char *const ways[] = {"nothing",    "nodata",       "nodata",
                                       "nodata any", "given nodata", "mask band",
                                       "mask file",  "alpha band",   "nan"};
    p->hiding = ways[check_pick(sizeof ways / sizeof *ways)];
    const bool floats = p->r.image.type == QFZ_F32;
    if (!strcmp(p->hiding, "nan") && !floats) p->hiding = "nodata";
    if (!strcmp(p->hiding, "alpha band") && p->r.image.type != QFZ_U8 && p->r.image.type != QFZ_U16)
        p->hiding = "mask band";
    p->nodata = pick_nodata(p->r.image.type);
    if (!strcmp(p->hiding, "nothing")) memset(p->r.valid, 1, (size_t)n_pixels(p));
    if (strstr(p->hiding, "nodata")) hide_by_nodata(p, !strcmp(p->hiding, "nodata any"));
    if (!strcmp(p->hiding, "nan")) hide_by_nan(p);
}

static void write_band(const problem *p, GDALDatasetH d, int file_band, int band)
{
    const int h = (int)p->r.image.h, w = (int)p->r.image.w;
    const size_t plane = (size_t)n_pixels(p) * oracle_type_bytes(p->r.image.type);
    files_must(GDALRasterIO(GDALGetRasterBand(d, file_band), GF_Write, 0, 0, w, h,
                            (char *)p->r.pixels + (size_t)band * plane, w, h,
                            files_type(p->r.image.type), 0, 0) == CE_None);
}

static void write_validity(const problem *p, GDALRasterBandH band, GDALDataType type)
{
    const int h = (int)p->r.image.h, w = (int)p->r.image.w;
    uint16_t *values = calloc((size_t)n_pixels(p), sizeof *values);
    files_must(values != NULL);
    for (int64_t i = 0; i < n_pixels(p); i++)
        values[i] = (uint16_t)(!p->r.valid[i] ? 0 : type != GDT_Byte ? 65535 : i % 5 ? 255 : 1);
    files_must(GDALRasterIO(band, GF_Write, 0, 0, w, h, values, w, h, GDT_UInt16, 0, 0) == CE_None);
    free(values);
}

/* In the file, the bands in use are in any order, between other bands. */
static int place_bands(problem *p)
{
    const int n = p->r.image.n_bands;
    const bool shuffled = check_chance(25);
    for (int b = 0; b < n; b++)
        p->bands[b] = shuffled ? n + 1 - b : b + 1;
    if (shuffled || check_chance(20)) {
        p->base.bands = p->bands;
        p->base.n_bands = n;
    }
    return shuffled ? n + 2 : n;
}

static void write_source(problem *p)
{
    static double transform[6] = {100, 2, 0, 500, 0, -3};
    const int h = (int)p->r.image.h, w = (int)p->r.image.w;
    const int in_file = place_bands(p);
    const bool alpha = !strcmp(p->hiding, "alpha band");
    char **options = files_options(p->r.image.type);
    snprintf(p->src, sizeof p->src, "%s/src.tif", p->in_memory ? "/vsimem" : files_.folder);
    snprintf(p->mask, sizeof p->mask, "%s/mask.tif", p->in_memory ? "/vsimem" : files_.folder);
    GDALDatasetH d = GDALCreate(GDALGetDriverByName("GTiff"), p->src, w, h, in_file + alpha,
                                files_type(p->r.image.type), options);
    CSLDestroy(options);
    files_must(d != NULL);
    GDALSetGeoTransform(d, transform);
    if (alpha) GDALSetRasterColorInterpretation(GDALGetRasterBand(d, in_file + 1), GCI_AlphaBand);
    if (!strcmp(p->hiding, "nodata") || !strcmp(p->hiding, "nodata any"))
        for (int b = 1; b <= in_file; b++)
            GDALSetRasterNoDataValue(GDALGetRasterBand(d, b), p->nodata);
    for (int b = 0; b < p->r.image.n_bands; b++)
        write_band(p, d, p->bands[b], b);
    if (alpha) write_validity(p, GDALGetRasterBand(d, in_file + 1), files_type(p->r.image.type));
    if (!strcmp(p->hiding, "mask band")) {
        CPLSetThreadLocalConfigOption("GDAL_TIFF_INTERNAL_MASK", check_chance(50) ? "YES" : "NO");
        files_must(GDALCreateDatasetMaskBand(d, GMF_PER_DATASET) == CE_None);
        write_validity(p, GDALGetMaskBand(GDALGetRasterBand(d, 1)), GDT_Byte);
        CPLSetThreadLocalConfigOption("GDAL_TIFF_INTERNAL_MASK", NULL);
    }
    GDALClose(d);
    if (!strcmp(p->hiding, "mask file")) files_write_bytes(p->mask, p->r.valid, h, w);
}

/* Levels of edges of any type, in a file: with few values or many, the largest one among them, and
 * with nodata anywhere. */
static void write_edges(problem *p)
{
    static const struct {
        GDALDataType type;
        double max, no_edge;
    } types[] = {{GDT_Byte, 255, 255},          {GDT_Byte, 255, 7},
                 {GDT_UInt16, 65535, 65535},    {GDT_UInt16, 65535, 0},
                 {GDT_Int16, 32767, -1},        {GDT_UInt32, 4294967294.0, 4294967295.0},
                 {GDT_Int32, 2147483647, -5},   {GDT_Float32, INFINITY, NAN},
                 {GDT_Float32, INFINITY, -9999}};
    const size_t k = (size_t)check_pick(sizeof types / sizeof *types);
    const int h = (int)p->r.image.h, w = (int)p->r.image.w;
    const int n_dirs = p->base.criterion.connectivity / 2;
    const int64_t n = n_dirs * n_pixels(p), n_levels = check_chance(50) ? 4 : 120;
    const int missing = (int)check_pick(40), tops = (int)check_pick(5);
    double *values = calloc((size_t)n, sizeof *values);
    p->planes = calloc((size_t)n, sizeof *p->planes);
    files_must(values && p->planes);
    p->max_edge = types[k].max - (types[k].max == types[k].no_edge ? 1 : 0);
    for (int64_t i = 0; i < n; i++) {
        const double whole = (double)check_pick(n_levels);
        values[i] = isinf(types[k].max) ? (double)(float)(whole / 7) : whole;
        if (check_chance(tops)) values[i] = p->max_edge;
        const bool none = check_chance(missing) || values[i] == types[k].no_edge;
        if (none) values[i] = isinf(types[k].max) && check_chance(30) ? NAN : types[k].no_edge;
        p->planes[i] = none ? ORACLE_NO_EDGE : values[i];
    }
    snprintf(p->edges, sizeof p->edges, "%s/edges.tif", p->in_memory ? "/vsimem" : files_.folder);
    GDALDatasetH d =
        GDALCreate(GDALGetDriverByName("GTiff"), p->edges, w, h, n_dirs, types[k].type, NULL);
    files_must(d != NULL);
    for (int b = 0; b < n_dirs; b++) {
        const GDALRasterBandH band = GDALGetRasterBand(d, b + 1);
        GDALSetRasterNoDataValue(band, types[k].no_edge);
        files_must(GDALRasterIO(band, GF_Write, 0, 0, w, h, values + b * n_pixels(p), w, h,
                                GDT_Float64, 0, 0) == CE_None);
    }
    GDALClose(d);
    free(values);
}

/* Levels come from pixels, with or without weights, or from a raster of edges. */
static void choose_levels(problem *p)
{
    qfz_criterion *const m = &p->base.criterion;
    const qfz_image *const image = &p->r.image;
    if (check_chance(30)) {
        write_edges(p);
        p->base.edges = p->edges;
        p->o = oracle_open_edges(image, m->connectivity, p->planes);
    } else {
        raster_weigh(p->weights, image->n_bands);
        if (m->distance != QFZ_SAM && check_chance(25)) {
            m->weights = p->weights;
            m->n_weights = image->n_bands;
        }
        p->o = oracle_open_weighted(image, m->connectivity, m->distance, m->weights);
    }
    if (p->least > 1) oracle_filter(p->o, NULL, (double)p->least);
}

static double pick_alpha(const problem *p)
{
    if (p->planes && check_chance(60))
        return fmax(0, p->planes[check_pick(p->base.criterion.connectivity / 2 * n_pixels(p))]);
    return raster_alpha(p->o, &p->r);
}

/* A least area of regions, in pixels or as an area; a pixel has 6 square units. */
static void choose_least_area(problem *p)
{
    p->least = 1;
    if (!check_chance(40)) return;
    p->least = check_chance(60) ? 2 + check_pick(12) : 1 + check_pick(n_pixels(p) + 2);
    if (check_chance(30))
        p->base.min_area_m2 = 6.0 * (double)p->least - 3;
    else
        p->base.criterion.min_area = (uint64_t)p->least;
}

/* Regions of equal values of an image with another validity; with a least area, those of level 0.
 */
static uint32_t flat_zones(const problem *p, const qfz_image *image, uint32_t *want)
{
    const qfz_criterion *const m = &p->base.criterion;
    const bool filters = p->least > 1;
    oracle *const o = filters
                          ? oracle_open_weighted(image, m->connectivity, m->distance, m->weights)
                          : oracle_open(image, m->connectivity, QFZ_LINF);
    if (filters) oracle_filter(o, NULL, (double)p->least);
    const uint32_t n = filters ? oracle_alpha(o, 0, want) : oracle_flat(o, want);
    oracle_close(o);
    return n;
}

static void make(problem *p)
{
    raster_make(&p->r, check_chance(70) ? 9 : SIDE, -1, RASTER_BANDS);
    p->in_memory = check_chance(25);
    p->base = qfz_job_default(QFZ_LABEL);
    choose_hiding(p);
    qfz_criterion *m = &p->base.criterion;
    m->connectivity = check_chance(50) ? 4 : 8;
    m->distance = raster_distance(&p->r.image);
    choose_least_area(p);
    choose_levels(p);
    write_source(p);
    p->base.src = p->src;
    p->base.engine = TEST_ENGINE;
    p->base.overwrite = true;
    if (!strcmp(p->hiding, "mask file")) p->base.mask = p->mask;
    if (!strcmp(p->hiding, "nodata any")) p->base.nodata_rule = QFZ_NODATA_ANY;
    if (!strcmp(p->hiding, "given nodata")) {
        p->base.has_nodata = true;
        p->base.nodata = p->nodata;
    }
    for (int b = 0; b < p->r.image.n_bands; b++)
        p->omega[b] = raster_omega(&p->r, b);
    check_describe("%dx%d, %d bands %s, %s in %s, %s hidden by %s, %d-connected, %s%s%s, at least "
                   "%d pixels%s",
                   (int)p->r.image.h, (int)p->r.image.w, p->r.image.n_bands,
                   raster_types[p->r.image.type], p->r.shape, p->r.palette, p->r.holes, p->hiding,
                   m->connectivity, raster_distances[m->distance],
                   p->planes    ? " with edges"
                   : m->weights ? " with weights"
                                : "",
                   p->base.bands ? ", chosen bands" : "", (int)p->least,
                   p->base.min_area_m2 > 0 ? " as an area" : "");
}

/* ---- Variants. */

/* For tools that slow kernels down by a factor of ten thousand: each job once, in a few tiles. */
static bool small;

static int n_variants(int n)
{
    return small ? 1 : n;
}

static const char *variant(qfz_job *job, int i)
{
    static const int32_t tiles[] = {1, 2, 3, 5, 7, 16, 0};
    static const char *const small_blocks[] = {"BLOCKXSIZE=16", "BLOCKYSIZE=16", NULL};
    static char text[128];
    job->creation_options = check_chance(50) ? small_blocks : NULL;
    job->tile_px = small ? 5 : i == 0 ? 0 : tiles[check_pick(7)];
    job->n_threads = (int)(1 + check_pick(3));
    job->memory_bytes = check_chance(25) ? INT64_C(128) << 20 : 0;
    snprintf(text, sizeof text, "tile %d, %d threads%s%s", job->tile_px, job->n_threads,
             job->creation_options ? ", small blocks" : "",
             job->memory_bytes ? ", little memory" : "");
    return text;
}

static bool runs(const problem *p, const qfz_job *job, const char *what, uint64_t regions)
{
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    uint64_t valid = 0;
    for (int64_t i = 0; i < n_pixels(p); i++)
        valid += p->r.valid[i];
    const qfz_status st = qfz_job_run(job, &report, &err);
    if (!CHECK(st == QFZ_OK, "%s: %s", what, err.message)) return false;
    CHECK(report.regions == regions, "%s: reports %" PRIu64 " regions, not %" PRIu64, what,
          report.regions, regions);
    CHECK(report.width == p->r.image.w && report.height == p->r.image.h, "%s: reported size", what);
    CHECK(report.pixels == valid, "%s: reports %" PRIu64 " pixels, not %" PRIu64, what,
          report.pixels, valid);
    CHECK(report.wide_pixels == p->wide, "%s: reports %" PRIu64 " wide pixels, not %" PRIu64, what,
          report.wide_pixels, p->wide);
    return true;
}

static void labels_are(const problem *p, const char *path, const char *what, const uint32_t *want)
{
    grid g;
    if (!grid_read(&g, path)) return;
    CHECK(g.h == p->r.image.h && g.w == p->r.image.w && g.n_bands == 1, "%s: size", what);
    CHECK(g.type == GDT_UInt32 && g.has_nodata && g.nodata == 0, "%s: type %d, nodata %g", what,
          (int)g.type, g.nodata);
    for (int64_t i = 0; i < n_pixels(p) && i < g.h * g.w; i++)
        if (!CHECK(g.values[i] == want[i], "%s: pixel %d has label %.0f, not %u", what, (int)i,
                   g.values[i], want[i]))
            break;
    grid_free(&g);
}

/* ---- Regions. */

/* The number in the named column of a line, NaN if there is none. */
static double column(char **head, char **line, const char *name)
{
    const int i = CSLFindString(head, name);
    return i < 0 || i >= CSLCount(line) ? NAN : CPLAtof(line[i]);
}

static bool close_to(double a, double b, double scale)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-11 * (fabs(b) + scale);
}

static void row_is(const problem *p, char **head, char **line, uint32_t label,
                   const oracle_region *r)
{
    CHECK(column(head, line, "label") == label, "label %g in row %u", column(head, line, "label"),
          label);
    CHECK(column(head, line, "pixels") == (double)r->pixels, "pixels of %u", label);
    CHECK(close_to(column(head, line, "area"), 6.0 * (double)r->pixels, 0), "area of %u: %g", label,
          column(head, line, "area"));
    CHECK(close_to(column(head, line, "x"), 100 + 2 * r->x, 1), "x of %u: %.15g, not %.15g", label,
          column(head, line, "x"), 100 + 2 * r->x);
    CHECK(close_to(column(head, line, "y"), 500 - 3 * r->y, 1), "y of %u: %.15g, not %.15g", label,
          column(head, line, "y"), 500 - 3 * r->y);
    for (int b = 0; b < p->r.image.n_bands; b++) {
        static const char *const kinds[] = {"mean", "min", "max", "stddev"};
        const double want[] = {r->bands[b].mean, r->bands[b].min, r->bands[b].max,
                               r->bands[b].stddev};
        const double size = fmax(fabs(want[1]), fabs(want[2]));
        for (int k = 0; k < 4; k++) {
            char name[32];
            snprintf(name, sizeof name, "%s_%d", kinds[k], p->bands[b]);
            if (!isfinite(size) && k == 3) continue; /* no deviation from an infinite mean */
            const double got = column(head, line, name);
            CHECK(close_to(got, want[k], k == 3 ? 1e4 * size : size * 1e-3),
                  "%s of %u: %.17g, not %.17g", name, label, got, want[k]);
        }
    }
}

static void table_is(const problem *p, const char *path, const uint32_t *labels, uint32_t n)
{
    oracle_region *regions = calloc(n + 1u, sizeof *regions);
    char **lines = CSLLoad(path);
    files_must(regions != NULL);
    oracle_regions(&p->r.image, labels, n, regions);
    char **head =
        lines ? CSLTokenizeString2(lines[0], ",", CSLT_ALLOWEMPTYTOKENS | CSLT_HONOURSTRINGS)
              : NULL;
    CHECK(CSLCount(lines) == (int)n + 1, "table of %d lines for %u regions", CSLCount(lines), n);
    for (uint32_t i = 0; i < n && (int)i + 1 < CSLCount(lines); i++) {
        char **line =
            CSLTokenizeString2(lines[i + 1], ",", CSLT_ALLOWEMPTYTOKENS | CSLT_HONOURSTRINGS);
        row_is(p, head, line, i + 1, &regions[i]);
        CSLDestroy(line);
    }
    CSLDestroy(head);
    CSLDestroy(lines);
    free(regions);
}

/* The tables of all variants must equal the first variant's. */
static void table_is_same(problem *p, const char *path, const char *what, bool first)
{
    GByte *text = NULL;
    vsi_l_offset size = 0;
    if (!CHECK(VSIIngestFile(NULL, path, &text, &size, TABLE_ROOM - 1), "%s: no table", what))
        return;
    if (first) {
        memcpy(p->table, text, (size_t)size);
        p->table[size] = 0;
    } else {
        CHECK(strlen(p->table) == size && !memcmp(p->table, text, (size_t)size),
              "%s: another table", what);
    }
    VSIFree(text);
}

/* ---- Jobs. */

/* A job without outputs has the same numbers of regions and pixels. */
static void counts(const problem *p, qfz_job job, const char *name, uint32_t n)
{
    char what[256];
    job.dst = job.labels = job.regions = NULL;
    job.count_only = true;
    snprintf(what, sizeof what, "%s, counted, %s", name, variant(&job, 1));
    (void)runs(p, &job, what, n);
}

static void label_variants(problem *p, qfz_job job, const char *name, const uint32_t *want,
                           uint32_t n)
{
    char what[256];
    const bool table = check_chance(40);
    job.dst = scratch("labels.tif");
    job.regions = table ? scratch("regions.csv") : NULL;
    for (int i = 0; i < n_variants(VARIANTS); i++) {
        snprintf(what, sizeof what, "%s, %s", name, variant(&job, i));
        if (!runs(p, &job, what, n)) continue;
        labels_are(p, job.dst, what, want);
        if (!table) continue;
        if (i == 0) table_is(p, job.regions, want, n);
        table_is_same(p, job.regions, what, i == 0);
    }
    counts(p, job, name, n);
}

static void labels_equal(problem *p, uint32_t *want)
{
    qfz_job job = p->base;
    job.task = QFZ_LABEL;
    if (!p->planes) {
        const uint32_t n = flat_zones(p, &p->r.image, want);
        label_variants(p, job, "flat zones", want, n);
    }
    job.criterion.has_alpha = true;
    job.criterion.alpha = pick_alpha(p);
    char name[64];
    snprintf(name, sizeof name, "alpha %.17g", job.criterion.alpha);
    label_variants(p, job, name, want, oracle_alpha(p->o, job.criterion.alpha, want));
}

/* Pixels with the background value in every band belong to no region. */
static void background_is_left_out(problem *p, uint32_t *want)
{
    qfz_job job = p->base;
    problem q = *p;
    const int64_t n = n_pixels(p);
    const double background = oracle_value(&p->r.image, 0, check_pick(n));
    if (!isfinite(background)) return;
    q.r.valid = malloc((size_t)n);
    files_must(q.r.valid != NULL);
    for (int64_t i = 0; i < n; i++) {
        bool all = true;
        for (int b = 0; b < p->r.image.n_bands; b++)
            all &= oracle_value(&p->r.image, b, i) == background;
        q.r.valid[i] = p->r.valid[i] && !all;
    }
    q.r.image.valid = q.r.valid;
    job.task = QFZ_LABEL;
    job.has_background = true;
    job.background = background;
    const uint32_t n_regions = flat_zones(&q, &q.r.image, want);
    char name[64];
    snprintf(name, sizeof name, "background %.17g", background);
    label_variants(&q, job, name, want, n_regions);
    free(q.r.valid);
}

static void painted_is(const problem *p, const char *path, const char *what, const void *want)
{
    grid g;
    const int64_t n = n_pixels(p);
    qfz_image image = p->r.image;
    image.pixels = want;
    if (!grid_read(&g, path)) return;
    CHECK(g.h == image.h && g.w == image.w && g.n_bands == image.n_bands, "%s: size", what);
    CHECK(g.type == files_type(image.type), "%s: painted in another type", what);
    for (int64_t i = 0; i < n * image.n_bands && i < g.h * g.w * g.n_bands; i++) {
        const int b = (int)(i / n);
        const double value = oracle_value(&image, b, i % n);
        if (!p->r.valid[i % n]) {
            if (!CHECK(g.has_nodata
                           ? same_value(g.values[i],
                                        g.type == GDT_Float32 ? (double)(float)g.nodata : g.nodata)
                           : g.mask[i % n] == 0,
                       "%s: invalid pixel %d is painted %.9g", what, (int)i, g.values[i]))
                break;
        } else if (!CHECK(same_value(g.values[i], value),
                          "%s: band %d of pixel %d is %.9g, not %.9g", what, b + 1, (int)(i % n),
                          g.values[i], value)) {
            break;
        }
    }
    grid_free(&g);
}

/* The published methods of saliency and simplify, and none, in turn; on the CUDA engine only, and
 * without a raster of edges. */
static const char *tree_method(const problem *p)
{
    static const char *const methods[] = {NULL, "connect-v1", "connect-v2"};
    return TEST_ENGINE == QFZ_ENGINE_CUDA && !p->planes ? methods[check_pick(3)] : NULL;
}

/* The pixels of those regions of level 0 whose values differ by more than omega in some band. */
static uint64_t wide_pixels(const problem *p, uint32_t *labels)
{
    uint64_t wide = 0;
    const uint32_t n = oracle_alpha(p->o, 0, labels);
    oracle_region *const regions = calloc(n + 1u, sizeof *regions);
    files_must(regions != NULL);
    oracle_regions(&p->r.image, labels, n, regions);
    for (uint32_t i = 0; i < n; i++) {
        bool exceeds = false;
        for (int b = 0; b < p->r.image.n_bands; b++)
            exceeds |= regions[i].bands[b].min < regions[i].bands[b].max &&
                       regions[i].bands[b].max - regions[i].bands[b].min > p->omega[b];
        if (exceeds) wide += regions[i].pixels;
    }
    free(regions);
    return wide;
}

static void simplify_equals(problem *p, uint32_t *want)
{
    qfz_job job = p->base;
    char what[256];
    void *painted = calloc((size_t)(n_pixels(p) * p->r.image.n_bands), 4);
    files_must(painted != NULL);
    job.task = QFZ_SIMPLIFY;
    job.criterion.has_alpha = check_chance(80);
    job.criterion.alpha = job.criterion.has_alpha ? pick_alpha(p) : 0;
    if (check_chance(90)) {
        job.criterion.omega = p->omega;
        job.criterion.n_omega = check_chance(50) ? 1 : p->r.image.n_bands;
        for (int b = 1; b < p->r.image.n_bands && job.criterion.n_omega == 1; b++)
            p->omega[b] = p->omega[0];
    }
    const bool has_least_area = p->least > 1 || job.min_area_m2 > 0;
    p->wide = job.criterion.omega && has_least_area ? wide_pixels(p, want) : 0;
    const uint32_t n = oracle_alpha_omega(
        p->o, job.criterion.has_alpha ? job.criterion.alpha : INFINITY, job.criterion.omega, want);
    oracle_paint(&p->r.image, want, n, painted);
    job.dst = scratch("painted.tif");
    for (int i = 0; i < n_variants(VARIANTS); i++) {
        job.gpu_method = tree_method(p);
        job.labels = check_chance(70) ? scratch("labels.tif") : NULL;
        job.regions = i == 0 || check_chance(40) ? scratch("regions.csv") : NULL;
        snprintf(what, sizeof what, "simplify alpha %.17g omega %.17g (%d), %s",
                 job.criterion.has_alpha ? job.criterion.alpha : INFINITY,
                 job.criterion.omega ? p->omega[0] : INFINITY, job.criterion.n_omega,
                 variant(&job, i));
        if (!runs(p, &job, what, n)) continue;
        painted_is(p, job.dst, what, painted);
        if (job.labels) labels_are(p, job.labels, what, want);
        if (i == 0) table_is(p, job.regions, want, n);
        if (job.regions) table_is_same(p, job.regions, what, i == 0);
    }
    counts(p, job, "simplify", n);
    p->wide = 0;
    free(painted);
}

/* The smallest unsigned type with a number above every possible level, else Float32. */
static GDALDataType widest_type(const problem *p)
{
    static const double widths[] = {255, 255, 65535, 65535, 4294967295.0, 4294967295.0};
    const qfz_criterion *const m = &p->base.criterion;
    if (p->planes)
        return isinf(p->max_edge) ? GDT_Float32 : p->max_edge < 65535.0 ? GDT_UInt16 : GDT_UInt32;
    if (p->r.image.type == QFZ_F32 || m->distance == QFZ_L2 || m->distance == QFZ_SAM || m->weights)
        return GDT_Float32;
    const double most = widths[p->r.image.type] * (m->distance == QFZ_L1 ? p->r.image.n_bands : 1);
    return most < 255            ? GDT_Byte
           : most < 65535        ? GDT_UInt16
           : most < 4294967295.0 ? GDT_UInt32
                                 : GDT_UInt64;
}

/* The smallest one with a number above every level of n that occur; levels that may fill 32 bits
 * are not narrowed. */
static GDALDataType saliency_type(const problem *p, const double *levels, int64_t n)
{
    const GDALDataType widest = widest_type(p);
    double largest = 0;
    if (widest != GDT_UInt16 && widest != GDT_UInt32) return widest;
    for (int64_t i = 0; i < n; i++)
        if (levels[i] > largest) largest = levels[i];
    return largest < 255 ? GDT_Byte : largest < 65535 ? GDT_UInt16 : GDT_UInt32;
}

/* want: levels; negative where there is none. */
static void levels_are(const problem *p, const char *path, const char *what, int64_t h, int64_t w,
                       int n_bands, const double *want)
{
    grid g;
    if (!grid_read(&g, path)) return;
    CHECK(g.h == h && g.w == w && g.n_bands == n_bands, "%s: %dx%d, %d bands", what, (int)g.h,
          (int)g.w, g.n_bands);
    const GDALDataType type = saliency_type(p, want, h * w * n_bands);
    CHECK(g.type == type, "%s: type %s, not %s", what, GDALGetDataTypeName(g.type),
          GDALGetDataTypeName(type));
    CHECK(g.has_nodata, "%s: no nodata value", what);
    if (g.type == GDT_Float32) CHECK(isnan(g.nodata), "%s: nodata %g", what, g.nodata);
    for (int64_t i = 0; i < h * w * n_bands && i < g.h * g.w * g.n_bands; i++)
        if (!CHECK(same_value(g.values[i], want[i] < 0 ? g.nodata : want[i]),
                   "%s: band %d, pixel %d is %.9g, not %.9g", what, (int)(i / (h * w)) + 1,
                   (int)(i % (h * w)), g.values[i], want[i]))
            break;
    grid_free(&g);
}

/* from_anywhere: the raster has no metadata of qfz. */
static void cut_equals(problem *p, const char *saliency, bool from_anywhere, uint32_t *want)
{
    qfz_job job = qfz_job_default(QFZ_CUT);
    char what[256];
    job.src = from_anywhere ? NULL : saliency;
    job.edges = from_anywhere ? saliency : NULL;
    job.dst = scratch("cut.tif");
    job.overwrite = true;
    job.engine = TEST_ENGINE;
    job.criterion.has_alpha = true;
    for (int i = 0; i < n_variants(VARIANTS); i++) {
        job.criterion.alpha = pick_alpha(p);
        const uint32_t n = oracle_alpha(p->o, job.criterion.alpha, want);
        snprintf(what, sizeof what, "cut at %.17g, %s", job.criterion.alpha, variant(&job, 1));
        if (runs(p, &job, what, n)) labels_are(p, job.dst, what, want);
        if (i == 0) counts(p, job, "cut", n);
    }
}

static void saliency_equals(problem *p, uint32_t *labels)
{
    static const char *const names[] = {"edges", "pixel", "khalimsky"};
    const int64_t h = p->r.image.h, w = p->r.image.w;
    const int n_dirs = p->base.criterion.connectivity / 2;
    double *want[3];
    char what[256], edges[PATH_ROOM];
    for (int i = 0; i < 3; i++)
        files_must((want[i] = calloc((size_t)(4 * h * w), sizeof(double))));
    oracle_saliency(p->o, want[0]);
    oracle_pixel_layout(p->o, want[0], want[1]);
    oracle_khalimsky_layout(p->o, want[0], want[2]);
    qfz_job job = p->base;
    job.task = QFZ_SALIENCY;
    snprintf(edges, sizeof edges, "%s", scratch("saliency.tif"));
    for (int layout = QFZ_KHALIMSKY; layout >= 0; layout--)
        for (int i = 0; i < n_variants(layout ? 2 : VARIANTS); i++) {
            job.layout = (qfz_layout)layout;
            job.dst = layout ? scratch("layout.tif") : edges;
            job.gpu_method = tree_method(p);
            snprintf(what, sizeof what, "saliency %s, %s", names[layout], variant(&job, i));
            if (!runs(p, &job, what, 0)) continue;
            if (layout == QFZ_KHALIMSKY)
                levels_are(p, job.dst, what, 2 * h - 1, 2 * w - 1, 1, want[2]);
            else
                levels_are(p, job.dst, what, h, w, layout ? 1 : n_dirs, want[layout]);
        }
    cut_equals(p, edges, false, labels);
    bool all_valid = true;
    for (int64_t i = 0; i < n_pixels(p); i++)
        all_valid &= p->r.valid[i] != 0;
    const bool unfiltered = p->least == 1 && p->base.min_area_m2 <= 0;
    if (p->planes && all_valid && unfiltered) cut_equals(p, p->edges, true, labels);
    for (int i = 0; i < 3; i++)
        free(want[i]);
}

static int by_value(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* The points of a curve: alpha 0, and every level at which components meet. */
static int64_t curve_points(const problem *p, double *points)
{
    const int64_t n = 4 * n_pixels(p);
    int64_t n_points = 1;
    double *planes = calloc((size_t)n, sizeof *planes);
    files_must(planes != NULL);
    oracle_saliency(p->o, planes);
    qsort(planes, (size_t)(n_pixels(p) * p->base.criterion.connectivity / 2), sizeof *planes,
          by_value);
    points[0] = 0;
    for (int64_t i = 0; i < n_pixels(p) * p->base.criterion.connectivity / 2; i++)
        if (planes[i] > points[n_points - 1]) points[n_points++] = planes[i];
    free(planes);
    return n_points;
}

static void curve_is(const qfz_curve *curve, const char *what, int64_t n, const double *alpha,
                     const uint32_t *regions)
{
    CHECK(isinf(curve->exact_below), "%s: exact below %g", what, curve->exact_below);
    if (!CHECK(curve->n == n, "%s: %" PRId64 " points, not %" PRId64, what, curve->n, n)) return;
    for (int64_t i = 0; i < n; i++)
        if (!CHECK(curve->alpha[i] == alpha[i] && curve->regions[i] == regions[i],
                   "%s: %" PRIu64 " regions at %.17g, not %u at %.17g", what, curve->regions[i],
                   curve->alpha[i], regions[i], alpha[i]))
            break;
}

/* A cut of a saliency raster of the problem; false: there is none. */
static bool cut_of_saliency(const problem *p, qfz_job *job)
{
    static char path[PATH_ROOM];
    qfz_job saliency = p->base;
    qfz_error err = {0};
    snprintf(path, sizeof path, "%s", scratch("saliency.tif"));
    saliency.task = QFZ_SALIENCY;
    saliency.dst = path;
    if (!CHECK(qfz_job_run(&saliency, NULL, &err) == QFZ_OK, "saliency: %s", err.message))
        return false;
    *job = qfz_job_default(QFZ_CUT);
    job->src = path;
    job->overwrite = true;
    return true;
}

/* A largest number of regions gives the least alpha that has no more; of a cut too, whose levels
 * fit 32 bits. */
static void target_equals(problem *p, int64_t n, const double *alpha, const uint32_t *regions,
                          uint32_t *labels)
{
    const int64_t at = check_pick(n);
    const uint64_t more =
        at > 0 ? (uint64_t)check_pick((int64_t)(regions[at - 1] - regions[at])) : 0;
    const uint32_t n_want = oracle_alpha(p->o, alpha[at], labels);
    qfz_job job = p->base;
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    char what[256];
    job.task = QFZ_LABEL;
    if (widest_type(p) != GDT_UInt64 && check_chance(60) && !cut_of_saliency(p, &job)) return;
    job.dst = scratch("labels.tif");
    job.regions_target = regions[at] + more;
    if (job.regions_target == 0) return;
    snprintf(what, sizeof what, "task %d with at most %d regions, %s", (int)job.task,
             (int)job.regions_target, variant(&job, 1));
    if (!CHECK(qfz_job_run(&job, &report, &err) == QFZ_OK, "%s: %s", what, err.message)) return;
    CHECK(report.alpha == alpha[at], "%s: alpha %.17g, not %.17g", what, report.alpha, alpha[at]);
    CHECK(report.regions == n_want, "%s: %d regions", what, (int)report.regions);
    labels_are(p, job.dst, what, labels);
}

/* The CUDA engine has no curve of levels up to 2^32 - 1. */
static bool has_curve(const problem *p)
{
    qfz_curve curve = qfz_curve_default();
    qfz_job job = p->base;
    qfz_error err = {0};
    if (TEST_ENGINE == QFZ_ENGINE_CPU || widest_type(p) != GDT_UInt64) return true;
    job.task = QFZ_CURVE;
    job.curve = &curve;
    CHECK(qfz_job_run(&job, NULL, &err) == QFZ_EGPU && strstr(err.message, "2^32 - 1"), "%s",
          err.message);
    return false;
}

static void curve_equals(problem *p, uint32_t *labels)
{
    const int64_t most = 4 * n_pixels(p) + 1;
    double *alpha = calloc((size_t)most, sizeof *alpha);
    uint32_t *regions = calloc((size_t)most, sizeof *regions);
    files_must(alpha && regions);
    const int64_t n = curve_points(p, alpha);
    for (int64_t i = 0; i < n; i++)
        regions[i] = oracle_alpha(p->o, alpha[i], labels);
    const int n_jobs = has_curve(p) ? n_variants(VARIANTS) : 0;
    for (int i = 0; i < n_jobs; i++) {
        qfz_curve curve = qfz_curve_default();
        char what[256];
        qfz_job job = p->base;
        job.task = QFZ_CURVE;
        job.curve = &curve;
        snprintf(what, sizeof what, "curve, %s", variant(&job, i));
        if (runs(p, &job, what, regions[0])) curve_is(&curve, what, n, alpha, regions);
        qfz_curve_release(&curve);
    }
    if (check_chance(40)) target_equals(p, n, alpha, regions, labels);
    free(alpha);
    free(regions);
}

/* ---- The hierarchy as a table. */

/* The rows of a table of the hierarchy; level 32-bit floats have lost digits in the text. */
typedef struct forest {
    qfz_tree_table h;
    uint64_t *a, *b;
    double *level;
} forest;

static bool forest_read(forest *f, const problem *p, const char *path, uint32_t n_regions)
{
    char **lines = CSLLoad(path);
    const int n = CSLCount(lines) - 1;
    if (!CHECK(n >= 0 && !strcmp(lines[0], "a,b,level,x,y"), "%s: header", path)) return false;
    *f = (forest){.a = calloc((size_t)n + 1, sizeof *f->a),
                  .b = calloc((size_t)n + 1, sizeof *f->b),
                  .level = calloc((size_t)n + 1, sizeof *f->level)};
    files_must(f->a && f->b && f->level);
    for (int i = 0; i < n; i++) {
        double level = 0;
        CHECK(sscanf(lines[i + 1], "%" SCNu64 ",%" SCNu64 ",%lf", &f->a[i], &f->b[i], &level) == 3,
              "row %s", lines[i + 1]);
        f->level[i] = widest_type(p) == GDT_Float32 ? (double)(float)level : level;
        CHECK(f->a[i] < f->b[i] && f->level[i] > 0, "row %s", lines[i + 1]);
        CHECK(i == 0 || f->level[i - 1] <= f->level[i], "row %s is out of order", lines[i + 1]);
    }
    f->h = qfz_tree_table_default();
    f->h.n_regions = n_regions;
    f->h.n = n;
    f->h.a = f->a;
    f->h.b = f->b;
    f->h.level = f->level;
    CSLDestroy(lines);
    return true;
}

static void forest_free(forest *f)
{
    free(f->a);
    free(f->b);
    free(f->level);
}

/* A cut of the table gives the labels of that alpha. */
static void forest_cut_is(const problem *p, const forest *f, const uint32_t *zones, double alpha,
                          uint32_t *want)
{
    uint64_t *labels = calloc((size_t)f->h.n_regions + 1, sizeof *labels);
    qfz_error err = {0};
    int64_t n = 0;
    const uint32_t n_want = oracle_alpha(p->o, alpha, want);
    files_must(labels != NULL);
    CHECK(qfz_tree_table_cut(&f->h, alpha, labels, &n, &err) == QFZ_OK, "cut: %s", err.message);
    CHECK(n == n_want, "cut at %.17g: %d regions, not %u", alpha, (int)n, n_want);
    for (int64_t i = 0; i < n_pixels(p); i++)
        if (!CHECK((zones[i] ? labels[zones[i] - 1] : 0) == want[i],
                   "cut at %.17g: pixel %d has label %d, not %u", alpha, (int)i,
                   zones[i] ? (int)labels[zones[i] - 1] : 0, want[i]))
            break;
    free(labels);
}

static void forest_cuts_are(const problem *p, const forest *f, const uint32_t *zones,
                            uint32_t *want)
{
    const uint32_t n_areas = oracle_alpha(p->o, INFINITY, want);
    CHECK(f->h.n == f->h.n_regions - n_areas, "%d rows for %d regions in %u areas", (int)f->h.n,
          (int)f->h.n_regions, n_areas);
    for (int i = 0; i < 3; i++)
        forest_cut_is(p, f, zones, pick_alpha(p), want);
    if (f->h.n > 0) forest_cut_is(p, f, zones, f->level[check_pick(f->h.n)], want);
    forest_cut_is(p, f, zones, INFINITY, want);
}

static void forest_equals(problem *p, uint32_t *labels)
{
    uint32_t *want = calloc((size_t)n_pixels(p), sizeof *want);
    qfz_job job = p->base;
    files_must(want != NULL);
    const uint32_t n = oracle_alpha(p->o, 0, labels);
    job.task = QFZ_FOREST;
    job.dst = scratch("labels.tif");
    job.forest = scratch("forest.csv");
    for (int i = 0; i < n_variants(VARIANTS); i++) {
        char what[256];
        forest f;
        job.regions = check_chance(20) ? scratch("regions.csv") : NULL;
        snprintf(what, sizeof what, "forest, %s", variant(&job, i));
        if (!runs(p, &job, what, n)) continue;
        labels_are(p, job.dst, what, labels);
        table_is_same(p, job.forest, what, i == 0);
        if (i > 0 || !forest_read(&f, p, job.forest, n)) continue;
        forest_cuts_are(p, &f, labels, want);
        forest_free(&f);
    }
    free(want);
}

static void one_case(int64_t number)
{
    static problem p;
    static const char *const outputs[] = {
        "src.tif",      "src.tif.msk", "mask.tif", "labels.tif", "regions.csv", "painted.tif",
        "saliency.tif", "layout.tif",  "cut.tif",  "edges.tif",  "forest.csv",  NULL};
    memset(&p, 0, sizeof p);
    check_case(number, "making it");
    make(&p);
    uint32_t *labels = calloc((size_t)n_pixels(&p), sizeof *labels);
    files_must(labels != NULL);
    labels_equal(&p, labels);
    if (!p.planes && check_chance(50)) background_is_left_out(&p, labels);
    simplify_equals(&p, labels);
    saliency_equals(&p, labels);
    curve_equals(&p, labels);
    if (check_chance(50)) forest_equals(&p, labels);
    files_only(outputs);
    files_clear();
    if (p.in_memory) {
        VSIUnlink("/vsimem/src.tif");
        VSIUnlink("/vsimem/src.tif.msk");
        VSIUnlink("/vsimem/mask.tif");
        VSIUnlink("/vsimem/edges.tif");
    }
    free(p.planes);
    oracle_close(p.o);
    raster_free(&p.r);
    free(labels);
}

/* Many small tiles and the least memory: the store cannot hold all summaries and moves some to a
 * temporary file and back. */
static void summaries_spill(int64_t number, qfz_task task)
{
    enum { H = 512, W = 500 };
    static problem p;
    static const char *const outputs[] = {"src.tif", "painted.tif", "labels.tif", "saliency.tif",
                                          NULL};
    memset(&p, 0, sizeof p);
    check_case(number, "512 x 500 in tiles of 2, little memory, task %d", (int)task);
    p.r.image =
        (qfz_image){.struct_size = sizeof(qfz_image), .h = H, .w = W, .n_bands = 1, .type = QFZ_U8};
    p.r.image.pixels = p.r.pixels = malloc((size_t)H * W);
    p.r.image.valid = p.r.valid = malloc((size_t)H * W);
    files_must(p.r.pixels && p.r.valid);
    for (int64_t i = 0; i < H * W; i++) {
        raster_set(&p.r, 0, i, (double)(check_chance(70) ? 3 : check_pick(9)));
        p.r.valid[i] = 1;
    }
    p.hiding = "nothing";
    p.least = 1;
    p.base = qfz_job_default(task);
    p.base.criterion.connectivity = 8;
    p.base.engine = TEST_ENGINE;
    p.base.overwrite = true;
    p.o = oracle_open(&p.r.image, 8, QFZ_L1);
    write_source(&p);
    qfz_job job = p.base;
    uint32_t *labels = calloc((size_t)H * W, sizeof *labels);
    double *planes = calloc((size_t)4 * H * W, sizeof *planes);
    files_must(labels && planes);
    const double omega = 4;
    uint32_t n = 0;
    job.src = p.src;
    job.tile_px = 2;
    job.n_threads = 2;
    job.memory_bytes = INT64_C(128) << 20;
    job.dst = scratch(task == QFZ_SALIENCY ? "saliency.tif"
                      : task == QFZ_LABEL  ? "labels.tif"
                                           : "painted.tif");
    if (task == QFZ_LABEL) n = oracle_flat(p.o, labels);
    if (task == QFZ_SALIENCY) oracle_saliency(p.o, planes);
    if (task == QFZ_SIMPLIFY) {
        job.criterion.has_alpha = true;
        job.criterion.alpha = 3;
        job.criterion.omega = &omega;
        job.criterion.n_omega = 1;
        job.labels = scratch("labels.tif");
        n = oracle_alpha_omega(p.o, 3, &omega, labels);
    }
    qfz_plan plan = qfz_plan_default();
    qfz_error err = {0};
    CHECK(qfz_job_plan(&job, &plan, &err) == QFZ_OK, "plan: %s", err.message);
    CHECK(plan.border_bytes > plan.store_bytes,
          "nothing to spill: %" PRId64 " of %" PRId64 " bytes", plan.border_bytes,
          plan.store_bytes);
    if (runs(&p, &job, "little memory", n)) {
        if (task == QFZ_SALIENCY) levels_are(&p, job.dst, "little memory", H, W, 4, planes);
        if (task == QFZ_LABEL) labels_are(&p, job.dst, "little memory", labels);
        if (task == QFZ_SIMPLIFY) labels_are(&p, job.labels, "little memory", labels);
    }
    files_only(outputs);
    files_clear();
    oracle_close(p.o);
    raster_free(&p.r);
    free(labels);
    free(planes);
}

/* PROGRAM SEED 0: one small case. */
int main(int argc, char **argv)
{
    need_engine();
    check_begin(argc, argv, 80);
    files_begin();
    small = check_.cases == 0;
    if (small) one_case(0);
    /* The store is the same for every engine, and 64,000 tiles would take the simulator an hour. */
    if (!small && check_.first == 0 && TEST_ENGINE == QFZ_ENGINE_CPU)
        for (int task = QFZ_LABEL; task <= QFZ_SALIENCY; task++)
            summaries_spill(-1 - task, (qfz_task)task);
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    files_end();
    return check_end();
}
