/* SPDX-License-Identifier: MIT */
/* trap.c - GDAL's errors become ours: nothing is printed, the first failure is kept. */
#include "raster/private.h"

#include "core/memory.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void keep_first(char *kept, size_t bytes, const char *message)
{
    if (kept[0] != '\0') return;
    (void)snprintf(kept, bytes, "%s", message);
    for (char *c = kept; *c != '\0'; c++)
        if (*c == '\n' || *c == '\r') *c = ' ';
    for (size_t n = strlen(kept); n > 0 && kept[n - 1] == ' '; n--)
        kept[n - 1] = '\0';
}

static void CPL_STDCALL on_error(CPLErr level, CPLErrorNum number, const char *message)
{
    qfz_trap *const trap = CPLGetErrorHandlerUserData();
    (void)number;
    if (!trap) return;
    if (level >= CE_Failure) {
        trap->failed = true;
        keep_first(trap->failure, sizeof trap->failure, message);
    } else if (level == CE_Warning) {
        keep_first(trap->warning, sizeof trap->warning, message);
    }
}

void qfz_trap_begin(qfz_trap *trap)
{
    memset(trap, 0, sizeof *trap);
    CPLErrorReset();
    CPLPushErrorHandlerEx(on_error, trap);
}

void qfz_trap_end(qfz_trap *trap)
{
    (void)trap;
    CPLPopErrorHandler();
    CPLErrorReset();
}

static const char *reason(const qfz_trap *trap, const char *name, const char *otherwise)
{
    const char *text = trap->failure[0] ? trap->failure : trap->warning;
    const size_t n = strlen(name);
    if (!text[0]) return otherwise;
    if (strncmp(text, name, n) == 0 && text[n] == ':') /* GDAL named the file itself */
        text += n + strspn(text + n, ": ");
    return text[0] ? text : otherwise;
}

qfz_status qfz_trap_fail(const qfz_trap *trap, qfz_error *err, qfz_status st, const char *name,
                         const char *otherwise)
{
    return qfz_fail(err, st, "%s: %s", name, reason(trap, name, otherwise));
}

qfz_status qfz_trap_fail_box(const qfz_trap *trap, qfz_error *err, const char *name, qfz_box box)
{
    return qfz_fail(err, QFZ_EIO, "%s: rows %lld..%lld, columns %lld..%lld: %s", name,
                    (long long)box.y0, (long long)(box.y1 - 1), (long long)box.x0,
                    (long long)(box.x1 - 1), reason(trap, name, "GDAL failed without a reason"));
}

qfz_status qfz_box_check(qfz_box box, qfz_box whole, const char *name, qfz_error *err)
{
    if (box.y0 >= whole.y0 && box.x0 >= whole.x0 && box.y1 <= whole.y1 && box.x1 <= whole.x1 &&
        box.y0 < box.y1 && box.x0 < box.x1)
        return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "%s: rows %lld..%lld, columns %lld..%lld are not in it", name,
                    (long long)box.y0, (long long)(box.y1 - 1), (long long)box.x0,
                    (long long)(box.x1 - 1));
}

qfz_status qfz_text_copy(char **copy, const char *text, qfz_error *err)
{
    char *made = NULL;
    const size_t bytes = strlen(text) + 1;
    QFZ_TRY(QFZ_NEW(&made, (int64_t)bytes, err));
    memcpy(made, text, bytes);
    *copy = made;
    return QFZ_OK;
}

qfz_status qfz_text_print(char **text, qfz_error *err, const char *format, ...)
{
    char *made = NULL;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    qfz_status st = n < 0 ? qfz_fail(err, QFZ_EARG, "a name cannot be made") : QFZ_OK;
    if (st == QFZ_OK) st = QFZ_NEW(&made, (int64_t)n + 1, err);
    if (st == QFZ_OK) {
        (void)vsnprintf(made, (size_t)n + 1, format, again);
        *text = made;
    }
    va_end(again);
    va_end(args);
    return st;
}

/* Whatever the locale puts between digits becomes a point. */
void qfz_real_print(char *text, size_t bytes, double value)
{
    char *to = text;
    (void)snprintf(text, bytes, "%.15g", value);
    if (strtod(text, NULL) != value) (void)snprintf(text, bytes, "%.17g", value);
    for (const char *from = text; *from != '\0'; from++) {
        if (strchr("0123456789+-einf", *from))
            *to++ = *from;
        else if (to > text && to[-1] != '.')
            *to++ = '.';
    }
    *to = '\0';
}

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

void qfz_raster_set_cache(const qfz_job *job, int64_t cache_bytes)
{
    for (const char *const *item = job->config; item && *item; item++) {
        char *key = NULL;
        (void)CPLParseNameValue(*item, &key);
        const bool says_it = key && EQUAL(key, "GDAL_CACHEMAX");
        CPLFree(key);
        if (says_it) return;
    }
    GDALSetCacheMax64(cache_bytes);
}

/* Each thread has parts of a mosaic of its own open.  Where there are more threads than GDAL keeps
 * parts open, 100 in some versions, they wait for each other for good. */
static void set_pool(void)
{
    static const char key[] = "GDAL_MAX_DATASET_POOL_SIZE";
    enum { FILES_MAX = 1000 };
    struct rlimit limit;
    char text[16];
    if (CPLGetConfigOption(key, NULL) || getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    const int files = limit.rlim_cur < 2 * FILES_MAX ? (int)limit.rlim_cur / 2 : FILES_MAX;
    (void)snprintf(text, sizeof text, "%d", files);
    CPLSetConfigOption(key, text);
}

static qfz_status set_up(const qfz_job *job, int64_t cache_bytes, qfz_error *err)
{
    CPLSetErrorHandler(CPLQuietErrorHandler); /* also for threads that GDAL starts */
    /* Parts of a VRT stay with the thread that opened them.  Else those that wait would go from
     * thread to thread, and with them handles of raw files that the first one reads by, too. */
    CPLSetConfigOption("VRT_SHARED_SOURCE", "1");
    for (const char *const *item = job->config; item && *item; item++)
        QFZ_TRY(set_config(*item, err));
    set_pool();
    GDALAllRegister();
    if (!qfz_steady_install()) return qfz_fail(err, QFZ_EIO, "GDAL takes no file system of ours");
    qfz_raster_set_cache(job, cache_bytes);
    return QFZ_OK;
}

/* GDAL's list of file systems is not locked, so jobs of several threads are set up in turn. */
qfz_status qfz_raster_setup(const qfz_job *job, int64_t cache_bytes, qfz_error *err)
{
    qfz_status st;
#pragma omp critical(qfz_raster_setup)
    st = set_up(job, cache_bytes, err);
    return st;
}
