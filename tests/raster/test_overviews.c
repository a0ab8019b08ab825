/* SPDX-License-Identifier: MIT */
/* test_overviews.c - overviews hold exact values of the raster, also of labels above 2^24, which
 * GDAL rounds; in GeoTIFF and COG, of every type, with masks; and what is refused. */
#include "scene.h"

#include <unistd.h>

enum { W = 1700, H = 1090, N = W * H };

static const char src[] = "/vsimem/in/source.tif";
static char folder[] = "/tmp/qfz_overviews_XXXXXX", dst[64];

typedef struct problem {
    const char *format;
    qfz_out_type type;
    int bytes;
    qfz_content content;
    qfz_overviews overviews; /* of the options */
    const char *creation[3];
    bool has_mask;
    qfz_overviews expected;
} problem;

static uint8_t pixels[N * 8], valid[N];

/* Squares of few values, odd and above 2^24 and 2^53 where the type has them; zeros in places. */
static uint64_t value_at(int64_t i, int bytes)
{
    const uint64_t x = (uint64_t)(i % W), y = (uint64_t)(i / W);
    const uint64_t noise = (x * 2654435761u ^ y * 40503u) >> 7;
    const uint64_t value = (x / 5 + y / 3 * 400) * 2 + noise % 3;
    if (x / 64 % 4 == 1 && y / 64 % 3 == 1) return 0;
    if (noise % 11 == 0) return 0;
    if (bytes == 1) return value % 251;
    if (bytes == 2) return value % 65521;
    return value + 1 + (UINT64_C(1) << (bytes == 4 ? 25 : 55));
}

static uint64_t get(const void *plane, int64_t i, int bytes)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)plane + i * bytes, (size_t)bytes);
    return value;
}

static void fill(const problem *p)
{
    for (int64_t i = 0; i < N; i++) {
        const uint64_t value = value_at(i, p->bytes);
        memcpy(pixels + i * p->bytes, &value, (size_t)p->bytes);
        valid[i] = i % 7 > 0 || i / W % 2 > 0;
    }
}

/* The most frequent value of a square other than 0, of several the least: counted one by one. */
static uint64_t count_mode(const problem *p, int x, int y, int f)
{
    uint64_t values[64], mode = 0;
    int counts[64], n = 0, most = 0;
    for (int64_t i = 0; i < f * f; i++) {
        const int64_t column = x * f + i % f, row = y * f + i / f;
        if (column >= W || row >= H) continue;
        const uint64_t value = get(pixels, row * W + column, p->bytes);
        int at = 0;
        if (value == 0) continue;
        while (at < n && values[at] != value)
            at++;
        if (at == n) {
            values[n] = value;
            counts[n++] = 0;
        }
        counts[at]++;
    }
    for (int at = 0; at < n; at++)
        if (counts[at] > most || (counts[at] == most && values[at] < mode)) {
            most = counts[at];
            mode = values[at];
        }
    return mode;
}

static void *read_band(GDALRasterBandH band)
{
    const int w = GDALGetRasterBandXSize(band), h = GDALGetRasterBandYSize(band);
    const GDALDataType type = GDALGetRasterDataType(band);
    void *const got = calloc((size_t)w * (size_t)h, 8);
    assert_non_null(got);
    assert_int_equal(GDALRasterIO(band, GF_Read, 0, 0, w, h, got, w, h, type, 0, 0), CE_None);
    return got;
}

static void check_overview(const problem *p, GDALRasterBandH band, int f)
{
    const int w = GDALGetRasterBandXSize(band), h = GDALGetRasterBandYSize(band);
    assert_int_equal(w, (W + f - 1) / f);
    assert_int_equal(h, (H + f - 1) / f);
    void *const got = read_band(band);
    void *const mask = p->has_mask ? read_band(GDALGetMaskBand(band)) : NULL;
    for (int64_t i = 0; i < (int64_t)w * h; i++) {
        const int x = (int)(i % w), y = (int)(i / w);
        const int64_t from = (int64_t)y * f * W + (int64_t)x * f;
        const uint64_t expected = p->expected == QFZ_OVERVIEWS_MODE ? count_mode(p, x, y, f)
                                                                    : get(pixels, from, p->bytes);
        if (get(got, i, p->bytes) != expected)
            fail_msg("%s, %d bytes, factor %d, column %d, row %d: %llu, not %llu", p->format,
                     p->bytes, f, x, y, (unsigned long long)get(got, i, p->bytes),
                     (unsigned long long)expected);
        if (mask) assert_int_equal(((uint8_t *)mask)[i], valid[from] ? 255 : 0);
    }
    free(got);
    free(mask);
}

