/* SPDX-License-Identifier: MIT */
/* test_parts.c - an output in parts equals one that was written whole, and appears when all parts
 * are complete. */
#include "scene.h"

#include <ogr_srs_api.h>
#include <unistd.h>

enum { W = 37, H = 29, BANDS = 4, PARTS = 4 };

static const char src[] = "/vsimem/in/source.tif";
static const char out[] = "/vsimem/out";
static const char whole_path[] = "/vsimem/whole/a.tif";

/* Part 1 has no rows; others begin inside blocks. */
static const int64_t rows_of_image[PARTS + 1] = {0, 7, 7, 16, H};
static const int64_t rows_of_khalimsky[PARTS + 1] = {0, 14, 14, 32, 2 * H - 1};

static uint64_t noise[BANDS * 4 * H * W];
static uint8_t valid[4 * H * W];

static int set_up_noise(void **state)
{
    uint64_t x = 1;
    for (size_t i = 0; i < sizeof noise / sizeof noise[0]; i++)
        noise[i] = x = x * 6364136223846793005u + 1442695040888963407u;
    for (size_t i = 0; i < sizeof valid; i++)
        valid[i] = noise[i] >> 40 & 1;
    return set_up(state);
}

/* -------------------------------------------------------------------------- sources and outputs */
static void set_place(GDALDatasetH dataset, const char *place)
{
    static double transform[6] = {500000.25, 2.5, 0.125, 4600000.75, -0.25, -3.1};
    static const char rpc_line[] = "12.5";
    const OGRSpatialReferenceH srs = OSRNewSpatialReference(NULL);
    assert_int_equal(OSRImportFromEPSG(srs, 32633), OGRERR_NONE);
    if (strcmp(place, "transform") == 0) {
        GDALSetGeoTransform(dataset, transform);
        GDALSetSpatialRef(dataset, srs);
    }
    if (strcmp(place, "gcps") == 0) {
        GDAL_GCP gcps[3];
        GDALInitGCPs(3, gcps);
        for (int i = 0; i < 3; i++) {
            gcps[i].dfGCPPixel = 10.5 * i;
            gcps[i].dfGCPLine = 3.25 * i * i;
            gcps[i].dfGCPX = 500 + i;
            gcps[i].dfGCPY = 600 - i * i;
        }
        GDALSetGCPs2(dataset, 3, gcps, srs);
        GDALDeinitGCPs(3, gcps);
    }
    if (strcmp(place, "rpc") == 0) {
        static const char *const keys[] = {"SAMP_OFF",   "LAT_OFF",    "LONG_OFF",
                                           "HEIGHT_OFF", "LINE_SCALE", "SAMP_SCALE",
                                           "LAT_SCALE",  "LONG_SCALE", "HEIGHT_SCALE"};
        static const char *const lists[] = {"LINE_NUM_COEFF", "LINE_DEN_COEFF", "SAMP_NUM_COEFF",
                                            "SAMP_DEN_COEFF"};
        GDALSetMetadataItem(dataset, "LINE_OFF", rpc_line, "RPC");
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
            GDALSetMetadataItem(dataset, keys[i], "2", "RPC");
        for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
            GDALSetMetadataItem(dataset, lists[i], "1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
                                "RPC");
    }
    OSRDestroySpatialReference(srs);
}

/* Three coloured bands, and a band with a name, a scale and a unit. */
static qfz_source *make_source(GDALDataType type, const char *place)
{
    static const GDALColorInterp colours[] = {GCI_RedBand, GCI_GreenBand, GCI_BlueBand,
                                              GCI_Undefined};
    const GDALDatasetH made = make(src, W, H, BANDS, type, NULL);
    for (int b = 0; b < BANDS; b++)
        GDALSetRasterColorInterpretation(GDALGetRasterBand(made, b + 1), colours[b]);
    const GDALRasterBandH last = GDALGetRasterBand(made, BANDS);
    GDALSetDescription(last, "near <infrared> & more");
    GDALSetRasterScale(last, 0.5);
    GDALSetRasterOffset(last, -2);
    GDALSetRasterUnitType(last, "m");
    set_place(made, place);
    GDALClose(made);
    const qfz_source_options input = source_of(src);
    return open_it(&input);
}

