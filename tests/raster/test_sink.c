/* SPDX-License-Identifier: MIT */
/* test_sink.c - outputs hold the pixels that were written and appear when they are complete. */
#include "scene.h"

#include <pthread.h>
#include <unistd.h>

#include "raster/creation_options.h"

static const char src[] = "/vsimem/in/source.tif", dst[] = "/vsimem/out/dst.tif";

static qfz_source *plain_source(int w, int h)
{
    const qfz_source_options input = source_of(src);
    GDALClose(make(src, w, h, 1, GDT_Byte, NULL));
    return open_it(&input);
}

static qfz_sink_spec labels(const char *path, int64_t w, int64_t h, double n)
{
    const qfz_sink_spec spec = {.path = path,
                                .w = w,
                                .h = h,
                                .n_bands = 1,
                                .type = QFZ_OUT_U32,
                                .max_value = n,
                                .has_nodata = true};
    return spec;
}

static void write_commit(qfz_source *source, const qfz_sink_options *output,
                         const qfz_sink_spec *spec, const void *pixels, const uint8_t *valid)
{
    qfz_sink *sink = NULL;
    const qfz_box all = {0, 0, spec->h, spec->w};
    OK(qfz_sink_check(source, output, spec, &err));
    OK(qfz_sink_create(&sink, source, output, spec, &err));
    OK(qfz_sink_write(sink, all, pixels, valid, &err));
    assert_false(exists(spec->path) && !output->output.overwrite);
    OK(qfz_sink_commit(sink, &err));
    qfz_sink_close(sink);
}

static void labels_appear_when_complete(void **state)
{
    (void)state;
    static const uint32_t px[6] = {1, 1, 2, 0, 2, UINT32_MAX};
    uint32_t got[6];
    qfz_source *const source = plain_source(3, 2);
    qfz_sink_options output = {.n_threads = 1};
    const qfz_sink_spec spec = labels(dst, 3, 2, UINT32_MAX);
    write_commit(source, &output, &spec, px, NULL);
    assert_int_equal(count_files("/vsimem/out"), 1);
    const GDALDatasetH made = GDALOpen(dst, GA_ReadOnly);
    const GDALRasterBandH band = GDALGetRasterBand(made, 1);
    assert_int_equal(GDALGetRasterDataType(band), GDT_UInt32);
    assert_true(GDALGetRasterNoDataValue(band, NULL) == 0);
    assert_string_equal(GDALGetMetadataItem(made, "QFZ_CONTENT", NULL), "labels");
    assert_int_equal(GDALRasterIO(band, GF_Read, 0, 0, 3, 2, got, 3, 2, GDT_UInt32, 0, 0), CE_None);
    assert_memory_equal(got, px, sizeof px);
    GDALClose(made);
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "already exists");
    output.output.overwrite = true;
    write_commit(source, &output, &spec, px, NULL);
    qfz_source_close(source);
    VSIUnlink(dst);
}

static void nothing_stays_of_what_is_not_committed(void **state)
{
    (void)state;
    qfz_sink *sink = NULL;
    qfz_source *const source = plain_source(600, 600);
    qfz_sink_options output = {.n_threads = 1};
    qfz_sink_spec spec = labels(dst, 600, 600, 9);
    spec.has_mask = true;
    OK(qfz_sink_create(&sink, source, &output, &spec, &err));
    assert_true(count_files("/vsimem/out") > 0);
    qfz_sink_close(sink);
    assert_int_equal(count_files("/vsimem/out"), 0);
    qfz_source_close(source);
}

/* The Zarr driver creates a folder before it refuses a mask. */
static void no_folder_stays_of_what_is_not_committed(void **state)
{
    (void)state;
    char folder[] = "/tmp/qfz_sink_XXXXXX", path[64];
    if (!GDALGetDriverByName("Zarr")) skip();
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/dst.zarr", folder);
    qfz_source *const source = plain_source(600, 600);
    qfz_sink_options output = {.n_threads = 1};
    qfz_sink_spec spec = labels(path, 600, 600, 9);
    qfz_sink *sink = NULL;
    output.format = "Zarr";
    spec.has_mask = true;
    FAILS(qfz_sink_create(&sink, source, &output, &spec, &err), QFZ_EIO, path);
    assert_int_equal(rmdir(folder), 0); /* it is empty */
    qfz_source_close(source);
}

