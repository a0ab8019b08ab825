/* SPDX-License-Identifier: MIT */
/* ring_labels.c - the labels of the pixels on a tile's ring, for its neighbours.
 *
 * A summary is dropped once its group has been stitched; which border region each ring pixel is in
 * stays in a piece of its own. */
#include <stdlib.h>

#include "core/memory.h"
#include "stitch/sound.h"
#include "stitch/state.h"

qfz_status qfz_stitch_put_ring(qfz_stitch *stitch, int64_t tile, const uint32_t *border_region,
                               int64_t n_ring, qfz_error *err)
{
    return qfz_store_put(stitch->store, qfz_piece(stitch, PIECE_RING, tile), border_region,
                         n_ring * (int64_t)sizeof *border_region, err);
}

bool qfz_stitch_has_ring(qfz_stitch *stitch, int64_t tile)
{
    return !qfz_stitch_wants_summaries(stitch) || qfz_has(stitch, PIECE_RING, tile);
}

/* Each ring pixel is in none of the n border regions, or in one. */
static bool fits(const uint32_t *border_region, int64_t bytes, qfz_box box, int64_t n)
{
    const int64_t n_ring = qfz_ring_size(qfz_box_h(box), qfz_box_w(box));
    if (bytes != n_ring * (int64_t)sizeof *border_region) return false;
    for (int64_t i = 0; i < n_ring; i++)
        if (border_region[i] != QFZ_NONE && border_region[i] >= n) return false;
    return true;
}

static qfz_status find_labels(const uint32_t *border_region, int64_t n_ring,
                              const uint64_t *label_of, uint64_t **labels, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW(labels, n_ring, err));
    for (int64_t i = 0; i < n_ring; i++)
        (*labels)[i] = border_region[i] == QFZ_NONE ? 0 : label_of[border_region[i]];
    return QFZ_OK;
}

qfz_status qfz_stitch_ring_labels(qfz_stitch *stitch, int64_t tile, uint64_t **labels,
                                  qfz_error *err)
{
    const void *border_region;
    void *own;
    int64_t bytes, n;
    uint64_t *label_of = NULL;
    QFZ_TRY(qfz_store_view(stitch->store, qfz_piece(stitch, PIECE_RING, tile), &border_region,
                           &bytes, &own, err));
    if (!border_region) return qfz_fail(err, QFZ_EIO, "the ring of a tile is missing in the store");
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, qfz_stitch_get_values(stitch, QFZ_SET_LABEL, tile, &label_of, &n, err));
    const qfz_box box = qfz_group_tree_box(&stitch->group_tree, 0, tile);
    if (!fits(border_region, bytes, box, n)) QFZ_TRY_OR(st, cleanup, qfz_unsound(box, "ring", err));
    st = find_labels(border_region, bytes / (int64_t)sizeof(uint32_t), label_of, labels, err);

cleanup:
    free(label_of);
    free(own);
    return st;
}
