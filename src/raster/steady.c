/* SPDX-License-Identifier: MIT */
/* steady.c - plain files whose writes are tried again, as a file system of GDAL's.
 *
 * GDAL writes blocks from its cache when it needs room, and forgets one whose write failed; to
 * write it again is too late above GDAL.  And behind GDAL's own files is a buffer of the C
 * library, which forgets too.  So here, between GDAL and the system, each write is tried again
 * with the same bytes at the same place.  A file's name says how often and after what wait:
 * /vsiqfz/RETRIES,SECONDS/path.
 *
 * Tables are written cell by cell: small writes, one behind the other, go to the system together,
 * before the file is looked at in any other way or closed. */
#define _GNU_SOURCE
#include "raster/private.h"

#include "core/retry.h"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "/vsiqfz/"

enum { SMALL_BYTES = 512, KEPT_BYTES = 1 << 16 };

typedef struct steady_file {
    int file;
    bool at_end;
    int64_t at;
    qfz_retry retry;
    int64_t kept_at, n_kept; /* where kept belongs, and how much of it is in use */
    char kept[KEPT_BYTES];
} steady_file;

/* The name behind the retry, which it says; NULL if it says none.  With nothing behind it is
 * the current folder: drivers look whether a table's is there. */
static const char *plain_name(const char *name, qfz_retry *retry)
{
    const char *const rest = strchr(name, '/');
    *retry = (qfz_retry){.retries = atoi(name)};
    const char *const comma = strchr(name, ',');
    if (!comma || (rest && comma > rest)) return NULL;
    retry->wait_s = CPLAtof(comma + 1);
    return rest ? rest + 1 : ".";
}

/* The modes of fopen(). */
static int flags_of(const char *access)
{
    const int way = strchr(access, '+') ? O_RDWR : access[0] == 'r' ? O_RDONLY : O_WRONLY;
    return O_CLOEXEC | way |
           (access[0] == 'w'   ? O_CREAT | O_TRUNC
            : access[0] == 'a' ? O_CREAT
                               : 0);
}

static void *steady_open(void *arg, const char *name, const char *access)
{
    qfz_retry retry;
    const char *const path = plain_name(name, &retry);
    (void)arg;
    const int file = path ? open(path, flags_of(access), 0666) : -1;
    if (file < 0) return NULL;
    steady_file *const f = malloc(sizeof *f);
    if (!f) {
        (void)close(file);
        return NULL;
    }
    f->file = file;
    f->retry = retry;
    f->at_end = false;
    f->at = f->kept_at = f->n_kept = 0;
    if (access[0] == 'a') f->at = lseek(file, 0, SEEK_END);
    return f;
}

/* GDAL would leave the reason out. */
static void tell(const char *what, int failures)
{
    CPLError(CE_Failure, CPLE_FileIO, "%s failed: %s (tried %d time%s)", what, strerror(errno),
             failures, failures == 1 ? "" : "s");
}

static int64_t write_at(const steady_file *f, const void *bytes, int64_t n, int64_t at)
{
    int failures;
    const int64_t done = qfz_retry_write(&f->retry, f->file, bytes, n, at, &failures);
    if (failures) tell("writing", failures);
    return done;
}

static bool send_kept(steady_file *f)
{
    const int64_t n = f->n_kept;
    f->n_kept = 0;
    return n == 0 || write_at(f, f->kept, n, f->kept_at) == n;
}

static int steady_close(void *handle)
{
    steady_file *const f = handle;
    const bool sent = send_kept(f);
    const int bad = close(f->file);
    free(f);
    return sent ? bad : -1;
}

static vsi_l_offset steady_tell(void *handle)
{
    const steady_file *const f = handle;
    return (vsi_l_offset)f->at;
}

