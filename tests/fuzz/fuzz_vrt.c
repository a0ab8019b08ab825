/* SPDX-License-Identifier: MIT */
/* fuzz_vrt.c - the text of a VRT as a source.  It is opened and read, or refused with a message;
 * nothing is fetched over a network. */
#include "fuzz.h"

#include <cpl_conv.h>
#include <cpl_vsi.h>
#include <gdal.h>
#include <string.h>

#include "raster/raster.h"

enum { MOST_SIDE = 16, MOST_BANDS = 8 };

static const char path[] = "/vsimem/fuzz.vrt";

static void make_part(const char *name, GDALDataType type)
{
    const GDALDatasetH part = GDALCreate(GDALGetDriverByName("GTiff"), name, 8, 8, 2, type, NULL);
    FUZZ_MUST(part != NULL);
    GDALClose(part);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    qfz_error err = {0};
    (void)argc;
    (void)argv;
    FUZZ_MUST(qfz_raster_setup(NULL, 16 << 20, &err) == QFZ_OK);
    CPLPushErrorHandler(CPLQuietErrorHandler);
    make_part("/vsimem/a.tif", GDT_Byte);
    make_part("/vsimem/b.tif", GDT_Int16);
    return 0;
}

static void read_corner(qfz_source *source)
{
    const qfz_source_info *const info = qfz_source_get_info(source);
    static uint8_t pixels[MOST_SIDE * MOST_SIDE * MOST_BANDS * 4], valid[MOST_SIDE * MOST_SIDE];
    qfz_error err = {0};
    FUZZ_MUST(info->w > 0 && info->h > 0 && info->n_bands > 0 && info->block_w > 0);
    if (info->n_bands > MOST_BANDS || info->px_bytes * info->block_w > 1 << 20) return;
    const qfz_box box = {0, 0, info->h < MOST_SIDE ? info->h : MOST_SIDE,
                         info->w < MOST_SIDE ? info->w : MOST_SIDE};
    if (qfz_source_read(source, box, pixels, valid, &err) != QFZ_OK)
        FUZZ_MUST(err.message[0] != 0);
    else
        for (int64_t i = 0; i < qfz_box_h(box) * qfz_box_w(box); i++)
            FUZZ_MUST(valid[i] <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const qfz_source_options options = {.name = path};
    qfz_source *source = NULL;
    qfz_error err = {0};
    uint8_t *const text = malloc(size + 1);
    FUZZ_MUST(text != NULL);
    memcpy(text, data, size);
    VSILFILE *const file = VSIFileFromMemBuffer(path, text, size, FALSE);
    FUZZ_MUST(file != NULL && VSIFCloseL(file) == 0);
    const qfz_status st = qfz_source_open(&source, &options, &err);
    FUZZ_MUST(st == QFZ_OK || (err.message[0] && !strchr(err.message, '\n')));
    if (st == QFZ_OK) read_corner(source);
    qfz_source_close(source);
    VSIUnlink(path);
    free(text);
    return 0;
}
