/* SPDX-License-Identifier: MIT */
#define _LARGEFILE64_SOURCE /* for VSIStatBufL of GDAL */
#include "raster/upload.h"

#include <cpl_conv.h>
#include <cpl_progress.h>
#include <cpl_string.h>
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

/* A part is in memory while it is sent.  S3 allows 10,000 parts; VSISync() makes at most 1000. */
enum { PARTS_MAX = 9000, BLOCKS_MAX = 1000, PART_MB = 16 };

/* What GDAL writes to Azure through a file handle is one request, and appears as a whole, only
 * while the buffer has room for a further byte.  Else it becomes an append blob, which grows under
 * its name. */
#define AZURE_BUFFER "4194304"
enum { AZURE_BUFFER_BYTES = 4194304 };

#define RETRY_S "1" /* GDAL's wait before it repeats a request for the first time */

struct qfz_upload {
    char *from, *to;
    qfz_retry retry;
    qfz_advance_fn advance;
    void *arg;
    VSILFILE *file; /* NULL: complete, failed, or in blocks */
    int64_t bytes;  /* of the local file */
    bool in_blocks; /* complete() sends all: GDAL sends blocks of Azure and commits them by one call
                     */
    double sent;    /* share of the blocks */
    qfz_error *err; /* receives the message of advance() during that call */
};

/* ------------------------------------------------------------------------------ GDAL's settings */

/* Options of GDAL that an upload sets in its thread, where the user has not set them. */
typedef struct settings {
    const char *keys[4];
    int n;
} settings;

static void set(settings *s, const char *key, const char *value)
{
    CPLSetThreadLocalConfigOption(key, value);
    s->keys[s->n++] = key;
}

static void set_default(settings *s, const char *key, const char *value)
{
    if (!CPLGetConfigOption(key, NULL)) set(s, key, value);
}

static bool is_azure(const qfz_upload *upload)
{
    return strncmp(upload->to, "/vsiaz/", 7) == 0;
}

static void set_part_size(settings *s, const qfz_upload *upload)
{
    const int64_t least = upload->bytes / PARTS_MAX / 1000000 + 1, own = upload->bytes >> 20;
    const int64_t part_mb = least > PART_MB ? least : own < PART_MB ? own + 1 : PART_MB;
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)part_mb);
    set_default(s, strncmp(upload->to, "/vsigs/", 7) == 0 ? "VSIGS_CHUNK_SIZE" : "VSIS3_CHUNK_SIZE",
                text);
}

static void set_all(settings *s, const qfz_upload *upload)
{
    char text[24];
    s->n = 0;
    if (is_azure(upload)) {
        set(s, "VSIAZ_CHUNK_SIZE_BYTES", AZURE_BUFFER);
        /* Without this setting, VSISync() sends files of up to 8 MB through a file handle. */
        set(s, "VSIS3_SIMULATE_THREADING", "YES");
    } else {
        set_part_size(s, upload);
    }
    (void)snprintf(text, sizeof text, "%d", upload->retry.retries);
    set_default(s, "GDAL_HTTP_MAX_RETRY", text);
    set_default(s, "GDAL_HTTP_RETRY_DELAY", RETRY_S);
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
    upload->in_blocks = is_azure(upload) && upload->bytes >= AZURE_BUFFER_BYTES;
    if (upload->in_blocks) return QFZ_OK;
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

static int CPL_STDCALL on_blocks(double share, const char *text, void *arg)
{
    qfz_upload *const upload = arg;
    (void)text;
    upload->sent = share;
    return !upload->advance || upload->advance(upload->arg, share, upload->err) == QFZ_OK;
}

/* The file has two blocks or more: VSISync() writes a single one through a file handle. */
static int64_t block_bytes(const qfz_upload *upload)
{
    const int64_t wish = atoi(CPLGetConfigOption("VSIAZ_CHUNK_SIZE", "0")),
                  usual = (int64_t)(wish > 0 ? wish : PART_MB) << 20,
                  least = upload->bytes / BLOCKS_MAX + 1, half = upload->bytes / 2 + 1;
    return half < usual ? half : least > usual ? least : usual;
}

static bool send_blocks(qfz_upload *upload, qfz_error *err)
{
    char **options = CSLSetNameValue(NULL, "SYNC_STRATEGY", "OVERWRITE");
    options = CSLSetNameValue(options, "NUM_THREADS", "1");
    options =
        CSLSetNameValue(options, "CHUNK_SIZE", CPLSPrintf("%lld", (long long)block_bytes(upload)));
    upload->err = err;
    upload->sent = 0;
    const bool ok = VSISync(upload->from, upload->to, (const char *const *)options, on_blocks,
                            upload, NULL) != 0;
    upload->err = NULL;
    CSLDestroy(options);
    return ok;
}

/* Without the right to look up objects, the size is unknown. */
static bool has_size(const qfz_upload *upload)
{
    VSIStatBufL found;
    VSICurlPartialClearCache(upload->to);
    return VSIStatL(upload->to, &found) != 0 || (int64_t)found.st_size == upload->bytes;
}

/* The message of an upload whose last requests failed, or whose object is not the file. */
static qfz_status fail_to_complete(const qfz_upload *upload, bool sent, const char *why,
                                   qfz_error *err)
{
    char what[WHAT_BYTES] = "the object has another size than its file";
    if (!sent && upload->in_blocks)
        (void)snprintf(what, sizeof what, "its upload failed after %lld of %lld bytes",
                       (long long)(upload->sent * (double)upload->bytes), (long long)upload->bytes);
    else if (!sent)
        (void)snprintf(what, sizeof what, "its upload failed at its last part");
    return qfz_object_fail(upload->to, what, why, err);
}

static qfz_status complete_once(void *arg, qfz_error *err)
{
    qfz_upload *const upload = arg;
    settings options;
    qfz_error_trap trap;
    qfz_error own = {.status = QFZ_OK};
    if (!upload->file) QFZ_TRY(send_once(upload, err));
    set_all(&options, upload);
    qfz_error_trap_begin(&trap);
    const bool sent = upload->in_blocks ? send_blocks(upload, &own) : VSIFCloseL(upload->file) == 0;
    const bool ok = sent && has_size(upload);
    upload->file = NULL;
    qfz_error_trap_end(&trap);
    if (!sent) qfz_object_clean(upload->to);
    unset_all(&options);
    if (ok) return QFZ_OK;
    if (own.status != QFZ_OK) return qfz_fail(err, own.status, "%s", own.message);
    return fail_to_complete(upload, sent, trap.failure, err);
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
