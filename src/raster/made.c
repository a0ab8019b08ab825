/* SPDX-License-Identifier: MIT */
#include "raster/made.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <gdal.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "raster/error_trap.h"
#include "raster/network.h"
#include "raster/text.h"
#include "raster/window.h"

struct qfz_made {
    GDALDatasetH dataset;
    char *name;
    qfz_retry retry;
    qfz_made_facts facts;
};

/* ------------------------------------------------------------------------------------- metadata */
static const char *item(const qfz_made *made, const char *key)
{
    return GDALGetMetadataItem(made->dataset, key, NULL);
}

static qfz_status bad_item(const qfz_made *made, const char *key, const char *value, qfz_error *err)
{
    return qfz_fail(err, QFZ_EARG, "%s: its metadata says %s=%s, which is not understood",
                    made->name, key, value);
}

/* *choice = the place of the value among the words; unchanged without metadata. */
static qfz_status read_choice(const qfz_made *made, const char *key, const char *const *words,
                              bool *has, int *choice, qfz_error *err)
{
    const char *const value = item(made, key);
    if (!value) return QFZ_OK;
    const int found = CSLFindString((CSLConstList)words, value);
    if (found < 0) return bad_item(made, key, value, err);
    *choice = found;
    if (has) *has = true;
    return QFZ_OK;
}

/* Numbers that are separated by commas. */
static qfz_status read_reals(const qfz_made *made, const char *key, double **reals, int *n,
                             qfz_error *err)
{
    const char *const value = item(made, key);
    int count = 1;
    if (!value) return QFZ_OK;
    for (const char *c = value; *c; c++)
        count += *c == ',';
    QFZ_TRY(QFZ_NEW(reals, count, err));
    const char *from = value;
    for (int i = 0; i < count; i++) {
        char *end;
        (*reals)[i] = CPLStrtod(from, &end);
        if (end == from || *end != (i + 1 < count ? ',' : '\0') || !((*reals)[i] >= 0))
            return bad_item(made, key, value, err);
        from = end + 1;
    }
    *n = count;
    return QFZ_OK;
}

static qfz_status read_min_area(qfz_made *made, qfz_error *err)
{
    static const char key[] = "QFZ_MIN_AREA";
    const char *const value = item(made, key);
    char *end;
    if (!value) return QFZ_OK;
    const double area = CPLStrtod(value, &end);
    if (end == value || !(area > 0 && area < 9e18)) return bad_item(made, key, value, err);
    if (*end == '\0')
        made->facts.min_area = (uint64_t)area;
    else if (strcmp(end, "m2") == 0)
        made->facts.min_area_m2 = area;
    else
        return bad_item(made, key, value, err);
    return QFZ_OK;
}

static qfz_status read_alpha(qfz_made *made, qfz_error *err)
{
    double *alpha = NULL;
    int n = 0;
    const qfz_status st = read_reals(made, "QFZ_ALPHA", &alpha, &n, err);
    made->facts.has_alpha = st == QFZ_OK && n == 1;
    if (made->facts.has_alpha) made->facts.alpha = alpha[0];
    free(alpha);
    return st;
}

static qfz_status read_metadata(qfz_made *made, qfz_error *err)
{
    static const char *const contents[] = {"labels", "painted", "saliency", NULL};
    static const char *const layouts[] = {"edges", "pixel", "khalimsky", NULL};
    static const char *const distances[] = {"l1", "l2", "linf", "sam", NULL};
    static const char *const connectivities[] = {"4", "8", NULL};
    qfz_made_facts *const facts = &made->facts;
    int content = 0, layout = 0, distance = 0, connectivity = -1;
    QFZ_TRY(read_choice(made, "QFZ_CONTENT", contents, &facts->has_content, &content, err));
    QFZ_TRY(read_choice(made, "QFZ_LAYOUT", layouts, NULL, &layout, err));
    QFZ_TRY(read_choice(made, "QFZ_DISTANCE", distances, &facts->has_distance, &distance, err));
    QFZ_TRY(read_choice(made, "QFZ_CONNECTIVITY", connectivities, NULL, &connectivity, err));
    facts->content = (qfz_content)content;
    facts->layout = (qfz_layout)layout;
    facts->distance = (qfz_distance)distance;
    facts->connectivity = connectivity < 0 ? 0 : connectivity == 0 ? 4 : 8;
    QFZ_TRY(read_reals(made, "QFZ_WEIGHTS", &facts->weights, &facts->n_weights, err));
    QFZ_TRY(read_reals(made, "QFZ_OMEGA", &facts->omega, &facts->n_omega, err));
    QFZ_TRY(read_alpha(made, err));
    return read_min_area(made, err);
}

