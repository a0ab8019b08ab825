/* SPDX-License-Identifier: MIT */
#define _LARGEFILE64_SOURCE /* for VSIStatBufL of GDAL */
#include "raster/description.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <gdal.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "raster/error_trap.h"
#include "raster/file_list.h"
#include "raster/source_state.h"

static uint32_t text_crc(const char *text)
{
    return text ? (uint32_t)crc32_z(0, (const Bytef *)text, strlen(text)) : 0;
}

/* True for statistics and overviews: adding them does not change a raster. */
static bool is_side_file(const char *file)
{
    static const char *const ends[] = {".aux.xml", ".ovr"};
    const size_t n = strlen(file);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t k = strlen(ends[i]);
        if (n > k && strcmp(file + n - k, ends[i]) == 0) return true;
    }
    return false;
}

/* Sizes and times of all files in one line, since a mosaic may have thousands of files. */
static void describe_files(char *const *files, const char *name, FILE *out)
{
    long long bytes = 0, n = 0;
    time_t newest = 0;
    char when[32] = "";
    struct tm parts;
    uint32_t crc = 0;
    for (char *const *file = files; file && *file; file++) {
        VSIStatBufL found;
        if (VSIStatExL(*file, &found, VSI_STAT_EXISTS_FLAG | VSI_STAT_SIZE_FLAG) != 0) continue;
        /* Zero for files of GDAL's virtual systems. */
        const long long facts[4] = {(long long)found.st_size, (long long)found.st_mtim.tv_sec,
                                    (long long)found.st_mtim.tv_nsec, (long long)found.st_ino};
        crc = (uint32_t)crc32_z(crc, (const Bytef *)*file, strlen(*file));
        crc = (uint32_t)crc32_z(crc, (const Bytef *)facts, sizeof facts);
        bytes += facts[0];
        newest = found.st_mtime > newest ? found.st_mtime : newest;
        n++;
    }
    if (gmtime_r(&newest, &parts)) (void)strftime(when, sizeof when, "%F %T UTC", &parts);
    (void)fprintf(out, "%s on disk\t%lld file%s, %lld bytes, newest of %s, checksum %08x\n", name,
                  n, n == 1 ? "" : "s", bytes, when, crc);
}

static void describe_georeference(GDALDatasetH dataset, FILE *out)
{
    double t[6] = {0};
    const GDAL_GCP *const points = GDALGetGCPs(dataset);
    const int n = GDALGetGCPCount(dataset);
    uint32_t crc = 0;
    (void)GDALGetGeoTransform(dataset, t);
    for (int i = 0; i < n; i++) {
        const double place[5] = {points[i].dfGCPPixel, points[i].dfGCPLine, points[i].dfGCPX,
                                 points[i].dfGCPY, points[i].dfGCPZ};
        crc = (uint32_t)crc32_z(crc, (const Bytef *)place, sizeof place);
    }
    (void)fprintf(out, "geotransform\t%.17g %.17g %.17g %.17g %.17g %.17g\n", t[0], t[1], t[2],
                  t[3], t[4], t[5]);
    (void)fprintf(out, "coordinate system\tchecksum %08x\n",
                  text_crc(GDALGetProjectionRef(dataset)));
    (void)fprintf(out, "ground control points\t%d, checksum %08x\n", n, crc);
}

static void describe_bands(const qfz_source *source, FILE *out)
{
    (void)fprintf(out, "bands\t");
    for (int b = 0; b < source->n_bands; b++) {
        const qfz_band *const band = &source->bands[b];
        (void)fprintf(out, "%s%d %s", b ? ", " : "", band->number, qfz_type_name(band->type));
        if (band->has_nodata) (void)fprintf(out, " nodata %.17g", band->nodata);
        if (band->has_background) (void)fprintf(out, " background %.17g", band->background);
    }
    (void)fprintf(out, "\nmasks\t%d\n", source->n_masks);
}

void qfz_source_describe(qfz_source *source, FILE *out)
{
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    (void)fprintf(out, "size\t%lld x %lld\n", (long long)source->info.w, (long long)source->info.h);
    describe_bands(source, out);
    describe_georeference(source->dataset, out);
    describe_files(qfz_file_list(source->dataset, &source->files), "source", out);
    describe_files(qfz_file_list(source->mask_dataset, &source->mask_files), "mask", out);
    if (source->edges)
        describe_files(qfz_file_list(source->edges->dataset, &source->edges->files), "edges", out);
    qfz_error_trap_end(&trap);
}

/* The files of a VRT are its parts. */
void qfz_output_describe(const char *path, FILE *out)
{
    char **files = NULL, **own = NULL;
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    const GDALDatasetH dataset =
        GDALOpenEx(path, GDAL_OF_RASTER | GDAL_OF_READONLY, NULL, NULL, NULL);
    for (char *const *file = qfz_file_list(dataset, &files); file && *file; file++)
        if (!is_side_file(*file)) own = CSLAddString(own, *file);
    if (!dataset) own = CSLAddString(own, path);
    describe_files(own, path, out);
    CSLDestroy(own);
    CSLDestroy(files);
    if (dataset) GDALClose(dataset);
    qfz_error_trap_end(&trap);
}