static void reads_back_before_and_after_commit(void **state)
{
    (void)state;
    enum { W = 700, H = 600 };
    static uint32_t px[H * W], got[H * W];
    static uint8_t valid[H * W], got_valid[H * W];
    qfz_sink *sink = NULL;
    qfz_source *const source = plain_source(W, H);
    qfz_sink_options output = {.n_threads = 1};
    qfz_sink_spec spec = labels(dst, W, H, 1e6);
    spec.has_mask = true;
    for (uint32_t i = 0; i < H * W; i++) {
        px[i] = i * 7;
        valid[i] = i % 3 != 0;
    }
    OK(qfz_sink_create(&sink, source, &output, &spec, &err));
    assert_false(qfz_sink_is_direct(sink, W, H)); /* masks go through the cache */
    const qfz_box top = {0, 0, 100, W}, rest = {100, 0, H, W}, all = {0, 0, H, W};
    OK(qfz_sink_write(sink, rest, px + 100 * W, valid + 100 * W, &err));
    OK(qfz_sink_read(sink, rest, got + 100 * W, got_valid + 100 * W, &err));
    assert_memory_equal(got + 100 * W, px + 100 * W, sizeof px - 400 * W);
    OK(qfz_sink_write(sink, top, px, valid, &err));
    OK(qfz_sink_commit(sink, &err));
    memset(got, 0, sizeof got);
    memset(got_valid, 0, sizeof got_valid);
    OK(qfz_sink_read(sink, all, got, got_valid, &err));
    assert_memory_equal(got, px, sizeof px);
    assert_memory_equal(got_valid, valid, sizeof valid);
    FAILS(qfz_sink_write(sink, all, px, valid, &err), QFZ_EIO, "complete");
    qfz_sink_close(sink);
    assert_int_equal(count_files("/vsimem/out"), 1);
    VSIUnlink(dst);
    qfz_source_close(source);
}

/* Blocks inside one box, also at the edges of the raster, and blocks that several boxes share. */
/* Labels of one column were written in blocks of 512 x 512 pixels, of which 511 of 512 were no
 * pixels of the raster. */
static void blocks_are_no_longer_than_the_raster(void **state)
{
    (void)state;
    enum { MOST_PX = 700 * 600 };
    static const struct {
        int w, h, tile_px, block_w, block_h;
    } cases[] = {{1, 700, 0, 16, 512},     {700, 1, 0, 512, 16},    {20, 49, 0, 32, 64},
                 {16, 64, 0, 16, 64},      {700, 600, 0, 512, 512}, {700, 600, 256, 256, 256},
                 {100, 600, 128, 112, 128}};
    static uint32_t px[MOST_PX], got[MOST_PX];
    const qfz_sink_options plain = {.n_threads = 1};
    for (uint32_t i = 0; i < MOST_PX; i++)
        px[i] = 1 + i;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int w = cases[i].w, h = cases[i].h;
        int block_w = 0, block_h = 0;
        qfz_sink_options output = plain;
        output.tile_px = cases[i].tile_px;
        qfz_source *const source = plain_source(w, h);
        const qfz_sink_spec spec = labels(dst, w, h, MOST_PX);
        write_commit(source, &output, &spec, px, NULL);
        const GDALDatasetH made = GDALOpen(dst, GA_ReadOnly);
        const GDALRasterBandH band = GDALGetRasterBand(made, 1);
        GDALGetBlockSize(band, &block_w, &block_h);
        assert_int_equal(block_w, cases[i].block_w);
        assert_int_equal(block_h, cases[i].block_h);
        assert_int_equal(GDALRasterIO(band, GF_Read, 0, 0, w, h, got, w, h, GDT_UInt32, 0, 0),
                         CE_None);
        assert_memory_equal(got, px, (size_t)(w * h) * sizeof *px);
        GDALClose(made);
        qfz_source_close(source);
        VSIUnlink(dst);
    }
}

