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

static const qfz_column columns[] = {{"label", QFZ_COLUMN_UINT64}, {"left", QFZ_COLUMN_INT64},
                                     {"area", QFZ_COLUMN_DOUBLE},  {"lon", QFZ_COLUMN_DOUBLE},
                                     {"lat", QFZ_COLUMN_DOUBLE},   {"mean", QFZ_COLUMN_DOUBLE},
                                     {"name", QFZ_COLUMN_STRING}};
enum { COLUMNS = sizeof columns / sizeof columns[0], ROWS_MAX = 40001 };

/* Values of all rows; row i is the same in every table. */
typedef struct cells {
    uint64_t label[ROWS_MAX];
    int64_t left[ROWS_MAX];
    double area[ROWS_MAX], lon[ROWS_MAX], lat[ROWS_MAX], mean[ROWS_MAX];
    const char *name[ROWS_MAX];
    double x[ROWS_MAX], y[ROWS_MAX];
} cells;

static cells *make_cells(const qfz_source *source)
{
    static const char *const names[] = {"plain", "with \"quotes\", comma", NULL, "\xc3\xa4"};
    static const double means[] = {1.0 / 3, NAN, -1, 1e-300};
    static cells c;
    qfz_lon_lat *places = NULL;
    for (int i = 0; i < ROWS_MAX; i++) {
        c.label[i] = (uint64_t)i + (UINT64_C(1) << 33) + 1;
        c.left[i] = i % 3 == 2 ? QFZ_COLUMN_NULL : -i;
        c.area[i] = 100.1 + i;
        c.mean[i] = means[i % 4];
        c.name[i] = names[i % 4];
        c.x[i] = 0.5 + i % 100;
        c.y[i] = 0.5;
    }
    qfz_source_to_crs(source, ROWS_MAX, c.x, c.y);
    memcpy(c.lon, c.x, sizeof c.x);
    memcpy(c.lat, c.y, sizeof c.y);
    OK(qfz_lon_lat_open(&places, source, &err));
    if (places) qfz_lon_lat_convert(places, 100, c.lon, c.lat);
    qfz_lon_lat_close(places);
    return &c;
}

/* Rows first .. first + n - 1. */
static qfz_status write_rows(qfz_table *table, const cells *c, int64_t first, int64_t n,
                             qfz_error *err)
{
    const void *const values[COLUMNS] = {c->label + first, c->left + first, c->area + first,
                                         c->lon + first,   c->lat + first,  c->mean + first,
                                         c->name + first};
    const qfz_table_rows rows = {.n = n, .columns = values, .x = c->x + first, .y = c->y + first};
    return qfz_table_write(table, &rows, err);
}

static qfz_table_spec spec_of(const char *path)
{
    return (qfz_table_spec){
        .path = path, .geometry = QFZ_POINTS, .columns = columns, .n_columns = COLUMNS};
}

static void write_table(const char *path, qfz_source *source, int64_t n_rows)
{
    const qfz_output_options output = {.names = {path}};
    const qfz_table_spec spec = spec_of(path);
    const cells *const c = make_cells(source);
    qfz_table *table = NULL;
    OK(qfz_table_check(source, &output, path, QFZ_POINTS, &err));
    OK(qfz_table_create(&table, source, &output, &spec, &err));
    for (int64_t first = 0, n = 1; first < n_rows; first += n, n = 3 * n) /* uneven batches */
        OK(write_rows(table, c, first, n < n_rows - first ? n : n_rows - first, &err));
    assert_false(exists(path));
    OK(qfz_table_commit(table, &err));
    qfz_table_close(table);
    assert_true(exists(path));
}

static void csv_has_a_header_and_every_digit(void **state)
{
    (void)state;
    static const char start[] = "label,left,area,lon,lat,mean,name\n8589934593,0,100.1,";
    static const char first[] = ",0.33333333333333331,plain\n";
    static const char rest[] = ",,\"with \"\"quotes\"\", comma\"\n8589934595,,102.1,";
    vsi_l_offset n = 0;
    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    (void)VSIMkdir("/vsimem/out", 0700);
    qfz_source *const source = scene(32632);
    write_table("/vsimem/out/a.csv", source, 4);
    qfz_source_close(source);
    GByte *const bytes = VSIGetMemFileBuffer("/vsimem/out/a.csv", &n, FALSE);
    char *const text = CPLStrdup(CPLSPrintf("%.*s", (int)n, (const char *)bytes));
    if (strncmp(text, start, strlen(start)) != 0 || !strstr(text, first) || !strstr(text, rest) ||
        !strstr(text, ",1e-300,\xc3\xa4\n"))
        fail_msg("%s", text);
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
              mean = OGR_F_GetFieldIndex(feature, "mean");
    assert_true(OGR_F_GetFieldAsInteger64(feature, label) == ((GIntBig)1 << 33) + 1);
    assert_true(OGR_F_GetFieldAsDouble(feature, mean) == 1.0 / 3);
    OGR_F_Destroy(feature);
    feature = OGR_L_GetNextFeature(layer);
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
        GDALClose(made);
    }
    char **const left = VSIReadDir("/vsimem/out");
    for (char **name = left; name && *name; name++)
        assert_true(strncmp(*name, "c.", 2) == 0);
    CSLDestroy(left);
    VSIRmdirRecursive("/vsimem/out");
    qfz_source_close(source);
}

