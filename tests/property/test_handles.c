/* SPDX-License-Identifier: MIT */
/* test_handles.c - threads never read through the same handle: datasets that one thread opened
 * share GDAL's handle of a raw file, and so its position. */
#include <cpl_conv.h>
#include <cpl_string.h>
#include <string.h>

#include "files.h"

enum { SIDE = 128, TILE = 8, THREADS = 16, CELLS = 4 };

static void write_source(const char *vrt, const char *raw)
{
    static uint8_t pixels[SIDE * SIDE];
    FILE *f = fopen(raw, "wb");
    files_must(f != NULL);
    for (int i = 0; i < SIDE * SIDE; i++)
        pixels[i] = (uint8_t)check_pick(3);
    files_must(fwrite(pixels, 1, sizeof pixels, f) == sizeof pixels);
    fclose(f);
    f = fopen(vrt, "w");
    files_must(f != NULL);
    fprintf(f,
            "<VRTDataset rasterXSize=\"%d\" rasterYSize=\"%d\"><VRTRasterBand dataType=\"Byte\" "
            "band=\"1\" subClass=\"VRTRawRasterBand\"><SourceFilename>%s</SourceFilename>"
            "<LineOffset>%d</LineOffset></VRTRasterBand></VRTDataset>",
            SIDE, SIDE, raw, SIDE);
    fclose(f);
}

typedef struct handles {
    const char *raw;
    int n, shared; /* handles of the file; and handles that several datasets share */
} handles;

static int look(const qfz_progress *progress, void *arg)
{
    handles *const h = arg;
    int n = 0;
    if (progress->tiles_done == 0) return 0;
    const CPLSharedFileInfo *const list = CPLGetSharedList(&n);
    h->n = h->shared = 0;
    for (int i = 0; i < n; i++) {
        if (strcmp(list[i].pszFilename, h->raw) != 0) continue;
        h->n++;
        h->shared += list[i].nRefCount > 1;
    }
    return 0;
}

/* A VRT that contains another VRT CELLS x CELLS times. */
static void write_mosaic(const char *mosaic, const char *vrt)
{
    FILE *const f = fopen(mosaic, "w");
    files_must(f != NULL);
    fprintf(f,
            "<VRTDataset rasterXSize=\"%d\" rasterYSize=\"%d\">"
            "<VRTRasterBand dataType=\"Byte\" band=\"1\">",
            CELLS * SIDE, CELLS * SIDE);
    for (int i = 0; i < CELLS * CELLS; i++)
        fprintf(f,
                "<SimpleSource><SourceFilename>%s</SourceFilename><SourceProperties "
                "RasterXSize=\"%d\" RasterYSize=\"%d\" DataType=\"Byte\" "
                "BlockXSize=\"%d\" BlockYSize=\"1\"/>"
                "<SrcRect xOff=\"0\" yOff=\"0\" xSize=\"%d\" ySize=\"%d\"/>"
                "<DstRect xOff=\"%d\" yOff=\"%d\" xSize=\"%d\" ySize=\"%d\"/></SimpleSource>",
                vrt, SIDE, SIDE, SIDE, SIDE, SIDE, i % CELLS * SIDE, i / CELLS * SIDE, SIDE, SIDE);
    fprintf(f, "</VRTRasterBand></VRTDataset>");
    fclose(f);
}

/* Many threads find the same regions as one thread. */
static void equals_one_thread(qfz_job job)
{
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    const int n_threads = job.n_threads;
    job.n_threads = 1;
    if (!CHECK(qfz_job_run(&job, &report, &err) == QFZ_OK, "%s", err.message)) return;
    const uint64_t regions = report.regions;
    job.n_threads = n_threads;
    if (!CHECK(qfz_job_run(&job, &report, &err) == QFZ_OK, "%s", err.message)) return;
    CHECK(report.regions == regions, "%" PRIu64 " regions, not %" PRIu64, report.regions, regions);
}

/* One thread opens the job's own dataset and those of its first thread context, and reads through
 * one of them at a time. */
static void one_case(int64_t number)
{
    handles found = {.raw = scratch("handles.raw")};
    check_case(number, "a raw file in a VRT");
    write_source(scratch("handles.vrt"), found.raw);
    qfz_job job = qfz_job_default(QFZ_LABEL);
    job.src = scratch("handles.vrt");
    job.count_only = true;
    job.engine = QFZ_ENGINE_CPU;
    job.tile_px = TILE;
    job.n_threads = THREADS;
    job.progress = look;
    job.progress_arg = &found;
    equals_one_thread(job);
    CHECK(found.n == THREADS && found.shared <= 1, "%d handles, %d of them shared", found.n,
          found.shared);
    check_describe("in a VRT in a VRT");
    write_mosaic(scratch("mosaic.vrt"), scratch("handles.vrt"));
    job.src = scratch("mosaic.vrt");
    job.tile_px = 2 * TILE;
    job.progress = NULL;
    equals_one_thread(job);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 20);
    files_begin();
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    files_end();
    return check_end();
}
