/* SPDX-License-Identifier: MIT */
#include "raster/places.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "raster/error_trap.h"
#include "raster/source_state.h"

struct qfz_lon_lat {
    OGRCoordinateTransformationH transformation;
};

void qfz_source_to_crs(const qfz_source *source, int64_t n, double *x, double *y)
{
    const double *const t = source->georef.transform;
    assert(source->is_located);
    for (int64_t i = 0; i < n; i++) {
        const double px = x[i], py = y[i];
        x[i] = t[0] + px * t[1] + py * t[2];
        y[i] = t[3] + px * t[4] + py * t[5];
    }
}

static OGRCoordinateTransformationH transformation_of(OGRSpatialReferenceH srs)
{
    const OGRSpatialReferenceH wgs84 = OSRNewSpatialReference(NULL);
    OGRCoordinateTransformationH made = NULL;
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    if (wgs84 && OSRImportFromEPSG(wgs84, 4326) == OGRERR_NONE) {
        OSRSetAxisMappingStrategy(wgs84, OAMS_TRADITIONAL_GIS_ORDER);
        made = OCTNewCoordinateTransformation(srs, wgs84);
    }
    OSRDestroySpatialReference(wgs84);
    qfz_error_trap_end(&trap);
    return made;
}

qfz_status qfz_lon_lat_open(qfz_lon_lat **places, const qfz_source *source, qfz_error *err)
{
    qfz_lon_lat *made = NULL;
    assert(source->is_located);
    *places = NULL;
    if (!source->georef.srs) return QFZ_OK;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->transformation = transformation_of(source->georef.srs);
    if (made->transformation)
        *places = made;
    else
        free(made);
    return QFZ_OK;
}

/* One point a call: of several operations between two systems GDAL takes the one for the middle of
 * the points of a call. */
void qfz_lon_lat_convert(const qfz_lon_lat *places, int64_t n, double *x, double *y)
{
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    for (int64_t i = 0; i < n; i++)
        if (!OCTTransform(places->transformation, 1, &x[i], &y[i], NULL) || !isfinite(x[i]) ||
            !isfinite(y[i]))
            x[i] = y[i] = NAN;
    qfz_error_trap_end(&trap);
}

void qfz_lon_lat_close(qfz_lon_lat *places)
{
    if (!places) return;
    OCTDestroyCoordinateTransformation(places->transformation);
    free(places);
}
