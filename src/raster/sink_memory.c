/* SPDX-License-Identifier: MIT */
#include "raster/sink_memory.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <stdlib.h>
#include <string.h>

#include "raster/blocks.h"
#include "raster/driver.h"
#include "raster/format.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t number_of(char **options, const char *key, int64_t otherwise)
{
    const char *const text = CSLFetchNameValue(options, key);
    const int64_t n = text ? atoll(text) : 0;
    return n > 0 ? n : otherwise;
}

static bool is_set(char **options, const char *key, const char *value)
{
    return EQUAL(CSLFetchNameValueDef(options, key, ""), value);
}

/* Rows of a strip: those that the user names, or as many as libtiff puts into 8 KiB. */
static int64_t strip_rows(char **options, const qfz_sink_spec *spec, int64_t px_bytes)
{
    const int64_t usual_bytes = 8192, usual = usual_bytes / (spec->w * px_bytes);
    const int64_t rows = number_of(options, "BLOCKYSIZE", usual > 0 ? usual : 1);
    return rows < spec->h ? rows : spec->h;
}

/* Of libzstd 1.5 and liblzma 5.4, by level, measured by their own functions. */
static int64_t codec_bytes(char **options, const char *zstd_key, const char *lzma_key)
{
    enum { ZSTD_USUAL = 9, ZSTD_MOST = 22, LZMA_USUAL = 6, LZMA_MOST = 9 }; /* GDAL's */
    static const int16_t zstd_mb[ZSTD_MOST + 1] = {4,  2,  3,  4,  5,  6,  6,  10, 10,  18,  31, 31,
                                                   56, 56, 56, 73, 73, 73, 73, 94, 203, 405, 816};
    static const int16_t lzma_mb[LZMA_MOST + 1] = {3, 9, 17, 33, 50, 98, 98, 195, 387, 706};
    const char *const codec = CSLFetchNameValueDef(options, "COMPRESS", "NONE");
    const int64_t mb = 1000000;
    if (strstr(codec, "ZSTD"))
        return mb * zstd_mb[least(number_of(options, zstd_key, ZSTD_USUAL), ZSTD_MOST)];
    if (EQUAL(codec, "LZMA"))
        return mb * lzma_mb[least(number_of(options, lzma_key, LZMA_USUAL), LZMA_MOST)];
    return 0;
}

static qfz_sink_memory memory_of(const qfz_sink_spec *spec, int64_t block_w, int64_t block_h,
                                 int64_t value_bytes, bool is_mixed)
{
    const qfz_blocks blocks = {.n_x = (spec->w - 1) / block_w + 1,
                               .n_y = (spec->h - 1) / block_h + 1,
                               .n_bands = spec->n_bands,
                               .n_planes = is_mixed ? 1 : spec->n_bands};
    return (qfz_sink_memory){.fixed_bytes = qfz_blocks_table_bytes(&blocks),
                             .block_bytes =
                                 block_w * block_h * value_bytes * (is_mixed ? spec->n_bands : 1),
                             .n_blocks = blocks.n_x * blocks.n_y * blocks.n_planes,
                             .is_mixed = is_mixed,
                             .is_cut = spec->w % block_w != 0 || spec->h % block_h != 0};
}

static qfz_sink_memory memory_of_gtiff(char **options, const qfz_sink_spec *spec,
                                       int64_t value_bytes)
{
    enum { SIDE = 256 }; /* GDAL's */
    const bool is_mixed = spec->n_bands > 1 && !is_set(options, "INTERLEAVE", "BAND");
    const bool is_tiled = CPLTestBool(CSLFetchNameValueDef(options, "TILED", "NO")) != 0;
    const int64_t px_bytes = value_bytes * (is_mixed ? spec->n_bands : 1);
    const int64_t w = is_tiled ? number_of(options, "BLOCKXSIZE", SIDE) : spec->w;
    const int64_t h =
        is_tiled ? number_of(options, "BLOCKYSIZE", SIDE) : strip_rows(options, spec, px_bytes);
    qfz_sink_memory memory = memory_of(spec, w, h, value_bytes, is_mixed);
    memory.is_compressed = !is_set(options, "COMPRESS", "NONE");
    memory.codec_bytes = codec_bytes(options, "ZSTD_LEVEL", "LZMA_PRESET");
    return memory;
}

static qfz_sink_memory memory_of_cog(char **options, const qfz_sink_spec *spec, int64_t value_bytes)
{
    enum { SIDE = 512, COPIED = 3 }; /* GDAL's; blocks on their way from the GTiff */
    const int64_t side = number_of(options, "BLOCKSIZE", SIDE);
    qfz_sink_memory memory = memory_of(spec, side, side, value_bytes, spec->n_bands > 1);
    memory.is_compressed = !is_set(options, "COMPRESS", "NONE");
    memory.codec_bytes = codec_bytes(options, "LEVEL", "LEVEL");
    memory.fixed_bytes += COPIED * memory.block_bytes;
    return memory;
}

static qfz_sink_memory memory_of_format(const qfz_format *format, const qfz_sink_spec *spec)
{
    const int64_t value_bytes = GDALGetDataTypeSizeBytes(format->file_type);
    char **const options = format->copies ? format->work_options : format->options;
    qfz_sink_memory memory = {0}, copy = {0};
    if (format->copies || qfz_driver_is(format->driver, "GTiff"))
        memory = memory_of_gtiff(options, spec, value_bytes);
    if (qfz_driver_is(format->driver, "COG"))
        copy = memory_of_cog(format->options, spec, value_bytes);
    return qfz_sink_memory_bytes(&copy, 1) > qfz_sink_memory_bytes(&memory, 1) ? copy : memory;
}

qfz_sink_memory qfz_sink_memory_of(const qfz_source *source, const qfz_sink_options *options,
                                   const qfz_sink_spec *spec)
{
    qfz_format format;
    qfz_error ignored = {.status = QFZ_OK};
    if (qfz_format_init(&format, source, options, spec, &ignored) != QFZ_OK)
        return (qfz_sink_memory){0};
    const qfz_sink_memory memory = memory_of_format(&format, spec);
    qfz_format_fini(&format);
    return memory;
}

/* A block of each thread that writes; one more where GDAL fills what is over the edge; of several
 * bands, the block and its bands in GDAL's cache; the compressed block.  A thread of GDAL that
 * compresses has a copy, too, and the file in memory that it writes; one finished block waits. */
int64_t qfz_sink_memory_bytes(const qfz_sink_memory *memory, int n_threads)
{
    const int64_t n_busy = least(memory->n_blocks, n_threads);
    const int64_t n_queued = least(memory->n_blocks, (int64_t)n_threads + 1);
    const bool has_queue = memory->is_compressed && n_threads > 1;
    const int64_t n_compressed = has_queue ? n_busy + 2 * n_queued : 1;
    const int64_t copies =
        n_busy + (memory->is_cut ? 1 : 0) + (memory->is_mixed ? 2 : 0) + n_compressed;
    return memory->fixed_bytes + copies * memory->block_bytes +
           (has_queue ? n_busy : 1) * memory->codec_bytes;
}