static void check(const problem *p)
{
    qfz_source *source = NULL;
    qfz_sink *sink = NULL;
    const qfz_source_options input = source_of(src);
    const qfz_sink_options output = {
        .n_threads = 1,
        .format = p->format,
        .overviews = p->overviews,
        .creation_options = p->creation[0] ? p->creation : NULL,
    };
    const qfz_sink_spec spec = {.path = dst,
                                .w = W,
                                .h = H,
                                .n_bands = 1,
                                .type = p->type,
                                .content = p->content,
                                .has_nodata = !p->has_mask,
                                .has_mask = p->has_mask};
    GDALClose(make(src, W, H, 1, GDT_Byte, NULL));
    source = open_it(&input);
    fill(p);
    OK(qfz_sink_check(source, &output, &spec, &err));
    OK(qfz_sink_create(&sink, source, &output, &spec, &err));
    OK(qfz_sink_write(sink, (qfz_box){0, 0, H, W}, pixels, p->has_mask ? valid : NULL, &err));
    OK(qfz_sink_commit(sink, &err));
    qfz_sink_close(sink);
    qfz_source_close(source);
    assert_int_equal(count_files(folder), 1);
    const GDALDatasetH made = GDALOpen(dst, GA_ReadOnly);
    const GDALRasterBandH band = GDALGetRasterBand(made, 1);
    int has_nodata = 0;
    (void)(p->bytes == 8 ? (double)GDALGetRasterNoDataValueAsUInt64(band, &has_nodata)
                         : GDALGetRasterNoDataValue(band, &has_nodata));
    assert_int_equal(has_nodata, !p->has_mask);
    void *const got = read_band(band);
    assert_memory_equal(got, pixels, (size_t)N * (size_t)p->bytes);
    free(got);
    assert_int_equal(GDALGetOverviewCount(band), p->expected ? 2 : 0);
    for (int i = 0; i < GDALGetOverviewCount(band); i++)
        check_overview(p, GDALGetOverview(band, i), 2 << i);
    GDALClose(made);
    VSIUnlink(dst);
}

static const qfz_overviews NONE = QFZ_OVERVIEWS_NONE, NEAREST = QFZ_OVERVIEWS_NEAREST,
                           MODE = QFZ_OVERVIEWS_MODE;
static const qfz_content LABELS = QFZ_CONTENT_LABELS, LEVELS = QFZ_CONTENT_SALIENCY,
                         MEANS = QFZ_CONTENT_PAINTED;

static void in_geotiff(void **state)
{
    (void)state;
    const problem problems[] = {
        {"GTiff", QFZ_OUT_U32, 4, LABELS, NEAREST, {NULL}, false, NEAREST},
        {"GTiff", QFZ_OUT_U32, 4, LABELS, MODE, {NULL}, false, MODE},
        {"GTiff", QFZ_OUT_U32, 4, LABELS, NONE, {NULL}, false, NONE},
        {"GTiff", QFZ_OUT_U64, 8, LABELS, NEAREST, {NULL}, false, NEAREST},
        {"GTiff", QFZ_OUT_U64, 8, LABELS, MODE, {"TILED=NO", NULL}, false, MODE},
        {"GTiff", QFZ_OUT_U8, 1, LEVELS, NEAREST, {"COMPRESS=LZW", NULL}, false, NEAREST},
        {"GTiff", QFZ_OUT_U16, 2, MEANS, NEAREST, {NULL}, true, NEAREST},
    };
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        check(&problems[i]);
}

static void in_cog(void **state)
{
    (void)state;
    const problem problems[] = {
        {"COG", QFZ_OUT_U32, 4, LABELS, NONE, {NULL}, false, NEAREST},
        {"COG", QFZ_OUT_U64, 8, LABELS, NONE, {NULL}, false, NEAREST},
        {"COG", QFZ_OUT_U32, 4, LABELS, MODE, {NULL}, false, MODE},
        {"COG", QFZ_OUT_U32, 4, LABELS, NONE, {"OVERVIEW_RESAMPLING=MODE", NULL}, false, MODE},
        {"COG", QFZ_OUT_U32, 4, LABELS, NONE, {"OVERVIEWS=NONE", NULL}, false, NONE},
        {"COG", QFZ_OUT_U32, 4, LABELS, NONE, {"OVERVIEWS=IGNORE_EXISTING", NULL}, false, NEAREST},
        {"COG", QFZ_OUT_U16, 2, MEANS, NONE, {NULL}, true, NEAREST},
    };
    if (!GDALGetDriverByName("COG")) skip();
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        check(&problems[i]);
}

static void what_is_refused(void **state)
{
    (void)state;
    const qfz_source_options input = source_of(src);
    GDALClose(make(src, 40, 30, 1, GDT_Byte, NULL));
    qfz_source *const source = open_it(&input);
    static const char *const none[] = {"OVERVIEWS=NONE", NULL};
    qfz_sink_options output = {.n_threads = 1, .overviews = MODE};
    qfz_sink_spec spec = {.path = dst, .w = 40, .h = 30, .n_bands = 1, .type = QFZ_OUT_U32};
    spec.content = LEVELS;
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "use nearest");
    spec.content = LABELS;
    output.format = "HFA";
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "not for HFA");
    output.format = NULL;
    spec.path = "/tmp/dst.vrt";
    spec.n_parts = 2;
    spec.y1 = 15;
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "--merge");
    spec.path = dst;
    spec.n_parts = 0;
    if (GDALGetDriverByName("COG")) {
        output.format = "COG";
        output.creation_options = none;
        FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "leave one out");
    }
    qfz_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_geotiff), cmocka_unit_test(in_cog),
                                       cmocka_unit_test(what_is_refused)};
    if (!mkdtemp(folder)) return 1;
    (void)snprintf(dst, sizeof dst, "%s/dst.tif", folder);
    const int n_failed = cmocka_run_group_tests(tests, set_up, NULL);
    (void)unlink(dst);
    (void)rmdir(folder);
    return status_of(n_failed);
}
