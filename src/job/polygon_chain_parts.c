/* SPDX-License-Identifier: MIT */
/* polygon_chain_parts.c - chains in files of parts.
 *
 * A file has a head, the chains in ascending order of labels, each as its label, its qfz_arc_head
 * and its steps, unaligned; and, if lines are simplified, the rows of the map of corners that
 * belong to the part's rows of pixels. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/temp_file.h"
#include "job/polygon_chains.h"

enum { PIECE_BYTES = 1 << 20, LABEL_BYTES = 8, HEAD_BYTES = sizeof(qfz_arc_head) };

static const char *const kind = "chains";
static const uint64_t magic = 0x31736e6961686371; /* "qchains1" */

typedef struct file_head {
    uint64_t magic;
    int64_t w, h;       /* of the raster */
    int64_t n_bytes;    /* of chains */
    int64_t y0, n_rows; /* of corners; n_rows = 0: none */
} file_head;

/* --------------------------------------------------------------------------------------- saving */
typedef struct saving {
    qfz_polygon_chains *chains;
    int file;
    const char *path;
    int64_t at; /* in the file */
    uint8_t *piece;
    int64_t n; /* bytes of the piece */
} saving;

static qfz_status flush(saving *s, qfz_error *err)
{
    QFZ_TRY(qfz_temp_write(s->file, s->path, s->piece, s->n, s->at, err));
    s->at += s->n;
    s->n = 0;
    return QFZ_OK;
}

static qfz_status write_bytes(saving *s, const void *bytes, int64_t n, qfz_error *err)
{
    if (s->n + n > PIECE_BYTES) QFZ_TRY(flush(s, err));
    if (n <= PIECE_BYTES) {
        memcpy(s->piece + s->n, bytes, (size_t)n);
        s->n += n;
        return QFZ_OK;
    }
    QFZ_TRY(qfz_temp_write(s->file, s->path, bytes, n, s->at, err));
    s->at += n;
    return QFZ_OK;
}

/* Bytes of the chain whose head is at `chain`; of a damaged head, more than any file has. */
static uint64_t chain_bytes(const uint8_t *chain)
{
    qfz_arc_head head;
    memcpy(&head, chain, sizeof head);
    return head.n_steps > INT64_MAX / 2 ? INT64_MAX / 2 : HEAD_BYTES + head.n_steps;
}

static qfz_status write_group(saving *s, const qfz_arc_group *group, qfz_error *err)
{
    for (int64_t at = 0; at < group->n_bytes;) {
        const int64_t n = (int64_t)chain_bytes(group->bytes + at);
        QFZ_TRY(write_bytes(s, &group->label, LABEL_BYTES, err));
        QFZ_TRY(write_bytes(s, group->bytes + at, n, err));
        at += n;
    }
    return QFZ_OK;
}

static qfz_status write_chains(saving *s, qfz_error *err)
{
    qfz_arc_store *const store = s->chains->store;
    qfz_arc_group group;
    int64_t n_labels;
    QFZ_TRY(qfz_arc_store_sort(store, &n_labels, err));
    for (;;) {
        QFZ_TRY(qfz_arc_store_next(store, &group, err));
        if (group.n == 0) return flush(s, err);
        QFZ_TRY(write_group(s, &group, err));
    }
}

static qfz_status save_all(void *arg, int file, const char *path, qfz_error *err)
{
    saving *const s = arg;
    const qfz_polygon_chains *const c = s->chains;
    const qfz_source_info *const info = qfz_source_get_info(c->source);
    file_head head = {.magic = magic, .w = info->w, .h = info->h};
    int64_t y1;
    s->file = file;
    s->path = path;
    s->at = sizeof head;
    QFZ_TRY(write_chains(s, err));
    head.n_bytes = s->at - (int64_t)sizeof head;
    qfz_label_pass_rows(c->pass, info->h, &head.y0, &y1);
    if (c->map && head.y0 < y1) {
        /* Boxes are moved up by a pixel: their first row of corners is the one above. */
        head.y0 -= head.y0 > 0;
        head.n_rows = y1 + 1 - head.y0;
        const int64_t row_bytes = qfz_corner_map_row_words(c->map) * (int64_t)sizeof(uint64_t);
        QFZ_TRY(qfz_temp_write(file, path, qfz_corner_map_row(c->map, head.y0),
                               head.n_rows * row_bytes, s->at, err));
    }
    return qfz_temp_write(file, path, &head, sizeof head, 0, err);
}

qfz_status qfz_polygon_chains_save(qfz_polygon_chains *chains, const qfz_part_files *files,
                                   int part, qfz_error *err)
{
    saving s = {.chains = chains};
    QFZ_TRY(QFZ_NEW(&s.piece, PIECE_BYTES, err));
    const qfz_status st =
        qfz_part_file_write(files->output, kind, part, files->n_parts, save_all, &s, err);
    free(s.piece);
    return st;
}

void qfz_polygon_chains_delete(const qfz_part_files *files, int part)
{
    qfz_part_file_delete(files->output, kind, part, files->n_parts);
}

/* -------------------------------------------------------------------------------------- joining */
/* Chains of a file, read one piece after the other. */
typedef struct joining {
    const char *path;
    int64_t at, end; /* in the file: bytes that are not read yet */
    uint8_t *bytes;
    int64_t n, room;
    qfz_arcs arcs; /* its bytes are those above */
} joining;

static qfz_status damaged(const char *path, qfz_error *err)
{
    return qfz_fail(err, QFZ_EIO,
                    "%s is damaged, or holds the borders of another job; delete it and run the "
                    "part again",
                    path);
}

