/* SPDX-License-Identifier: MIT */
#include "raster/gdal_setup.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <gdal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "raster/retry_vsi.h"

static qfz_status set_config(const char *item, qfz_error *err)
{
    char *key = NULL;
    const char *const value = CPLParseNameValue(item, &key);
    if (!key || !value) {
        CPLFree(key);
        return qfz_fail(err, QFZ_EARG, "configuration option '%s' is not KEY=VALUE", item);
    }
    CPLSetConfigOption(key, value);
    CPLFree(key);
    return QFZ_OK;
}

void qfz_raster_set_cache(const char *const *config, int64_t cache_bytes)
{
    for (const char *const *item = config; item && *item; item++) {
        char *key = NULL;
        (void)CPLParseNameValue(*item, &key);
        const bool is_set = key && EQUAL(key, "GDAL_CACHEMAX");
        CPLFree(key);
        if (is_set) return;
    }
    GDALSetCacheMax64(cache_bytes);
}

/* Each thread opens parts of a mosaic for itself.  With more threads than datasets in GDAL's pool
 * (100 in some versions), threads wait for each other without end. */
static void set_pool(void)
{
    static const char key[] = "GDAL_MAX_DATASET_POOL_SIZE";
    enum { FILES_MAX = 512 };
    struct rlimit limit;
    char text[16];
    if (CPLGetConfigOption(key, NULL) || getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    const int files = limit.rlim_cur < 2 * FILES_MAX ? (int)limit.rlim_cur / 2 : FILES_MAX;
    (void)snprintf(text, sizeof text, "%d", files);
    CPLSetConfigOption(key, text);
}

static qfz_status set_up(const char *const *config, int64_t cache_bytes, qfz_error *err)
{
    CPLSetErrorHandler(CPLQuietErrorHandler); /* also in threads of GDAL */
    /* Keeps the parts of a VRT in the thread that opened them.  Otherwise GDAL passes idle parts
     * from thread to thread, together with file handles of raw formats that the first thread still
     * uses. */
    CPLSetConfigOption("VRT_SHARED_SOURCE", "1");
    for (const char *const *item = config; item && *item; item++)
        QFZ_TRY(set_config(*item, err));
    set_pool();
    GDALAllRegister();
    if (!qfz_retry_vsi_install())
        return qfz_fail(err, QFZ_EIO,
                        "GDAL refuses the virtual file system /vsiqfz/; no output can be written");
    qfz_raster_set_cache(config, cache_bytes);
    return QFZ_OK;
}

/* GDAL's list of file systems has no lock, so jobs of several threads are set up in turn. */
qfz_status qfz_raster_setup(const char *const *config, int64_t cache_bytes, qfz_error *err)
{
    qfz_status st;
#pragma omp critical(qfz_raster_setup)
    st = set_up(config, cache_bytes, err);
    return st;
}
