/* SPDX-License-Identifier: MIT */
/* test_table.c - columns, exact numbers and coordinates of tables, which appear when complete. */
#include "scene.h"

#include <locale.h>
#include <ogr_api.h>
#include <ogr_srs_api.h>

static const char src[] = "/vsimem/in/source.tif";

static qfz_source *scene(int epsg)
{
    double t[6] = {500000, 10, 0, 4500000, 0, -10};
    const qfz_source_options input = source_of(src);
    const GDALDatasetH made = make(src, 100, 100, 2, GDT_Byte, NULL);
    GDALSetGeoTransform(made, t);
    if (epsg > 0) {
        const OGRSpatialReferenceH srs = OSRNewSpatialReference(NULL);
        OSRImportFromEPSG(srs, epsg);
        GDALSetSpatialRef(made, srs);
        OSRDestroySpatialReference(srs);
    }
    GDALClose(made);
    return open_it(&input);
}

static const qfz_region_band two_bands[2] = {{0.1, 0, 1.0 / 3, 1e-300}, {NAN, -1, 255, 2.5}};

static qfz_region_row row_of(uint64_t label)
{
    const qfz_region_row row = {.label = label,
                                .pixels = UINT64_C(1) << 40,
                                .area = 100.1,
                                .x = 0.5,
                                .y = 0.5,
                                .x0 = 0,
                                .y0 = 0,
                                .x1 = 2,
                                .y1 = 3,
                                .bands = two_bands};
    return row;
}

static void write_table(const char *path, qfz_source *source, int n_rows)
{
    const qfz_output_options output = {.names = {path}};
    qfz_table *table = NULL;
    OK(qfz_table_check(source, &output, path, &err));
    OK(qfz_table_create(&table, source, &output, path, 2, &err));
    for (int i = 1; i <= n_rows; i++) {
        const qfz_region_row row = row_of((uint64_t)i + (UINT64_C(1) << 33));
        OK(qfz_table_write(table, &row, &err));
    }
    assert_false(exists(path));
    OK(qfz_table_commit(table, &err));
    qfz_table_close(table);
    assert_true(exists(path));
}

static void csv_has_a_header_and_every_digit(void **state)
{
    (void)state;
    static const char header[] = "label,pixels,area,x,y,lon,lat,xmin,ymin,xmax,ymax,px_x0,px_y0,"
                                 "px_x1,px_y1,mean_1,min_1,max_1,stddev_1,mean_2,min_2,max_2,"
                                 "stddev_2\n8589934593,1099511627776,100.1,500005,4499995,";
    static const char tail[] = ",500000,4499970,500020,4500000,0,0,2,3,0.1,0,0.33333333333333331,"
                               "1e-300,,-1,255,2.5\n";
    vsi_l_offset n = 0;
    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    (void)VSIMkdir("/vsimem/out", 0700);
    qfz_source *const source = scene(32632);
    write_table("/vsimem/out/a.csv", source, 1);
    qfz_source_close(source);
    GByte *const bytes = VSIGetMemFileBuffer("/vsimem/out/a.csv", &n, FALSE);
    char *const text = CPLStrdup(CPLSPrintf("%.*s", (int)n, (const char *)bytes));
    if (strncmp(text, header, strlen(header)) != 0 || !strstr(text, tail)) fail_msg("%s", text);
    assert_int_equal(count_files("/vsimem/out"), 1);
    CPLFree(text);
    VSIUnlink("/vsimem/out/a.csv");
    (void)setlocale(LC_ALL, "C");
}

