/* SPDX-License-Identifier: MIT */
/* mosaic.c - VRTs that lay out TIFFs by pixels: what is better known before they are read.
 *
 * A VRT has blocks of its own, of 128 pixels a side; what is decoded are those of its parts.
 *
 * GDAL opens the parts of a VRT when they are first read, and learns the CRS of each, which nobody
 * asks for here: some 10 ms in each thread, one thread after the other.  GDAL_GEOREF_SOURCES=NONE
 * spares it.  Other kinds of VRT may place pixels by georeferences; so only those that are known
 * not to are read that way. */
#include "raster/private.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <math.h>
#include <string.h>

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

static bool is_plain(const char *text, int64_t *n_parts)
{
    int64_t n_classes;
    return all_pass(text, "subClass", is_of_sources, &n_classes) &&
           all_pass(text, "<SourceFilename", names_tiff, n_parts) && *n_parts > 0;
}

/* The whole part of a number in a tag; -1: there is none, or none that a raster has. */
static int64_t whole_of(const char *text, const char *attribute)
{
    const double number = qfz_vrt_number(text, attribute);
    return fabs(number) < 1e15 ? (int64_t)number : -1;
}

/* Is a part, whose tag of properties begins at text, laid out so that its blocks are of the grid?
 */
static bool fits_grid(const char *text, int64_t block_w, int64_t block_h)
{
    const char *const from = strstr(text, "<SrcRect"), *const to = strstr(text, "<DstRect");
    static const char *const kept[] = {"xSize=\"", "ySize=\""};
    if (!from || !to) return false;
    for (int i = 0; i < 2; i++)
        if (whole_of(from, kept[i]) != whole_of(to, kept[i])) return false;
    return (whole_of(to, "xOff=\"") - whole_of(from, "xOff=\"")) % block_w == 0 &&
           (whole_of(to, "yOff=\"") - whole_of(from, "yOff=\"")) % block_h == 0;
}

/* As gdalbuildvrt writes it: each part with its properties, which come before where it lies. */
static void find_blocks(const char *text, int64_t n_parts, qfz_mosaic *mosaic)
{
    static const char tag[] = "<SourceProperties";
    int64_t n_known = 0;
    bool fits = true;
    for (const char *at = strstr(text, tag); at; at = strstr(at + 1, tag), n_known++) {
        const int64_t w = whole_of(at, "BlockXSize=\""), h = whole_of(at, "BlockYSize=\"");
        if (n_known == 0) {
            mosaic->block_w = w;
            mosaic->block_h = h;
        }
        if (w < 1 || h < 1 || w != mosaic->block_w || h != mosaic->block_h) break;
        fits = fits && fits_grid(at, w, h);
    }
    mosaic->has_grid = fits;
    if (n_known == n_parts) return;
    mosaic->block_w = mosaic->block_h = 0;
    mosaic->has_grid = false;
}

bool qfz_is_vrt(GDALDatasetH dataset)
{
    const GDALDriverH driver = GDALGetDatasetDriver(dataset);
    return driver && EQUAL(GDALGetDriverShortName(driver), "VRT");
}

qfz_mosaic qfz_mosaic_of(GDALDatasetH dataset)
{
    qfz_mosaic mosaic = {0};
    GByte *read = NULL;
    int64_t n_parts = 0;
    mosaic.is_vrt = qfz_is_vrt(dataset);
    if (!mosaic.is_vrt) return mosaic;
    const char *const name = GDALGetDescription(dataset);
    const bool has_text =
        name[0] == '<' || VSIIngestFile(NULL, name, &read, NULL, QFZ_VRT_BYTES_MAX);
    const char *const text = read ? (const char *)read : name;
    mosaic.is_plain = has_text && is_plain(text, &n_parts);
    mosaic.window_matters = has_text && qfz_window_matters(text);
    if (mosaic.is_plain) find_blocks(text, n_parts, &mosaic);
    VSIFree(read);
    return mosaic;
}

void qfz_mosaic_begin_read(void)
{
    CPLSetThreadLocalConfigOption("GDAL_GEOREF_SOURCES", "NONE");
}

void qfz_mosaic_end_read(void)
{
    CPLSetThreadLocalConfigOption("GDAL_GEOREF_SOURCES", NULL);
}
