/* SPDX-License-Identifier: MIT */
#include "raster/vrt_text.h"

#include <cpl_conv.h>
#include <math.h>
#include <string.h>

double qfz_vrt_number(const char *text, const char *attribute)
{
    const char *const end = strchr(text, '>'), *const at = strstr(text, attribute);
    return end && at && at < end ? CPLAtof(at + strlen(attribute)) : NAN;
}

/* Compares the sizes of two rectangles.  Those of gdalbuildvrt may differ in the last digits. */
static bool same_size(const char *from, const char *to)
{
    const double w = qfz_vrt_number(from, "xSize=\"") - qfz_vrt_number(to, "xSize=\"");
    const double h = qfz_vrt_number(from, "ySize=\"") - qfz_vrt_number(to, "ySize=\"");
    return fabs(w) < 1e-6 && fabs(h) < 1e-6;
}

/* True if a rectangle begins at whole pixels. */
static bool is_whole(const char *rectangle)
{
    const double x = qfz_vrt_number(rectangle, "xOff=\""), y = qfz_vrt_number(rectangle, "yOff=\"");
    return x == floor(x) && y == floor(y);
}

/* True if both rectangles belong to the source that ends at `end`, and its pixels are pixels of the
 * VRT. */
static bool keeps_pixels(const char *from, const char *to, const char *end)
{
    return from && to && from < end && to < end && is_whole(from) && is_whole(to);
}

bool qfz_vrt_resamples(const char *text)
{
    static const char tag[] = "resampling=";
    if (strstr(text, "VRTWarpedDataset")) return true;
    for (const char *from = strstr(text, "<SrcRect"); from; from = strstr(from + 1, "<SrcRect")) {
        const char *const to = strstr(from, "<DstRect");
        if (!to || !same_size(from, to)) return true;
    }
    for (const char *at = strstr(text, tag); at; at = strstr(at + 1, tag)) {
        const char *const end = strstr(at, "Source>");
        if (!end || !keeps_pixels(strstr(at, "<SrcRect"), strstr(at, "<DstRect"), end)) return true;
    }
    return false;
}
