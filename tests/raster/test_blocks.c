/* SPDX-License-Identifier: MIT */
/* test_blocks.c - blocks that threads write past GDAL are the bytes that GDAL writes. */
#include "scene.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "raster/tiff_index.h"

enum { W = 300, H = 200, SIDE = 64, N = W * H, BANDS = 2, MOST = N * BANDS * 8 };

static const char src[] = "/vsimem/in/source.tif", by_gdal[] = "/vsimem/gdal.tif";
static char folder[] = "/tmp/qfz_blocks_XXXXXX", dst[64];
static uint8_t px[MOST], got[MOST], theirs[MOST];

/* Values that compress a little; the first block of each band has nodata alone. */
static void make_pixels(size_t px_bytes)
{
    memset(px, 0, sizeof px);
    for (int i = 0; i < BANDS * N; i++) {
        const int y = i % N / W, x = i % W;
        if (y < SIDE && x < SIDE) continue;
        const uint16_t value = (uint16_t)(1 + (i * 7 / 3 + i % 5) % 200);
        memcpy(px + (size_t)i * px_bytes, &value, px_bytes < 2 ? 1 : 2);
    }
}

static qfz_sink_spec spec_of(qfz_out_type type, int n_bands)
{
    return (qfz_sink_spec){.path = dst,
                           .content = QFZ_CONTENT_PAINTED,
                           .w = W,
                           .h = H,
                           .n_bands = n_bands,
                           .type = type,
                           .max_value = 255,
                           .has_nodata = true};
}

/* ---- Boxes by four threads */

typedef struct writer {
    qfz_sink *sink;
    size_t px_bytes;
    int n_bands, first;
    qfz_status st;
    qfz_error err;
} writer;

static qfz_status write_one(writer *w, qfz_box box)
{
    const size_t row = (size_t)qfz_box_w(box) * w->px_bytes;
    uint8_t *const part = malloc((size_t)(w->n_bands * qfz_box_h(box)) * row), *to = part;
    for (int b = 0; b < w->n_bands; b++)
        for (int64_t y = box.y0; y < box.y1; y++, to += row)
            memcpy(to, px + (size_t)(b * N + y * W + box.x0) * w->px_bytes, row);
    const qfz_status st = qfz_sink_write(w->sink, box, part, NULL, &w->err);
    free(part);
    return st;
}

/* Boxes of 2 x 1 blocks, every fourth one. */
static void *write_some(void *arg)
{
    writer *const w = arg;
    const int n_x = (W - 1) / (2 * SIDE) + 1, n = n_x * ((H - 1) / SIDE + 1);
    for (int i = w->first; i < n && w->st == QFZ_OK; i += 4) {
        const int y = i / n_x * SIDE, x = i % n_x * 2 * SIDE;
        w->st = write_one(
            w, (qfz_box){y, x, y + SIDE < H ? y + SIDE : H, x + 2 * SIDE < W ? x + 2 * SIDE : W});
    }
    return NULL;
}

