/* SPDX-License-Identifier: MIT */
#include "hostile.h"

#include "rasters.h"

void hostile_make(hostile *made, uint64_t seed, int64_t number, int64_t side, int type,
                  int max_bands)
{
    raster r;
    check_.seed = seed;
    check_case(number, "a raster");
    raster_make(&r, side, type, max_bands);
    made->image = r.image;
    snprintf(made->what, sizeof made->what,
             "%" PRId64 " x %" PRId64 ", %d bands %s, %s in %s, holes: %s", r.image.w, r.image.h,
             r.image.n_bands, raster_types[r.image.type], r.shape, r.palette, r.holes);
}

void hostile_free(hostile *made)
{
    free((void *)(uintptr_t)made->image.pixels);
    free((void *)(uintptr_t)made->image.valid);
}