static void writes_boxes_of_whole_blocks_and_others(void **state)
{
    (void)state;
    enum { W = 50, H = 44, N = W * H };
    static const int steps[] = {16, 32, 20};
    static const char *const orders[] = {"INTERLEAVE=BAND", "INTERLEAVE=PIXEL"};
    static uint16_t px[2 * N], part[2 * N], got[2 * N];
    const qfz_source_options input = source_of(src);
    GDALClose(make(src, W, H, 2, GDT_UInt16, NULL));
    qfz_source *const source = open_it(&input);
    for (int i = 0; i < 2 * N; i++)
        px[i] = (uint16_t)(i * 31 + 1);
    for (int i = 0; i < 6; i++) {
        const char *const options[] = {"TILED=YES",   "BLOCKXSIZE=16",    "BLOCKYSIZE=16",
                                       orders[i % 2], "COMPRESS=DEFLATE", "NUM_THREADS=2",
                                       NULL};
        const int step = steps[i / 2];
        qfz_sink *sink = NULL;
        qfz_sink_options output = {.n_threads = 1};
        output.creation_options = options;
        const qfz_sink_spec spec = {.path = dst,
                                    .w = W,
                                    .h = H,
                                    .n_bands = 2,
                                    .type = QFZ_OUT_U16,
                                    .max_value = UINT16_MAX};
        OK(qfz_sink_create(&sink, source, &output, &spec, &err));
        const bool alone = i % 2 == 0; /* a block has one band */
        assert_int_equal(qfz_sink_is_direct(sink, step, step), alone && step % 16 == 0);
        assert_int_equal(qfz_sink_is_direct(sink, W, step), alone && step % 16 == 0);
        assert_int_equal(qfz_sink_is_direct(sink, step, H), alone && step % 16 == 0);
        assert_int_equal(qfz_sink_is_direct(sink, W, H), alone);
        for (int y = 0; y < H; y += step)
            for (int x = 0; x < W; x += step) {
                const qfz_box box = {y, x, y + step < H ? y + step : H,
                                     x + step < W ? x + step : W};
                uint16_t *to = part;
                for (int b = 0; b < 2; b++)
                    for (int64_t row = box.y0; row < box.y1; row++, to += qfz_box_w(box))
                        memcpy(to, px + b * N + row * W + x, (size_t)qfz_box_w(box) * 2);
                OK(qfz_sink_write(sink, box, part, NULL, &err));
            }
        OK(qfz_sink_commit(sink, &err));
        memset(got, 0, sizeof got);
        OK(qfz_sink_read(sink, (qfz_box){0, 0, H, W}, got, NULL, &err));
        assert_memory_equal(got, px, sizeof px);
        const qfz_box again = {0, 0, 16, 16};
        FAILS(qfz_sink_write(sink, again, px, NULL, &err), QFZ_EIO, "complete");
        qfz_sink_close(sink);
        VSIUnlink(dst);
    }
    qfz_source_close(source);
}

static void every_type_goes_out_and_comes_back(void **state)
{
    (void)state;
    qfz_source *const source = plain_source(2, 1);
    qfz_sink_options output = {.n_threads = 1};
    output.output.overwrite = true;
    for (int type = QFZ_OUT_U8; type <= QFZ_OUT_F64; type++) {
        static const uint8_t px[16] = {0x81, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        uint8_t got[16] = {0};
        qfz_sink *sink = NULL;
        const qfz_box all = {0, 0, 1, 2};
        qfz_sink_spec spec = labels(dst, 2, 1, 0);
        spec.type = (qfz_out_type)type;
        spec.content = QFZ_CONTENT_PAINTED;
        OK(qfz_sink_create(&sink, source, &output, &spec, &err));
        OK(qfz_sink_write(sink, all, px, NULL, &err));
        OK(qfz_sink_commit(sink, &err));
        OK(qfz_sink_read(sink, all, got, NULL, &err));
        assert_memory_equal(got, px, 2 * qfz_out_type_bytes(spec.type));
        qfz_sink_close(sink);
    }
    VSIUnlink(dst);
    qfz_source_close(source);
}

static void a_type_that_is_too_small_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        double n;
        bool fits;
    } cases[] = {
        {"Byte", 255, true},          {"Byte", 256, false},          {"UInt16", 65536, false},
        {"Float32", 16777216, true},  {"Float32", 16777217, false},  {"Int32", 2147483647, true},
        {"Int32", 2147483648, false}, {"Float64", 4294967295, true}, {"uint32", 4294967295, true}};
    qfz_source *const source = plain_source(3, 2);
    qfz_sink_options output = {.n_threads = 1};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        qfz_sink *sink = NULL;
        const qfz_sink_spec spec = labels(dst, 3, 2, cases[i].n);
        output.type = cases[i].type;
        if (cases[i].fits) {
            OK(qfz_sink_check(source, &output, &spec, &err));
        } else {
            char number[32];
            (void)snprintf(number, sizeof number, "%.0f", cases[i].n);
            FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, number);
            FAILS(qfz_sink_create(&sink, source, &output, &spec, &err), QFZ_EARG, cases[i].type);
        }
    }
    const qfz_sink_spec spec = labels(dst, 3, 2, 1);
    output.type = "CFloat32";
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "CFloat32");
    assert_int_equal(count_files("/vsimem/out"), 0);
    qfz_source_close(source);
}