static void places_are_longitude_then_latitude(void **state)
{
    (void)state;
    static const char path[] = "/vsimem/out/a.gpkg";
    qfz_source *const source = scene(32632);
    write_table(path, source, 3);
    qfz_source_close(source);
    const GDALDatasetH made = GDALOpenEx(path, GDAL_OF_VECTOR, NULL, NULL, NULL);
    assert_non_null(made);
    const OGRLayerH layer = GDALDatasetGetLayer(made, 0);
    assert_string_equal(OGR_L_GetName(layer), "a");
    assert_int_equal(OGR_L_GetFeatureCount(layer, TRUE), 3);
    assert_string_equal(OSRGetAuthorityCode(OGR_L_GetSpatialRef(layer), NULL), "32632");
    OGRFeatureH feature = OGR_L_GetNextFeature(layer);
    const OGRGeometryH point = OGR_F_GetGeometryRef(feature);
    assert_true(OGR_G_GetX(point, 0) == 500005 && OGR_G_GetY(point, 0) == 4499995);
    const double lon = OGR_F_GetFieldAsDouble(feature, OGR_F_GetFieldIndex(feature, "lon"));
    const double lat = OGR_F_GetFieldAsDouble(feature, OGR_F_GetFieldIndex(feature, "lat"));
    assert_true(fabs(lon - 9.0000592) < 1e-6 && fabs(lat - 40.6507) < 1e-3);
    const int label = OGR_F_GetFieldIndex(feature, "label"),
              mean = OGR_F_GetFieldIndex(feature, "mean_2");
    assert_true(OGR_F_GetFieldAsInteger64(feature, label) == ((GIntBig)1 << 33) + 1);
    assert_false(OGR_F_IsFieldSetAndNotNull(feature, mean));
    OGR_F_Destroy(feature);
    GDALClose(made);
    assert_int_equal(count_files("/vsimem/out"), 1);
    VSIUnlink(path);
}

static void many_rows_take_several_transactions(void **state)
{
    (void)state;
    static const char path[] = "/vsimem/out/b.gpkg";
    qfz_source *const source = scene(32632);
    write_table(path, source, 40001);
    qfz_source_close(source);
    const GDALDatasetH made = GDALOpenEx(path, GDAL_OF_VECTOR, NULL, NULL, NULL);
    assert_int_equal(OGR_L_GetFeatureCount(GDALDatasetGetLayer(made, 0), TRUE), 40001);
    GDALClose(made);
    VSIUnlink(path);
}

static void other_formats_work(void **state)
{
    (void)state;
    static const char *const names[] = {"/vsimem/out/c.geojson", "/vsimem/out/c.fgb",
                                        "/vsimem/out/c.shp", "/vsimem/out/c.xlsx"};
    qfz_source *const source = scene(0);
    for (int i = 0; i < 4; i++) {
        if (i == 3 && !GDALGetDriverByName("XLSX")) continue;
        write_table(names[i], source, 2);
        const GDALDatasetH made = GDALOpenEx(names[i], GDAL_OF_VECTOR, NULL, NULL, NULL);
        assert_non_null(made);
        const OGRLayerH layer = GDALDatasetGetLayer(made, 0);
        assert_int_equal(OGR_L_GetFeatureCount(layer, TRUE), 2);
        assert_int_equal(OGR_FD_GetFieldIndex(OGR_L_GetLayerDefn(layer), "lon"), -1);
        GDALClose(made);
    }
    char **const left = VSIReadDir("/vsimem/out");
    for (char **name = left; name && *name; name++)
        assert_true(strncmp(*name, "c.", 2) == 0);
    CSLDestroy(left);
    VSIRmdirRecursive("/vsimem/out");
    qfz_source_close(source);
}

static void unknown_names_are_refused_and_nothing_stays(void **state)
{
    (void)state;
    const qfz_output_options output = {.overwrite = false};
    qfz_table *table = NULL;
    qfz_source *const source = scene(0);
    FAILS(qfz_table_check(source, &output, "/vsimem/out/a.qqq", &err), QFZ_EARG, ".qqq");
    FAILS(qfz_table_check(source, &output, "/vsimem/out/a", &err), QFZ_EARG, "extension");
    FAILS(qfz_table_check(source, &output, src, &err), QFZ_EARG, "replace an input");
    OK(qfz_table_create(&table, source, &output, "/vsimem/out/a.gpkg", 2, &err));
    const qfz_region_row row = row_of(1), wide = row_of(UINT64_MAX);
    OK(qfz_table_write(table, &row, &err));
    FAILS(qfz_table_write(table, &wide, &err), QFZ_EARG, "2^63");
    qfz_table_close(table);
    assert_int_equal(count_files("/vsimem/out"), 0);
    qfz_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_has_a_header_and_every_digit),
        cmocka_unit_test(places_are_longitude_then_latitude),
        cmocka_unit_test(many_rows_take_several_transactions),
        cmocka_unit_test(other_formats_work),
        cmocka_unit_test(unknown_names_are_refused_and_nothing_stays),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
