/* SPDX-License-Identifier: MIT */
/* test_table.c - columns, exact numbers and coordinates of tables, which appear when complete. */
#include "scene.h"

#include <locale.h>
#include <ogr_api.h>
#include <ogr_srs_api.h>

#include "raster/number_text.h"

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
enum { COLUMNS = sizeof columns / sizeof columns[0], ROWS_MAX = 140001 };

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
        c.x[i] = 0.5 + i * 37 % 1000;
        c.y[i] = 0.5 + (int)(i / 5.0) % 400;
    }
    qfz_source_to_crs(source, ROWS_MAX, c.x, c.y);
    memcpy(c.lon, c.x, sizeof c.x);
    memcpy(c.lat, c.y, sizeof c.y);
    OK(qfz_lon_lat_open(&places, source, &err));
    if (places) qfz_lon_lat_convert(places, 100, c.lon, c.lat);
    qfz_lon_lat_close(places);
    return &c;
}

/* In one step, or in two. */
static qfz_status write_in(int steps, qfz_table *table, const qfz_table_rows *rows, qfz_error *err)
{
    qfz_table_text text = {0};
    if (steps == 1) return qfz_table_write(table, rows, err);
    qfz_status st = qfz_table_prepare(table, rows, &text, err);
    if (st == QFZ_OK) st = qfz_table_write_prepared(table, rows, &text, err);
    qfz_table_text_fini(&text);
    return st;
}

/* Rows first .. first + n - 1. */
static qfz_status write_rows(int steps, qfz_table *table, const cells *c, int64_t first, int64_t n,
                             qfz_error *err)
{
    const void *const values[COLUMNS] = {c->label + first, c->left + first, c->area + first,
                                         c->lon + first,   c->lat + first,  c->mean + first,
                                         c->name + first};
    const qfz_table_rows rows = {.n = n, .columns = values, .x = c->x + first, .y = c->y + first};
    return write_in(steps, table, &rows, err);
}

static qfz_table_spec spec_of(const char *path)
{
    return (qfz_table_spec){.path = path,
                            .geometry = QFZ_POINTS,
                            .columns = columns,
                            .n_columns = COLUMNS,
                            .n_threads = 2};
}

static void write_table_in(int steps, const char *path, qfz_source *source, int64_t n_rows)
{
    const qfz_output_options output = {.names = {path}};
    qfz_table_spec spec = spec_of(path);
    const cells *const c = make_cells(source);
    spec.n_rows = n_rows;
    spec.memory_bytes = 1000; /* for nothing that grows with the rows */
    qfz_table *table = NULL;
    OK(qfz_table_check(source, &output, path, QFZ_POINTS, &err));
    OK(qfz_table_create(&table, source, &output, &spec, &err));
    for (int64_t first = 0, n = 1; first < n_rows; first += n, n = 3 * n) /* uneven batches */
        OK(write_rows(steps, table, c, first, n < n_rows - first ? n : n_rows - first, &err));
    assert_false(exists(path));
    OK(qfz_table_commit(table, &err));
    qfz_table_close(table);
    assert_true(exists(path));
}

static void write_table(const char *path, qfz_source *source, int64_t n_rows)
{
    write_table_in(1, path, source, n_rows);
}