typedef struct sort {
    const char *name;
    GDALDataType source_type;
    const char *place;
    qfz_sink_spec spec;
} sort;

#define IMAGE .w = W, .h = H, .connectivity = 8
static const sort sorts[] = {
    {"labels",
     GDT_Byte,
     "transform",
     {IMAGE, .n_bands = 1, .type = QFZ_OUT_U32, .max_value = 9, .has_nodata = true}},
    {"labels of 64 bits",
     GDT_Byte,
     "gcps",
     {IMAGE, .n_bands = 1, .type = QFZ_OUT_U64, .max_value = 1e15, .has_nodata = true}},
    {"painted with a mask",
     GDT_Byte,
     "transform",
     {IMAGE, .content = QFZ_CONTENT_PAINTED, .n_bands = BANDS, .type = QFZ_OUT_U8, .max_value = 255,
      .has_mask = true}},
    {"painted with nodata",
     GDT_Int16,
     "rpc",
     {IMAGE, .content = QFZ_CONTENT_PAINTED, .n_bands = BANDS, .type = QFZ_OUT_I16,
      .max_value = 32767, .has_nodata = true, .nodata = -9999}},
    {"edges",
     GDT_Byte,
     "transform",
     {IMAGE, .content = QFZ_CONTENT_SALIENCY, .n_bands = 4, .type = QFZ_OUT_U16, .max_value = 65535,
      .has_nodata = true, .nodata = 65535, .has_mask = true}},
    {"edges of 64 bits",
     GDT_UInt32,
     "none",
     {IMAGE, .content = QFZ_CONTENT_SALIENCY, .n_bands = 4, .type = QFZ_OUT_U64,
      .max_value = 0x1p64, .has_nodata = true, .nodata = 0x1p64}},
    {"khalimsky",
     GDT_Byte,
     "transform",
     {.w = 2 * W - 1,
      .h = 2 * H - 1,
      .content = QFZ_CONTENT_SALIENCY,
      .n_bands = 1,
      .type = QFZ_OUT_U16,
      .max_value = 65535,
      .has_nodata = true,
      .nodata = 65535,
      .layout = QFZ_KHALIMSKY,
      .connectivity = 8}},
};
enum { N_SORTS = sizeof sorts / sizeof sorts[0] };

static const int64_t *rows_of(const qfz_sink_spec *spec)
{
    return spec->h == H ? rows_of_image : rows_of_khalimsky;
}

static qfz_status ignore_progress(void *arg, double part, qfz_error *err)
{
    (void)arg;
    (void)err;
    assert_true(part >= 0 && part <= 1);
    return QFZ_OK;
}

static qfz_status join(const qfz_source *source, const qfz_sink_options *output,
                       const qfz_sink_spec *spec, const int64_t *rows, qfz_error *err)
{
    qfz_sink *whole = NULL;
    qfz_joined *joined = NULL;
    qfz_status st = QFZ_OK;
    if (!qfz_output_is_vrt(output->format, spec->path))
        st = qfz_parts_merge(&whole, source, output, spec, rows, 0, ignore_progress, NULL, err);
    if (st == QFZ_OK && output->merge) st = qfz_parts_commit(spec, whole, err);
    if (st == QFZ_OK && !output->merge)
        st = qfz_parts_join(&joined, source, output, spec, rows, err);
    if (st == QFZ_OK && joined) st = qfz_joined_settle(joined, err);
    qfz_joined_close(joined);
    qfz_sink_close(whole);
    return st;
}

