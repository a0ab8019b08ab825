/* SPDX-License-Identifier: MIT */
/* contract_pack.c - contracted blocks in compact form.
 *
 * Packed blocks are the largest part of a contraction, and writing to new memory costs more time
 * than computing here, so a block is packed while it is in the cache.  Only hooked nodes are
 * stored.  Levels have 1, 2 or 4 bytes each, as the block's largest level requires; all bits set
 * represent QFZ_NONE. */
#include <omp.h>
#include <string.h>

#include "core/simd.h"
#include "cpu/contract_parts.h"

enum { PIECE_BYTES = 64 }; /* alignment of packed blocks */

static int64_t packed_bytes(int64_t n_px, int64_t n_hooks, int64_t level_bytes)
{
    const int64_t bytes = (n_px + n_hooks) * ((int64_t)sizeof(uint16_t) + level_bytes);
    return (bytes + PIECE_BYTES - 1) / PIECE_BYTES * PIECE_BYTES;
}

int64_t qfz_block_packed_most(int64_t n_px, int64_t n_nodes)
{
    return packed_bytes(n_px, n_nodes, sizeof(uint32_t));
}

/* One more than the largest level; QFZ_NONE does not count. */
QFZ_CLONES static uint32_t above_all(const uint32_t *levels, int64_t n)
{
    uint32_t most = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t above = levels[i] + 1;
        most = above > most ? above : most;
    }
    return most;
}

static int bytes_for(uint32_t above)
{
    return above <= UINT8_MAX ? 1 : above <= UINT16_MAX ? 2 : 4;
}

#define QFZ_NARROW(name, type)                                                                     \
    QFZ_CLONES static void narrow_to_##name(const uint32_t *restrict wide, int64_t n,              \
                                            type *restrict narrow)                                 \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            narrow[i] = (type)wide[i];                                                             \
    }                                                                                              \
    QFZ_CLONES static void widen_##name(const type *restrict narrow, int64_t n,                    \
                                        uint32_t *restrict wide)                                   \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            wide[i] = narrow[i] == (type)-1 ? QFZ_NONE : narrow[i];                                \
    }

QFZ_NARROW(bytes, uint8_t)
QFZ_NARROW(halves, uint16_t)

void qfz_levels_narrow(const uint32_t *levels, int64_t n, uint16_t *narrow)
{
    narrow_to_halves(levels, n, narrow);
}

static unsigned char *put_levels(unsigned char *to, const uint32_t *levels, int64_t n, int bytes)
{
    switch (bytes) {
    case 1: narrow_to_bytes(levels, n, to); break;
    case 2: narrow_to_halves(levels, n, (uint16_t *)(void *)to); break;
    default: memcpy(to, levels, (size_t)n * sizeof *levels); break;
    }
    return to + n * bytes;
}

static const unsigned char *get_levels(const unsigned char *from, uint32_t *levels, int64_t n,
                                       int bytes)
{
    switch (bytes) {
    case 1: widen_bytes(from, n, levels); break;
    case 2: widen_halves((const uint16_t *)(const void *)from, n, levels); break;
    default: memcpy(levels, from, (size_t)n * sizeof *levels); break;
    }
    return from + n * bytes;
}

void qfz_block_pack(const qfz_block_work *b)
{
    qfz_contracted_block *const block = b->block;
    const uint32_t of_px = above_all(b->px_first, block->n_px);
    const uint32_t of_hooks = above_all(b->level, block->n_hooks);
    const int bytes = bytes_for(of_px > of_hooks ? of_px : of_hooks);
    const int64_t all = packed_bytes(block->n_px, block->n_hooks, bytes);
    const size_t px_bytes = block->n_px * sizeof *b->px_number;
    const size_t hook_bytes = block->n_hooks * sizeof *b->up;
    int64_t at;
#pragma omp atomic capture
    {
        at = b->c->packed_bytes;
        b->c->packed_bytes += all;
    }
    block->packed = at;
    block->level_bytes = bytes;
    unsigned char *to = b->c->packed + at;
    memcpy(to, b->px_number, px_bytes);
    memcpy(to + px_bytes, b->up, hook_bytes);
    to = put_levels(to + px_bytes + hook_bytes, b->px_first, block->n_px, bytes);
    (void)put_levels(to, b->level, block->n_hooks, bytes);
}

qfz_unpacked_block qfz_contraction_unpack(const qfz_contraction *c,
                                          const qfz_contracted_block *block)
{
    const int64_t room = omp_get_thread_num() * (int64_t)QFZ_BLOCK_MAX_NODES;
    const unsigned char *from = c->packed + block->packed;
    const uint16_t *const number = (const uint16_t *)(const void *)from;
    uint16_t *const up = c->up + room;
    uint32_t *const first = c->first + room, *const level = c->level + room;
    memcpy(up, number + block->n_px, block->n_hooks * sizeof *up);
    for (uint32_t i = block->n_hooks; i < block->n_nodes; i++)
        up[i] = (uint16_t)i;
    from += (block->n_px + block->n_hooks) * sizeof *number;
    from = get_levels(from, first, block->n_px, block->level_bytes);
    (void)get_levels(from, level, block->n_hooks, block->level_bytes);
    return (qfz_unpacked_block){.first = first, .number = number, .up = up, .level = level};
}