/* Threads may make rows ready before their turn. */
static void rows_in_two_steps_make_the_same_file(void **state)
{
    (void)state;
    static const char *const formats[] = {"csv", "geojson"};
    for (int i = 0; i < 2; i++) {
        char paths[2][64];
        vsi_l_offset n[2];
        qfz_source *const source = scene(32631);
        for (int steps = 1; steps <= 2; steps++) {
            (void)snprintf(paths[steps - 1], sizeof paths[0], "/vsimem/%d/rows.%s", steps,
                           formats[i]);
            write_table_in(steps, paths[steps - 1], source, 5000);
        }
        const GByte *const one = VSIGetMemFileBuffer(paths[0], &n[0], FALSE);
        const GByte *const two = VSIGetMemFileBuffer(paths[1], &n[1], FALSE);
        assert_true(n[0] > 5000 && n[0] == n[1] && memcmp(one, two, n[0]) == 0);
        VSIUnlink(paths[0]);
        VSIUnlink(paths[1]);
        qfz_source_close(source);
    }
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

/* Bits of any double: of all sizes, or with few decimals, or near such a number. */
static double random_real(uint64_t *seed)
{
    double value;
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t bits = *seed ^ *seed >> 29;
    const int kind = (int)(*seed >> 61);
    if (kind >= 2) { /* exponents of 10^-5 .. 10^17 */
        bits &= ~(UINT64_C(2047) << 52);
        bits |= (uint64_t)(1006 + (*seed >> 20) % 74) << 52;
    }
    memcpy(&value, &bits, sizeof value);
    if (kind >= 5) value = floor(value * 1000) / 1000;
    if (kind == 7) value = nextafter(value, kind * 1e300);
    return value;
}

static void numbers_have_the_digits_of_printf(void **state)
{
    (void)state;
    static const double hard[] = {0,
                                  -0.0,
                                  1e-4,
                                  0.1,
                                  0.5,
                                  0.25,
                                  1e15,
                                  1e15 / 7,
                                  9.5e14 + 0.1,
                                  0.3,
                                  1.0 / 3,
                                  99999999999999.9,
                                  0.99999999999999989,
                                  9.9999999999999991e-5,
                                  123456789012345.6,
                                  4503599627370495.5,
                                  INFINITY,
                                  -INFINITY,
                                  5e-324,
                                  1e300};
    uint64_t seed = 7;
    for (int i = 0; i < 150000; i++) {
        const int n_hard = (int)(sizeof hard / sizeof hard[0]);
        double value = i < n_hard ? hard[i] : random_real(&seed);
        char text[QFZ_NUMBER_BYTES + 1], expected[40];
        if (isnan(value)) continue;
        text[qfz_real_write(text, value)] = '\0';
        if (value == floor(value) && fabs(value) < 1e15)
            (void)snprintf(expected, sizeof expected, "%.0f", value + 0.0);
        else
            (void)snprintf(expected, sizeof expected, "%.15g", value);
        if (strtod(expected, NULL) != value)
            (void)snprintf(expected, sizeof expected, "%.17g", value);
        if (strcmp(text, expected) != 0) fail_msg("%a: %s, expected %s", value, text, expected);
    }
    char text[QFZ_NUMBER_BYTES + 1];
    text[qfz_whole_write(text, INT64_MIN)] = '\0';
    assert_string_equal(text, "-9223372036854775808");
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

static int64_t count_in(OGRLayerH layer, double x0, double y0, double x1, double y1)
{
    OGR_L_SetSpatialFilterRect(layer, x0, y0, x1, y1);
    return OGR_L_GetFeatureCount(layer, TRUE);
}

/* Queries of boxes of several sizes. */
static void check_queries(OGRLayerH layer, const cells *c, int64_t n)
{
    for (int turn = 0; turn < 20; turn++) {
        const int64_t i = turn * 977 % (n > 0 ? n : 1);
        const double x0 = c->x[i] - 30 * turn, y0 = c->y[i] - 1, y1 = y0 + 10 * turn;
        int64_t expected = 0;
        for (int64_t j = 0; j < n; j++)
            expected += c->x[j] >= x0 && c->x[j] <= c->x[i] && c->y[j] >= y0 && c->y[j] <= y1;
        assert_int_equal(count_in(layer, x0, y0, c->x[i], y1), expected);
    }
    OGR_L_SetSpatialFilter(layer, NULL);
}

/* A row that moves is found at its new place. */
static void check_triggers(OGRLayerH layer)
{
    const OGRGeometryH far = OGR_G_CreateGeometry(wkbPoint);
    const OGRFeatureH row = OGR_L_GetFeature(layer, 1);
    OGR_G_SetPoint_2D(far, 0, -5, -5);
    OGR_F_SetGeometryDirectly(row, far);
    assert_int_equal(OGR_L_SetFeature(layer, row), OGRERR_NONE);
    OGR_F_Destroy(row);
    assert_int_equal(count_in(layer, -6, -6, -4, -4), 1);
}

/* Trees of one node, of two levels and of more, and several times the boxes packed together. */
static void a_geopackage_index_finds_every_row(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 51, 52, 2601, 2700, ROWS_MAX};
    static const char path[] = "/vsimem/out/b.gpkg";
    qfz_source *const source = scene(32632);
    const cells *const c = make_cells(source);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        write_table(path, source, sizes[k]);
        const GDALDatasetH made =
            GDALOpenEx(path, GDAL_OF_VECTOR | GDAL_OF_UPDATE, NULL, NULL, NULL);
        const OGRLayerH layer = GDALDatasetGetLayer(made, 0);
        assert_int_equal(OGR_L_GetFeatureCount(layer, TRUE), sizes[k]);
        const OGRLayerH checked = GDALDatasetExecuteSQL(
            made, "SELECT HasSpatialIndex('b', 'geom') || rtreecheck('rtree_b_geom')", NULL, NULL);
        const OGRFeatureH answer = OGR_L_GetNextFeature(checked);
        assert_string_equal(OGR_F_GetFieldAsString(answer, 0), "1ok");
        OGR_F_Destroy(answer);
        GDALDatasetReleaseResultSet(made, checked);
        check_queries(layer, c, sizes[k]);
        if (sizes[k] > 0) check_triggers(layer);
        GDALClose(made);
        VSIUnlink(path);
    }
    qfz_source_close(source);
}

