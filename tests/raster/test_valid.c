/* SPDX-License-Identifier: MIT */
/* test_valid.c - which pixels are valid: nodata, masks, alpha, NaN, background. */
#include "scene.h"

static const char src[] = "/vsimem/valid.tif";

static void set_nodata(GDALDatasetH dataset, int band, double value)
{
    assert_int_equal(GDALSetRasterNoDataValue(GDALGetRasterBand(dataset, band), value), CE_None);
}

static void a_pixel_is_nodata_in_all_bands_or_in_any(void **state)
{
    (void)state;
    static const uint8_t px[8] = {0, 0, 5, 5, 0, 5, 0, 5};
    const GDALDatasetH made = make(src, 4, 1, 2, GDT_Byte, px);
    set_nodata(made, 1, 0);
    GDALClose(made);
    qfz_source_options input = source_of(src);
    check_valid(&input, (const uint8_t *)"\0\1\1\1", 4);
    input.nodata_rule = QFZ_NODATA_ANY;
    check_valid(&input, (const uint8_t *)"\0\0\0\1", 4);
    input.has_nodata = true;
    input.nodata = 5;
    check_valid(&input, (const uint8_t *)"\1\0\0\0", 4);
    input.nodata_rule = QFZ_NODATA_ALL;
    check_valid(&input, (const uint8_t *)"\1\1\1\0", 4);
}

static void nodata_that_the_type_cannot_hold_matches_nothing(void **state)
{
    (void)state;
    static const uint8_t px[3] = {0, 1, 255};
    static const double values[] = {-9999, 256, 0.5, NAN, 1e300, -INFINITY};
    GDALClose(make(src, 3, 1, 1, GDT_Byte, px));
    qfz_source_options input = source_of(src);
    input.has_nodata = true;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        input.nodata = values[i];
        qfz_source *const source = open_it(&input);
        assert_false(qfz_source_get_info(source)->may_be_invalid);
        assert_false(qfz_source_get_info(source)->has_nodata);
        qfz_source_close(source);
        check_valid(&input, (const uint8_t *)"\1\1\1", 3);
    }
}

static void float_nodata_is_compared_as_single(void **state)
{
    (void)state;
    static const double values[] = {-1e34, -9999.005859375, 0.1, -3.4028234663852886e38,
                                    -3.40282347e38};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const float px[4] = {(float)values[i], 1, nextafterf((float)values[i], 0), NAN};
        const GDALDatasetH made = make(src, 4, 1, 1, GDT_Float32, px);
        set_nodata(made, 1, values[i]);
        GDALClose(made);
        const qfz_source_options input = source_of(src);
        check_valid(&input, (const uint8_t *)"\0\1\1\0", 4);
    }
}

static void each_integer_type_compares_its_extremes(void **state)
{
    (void)state;
    static const uint32_t u32[3] = {UINT32_MAX, 0, UINT32_MAX - 1};
    static const int32_t i32[3] = {INT32_MIN, 0, INT32_MIN + 1};
    static const int16_t i16[3] = {-32768, 0, 32767};
    qfz_source_options input = source_of(src);
    GDALDatasetH made = make(src, 3, 1, 1, GDT_UInt32, u32);
    set_nodata(made, 1, UINT32_MAX);
    GDALClose(made);
    check_valid(&input, (const uint8_t *)"\0\1\1", 3);
    made = make(src, 3, 1, 1, GDT_Int32, i32);
    set_nodata(made, 1, INT32_MIN);
    GDALClose(made);
    check_valid(&input, (const uint8_t *)"\0\1\1", 3);
    made = make(src, 3, 1, 1, GDT_Int16, i16);
    set_nodata(made, 1, -32768);
    GDALClose(made);
    check_valid(&input, (const uint8_t *)"\0\1\1", 3);
}

static void nan_in_any_band_is_invalid(void **state)
{
    (void)state;
    static const float px[6] = {1, NAN, 3, 1, 2, INFINITY};
    const GDALDatasetH made = make(src, 3, 1, 2, GDT_Float32, px);
    set_nodata(made, 1, NAN);
    set_nodata(made, 2, NAN);
    GDALClose(made);
    const qfz_source_options input = source_of(src);
    check_valid(&input, (const uint8_t *)"\1\0\1", 3);
    qfz_source *const source = open_it(&input);
    assert_true(qfz_source_get_info(source)->has_nodata);
    assert_true(isnan(qfz_source_get_info(source)->nodata));
    qfz_source_close(source);
}

