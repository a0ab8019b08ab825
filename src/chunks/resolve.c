/* SPDX-License-Identifier: MIT */
/* resolve.c - step 3: the labels or levels of a chunk, given its exterior. */
#include <stdlib.h>

#include "chunks/grid.h"
#include "chunks/labels.h"
#include "core/api.h"
#include "core/ring.h"
#include "stitch/pack.h"
#include "stitch/sound.h"

/* A chunk that a worker has loaded, and its message. */
typedef struct chunk {
    const qfz_grid *grid;
    int64_t row, column;
    qfz_box box;
    qfz_worker *worker;
    uint64_t *words;
    int64_t n_words;
} chunk;

static qfz_status unfit(const chunk *c, qfz_error *err)
{
    (void)qfz_message_unfit(c->row, c->column, QFZ_MESSAGE_EXTERIOR, err);
    return QFZ_EARG;
}

static qfz_status write_labels(const chunk *c, const qfz_chunk_buffers *into, qfz_error *err)
{
    qfz_partition partition;
    qfz_numbers numbers;
    uint64_t n_regions;
    bool fits;
    const bool wide = into->wide_labels != NULL;
    QFZ_TRY(qfz_engine_cpu.partition(c->worker, NULL, &partition, err));
    QFZ_TRY(qfz_labels_read(c->words, c->n_words, &partition, qfz_box_h(c->box), qfz_box_w(c->box),
                            &numbers, &n_regions, &fits, err));
    if (!fits) return unfit(c, err);
    if (!wide && n_regions > UINT32_MAX)
        return qfz_fail(err, QFZ_EARG,
                        "%llu regions need labels of 64 bits (qfz_chunk_buffers.wide_labels)",
                        (unsigned long long)n_regions);
    QFZ_TRY(qfz_engine_cpu.number(c->worker, &numbers, err));
    return qfz_engine_cpu.labels(c->worker, wide,
                                 wide ? (void *)into->wide_labels : (void *)into->labels, err);
}

/* Takes c->words.  A single chunk has an empty exterior. */
static qfz_status read_exterior(chunk *c, qfz_exterior *exterior, qfz_error *err)
{
    const qfz_rule *const rule = &c->grid->rule;
    const bool alone = c->grid->tiling.n_x * c->grid->tiling.n_y == 1;
    const qfz_ring ring = qfz_ring_of(c->box, QFZ_ALL_SIDES);
    qfz_error unsound = {.status = QFZ_OK};
    qfz_exterior found = {0};
    const int64_t bytes = c->n_words * (int64_t)sizeof *c->words;
    if (qfz_unpack_exterior(&found, rule, c->words, bytes, &unsound) != QFZ_OK)
        return unfit(c, err);
    if (alone ? found.n_ring != 0
              : qfz_sound_exterior(&found, rule, c->grid->kind, &ring, &unsound) != QFZ_OK)
        return unfit(c, err);
    c->words = NULL;
    *exterior = found;
    return QFZ_OK;
}

static qfz_status write_levels(chunk *c, uint32_t *levels, qfz_error *err)
{
    qfz_exterior exterior = {0};
    qfz_error found = {.status = QFZ_OK};
    QFZ_TRY(read_exterior(c, &exterior, err));
    qfz_status st =
        qfz_engine_cpu.saliency(c->worker, exterior.n_ring ? &exterior : NULL, 4, levels, &found);
    qfz_exterior_fini(&exterior);
    if (st == QFZ_EIO) return unfit(c, err);
    return st == QFZ_OK ? QFZ_OK : qfz_fail(err, st, "%s", found.message);
}

static qfz_status check_buffers(const qfz_grid *grid, const qfz_chunk_buffers *into, qfz_error *err)
{
    const bool labels = into->labels || into->wide_labels, wants = grid->kind == QFZ_COMPONENTS;
    if (into->labels && into->wide_labels)
        return qfz_fail(err, QFZ_EARG, "labels and wide_labels; give one of them");
    if (wants != labels || wants == (into->levels != NULL))
        return qfz_fail(err, QFZ_EARG, "part %s needs %s, and no other buffer",
                        wants ? "QFZ_PART_LABEL" : "QFZ_PART_SALIENCY",
                        wants ? "labels or wide_labels" : "levels");
    return QFZ_OK;
}

qfz_status qfz_chunk_resolve(const qfz_chunks *chunks, int64_t row, int64_t column,
                             const qfz_image *image, const qfz_bytes *exterior,
                             const qfz_chunk_buffers *into, qfz_error *err)
{
    qfz_error own;
    qfz_grid grid;
    qfz_image copy;
    qfz_chunk_buffers buffers = qfz_chunk_buffers_default();
    chunk c = {.grid = &grid, .row = row, .column = column};
    qfz_status st;
    err = qfz_api_error(err, &own);
    if (!exterior) return qfz_fail(err, QFZ_EARG, "the pointer to the exterior is NULL");
    QFZ_TRY(qfz_api_read(&buffers, sizeof buffers, into, "qfz_chunk_buffers", err));
    QFZ_TRY(qfz_grid_init(&grid, chunks, err));
    QFZ_TRY_OR(st, cleanup, check_buffers(&grid, &buffers, err));
    QFZ_TRY_OR(st, cleanup, qfz_grid_box(&grid, row, column, &c.box, err));
    QFZ_TRY_OR(st, cleanup,
               qfz_message_read(&grid, row, column, QFZ_MESSAGE_EXTERIOR, exterior, &c.words,
                                &c.n_words, err));
    QFZ_TRY_OR(st, cleanup, qfz_grid_load(&grid, c.box, image, &copy, &c.worker, err));
    st = grid.kind == QFZ_COMPONENTS ? write_labels(&c, &buffers, err)
                                     : write_levels(&c, buffers.levels, err);

cleanup:
    if (c.worker) qfz_engine_cpu.close(&c.worker, 1);
    free(c.words);
    qfz_grid_fini(&grid);
    return st;
}