/* Planes of rows y0..y1, in a buffer that the caller frees. */
static void *planes_of(const qfz_sink_spec *spec, int64_t y0, int64_t y1)
{
    const size_t row = (size_t)spec->w * qfz_out_type_bytes(spec->type),
                 plane = row * (size_t)spec->h;
    const size_t n = (size_t)(y1 - y0) * row;
    char *const made = malloc(n * (size_t)spec->n_bands);
    for (int b = 0; b < spec->n_bands; b++)
        memcpy(made + (size_t)b * n, (const char *)noise + (size_t)b * plane + (size_t)y0 * row, n);
    return made;
}

static void write_rows(const qfz_source *source, const qfz_sink_options *output,
                       const qfz_sink_spec *spec, int64_t y0, int64_t y1)
{
    const qfz_box box = {y0, 0, y1, spec->w};
    qfz_sink *sink = NULL;
    void *const planes = planes_of(spec, y0, y1);
    OK(qfz_sink_create(&sink, source, output, spec, &err));
    OK(qfz_sink_write(sink, box, planes, valid + y0 * spec->w, &err));
    OK(qfz_sink_commit(sink, &err));
    qfz_sink_close(sink);
    free(planes);
}

static void write_parts(const qfz_source *source, const qfz_sink_options *output,
                        qfz_sink_spec *spec)
{
    const int64_t *const rows = rows_of(spec);
    spec->n_parts = PARTS;
    for (int k = PARTS - 1; k >= 0; k--) { /* any order */
        spec->part = k;
        spec->y0 = rows[k];
        spec->y1 = rows[k + 1];
        if (rows[k] < rows[k + 1]) write_rows(source, output, spec, rows[k], rows[k + 1]);
    }
}

/* ------------------------------------------------------------------------------- comparison */
static void same_metadata(GDALMajorObjectH a, GDALMajorObjectH b, const char *domain)
{
    char **const of_a = GDALGetMetadata(a, domain), **const of_b = GDALGetMetadata(b, domain);
    assert_int_equal(CSLCount(of_a), CSLCount(of_b));
    for (char **item = of_a; item && *item; item++)
        if (CSLFindString(of_b, *item) < 0) fail_msg("%s is missing", *item);
}

static void same_place(GDALDatasetH a, GDALDatasetH b)
{
    double of_a[6] = {0}, of_b[6] = {0};
    assert_int_equal(GDALGetGeoTransform(a, of_a), GDALGetGeoTransform(b, of_b));
    assert_memory_equal(of_a, of_b, sizeof of_a);
    assert_string_equal(GDALGetProjectionRef(a), GDALGetProjectionRef(b));
    assert_int_equal(GDALGetGCPCount(a), GDALGetGCPCount(b));
    for (int i = 0; i < GDALGetGCPCount(a); i++) {
        assert_true(GDALGetGCPs(a)[i].dfGCPLine == GDALGetGCPs(b)[i].dfGCPLine);
        assert_true(GDALGetGCPs(a)[i].dfGCPX == GDALGetGCPs(b)[i].dfGCPX);
    }
    same_metadata(a, b, NULL);
    same_metadata(a, b, "RPC");
}

static void same_nodata(GDALRasterBandH a, GDALRasterBandH b)
{
    int has_a = 0, has_b = 0;
    if (GDALGetRasterDataType(a) == GDT_UInt64) {
        assert_true(GDALGetRasterNoDataValueAsUInt64(a, &has_a) ==
                    GDALGetRasterNoDataValueAsUInt64(b, &has_b));
        assert_int_equal(has_a, has_b);
        return;
    }
    const double of_a = GDALGetRasterNoDataValue(a, &has_a);
    const double of_b = GDALGetRasterNoDataValue(b, &has_b);
    assert_int_equal(has_a, has_b);
    assert_true(!has_a || of_a == of_b);
}

