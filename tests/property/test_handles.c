/* SPDX-License-Identifier: MIT */
/* test_handles.c - threads do not read through one handle: GDAL gives datasets that one thread has
 * opened the same handle of a raw file, whose position both would move. */
#include <cpl_conv.h>
#include <cpl_string.h>
#include <string.h>

#include "files.h"

enum { SIDE = 128, TILE = 8, THREADS = 8 };

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
    int n, shared; /* of the file, and those of them that several datasets have */
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

/* The job's own dataset and those of its first thread are opened by one, which reads by one of them
 * at a time. */
static void each_thread_has_its_own(int64_t number)
{
    handles found = {.raw = scratch("handles.raw")};
    qfz_report report;
    qfz_error err = {0};
    check_case(number, "a raw file in a VRT");
    write_source(scratch("handles.vrt"), found.raw);
    qfz_job job = qfz_job_default(QFZ_LABEL);
    job.src = scratch("handles.vrt");
    job.count_only = true;
    job.engine = QFZ_ENGINE_CPU;
    job.tile_px = TILE;
    job.n_threads = 1;
    files_must(qfz_job_run(&job, &report, &err) == QFZ_OK);
    const uint64_t regions = report.regions;
    job.n_threads = THREADS;
    job.progress = look;
    job.progress_arg = &found;
    if (!CHECK(qfz_job_run(&job, &report, &err) == QFZ_OK, "%s", err.message)) return;
    CHECK(report.regions == regions, "%" PRIu64 " regions, not %" PRIu64, report.regions, regions);
    CHECK(found.n == THREADS && found.shared <= 1, "%d handles, %d of them shared", found.n,
          found.shared);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 10);
    files_begin();
    for (int64_t c = check_.first; c < check_.cases; c++)
        each_thread_has_its_own(c);
    files_end();
    return check_end();
}