static void transparent_pixels_are_invalid(void **state)
{
    (void)state;
    static const uint16_t px[8] = {1, 2, 3, 4, 0, 1, 255, 65535}; /* only 0 is invalid */
    const GDALDatasetH made = make(src, 4, 1, 2, GDT_UInt16, px);
    GDALSetRasterColorInterpretation(GDALGetRasterBand(made, 2), GCI_AlphaBand);
    GDALClose(made);
    qfz_source_options input = source_of(src);
    qfz_source *const source = open_it(&input);
    assert_int_equal(qfz_source_get_info(source)->n_bands, 1);
    assert_true(qfz_source_get_info(source)->may_be_invalid);
    qfz_source_close(source);
    check_valid(&input, (const uint8_t *)"\0\1\1\1", 4);
}

static void make_masked(const char *where)
{
    static const uint8_t px[4] = {1, 2, 3, 4}, mask[4] = {255, 0, 255, 0};
    CPLSetConfigOption("GDAL_TIFF_INTERNAL_MASK", where);
    const GDALDatasetH made = make(src, 2, 2, 1, GDT_Byte, px);
    assert_int_equal(GDALCreateDatasetMaskBand(made, GMF_PER_DATASET), CE_None);
    assert_int_equal(GDALRasterIO(GDALGetMaskBand(GDALGetRasterBand(made, 1)), GF_Write, 0, 0, 2, 2,
                                  (void *)(uintptr_t)mask, 2, 2, GDT_Byte, 0, 0),
                     CE_None);
    GDALClose(made);
    CPLSetConfigOption("GDAL_TIFF_INTERNAL_MASK", NULL);
}

static void masks_inside_and_beside_the_file_count(void **state)
{
    (void)state;
    const qfz_source_options input = source_of(src);
    make_masked("YES");
    check_valid(&input, (const uint8_t *)"\1\0\1\0", 4);
    VSIUnlink(src);
    make_masked("NO");
    assert_true(exists("/vsimem/valid.tif.msk"));
    check_valid(&input, (const uint8_t *)"\1\0\1\0", 4);
    VSIUnlink("/vsimem/valid.tif.msk");
}

static void a_mask_of_one_band_counts_for_all(void **state)
{
    (void)state;
    static const uint8_t px[6] = {1, 2, 3, 4, 5, 6}, mask[3] = {255, 0, 255};
    CPLSetConfigOption("GDAL_TIFF_INTERNAL_MASK", "NO");
    const GDALDatasetH made = make(src, 3, 1, 2, GDT_Byte, px);
    const GDALRasterBandH second = GDALGetRasterBand(made, 2);
    assert_int_equal(GDALCreateMaskBand(second, 0), CE_None);
    assert_int_equal(GDALRasterIO(GDALGetMaskBand(second), GF_Write, 0, 0, 3, 1,
                                  (void *)(uintptr_t)mask, 3, 1, GDT_Byte, 0, 0),
                     CE_None);
    GDALClose(made);
    CPLSetConfigOption("GDAL_TIFF_INTERNAL_MASK", NULL);
    qfz_source_options input = source_of(src);
    const int second_only[] = {2};
    check_valid(&input, (const uint8_t *)"\1\0\1", 3);
    input.bands = second_only;
    input.n_bands = 1;
    check_valid(&input, (const uint8_t *)"\1\0\1", 3);
    VSIUnlink("/vsimem/valid.tif.msk");
}

static void a_mask_of_its_own_file_counts(void **state)
{
    (void)state;
    static const uint8_t px[4] = {1, 2, 3, 4};
    static const float mask[4] = {0.25f, 0, NAN, -1};
    GDALClose(make(src, 2, 2, 1, GDT_Byte, px));
    GDALClose(make("/vsimem/mask.tif", 2, 2, 1, GDT_Float32, mask));
    qfz_source_options input = source_of(src);
    input.mask = "/vsimem/mask.tif";
    check_valid(&input, (const uint8_t *)"\1\0\0\1", 4);
}

/* From a bug: masks were read as Float32, in which such numbers are 0. */
static void a_mask_of_doubles_counts_by_its_own_zero(void **state)
{
    (void)state;
    static const uint8_t px[4] = {1, 2, 3, 4};
    static const double mask[4] = {1e-300, -0.0, -1e-50, 1e300};
    GDALClose(make(src, 2, 2, 1, GDT_Byte, px));
    GDALClose(make("/vsimem/mask.tif", 2, 2, 1, GDT_Float64, mask));
    qfz_source_options input = source_of(src);
    input.mask = "/vsimem/mask.tif";
    check_valid(&input, (const uint8_t *)"\1\0\1\1", 4);
}