static void same_band(GDALRasterBandH a, GDALRasterBandH b)
{
    assert_int_equal(GDALGetRasterDataType(a), GDALGetRasterDataType(b));
    assert_string_equal(GDALGetDescription(a), GDALGetDescription(b));
    assert_int_equal(GDALGetRasterColorInterpretation(a), GDALGetRasterColorInterpretation(b));
    assert_int_equal(GDALGetMaskFlags(a), GDALGetMaskFlags(b));
    assert_true(GDALGetRasterScale(a, NULL) == GDALGetRasterScale(b, NULL));
    assert_true(GDALGetRasterOffset(a, NULL) == GDALGetRasterOffset(b, NULL));
    assert_string_equal(GDALGetRasterUnitType(a), GDALGetRasterUnitType(b));
    same_nodata(a, b);
}

static void same_pixels(GDALRasterBandH a, GDALRasterBandH b, int w, int h)
{
    static uint64_t of_a[4 * H * W], of_b[4 * H * W];
    const GDALDataType type = GDALGetRasterDataType(a);
    assert_int_equal(GDALRasterIO(a, GF_Read, 0, 0, w, h, of_a, w, h, type, 0, 0), CE_None);
    assert_int_equal(GDALRasterIO(b, GF_Read, 0, 0, w, h, of_b, w, h, type, 0, 0), CE_None);
    assert_memory_equal(of_a, of_b, (size_t)(w * h * GDALGetDataTypeSizeBytes(type)));
}

static void shows_the_same(const char *path_a, const char *path_b)
{
    const GDALDatasetH a = GDALOpen(path_a, GA_ReadOnly), b = GDALOpen(path_b, GA_ReadOnly);
    assert_non_null(a);
    assert_non_null(b);
    const int w = GDALGetRasterXSize(a), h = GDALGetRasterYSize(a), n = GDALGetRasterCount(a);
    assert_int_equal(w, GDALGetRasterXSize(b));
    assert_int_equal(h, GDALGetRasterYSize(b));
    assert_int_equal(n, GDALGetRasterCount(b));
    same_place(a, b);
    for (int i = 1; i <= n; i++) {
        const GDALRasterBandH of_a = GDALGetRasterBand(a, i), of_b = GDALGetRasterBand(b, i);
        same_band(of_a, of_b);
        same_pixels(of_a, of_b, w, h);
        same_pixels(GDALGetMaskBand(of_a), GDALGetMaskBand(of_b), w, h);
    }
    GDALClose(a);
    GDALClose(b);
}

static void clear(void)
{
    VSIRmdirRecursive(out);
    VSIRmdirRecursive("/vsimem/whole");
}

/* ------------------------------------------------------------------------------------ tests */
static void a_vrt_shows_what_one_file_would(void **state)
{
    (void)state;
    for (int i = 0; i < N_SORTS; i++) {
        print_message("%s\n", sorts[i].name);
        qfz_source *const source = make_source(sorts[i].source_type, sorts[i].place);
        qfz_sink_options output = {.n_threads = 1};
        qfz_sink_spec spec = sorts[i].spec;
        spec.path = whole_path;
        write_rows(source, &output, &spec, 0, spec.h);
        spec.path = "/vsimem/out/a.vrt";
        spec.n_parts = PARTS;
        OK(qfz_sink_check(source, &output, &spec, &err));
        write_parts(source, &output, &spec);
        assert_false(exists(spec.path));
        OK(join(source, &output, &spec, rows_of(&spec), &err));
        shows_the_same(whole_path, spec.path);
        assert_int_equal(count_files(out), 2);
        assert_int_equal(count_files("/vsimem/out/a.parts"), 3);
        assert_true(exists("/vsimem/out/a.parts/a-004-of-004.tif"));
        qfz_source_close(source);
        clear();
    }
}

