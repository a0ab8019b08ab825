/* SPDX-License-Identifier: MIT */
/* fuzz_saliency.c - rasters that say that they are saliency or labels of qfz: types, nodata values,
 * metadata and pixels are the input's.  Cutting, checking and using one as levels of edges ends
 * with a result or with a message.
 *
 * Input: four bytes (size, bands, type, nodata), pixels, and then metadata as text, KEY=VALUE a
 * line. */
#include "fuzz.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <gdal.h>
#include <string.h>

#include "qfz.h"

static const char path[] = "/vsimem/fuzz.tif", pixels_path[] = "/vsimem/pixels.tif";

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    GDALAllRegister();
    CPLPushErrorHandler(CPLQuietErrorHandler);
    return 0;
}

static void write_metadata(GDALDatasetH raster, const fuzz_input *input)
{
    char *const text = calloc(input->left + 1, 1);
    FUZZ_MUST(text != NULL);
    memcpy(text, input->data, input->left);
    char **const lines = CSLTokenizeString2(text, "\n", 0);
    for (int i = 0; lines && lines[i]; i++) {
        char *key = NULL;
        const char *const value = CPLParseNameValue(lines[i], &key);
        if (key && value) (void)GDALSetMetadataItem(raster, key, value, NULL);
        CPLFree(key);
    }
    CSLDestroy(lines);
    free(text);
}

static void write_raster(fuzz_input *input, int *w, int *h)
{
    static const GDALDataType types[] = {GDT_Byte,  GDT_UInt16,  GDT_Int16,   GDT_UInt32,
                                         GDT_Int32, GDT_Float32, GDT_Float64, GDT_CInt16};
    static const double nodata[] = {0, 255, 65535, 4294967295.0, -1, 1e300, 7, 254};
    const uint32_t size = fuzz_take(input, 1), bands = fuzz_take(input, 1) % 5 + 1,
                   type = fuzz_take(input, 1), none = fuzz_take(input, 1);
    *w = 1 + (int)(size % 8);
    *h = 1 + (int)(size / 8 % 8);
    const GDALDatasetH raster =
        GDALCreate(GDALGetDriverByName("GTiff"), path, *w, *h, (int)bands, types[type % 8], NULL);
    FUZZ_MUST(raster != NULL);
    for (int b = 1; b <= (int)bands; b++) {
        double values[64] = {0};
        const GDALRasterBandH band = GDALGetRasterBand(raster, b);
        for (int i = 0; i < *w * *h; i++)
            values[i] = fuzz_take(input, 1);
        if (none & 8) (void)GDALSetRasterNoDataValue(band, nodata[none % 8]);
        FUZZ_MUST(GDALRasterIO(band, GF_Write, 0, 0, *w, *h, values, *w, *h, GDT_Float64, 0, 0) ==
                  CE_None);
    }
    write_metadata(raster, input);
    GDALClose(raster);
}

static void write_pixels(int w, int h)
{
    const GDALDatasetH raster =
        GDALCreate(GDALGetDriverByName("GTiff"), pixels_path, w, h, 1, GDT_Byte, NULL);
    FUZZ_MUST(raster != NULL);
    uint8_t values[64];
    for (int i = 0; i < w * h; i++)
        values[i] = (uint8_t)(1 + i % 3);
    FUZZ_MUST(GDALRasterIO(GDALGetRasterBand(raster, 1), GF_Write, 0, 0, w, h, values, w, h,
                           GDT_Byte, 0, 0) == CE_None);
    GDALClose(raster);
}

/* Every failure has a message of one line. */
static void ended(qfz_status st, const qfz_error *err)
{
    FUZZ_MUST(st == QFZ_OK || (err->message[0] && !strchr(err->message, '\n')));
}

static void count(qfz_task task, const char *src, const char *edges)
{
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    qfz_job job = qfz_job_default(task);
    job.src = src;
    job.edges = edges;
    job.count_only = true;
    job.engine = QFZ_ENGINE_CPU;
    job.criterion.has_alpha = true;
    job.criterion.alpha = 3;
    job.tile_px = 3;
    job.n_threads = 1;
    job.retries = 0;
    ended(qfz_job_run(&job, &report, &err), &err);
}

static void check(const char *src)
{
    qfz_check_report report = qfz_check_report_default();
    qfz_error err = {0};
    qfz_job job = qfz_job_default(QFZ_LABEL);
    qfz_check c = qfz_check_default();
    job.src = src;
    job.engine = QFZ_ENGINE_CPU;
    job.n_threads = 1;
    job.retries = 0;
    c.raster = path;
    c.job = &job;
    const qfz_status st = qfz_check_run(&c, &report, &err);
    ended(st, &err);
    FUZZ_MUST(st != QFZ_OK || (report.faults > 0) == (report.what[0] != 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, size};
    int w, h;
    write_raster(&input, &w, &h);
    write_pixels(w, h);
    count(QFZ_CUT, path, NULL);
    count(QFZ_LABEL, pixels_path, path);
    check(NULL);
    check(pixels_path);
    VSIUnlink(path);
    VSIUnlink(pixels_path);
    VSIUnlink("/vsimem/fuzz.tif.aux.xml");
    return 0;
}
