/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memmem */
#include "stitch/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/memory.h"
#include "core/retry.h"

/* Little-endian, as every supported machine. */
typedef struct head {
    char magic[8];
    int64_t key;
    int64_t bytes;
    uint32_t payload_crc;
    uint32_t head_crc; /* checksum of the members above */
} head;

static const char magic[8] = {'q', 'f', 'z', '\x1b', 'r', 'e', 'c', '\n'};
enum { SCAN_BYTES = 1 << 20 };

struct qfz_journal {
    char *path;
    int file;
    bool append;
    pthread_mutex_t lock; /* guards end */
    int64_t end;
};

static qfz_status failed(const qfz_journal *journal, const char *what, qfz_error *err)
{
    return qfz_fail(err, QFZ_EIO, "%s: %s failed: %s", journal->path, what, strerror(errno));
}

static qfz_status open_file(qfz_journal *journal, qfz_error *err)
{
    struct stat status;
    const int flags = journal->append ? O_RDWR | O_CREAT : O_RDONLY;
    journal->file = open(journal->path, flags | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (journal->file < 0) return failed(journal, "opening", err);
    /* a file system without locks is accepted */
    if (journal->append && flock(journal->file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return qfz_fail(err, QFZ_EARG, "%s: another process appends to this journal",
                        journal->path);
    if (fstat(journal->file, &status) != 0) return failed(journal, "looking at it", err);
    journal->end = status.st_size;
    return QFZ_OK;
}

qfz_status qfz_journal_open(qfz_journal **out, const char *path, bool append, qfz_error *err)
{
    qfz_journal *journal = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&journal, 1, err));
    (void)pthread_mutex_init(&journal->lock, NULL);
    journal->append = append;
    journal->file = -1;
    journal->path = strdup(path);
    const qfz_status st =
        journal->path ? open_file(journal, err) : qfz_fail(err, QFZ_ENOMEM, "out of memory");
    if (st != QFZ_OK) {
        qfz_journal_close(journal);
        return st;
    }
    *out = journal;
    return QFZ_OK;
}

void qfz_journal_close(qfz_journal *journal)
{
    if (!journal) return;
    if (journal->file >= 0) (void)close(journal->file);
    (void)pthread_mutex_destroy(&journal->lock);
    free(journal->path);
    free(journal);
}

bool qfz_journal_appends(const qfz_journal *journal)
{
    return journal->append;
}

/* --------------------------------------------------------------------------------------- reading
 */
/* Reads up to `bytes` bytes, fewer at the end of the file; -1: an error. */
static int64_t read_some(const qfz_journal *journal, void *data, int64_t bytes, int64_t offset)
{
    int failures;
    const int64_t got =
        qfz_retry_read(&qfz_retry_default, journal->file, data, bytes, offset, &failures);
    return failures ? -1 : got;
}

static uint32_t crc_of(uint32_t crc, const void *data, int64_t bytes)
{
    return (uint32_t)crc32_z(crc, data, (size_t)bytes);
}

static bool is_sound(const head *h)
{
    return memcmp(h->magic, magic, sizeof magic) == 0 && h->bytes >= 0 &&
           h->head_crc == crc_of(0, h, offsetof(head, head_crc));
}

/* Searches for a head in n bytes that were read from offset `at`.  Returns its offset, or the
 * offset where reading continues. */
static int64_t search(const char *buffer, int64_t n, int64_t at, head *h, bool *there)
{
    const char *const end = buffer + n;
    const char *from = buffer;
    while ((from = memmem(from, (size_t)(end - from), magic, sizeof magic)) != NULL) {
        if (end - from < (int64_t)sizeof *h) return at + (from - buffer);
        memcpy(h, from, sizeof *h);
        *there = is_sound(h);
        if (*there) return at + (from - buffer);
        from++;
    }
    return at + n - (int64_t)sizeof magic + 1;
}

/* The first head at or behind *at; usually at *at. */
static qfz_status next_head(const qfz_journal *journal, char *buffer, int64_t *at, head *h,
                            bool *there, qfz_error *err)
{
    int64_t n = read_some(journal, h, (int64_t)sizeof *h, *at);
    *there = n == (int64_t)sizeof *h && is_sound(h);
    while (n >= 0 && !*there && *at + (int64_t)sizeof *h <= journal->end) {
        n = read_some(journal, buffer, SCAN_BYTES, *at);
        if (n < (int64_t)sizeof *h) break;
        *at = search(buffer, n, *at, h, there);
    }
    return n < 0 ? failed(journal, "reading", err) : QFZ_OK;
}

static qfz_status payload_is_sound(const qfz_journal *journal, char *buffer, int64_t offset,
                                   const head *h, bool *sound, qfz_error *err)
{
    uint32_t crc = 0;
    for (int64_t done = 0; done < h->bytes;) {
        const int64_t left = h->bytes - done;
        const int64_t n =
            read_some(journal, buffer, left < SCAN_BYTES ? left : SCAN_BYTES, offset + done);
        if (n <= 0) return failed(journal, "reading", err);
        crc = crc_of(crc, buffer, n);
        done += n;
    }
    *sound = crc == h->payload_crc;
    return QFZ_OK;
}

/* Disables a damaged record: a scan without checks would follow its length and miss records behind
 * it. */
static void forget(const qfz_journal *journal, int64_t at)
{
    static const char nothing[sizeof magic];
    if (journal->append) (void)!pwrite(journal->file, nothing, sizeof nothing, (off_t)at);
}

static qfz_status scan(qfz_journal *journal, bool check, char *buffer, qfz_journal_found found,
                       void *arg, qfz_error *err)
{
    head h;
    int64_t at = 0, whole_end = 0;
    for (;;) {
        bool there;
        QFZ_TRY(next_head(journal, buffer, &at, &h, &there, err));
        if (!there) break;
        const int64_t offset = at + (int64_t)sizeof h;
        bool sound = h.bytes <= journal->end - offset;
        if (check && sound) QFZ_TRY(payload_is_sound(journal, buffer, offset, &h, &sound, err));
        if (!sound) {
            forget(journal, at++);
            continue;
        }
        found(h.key, offset, h.bytes, arg);
        at = whole_end = offset + h.bytes;
    }
    if (!journal->append || !check || whole_end == journal->end) return QFZ_OK;
    if (ftruncate(journal->file, (off_t)whole_end) != 0) return failed(journal, "cutting", err);
    journal->end = whole_end;
    return QFZ_OK;
}

qfz_status qfz_journal_scan(qfz_journal *journal, bool check, qfz_journal_found found, void *arg,
                            qfz_error *err)
{
    char *buffer = NULL;
    QFZ_TRY(QFZ_NEW(&buffer, SCAN_BYTES, err));
    const qfz_status st = scan(journal, check, buffer, found, arg, err);
    free(buffer);
    return st;
}

qfz_status qfz_journal_read_some(qfz_journal *journal, int64_t offset, void *data, int64_t bytes,
                                 qfz_error *err)
{
    const int64_t n = read_some(journal, data, bytes, offset);
    if (n < 0) return failed(journal, "reading", err);
    if (n == bytes) return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: the file became shorter during reading", journal->path);
}

static qfz_status damaged(const qfz_journal *journal, int64_t offset, qfz_error *err)
{
    return qfz_fail(err, QFZ_EIO,
                    "%s: damaged at byte %lld; start the process that wrote it again: it repeats "
                    "what is missing",
                    journal->path, (long long)offset);
}

qfz_status qfz_journal_read(qfz_journal *journal, int64_t offset, void *data, int64_t bytes,
                            qfz_error *err)
{
    head h;
    QFZ_TRY(qfz_journal_read_some(journal, offset - (int64_t)sizeof h, &h, sizeof h, err));
    QFZ_TRY(qfz_journal_read_some(journal, offset, data, bytes, err));
    if (is_sound(&h) && h.bytes == bytes && h.payload_crc == crc_of(0, data, bytes)) return QFZ_OK;
    return damaged(journal, offset, err);
}

qfz_status qfz_journal_check(qfz_journal *journal, int64_t offset, int64_t bytes, qfz_error *err)
{
    head h;
    char *buffer = NULL;
    bool sound = false;
    QFZ_TRY(qfz_journal_read_some(journal, offset - (int64_t)sizeof h, &h, sizeof h, err));
    if (!is_sound(&h) || h.bytes != bytes) return damaged(journal, offset, err);
    QFZ_TRY(QFZ_NEW(&buffer, SCAN_BYTES, err));
    const qfz_status st = payload_is_sound(journal, buffer, offset, &h, &sound, err);
    free(buffer);
    return st != QFZ_OK || sound ? st : damaged(journal, offset, err);
}

/* --------------------------------------------------------------------------------------- writing
 */
static qfz_status write_all(const qfz_journal *journal, const void *data, int64_t bytes,
                            int64_t offset, qfz_error *err)
{
    int failures;
    const int64_t done =
        qfz_retry_write(&qfz_retry_default, journal->file, data, bytes, offset, &failures);
    return done == bytes ? QFZ_OK : failed(journal, "writing", err);
}

qfz_long_record qfz_journal_reserve(qfz_journal *journal, int64_t key, int64_t bytes)
{
    (void)pthread_mutex_lock(&journal->lock);
    const int64_t at = journal->end;
    journal->end += (int64_t)sizeof(head) + bytes;
    (void)pthread_mutex_unlock(&journal->lock);
    return (qfz_long_record){.key = key, .offset = at + (int64_t)sizeof(head), .bytes = bytes};
}

qfz_status qfz_journal_fill(qfz_journal *journal, qfz_long_record *record, const void *data,
                            int64_t bytes, qfz_error *err)
{
    QFZ_TRY(write_all(journal, data, bytes, record->offset + record->filled, err));
    record->crc = crc_of(record->crc, data, bytes);
    record->filled += bytes;
    return QFZ_OK;
}

qfz_status qfz_journal_seal(qfz_journal *journal, const qfz_long_record *record, qfz_error *err)
{
    head h = {.key = record->key, .bytes = record->bytes, .payload_crc = record->crc};
    memcpy(h.magic, magic, sizeof magic);
    h.head_crc = crc_of(0, &h, offsetof(head, head_crc));
    return write_all(journal, &h, sizeof h, record->offset - (int64_t)sizeof h, err);
}

/* The head is written last: a record with a head is complete, unless the machine itself failed. */
qfz_status qfz_journal_append(qfz_journal *journal, int64_t key, const void *data, int64_t bytes,
                              int64_t *offset, qfz_error *err)
{
    qfz_long_record record = qfz_journal_reserve(journal, key, bytes);
    *offset = record.offset;
    QFZ_TRY(qfz_journal_fill(journal, &record, data, bytes, err));
    return qfz_journal_seal(journal, &record, err);
}

qfz_status qfz_journal_sync(qfz_journal *journal, qfz_error *err)
{
    return fdatasync(journal->file) == 0 ? QFZ_OK : failed(journal, "syncing", err);
}
