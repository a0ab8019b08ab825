/* SPDX-License-Identifier: MIT */
/* picture_bands.c - which bands of a source a picture shows. */
#include "raster/source_state.h"

/* The first band in use of this colour; -1: none. */
static int band_of(const qfz_source *source, GDALColorInterp color)
{
    for (int b = 0; b < source->n_bands; b++)
        if (GDALGetRasterColorInterpretation(source->bands[b].handle) == color) return b;
    return -1;
}

void qfz_source_picture_bands(const qfz_source *source, int rgb[3])
{
    const int n = source->n_bands;
    rgb[0] = band_of(source, GCI_RedBand);
    rgb[1] = band_of(source, GCI_GreenBand);
    rgb[2] = band_of(source, GCI_BlueBand);
    if (rgb[0] >= 0 && rgb[1] >= 0 && rgb[2] >= 0) return;
    for (int c = 0; c < 3; c++)
        rgb[c] = n >= 4 ? 2 - c : n == 3 ? c : 0;
}