static void merged_parts_are_what_one_file_would_be(void **state)
{
    (void)state;
    static const struct {
        const char *format, *path, *type;
    } formats[] = {{NULL, "/vsimem/out/a.tif", NULL},
                   {"COG", "/vsimem/out/a.tif", NULL},
                   {NULL, "/vsimem/out/a.img", "Float64"}};
    const char *const options[] = {"COMPRESS=DEFLATE", NULL};
    for (int i = 0; i < N_SORTS * 3; i++) {
        const sort *const s = &sorts[i / 3];
        if (i % 3 == 2 && s->spec.type == QFZ_OUT_U64) continue;
        print_message("%s, %d\n", s->name, i % 3);
        qfz_source *const source = make_source(s->source_type, s->place);
        qfz_sink_options output = {.n_threads = 1};
        qfz_sink_spec spec = s->spec;
        output.format = formats[i % 3].format;
        output.type = formats[i % 3].type;
        output.creation_options = i % 3 == 2 ? NULL : options;
        spec.path = i % 3 == 2 ? "/vsimem/whole/a.img" : whole_path;
        write_rows(source, &output, &spec, 0, spec.h);
        const char *const whole = spec.path;
        spec.path = formats[i % 3].path;
        output.merge = true;
        spec.n_parts = PARTS;
        OK(qfz_sink_check(source, &output, &spec, &err));
        write_parts(source, &output, &spec);
        OK(join(source, &output, &spec, rows_of(&spec), &err));
        shows_the_same(whole, spec.path);
        assert_int_equal(count_files(out), count_files("/vsimem/whole"));
        OK(join(source, &output, &spec, rows_of(&spec), &err)); /* no parts: joined already */
        qfz_source_close(source);
        clear();
    }
}

static void a_part_lies_where_its_rows_do(void **state)
{
    (void)state;
    static const char *const places[] = {"transform", "gcps", "rpc"};
    for (int i = 0; i < 3; i++) {
        qfz_source *const source = make_source(GDT_Byte, places[i]);
        qfz_sink_options output = {.n_threads = 1};
        qfz_sink_spec spec = sorts[0].spec;
        char *path = NULL;
        double t[6] = {0};
        spec.path = "/vsimem/out/a.vrt";
        write_parts(source, &output, &spec);
        spec.part = 2;
        OK(qfz_part_path(&path, &spec, &err));
        assert_string_equal(path, "/vsimem/out/.a.vrt.qfz-parts/a-003-of-004.tif");
        const GDALDatasetH part = GDALOpen(path, GA_ReadOnly);
        assert_int_equal(GDALGetRasterYSize(part), 9);
        if (i == 0) {
            GDALGetGeoTransform(part, t);
            assert_true(t[0] == 500000.25 + 7 * 0.125 && t[3] == 4600000.75 - 7 * 3.1);
        } else if (i == 1) {
            assert_true(GDALGetGCPs(part)[2].dfGCPLine == 13 - 7.0);
        } else {
            assert_true(CPLAtof(GDALGetMetadataItem(part, "LINE_OFF", "RPC")) == 12.5 - 7);
        }
        GDALClose(part);
        free(path);
        qfz_source_close(source);
        clear();
    }
}

static void a_vrt_may_move_with_its_parts(void **state)
{
    (void)state;
    char folder[] = "/tmp/qfz_parts_XXXXXX", from[64], to[64], moved[64], path[96];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(from, sizeof from, "%s/here", folder);
    (void)snprintf(to, sizeof to, "%s/there", folder);
    (void)snprintf(moved, sizeof moved, "%s/there/a.vrt", folder);
    assert_int_equal(VSIMkdir(from, 0755), 0);
    qfz_source *const source = make_source(GDT_Byte, "transform");
    qfz_sink_options output = {.n_threads = 1};
    qfz_sink_spec spec = sorts[2].spec;
    spec.path = whole_path;
    write_rows(source, &output, &spec, 0, spec.h);
    (void)snprintf(path, sizeof path, "%s/a.vrt", from);
    spec.path = path;
    write_parts(source, &output, &spec);
    OK(join(source, &output, &spec, rows_of(&spec), &err));
    assert_int_equal(rename(from, to), 0);
    shows_the_same(whole_path, moved);
    qfz_source_close(source);
    VSIRmdirRecursive(folder);
    clear();
}

