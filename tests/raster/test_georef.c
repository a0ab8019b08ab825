/* SPDX-License-Identifier: MIT */
/* test_georef.c - outputs have the CRS, geotransform, GCPs and pixel convention of the source;
 * areas of pixels are right. */
#include "scene.h"

#include <geodesic.h>
#include <ogr_srs_api.h>

static const char src[] = "/vsimem/in/source.tif", dst[] = "/vsimem/out/dst.tif";

static void set_crs(GDALDatasetH dataset, int epsg)
{
    const OGRSpatialReferenceH srs = OSRNewSpatialReference(NULL);
    assert_int_equal(OSRImportFromEPSG(srs, epsg), OGRERR_NONE);
    OSRSetAxisMappingStrategy(srs, OAMS_TRADITIONAL_GIS_ORDER);
    assert_int_equal(GDALSetSpatialRef(dataset, srs), CE_None);
    OSRDestroySpatialReference(srs);
}

/* Writes an output of the source and opens it for reading. */
static GDALDatasetH output_of(const char *name, qfz_layout layout)
{
    const qfz_source_options input = source_of(name);
    const qfz_sink_options output = {.output.overwrite = true, .n_threads = 1};
    qfz_sink *sink = NULL;
    qfz_source *const source = open_it(&input);
    const qfz_source_info *const info = qfz_source_get_info(source);
    const bool cells = layout == QFZ_KHALIMSKY;
    const qfz_sink_spec spec = {.path = dst,
                                .content = QFZ_CONTENT_SALIENCY,
                                .layout = layout,
                                .w = cells ? 2 * info->w - 1 : info->w,
                                .h = cells ? 2 * info->h - 1 : info->h,
                                .n_bands = 1,
                                .type = QFZ_OUT_U16,
                                .connectivity = 4};
    OK(qfz_sink_create(&sink, source, &output, &spec, &err));
    OK(qfz_sink_commit(sink, &err));
    qfz_sink_close(sink);
    qfz_source_close(source);
    const GDALDatasetH made = GDALOpen(dst, GA_ReadOnly);
    assert_non_null(made);
    return made;
}

static void place(const double t[6], double px, double py, double *x, double *y)
{
    *x = t[0] + px * t[1] + py * t[2];
    *y = t[3] + px * t[4] + py * t[5];
}

static void rotated_geotransforms_and_crs_pass(void **state)
{
    (void)state;
    double t[6] = {500000.5, 10, 3, 4000000.25, 2, -12}, got[6];
    static const char *const conventions[] = {"Area", "Point"};
    for (int i = 0; i < 2; i++) {
        GDALDatasetH made = make(src, 4, 3, 1, GDT_Byte, NULL);
        set_crs(made, 32632);
        GDALSetMetadataItem(made, "AREA_OR_POINT", conventions[i], NULL);
        assert_int_equal(GDALSetGeoTransform(made, t), CE_None);
        GDALClose(made);
        made = output_of(src, QFZ_EDGES);
        assert_int_equal(GDALGetGeoTransform(made, got), CE_None);
        for (int k = 0; k < 6; k++)
            assert_true(fabs(got[k] - t[k]) < 1e-9);
        assert_string_equal(OSRGetAuthorityCode(GDALGetSpatialRef(made), NULL), "32632");
        assert_string_equal(GDALGetMetadataItem(made, "AREA_OR_POINT", NULL), conventions[i]);
        GDALClose(made);
    }
}

static void khalimsky_cells_lie_on_their_pixels(void **state)
{
    (void)state;
    double t[6] = {500000.5, 10, 3, 4000000.25, 2, -12}, got[6], a[2], b[2];
    GDALDatasetH made = make(src, 4, 3, 1, GDT_Byte, NULL);
    assert_int_equal(GDALSetGeoTransform(made, t), CE_None);
    GDALClose(made);
    made = output_of(src, QFZ_KHALIMSKY);
    assert_int_equal(GDALGetGeoTransform(made, got), CE_None);
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 4; x++) {
            place(t, x + 0.5, y + 0.5, &a[0], &a[1]);
            place(got, 2 * x + 0.5, 2 * y + 0.5, &b[0], &b[1]);
            assert_true(fabs(a[0] - b[0]) < 1e-8 && fabs(a[1] - b[1]) < 1e-8);
        }
    GDALClose(made);
}

static void gcps_pass(void **state)
{
    (void)state;
    char file[1024];
    (void)snprintf(file, sizeof file, "%s", data_file("torture/byte_gcp.tif"));
    const GDALDatasetH before = GDALOpen(file, GA_ReadOnly);
    for (int layout = QFZ_EDGES; layout <= QFZ_KHALIMSKY; layout += 2) {
        const GDALDatasetH made = output_of(file, (qfz_layout)layout);
        const int n = GDALGetGCPCount(before);
        assert_true(n > 0);
        assert_int_equal(GDALGetGCPCount(made), n);
        for (int i = 0; i < n; i++) {
            const GDAL_GCP *const p = GDALGetGCPs(before) + i, *const q = GDALGetGCPs(made) + i;
            const double at = layout == QFZ_EDGES ? p->dfGCPPixel : 2 * p->dfGCPPixel - 0.5;
            assert_true(fabs(q->dfGCPPixel - at) < 1e-6 && q->dfGCPX == p->dfGCPX);
        }
        assert_true(OSRIsSame(GDALGetGCPSpatialRef(made), GDALGetGCPSpatialRef(before)));
        GDALClose(made);
    }
    GDALClose(before);
}