static void check_cells(OGRFeatureH row, const cells *c, int64_t i)
{
    const char *const name = OGR_F_GetFieldAsString(row, 6);
    assert_true(OGR_F_GetFieldAsInteger64(row, 0) == (GIntBig)c->label[i]);
    assert_int_equal(OGR_F_IsFieldSetAndNotNull(row, 1), c->left[i] != QFZ_COLUMN_NULL);
    if (c->left[i] != QFZ_COLUMN_NULL) assert_true(OGR_F_GetFieldAsInteger64(row, 1) == c->left[i]);
    assert_true(OGR_F_GetFieldAsDouble(row, 2) == c->area[i]);
    assert_int_equal(OGR_F_IsFieldSetAndNotNull(row, 5), !isnan(c->mean[i]));
    if (!isnan(c->mean[i])) assert_true(OGR_F_GetFieldAsDouble(row, 5) == c->mean[i]);
    assert_int_equal(OGR_F_IsFieldSetAndNotNull(row, 6), c->name[i] != NULL);
    if (c->name[i]) assert_string_equal(name, c->name[i]);
    const OGRGeometryH point = OGR_F_GetGeometryRef(row);
    assert_true(OGR_G_GetX(point, 0) == c->x[i] && OGR_G_GetY(point, 0) == c->y[i]);
}

static void a_flatgeobuf_index_finds_every_row(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 15, 16, 17, 256, 257, 4097, ROWS_MAX};
    static const char path[] = "/vsimem/out/b.fgb";
    qfz_source *const source = scene(32632);
    const cells *const c = make_cells(source);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        int64_t n = 0, sum = 0;
        write_table(path, source, sizes[k]);
        const GDALDatasetH made = GDALOpenEx(path, GDAL_OF_VECTOR, NULL, NULL, NULL);
        const OGRLayerH layer = GDALDatasetGetLayer(made, 0);
        assert_int_equal(OGR_L_GetFeatureCount(layer, TRUE), sizes[k]);
        for (OGRFeatureH row; (row = OGR_L_GetNextFeature(layer)) != NULL; n++) {
            const int64_t i = OGR_F_GetFieldAsInteger64(row, 0) - (int64_t)c->label[0];
            check_cells(row, c, i);
            sum += i;
            if (n % 1000 == 0) { /* the number of a feature leads to the same feature */
                const OGRFeatureH again = OGR_L_GetFeature(layer, OGR_F_GetFID(row));
                check_cells(again, c, i);
                OGR_F_Destroy(again);
                OGR_L_SetNextByIndex(layer, n + 1);
            }
            OGR_F_Destroy(row);
        }
        assert_true(n == sizes[k] && sum == n * (n - 1) / 2);
        check_queries(layer, c, sizes[k]);
        if (n > 0) {
            OGREnvelope found;
            assert_int_equal(OGR_L_GetExtent(layer, &found, FALSE), OGRERR_NONE);
            assert_int_equal(count_in(layer, found.MinX, found.MinY, found.MaxX, found.MaxY), n);
        }
        GDALClose(made);
        VSIUnlink(path);
    }
    qfz_source_close(source);
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
        const qfz_table_spec spec = {.path = names[k],
                                     .geometry = QFZ_MULTIPOLYGONS,
                                     .columns = label,
                                     .n_columns = 1,
                                     .n_threads = 1};
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