static int steady_seek(void *handle, vsi_l_offset offset, int whence)
{
    steady_file *const f = handle;
    struct stat found;
    if (whence == SEEK_END && !send_kept(f)) return -1;
    if (whence == SEEK_END && fstat(f->file, &found) != 0) return -1;
    f->at = (int64_t)offset + (whence == SEEK_CUR ? f->at : whence == SEEK_END ? found.st_size : 0);
    f->at_end = false;
    return 0;
}

static int steady_eof(void *handle)
{
    const steady_file *const f = handle;
    return f->at_end;
}

static size_t steady_read(void *handle, void *buffer, size_t size, size_t count)
{
    steady_file *const f = handle;
    const int64_t wanted = (int64_t)(size * count);
    int failures;
    if (!send_kept(f)) return 0;
    const int64_t got = qfz_retry_read(&f->retry, f->file, buffer, wanted, f->at, &failures);
    if (failures) tell("reading", failures);
    f->at_end = got < wanted && !failures;
    f->at += got;
    return size > 0 ? (size_t)got / size : 0;
}

static bool keep(steady_file *f, const void *bytes, int64_t n)
{
    if (f->n_kept + n > KEPT_BYTES || f->at != f->kept_at + f->n_kept) {
        if (!send_kept(f)) return false;
        f->kept_at = f->at;
    }
    memcpy(f->kept + f->n_kept, bytes, (size_t)n);
    f->n_kept += n;
    return true;
}

static size_t steady_write(void *handle, const void *buffer, size_t size, size_t count)
{
    steady_file *const f = handle;
    const int64_t n = (int64_t)(size * count);
    int64_t done = 0;
    if (n == 0) return 0;
    if (n <= SMALL_BYTES)
        done = keep(f, buffer, n) ? n : 0;
    else if (send_kept(f))
        done = write_at(f, buffer, n, f->at);
    f->at += done;
    return (size_t)done / size;
}

static int steady_truncate(void *handle, vsi_l_offset size)
{
    steady_file *const f = handle;
    return send_kept(f) ? ftruncate(f->file, (off_t)size) : -1;
}

static int steady_flush(void *handle)
{
    steady_file *const f = handle;
    return send_kept(f) ? 0 : -1;
}

static int steady_stat(void *arg, const char *name, VSIStatBufL *found, int flags)
{
    qfz_retry retry;
    const char *const path = plain_name(name, &retry);
    (void)arg;
    return path ? VSIStatExL(path, found, flags) : -1;
}

static int steady_unlink(void *arg, const char *name)
{
    qfz_retry retry;
    const char *const path = plain_name(name, &retry);
    (void)arg;
    return path ? unlink(path) : -1;
}

bool qfz_steady_install(void)
{
    char **const there = VSIGetFileSystemsPrefixes();
    bool ok = CSLFindString(there, PREFIX) >= 0;
    CSLDestroy(there);
    if (ok) return true;
    VSIFilesystemPluginCallbacksStruct *const calls = VSIAllocFilesystemPluginCallbacksStruct();
    calls->open = steady_open;
    calls->close = steady_close;
    calls->tell = steady_tell;
    calls->seek = steady_seek;
    calls->eof = steady_eof;
    calls->read = steady_read;
    calls->write = steady_write;
    calls->truncate = steady_truncate;
    calls->flush = steady_flush;
    calls->stat = steady_stat;
    calls->unlink = steady_unlink;
    ok = VSIInstallPluginHandler(PREFIX, calls) == 0;
    VSIFreeFilesystemPluginCallbacksStruct(calls);
    return ok;
}

qfz_status qfz_steady_name(char **name, const char *path, const qfz_retry *retry, qfz_error *err)
{
    char wait[40];
    if (strncmp(path, "/vsi", 4) == 0 || retry->retries == 0) return qfz_text_copy(name, path, err);
    (void)CPLsnprintf(wait, sizeof wait, "%.6f", retry->wait_s);
    return qfz_text_print(name, err, PREFIX "%d,%s/%s", retry->retries, wait, path);
}
