/* SPDX-License-Identifier: MIT */
#include "raster/tiff.h"

#include <cpl_compressor.h>
#include <cpl_string.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

struct qfz_tiff {
    qfz_tiff_form form;
    qfz_tiff_file file;
    int64_t end;      /* of all that is written, or is going to be */
    int64_t n_x, n_y; /* blocks of a band */
    int64_t n_blocks;
    uint64_t *offsets, *counts;
};

/* ---------------------------------------------------------------------------------- the packing */

/* Options that say nothing of how a block is packed, or that packing_of() knows. */
static bool is_known(const char *option)
{
    static const char *const known[] = {
        "TILED",      "BLOCKXSIZE",  "BLOCKYSIZE",      "COMPRESS",
        "ZSTD_LEVEL", "ZLEVEL",      "PREDICTOR",       "BIGTIFF",
        "SPARSE_OK",  "NUM_THREADS", "INTERLEAVE",      "PHOTOMETRIC",
        "ALPHA",      "PROFILE",     "GEOTIFF_VERSION", "GEOTIFF_KEYS_FLAVOR"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const size_t n = strlen(known[i]);
        if (EQUALN(option, known[i], n) && option[n] == '=') return true;
    }
    return false;
}

/* The packers of GDAL's that make what TIFF's compressions of these names hold. */
static bool find_packer(char **options, qfz_packing *packing)
{
    static const struct {
        const char *compress, *id, *level, *usual;
    } packers[] = {{"ZSTD", "zstd", "ZSTD_LEVEL", "9"}, {"DEFLATE", "zlib", "ZLEVEL", "6"}};
    const char *const compress = CSLFetchNameValueDef(options, "COMPRESS", "NONE");
    if (EQUAL(compress, "NONE")) return true;
    for (size_t i = 0; i < sizeof packers / sizeof packers[0]; i++) {
        if (!EQUAL(compress, packers[i].compress)) continue;
        const char *const level = CSLFetchNameValueDef(options, packers[i].level, packers[i].usual);
        (void)snprintf(packing->level, sizeof packing->level, "LEVEL=%.8s", level);
        packing->packer = CPLGetCompressor(packers[i].id);
        return packing->packer != NULL;
    }
    return false;
}

bool qfz_packing_of(char **options, qfz_packing *packing)
{
    const char *const predictor = CSLFetchNameValueDef(options, "PREDICTOR", "1");
    *packing = (qfz_packing){0};
    for (char **option = options; option && *option; option++)
        if (!is_known(*option)) return false;
    if (!CPLTestBool(CSLFetchNameValueDef(options, "TILED", "NO")) ||
        !CPLTestBool(CSLFetchNameValueDef(options, "SPARSE_OK", "NO")) ||
        !find_packer(options, packing))
        return false;
    packing->by_differences = packing->packer && EQUAL(predictor, "2");
    return EQUAL(predictor, "1") || EQUAL(predictor, "2");
}

/* From the right, so that what is taken away is still itself. */
#define DIFFERENCES(type)                                                                          \
    for (int64_t y = 0; y < h; y++) {                                                              \
        type *const row = (type *)block + y * w;                                                   \
        for (int64_t x = w - 1; x > 0; x--)                                                        \
            row[x] = (type)(row[x] - row[x - 1]);                                                  \
    }

static void take_differences(const qfz_tiff_form *form, void *block)
{
    const int64_t w = form->block_w, h = form->block_h;
    switch (form->px_bytes) {
    case 1: DIFFERENCES(uint8_t) break;
    case 2: DIFFERENCES(uint16_t) break;
    case 4: DIFFERENCES(uint32_t) break;
    default: DIFFERENCES(uint64_t) break;
    }
}

static size_t block_bytes(const qfz_tiff_form *form)
{
    return (size_t)form->block_w * (size_t)form->block_h * form->px_bytes;
}

/* An empty pixel comes first, and behind every pixel comes one like it. */
static bool is_empty(const qfz_tiff_form *form, const void *block)
{
    const size_t px = form->px_bytes;
    return memcmp(block, form->empty, px) == 0 &&
           memcmp(block, (const char *)block + px, block_bytes(form) - px) == 0;
}

