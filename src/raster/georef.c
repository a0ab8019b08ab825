/* SPDX-License-Identifier: MIT */
/* georef.c - how the georeference of a source passes to an output, or to a part of one that begins
 * at row y0.
 *
 * Pixel (y, x) of an image has its centre in cell (2y, 2x) of the khalimsky grid: the point p of
 * the image, in pixels from the corner, is the point 2p - 1/2 of the grid. */
#include "raster/georef.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <string.h>

#include "raster/error_trap.h"

static void find_units(qfz_georef *g)
{
    OGRErr bad = OGRERR_NONE;
    g->unit = 1;
    if (!g->srs) return;
    g->is_geographic = OSRIsGeographic(g->srs) != 0;
    if (!g->is_geographic) {
        g->unit = OSRGetLinearUnits(g->srs, NULL);
        return;
    }
    g->unit = OSRGetAngularUnits(g->srs, NULL);
    g->a = OSRGetSemiMajor(g->srs, &bad);
    const double inverse = OSRGetInvFlattening(g->srs, &bad);
    g->flattening = inverse > 0 ? 1 / inverse : 0;
}

qfz_status qfz_georef_init(qfz_georef *georef, GDALDatasetH dataset, qfz_error *err)
{
    static const double identity[6] = {0, 1, 0, 0, 0, 1};
    qfz_georef g = {0};
    memcpy(g.transform, identity, sizeof identity);
    g.has_transform = GDALGetGeoTransform(dataset, g.transform) == CE_None;
    if (!g.has_transform) memcpy(g.transform, identity, sizeof identity);
    const OGRSpatialReferenceH srs = g.has_transform ? GDALGetSpatialRef(dataset) : NULL;
    if (srs) {
        g.srs = OSRClone(srs);
        if (!g.srs) return qfz_fail(err, QFZ_ENOMEM, "out of memory: a CRS could not be copied");
        OSRSetAxisMappingStrategy(g.srs, OAMS_TRADITIONAL_GIS_ORDER);
    }
    find_units(&g);
    *georef = g;
    return QFZ_OK;
}

void qfz_georef_fini(qfz_georef *georef)
{
    if (georef->srs) OSRDestroySpatialReference(georef->srs);
    georef->srs = NULL;
}

static bool copy_transform(GDALDatasetH from, GDALDatasetH to, bool khalimsky, int64_t y0,
                           bool *found)
{
    double t[6];
    *found = GDALGetGeoTransform(from, t) == CE_None;
    if (!*found) return true;
    if (khalimsky) {
        t[0] += (t[1] + t[2]) / 4;
        t[3] += (t[4] + t[5]) / 4;
        t[1] /= 2, t[2] /= 2, t[4] /= 2, t[5] /= 2;
    }
    t[0] += (double)y0 * t[2];
    t[3] += (double)y0 * t[5];
    return GDALSetGeoTransform(to, t) == CE_None;
}

static bool copy_gcps(GDALDatasetH from, GDALDatasetH to, bool khalimsky, int64_t y0)
{
    const int n = GDALGetGCPCount(from);
    if (n == 0) return true;
    GDAL_GCP *const gcps = GDALDuplicateGCPs(n, GDALGetGCPs(from));
    for (int i = 0; khalimsky && i < n; i++) {
        gcps[i].dfGCPPixel = 2 * gcps[i].dfGCPPixel - 0.5;
        gcps[i].dfGCPLine = 2 * gcps[i].dfGCPLine - 0.5;
    }
    for (int i = 0; i < n; i++)
        gcps[i].dfGCPLine -= (double)y0;
    const CPLErr done = GDALSetGCPs2(to, n, gcps, GDALGetGCPSpatialRef(from));
    GDALDeinitGCPs(n, gcps);
    CPLFree(gcps);
    return done == CE_None;
}

/* Replaces a number of the RPC by factor * number + offset. */
static char **change_item(char **rpc, const char *key, double factor, double offset)
{
    const char *const value = CSLFetchNameValue(rpc, key);
    char changed[40];
    if (!value) return rpc;
    (void)CPLsnprintf(changed, sizeof changed, "%.17g", factor * CPLAtof(value) + offset);
    return CSLSetNameValue(rpc, key, changed);
}

/* RPCs count from the centre of the first pixel, so khalimsky only doubles offsets and scales. */
static bool copy_rpc(GDALDatasetH from, GDALDatasetH to, bool khalimsky, int64_t y0)
{
    static const char *const in_pixels[] = {"LINE_OFF", "SAMP_OFF", "LINE_SCALE", "SAMP_SCALE"};
    char **rpc = CSLDuplicate(GDALGetMetadata(from, "RPC"));
    if (!rpc) return true;
    for (int i = 0; khalimsky && i < 4; i++)
        rpc = change_item(rpc, in_pixels[i], 2, 0);
    if (y0 > 0) rpc = change_item(rpc, "LINE_OFF", 1, -(double)y0);
    const CPLErr done = GDALSetMetadata(to, rpc, "RPC");
    CSLDestroy(rpc);
    return done == CE_None;
}

qfz_status qfz_georef_copy(GDALDatasetH from, GDALDatasetH to, bool khalimsky, int64_t y0,
                           const char *name, qfz_error *err)
{
    qfz_error_trap trap;
    bool done = true, found = false;
    qfz_error_trap_begin(&trap);
    const char *const convention = GDALGetMetadataItem(from, "AREA_OR_POINT", NULL);
    if (convention) done = GDALSetMetadataItem(to, "AREA_OR_POINT", convention, NULL) == CE_None;
    const OGRSpatialReferenceH srs = GDALGetSpatialRef(from);
    if (srs) done = GDALSetSpatialRef(to, srs) == CE_None && done;
    done = copy_transform(from, to, khalimsky, y0, &found) && done;
    if (!found) done = copy_gcps(from, to, khalimsky, y0) && done;
    done = copy_rpc(from, to, khalimsky, y0) && done;
    qfz_error_trap_end(&trap);
    if (!done)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, name,
                                   "the georeference could not be written");
    return QFZ_OK;
}
