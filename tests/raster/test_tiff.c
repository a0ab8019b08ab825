/* SPDX-License-Identifier: MIT */
/* Blocks that threads pack themselves: GDAL reads what was written, and what cannot be written in
 * this way goes through GDAL. */
#define _GNU_SOURCE
#include "scene.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "raster/sink.h"

enum { W = 300, H = 170, BANDS = 2, BOX = 64, THREADS = 3, ROOM = W * H * BANDS * 8 };

static const char src[] = "/vsimem/source.tif";
static char folder[] = "/tmp/qfz_tiff_XXXXXX", dst[64];

static int make_folder(void **state)
{
    if (!mkdtemp(folder)) return -1;
    (void)snprintf(dst, sizeof dst, "%s/a.tif", folder);
    return set_up(state);
}

static int remove_folder(void **state)
{
    (void)state;
    return VSIRmdirRecursive(folder);
}

/* ------------------------------------------------------------------------------ a raster to write
 */
typedef struct writing {
    qfz_sink *sink;
    const char *pixels; /* planes of h * w */
    int64_t w, h;
    int n_bands, first, stride; /* boxes of this thread */
    size_t px_bytes;
    qfz_status st;
} writing;

static void *write_boxes(void *arg)
{
    writing *const t = arg;
    const int64_t n_x = (t->w - 1) / BOX + 1, n_y = (t->h - 1) / BOX + 1;
    char *const part = malloc((size_t)(BOX * BOX * t->n_bands) * t->px_bytes);
    for (int64_t i = t->first; i < n_x * n_y && t->st == QFZ_OK; i += t->stride) {
        qfz_error err = {0};
        qfz_box box = {i / n_x * BOX, i % n_x * BOX, (i / n_x + 1) * BOX, (i % n_x + 1) * BOX};
        if (box.x1 > t->w) box.x1 = t->w;
        if (box.y1 > t->h) box.y1 = t->h;
        const size_t row = (size_t)qfz_box_w(box) * t->px_bytes;
        char *to = part;
        for (int b = 0; b < t->n_bands; b++)
            for (int64_t y = box.y0; y < box.y1; y++, to += row)
                memcpy(to, t->pixels + (size_t)((b * t->h + y) * t->w + box.x0) * t->px_bytes, row);
        t->st = qfz_sink_write(t->sink, box, part, NULL, &err);
    }
    free(part);
    return NULL;
}