/* ------------------------------------------------------------------------------------- the raster
 */
static qfz_status open_made(qfz_made *made, const char *name, bool allow_network, qfz_error *err)
{
    qfz_error_trap trap;
    int block_w = 0, block_h = 0;
    QFZ_TRY(qfz_text_copy(&made->name, name, err));
    QFZ_TRY(qfz_network_check(name, allow_network, err));
    qfz_error_trap_begin(&trap);
    made->dataset = GDALOpenEx(name, GDAL_OF_RASTER | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR,
                               NULL, NULL, NULL);
    qfz_error_trap_end(&trap);
    if (!made->dataset)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, name, "not a raster that GDAL can open");
    made->facts.n_bands = GDALGetRasterCount(made->dataset);
    made->facts.w = GDALGetRasterXSize(made->dataset);
    made->facts.h = GDALGetRasterYSize(made->dataset);
    if (made->facts.n_bands < 1) return qfz_fail(err, QFZ_EIO, "%s: it has no bands", name);
    GDALGetBlockSize(GDALGetRasterBand(made->dataset, 1), &block_w, &block_h);
    made->facts.block_h = block_h < 1 ? 1 : block_h;
    return read_metadata(made, err);
}

qfz_status qfz_made_open(qfz_made **made, const char *name, bool allow_network, qfz_retry retry,
                         qfz_error *err)
{
    qfz_made *opened = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&opened, 1, err));
    opened->retry = retry;
    const qfz_status st = open_made(opened, name, allow_network, err);
    if (st != QFZ_OK) {
        qfz_made_close(opened);
        return st;
    }
    *made = opened;
    return QFZ_OK;
}

void qfz_made_close(qfz_made *made)
{
    qfz_error_trap trap;
    if (!made) return;
    qfz_error_trap_begin(&trap);
    if (made->dataset) GDALClose(made->dataset);
    qfz_error_trap_end(&trap);
    free(made->facts.weights);
    free(made->facts.omega);
    free(made->name);
    free(made);
}

const qfz_made_facts *qfz_made_get_facts(const qfz_made *made)
{
    return &made->facts;
}

void qfz_made_get_transform(const qfz_made *made, double transform[6])
{
    static const double identity[6] = {0, 1, 0, 0, 0, 1};
    if (GDALGetGeoTransform(made->dataset, transform) != CE_None)
        memcpy(transform, identity, sizeof identity);
}

typedef struct reading {
    const qfz_made *made;
    int band;
    qfz_box box;
    double *values;
} reading;

static qfz_status read_once(void *arg, qfz_error *err)
{
    const reading *const r = arg;
    const GDALRasterBandH band = GDALGetRasterBand(r->made->dataset, r->band + 1);
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    const CPLErr done = qfz_window_read(band, r->box, GDT_Float64, false, r->values);
    qfz_error_trap_end(&trap);
    if (done != CE_None || trap.failed)
        return qfz_error_trap_fail_box(&trap, err, r->made->name, r->box);
    return QFZ_OK;
}

qfz_status qfz_made_read(qfz_made *made, int band, qfz_box box, double *values, qfz_error *err)
{
    reading r = {.made = made, .band = band, .box = box, .values = values};
    const GDALRasterBandH handle = GDALGetRasterBand(made->dataset, band + 1);
    const int64_t n = qfz_box_h(box) * qfz_box_w(box);
    int has = 0;
    QFZ_TRY(qfz_retry_call(&made->retry, read_once, &r, err));
    const double nodata = GDALGetRasterNoDataValue(handle, &has);
    for (int64_t i = 0; has && i < n; i++)
        if (values[i] == nodata) values[i] = NAN;
    return QFZ_OK;
}