static void nothing_appears_while_a_part_is_missing(void **state)
{
    (void)state;
    for (int merged = 0; merged < 2; merged++) {
        qfz_source *const source = make_source(GDT_Byte, "transform");
        qfz_sink_options output = {.n_threads = 1};
        qfz_sink_spec spec = sorts[0].spec;
        char *path = NULL;
        output.merge = merged;
        spec.path = merged ? "/vsimem/out/a.tif" : "/vsimem/out/a.vrt";
        write_parts(source, &output, &spec);
        spec.part = 3;
        OK(qfz_part_path(&path, &spec, &err));
        VSIUnlink(path);
        FAILS(join(source, &output, &spec, rows_of(&spec), &err), QFZ_EIO, "a-004-of-004");
        assert_false(exists(spec.path));
        GDALClose(make(path, W, 3, 1, GDT_UInt32, NULL)); /* of another job */
        FAILS(join(source, &output, &spec, rows_of(&spec), &err), QFZ_EIO, "37 x 13");
        assert_false(exists(spec.path));
        qfz_parts_delete(spec.path);
        assert_int_equal(count_files(out), 0);
        free(path);
        qfz_source_close(source);
        clear();
    }
}

/* The first of several VRTs of a job is taken back where a later output gets no name. */
static void a_vrt_is_taken_back_with_its_parts(void **state)
{
    (void)state;
    qfz_source *const source = make_source(GDT_Byte, "transform");
    qfz_sink_options output = {.n_threads = 1};
    qfz_sink_spec spec = sorts[0].spec, whole = sorts[0].spec;
    char folder[] = "/tmp/qfz_parts_XXXXXX", path[64], note[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/a.vrt", folder);
    (void)snprintf(note, sizeof note, "%s/a.parts/note.txt", folder);
    whole.path = whole_path;
    write_rows(source, &output, &whole, 0, H);
    spec.path = path;
    for (int replaces = 0; replaces < 2; replaces++) {
        qfz_joined *joined = NULL;
        write_parts(source, &output, &spec);
        OK(qfz_parts_join(&joined, source, &output, &spec, rows_of(&spec), &err));
        assert_true(exists(path));
        qfz_joined_close(joined);
        assert_int_equal(exists(path), replaces);
        if (replaces) shows_the_same(whole_path, path);
        OK(join(source, &output, &spec, rows_of(&spec), &err)); /* the parts are where they were */
        shows_the_same(whole_path, path);
        assert_int_equal(count_files(folder), 2);
        output.output.overwrite = true;
    }
    fclose(fopen(note, "w"));
    write_parts(source, &output, &spec);
    FAILS(join(source, &output, &spec, rows_of(&spec), &err), QFZ_EIO, "note.txt");
    assert_true(exists(note));
    shows_the_same(whole_path, path);
    qfz_source_close(source);
    VSIRmdirRecursive(folder);
    clear();
}

static void what_is_replaced_is_replaced_with_its_parts(void **state)
{
    (void)state;
    qfz_source *const source = make_source(GDT_Byte, "transform");
    qfz_sink_options output = {.n_threads = 1};
    static const int64_t one[] = {0, H};
    qfz_sink_spec spec = sorts[0].spec;
    spec.path = "/vsimem/out/a.vrt";
    write_parts(source, &output, &spec);
    OK(join(source, &output, &spec, rows_of(&spec), &err));
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "already exists");
    VSIUnlink(spec.path);
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "a.parts");
    output.output.overwrite = true;
    spec.n_parts = 1;
    spec.part = 0;
    spec.y0 = 0;
    spec.y1 = H;
    OK(qfz_sink_check(source, &output, &spec, &err));
    write_rows(source, &output, &spec, 0, H);
    OK(join(source, &output, &spec, one, &err));
    assert_int_equal(count_files("/vsimem/out/a.parts"), 1);
    qfz_sink_spec whole = spec;
    whole.path = whole_path;
    whole.n_parts = 0;
    write_rows(source, &output, &whole, 0, H);
    shows_the_same(whole_path, spec.path);
    VSIUnlink(spec.path); /* as after a kill between the renames of folder and VRT */
    OK(join(source, &output, &spec, one, &err));
    assert_int_equal(count_files(out), 2);
    shows_the_same(whole_path, spec.path);
    qfz_source_close(source);
    clear();
}