/* *packed, of *bytes, is in room or the block itself. */
static qfz_status pack(const qfz_tiff *tiff, void *block, void *room, void **packed, size_t *bytes,
                       qfz_error *err)
{
    const qfz_packing *const packing = &tiff->form.packing;
    const CPLCompressor *const packer = packing->packer;
    char *const options[] = {(char *)(uintptr_t)packing->level, NULL};
    *packed = block;
    *bytes = block_bytes(&tiff->form);
    if (!packer) return QFZ_OK;
    if (packing->by_differences) take_differences(&tiff->form, block);
    *packed = room;
    *bytes = (size_t)qfz_tiff_room(tiff);
    if (packer->pfnFunc(block, block_bytes(&tiff->form), packed, bytes, (char **)(uintptr_t)options,
                        packer->user_data))
        return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: a block could not be compressed", tiff->form.name);
}

/* ------------------------------------------------------------------------------------- the file */
static qfz_status start(qfz_tiff *tiff, const char *path, qfz_error *err)
{
    const qfz_tiff_form *const form = &tiff->form;
    struct stat found;
    tiff->file.file = open(path, O_RDWR | O_CLOEXEC);
    if (tiff->file.file < 0 || fstat(tiff->file.file, &found) != 0)
        return qfz_fail(err, QFZ_EIO, "%s: %s", form->name, strerror(errno));
    QFZ_TRY(qfz_tiff_find(&tiff->file, err));
    tiff->end = (found.st_size + 1) / 2 * 2;
    tiff->n_x = (form->w - 1) / form->block_w + 1;
    tiff->n_y = (form->h - 1) / form->block_h + 1;
    tiff->n_blocks = tiff->n_x * tiff->n_y * form->n_bands;
    QFZ_TRY(QFZ_NEW_ZERO(&tiff->offsets, tiff->n_blocks, err));
    return QFZ_NEW_ZERO(&tiff->counts, tiff->n_blocks, err);
}

qfz_status qfz_tiff_open(qfz_tiff **tiff, const char *path, const qfz_tiff_form *form,
                         qfz_error *err)
{
    qfz_tiff *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->form = *form;
    made->file = (qfz_tiff_file){.file = -1, .name = form->name, .patience = form->patience};
    const qfz_status st = start(made, path, err);
    if (st == QFZ_OK)
        *tiff = made;
    else
        qfz_tiff_close(made);
    return st;
}

void qfz_tiff_close(qfz_tiff *tiff)
{
    if (!tiff) return;
    if (tiff->file.file >= 0) (void)close(tiff->file.file);
    free(tiff->offsets);
    free(tiff->counts);
    free(tiff);
}

/* What no packer exceeds: an eighth more than the block, and a header. */
int64_t qfz_tiff_room(const qfz_tiff *tiff)
{
    const int64_t bytes = (int64_t)block_bytes(&tiff->form);
    return bytes + bytes / 8 + 4096;
}

/* Blocks begin at even places, one behind the other in the order in which they are packed. */
qfz_status qfz_tiff_write(qfz_tiff *tiff, int band, int64_t x, int64_t y, void *block, void *room,
                          qfz_error *err)
{
    const int64_t i = (band * tiff->n_y + y) * tiff->n_x + x;
    void *packed;
    size_t bytes;
    if (is_empty(&tiff->form, block)) return QFZ_OK;
    QFZ_TRY(pack(tiff, block, room, &packed, &bytes, err));
    const int64_t n = (int64_t)bytes;
    const int64_t at = __atomic_fetch_add(&tiff->end, (n + 1) / 2 * 2, __ATOMIC_RELAXED);
    QFZ_TRY(qfz_tiff_put(&tiff->file, at, packed, n, err));
    tiff->offsets[i] = (uint64_t)at;
    tiff->counts[i] = bytes;
    return QFZ_OK;
}

/* Errors of writing may come as late as the file is closed. */
qfz_status qfz_tiff_finish(qfz_tiff *tiff, qfz_error *err)
{
    QFZ_TRY(
        qfz_tiff_list(&tiff->file, tiff->end, tiff->n_blocks, tiff->offsets, tiff->counts, err));
    const int bad = close(tiff->file.file);
    tiff->file.file = -1;
    return bad ? qfz_fail(err, QFZ_EIO, "%s: %s", tiff->form.name, strerror(errno)) : QFZ_OK;
}
