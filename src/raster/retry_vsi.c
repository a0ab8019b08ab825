/* SPDX-License-Identifier: MIT */
/* retry_vsi.c - plain files whose writes and reads are repeated, as a virtual file system of GDAL.
 *
 * GDAL writes blocks from its cache when it needs room and drops a block whose write failed, so the
 * caller of GDAL cannot repeat the write; the C library's buffer below GDAL's own files drops
 * failed writes too.  This file system lies between GDAL and the system and repeats each write with
 * the same bytes at the same offset.  A name holds the number of retries and the first wait:
 * /vsiqfz/RETRIES,SECONDS/path.
 *
 * Tables are written cell by cell.  Small consecutive writes are collected and go to the system
 * together, before any other operation on the file.
 *
 * GDAL drops the failure of some writes, as those of a header.  A file that has lost bytes stays
 * lost: every later write and the end of the file fail with the same reason. */
#define _GNU_SOURCE
#include "raster/retry_vsi.h"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "raster/text.h"

enum { SMALL_BYTES = 512, PENDING_BYTES = 1 << 16 };

typedef struct retry_file {
    int file;
    bool at_end;
    int64_t at;
    qfz_retry retry;
    int lost, n_tries;             /* errno of a write that failed, or 0, and its attempts */
    int64_t pending_at, n_pending; /* offset in the file, and bytes in use */
    char pending[PENDING_BYTES];
} retry_file;

/* Splits RETRIES,SECONDS/path and returns the path; NULL if the name has no comma.  Without a path:
 * the current folder, because drivers check whether the folder of a table exists. */
static const char *plain_name(const char *name, qfz_retry *retry)
{
    const char *const rest = strchr(name, '/');
    *retry = (qfz_retry){.retries = atoi(name)};
    const char *const comma = strchr(name, ',');
    if (!comma || (rest && comma > rest)) return NULL;
    retry->wait_s = CPLAtof(comma + 1);
    return rest ? rest + 1 : ".";
}

/* Flags of open() for a mode of fopen(). */
static int flags_of(const char *access)
{
    const int way = strchr(access, '+') ? O_RDWR : access[0] == 'r' ? O_RDONLY : O_WRONLY;
    return O_CLOEXEC | way |
           (access[0] == 'w'   ? O_CREAT | O_TRUNC | O_NOFOLLOW
            : access[0] == 'a' ? O_CREAT
                               : 0);
}

static void *file_open(void *arg, const char *name, const char *access)
{
    qfz_retry retry;
    const char *const path = plain_name(name, &retry);
    (void)arg;
    const int file = path ? open(path, flags_of(access), 0666) : -1;
    if (file < 0) return NULL;
    retry_file *const f = malloc(sizeof *f);
    if (!f) {
        (void)close(file);
        return NULL;
    }
    f->file = file;
    f->retry = retry;
    f->at_end = false;
    f->lost = f->n_tries = 0;
    f->at = f->pending_at = f->n_pending = 0;
    if (access[0] == 'a') f->at = lseek(file, 0, SEEK_END);
    return f;
}

/* Reports errno, which GDAL's own messages leave out. */
static void report(const char *what, int failures)
{
    CPLError(CE_Failure, CPLE_FileIO, "%s failed: %s (tried %d time%s)", what, strerror(errno),
             failures, failures == 1 ? "" : "s");
}

static bool is_lost(const retry_file *f)
{
    if (f->lost == 0) return false;
    errno = f->lost;
    report("writing", f->n_tries);
    return true;
}

static int64_t write_at(retry_file *f, const void *bytes, int64_t n, int64_t at)
{
    int failures;
    if (is_lost(f)) return 0;
    const int64_t done = qfz_retry_write(&f->retry, f->file, bytes, n, at, &failures);
    if (done == n) return n;
    f->lost = errno;
    f->n_tries = failures;
    report("writing", failures);
    return done;
}

static bool flush_pending(retry_file *f)
{
    const int64_t n = f->n_pending;
    f->n_pending = 0;
    return n == 0 || write_at(f, f->pending, n, f->pending_at) == n;
}

static int file_close(void *handle)
{
    retry_file *const f = handle;
    const bool is_whole = flush_pending(f) && !is_lost(f);
    const int bad = close(f->file);
    free(f);
    return is_whole ? bad : -1;
}