/* QFZ_POINTS, and one column unless the test needs more. */
static qfz_table_spec rows_of(const char *path, int n_columns, int64_t n_rows, int64_t memory_bytes)
{
    return (qfz_table_spec){.path = path,
                            .geometry = QFZ_POINTS,
                            .n_columns = n_columns,
                            .n_rows = n_rows,
                            .memory_bytes = memory_bytes};
}

static bool suggests(qfz_table_geometry geometry, const char *extension)
{
    qfz_error err = {0};
    qfz_table_spec spec = rows_of("a.xlsx", 1, 1 << 20, INT64_MAX);
    spec.geometry = geometry;
    assert_int_equal(qfz_table_check_rows(&spec, &err), QFZ_EARG);
    assert_non_null(strstr(err.message, "; use .gpkg"));
    return strstr(err.message, extension) != NULL;
}

/* The message suggested .parquet where GDAL has no such driver. */
static void only_formats_that_gdal_has_are_suggested(void **state)
{
    (void)state;
    const GDALDriverH fgb = GDALGetDriverByName("FlatGeobuf");
    if (!GDALGetDriverByName("XLSX") || !fgb) return;
    assert_true(suggests(QFZ_POINTS, ".fgb"));
    assert_false(suggests(QFZ_NO_GEOMETRY, ".fgb"));
    assert_int_equal(suggests(QFZ_POINTS, ".parquet"), GDALGetDriverByName("Parquet") != NULL);
    GDALDeregisterDriver(fgb);
    const bool without = suggests(QFZ_POINTS, ".fgb");
    (void)GDALRegisterDriver(fgb);
    assert_false(without);
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
    if (GDALGetDriverByName("FlatGeobuf"))
        FAILS(qfz_table_check(source, &output, "/vsimem/out/a.fgb", QFZ_NO_GEOMETRY, &err),
              QFZ_EARG, "no rows without geometry; use .gpkg");
    if (GDALGetDriverByName("MBTiles"))
        FAILS(qfz_table_check(source, &output, "/vsimem/out/a.mbtiles", QFZ_NO_GEOMETRY, &err),
              QFZ_EARG, "no rows without geometry; use .gpkg");
    if (GDALGetDriverByName("MVT"))
        FAILS(qfz_table_check(source, &output, "/vsimem/out/a.pbf", QFZ_NO_GEOMETRY, &err),
              QFZ_EARG, "no rows without geometry; use .gpkg");
    const qfz_table_spec few = rows_of("a.xlsx", 10, 1000, 1000000),
                         large = rows_of("a.xlsx", 10, 10000, 1000000),
                         many = rows_of("a.xlsx", 1, 1 << 20, INT64_MAX),
                         any = rows_of("a.gpkg", 10, INT64_MAX, 1);
    if (GDALGetDriverByName("XLSX")) {
        OK(qfz_table_check_rows(&few, &err));
        FAILS(qfz_table_check_rows(&large, &err), QFZ_ENOMEM, "use .gpkg");
        FAILS(qfz_table_check_rows(&many, &err), QFZ_EARG, "1048575");
    }
    OK(qfz_table_check_rows(&any, &err));
    OK(qfz_table_create(&table, source, &output, &spec, &err));
    cells *const c = make_cells(source);
    OK(write_rows(1, table, c, 0, 2, &err));
    c->label[1] = UINT64_MAX;
    for (int steps = 1; steps <= 2; steps++)
        FAILS(write_rows(steps, table, c, 0, 2, &err), QFZ_EARG,
              "column label is larger than 2^63");
    qfz_table_close(table);
    assert_int_equal(count_files("/vsimem/out"), 0);
    qfz_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_two_steps_make_the_same_file),
        cmocka_unit_test(csv_has_a_header_and_every_digit),
        cmocka_unit_test(numbers_have_the_digits_of_printf),
        cmocka_unit_test(places_are_longitude_then_latitude),
        cmocka_unit_test(a_geopackage_index_finds_every_row),
        cmocka_unit_test(a_flatgeobuf_index_finds_every_row),
        cmocka_unit_test(other_formats_work),
        cmocka_unit_test(polygons_keep_their_holes),
        cmocka_unit_test(only_formats_that_gdal_has_are_suggested),
        cmocka_unit_test(unknown_names_are_refused_and_nothing_stays),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
