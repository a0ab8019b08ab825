/* SPDX-License-Identifier: MIT */
#include "raster/place.h"

#include <assert.h>
#include <cpl_conv.h>
#include <string.h>

#include "raster/error_trap.h"
#include "raster/source_state.h"
#include "raster/text.h"

bool qfz_source_transform(const qfz_source *source, double transform[6])
{
    assert(source->is_located);
    memcpy(transform, source->georef.transform, sizeof source->georef.transform);
    return source->georef.has_transform;
}

qfz_status qfz_source_crs(const qfz_source *source, char **crs, qfz_error *err)
{
    static const char *const form[] = {"FORMAT=WKT2_2019", "MULTILINE=NO", NULL};
    char *wkt = NULL, *copy = NULL;
    qfz_status st = QFZ_OK;
    qfz_error_trap trap;
    assert(source->is_located);
    if (source->georef.srs) {
        qfz_error_trap_begin(&trap);
        const bool done = OSRExportToWktEx(source->georef.srs, &wkt, form) == OGRERR_NONE;
        qfz_error_trap_end(&trap);
        st = done ? qfz_text_copy(&copy, wkt, err)
                  : qfz_error_trap_fail(&trap, err, QFZ_EIO, source->name,
                                        "its coordinate reference system has no form as text");
        CPLFree(wkt);
    }
    if (st == QFZ_OK) *crs = copy;
    return st;
}

qfz_status qfz_source_band_name(const qfz_source *source, int band, char **name, qfz_error *err)
{
    return qfz_text_copy(name, GDALGetDescription(source->bands[band].handle), err);
}
