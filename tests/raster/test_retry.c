/* SPDX-License-Identifier: MIT */
/* test_retry.c - storage that sometimes fails: reads and writes are repeated until they succeed,
 * and a lasting failure is reported after the given number of tries.  The wait between tries is 0.
 */
#define _LARGEFILE64_SOURCE /* for VSIStatBufL of GDAL */
#include "scene.h"

#include <errno.h>
#include <unistd.h>

#include "core/retry.h"
#include "core/temp_file.h"

enum { SIDE = 600 };

/* ------------------------------------------- reading: a virtual file system of GDAL that fails */
static struct {
    int failures; /* of the next reads; -1: every read fails */
    int opened;
} flaky;

static void *flaky_open(void *arg, const char *name, const char *access)
{
    (void)arg;
    flaky.opened++;
    return VSIFOpenL(CPLSPrintf("/vsimem/%s", name), access);
}

static int flaky_stat(void *arg, const char *name, VSIStatBufL *found, int flags)
{
    (void)arg;
    return VSIStatExL(CPLSPrintf("/vsimem/%s", name), found, flags);
}

static size_t flaky_read(void *file, void *buffer, size_t size, size_t count)
{
    if (flaky.failures != 0) {
        if (flaky.failures > 0) flaky.failures--;
        errno = EIO;
        return 0;
    }
    return VSIFReadL(buffer, size, count, file);
}

static vsi_l_offset flaky_tell(void *file)
{
    return VSIFTellL(file);
}

static int flaky_seek(void *file, vsi_l_offset offset, int whence)
{
    return VSIFSeekL(file, offset, whence);
}

static int flaky_eof(void *file)
{
    return VSIFEofL(file);
}

static int flaky_close(void *file)
{
    return VSIFCloseL(file);
}

static int install(void **state)
{
    VSIFilesystemPluginCallbacksStruct *const calls = VSIAllocFilesystemPluginCallbacksStruct();
    calls->open = flaky_open;
    calls->stat = flaky_stat;
    calls->read = flaky_read;
    calls->tell = flaky_tell;
    calls->seek = flaky_seek;
    calls->eof = flaky_eof;
    calls->close = flaky_close;
    const int bad = VSIInstallPluginHandler("/vsiflaky/", calls);
    VSIFreeFilesystemPluginCallbacksStruct(calls);
    return bad ? bad : set_up(state);
}

static uint8_t px[SIDE * SIDE], got[SIDE * SIDE], valid[SIDE * SIDE];

/* Blocks of one row, so that each row is a read of its own. */
static qfz_source_options flaky_source(int retries)
{
    char **options = CSLSetNameValue(NULL, "BLOCKYSIZE", "1");
    for (int i = 0; i < SIDE * SIDE; i++)
        px[i] = (uint8_t)(i * 7 + i / 256);
    flaky.failures = 0;
    GDALClose(make_with("/vsimem/f.tif", SIDE, SIDE, 1, GDT_Byte, px, options));
    CSLDestroy(options);
    qfz_source_options input = source_of("/vsiflaky/f.tif");
    input.retry.retries = retries;
    return input;
}

/* From a bug: after a failed read of the block list, a second try gave zeros, because libtiff keeps
 * missing entries of the list as empty blocks. */
static void reads_what_comes_at_a_later_try(void **state)
{
    (void)state;
    for (int failures = 1; failures <= 3; failures++) {
        const qfz_source_options input = flaky_source(3);
        const qfz_box rows = {100, 0, 110, SIDE};
        qfz_source *const source = open_it(&input);
        flaky.failures = failures;
        const int64_t before = qfz_retries_so_far();
        OK(qfz_source_read(source, rows, got, valid, &err));
        assert_int_equal(flaky.failures, 0);
        assert_in_range(qfz_retries_so_far() - before, 1, failures); /* a try may meet several */
        assert_memory_equal(got, px + 100 * SIDE, 10 * SIDE);
        qfz_source_close(source);
    }
}

