/* SPDX-License-Identifier: MIT */
/* test_source.c - bands and types of sources, and rasters that are refused. */
#include "qfz_bench.h"
#include "scene.h"

static const char src[] = "/vsimem/source.tif";

static void reads_a_box_of_every_band(void **state)
{
    (void)state;
    static const uint16_t px[2 * 6] = {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60};
    static const uint16_t expected[2 * 4] = {2, 3, 5, 6, 20, 30, 50, 60};
    uint16_t got[8];
    uint8_t valid[4] = {9, 9, 9, 9};
    const qfz_box box = {0, 1, 2, 3};
    GDALClose(make(src, 3, 2, 2, GDT_UInt16, px));
    const qfz_source_options input = source_of(src);
    qfz_source *const source = open_it(&input);
    const qfz_source_info *const info = qfz_source_get_info(source);
    assert_int_equal(info->w, 3);
    assert_int_equal(info->h, 2);
    assert_int_equal(info->n_bands, 2);
    assert_int_equal(info->type, QFZ_U16);
    assert_false(info->may_be_invalid);
    OK(qfz_source_read(source, box, got, valid, &err));
    assert_memory_equal(got, expected, sizeof expected);
    assert_memory_equal(valid, "\1\1\1\1", 4);
    const qfz_box outside = {0, 1, 3, 3};
    FAILS(qfz_source_read(source, outside, got, valid, &err), QFZ_EARG, "outside the raster");
    qfz_source_close(source);
}

static void takes_the_bands_asked_for(void **state)
{
    (void)state;
    static const uint8_t px[3] = {7, 8, 9};
    const int chosen[] = {3, 1}, twice[] = {2, 2}, none[] = {4};
    uint8_t got[2], valid;
    GDALClose(make(src, 1, 1, 3, GDT_Byte, px));
    qfz_source_options input = source_of(src);
    input.bands = chosen;
    input.n_bands = 2;
    qfz_source *source = open_it(&input);
    OK(qfz_source_read(source, whole(source), got, &valid, &err));
    assert_int_equal(got[0], 9);
    assert_int_equal(got[1], 7);
    qfz_source_close(source);
    input.bands = twice;
    FAILS(qfz_source_open(&source, &input, &err), QFZ_EARG, "band 2 is named twice");
    input.bands = none;
    input.n_bands = 1;
    FAILS(qfz_source_open(&source, &input, &err), QFZ_EARG, "no band 4; it has 3");
}

/* qfz_image_read(), for sessions. */
static void reads_a_whole_raster_as_an_image(void **state)
{
    (void)state;
    static const uint16_t px[3 * 4] = {1, 2, 3, 4, 5, 6, 7, 8, 65535, 0, 65535, 9};
    const int second = 2, none = 9;
    qfz_image image = {0};
    const GDALDatasetH made = make(src, 2, 2, 3, GDT_UInt16, px);
    GDALSetRasterColorInterpretation(GDALGetRasterBand(made, 3), GCI_AlphaBand);
    GDALClose(made);
    OK(qfz_bench_image_read(src, NULL, 0, &image, &err));
    assert_true(image.h == 2 && image.w == 2 && image.n_bands == 2 && image.type == QFZ_U16);
    assert_memory_equal(image.pixels, px, 8 * sizeof *px);
    assert_memory_equal(image.valid, "\1\0\1\1", 4);
    qfz_bench_image_free(&image);
    assert_true(image.pixels == NULL && image.valid == NULL);
    OK(qfz_bench_image_read(src, &second, 1, &image, &err));
    assert_int_equal(image.n_bands, 1);
    assert_memory_equal(image.pixels, px + 4, 4 * sizeof *px);
    qfz_bench_image_free(&image);
    FAILS(qfz_bench_image_read(src, &none, 1, &image, &err), QFZ_EARG, "no band 9");
    assert_null(image.pixels);
}

static void make_mixed(GDALDataType a, GDALDataType b)
{
    GDALClose(make("/vsimem/a.tif", 2, 1, 1, a, NULL));
    GDALClose(make("/vsimem/b.tif", 2, 1, 1, b, NULL));
    char xml[1024];
    (void)snprintf(xml, sizeof xml,
                   "<VRTDataset rasterXSize='2' rasterYSize='1'>"
                   "<VRTRasterBand dataType='%s' band='1'><SimpleSource>"
                   "<SourceFilename>/vsimem/a.tif</SourceFilename></SimpleSource></VRTRasterBand>"
                   "<VRTRasterBand dataType='%s' band='2'><SimpleSource>"
                   "<SourceFilename>/vsimem/b.tif</SourceFilename></SimpleSource></VRTRasterBand>"
                   "</VRTDataset>",
                   GDALGetDataTypeName(a), GDALGetDataTypeName(b));
    VSILFILE *const file = VSIFOpenL("/vsimem/mixed.vrt", "wb");
    VSIFWriteL(xml, 1, strlen(xml), file);
    VSIFCloseL(file);
}