static void formats_follow_from_names(void **state)
{
    (void)state;
    qfz_source *const source = plain_source(3, 2);
    qfz_sink_options output = {.n_threads = 1};
    qfz_sink_spec spec = labels("/vsimem/out/x.qqq", 3, 2, 9);
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, ".qqq");
    output.format = "NoSuch";
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "NoSuch");
    output.format = NULL;
    spec.path = "/vsimem/out/x.png";
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "PNG cannot hold UInt32");
    output.type = "UInt16";
    OK(qfz_sink_check(source, &output, &spec, &err));
    const char *const options[] = {"COMPRESS=NONSENSE", NULL};
    spec.path = dst;
    output.type = NULL;
    output.creation_options = options;
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "NONSENSE");
    const char *const key[] = {"NO_SUCH_KEY=1", NULL};
    output.creation_options = key;
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "NO_SUCH_KEY");
    qfz_source_close(source);
}

static void other_formats_are_written(void **state)
{
    (void)state;
    static const struct {
        const char *path, *format, *type;
    } cases[] = {
        {"/vsimem/out/a.png", NULL, "UInt16"}, {"/vsimem/out/a.tif", "COG", NULL},
        {"/vsimem/out/a.img", NULL, NULL},     {"/vsimem/out/a.img", "HFA", NULL}, /* two files */
        {"/vsimem/out/a", NULL, NULL},         {"/vsimem/out/a.bin", "ENVI", NULL}};
    const char *const spill[] = {"USE_SPILL=YES", NULL};
    static uint32_t px[600 * 600], got[600 * 600];
    qfz_source *const source = plain_source(600, 600);
    for (uint32_t i = 0; i < 600 * 600; i++)
        px[i] = i % 60000;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        qfz_sink_options output = {.n_threads = 1};
        output.format = cases[i].format;
        output.type = cases[i].type;
        if (output.format && strcmp(output.format, "HFA") == 0) output.creation_options = spill;
        const qfz_sink_spec spec = labels(cases[i].path, 600, 600, 60000);
        write_commit(source, &output, &spec, px, NULL);
        char **const names = VSIReadDir("/vsimem/out");
        for (char **name = names; name && *name; name++)
            assert_true(strncmp(*name, "a", 1) == 0);
        CSLDestroy(names);
        const GDALDatasetH made = GDALOpen(cases[i].path, GA_ReadOnly);
        assert_int_equal(GDALRasterIO(GDALGetRasterBand(made, 1), GF_Read, 0, 0, 600, 600, got, 600,
                                      600, GDT_UInt32, 0, 0),
                         CE_None);
        GDALClose(made);
        assert_memory_equal(got, px, sizeof px);
        VSIRmdirRecursive("/vsimem/out");
    }
    qfz_source_close(source);
}

/* XPM numbers the colours of values, so values change; no file stays behind. */
static void formats_that_do_not_keep_values_are_refused(void **state)
{
    (void)state;
    static const uint32_t px[6] = {1, 2, 3, 1, 2, 3};
    const qfz_box all = {0, 0, 2, 3};
    if (!GDALGetDriverByName("XPM") || !GDALGetDriverByName("PDS4")) skip();
    qfz_source *const source = plain_source(3, 2);
    qfz_sink_spec spec = labels("/vsimem/out/a.xpm", 3, 2, 3);
    qfz_sink_options output = {.n_threads = 1};
    qfz_sink *sink = NULL;
    output.format = "PDS4";
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "renamed");
    output.type = "UInt16";
    output.format = "JPEG";
    spec.content = QFZ_CONTENT_PAINTED;
    spec.type = QFZ_OUT_U16;
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "exact");
    output.type = "Byte";
    output.format = "XPM";
    spec = labels(spec.path, 3, 2, 3);
    OK(qfz_sink_create(&sink, source, &output, &spec, &err));
    OK(qfz_sink_write(sink, all, px, NULL, &err));
    FAILS(qfz_sink_commit(sink, &err), QFZ_EIO, "keep the values");
    qfz_sink_close(sink);
    assert_int_equal(count_files("/vsimem/out"), 0);
    qfz_source_close(source);
}

