/* SPDX-License-Identifier: MIT */
/* saliency_out.cuh - saliencies as an output of the block solver (block_launch.cuh): step close,
 * which gives every edge its saliency or adds it to the block's open edges. */
#pragma once

#include "gpu/forest/block_launch.cuh"
#include "gpu/saliency/saliency_close.cuh"

/* Where blocks store saliencies and open edges, as in qfz_saliency_blocks. Without saliency, only
 * the graph of all blocks is made. */
template <typename WAY, typename T> struct levels_out {
    uint32_t *open, *moved;
    T *saliency;

    template <bool FULL, typename WORK, typename SETTLED_PX>
    QFZ_DEVICE void store_tops(const WORK &, const SETTLED_PX &) const
    {
    }

    template <bool FULL, typename WORK>
    QFZ_DEVICE void store_comps(const WORK &, const uint32_t *) const
    {
    }

    template <bool FULL, typename WORK, typename SETTLED_PX, typename THERE>
    QFZ_DEVICE void finish(WORK &w, const SETTLED_PX &s, const THERE &there,
                           typename WORK::KEY rim) const
    {
        const bool closes = saliency;
        const level_tables tables = make_graph(
            w, rim,
            [&w, closes](uint32_t n_rounds) {
                return closes ? last_tables(w, max(n_rounds, 1u)) : level_tables{};
            },
            [] {});
        if (!saliency) return;
        closing<WAY, FULL> e;
        e.there = there;
        if constexpr (WORK::SHAPE::EIGHT)
            close(w, tables, s, e, vertices_at(w.forest, w.box, open, saliency));
        else
            close(w, tables, s, e, open + (int64_t)blockIdx.x * QFZ_OPEN_ROOM);
        if constexpr (WORK::SHAPE::EIGHT && sizeof(T) == sizeof(uint32_t))
            move_levels(w, e, moved + (int64_t)blockIdx.x * QFZ_MOVED_WORDS);
        store_levels(w, e, saliency);
        if (w.thread == 0)
            w.forest.block[blockIdx.x] =
                make_uint2(w.m.first_vertex, w.m.n_open << 16 | w.m.n_vertices);
    }
};

template <typename WAY>
qfz_status qfz_saliency_solve(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                              const qfz_saliency_blocks *blocks, void *d_saliency)
{
    const qfz_gpu_forest *const f = &blocks->forest;
    const levels_out<WAY, uint16_t> narrow = {blocks->open, blocks->moved, (uint16_t *)d_saliency};
    const levels_out<WAY, uint32_t> wide = {blocks->open, blocks->moved, (uint32_t *)d_saliency};
    if constexpr (sizeof(typename WAY::WORK::LEVEL) == sizeof(uint16_t)) {
        return launch_narrow<WAY>(gpu, edges, f, narrow);
    } else {
        if (qfz_gpu_is_narrow(edges)) return launch<WAY, typename WAY::KEYS>(gpu, edges, f, narrow);
        switch (edges->form) {
        case QFZ_EDGES_U32: return launch_band<WAY, uint32_t>(gpu, edges, f, wide);
        case QFZ_EDGES_I32: return launch_band<WAY, int32_t>(gpu, edges, f, wide);
        case QFZ_EDGES_F32: return launch_band<WAY, float>(gpu, edges, f, wide);
        default: return launch<WAY, typename WAY::KEYS>(gpu, edges, f, wide);
        }
    }
}