static void write_all(qfz_sink *sink, size_t px_bytes, int n_bands)
{
    pthread_t threads[4];
    writer writers[4];
    for (int i = 0; i < 4; i++) {
        writers[i] = (writer){.sink = sink, .px_bytes = px_bytes, .n_bands = n_bands, .first = i};
        assert_int_equal(pthread_create(&threads[i], NULL, write_some, &writers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        if (writers[i].st != QFZ_OK) fail_msg("%s", writers[i].err.message);
    }
}

/* ---- The same raster by GDAL alone */

static void write_by_gdal(char **options, GDALDataType type, int n_bands)
{
    const GDALDatasetH made = make_with(by_gdal, W, H, n_bands, type, NULL, options);
    for (int b = 1; b <= n_bands; b++)
        (void)GDALSetRasterNoDataValue(GDALGetRasterBand(made, b), 0);
    assert_int_equal(
        GDALDatasetRasterIO(made, GF_Write, 0, 0, W, H, px, W, H, type, n_bands, NULL, 0, 0, 0),
        CE_None);
    GDALClose(made);
}

/* *bytes = the bytes of block (x, y) in the file, 0 if it is left out. */
static size_t block_of(const char *path, GDALRasterBandH band, int x, int y, uint8_t *bytes)
{
    const char *const at =
        GDALGetMetadataItem(band, CPLSPrintf("BLOCK_OFFSET_%d_%d", x, y), "TIFF");
    const vsi_l_offset offset = at ? (vsi_l_offset)CPLAtoGIntBig(at) : 0;
    const char *const size =
        GDALGetMetadataItem(band, CPLSPrintf("BLOCK_SIZE_%d_%d", x, y), "TIFF");
    const size_t n = at && size ? (size_t)CPLAtoGIntBig(size) : 0;
    if (n == 0) return 0;
    VSILFILE *const file = VSIFOpenL(path, "rb");
    assert_non_null(file);
    assert_int_equal(VSIFSeekL(file, offset, SEEK_SET), 0);
    assert_int_equal(VSIFReadL(bytes, 1, n, file), n);
    (void)VSIFCloseL(file);
    return n;
}

/* Blocks inside the raster: what GDAL puts beyond its edge is GDAL's choice. */
static void check_blocks(int n_bands)
{
    const GDALDatasetH ours = GDALOpen(dst, GA_ReadOnly), gdals = GDALOpen(by_gdal, GA_ReadOnly);
    assert_true(ours && gdals);
    for (int b = 1; b <= n_bands; b++)
        for (int y = 0; y < H / SIDE; y++)
            for (int x = 0; x < W / SIDE; x++) {
                const size_t n = block_of(dst, GDALGetRasterBand(ours, b), x, y, got);
                assert_int_equal(n, block_of(by_gdal, GDALGetRasterBand(gdals, b), x, y, theirs));
                assert_int_equal(n == 0, x == 0 && y == 0);
                assert_memory_equal(got, theirs, n);
            }
    GDALClose(ours);
    GDALClose(gdals);
}

static void check_pixels(GDALDataType type, int n_bands, size_t px_bytes)
{
    const GDALDatasetH ours = GDALOpen(dst, GA_ReadOnly);
    memset(got, 0xaa, sizeof got);
    assert_int_equal(
        GDALDatasetRasterIO(ours, GF_Read, 0, 0, W, H, got, W, H, type, n_bands, NULL, 0, 0, 0),
        CE_None);
    assert_memory_equal(got, px, (size_t)(n_bands * N) * px_bytes);
    GDALClose(ours);
}

static char **options_of(const char *codec, const char *big)
{
    char **options = CSLSetNameValue(NULL, "COMPRESS", codec);
    options = CSLSetNameValue(options, "BIGTIFF", big);
    options = CSLSetNameValue(options, "TILED", "YES");
    options = CSLSetNameValue(options, "BLOCKXSIZE", "64");
    options = CSLSetNameValue(options, "BLOCKYSIZE", "64");
    options = CSLSetNameValue(options, "INTERLEAVE", "BAND");
    if (EQUAL(codec, "DEFLATE")) options = CSLSetNameValue(options, "PREDICTOR", "2");
    return CSLSetNameValue(options, "SPARSE_OK", "TRUE");
}

static qfz_source *source_of_bands(GDALDataType type, int n_bands)
{
    const qfz_source_options input = source_of(src);
    GDALClose(make(src, W, H, n_bands, type, NULL));
    return open_it(&input);
}

static void write_and_check(const char *codec, const char *big, qfz_out_type type,
                            GDALDataType gdal, int n_bands)
{
    const size_t px_bytes = (size_t)GDALGetDataTypeSizeBytes(gdal);
    char **const options = options_of(codec, big);
    const qfz_sink_spec spec = spec_of(type, n_bands);
    qfz_sink_options output = {.creation_options = (const char *const *)options, .n_threads = 2};
    qfz_source *const source = source_of_bands(gdal, n_bands);
    qfz_sink *sink = NULL;
    make_pixels(px_bytes);
    OK(qfz_sink_create(&sink, source, &output, &spec, &err));
    write_all(sink, px_bytes, n_bands);
    OK(qfz_sink_commit(sink, &err));
    qfz_sink_close(sink);
    write_by_gdal(options, gdal, n_bands);
    check_pixels(gdal, n_bands, px_bytes);
    check_blocks(n_bands);
    qfz_source_close(source);
    CSLDestroy(options);
    VSIUnlink(dst);
    VSIUnlink(by_gdal);
}

static void blocks_are_those_of_gdal(void **state)
{
    static const char *const codecs[] = {"NONE", "LZW", "PACKBITS", "DEFLATE", "ZSTD", "LZMA"};
    const char *const known =
        GDALGetMetadataItem(GDALGetDriverByName("GTiff"), GDAL_DMD_CREATIONOPTIONLIST, NULL);
    (void)state;
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        const char *const big = i % 2 ? "YES" : "NO";
        if (!strstr(known, CPLSPrintf("<Value>%s</Value>", codecs[i]))) continue;
        write_and_check(codecs[i], big, QFZ_OUT_U8, GDT_Byte, BANDS);
        write_and_check(codecs[i], big, QFZ_OUT_U16, GDT_UInt16, 1);
        write_and_check(codecs[i], big, QFZ_OUT_U32, GDT_UInt32, BANDS);
    }
}

/* ---- Changes of way */

static void other_boxes_and_reads_may_come_between(void **state)
{
    char **const options = options_of("DEFLATE", "NO");
    const qfz_sink_spec spec = spec_of(QFZ_OUT_U16, 1);
    qfz_sink_options output = {.creation_options = (const char *const *)options, .n_threads = 2};
    qfz_source *const source = source_of_bands(GDT_UInt16, 1);
    static const qfz_box boxes[] = {
        {0, 0, 64, 300},      {64, 0, 128, 128},  {64, 128, 100, 300}, /* no whole blocks */
        {100, 128, 128, 300}, {128, 0, 192, 300}, {192, 0, 200, 300}};
    (void)state;
    make_pixels(2);
    for (size_t reads = 0; reads < sizeof boxes / sizeof *boxes; reads++) {
        qfz_sink *sink = NULL;
        OK(qfz_sink_create(&sink, source, &output, &spec, &err));
        for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
            writer w = {.sink = sink, .px_bytes = 2, .n_bands = 1};
            if (write_one(&w, boxes[i]) != QFZ_OK) fail_msg("%s", w.err.message);
            if (i != reads) continue;
            OK(qfz_sink_read(sink, boxes[i], got, NULL, &err));
            const int64_t at = boxes[i].y0 * W + boxes[i].x0;
            assert_memory_equal(got, px + 2 * at, 2 * (size_t)qfz_box_w(boxes[i]));
        }
        OK(qfz_sink_commit(sink, &err));
        qfz_sink_close(sink);
        check_pixels(GDT_UInt16, 1, 2);
        VSIUnlink(dst);
    }
    qfz_source_close(source);
    CSLDestroy(options);
}

