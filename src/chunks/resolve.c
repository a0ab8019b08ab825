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
    qfz_loaded loaded;
    uint64_t *words;
    qfz_payload payload;
} chunk;

static qfz_status unfit(const chunk *c, qfz_error *err)
{
    (void)qfz_message_unfit(c->row, c->column, QFZ_MESSAGE_EXTERIOR, err);
    return QFZ_EARG;
}

static qfz_status read_exterior(const chunk *c, int section, qfz_exterior *exterior, qfz_error *err)
{
    bool fits;
    QFZ_TRY(qfz_message_exterior(c->grid, c->grid->kind, c->box, &c->payload, section, exterior,
                                 &fits, err));
    return fits ? QFZ_OK : unfit(c, err);
}

/* The status of the engine, to which the exterior was passed. */
static qfz_status engine_status(const chunk *c, qfz_status st, const qfz_error *found,
                                qfz_error *err)
{
    if (st == QFZ_EIO) return unfit(c, err);
    return st == QFZ_OK ? QFZ_OK : qfz_fail(err, st, "%s", found->message);
}

static qfz_status find_regions(const chunk *c, qfz_partition *partition, qfz_error *err)
{
    qfz_exterior exterior = {0};
    qfz_error found = {.status = QFZ_OK};
    if (c->grid->kind == QFZ_OMEGA) QFZ_TRY(read_exterior(c, QFZ_SECTION_REGIONS, &exterior, err));
    const qfz_status st = qfz_engine_cpu.partition(
        c->loaded.worker, exterior.n_ring ? &exterior : NULL, partition, &found);
    qfz_exterior_fini(&exterior);
    return engine_status(c, st, &found, err);
}

static qfz_status write_labels(const chunk *c, const qfz_chunk_buffers *into, qfz_error *err)
{
    qfz_partition partition;
    qfz_numbers numbers;
    uint64_t n_regions;
    bool fits;
    const bool wide = into->wide_labels != NULL;
    uint64_t *const words = c->words + (c->payload.section[QFZ_SECTION_LABELS].words - c->words);
    QFZ_TRY(find_regions(c, &partition, err));
    QFZ_TRY(qfz_labels_read(words, c->payload.section[QFZ_SECTION_LABELS].n, &partition,
                            qfz_box_h(c->box), qfz_box_w(c->box), &numbers, &n_regions, &fits,
                            err));
    if (!fits) return unfit(c, err);
    if (!wide && n_regions > UINT32_MAX)
        return qfz_fail(err, QFZ_EARG,
                        "%llu regions need labels of 64 bits (qfz_chunk_buffers.wide_labels)",
                        (unsigned long long)n_regions);
    QFZ_TRY(qfz_engine_cpu.number(c->loaded.worker, &numbers, err));
    return qfz_engine_cpu.labels(c->loaded.worker, wide,
                                 wide ? (void *)into->wide_labels : (void *)into->labels, err);
}

static qfz_status write_levels(const chunk *c, uint32_t *levels, qfz_error *err)
{
    qfz_exterior exterior = {0};
    qfz_error found = {.status = QFZ_OK};
    QFZ_TRY(read_exterior(c, QFZ_SECTION_SELF, &exterior, err));
    const qfz_status st = qfz_engine_cpu.saliency(
        c->loaded.worker, exterior.n_ring ? &exterior : NULL, 4, levels, &found);
    qfz_exterior_fini(&exterior);
    return engine_status(c, st, &found, err);
}

static qfz_status check_buffers(const qfz_grid *grid, const qfz_chunk_buffers *into, qfz_error *err)
{
    const bool labels = into->labels || into->wide_labels, wants = grid->kind != QFZ_LEVELS;
    if (into->labels && into->wide_labels)
        return qfz_fail(err, QFZ_EARG, "labels and wide_labels; give one of them");
    if (wants != labels || wants == (into->levels != NULL))
        return qfz_fail(err, QFZ_EARG, "part %s needs %s, and no other buffer",
                        wants ? "QFZ_PART_LABEL or QFZ_PART_ALPHA_OMEGA" : "QFZ_PART_SALIENCY",
                        wants ? "labels or wide_labels" : "levels");
    return QFZ_OK;
}

qfz_status qfz_chunk_resolve(const qfz_chunks *chunks, int64_t row, int64_t column,
                             const qfz_image *image, const qfz_bytes *exterior,
                             const qfz_chunk_buffers *into, qfz_error *err)
{
    qfz_error own;
    qfz_grid grid;
    qfz_chunk_buffers buffers = qfz_chunk_buffers_default();
    chunk c = {.grid = &grid, .row = row, .column = column};
    bool fits;
    qfz_status st;
    err = qfz_api_error(err, &own);
    if (!exterior) return qfz_fail(err, QFZ_EARG, "the pointer to the exterior is NULL");
    QFZ_TRY(qfz_api_read(&buffers, sizeof buffers, into, "qfz_chunk_buffers", err));
    QFZ_TRY(qfz_grid_init(&grid, chunks, err));
    QFZ_TRY_OR(st, cleanup, check_buffers(&grid, &buffers, err));
    QFZ_TRY_OR(st, cleanup, qfz_grid_box(&grid, row, column, &c.box, err));
    const qfz_address of = {row, column, QFZ_MESSAGE_EXTERIOR, grid.n_rounds - 1};
    QFZ_TRY_OR(st, cleanup, qfz_message_read(&grid, of, exterior, &c.words, &c.payload, err));
    QFZ_TRY_OR(
        st, cleanup,
        qfz_grid_load(&grid, grid.n_rounds, c.box, image, &c.payload, &c.loaded, &fits, err));
    if (!fits) QFZ_TRY_OR(st, cleanup, unfit(&c, err));
    st = grid.kind == QFZ_LEVELS ? write_levels(&c, buffers.levels, err)
                                 : write_labels(&c, &buffers, err);

cleanup:
    qfz_loaded_fini(&c.loaded);
    free(c.words);
    qfz_grid_fini(&grid);
    return st;
}