static void says_where_and_how_often_it_tried(void **state)
{
    (void)state;
    static const char *const ends[] = {"columns 0..599: ", "(tried 4 times)"};
    for (int i = 0; i < 2; i++) {
        const qfz_source_options input = flaky_source(3 * i);
        const qfz_box row = {50, 0, 51, SIDE};
        qfz_source *const source = open_it(&input);
        qfz_error said = {0};
        flaky.failures = -1;
        flaky.opened = 0;
        assert_int_equal(qfz_source_read(source, row, got, valid, &said), QFZ_EIO);
        assert_non_null(strstr(said.message, "/vsiflaky/f.tif: rows 50..50, "));
        assert_non_null(strstr(said.message, ends[i]));
        assert_true((strstr(said.message, "tried") != NULL) == (i == 1));
        assert_true(i == 1 ? flaky.opened >= 3 : flaky.opened == 0);
        flaky.failures = 0;
        OK(qfz_source_read(source, row, got, valid, &err));
        assert_memory_equal(got, px + 50 * SIDE, SIDE);
        qfz_source_close(source);
    }
}

static void a_wrong_box_is_not_tried_again(void **state)
{
    (void)state;
    const qfz_source_options input = flaky_source(3);
    qfz_source *const source = open_it(&input);
    flaky.opened = 0;
    FAILS(qfz_source_read(source, (qfz_box){0, 0, 1, SIDE + 1}, got, valid, &err), QFZ_EARG,
          "outside the raster");
    assert_int_equal(flaky.opened, 0);
    qfz_source_close(source);
}

/* ------------------------------------------------------ writing: pwrite(), wrapped by the linker
 */
ssize_t __real_pwrite(int file, const void *data, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int file, const void *data, size_t bytes, off_t offset);

static struct {
    int number; /* errno of failures; 0: no failures */
    int every;  /* so many writes succeed, then in_a_row writes fail */
    int in_a_row;
    int well, failed, more; /* so far; failures that still follow */
} writes;

ssize_t __wrap_pwrite(int file, const void *data, size_t bytes, off_t offset)
{
    if (writes.number == 0) return __real_pwrite(file, data, bytes, offset);
    if (writes.more > 0) {
        writes.more--;
        writes.failed++;
        errno = writes.number;
        return -1;
    }
    if (++writes.well % writes.every == 0) {
        writes.more = writes.in_a_row;
        if (bytes > 1) bytes /= 2; /* short writes, too */
    }
    return __real_pwrite(file, data, bytes, offset);
}

static char folder[] = "/tmp/qfz_retry_XXXXXX";

static qfz_status write_block(qfz_sink *sink, qfz_box box, const uint32_t *noise, qfz_error *err)
{
    uint32_t part[64 * 64];
    const int64_t w = qfz_box_w(box);
    for (int64_t y = box.y0; y < box.y1; y++)
        memcpy(part + (y - box.y0) * w, noise + y * SIDE + box.x0, (size_t)w * sizeof *part);
    return qfz_sink_write(sink, box, part, NULL, err);
}

/* Writes noise in small blocks, which makes many writes. */
static qfz_status write_noise(const char *format, int retries, uint32_t *noise, qfz_error *err)
{
    const char *const options[] = {"BLOCKXSIZE=64", "BLOCKYSIZE=64", NULL};
    char path[64];
    const qfz_source_options input = source_of("/vsimem/f.tif");
    qfz_sink_options output = {.format = format, .n_threads = 1};
    qfz_sink *sink = NULL;
    (void)snprintf(path, sizeof path, "%s/a.tif", folder);
    output.output.retry.retries = retries;
    output.output.overwrite = true;
    if (!format) output.creation_options = options;
    const qfz_sink_spec spec = {.path = path,
                                .w = SIDE,
                                .h = SIDE,
                                .n_bands = 1,
                                .type = QFZ_OUT_U32,
                                .max_value = 4294967295.0,
                                .has_nodata = true};
    uint32_t random = 1;
    for (int i = 0; i < SIDE * SIDE; i++)
        noise[i] = random = random * 1664525u + 1013904223u;
    const int of = writes.number;
    writes.number = 0;
    GDALClose(make("/vsimem/f.tif", SIDE, SIDE, 1, GDT_Byte, NULL));
    qfz_source *const source = open_it(&input);
    writes.number = of;
    qfz_status st = qfz_sink_create(&sink, source, &output, &spec, err);
    for (int y = 0; y < SIDE && st == QFZ_OK; y += 64) {
        const int end = y + 64 < SIDE ? y + 64 : SIDE;
        for (int x = 0; x < SIDE && st == QFZ_OK; x += 64)
            st = write_block(sink, (qfz_box){y, x, end, x + 64 < SIDE ? x + 64 : SIDE}, noise, err);
    }
    if (st == QFZ_OK) st = qfz_sink_commit(sink, err);
    qfz_sink_close(sink);
    qfz_source_close(source);
    return st;
}

