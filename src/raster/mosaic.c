/* SPDX-License-Identifier: MIT */
/* mosaic.c - VRTs that lay out TIFFs by pixels.
 *
 * GDAL opens the parts of a VRT when they are first read, and learns the CRS of each, which nobody
 * asks for here: some 10 ms in each thread, one thread after the other.  GDAL_GEOREF_SOURCES=NONE
 * spares it.  Other kinds of VRT may place pixels by georeferences; so only those that are known
 * not to are read that way. */
#include "raster/private.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <string.h>

enum { VRT_BYTES_MAX = 256 << 20 };

/* The extension of what stands between the tag that begins at text and the next one. */
static bool names_tiff(const char *text)
{
    const char *const begin = strchr(text, '>'), *const end = begin ? strchr(begin, '<') : NULL;
    if (!end) return false;
    const size_t n = (size_t)(end - begin);
    return (n > 4 && EQUALN(end - 4, ".tif", 4)) || (n > 5 && EQUALN(end - 5, ".tiff", 5));
}

/* Every piece of text that begins with `key` passes the test; *n of them. */
static bool all_pass(const char *text, const char *key, bool (*passes)(const char *), int64_t *n)
{
    *n = 0;
    for (const char *at = strstr(text, key); at; at = strstr(at + 1, key)) {
        if (!passes(at)) return false;
        ++*n;
    }
    return true;
}

static bool is_of_sources(const char *text)
{
    return STARTS_WITH(text, "subClass=\"VRTSourcedRasterBand\"");
}

static bool is_plain(const char *text)
{
    int64_t n_classes, n_parts;
    return all_pass(text, "subClass", is_of_sources, &n_classes) &&
           all_pass(text, "<SourceFilename", names_tiff, &n_parts) && n_parts > 0;
}

bool qfz_mosaic_is_plain(GDALDatasetH dataset)
{
    const GDALDriverH driver = GDALGetDatasetDriver(dataset);
    GByte *text = NULL;
    if (!driver || !EQUAL(GDALGetDriverShortName(driver), "VRT")) return false;
    const char *const name = GDALGetDescription(dataset);
    if (name[0] == '<') return is_plain(name);
    const bool plain =
        VSIIngestFile(NULL, name, &text, NULL, VRT_BYTES_MAX) && is_plain((const char *)text);
    VSIFree(text);
    return plain;
}

void qfz_mosaic_begin_read(void)
{
    CPLSetThreadLocalConfigOption("GDAL_GEOREF_SOURCES", "NONE");
}

void qfz_mosaic_end_read(void)
{
    CPLSetThreadLocalConfigOption("GDAL_GEOREF_SOURCES", NULL);
}