/* Fills the buffer. */
static qfz_status fill(joining *j, qfz_error *err)
{
    const int64_t left = j->end - j->at, n = left < j->room - j->n ? left : j->room - j->n;
    QFZ_TRY(qfz_part_file_read(j->path, j->bytes + j->n, n, j->at, err));
    j->at += n;
    j->n += n;
    return QFZ_OK;
}

static qfz_status list_chain(joining *j, int64_t at, qfz_error *err)
{
    qfz_arcs *const arcs = &j->arcs;
    if (arcs->n == arcs->index_room) {
        const int64_t room = 2 * arcs->n + 1024;
        QFZ_TRY(qfz_realloc((void **)&arcs->index, room, sizeof *arcs->index, err));
        arcs->index_room = room;
    }
    qfz_arc_index *const entry = &arcs->index[arcs->n++];
    memcpy(&entry->label, j->bytes + at, LABEL_BYTES);
    entry->at = at + LABEL_BYTES;
    return QFZ_OK;
}

/* Lists the chains that are whole in the buffer; *used = their bytes; *needed = bytes of the first
 * one that is not. */
static qfz_status list_chains(joining *j, int64_t *used, uint64_t *needed, qfz_error *err)
{
    j->arcs.n = *used = 0;
    *needed = 0;
    while (j->n - *used >= LABEL_BYTES + HEAD_BYTES) {
        const uint64_t n = LABEL_BYTES + chain_bytes(j->bytes + *used + LABEL_BYTES);
        if (n > (uint64_t)(j->n - *used)) {
            *needed = n;
            return QFZ_OK;
        }
        QFZ_TRY(list_chain(j, *used, err));
        *used += (int64_t)n;
    }
    return QFZ_OK;
}

/* Makes room for a chain that is longer than the buffer. */
static qfz_status widen(joining *j, uint64_t needed, qfz_error *err)
{
    if (needed > (uint64_t)(j->end - j->at + j->n)) return damaged(j->path, err);
    if (needed <= (uint64_t)j->room) return QFZ_OK;
    QFZ_TRY(qfz_realloc((void **)&j->bytes, (int64_t)needed, 1, err));
    j->room = (int64_t)needed;
    return QFZ_OK;
}

static qfz_status add_chains(joining *j, qfz_arc_store *store, qfz_error *err)
{
    while (j->at < j->end || j->n > 0) {
        int64_t used;
        uint64_t needed;
        QFZ_TRY(fill(j, err));
        QFZ_TRY(list_chains(j, &used, &needed, err));
        j->arcs.bytes = j->bytes;
        j->arcs.n_bytes = used;
        QFZ_TRY(qfz_arc_store_add(store, &j->arcs, err));
        memmove(j->bytes, j->bytes + used, (size_t)(j->n - used));
        j->n -= used;
        QFZ_TRY(widen(j, needed, err));
        if (used == 0 && needed == 0 && j->at == j->end) return damaged(j->path, err);
    }
    return QFZ_OK;
}

static qfz_status add_corners(const qfz_polygon_chains *c, const char *path, const file_head *head,
                              qfz_error *err)
{
    const int64_t n_words = head->n_rows * qfz_corner_map_row_words(c->map);
    const int64_t begin = (int64_t)sizeof *head + head->n_bytes, some = PIECE_BYTES / 8;
    uint64_t *words = NULL, *const to = qfz_corner_map_row(c->map, head->y0);
    qfz_status st = QFZ_NEW(&words, some, err);
    for (int64_t i = 0; i < n_words && st == QFZ_OK; i += some) {
        const int64_t n = n_words - i < some ? n_words - i : some;
        st = qfz_part_file_read(path, words, n * 8, begin + i * 8, err);
        for (int64_t k = 0; k < n && st == QFZ_OK; k++)
            to[i + k] |= words[k];
    }
    free(words);
    return st;
}

static bool fits(const file_head *head, const qfz_source_info *info)
{
    return head->magic == magic && head->w == info->w && head->h == info->h && head->n_bytes >= 0 &&
           head->y0 >= 0 && head->n_rows >= 0 && head->y0 <= info->h &&
           head->n_rows <= info->h + 1 - head->y0;
}

static qfz_status join_part(qfz_polygon_chains *c, const qfz_part_files *files, int part,
                            qfz_error *err)
{
    char path[QFZ_PART_FILE_BYTES];
    file_head head;
    joining j = {.path = path, .at = sizeof head, .room = PIECE_BYTES};
    QFZ_TRY(qfz_part_file_name(files->output, kind, part, files->n_parts, path, err));
    QFZ_TRY(qfz_part_file_read(path, &head, sizeof head, 0, err));
    if (!fits(&head, qfz_source_get_info(c->source))) return damaged(path, err);
    j.end = j.at + head.n_bytes;
    QFZ_TRY(QFZ_NEW(&j.bytes, j.room, err));
    qfz_status st = add_chains(&j, c->store, err);
    if (st == QFZ_OK && c->map) st = add_corners(c, path, &head, err);
    free(j.bytes);
    free(j.arcs.index);
    return st;
}

qfz_status qfz_polygon_chains_join(qfz_polygon_chains *c, const qfz_part_files *files,
                                   qfz_error *err)
{
    QFZ_TRY(qfz_polygon_chains_open(c, err));
    qfz_progress_begin(c->pass->progress, "joining", QFZ_POLYGONS_SHARE / 2, files->n_parts);
    for (int part = 0; part < files->n_parts; part++) {
        QFZ_TRY(join_part(c, files, part, err));
        QFZ_TRY(qfz_progress_advance(c->pass->progress, err));
    }
    return QFZ_OK;
}