static void writes_all_in_spite_of_failures(void **state)
{
    (void)state;
    static uint32_t noise[SIDE * SIDE], there[SIDE * SIDE];
    static const char *const formats[] = {NULL, "COG"};
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "%s/a.tif", folder);
        writes = (__typeof__(writes)){.number = EIO, .every = 3, .in_a_row = 3};
        OK(write_noise(formats[i], 3, noise, &err));
        assert_true(writes.failed > 9);
        const GDALDatasetH made = GDALOpen(path, GA_ReadOnly);
        assert_int_equal(GDALRasterIO(GDALGetRasterBand(made, 1), GF_Read, 0, 0, SIDE, SIDE, there,
                                      SIDE, SIDE, GDT_UInt32, 0, 0),
                         CE_None);
        GDALClose(made);
        assert_memory_equal(there, noise, sizeof there);
        assert_int_equal(count_files(folder),
                         1); /* temporary overviews of the COG driver are deleted */
    }
}

static void reports_writes_that_never_succeed(void **state)
{
    (void)state;
    static uint32_t noise[SIDE * SIDE];
    static const struct {
        int number, retries, tries;
        const char *words;
    } cases[] = {{EIO, 3, 4, "Input/output error (tried 4 times)"},
                 {ENOSPC, 3, 1, "No space left on device (tried 1 time)"}};
    VSIRmdirRecursive(folder);
    assert_int_equal(VSIMkdir(folder, 0755), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writes = (__typeof__(writes)){.number = cases[i].number, .every = 20, .in_a_row = 1 << 30};
        FAILS(write_noise(NULL, cases[i].retries, noise, &err), QFZ_EIO, cases[i].words);
        assert_true(writes.failed >= cases[i].tries);
        assert_int_equal(count_files(folder), 0);
    }
    writes.number = 0;
    VSIRmdirRecursive(folder);
}

/* Writes of temporary files (core/temp_file.h) are repeated, too. */
static void temporary_files_are_tried_again_too(void **state)
{
    (void)state;
    static const char data[] = "0123456789abcdef";
    char there[sizeof data] = "";
    int file = -1;
    OK(qfz_temp_open("/tmp", &file, &err));
    writes = (__typeof__(writes)){.number = EIO, .every = 1, .in_a_row = 1};
    OK(qfz_temp_write(file, "/tmp", data, sizeof data, 100, &err));
    assert_true(writes.failed >= 3);
    writes = (__typeof__(writes)){.number = ENOSPC, .every = 1, .in_a_row = 1 << 30};
    FAILS(qfz_temp_write(file, "/tmp", data, sizeof data, 200, &err), QFZ_EIO, "No space left");
    assert_int_equal(writes.failed, 1);
    writes.number = 0;
    OK(qfz_temp_read(file, "/tmp", there, sizeof there, 100, &err));
    assert_string_equal(there, data);
    FAILS(qfz_temp_read(file, "/tmp", there, sizeof there, 300, &err), QFZ_EIO, "too short");
    (void)close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_comes_at_a_later_try),
        cmocka_unit_test(says_where_and_how_often_it_tried),
        cmocka_unit_test(a_wrong_box_is_not_tried_again),
        cmocka_unit_test(writes_all_in_spite_of_failures),
        cmocka_unit_test(reports_writes_that_never_succeed),
        cmocka_unit_test(temporary_files_are_tried_again_too),
    };
    return cmocka_run_group_tests(tests, install, NULL);
}
