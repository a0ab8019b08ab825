/* SPDX-License-Identifier: MIT */
#define _LARGEFILE64_SOURCE /* for VSIStatBufL of GDAL */
#include "raster/upload.h"

#include <cpl_conv.h>
#include <cpl_vsi.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "raster/error_trap.h"
#include "raster/object_store.h"
#include "raster/text.h"

enum { COPY_BYTES = 1 << 20, WHAT_BYTES = 160 };

/* An object has at most 10,000 parts.  A part is in memory while it is sent. */
enum { PARTS_MAX = 9000, PART_MB = 16 };

#define RETRY_S "1" /* GDAL's wait before it repeats a request for the first time */

struct qfz_upload {
    char *from, *to;
    qfz_retry retry;
    qfz_advance_fn advance;
    void *arg;
    VSILFILE *file; /* NULL: complete, or failed */
    int64_t bytes;  /* of the local file */
};

/* ------------------------------------------------------------------------------ GDAL's settings */

/* Options of GDAL that an upload sets in its thread, where the user has not set them. */
typedef struct settings {
    const char *keys[3];
    int n;
} settings;

static void set(settings *s, const char *key, const char *value)
{
    if (CPLGetConfigOption(key, NULL)) return;
    CPLSetThreadLocalConfigOption(key, value);
    s->keys[s->n++] = key;
}

static void set_all(settings *s, const qfz_upload *upload)
{
    const int64_t least = upload->bytes / PARTS_MAX / 1000000 + 1, own = upload->bytes >> 20;
    const int64_t part_mb = least > PART_MB ? least : own < PART_MB ? own + 1 : PART_MB;
    char text[24];
    s->n = 0;
    (void)snprintf(text, sizeof text, "%lld", (long long)part_mb);
    set(s, strncmp(upload->to, "/vsigs/", 7) == 0 ? "VSIGS_CHUNK_SIZE" : "VSIS3_CHUNK_SIZE", text);
    (void)snprintf(text, sizeof text, "%d", upload->retry.retries);
    set(s, "GDAL_HTTP_MAX_RETRY", text);
    set(s, "GDAL_HTTP_RETRY_DELAY", RETRY_S);
}

static void unset_all(const settings *s)
{
    for (int i = 0; i < s->n; i++)
        CPLSetThreadLocalConfigOption(s->keys[i], NULL);
}

/* -------------------------------------------------------------------------------------- sending */

/* GDAL completes an object when its file is closed, unless an operation failed before: a file that
 * is written in sequence refuses to seek. */
static void abandon(qfz_upload *upload)
{
    qfz_error_trap trap;
    if (!upload->file) return;
    qfz_error_trap_begin(&trap);
    (void)VSIFSeekL(upload->file, (vsi_l_offset)INT64_MAX, SEEK_SET);
    (void)VSIFCloseL(upload->file);
    qfz_error_trap_end(&trap);
    upload->file = NULL;
}

/* The caller's trap has the reason of a failure. */
static qfz_status copy_bytes(qfz_upload *upload, FILE *in, char *buffer, int64_t *at,
                             qfz_error *err)
{
    while (*at < upload->bytes) {
        const size_t n = fread(buffer, 1, COPY_BYTES, in);
        if (n == 0)
            return qfz_fail(err, QFZ_EIO, "%s: it has become shorter, or cannot be read: %s",
                            upload->from, strerror(errno));
        if (VSIFWriteL(buffer, 1, n, upload->file) != n) return QFZ_EIO;
        *at += (int64_t)n;
        if (upload->advance)
            QFZ_TRY(upload->advance(upload->arg, (double)*at / (double)upload->bytes, err));
    }
    return QFZ_OK;
}

static qfz_status send_open(qfz_upload *upload, FILE *in, char *buffer, qfz_error *err)
{
    int64_t at = 0;
    char what[WHAT_BYTES];
    settings options;
    qfz_error_trap trap;
    qfz_error own = {.status = QFZ_OK};
    if (fseeko(in, 0, SEEK_END) != 0 || (upload->bytes = ftello(in)) < 0)
        return qfz_fail(err, QFZ_EIO, "%s: %s", upload->from, strerror(errno));
    rewind(in);
    set_all(&options, upload);
    qfz_error_trap_begin(&trap);
    upload->file = VSIFOpenL(upload->to, "wb");
    const qfz_status st = upload->file ? copy_bytes(upload, in, buffer, &at, &own) : QFZ_EIO;
    qfz_error_trap_end(&trap);
    if (st != QFZ_OK) abandon(upload);
    unset_all(&options);
    if (st == QFZ_OK) return st;
    if (own.status != QFZ_OK) return qfz_fail(err, own.status, "%s", own.message);
    (void)snprintf(what, sizeof what, "its upload failed after %lld of %lld bytes", (long long)at,
                   (long long)upload->bytes);
    return qfz_object_fail(upload->to, what, trap.failure, err);
}

static qfz_status send_once(void *arg, qfz_error *err)
{
    qfz_upload *const upload = arg;
    char *buffer = NULL;
    QFZ_TRY(QFZ_NEW(&buffer, COPY_BYTES, err));
    FILE *const in = fopen(upload->from, "rb");
    const qfz_status st = in ? send_open(upload, in, buffer, err)
                             : qfz_fail(err, QFZ_EIO, "%s: %s", upload->from, strerror(errno));
    if (in) (void)fclose(in);
    free(buffer);
    return st;
}

qfz_status qfz_upload_send(qfz_upload **upload, const char *from, const char *to,
                           const qfz_retry *retry, qfz_advance_fn advance, void *arg,
                           qfz_error *err)
{
    qfz_upload *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->retry = *retry;
    made->advance = advance;
    made->arg = arg;
    qfz_status st = qfz_text_copy(&made->from, from, err);
    if (st == QFZ_OK) st = qfz_text_copy(&made->to, to, err);
    if (st == QFZ_OK) st = qfz_retry_call(retry, send_once, made, err);
    if (st != QFZ_OK) {
        qfz_upload_close(made);
        return st;
    }
    *upload = made;
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------------- the end */

/* Without the right to look up objects, the size is unknown. */
static bool has_size(const qfz_upload *upload)
{
    VSIStatBufL found;
    VSICurlPartialClearCache(upload->to);
    return VSIStatL(upload->to, &found) != 0 || (int64_t)found.st_size == upload->bytes;
}

static qfz_status complete_once(void *arg, qfz_error *err)
{
    qfz_upload *const upload = arg;
    settings options;
    qfz_error_trap trap;
    if (!upload->file) QFZ_TRY(send_once(upload, err));
    set_all(&options, upload);
    qfz_error_trap_begin(&trap);
    const bool closed = VSIFCloseL(upload->file) == 0;
    const bool ok = closed && has_size(upload);
    upload->file = NULL;
    qfz_error_trap_end(&trap);
    if (!closed) qfz_object_clean(upload->to);
    unset_all(&options);
    if (ok) return QFZ_OK;
    return qfz_object_fail(upload->to,
                           closed ? "the object has another size than its file"
                                  : "its upload failed at its last part",
                           trap.failure, err);
}

qfz_status qfz_upload_complete(qfz_upload *upload, qfz_error *err)
{
    QFZ_TRY(qfz_retry_call(&upload->retry, complete_once, upload, err));
    (void)VSIUnlink(upload->from);
    return QFZ_OK;
}

void qfz_upload_close(qfz_upload *upload)
{
    if (!upload) return;
    abandon(upload);
    free(upload->from);
    free(upload->to);
    free(upload);
}
