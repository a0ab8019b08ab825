/* SPDX-License-Identifier: MIT */
#include "raster/error_trap.h"

#include <cpl_error.h>
#include <stdio.h>
#include <string.h>

#include "raster/retry_vsi.h"
#include "raster/temp_output.h"

/* Cuts n bytes at a place of a text. */
static void cut(char *at, size_t n)
{
    memmove(at, at + n, strlen(at + n) + 1);
}

/* "/vsiqfz/3,0.010000/name" becomes "name". */
static void hide_file_system(char *text)
{
    for (char *at = text; (at = strstr(at, QFZ_RETRY_VSI_PREFIX)) != NULL;) {
        const size_t n = strlen(QFZ_RETRY_VSI_PREFIX);
        const char *const slash = strchr(at + n, '/');
        cut(at, slash ? (size_t)(slash - at) + 1 : n);
    }
}

/* A temporary name, ".dst-tif.qfz-NUMBER-KIND.tif", becomes the name of its output, "dst.tif"
 * (temp_output.h).  Text that only resembles such a name stays. */
static void hide_temporary_names(char *text)
{
    static const char ends[] = "/ ,:;'\"`()";
    for (char *mark = text; (mark = strstr(mark, QFZ_TEMP_MARK)) != NULL; mark++) {
        char *begin = mark, *dot = NULL;
        while (begin > text && !strchr(ends, begin[-1]))
            begin--;
        for (char *at = begin + 1; at < mark; at++)
            if (*at == '-') dot = at;
        if (*begin != '.' || mark == begin + 1) continue;
        if (dot) *dot = '.';
        cut(mark, strcspn(mark, ends));
        cut(begin, 1);
        mark = begin;
    }
}

/* Copies a message into an empty buffer, as one line. */
static void keep_first(char *kept, size_t bytes, const char *message)
{
    if (kept[0] != '\0') return;
    (void)snprintf(kept, bytes, "%s", message);
    for (char *c = kept; *c != '\0'; c++)
        if (*c == '\n' || *c == '\r') *c = ' ';
    for (size_t n = strlen(kept); n > 0 && kept[n - 1] == ' '; n--)
        kept[n - 1] = '\0';
    hide_file_system(kept);
    hide_temporary_names(kept);
}

static void CPL_STDCALL on_error(CPLErr level, CPLErrorNum number, const char *message)
{
    qfz_error_trap *const trap = CPLGetErrorHandlerUserData();
    (void)number;
    if (!trap) return;
    if (level >= CE_Failure) {
        trap->failed = true;
        keep_first(trap->failure, sizeof trap->failure, message);
    } else if (level == CE_Warning) {
        keep_first(trap->warning, sizeof trap->warning, message);
    }
}

void qfz_error_trap_begin(qfz_error_trap *trap)
{
    memset(trap, 0, sizeof *trap);
    CPLErrorReset();
    CPLPushErrorHandlerEx(on_error, trap);
}

void qfz_error_trap_end(qfz_error_trap *trap)
{
    (void)trap;
    CPLPopErrorHandler();
    CPLErrorReset();
}

static const char *reason(const qfz_error_trap *trap, const char *name, const char *otherwise)
{
    const char *text = trap->failure[0] ? trap->failure : trap->warning;
    const size_t n = strlen(name);
    if (!text[0]) return otherwise;
    if (strncmp(text, name, n) == 0 && text[n] == ':') /* GDAL named the file itself */
        text += n + strspn(text + n, ": ");
    return text[0] ? text : otherwise;
}

qfz_status qfz_error_trap_fail(const qfz_error_trap *trap, qfz_error *err, qfz_status st,
                               const char *name, const char *otherwise)
{
    return qfz_fail(err, st, "%s: %s", name, reason(trap, name, otherwise));
}

qfz_status qfz_error_trap_fail_box(const qfz_error_trap *trap, qfz_error *err, const char *name,
                                   qfz_box box)
{
    return qfz_fail(err, QFZ_EIO, "%s: rows %lld..%lld, columns %lld..%lld: %s", name,
                    (long long)box.y0, (long long)(box.y1 - 1), (long long)box.x0,
                    (long long)(box.x1 - 1), reason(trap, name, "GDAL failed without a reason"));
}