static void reads_mixed_bands_as_the_smallest_type_that_holds_both(void **state)
{
    (void)state;
    static const struct {
        GDALDataType a, b;
        int type; /* -1: refused */
    } cases[] = {{GDT_Byte, GDT_UInt16, QFZ_U16},   {GDT_Byte, GDT_Int16, QFZ_I16},
                 {GDT_UInt16, GDT_Int16, QFZ_I32},  {GDT_UInt16, GDT_Int32, QFZ_I32},
                 {GDT_UInt32, GDT_Int32, -1},       {GDT_UInt32, GDT_Int16, -1},
                 {GDT_Int16, GDT_Float32, QFZ_F32}, {GDT_UInt16, GDT_Float32, QFZ_F32},
                 {GDT_UInt32, GDT_Float32, -1},     {GDT_Int32, GDT_Float32, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        qfz_source *source = NULL;
        make_mixed(cases[i].a, cases[i].b);
        const qfz_source_options input = source_of("/vsimem/mixed.vrt");
        if (cases[i].type < 0) {
            FAILS(qfz_source_open(&source, &input, &err), QFZ_EARG, "no supported type holds all");
            continue;
        }
        source = open_it(&input);
        assert_int_equal(qfz_source_get_info(source)->type, cases[i].type);
        qfz_source_close(source);
    }
}

/* GDAL before 3.7 has the type Byte for signed bytes. */
static void reads_signed_bytes(void **state)
{
    (void)state;
    static const int8_t px[4] = {-128, -1, 0, 127};
    int8_t got[4];
    uint8_t valid[4];
    const GDALDataType int8 = GDALGetDataTypeByName("Int8");
    char *options[] = {"PIXELTYPE=SIGNEDBYTE", NULL};
    const GDALDatasetH made = make_with(src, 4, 1, 1, int8 == GDT_Unknown ? GDT_Byte : int8, px,
                                        int8 == GDT_Unknown ? options : NULL);
    GDALSetRasterNoDataValue(GDALGetRasterBand(made, 1), -128);
    GDALClose(made);
    const qfz_source_options input = source_of(src);
    qfz_source *const source = open_it(&input);
    assert_int_equal(qfz_source_get_info(source)->type, QFZ_I8);
    OK(qfz_source_read(source, whole(source), got, valid, &err));
    assert_memory_equal(got, px, 4);
    assert_memory_equal(valid, "\0\1\1\1", 4);
    qfz_source_close(source);
}

static void widens_signed_bytes_beside_other_bands(void **state)
{
    (void)state;
    static const uint8_t signed_px[4] = {0x80, 0xff, 0, 127}, plain_px[4] = {128, 255, 0, 127};
    static const int16_t expected[8] = {128, 255, 0, 127, -128, -1, 0, 127};
    int16_t got[8];
    uint8_t valid[4];
    if (GDALGetDataTypeByName("Int8") != GDT_Unknown) skip();
    char *options[] = {"PIXELTYPE=SIGNEDBYTE", NULL};
    GDALClose(make("/vsimem/plain.tif", 4, 1, 1, GDT_Byte, plain_px));
    GDALClose(make_with("/vsimem/signed.tif", 4, 1, 1, GDT_Byte, signed_px, options));
    const char xml[] =
        "<VRTDataset rasterXSize='4' rasterYSize='1'>"
        "<VRTRasterBand dataType='Byte' band='1'><SimpleSource><SourceFilename>/vsimem/plain.tif"
        "</SourceFilename></SimpleSource></VRTRasterBand>"
        "<VRTRasterBand dataType='Byte' band='2'><Metadata domain='IMAGE_STRUCTURE'>"
        "<MDI key='PIXELTYPE'>SIGNEDBYTE</MDI></Metadata><SimpleSource><SourceFilename>"
        "/vsimem/signed.tif</SourceFilename></SimpleSource></VRTRasterBand></VRTDataset>";
    const qfz_source_options input = source_of(xml);
    qfz_source *const source = open_it(&input);
    assert_int_equal(qfz_source_get_info(source)->type, QFZ_I16);
    OK(qfz_source_read(source, whole(source), got, valid, &err));
    assert_memory_equal(got, expected, sizeof expected);
    qfz_source_close(source);
}

static void reads_negative_zero_as_zero(void **state)
{
    (void)state;
    static const float px[2] = {-0.0f, -1.5f};
    float got[2];
    uint8_t valid[2];
    GDALClose(make(src, 2, 1, 1, GDT_Float32, px));
    const qfz_source_options input = source_of(src);
    qfz_source *const source = open_it(&input);
    OK(qfz_source_read(source, whole(source), got, valid, &err));
    assert_int_equal(signbit(got[0]), 0);
    assert_true(got[1] == -1.5f);
    qfz_source_close(source);
}

static void refuses_types_with_the_remedy(void **state)
{
    (void)state;
    static const GDALDataType types[] = {GDT_Float64, GDT_CInt16, GDT_CFloat32};
    static const char *const words[] = {"gdal_translate -ot Float32", "amplitude", "amplitude"};
    qfz_source *source = NULL;
    const qfz_source_options input = source_of(src);
    for (int i = 0; i < 3; i++) {
        GDALClose(make(src, 2, 2, 1, types[i], NULL));
        FAILS(qfz_source_open(&source, &input, &err), QFZ_EARG, words[i]);
    }
    const GDALDataType wide = GDALGetDataTypeByName("UInt64");
    if (wide == GDT_Unknown) return;
    GDALClose(make(src, 2, 2, 1, wide, NULL));
    FAILS(qfz_source_open(&source, &input, &err), QFZ_EARG, "UInt64");
}

static void says_what_cannot_be_opened(void **state)
{
    (void)state;
    qfz_source *source = NULL;
    qfz_source_options input = source_of("/vsimem/there_is_none.tif");
    FAILS(qfz_source_open(&source, &input, &err), QFZ_EIO, "/vsimem/there_is_none.tif");
    input.name = "";
    FAILS(qfz_source_open(&source, &input, &err), QFZ_EARG, "no input");
    GDALClose(make(src, 2, 2, 1, GDT_Byte, NULL));
    GDALClose(make("/vsimem/mask.tif", 3, 2, 1, GDT_Byte, NULL));
    input.name = src;
    input.mask = "/vsimem/mask.tif";
    FAILS(qfz_source_open(&source, &input, &err), QFZ_EARG, "3 x 2");
    assert_null(source);
}

static void names_the_first_subdataset_where_there_are_no_bands(void **state)
{
    (void)state;
    qfz_source *source = NULL;
    const qfz_source_options input = source_of(data_file("torture/rasterio_no_band.h5"));
    FAILS(qfz_source_open(&source, &input, &err), QFZ_EIO, "of which the first is HDF5:");
}

static uint64_t sum_of_tiles(const qfz_source_options *input, int64_t step)
{
    qfz_source *const source = open_it(input);
    const qfz_source_info *const info = qfz_source_get_info(source);
    assert_int_equal(info->type, QFZ_U8);
    uint8_t *const px = malloc((size_t)(step * step * info->n_bands));
    uint8_t *const valid = malloc((size_t)(step * step));
    uint64_t sum = 0;
    for (int64_t y = 0; y < info->h; y += step)
        for (int64_t x = 0; x < info->w; x += step) {
            const qfz_box box = {y, x, y + step < info->h ? y + step : info->h,
                                 x + step < info->w ? x + step : info->w};
            const int64_t n = qfz_box_h(box) * qfz_box_w(box);
            OK(qfz_source_read(source, box, px, valid, &err));
            for (int64_t i = 0; i < n * info->n_bands; i++)
                sum += px[i] * (uint64_t)(1 + i / n) + valid[i % n];
        }
    free(px);
    free(valid);
    qfz_source_close(source);
    return sum;
}

static void reads_a_mosaic_like_its_scene(void **state)
{
    (void)state;
    char scene[1024];
    (void)snprintf(scene, sizeof scene, "%s", data_file("demo/landsat7_bahamas_rgb_u8_nd0.tif"));
    const qfz_source_options one = source_of(scene);
    const uint64_t sum = sum_of_tiles(&one, 800);
    assert_true(sum_of_tiles(&one, 97) == sum);
    const qfz_source_options four = source_of(data_file("mosaic/rasterio_rgb4.vrt"));
    assert_true(sum_of_tiles(&four, 800) == sum);
    assert_true(sum_of_tiles(&four, 131) == sum);
}

/* The same sum of the pixels as GDAL reads them; every pixel is valid. */
static uint64_t sum_by_gdal(const char *name)
{
    const GDALDatasetH dataset = GDALOpen(name, GA_ReadOnly);
    assert_non_null(dataset);
    const int w = GDALGetRasterXSize(dataset), h = GDALGetRasterYSize(dataset);
    const size_t n = (size_t)w * (size_t)h;
    uint8_t *const px = malloc(n);
    uint64_t sum = 0;
    for (int b = 1; b <= GDALGetRasterCount(dataset); b++) {
        assert_int_equal(GDALRasterIO(GDALGetRasterBand(dataset, b), GF_Read, 0, 0, w, h, px, w, h,
                                      GDT_Byte, 0, 0),
                         CE_None);
        for (size_t i = 0; i < n; i++)
            sum += px[i] * (uint64_t)b + 1;
    }
    free(px);
    GDALClose(dataset);
    return sum;
}

static void reads_odd_but_sound_files(void **state)
{
    (void)state;
    static const char *const names[] = {"oddsize1bit.tif",
                                        "sparse_tiled_separate.tif",
                                        "non_standard_tiled_blockysize_one.tif",
                                        "byte_gcp.tif",
                                        "tiled_blockysize_larger_than_rasterysize.tif",
                                        "bigtiff_four_strip_be_short.tif",
                                        "twoimages.tif"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[128];
        (void)snprintf(name, sizeof name, "torture/%s", names[i]);
        qfz_source_options input = source_of(data_file(name));
        input.has_nodata = true;
        input.nodata = -1; /* the value of no pixel */
        assert_int_equal(sum_of_tiles(&input, 128), sum_by_gdal(input.name));
    }
}

static void fails_on_damage_and_names_the_file(void **state)
{
    (void)state;
    static const char *const names[] = {"real_landsat_truncated_half.tif",
                                        "byte_zstd_corrupted.tif",
                                        "tiled_bad_offset.tif",
                                        "self_reference.vrt",
                                        "rasterio_corrupt.tif",
                                        "lzw_corrupted.tif"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[128];
        qfz_source *source = NULL;
        (void)snprintf(name, sizeof name, "torture/%s", names[i]);
        const qfz_source_options input = source_of(data_file(name));
        qfz_error opening = {0};
        if (qfz_source_open(&source, &input, &opening) != QFZ_OK) {
            assert_non_null(strstr(opening.message, names[i]));
            continue;
        }
        const qfz_box box = whole(source);
        const size_t n = (size_t)(box.y1 * box.x1);
        void *const px = malloc(n * 4 * 4);
        uint8_t *const valid = malloc(n);
        FAILS(qfz_source_read(source, box, px, valid, &err), QFZ_EIO, names[i]);
        FAILS(qfz_source_read(source, box, px, valid, &err), QFZ_EIO, "rows ");
        free(px);
        free(valid);
        qfz_source_close(source);
    }
}

enum { LONG_H = 3000, LONG_W = 1000, N_LONG = LONG_H * LONG_W };

typedef struct expected_rows {
    const uint8_t *all; /* two planes of the raster */
    qfz_box box;
    const uint8_t *valid;
    int64_t next; /* row of the box expected next */
    int calls, last_call;
    uint8_t *rooms[2], *room; /* buffers of parts; room: of the next part, or NULL */
} expected_rows;

static qfz_status look_at_rows(void *arg, const qfz_rows *rows, qfz_error *why)
{
    expected_rows *const e = arg;
    const uint8_t *const pixels = rows->pixels;
    const int64_t w = qfz_box_w(e->box);
    assert_int_equal(rows->y0, e->next);
    if (e->room) assert_ptr_equal(pixels, e->room);
    assert_true(rows->y1 > rows->y0);
    for (int64_t y = rows->y0; y < rows->y1; y++)
        for (int64_t x = 0; x < w; x++) {
            const uint8_t *const from = e->all + (e->box.y0 + y) * LONG_W + e->box.x0 + x;
            const int64_t to = (y - rows->y0) * w + x;
            assert_int_equal(pixels[to], from[0]);
            assert_int_equal(pixels[rows->plane_px + to], from[N_LONG]);
            assert_int_equal(e->valid[y * w + x], from[0] != 7 || from[N_LONG] != 7);
        }
    e->next = rows->y1;
    return ++e->calls == e->last_call ? qfz_fail(why, QFZ_EGPU, "enough") : QFZ_OK;
}

typedef enum rows_place { WHOLE, ONE_PLACE, TWO_PLACES } rows_place;

/* Uses two buffers in turn. */
static qfz_status change_room(void *arg, void **pixels, qfz_error *why)
{
    expected_rows *const e = arg;
    (void)why;
    e->room = e->room == e->rooms[0] ? e->rooms[1] : e->rooms[0];
    *pixels = e->room;
    return QFZ_OK;
}

static void check_rows(qfz_source *source, qfz_box box, const uint8_t *all, rows_place place)
{
    const int64_t n = qfz_box_h(box) * qfz_box_w(box);
    const int64_t px = place == WHOLE ? n : qfz_source_part_px(source, LONG_H, LONG_W);
    uint8_t *const pixels = malloc((size_t)(2 * px)), *const valid = malloc((size_t)n);
    uint8_t *const other = malloc((size_t)(2 * px));
    expected_rows e = {.all = all, .box = box, .valid = valid, .rooms = {pixels, other}};
    const qfz_reading reading = {.pixels = place == TWO_PLACES ? NULL : pixels,
                                 .is_whole = place == WHOLE,
                                 .valid = valid,
                                 .arg = &e,
                                 .room = place == TWO_PLACES ? change_room : NULL,
                                 .came = look_at_rows};
    assert_true(px < N_LONG);
    OK(qfz_source_read_rows(source, box, &reading, &err));
    assert_int_equal(e.next, qfz_box_h(box));
    assert_true(e.calls > 2);
    e.next = e.calls = 0;
    e.last_call = 2;
    FAILS(qfz_source_read_rows(source, box, &reading, &err), QFZ_EGPU, "enough");
    assert_int_equal(e.calls, 2);
    free(pixels);
    free(other);
    free(valid);
}

/* Bands with separate and with shared blocks; rows that begin and end inside blocks; a narrow box;
 * a buffer for the whole box, and one buffer for all parts. */
static void gives_rows_as_they_come(void **state)
{
    (void)state;
    static const char *const orders[] = {"PIXEL", "BAND"};
    static uint8_t all[2 * N_LONG];
    const qfz_box box = {5, 3, LONG_H - 6, LONG_W - 1}, narrow = {5, 100, LONG_H, LONG_W - 200};
    for (int i = 0; i < 2 * N_LONG; i++)
        all[i] = (uint8_t)(5 + (i * 7 + i / LONG_W) % 3);
    for (int i = 0; i < 2; i++) {
        char **const options = CSLSetNameValue(NULL, "INTERLEAVE", orders[i]);
        const GDALDatasetH made = make_with(src, LONG_W, LONG_H, 2, GDT_Byte, all, options);
        GDALSetRasterNoDataValue(GDALGetRasterBand(made, 1), 7);
        GDALClose(made);
        CSLDestroy(options);
        const qfz_source_options input = source_of(src);
        qfz_source *const source = open_it(&input);
        check_rows(source, box, all, WHOLE);
        check_rows(source, box, all, ONE_PLACE);
        check_rows(source, box, all, TWO_PLACES);
        check_rows(source, narrow, all, ONE_PLACE);
        qfz_source_close(source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_box_of_every_band),
        cmocka_unit_test(gives_rows_as_they_come),
        cmocka_unit_test(takes_the_bands_asked_for),
        cmocka_unit_test(reads_a_whole_raster_as_an_image),
        cmocka_unit_test(reads_mixed_bands_as_the_smallest_type_that_holds_both),
        cmocka_unit_test(reads_signed_bytes),
        cmocka_unit_test(widens_signed_bytes_beside_other_bands),
        cmocka_unit_test(reads_negative_zero_as_zero),
        cmocka_unit_test(refuses_types_with_the_remedy),
        cmocka_unit_test(says_what_cannot_be_opened),
        cmocka_unit_test(names_the_first_subdataset_where_there_are_no_bands),
        cmocka_unit_test(reads_a_mosaic_like_its_scene),
        cmocka_unit_test(reads_odd_but_sound_files),
        cmocka_unit_test(fails_on_damage_and_names_the_file),
    };
    return status_of(cmocka_run_group_tests(tests, set_up, NULL));
}
