/* SPDX-License-Identifier: MIT */
/* gpkg_index.h - the spatial index of a new GeoPackage layer, filled while its rows are written.
 *
 * It is the extension gpkg_rtree_index: an R*Tree, and triggers that keep it up to date when
 * programs edit the layer. */
#ifndef QFZ_RASTER_GPKG_INDEX_H
#define QFZ_RASTER_GPKG_INDEX_H

#include <ogr_api.h>

#include "raster/rtree.h"

/* Creates the R*Tree of a layer that GDAL has created without spatial index and that has no rows.
 * The caller adds the extent of each row under its FID. */
qfz_status qfz_gpkg_index_create(qfz_rtree **tree, GDALDatasetH dataset, OGRLayerH layer,
                                 const char *path, qfz_error *err);

/* Completes the R*Tree, declares it and creates its triggers; after the last row. */
qfz_status qfz_gpkg_index_finish(qfz_rtree *tree, GDALDatasetH dataset, OGRLayerH layer,
                                 const char *path, qfz_error *err);

#endif
