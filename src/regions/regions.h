/* SPDX-License-Identifier: MIT */
/* regions.h - what follows from a raster of labels, whoever made it: the header of this room for
 * other rooms. */
#ifndef QFZ_REGIONS_H
#define QFZ_REGIONS_H

#include "regions/gather.h"
#include "regions/polygon.h"

#endif
