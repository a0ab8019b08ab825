/* SPDX-License-Identifier: MIT */
/* scene.h - makes small rasters, and holds what every test of the raster room needs. */
#ifndef QFZ_TESTS_SCENE_H
#define QFZ_TESTS_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <gdal.h>
#include <math.h>

#include "raster/raster.h"

#define UNUSED __attribute__((unused))

#define OK(expr)                                                                                   \
    do {                                                                                           \
        qfz_error err = {0};                                                                       \
        if ((expr) != QFZ_OK) fail_msg("%s", err.message);                                         \
    } while (0)

/* The call fails with this status, and its message has `words` and one line. */
#define FAILS(expr, code, words)                                                                   \
    do {                                                                                           \
        qfz_error err = {0};                                                                       \
        const qfz_status got_ = (expr);                                                            \
        if (got_ != (code) || !strstr(err.message, (words)) || strchr(err.message, '\n'))          \
            fail_msg("status %d, message '%s'", (int)got_, err.message);                           \
    } while (0)

UNUSED static int set_up(void **state)
{
    qfz_error err = {0};
    (void)state;
    return qfz_raster_setup(NULL, (int64_t)64 << 20, &err) == QFZ_OK ? 0 : -1;
}

/* True if a test was skipped, which the status of cmocka does not show. */
static bool left_out;

UNUSED static void leave_out(const char *what, const char *why)
{
    print_message("skipped: %s: %s\n", what, why);
    left_out = true;
    skip();
}

/* The status of the program: 77 if a test was skipped. */
UNUSED static int status_of(int n_failed)
{
    return n_failed > 0 ? 1 : left_out ? 77 : 0;
}

/* A file in the folder of test rasters; skips the test if the file is missing. */
UNUSED static const char *data_file(const char *name)
{
    static char path[1024];
    const char *const folder = getenv("QFZ_TEST_DATA");
    (void)snprintf(path, sizeof path, "%s/%s", folder ? folder : QFZ_TEST_DATA, name);
    FILE *const file = fopen(path, "rb");
    if (!file)
        leave_out(path, "is missing");
    else
        (void)fclose(file);
    return path;
}

UNUSED static bool exists(const char *path)
{
    FILE *const file = strncmp(path, "/vsi", 4) == 0 ? NULL : fopen(path, "rb");
    if (file) return fclose(file) == 0;
    VSILFILE *const other = strncmp(path, "/vsi", 4) == 0 ? VSIFOpenL(path, "rb") : NULL;
    if (other) (void)VSIFCloseL(other);
    return other != NULL;
}

/* Number of files in a folder, without . and .. */
UNUSED static int count_files(const char *folder)
{
    char **const names = VSIReadDir(folder);
    int n = 0;
    for (char **name = names; name && *name; name++)
        if (strcmp(*name, ".") != 0 && strcmp(*name, "..") != 0) n++;
    CSLDestroy(names);
    return n;
}

/* All bands except alpha; failed reads are not repeated. */
UNUSED static qfz_source_options source_of(const char *name)
{
    return (qfz_source_options){.name = name};
}

/* A new GTiff, open for update; pixels are planes of `type`, or NULL. */
UNUSED static GDALDatasetH make_with(const char *path, int w, int h, int n_bands, GDALDataType type,
                                     const void *pixels, char **options)
{
    const GDALDatasetH made =
        GDALCreate(GDALGetDriverByName("GTiff"), path, w, h, n_bands, type, options);
    assert_non_null(made);
    if (pixels)
        assert_int_equal(GDALDatasetRasterIO(made, GF_Write, 0, 0, w, h, (void *)(uintptr_t)pixels,
                                             w, h, type, n_bands, NULL, 0, 0, 0),
                         CE_None);
    return made;
}

UNUSED static GDALDatasetH make(const char *path, int w, int h, int n_bands, GDALDataType type,
                                const void *pixels)
{
    return make_with(path, w, h, n_bands, type, pixels, NULL);
}

UNUSED static qfz_source *open_it(const qfz_source_options *input)
{
    qfz_source *source = NULL;
    OK(qfz_source_open(&source, input, &err));
    OK(qfz_source_locate(source, &err));
    return source;
}

UNUSED static qfz_box whole(const qfz_source *source)
{
    const qfz_source_info *const info = qfz_source_get_info(source);
    const qfz_box box = {0, 0, info->h, info->w};
    return box;
}

/* Opens, reads everything, compares the validity, closes. */
UNUSED static void check_valid(const qfz_source_options *input, const uint8_t *expected, size_t n)
{
    qfz_source *const source = open_it(input);
    uint8_t valid[256], pixels[8192];
    assert_true(n <= sizeof valid);
    OK(qfz_source_read(source, whole(source), pixels, valid, &err));
    assert_memory_equal(valid, expected, n);
    qfz_source_close(source);
}

#endif
