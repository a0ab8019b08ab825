/* SPDX-License-Identifier: MIT */
/* regions.h - what follows from a raster of labels, whoever made it: the header of this room for
 * other rooms. */
#ifndef QFZ_REGIONS_H
#define QFZ_REGIONS_H

#include "regions/coloring.h"
#include "regions/contours.h"
#include "regions/gather.h"
#include "regions/label_tile.h"
#include "regions/neighbours.h"
#include "regions/picture.h"
#include "regions/polygon.h"
#include "regions/polygon_wkb.h"
#include "regions/tally.h"
#include "regions/zones.h"

#endif