static void user_options_come_before_ours(void **state)
{
    (void)state;
    static const uint32_t px[6] = {1, 1, 2, 2, 2, 3};
    const char *const options[] = {"compress=LZW", "TILED=NO", NULL};
    qfz_source *const source = plain_source(3, 2);
    qfz_sink_options output = {.n_threads = 1};
    output.creation_options = options;
    const qfz_sink_spec spec = labels(dst, 3, 2, 9);
    write_commit(source, &output, &spec, px, NULL);
    const GDALDatasetH made = GDALOpen(dst, GA_ReadOnly);
    assert_string_equal(GDALGetMetadataItem(made, "COMPRESSION", "IMAGE_STRUCTURE"), "LZW");
    GDALClose(made);
    VSIUnlink(dst);
    qfz_source_close(source);
}

/* From a bug: 77 labels in 4 bits became 15 at most, without a message. */
static void options_that_would_change_values_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *option, *type, *why;
    } cases[] = {{"NBITS=6", "Byte", "too few for values up to 77"},
                 {"NBITS=7", "Byte", NULL},
                 {"NBITS=16", "Float32", NULL},
                 {"NBITS=6", "UInt32", NULL}, /* GDAL takes 17 bits */
                 {"DISCARD_LSB=1", "Byte", "exact"},
                 {"DISCARD_LSB=0", "Byte", NULL},
                 {"COMPRESS=JPEG", "Byte", "use COMPRESS=ZSTD"}};
    static const uint32_t px[6] = {1, 2, 3, 64, 76, 77};
    qfz_source *const source = plain_source(3, 2);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const options[] = {cases[i].option, NULL};
        qfz_sink_options output = {.n_threads = 1};
        output.type = cases[i].type;
        output.creation_options = options;
        const qfz_sink_spec spec = labels(dst, 3, 2, 77);
        if (cases[i].why) {
            FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, cases[i].why);
            continue;
        }
        uint32_t got[6];
        write_commit(source, &output, &spec, px, NULL);
        const GDALDatasetH made = GDALOpen(dst, GA_ReadOnly);
        assert_int_equal(GDALRasterIO(GDALGetRasterBand(made, 1), GF_Read, 0, 0, 3, 2, got, 3, 2,
                                      GDT_UInt32, 0, 0),
                         CE_None);
        GDALClose(made);
        VSIUnlink(dst);
        assert_memory_equal(got, px, sizeof px);
    }
    qfz_source_close(source);
}

/* From a bug: scene.dat and scene.img have the same header file, and the source's was replaced. */
static void headers_of_other_rasters_are_not_replaced(void **state)
{
    (void)state;
    static const char scene[] = "/vsimem/out/scene.dat";
    const GDALDriverH envi = GDALGetDriverByName("ENVI");
    if (!envi) skip();
    GDALClose(GDALCreate(envi, scene, 3, 2, 1, GDT_Byte, NULL));
    const qfz_source_options input = source_of(scene);
    qfz_sink_options output = {.n_threads = 1};
    qfz_source *const source = open_it(&input);
    const qfz_sink_spec spec = labels("/vsimem/out/scene.img", 3, 2, 9);
    qfz_sink *sink = NULL;
    output.format = "ENVI";
    output.output.overwrite = true;
    FAILS(qfz_sink_create(&sink, source, &output, &spec, &err), QFZ_EARG,
          "name the output otherwise");
    assert_int_equal(count_files("/vsimem/out"), 2);
    qfz_source_close(source);
    GDALDeleteDataset(envi, scene);
}