static void write_all(qfz_sink *sink, const qfz_sink_spec *spec, const char *pixels)
{
    pthread_t threads[THREADS];
    writing each[THREADS];
    for (int i = 0; i < THREADS; i++) {
        each[i] = (writing){.sink = sink,
                            .pixels = pixels,
                            .w = spec->w,
                            .h = spec->h,
                            .n_bands = spec->n_bands,
                            .first = i,
                            .stride = THREADS,
                            .px_bytes = qfz_out_type_bytes(spec->type)};
        assert_int_equal(pthread_create(&threads[i], NULL, write_boxes, &each[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(each[i].st, QFZ_OK);
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
                           .max_value = 1,
                           .has_nodata = true,
                           .nodata = 7,
                           .box_w = BOX,
                           .box_h = BOX};
}

/* Steps and noise; the first block of the last band has nothing but nodata. */
static void fill(char *pixels, const qfz_sink_spec *spec)
{
    const double nodata = spec->nodata;
    const int64_t n = spec->w * spec->h;
    uint32_t noise = 1;
    for (int64_t i = 0; i < n * spec->n_bands; i++) {
        const int64_t y = i % n / spec->w, x = i % spec->w;
        const bool empty = i / n == spec->n_bands - 1 && y < BOX && x < BOX;
        noise = noise * 1664525u + 1013904223u;
        const double value = empty ? nodata : (double)(x / 9 % 50 + (noise >> 30));
        GDALCopyWords(&value, GDT_Float64, 0, pixels + (size_t)i * qfz_out_type_bytes(spec->type),
                      qfz_gdal_type(spec->type), 0, 1);
    }
}

/* Writes with these options, and reads with GDAL alone. */
static void goes_out_and_comes_back(const qfz_source *source, qfz_job *job,
                                    const qfz_sink_spec *spec, bool packs)
{
    static char pixels[ROOM], got[ROOM];
    qfz_sink *sink = NULL;
    fill(pixels, spec);
    OK(qfz_sink_create(&sink, source, job, spec, &err));
    assert_true((sink->tiff != NULL) == packs);
    write_all(sink, spec, pixels);
    assert_false(exists(dst));
    OK(qfz_sink_commit(sink, &err));
    qfz_sink_close(sink);
    assert_int_equal(count_files(folder), 1);
    const GDALDatasetH made = GDALOpen(dst, GA_ReadOnly);
    assert_non_null(made);
    const int w = (int)spec->w, h = (int)spec->h;
    assert_int_equal(GDALDatasetRasterIO(made, GF_Read, 0, 0, w, h, got, w, h,
                                         qfz_gdal_type(spec->type), spec->n_bands, NULL, 0, 0, 0),
                     CE_None);
    assert_memory_equal(
        got, pixels, (size_t)(spec->w * spec->h * spec->n_bands) * qfz_out_type_bytes(spec->type));
    const GDALRasterBandH last = GDALGetRasterBand(made, spec->n_bands);
    if (packs && !job->format && w >= BOX) /* what is nodata all over is not in the file */
        assert_null(GDALGetMetadataItem(last, "BLOCK_OFFSET_0_0", "TIFF"));
    assert_true(GDALGetRasterNoDataValue(last, NULL) == spec->nodata);
    GDALClose(made);
    VSIUnlink(dst);
}

static qfz_source *source_of(qfz_job *job, const char *const *options)
{
    *job = job_on(QFZ_SIMPLIFY, src);
    job->dst = dst;
    job->tile_px = 128;
    job->creation_options = options;
    GDALClose(make(src, W, H, 1, GDT_Byte, NULL));
    return open_it(job);
}

#define SQUARES "BLOCKXSIZE=64", "BLOCKYSIZE=64"

static void gdal_reads_what_threads_have_packed(void **state)
{
    (void)state;
    static const char *const sets[][5] = {
        {SQUARES, "COMPRESS=NONE"},
        {SQUARES, "COMPRESS=DEFLATE"},
        {SQUARES, "COMPRESS=DEFLATE", "PREDICTOR=2"},
        {SQUARES, "COMPRESS=ZSTD", "PREDICTOR=2"},
        {SQUARES, "BIGTIFF=YES"},
        {"BLOCKXSIZE=32", "BLOCKYSIZE=16", "ZLEVEL=9", "compress=deflate"},
    };
    static const qfz_out_type types[] = {QFZ_OUT_U8, QFZ_OUT_I16, QFZ_OUT_U32, QFZ_OUT_F32,
                                         QFZ_OUT_F64};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
            const char *const options[] = {sets[i][0], sets[i][1], sets[i][2],
                                           sets[i][3], sets[i][4], NULL};
            qfz_job job;
            qfz_source *const source = source_of(&job, options);
            const qfz_sink_spec spec = spec_of(types[k], BANDS);
            const bool wide = types[k] == QFZ_OUT_F64; /* differences are of 32 bits at most */
            if (!(wide && options[3] && strncmp(options[3], "PRED", 4) == 0))
                goes_out_and_comes_back(source, &job, &spec, true);
            qfz_source_close(source);
        }
}

static void other_shapes_are_packed(void **state)
{
    (void)state;
    const char *const options[] = {SQUARES, NULL};
    qfz_job job;
    qfz_source *const source = source_of(&job, options);
    qfz_sink_spec spec = spec_of(QFZ_OUT_U64, 1);
    goes_out_and_comes_back(source, &job, &spec, true);
    spec = spec_of(QFZ_OUT_U8, 1);
    spec.nodata = -1; /* no pixel's; what is not there reads as 0, and is 0 */
    spec.w = spec.h = BOX + 1;
    goes_out_and_comes_back(source, &job, &spec, true);
    spec.w = spec.h = 40; /* one block, whose place stands in the directory itself */
    spec.nodata = 9;
    goes_out_and_comes_back(source, &job, &spec, true);
    job.format = "COG";
    job.creation_options = NULL;
    job.tile_px = 0;
    spec.type = QFZ_OUT_U16;
    spec.box_w = spec.box_h = 512;
    goes_out_and_comes_back(source, &job, &spec, true);
    qfz_source_close(source);
}

static void what_threads_cannot_pack_is_left_to_gdal(void **state)
{
    (void)state;
    static const char *const sets[][4] = {{SQUARES, "COMPRESS=LZW"},
                                          {SQUARES, "INTERLEAVE=PIXEL"},
                                          {SQUARES, "SPARSE_OK=FALSE"},
                                          {SQUARES, "DISCARD_LSB=0"},
                                          {"TILED=NO"},
                                          {"BLOCKXSIZE=128", "BLOCKYSIZE=64"}};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        const char *const options[] = {sets[i][0], sets[i][1], sets[i][2], sets[i][3], NULL};
        qfz_job job;
        qfz_source *const source = source_of(&job, options);
        const qfz_sink_spec spec = spec_of(QFZ_OUT_U8, BANDS);
        goes_out_and_comes_back(source, &job, &spec, false);
        qfz_source_close(source);
    }
    const char *const options[] = {SQUARES, NULL};
    qfz_job job;
    qfz_source *const source = source_of(&job, options);
    qfz_sink_spec spec = spec_of(QFZ_OUT_U8, BANDS);
    spec.box_w = 0; /* it may be read back before it is complete */
    goes_out_and_comes_back(source, &job, &spec, false);
    spec = spec_of(QFZ_OUT_U8, BANDS);
    spec.has_mask = true;
    goes_out_and_comes_back(source, &job, &spec, false);
    qfz_source_close(source);
}

static void parts_of_blocks_are_refused(void **state)
{
    (void)state;
    static const char px[BOX * BOX] = {1};
    const char *const options[] = {SQUARES, NULL};
    qfz_job job;
    qfz_sink *sink = NULL;
    qfz_source *const source = source_of(&job, options);
    const qfz_sink_spec spec = spec_of(QFZ_OUT_U8, 1);
    char got[BOX * BOX];
    const qfz_box whole_block = {0, 0, BOX, BOX};
    OK(qfz_sink_create(&sink, source, &job, &spec, &err));
    OK(qfz_sink_write(sink, whole_block, px, NULL, &err));
    FAILS(qfz_sink_read(sink, whole_block, got, NULL, &err), QFZ_EIO, "not complete");
    FAILS(qfz_sink_write(sink, (qfz_box){64, 0, 65, 64}, px, NULL, &err), QFZ_EARG, "part");
    FAILS(qfz_sink_write(sink, whole_block, px, NULL, &err), QFZ_EIO, "failed before");
    FAILS(qfz_sink_commit(sink, &err), QFZ_EIO, "failed before");
    qfz_sink_close(sink);
    assert_int_equal(count_files(folder), 0);
    qfz_source_close(source);
}

/* --------------------------------------------------------------------------------- what may fail
 */
static qfz_tiff_form form_of(void)
{
    return (qfz_tiff_form){
        .name = dst, .w = W, .h = H, .block_w = BOX, .block_h = BOX, .n_bands = 1, .px_bytes = 1};
}

/* A file that is almost at the end of what 32 bits can say; its middle is a hole. */
static void a_small_tiff_ends_at_4_gb(void **state)
{
    (void)state;
    char *options[] = {"TILED=YES", SQUARES, "SPARSE_OK=TRUE", "BIGTIFF=NO", NULL};
    static char block[BOX * BOX] = {1};
    const qfz_tiff_form form = form_of();
    qfz_tiff *tiff = NULL;
    GDALClose(make_with(dst, W, H, 1, GDT_Byte, NULL, options));
    if (truncate(dst, ((off_t)1 << 32) - 2 * BOX * BOX) != 0) skip();
    OK(qfz_tiff_open(&tiff, dst, &form, &err));
    OK(qfz_tiff_write(tiff, 0, 0, 0, block, NULL, &err));
    FAILS(qfz_tiff_write(tiff, 0, 1, 0, block, NULL, &err), QFZ_EIO, "BIGTIFF=YES");
    qfz_tiff_close(tiff);
    VSIUnlink(dst);
}

static void only_a_tiff_of_the_usual_kind_is_taken_over(void **state)
{
    (void)state;
    static const char text[] = "II this is no TIFF";
    char *options[] = {"ENDIANNESS=INVERTED", "TILED=YES", SQUARES, "SPARSE_OK=TRUE", NULL};
    const qfz_tiff_form form = form_of();
    qfz_tiff *tiff = NULL;
    FAILS(qfz_tiff_open(&tiff, dst, &form, &err), QFZ_EIO, "No such file");
    FILE *const file = fopen(dst, "wb");
    assert_int_equal(fwrite(text, 1, 4, file), 4);
    (void)fclose(file);
    FAILS(qfz_tiff_open(&tiff, dst, &form, &err), QFZ_EIO, "too short");
    FILE *const longer = fopen(dst, "wb");
    assert_int_equal(fwrite(text, 1, sizeof text, longer), sizeof text);
    (void)fclose(longer);
    FAILS(qfz_tiff_open(&tiff, dst, &form, &err), QFZ_EIO, dst);
    GDALClose(make_with(dst, W, H, 1, GDT_Byte, NULL, options));
    FAILS(qfz_tiff_open(&tiff, dst, &form, &err), QFZ_EIO, dst);
    char *strips[] = {"TILED=NO", NULL};
    GDALClose(make_with(dst, W, H, 1, GDT_Byte, NULL, strips));
    FAILS(qfz_tiff_open(&tiff, dst, &form, &err), QFZ_EIO, "does not list");
    VSIUnlink(dst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gdal_reads_what_threads_have_packed),
        cmocka_unit_test(other_shapes_are_packed),
        cmocka_unit_test(what_threads_cannot_pack_is_left_to_gdal),
        cmocka_unit_test(parts_of_blocks_are_refused),
        cmocka_unit_test(a_small_tiff_ends_at_4_gb),
        cmocka_unit_test(only_a_tiff_of_the_usual_kind_is_taken_over),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