static void rpcs_pass(void **state)
{
    (void)state;
    const GDALDatasetH made = output_of(data_file("torture/byte_rpc.tif"), QFZ_EDGES);
    assert_non_null(GDALGetMetadataItem(made, "LINE_NUM_COEFF", "RPC"));
    GDALClose(made);
}

static void odd_crs_pass(void **state)
{
    (void)state;
    static const char *const names[] = {"medium/goes16_m1_c03_u16_geos.tif",
                                        "landcover/nlcd2011_zion.tif"};
    for (int i = 0; i < 2; i++) {
        char file[1024];
        double t[6], got[6];
        (void)snprintf(file, sizeof file, "%s", data_file(names[i]));
        const GDALDatasetH before = GDALOpen(file, GA_ReadOnly), made = output_of(file, QFZ_EDGES);
        assert_true(OSRIsSame(GDALGetSpatialRef(before), GDALGetSpatialRef(made)));
        assert_int_equal(GDALGetGeoTransform(before, t), CE_None);
        assert_int_equal(GDALGetGeoTransform(made, got), CE_None);
        assert_memory_equal(t, got, sizeof t);
        GDALClose(before);
        GDALClose(made);
    }
}

static double area_of_row(const qfz_source *source, int64_t y)
{
    uint64_t weight = 0;
    OK(qfz_source_row_areas(source, y, 1, &weight, &err));
    return (double)weight * qfz_source_area_unit(source);
}

static void projected_areas_are_the_determinant(void **state)
{
    (void)state;
    double t[6] = {0, 10, 3, 0, 2, -12};
    GDALDatasetH made = make(src, 4, 3, 1, GDT_Byte, NULL);
    GDALSetGeoTransform(made, t);
    GDALClose(made);
    const qfz_source_options input = source_of(src);
    qfz_source *source = open_it(&input);
    assert_true(fabs(area_of_row(source, 1) - 126) < 1e-9);
    uint64_t weight;
    FAILS(qfz_source_row_areas(source, 2, 2, &weight, &err), QFZ_EARG, "rows 2..3 of 3");
    qfz_source_close(source);
    made = make(src, 4, 3, 1, GDT_Byte, NULL);
    GDALSetGeoTransform(made, t);
    set_crs(made, 2225); /* US survey feet */
    GDALClose(made);
    source = open_it(&input);
    assert_true(fabs(area_of_row(source, 1) - 126 * 0.09290341161327487) < 1e-6);
    qfz_source_close(source);
}

/* Sides of PROJ's polygons are geodesics; many points on a parallel approximate the parallel. */
static double area_by_proj(double lat0, double lat1, double width)
{
    enum { N = 2000 };
    struct geod_geodesic g;
    struct geod_polygon p;
    double area, perimeter;
    geod_init(&g, 6378137, 1 / 298.257223563);
    geod_polygon_init(&p, 0);
    for (int i = 0; i <= N; i++)
        geod_polygon_addpoint(&g, &p, lat0, width * i / N);
    for (int i = N; i >= 0; i--)
        geod_polygon_addpoint(&g, &p, lat1, width * i / N);
    geod_polygon_compute(&g, &p, 0, 1, &area, &perimeter);
    return fabs(area);
}

static void geographic_areas_agree_with_proj(void **state)
{
    (void)state;
    double t[6] = {-180, 0.5, 0, 90, 0, -0.5};
    const GDALDatasetH made = make(src, 720, 360, 1, GDT_Byte, NULL);
    GDALSetGeoTransform(made, t);
    set_crs(made, 4326);
    GDALClose(made);
    const qfz_source_options input = source_of(src);
    qfz_source *const source = open_it(&input);
    uint64_t sum = 0, weights[360];
    OK(qfz_source_row_areas(source, 0, 360, weights, &err));
    for (int y = 0; y < 360; y++)
        sum += weights[y] * 720;
    assert_true(fabs((double)sum * qfz_source_area_unit(source) / 510065621724088.0 - 1) < 1e-12);
    assert_true(sum < UINT64_C(1) << 63);
    for (int y = 0; y < 360; y += 37) {
        const double proj = area_by_proj(90 - 0.5 * y, 89.5 - 0.5 * y, 0.5);
        assert_true(fabs(area_of_row(source, y) / proj - 1) < 1e-8);
        assert_true(weights[y] == weights[359 - y]);
    }
    qfz_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotated_geotransforms_and_crs_pass),
        cmocka_unit_test(khalimsky_cells_lie_on_their_pixels),
        cmocka_unit_test(gcps_pass),
        cmocka_unit_test(rpcs_pass),
        cmocka_unit_test(odd_crs_pass),
        cmocka_unit_test(projected_areas_are_the_determinant),
        cmocka_unit_test(geographic_areas_agree_with_proj),
    };
    return status_of(cmocka_run_group_tests(tests, set_up, NULL));
}