static void parts_need_a_name_that_can_be_made_of_them(void **state)
{
    (void)state;
    qfz_source *const source = make_source(GDT_Byte, "none");
    qfz_sink_options output = {.n_threads = 1};
    qfz_sink_spec spec = sorts[0].spec;
    const char *const options[] = {"COMPRESS=NONSENSE", NULL};
    spec.n_parts = PARTS;
    spec.path = "/vsimem/out/a.tif";
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "--merge");
    output.merge = true;
    OK(qfz_sink_check(source, &output, &spec, &err));
    output.creation_options = options;
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "NONSENSE");
    spec.path = "/vsimem/out/a.vrt";
    output.creation_options = NULL;
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "not merged");
    output.merge = false;
    output.creation_options = options;
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "NONSENSE");
    spec.path = "/vsimem/out/a.xyz";
    output.format = "VRT";
    output.creation_options = NULL;
    OK(qfz_sink_check(source, &output, &spec, &err));
    output.type = "Byte";
    spec.max_value = 256;
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "counts to 255");
    qfz_source_close(source);
    clear();
}

static void a_part_has_its_own_rows_only(void **state)
{
    (void)state;
    static uint32_t px[H * W], got[H * W];
    qfz_source *const source = make_source(GDT_Byte, "none");
    qfz_sink_options output = {.n_threads = 1};
    qfz_sink_spec spec = sorts[0].spec;
    qfz_sink *sink = NULL;
    const qfz_box above = {6, 0, 8, W}, inside = {8, 3, 12, 9}, below = {15, 0, 17, W};
    spec.path = "/vsimem/out/a.vrt";
    spec.n_parts = PARTS;
    spec.part = 2;
    spec.y0 = 7;
    spec.y1 = 16;
    for (uint32_t i = 0; i < H * W; i++)
        px[i] = i + 1;
    OK(qfz_sink_create(&sink, source, &output, &spec, &err));
    FAILS(qfz_sink_write(sink, above, px, NULL, &err), QFZ_EARG, "rows 6..7");
    FAILS(qfz_sink_write(sink, below, px, NULL, &err), QFZ_EARG, "rows 15..16");
    OK(qfz_sink_write(sink, inside, px, NULL, &err));
    OK(qfz_sink_commit(sink, &err));
    qfz_sink_close(sink);
    OK(qfz_sink_open(&sink, &output, &spec, &err));
    OK(qfz_sink_read(sink, inside, got, NULL, &err));
    assert_memory_equal(got, px, 4 * 6 * sizeof *px);
    qfz_sink_close(sink);
    qfz_parts_delete(spec.path);
    assert_int_equal(count_files(out), 0);
    qfz_source_close(source);
    clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vrt_shows_what_one_file_would),
        cmocka_unit_test(merged_parts_are_what_one_file_would_be),
        cmocka_unit_test(a_part_lies_where_its_rows_do),
        cmocka_unit_test(a_vrt_may_move_with_its_parts),
        cmocka_unit_test(nothing_appears_while_a_part_is_missing),
        cmocka_unit_test(a_vrt_is_taken_back_with_its_parts),
        cmocka_unit_test(what_is_replaced_is_replaced_with_its_parts),
        cmocka_unit_test(parts_need_a_name_that_can_be_made_of_them),
        cmocka_unit_test(a_part_has_its_own_rows_only),
    };
    return cmocka_run_group_tests(tests, set_up_noise, NULL);
}
