/* SPDX-License-Identifier: MIT */
/* mosaic.c - VRTs as inputs: facts from their text that speed up reading.
 *
 * A VRT has blocks of its own, 128 pixels a side; GDAL decodes the blocks of its parts.
 *
 * GDAL opens the parts of a VRT at the first read and then reads the CRS of each: some 10 ms for a
 * part in each thread, one thread after the other.  GDAL_GEOREF_SOURCES=NONE avoids this.  Some
 * kinds of VRT place pixels by georeference, so only plain mosaics are read with this setting. */
#include "raster/mosaic.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <math.h>
#include <string.h>

#include "raster/vrt_nesting.h"
#include "raster/vrt_text.h"

/* True if the text between the tag that begins at text and the next tag has the extension of a
 * TIFF. */
static bool names_tiff(const char *text)
{
    const char *const begin = strchr(text, '>'), *const end = begin ? strchr(begin, '<') : NULL;
    if (!end) return false;
    const size_t n = (size_t)(end - begin);
    return (n > 4 && EQUALN(end - 4, ".tif", 4)) || (n > 5 && EQUALN(end - 5, ".tiff", 5));
}

/* True if every occurrence of `key` passes the test; *n counts the occurrences. */
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

/* The whole part of a number in a tag; -1: no such number, or too large for a raster. */
static int64_t whole_of(const char *text, const char *attribute)
{
    const double number = qfz_vrt_number(text, attribute);
    return fabs(number) < 1e15 ? (int64_t)number : -1;
}

/* True if the blocks of a part begin at multiples of the block size in the VRT.  text: the tag
 * SourceProperties of the part. */
static bool fits_grid(const char *text, int64_t block_w, int64_t block_h)
{
    const char *const from = strstr(text, "<SrcRect"), *const to = strstr(text, "<DstRect");
    static const char *const sizes[] = {"xSize=\"", "ySize=\""};
    if (!from || !to) return false;
    for (int i = 0; i < 2; i++)
        if (whole_of(from, sizes[i]) != whole_of(to, sizes[i])) return false;
    return (whole_of(to, "xOff=\"") - whole_of(from, "xOff=\"")) % block_w == 0 &&
           (whole_of(to, "yOff=\"") - whole_of(from, "yOff=\"")) % block_h == 0;
}

/* Block sizes in a VRT as gdalbuildvrt writes it: SourceProperties of each part come before its
 * SrcRect and DstRect. */
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

/* name: a file, or the text of the VRT itself. */
static qfz_status read_vrt(const char *name, qfz_mosaic *mosaic, qfz_error *err)
{
    GByte *read = NULL;
    int64_t n_parts = 0;
    qfz_status st = QFZ_OK;
    if (name[0] != '<' && !VSIIngestFile(NULL, name, &read, NULL, QFZ_VRT_BYTES_MAX)) return QFZ_OK;
    const char *const text = read ? (const char *)read : name;
    mosaic->is_plain = is_plain(text, &n_parts);
    if (mosaic->is_plain) {
        mosaic->resamples = qfz_vrt_resamples(text);
        find_blocks(text, n_parts, mosaic);
    } else {
        st = qfz_vrt_check_nesting(name, text, &mosaic->resamples, err);
    }
    VSIFree(read);
    return st;
}

qfz_status qfz_mosaic_init(qfz_mosaic *mosaic, GDALDatasetH dataset, qfz_error *err)
{
    const GDALDriverH driver = GDALGetDatasetDriver(dataset);
    qfz_mosaic found = {.is_vrt = driver && EQUAL(GDALGetDriverShortName(driver), "VRT")};
    if (found.is_vrt) QFZ_TRY(read_vrt(GDALGetDescription(dataset), &found, err));
    *mosaic = found;
    return QFZ_OK;
}

void qfz_mosaic_begin_read(void)
{
    CPLSetThreadLocalConfigOption("GDAL_GEOREF_SOURCES", "NONE");
}

void qfz_mosaic_end_read(void)
{
    CPLSetThreadLocalConfigOption("GDAL_GEOREF_SOURCES", NULL);
}