static void painted_values_must_fit_their_bits(void **state)
{
    (void)state;
    static const uint8_t px[6] = {1, 2, 3, 15, 15, 15}, large[6] = {1, 2, 3, 15, 16, 15};
    const char *const options[] = {"NBITS=4", NULL};
    const qfz_box all = {0, 0, 2, 3};
    qfz_source *const source = plain_source(3, 2);
    qfz_sink_options output = {.n_threads = 1};
    qfz_sink *sink = NULL;
    qfz_sink_spec spec = labels(dst, 3, 2, 255);
    output.creation_options = options;
    spec.type = QFZ_OUT_U8;
    spec.content = QFZ_CONTENT_PAINTED;
    write_commit(source, &output, &spec, px, NULL);
    VSIUnlink(dst);
    OK(qfz_sink_create(&sink, source, &output, &spec, &err));
    FAILS(qfz_sink_write(sink, all, large, NULL, &err), QFZ_EARG, "too few for a value of 16");
    qfz_sink_close(sink);
    assert_int_equal(count_files("/vsimem/out"), 0);
    qfz_source_close(source);
}

static void inputs_are_never_replaced(void **state)
{
    (void)state;
    qfz_source *const source = plain_source(3, 2);
    qfz_sink_options output = {.n_threads = 1};
    output.output.overwrite = true;
    const qfz_sink_spec spec = labels(src, 3, 2, 9);
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "replace an input");
    qfz_source_close(source);
}

static void two_outputs_have_two_names(void **state)
{
    (void)state;
    static const char *const same[] = {"dst.tif", "./dst.tif", ".//dst.tif"};
    qfz_source *const source = plain_source(3, 2);
    const qfz_sink_spec spec = labels("dst.tif", 3, 2, 9);
    qfz_sink_options output = {.output.names = {spec.path}, .n_threads = 1};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        output.output.names[1] = same[i];
        FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "two outputs have this name");
    }
    qfz_source_close(source);
}

static void make_vrt_of(const char *part, const char *vrt)
{
    VSILFILE *const file = VSIFOpenL(vrt, "wb");
    assert_true(VSIFPrintfL(file,
                            "<VRTDataset rasterXSize=\"300\" rasterYSize=\"200\">"
                            "<VRTRasterBand dataType=\"Byte\" band=\"1\"><SimpleSource>"
                            "<SourceFilename>%s</SourceFilename><SourceBand>1</SourceBand>"
                            "</SimpleSource></VRTRasterBand></VRTDataset>",
                            part) > 0);
    assert_int_equal(VSIFCloseL(file), 0);
}

/* From a bug: GDAL does not list files of a VRT in a VRT, so they could be replaced by outputs, and
 * a resumed job did not notice their changes. */
static void parts_of_nested_mosaics_are_inputs(void **state)
{
    (void)state;
    static const char part[] = "/vsimem/in/part.tif";
    static const char *const names[] = {part, "/vsimem/in/inner.vrt", "/vsimem/in/outer.vrt"};
    char *text[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) { /* other blocks change the size of the part's file */
        for (int k = 0; k < 2; k++)
            make_vrt_of(names[k], names[k + 1]);
        char *tiled[] = {"TILED=YES", NULL};
        GDALClose(make_with(part, 300, 200, 1, GDT_Byte, NULL, i ? tiled : NULL));
        const qfz_source_options input = source_of(names[2]);
        qfz_sink_options output = {.n_threads = 1};
        qfz_source *const source = open_it(&input);
        const qfz_sink_spec spec = labels(part, 300, 200, 9);
        size_t bytes;
        FILE *const out = open_memstream(&text[i], &bytes);
        output.output.overwrite = true;
        FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "replace an input");
        qfz_source_describe(source, out);
        assert_int_equal(fclose(out), 0);
        VSIUnlink(names[1]); /* the list of files is kept */
        FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "replace an input");
        qfz_source_close(source);
    }
    assert_string_not_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
    for (int k = 0; k < 3; k++)
        VSIUnlink(names[k]);
}