/* Two squares beside each other, and a square with a square hole, from WKT. */
static void polygons_keep_their_holes(void **state)
{
    (void)state;
    static const char *const wkt[] = {
        "MULTIPOLYGON (((0 0,1 0,1 1,0 1,0 0)),((2 0,3 0,3 1,2 1,2 0)))",
        "MULTIPOLYGON (((0 0,9 0,9 9,0 9,0 0),(3 3,3 6,6 6,6 3,3 3)))"};
    static const char *const names[] = {"/vsimem/out/p.gpkg", "/vsimem/out/p.fgb",
                                        "/vsimem/out/p.geojson"};
    static const qfz_column label[] = {{"label", QFZ_COLUMN_UINT64}};
    static const uint64_t labels[] = {1, 2};
    uint8_t wkb[1000];
    int64_t starts[3] = {0};
    qfz_source *const source = scene(32632);
    const qfz_output_options output = {.overwrite = false};
    for (int i = 0; i < 2; i++) {
        char *text = (char *)(uintptr_t)wkt[i];
        OGRGeometryH geometry = NULL;
        OGR_G_CreateFromWkt(&text, NULL, &geometry);
        OGR_G_ExportToWkb(geometry, wkbNDR, wkb + starts[i]);
        starts[i + 1] = starts[i] + OGR_G_WkbSize(geometry);
        OGR_G_DestroyGeometry(geometry);
    }
    for (int k = 0; k < 3; k++) {
        const void *const values[] = {labels};
        const qfz_table_spec spec = {
            .path = names[k], .geometry = QFZ_MULTIPOLYGONS, .columns = label, .n_columns = 1};
        const qfz_table_rows rows = {.n = 2, .columns = values, .wkb = wkb, .wkb_starts = starts};
        qfz_table *table = NULL;
        OK(qfz_table_create(&table, source, &output, &spec, &err));
        OK(qfz_table_write(table, &rows, &err));
        OK(qfz_table_commit(table, &err));
        qfz_table_close(table);
        const GDALDatasetH made = GDALOpenEx(names[k], GDAL_OF_VECTOR, NULL, NULL, NULL);
        const OGRLayerH layer = GDALDatasetGetLayer(made, 0);
        int n_found = 0;
        for (OGRFeatureH f; (f = OGR_L_GetNextFeature(layer)) != NULL; OGR_F_Destroy(f)) {
            char *text = NULL;
            OGR_G_ExportToWkt(OGR_F_GetGeometryRef(f), &text);
            const int which = OGR_F_GetFieldAsInteger(f, 0) - 1;
            assert_string_equal(text, wkt[which]);
            CPLFree(text);
            n_found++;
        }
        assert_int_equal(n_found, 2);
        GDALClose(made);
        VSIUnlink(names[k]);
    }
    qfz_source_close(source);
}

static void unknown_names_are_refused_and_nothing_stays(void **state)
{
    (void)state;
    const qfz_output_options output = {.overwrite = false};
    const qfz_table_spec spec = spec_of("/vsimem/out/a.gpkg");
    qfz_table *table = NULL;
    qfz_source *const source = scene(0);
    FAILS(qfz_table_check(source, &output, "/vsimem/out/a.qqq", QFZ_POINTS, &err), QFZ_EARG,
          ".qqq");
    FAILS(qfz_table_check(source, &output, "/vsimem/out/a", QFZ_POINTS, &err), QFZ_EARG,
          "extension");
    FAILS(qfz_table_check(source, &output, src, QFZ_POINTS, &err), QFZ_EARG, "replace an input");
    FAILS(qfz_table_check(source, &output, "/vsimem/out/a.csv", QFZ_POLYGONS, &err), QFZ_EARG,
          "no polygons");
    OK(qfz_table_create(&table, source, &output, &spec, &err));
    cells *const c = make_cells(source);
    OK(write_rows(table, c, 0, 2, &err));
    c->label[1] = UINT64_MAX;
    FAILS(write_rows(table, c, 0, 2, &err), QFZ_EARG, "column label is larger than 2^63");
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
        cmocka_unit_test(polygons_keep_their_holes),
        cmocka_unit_test(unknown_names_are_refused_and_nothing_stays),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