/* ---- Files that are too large or of another form */

/* Makes the one file in the folder this long, as if blocks were in it. */
static void lengthen(int64_t bytes)
{
    char **const names = VSIReadDir(folder);
    for (char **name = names; name && *name; name++)
        if (strcmp(*name, ".") != 0 && strcmp(*name, "..") != 0)
            assert_int_equal(truncate(CPLSPrintf("%s/%s", folder, *name), (off_t)bytes), 0);
    CSLDestroy(names);
}

static void a_tiff_of_32_bits_does_not_wrap(void **state)
{
    char **const options = options_of("NONE", "NO");
    const qfz_sink_spec spec = spec_of(QFZ_OUT_U16, 1);
    qfz_sink_options output = {.creation_options = (const char *const *)options, .n_threads = 1};
    qfz_source *const source = source_of_bands(GDT_UInt16, 1);
    qfz_sink *sink = NULL;
    (void)state;
    make_pixels(2);
    OK(qfz_sink_create(&sink, source, &output, &spec, &err));
    lengthen(((int64_t)1 << 32) - 10000);
    FAILS(qfz_sink_write(sink, (qfz_box){64, 0, 128, W}, px + 2 * SIDE * W, NULL, &err), QFZ_EIO,
          "BIGTIFF=YES");
    FAILS(qfz_sink_commit(sink, &err), QFZ_EIO, "BIGTIFF=YES");
    qfz_sink_close(sink);
    assert_int_equal(count_files(folder), 0);
    qfz_source_close(source);
    CSLDestroy(options);
}

