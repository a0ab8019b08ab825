/* SPDX-License-Identifier: MIT */
#include "job/gather_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/temp_file.h"
#include "job/part_files.h"

enum { PIECE_WORDS = 1 << 16 }; /* written or read at once */

static const char *const kind = "gathered";
static const uint64_t magic = 0x3164726568746167; /* "gatherd1" */

/* The head of a file.  The records of the first gathering follow, then those of the next one. */
typedef struct file_head {
    uint64_t magic, n;
    uint64_t words[QFZ_GATHERS_MAX]; /* of a record; 0: no gathering */
    uint64_t n_records[QFZ_GATHERS_MAX];
} file_head;

static file_head head_of(const qfz_gather_list *gathers)
{
    file_head head = {.magic = magic, .n = (uint64_t)gathers->n};
    for (int i = 0; i < gathers->n; i++)
        if (gathers->list[i]) head.words[i] = (uint64_t)qfz_gather_words(gathers->list[i]);
    return head;
}

/* --------------------------------------------------------------------------------------- saving */
typedef struct saving {
    const qfz_gather_list *gathers;
    int file;
    const char *path;
    int64_t at; /* in the file */
    uint64_t *piece;
} saving;

static qfz_status write_piece(saving *s, int64_t n_words, qfz_error *err)
{
    const int64_t bytes = n_words * (int64_t)sizeof *s->piece;
    QFZ_TRY(qfz_temp_write(s->file, s->path, s->piece, bytes, s->at, err));
    s->at += bytes;
    return QFZ_OK;
}

static qfz_status save_one(saving *s, qfz_gather *gather, uint64_t *n_records, qfz_error *err)
{
    const int words = qfz_gather_words(gather);
    const uint64_t *record;
    int64_t n = 0;
    QFZ_TRY(qfz_gather_begin_reading(gather, err));
    for (;; n += words, ++*n_records) {
        QFZ_TRY(qfz_gather_next(gather, &record, err));
        if (!record) break;
        if (n + words > PIECE_WORDS) {
            QFZ_TRY(write_piece(s, n, err));
            n = 0;
        }
        memcpy(s->piece + n, record, (size_t)words * sizeof *record);
    }
    return write_piece(s, n, err);
}

static qfz_status save_all(void *arg, int file, const char *path, qfz_error *err)
{
    saving *const s = arg;
    file_head head = head_of(s->gathers);
    s->file = file;
    s->path = path;
    s->at = sizeof head;
    for (int i = 0; i < s->gathers->n; i++)
        if (s->gathers->list[i]) QFZ_TRY(save_one(s, s->gathers->list[i], &head.n_records[i], err));
    return qfz_temp_write(file, path, &head, sizeof head, 0, err);
}

qfz_status qfz_gather_parts_save(const qfz_gather_list *gathers, const char *output, int part,
                                 int n_parts, qfz_error *err)
{
    saving s = {.gathers = gathers};
    QFZ_TRY(QFZ_NEW(&s.piece, PIECE_WORDS, err));
    const qfz_status st = qfz_part_file_write(output, kind, part, n_parts, save_all, &s, err);
    free(s.piece);
    return st;
}

bool qfz_gather_parts_have(const char *output, int part, int n_parts)
{
    return qfz_part_file_exists(output, kind, part, n_parts);
}

void qfz_gather_parts_delete(const char *output, int part, int n_parts)
{
    qfz_part_file_delete(output, kind, part, n_parts);
}

/* --------------------------------------------------------------------------------------- adding */
static qfz_status add_one(qfz_gather *gather, int thread, const char *path, int64_t n_records,
                          int64_t *at, uint64_t *piece, qfz_error *err)
{
    const int words = qfz_gather_words(gather);
    const int64_t some = PIECE_WORDS / words;
    for (int64_t first = 0; first < n_records; first += some) {
        const int64_t n = n_records - first < some ? n_records - first : some;
        const int64_t bytes = n * words * (int64_t)sizeof *piece;
        QFZ_TRY(qfz_part_file_read(path, piece, bytes, *at, err));
        *at += bytes;
        for (int64_t i = 0; i < n; i++)
            QFZ_TRY(qfz_gather_put(gather, thread, piece + i * words, err));
    }
    return QFZ_OK;
}

static bool is_like(const file_head *a, const file_head *b)
{
    return a->magic == b->magic && a->n == b->n && memcmp(a->words, b->words, sizeof a->words) == 0;
}

qfz_status qfz_gather_parts_add(const qfz_gather_list *gathers, int thread, const char *output,
                                int part, int n_parts, qfz_error *err)
{
    const file_head own = head_of(gathers);
    char path[QFZ_PART_FILE_BYTES];
    file_head head;
    int64_t at = sizeof head;
    uint64_t *piece = NULL;
    QFZ_TRY(qfz_part_file_name(output, kind, part, n_parts, path, err));
    QFZ_TRY(qfz_part_file_read(path, &head, sizeof head, 0, err));
    if (!is_like(&head, &own))
        return qfz_fail(err, QFZ_EIO,
                        "%s: holds the records of another job; delete it and run the part again",
                        path);
    QFZ_TRY(QFZ_NEW(&piece, PIECE_WORDS, err));
    qfz_status st = QFZ_OK;
    for (int i = 0; i < gathers->n && st == QFZ_OK; i++)
        if (gathers->list[i])
            st = add_one(gathers->list[i], thread, path, (int64_t)head.n_records[i], &at, piece,
                         err);
    free(piece);
    return st;
}
