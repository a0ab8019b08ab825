/* SPDX-License-Identifier: MIT */
#include "raster/block_batch.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "raster/error_trap.h"
#include "raster/output_header.h"

typedef struct place {
    int64_t at, n_bytes; /* in the file of the batch; 0: left out */
} place;

struct qfz_block_batch {
    const qfz_block_form *form;
    char name[48]; /* of a file in GDAL's memory */
    GDALDatasetH dataset;
    int n;
    int64_t first; /* in the file of the batch: where the encoded blocks begin */
    place places[];
};

/* Codecs that lose nothing, and whose blocks need nothing else of the file. */
static bool is_plain_codec(const char *codec)
{
    static const char *const codecs[] = {"NONE", "LZW", "PACKBITS", "DEFLATE", "ZSTD", "LZMA"};
    for (size_t i = 0; codec && i < sizeof codecs / sizeof *codecs; i++)
        if (EQUAL(codec, codecs[i])) return true;
    return false;
}

char **qfz_block_options(char **creation_options, int block_w, int block_h)
{
    static const char *const kept[] = {"COMPRESS",   "PREDICTOR",   "ZLEVEL",
                                       "ZSTD_LEVEL", "LZMA_PRESET", "PIXELTYPE"};
    static const char *const foreign[] = {"NBITS", "DISCARD_LSB", "ENDIANNESS"};
    char **options = NULL;
    if (!is_plain_codec(CSLFetchNameValue(creation_options, "COMPRESS"))) return NULL;
    if (!CPLTestBool(CSLFetchNameValueDef(creation_options, "SPARSE_OK", "NO"))) return NULL;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (CSLFetchNameValue(creation_options, foreign[i])) return NULL;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const char *const value = CSLFetchNameValue(creation_options, kept[i]);
        if (value) options = CSLSetNameValue(options, kept[i], value);
    }
    options = CSLSetNameValue(options, "TILED", "YES");
    options = CSLSetNameValue(options, "BLOCKXSIZE", CPLSPrintf("%d", block_w));
    options = CSLSetNameValue(options, "BLOCKYSIZE", CPLSPrintf("%d", block_h));
    options = CSLSetNameValue(options, "NUM_THREADS", "1"); /* whatever the environment says */
    return CSLSetNameValue(options, "SPARSE_OK", "TRUE");
}

static qfz_status open_file(qfz_block_batch *batch, qfz_error *err)
{
    const qfz_block_form *const form = batch->form;
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    batch->dataset = GDALCreate(GDALGetDriverByName("GTiff"), batch->name, form->block_w,
                                form->block_h * batch->n, 1, form->type, form->options);
    qfz_error_trap_end(&trap);
    if (!batch->dataset || trap.failed)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, form->spec->path,
                                   "no room in memory for its blocks");
    if (!form->spec->has_nodata) return QFZ_OK;
    return qfz_output_header_set_nodata(batch->dataset, form->spec, form->spec->path, err);
}

qfz_status qfz_block_batch_open(qfz_block_batch **batch, const qfz_block_form *form, int n,
                                qfz_error *err)
{
    static atomic_ullong count;
    qfz_block_batch *made = NULL;
    QFZ_TRY(qfz_alloc_zero((void **)&made, 1, sizeof *made + (size_t)n * sizeof(place), err));
    made->form = form;
    made->n = n;
    (void)snprintf(made->name, sizeof made->name, "/vsimem/qfz-%llu.tif",
                   (unsigned long long)atomic_fetch_add(&count, 1));
    const qfz_status st = open_file(made, err);
    if (st != QFZ_OK) {
        qfz_block_batch_close(made);
        return st;
    }
    *batch = made;
    return QFZ_OK;
}

/* GDAL says where a block lies as long as the file is open; a block that is left out has no place.
 */
static int64_t find(GDALRasterBandH band, const char *what, int i)
{
    const char *const text =
        GDALGetMetadataItem(band, CPLSPrintf("BLOCK_%s_0_%d", what, i), "TIFF");
    return text ? CPLAtoGIntBig(text) : 0;
}

qfz_status qfz_block_batch_put(qfz_block_batch *batch, int i, void *block, qfz_error *err)
{
    const GDALRasterBandH band = GDALGetRasterBand(batch->dataset, 1);
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    const CPLErr done = GDALWriteBlock(band, 0, i, block);
    place *const p = &batch->places[i];
    *p = (place){find(band, "OFFSET", i), find(band, "SIZE", i)};
    qfz_error_trap_end(&trap);
    if (p->n_bytes > 0 && (batch->first == 0 || p->at < batch->first)) batch->first = p->at;
    if (done == CE_None && !trap.failed) return QFZ_OK;
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, batch->form->spec->path,
                               "a block could not be compressed");
}

/* Where the encoded blocks end in the file of the batch. */
static int64_t end_of(const qfz_block_batch *batch)
{
    int64_t end = batch->first;
    for (int i = 0; i < batch->n; i++) {
        const int64_t at = batch->places[i].at + batch->places[i].n_bytes;
        if (at > end) end = at;
    }
    return end;
}

qfz_status qfz_block_batch_end(qfz_block_batch *batch, const uint8_t **bytes, int64_t *n_bytes,
                               qfz_error *err)
{
    vsi_l_offset length = 0;
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    GDALClose(batch->dataset);
    qfz_error_trap_end(&trap);
    batch->dataset = NULL;
    const uint8_t *const file = VSIGetMemFileBuffer(batch->name, &length, FALSE);
    const int64_t end = end_of(batch);
    if (trap.failed || !file || (int64_t)length < end)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, batch->form->spec->path,
                                   "blocks could not be compressed in memory");
    *bytes = file + batch->first;
    *n_bytes = end - batch->first;
    return QFZ_OK;
}

void qfz_block_batch_place(const qfz_block_batch *batch, int i, int64_t *at, int64_t *n_bytes)
{
    const place *const p = &batch->places[i];
    *n_bytes = p->n_bytes;
    *at = p->n_bytes > 0 ? p->at - batch->first : 0;
}

void qfz_block_batch_close(qfz_block_batch *batch)
{
    if (!batch) return;
    if (batch->dataset) GDALClose(batch->dataset);
    (void)VSIUnlink(batch->name);
    free(batch);
}