static bool has_index(const char *path, int64_t n)
{
    qfz_tiff_index index;
    bool found = false;
    VSILFILE *const file = VSIFOpenL(path, "rb");
    assert_non_null(file);
    OK(qfz_tiff_index_open(&index, file, n, &found, &err));
    (void)VSIFCloseL(file);
    if (found) qfz_tiff_index_close(&index);
    return found;
}

static void only_known_forms_have_an_index(void **state)
{
    static const struct {
        const char *option, *big;
        bool found;
    } forms[] = {{"TILED=YES", "NO", true},
                 {"TILED=YES", "YES", true},
                 {"TILED=NO", "NO", false},
                 {"TILED=NO", "YES", false},
                 {"ENDIANNESS=INVERTED", "NO", false},
                 {"ENDIANNESS=INVERTED", "YES", false}};
    const int sides[] = {SIDE, 3 * SIDE}; /* one block: its place is in the directory itself */
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int k = 0; k < 2; k++) {
            char **options = options_of("LZW", forms[i].big);
            options = CSLAddString(options, forms[i].option);
            if (strncmp(forms[i].option, "TILED", 5) == 0)
                options = CSLSetNameValue(options, "TILED", forms[i].option + 6);
            const int n = k == 0 ? 1 : 9;
            GDALClose(make_with(by_gdal, sides[k], sides[k], 1, GDT_Byte, NULL, options));
            assert_int_equal(has_index(by_gdal, n), forms[i].found);
            assert_false(has_index(by_gdal, n + 1));
            CSLDestroy(options);
        }
    VSIUnlink(by_gdal);
}

static void a_torn_file_has_no_index(void **state)
{
    char **const options = options_of("LZW", "YES");
    vsi_l_offset n = 0;
    (void)state;
    GDALClose(make_with(by_gdal, 3 * SIDE, 3 * SIDE, 1, GDT_Byte, NULL, options));
    (void)VSIGetMemFileBuffer(by_gdal, &n, FALSE);
    for (vsi_l_offset cut = 0; cut < 200 && cut < n; cut++) {
        VSILFILE *const file = VSIFOpenL(by_gdal, "r+b");
        assert_int_equal(VSIFTruncateL(file, cut), 0);
        (void)VSIFCloseL(file);
        assert_false(has_index(by_gdal, 9));
        GDALClose(make_with(by_gdal, 3 * SIDE, 3 * SIDE, 1, GDT_Byte, NULL, options));
    }
    VSIUnlink(by_gdal);
    CSLDestroy(options);
}

static int make_folder(void **state)
{
    if (set_up(state) != 0 || !mkdtemp(folder)) return -1;
    (void)snprintf(dst, sizeof dst, "%s/dst.tif", folder);
    return 0;
}

static int delete_folder(void **state)
{
    (void)state;
    return VSIRmdirRecursive(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_those_of_gdal),
        cmocka_unit_test(other_boxes_and_reads_may_come_between),
        cmocka_unit_test(a_tiff_of_32_bits_does_not_wrap),
        cmocka_unit_test(only_known_forms_have_an_index),
        cmocka_unit_test(a_torn_file_has_no_index),
    };
    return status_of(cmocka_run_group_tests(tests, make_folder, delete_folder));
}