static void bands_keep_names_and_colours_when_painted(void **state)
{
    (void)state;
    static const uint8_t px[4] = {1, 2, 3, 4};
    GDALDatasetH made = make(src, 1, 1, 4, GDT_Byte, px);
    static const GDALColorInterp colours[] = {GCI_RedBand, GCI_GreenBand, GCI_BlueBand,
                                              GCI_Undefined};
    for (int b = 0; b < 4; b++)
        GDALSetRasterColorInterpretation(GDALGetRasterBand(made, b + 1), colours[b]);
    GDALSetDescription(GDALGetRasterBand(made, 4), "near infrared");
    GDALClose(made);
    qfz_sink_options output = {.n_threads = 1};
    const qfz_source_options input = source_of(src);
    qfz_source *const source = open_it(&input);
    assert_int_equal(qfz_source_get_info(source)->n_bands, 4);
    const qfz_sink_spec spec = {.path = dst,
                                .content = QFZ_CONTENT_PAINTED,
                                .w = 1,
                                .h = 1,
                                .n_bands = 4,
                                .type = QFZ_OUT_U8,
                                .max_value = 255};
    write_commit(source, &output, &spec, px, NULL);
    made = GDALOpen(dst, GA_ReadOnly);
    for (int b = 0; b < 4; b++)
        assert_int_equal(GDALGetRasterColorInterpretation(GDALGetRasterBand(made, b + 1)),
                         colours[b]);
    assert_string_equal(GDALGetDescription(GDALGetRasterBand(made, 4)), "near infrared");
    GDALClose(made);
    VSIUnlink(dst);
    qfz_source_close(source);
}

/* What is not known to be exact is tried with noise before the job. */
static void options_are_exact_if_each_is(void **state)
{
    (void)state;
    const char *const exact[] = {"TILED=YES",
                                 "compress=zstd",
                                 "ZSTD_LEVEL=1",
                                 "PREDICTOR=2",
                                 "NUM_THREADS=ALL_CPUS",
                                 "BIGTIFF=YES",
                                 "BLOCKXSIZE=64",
                                 NULL};
    const char *const others[] = {"COMPRESS=JPEG", "COMPRESS=LERC", "COMPRESS=WEBP",
                                  "DISCARD_LSB=2", "NBITS=7",       "MAX_Z_ERROR=3",
                                  "COMPRESS=",     "TILED",         "WHATEVER=1"};
    assert_true(qfz_creation_options_are_exact(NULL));
    assert_true(qfz_creation_options_are_exact(exact));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *const first[] = {others[i], "TILED=YES", NULL};
        const char *const last[] = {"COMPRESS=LZW", others[i], NULL};
        assert_false(qfz_creation_options_are_exact(first));
        assert_false(qfz_creation_options_are_exact(last));
    }
}

/* Two bands of levels with a mask: edges come from levels, validity from the mask alone. */
static void a_cut_reads_what_saliency_wrote(void **state)
{
    (void)state;
    static const uint16_t px[8] = {3, 65535, 5, 65535, 4, 9, 65535, 65535};
    static const uint8_t valid[4] = {1, 1, 1, 0}, expected[4] = {3, 0, 1, 0};
    uint8_t got[4], got_valid[4];
    qfz_source *source = plain_source(2, 2);
    qfz_sink_options output = {.n_threads = 1};
    const qfz_sink_spec spec = {.path = dst,
                                .content = QFZ_CONTENT_SALIENCY,
                                .w = 2,
                                .h = 2,
                                .n_bands = 2,
                                .type = QFZ_OUT_U16,
                                .max_value = 65535,
                                .has_nodata = true,
                                .nodata = 65535,
                                .has_mask = true,
                                .connectivity = 4};
    write_commit(source, &output, &spec, px, valid);
    qfz_source_close(source);
    const qfz_source_options input = {.name = dst, .is_saliency = true, .alpha = 5};
    source = open_it(&input);
    assert_int_equal(qfz_source_connectivity(source), 4);
    assert_int_equal(qfz_source_get_info(source)->n_bands, 1);
    assert_int_equal(qfz_source_get_info(source)->type, QFZ_U8);
    OK(qfz_source_read(source, whole(source), got, got_valid, &err));
    assert_memory_equal(got, expected, 4);
    assert_memory_equal(got_valid, valid, 4);
    qfz_source_close(source);
    VSIUnlink(dst);
}

