/* SPDX-License-Identifier: MIT */
/* network.h - sources that are read over a network, and VRTs that name other VRTs without end. */
#ifndef QFZ_RASTER_NETWORK_H
#define QFZ_RASTER_NETWORK_H

#include "core/status.h"

/* Follows the names in a VRT, and in the VRTs that it names, without opening any raster.  QFZ_EARG
 * if the source itself or one of these names leads to a network, unless allowed.  QFZ_EIO if VRTs
 * are nested without end, or so that reading one pixel could open 100,000 of them. */
qfz_status qfz_network_check(const char *name, bool allowed, qfz_error *err);

/* True for the name of a service, and for a name of GDAL's file systems of networks. */
bool qfz_network_is(const char *name);

#endif