static vsi_l_offset file_tell(void *handle)
{
    const retry_file *const f = handle;
    return (vsi_l_offset)f->at;
}

static int file_seek(void *handle, vsi_l_offset offset, int whence)
{
    retry_file *const f = handle;
    struct stat found;
    if (whence == SEEK_END && !flush_pending(f)) return -1;
    if (whence == SEEK_END && fstat(f->file, &found) != 0) return -1;
    f->at = (int64_t)offset + (whence == SEEK_CUR ? f->at : whence == SEEK_END ? found.st_size : 0);
    f->at_end = false;
    return 0;
}

static int file_eof(void *handle)
{
    const retry_file *const f = handle;
    return f->at_end;
}

static size_t file_read(void *handle, void *buffer, size_t size, size_t count)
{
    retry_file *const f = handle;
    const int64_t wanted = (int64_t)(size * count);
    int failures;
    if (!flush_pending(f)) return 0;
    const int64_t got = qfz_retry_read(&f->retry, f->file, buffer, wanted, f->at, &failures);
    if (failures) report("reading", failures);
    f->at_end = got < wanted && !failures;
    f->at += got;
    return size > 0 ? (size_t)got / size : 0;
}

static bool collect(retry_file *f, const void *bytes, int64_t n)
{
    if (f->n_pending + n > PENDING_BYTES || f->at != f->pending_at + f->n_pending) {
        if (!flush_pending(f)) return false;
        f->pending_at = f->at;
    }
    memcpy(f->pending + f->n_pending, bytes, (size_t)n);
    f->n_pending += n;
    return true;
}

static size_t file_write(void *handle, const void *buffer, size_t size, size_t count)
{
    retry_file *const f = handle;
    const int64_t n = (int64_t)(size * count);
    int64_t done = 0;
    if (n == 0) return 0;
    if (n <= SMALL_BYTES)
        done = collect(f, buffer, n) ? n : 0;
    else if (flush_pending(f))
        done = write_at(f, buffer, n, f->at);
    f->at += done;
    return (size_t)done / size;
}

static int file_truncate(void *handle, vsi_l_offset size)
{
    retry_file *const f = handle;
    return flush_pending(f) ? ftruncate(f->file, (off_t)size) : -1;
}

static int file_flush(void *handle)
{
    retry_file *const f = handle;
    return flush_pending(f) ? 0 : -1;
}

static int file_stat(void *arg, const char *name, VSIStatBufL *found, int flags)
{
    qfz_retry retry;
    const char *const path = plain_name(name, &retry);
    (void)arg;
    return path ? VSIStatExL(path, found, flags) : -1;
}

static int file_unlink(void *arg, const char *name)
{
    qfz_retry retry;
    const char *const path = plain_name(name, &retry);
    (void)arg;
    return path ? unlink(path) : -1;
}

bool qfz_retry_vsi_install(void)
{
    char **const there = VSIGetFileSystemsPrefixes();
    bool ok = CSLFindString(there, QFZ_RETRY_VSI_PREFIX) >= 0;
    CSLDestroy(there);
    if (ok) return true;
    VSIFilesystemPluginCallbacksStruct *const calls = VSIAllocFilesystemPluginCallbacksStruct();
    calls->open = file_open;
    calls->close = file_close;
    calls->tell = file_tell;
    calls->seek = file_seek;
    calls->eof = file_eof;
    calls->read = file_read;
    calls->write = file_write;
    calls->truncate = file_truncate;
    calls->flush = file_flush;
    calls->stat = file_stat;
    calls->unlink = file_unlink;
    ok = VSIInstallPluginHandler(QFZ_RETRY_VSI_PREFIX, calls) == 0;
    VSIFreeFilesystemPluginCallbacksStruct(calls);
    return ok;
}

qfz_status qfz_retry_vsi_name(char **name, const char *path, const qfz_retry *retry, qfz_error *err)
{
    char wait[40];
    if (strncmp(path, "/vsi", 4) == 0) return qfz_text_copy(name, path, err);
    (void)CPLsnprintf(wait, sizeof wait, "%.6f", retry->wait_s);
    return qfz_text_print(name, err, QFZ_RETRY_VSI_PREFIX "%d,%s/%s", retry->retries, wait, path);
}