static void a_cut_refuses_what_is_no_hierarchy(void **state)
{
    (void)state;
    static const float px[2] = {NAN, 1.5f};
    uint8_t got, valid;
    qfz_source *source = NULL;
    qfz_source_options input = source_of(src);
    input.is_saliency = true;
    GDALClose(make(src, 1, 1, 3, GDT_UInt16, NULL));
    FAILS(qfz_source_open(&source, &input, &err), QFZ_EARG, "bands: 3");
    GDALDatasetH made = make(src, 1, 1, 2, GDT_Int16, NULL);
    GDALSetMetadataItem(made, "QFZ_CONTENT", "saliency", NULL);
    GDALClose(made);
    FAILS(qfz_source_open(&source, &input, &err), QFZ_EARG, "Int16");
    made = make(src, 1, 1, 1, GDT_UInt16, NULL);
    GDALSetMetadataItem(made, "QFZ_CONTENT", "saliency", NULL);
    GDALSetMetadataItem(made, "QFZ_LAYOUT", "khalimsky", NULL);
    GDALClose(made);
    FAILS(qfz_source_open(&source, &input, &err), QFZ_EARG, "khalimsky");
    GDALClose(make(src, 1, 1, 2, GDT_Float32, px));
    FAILS(qfz_source_open(&source, &input, &err), QFZ_EARG, "--edges");
    input.any_edges = true;
    input.alpha = INFINITY;
    source = open_it(&input);
    OK(qfz_source_read(source, whole(source), &got, &valid, &err));
    assert_int_equal(got, 2);
    assert_int_equal(valid, 1);
    qfz_source_close(source);
}

typedef struct writer {
    qfz_sink *sink;
    int first;
    qfz_status st;
} writer;

static void *write_rows(void *arg)
{
    writer *const w = arg;
    uint32_t row[256];
    for (int y = w->first; y < 256 && w->st == QFZ_OK; y += 2) {
        const qfz_box box = {y, 0, y + 1, 256};
        for (int x = 0; x < 256; x++)
            row[x] = (uint32_t)(y * 256 + x);
        w->st = qfz_sink_write(w->sink, box, row, NULL, NULL);
    }
    return NULL;
}

static void threads_may_write_at_once(void **state)
{
    (void)state;
    static uint32_t got[256 * 256];
    const qfz_box all = {0, 0, 256, 256};
    pthread_t threads[2];
    writer writers[2] = {{.first = 0}, {.first = 1}};
    qfz_source *const source = plain_source(256, 256);
    qfz_sink_options output = {.n_threads = 1};
    const qfz_sink_spec spec = labels(dst, 256, 256, 65536);
    qfz_sink *sink = NULL;
    OK(qfz_sink_create(&sink, source, &output, &spec, &err));
    for (int i = 0; i < 2; i++) {
        writers[i].sink = sink;
        pthread_create(&threads[i], NULL, write_rows, &writers[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(writers[i].st, QFZ_OK);
    }
    OK(qfz_sink_commit(sink, &err));
    OK(qfz_sink_read(sink, all, got, NULL, &err));
    for (uint32_t i = 0; i < 256 * 256; i++)
        assert_true(got[i] == i);
    qfz_sink_close(sink);
    VSIUnlink(dst);
    qfz_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_appear_when_complete),
        cmocka_unit_test(nothing_stays_of_what_is_not_committed),
        cmocka_unit_test(no_folder_stays_of_what_is_not_committed),
        cmocka_unit_test(reads_back_before_and_after_commit),
        cmocka_unit_test(blocks_are_no_longer_than_the_raster),
        cmocka_unit_test(writes_boxes_of_whole_blocks_and_others),
        cmocka_unit_test(every_type_goes_out_and_comes_back),
        cmocka_unit_test(a_type_that_is_too_small_is_refused),
        cmocka_unit_test(formats_follow_from_names),
        cmocka_unit_test(other_formats_are_written),
        cmocka_unit_test(formats_that_do_not_keep_values_are_refused),
        cmocka_unit_test(user_options_come_before_ours),
        cmocka_unit_test(options_that_would_change_values_are_refused),
        cmocka_unit_test(headers_of_other_rasters_are_not_replaced),
        cmocka_unit_test(painted_values_must_fit_their_bits),
        cmocka_unit_test(inputs_are_never_replaced),
        cmocka_unit_test(two_outputs_have_two_names),
        cmocka_unit_test(parts_of_nested_mosaics_are_inputs),
        cmocka_unit_test(bands_keep_names_and_colours_when_painted),
        cmocka_unit_test(options_are_exact_if_each_is),
        cmocka_unit_test(a_cut_reads_what_saliency_wrote),
        cmocka_unit_test(a_cut_refuses_what_is_no_hierarchy),
        cmocka_unit_test(threads_may_write_at_once),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