static void nodata_values_are_nodata_together(void **state)
{
    (void)state;
    static const uint8_t px[12] = {1, 1, 1, 9, 2, 2, 9, 9, 3, 9, 3, 9};
    GDALDatasetH made = make(src, 4, 1, 3, GDT_Byte, px);
    GDALSetMetadataItem(made, "NODATA_VALUES", "1 2 3", NULL);
    GDALClose(made);
    qfz_source_options input = source_of(src);
    check_valid(&input, (const uint8_t *)"\0\1\1\1", 4);
    const int first[] = {1};
    input.bands = first;
    input.n_bands = 1;
    check_valid(&input, (const uint8_t *)"\0\1\1\1", 4);
    input.nodata_rule = QFZ_NODATA_ANY;
    check_valid(&input, (const uint8_t *)"\0\0\0\1", 4);
    VSIUnlink("/vsimem/valid.tif.aux.xml");
}

static void background_is_every_bands_value(void **state)
{
    (void)state;
    static const uint8_t px[6] = {7, 7, 0, 7, 0, 7};
    GDALClose(make(src, 3, 1, 2, GDT_Byte, px));
    qfz_source_options input = source_of(src);
    input.has_background = true;
    input.background = 7;
    check_valid(&input, (const uint8_t *)"\0\1\1", 3);
    input.background = 7.5;
    check_valid(&input, (const uint8_t *)"\1\1\1", 3);
}

static int64_t count_valid(const char *name)
{
    const qfz_source_options input = source_of(data_file(name));
    qfz_source *const source = open_it(&input);
    const qfz_box box = whole(source);
    const size_t n = (size_t)(box.y1 * box.x1);
    void *const px = malloc(n * 4 * (size_t)qfz_source_get_info(source)->n_bands);
    uint8_t *const valid = malloc(n);
    int64_t count = 0;
    OK(qfz_source_read(source, box, px, valid, &err));
    for (size_t i = 0; i < n; i++)
        count += valid[i];
    free(px);
    free(valid);
    qfz_source_close(source);
    return count;
}

static void real_rasters_have_the_holes_they_should(void **state)
{
    (void)state;
    const int64_t all = 539 * 618, holes = count_valid("dem/aster_exploradores_f32_holes.tif");
    assert_true(holes > 0 && holes < all);
    assert_true(count_valid("dem/linz_dem_1m_f32_odd_nodata.tif") <= 480 * 720);
    assert_true(count_valid("torture/test_with_mask_1bit.tif") < 400);
    assert_true(count_valid("torture/test3_with_mask_8bit.tif") < 400);
    assert_true(count_valid("torture/rasterio_RGBA.uint16.tif") < 634 * 411);
    assert_true(count_valid("torture/nan32_nodata.tif") < 100);
}

/* The message names the raster that cannot be read: the source or its mask. */
static void a_damaged_mask_is_named(void **state)
{
    (void)state;
    enum { SIDE = 256 };
    static const char mask[] = "/vsimem/damaged_mask.tif";
    static uint8_t px[SIDE * SIDE], valid[SIDE * SIDE];
    char *options[] = {"COMPRESS=DEFLATE", NULL};
    uint32_t noise = 1;
    for (int i = 0; i < SIDE * SIDE; i++) {
        noise = noise * 1664525u + 1013904223u;
        px[i] = (uint8_t)(noise >> 24);
    }
    GDALClose(make(src, SIDE, SIDE, 1, GDT_Byte, px));
    GDALClose(make_with(mask, SIDE, SIDE, 1, GDT_Byte, px, options));
    VSILFILE *const file = VSIFOpenL(mask, "r+b");
    assert_int_equal(VSIFTruncateL(file, SIDE * SIDE / 2), 0);
    assert_int_equal(VSIFCloseL(file), 0);
    qfz_source_options input = source_of(src);
    input.mask = mask;
    qfz_source *const source = open_it(&input);
    FAILS(qfz_source_read(source, whole(source), px, valid, &err), QFZ_EIO, mask);
    qfz_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pixel_is_nodata_in_all_bands_or_in_any),
        cmocka_unit_test(nodata_that_the_type_cannot_hold_matches_nothing),
        cmocka_unit_test(float_nodata_is_compared_as_single),
        cmocka_unit_test(each_integer_type_compares_its_extremes),
        cmocka_unit_test(nan_in_any_band_is_invalid),
        cmocka_unit_test(transparent_pixels_are_invalid),
        cmocka_unit_test(masks_inside_and_beside_the_file_count),
        cmocka_unit_test(a_mask_of_one_band_counts_for_all),
        cmocka_unit_test(a_mask_of_its_own_file_counts),
        cmocka_unit_test(a_mask_of_doubles_counts_by_its_own_zero),
        cmocka_unit_test(nodata_values_are_nodata_together),
        cmocka_unit_test(background_is_every_bands_value),
        cmocka_unit_test(real_rasters_have_the_holes_they_should),
        cmocka_unit_test(a_damaged_mask_is_named),
    };
    return status_of(cmocka_run_group_tests(tests, set_up, NULL));
}
