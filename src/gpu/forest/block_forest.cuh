/* SPDX-License-Identifier: MIT */
/* block_forest.cuh - the forest (boruvka.cuh) as an output of the block solver (block_launch.cuh):
 * each pixel's top and component, and the hooks of components. */
#pragma once

#include "gpu/forest/block_launch.cuh"

/* The hook of component c as the forest has it, level << 16 | step. A vertex has the level of its
 * lightest edge out of the block, or 0 if it does not wait for such an edge. */
template <typename WORK> QFZ_DEVICE typename WORK::KEY hook_of(const WORK &w, uint32_t c)
{
    typedef typename WORK::KEY KEY;
    const KEY best = w.m.best[c];
    const uint32_t step = (uint32_t)best & 0xffff;
    uint32_t level = hook_level(best);
    if (step >= ROOT) {
        const KEY lightest = step == QFZ_STEP_ENDED ? w.NO_KEY : w.m.lightest[step & QFZ_STEP_MASK];
        level = lightest == w.NO_KEY ? 0 : (uint32_t)(lightest >> 16);
    }
    return (KEY)level << 16 | step;
}

struct forest_out {
    template <bool FULL, typename WORK, typename SETTLED_PX>
    QFZ_DEVICE void store_tops(const WORK &w, const SETTLED_PX &s) const
    {
        typedef typename WORK::LEVEL LEVEL;
        LEVEL *out = qfz_tops<LEVEL>(w.forest, w.box, w.warp * WORK::OWN_ROWS) + 2 * w.lane;
#pragma unroll
        for (int j = 0; j < WORK::OWN_ROWS; j++, out += qfz_px_pitch<LEVEL>(w.forest))
            store_two_px<FULL>(w, j, out, s.top_at(w, j));
    }

    /* comp: component * 4 of a thread's pixels. */
    template <bool FULL, typename WORK>
    QFZ_DEVICE void store_comps(const WORK &w, const uint32_t *comp) const
    {
        typedef typename WORK::LEVEL LEVEL;
        uint16_t *out = qfz_comps<LEVEL>(w.forest, w.box, w.warp * WORK::OWN_ROWS) + 2 * w.lane;
#pragma unroll
        for (int j = 0; j < WORK::OWN_ROWS; j++, out += qfz_px_pitch<LEVEL>(w.forest))
            store_two_px<FULL>(w, j, out, pair16{comp[j] >> 2});
    }

    template <bool FULL, typename WORK, typename SETTLED_PX, typename THERE>
    QFZ_DEVICE void finish(WORK &w, const SETTLED_PX &, const THERE &, typename WORK::KEY rim) const
    {
        const uint32_t n = ACTIVE + (w.m.n_numbers >> 16);
        make_graph(
            w, rim, [](uint32_t) { return 0; },
            [&] {
                for (uint32_t c = (uint32_t)w.thread; c < n; c += w.THREADS)
                    qfz_set_hook(w.forest, blockIdx.x, c, hook_of(w, c));
            });
        if (w.thread == 0) w.forest.block[blockIdx.x] = make_uint2(w.m.first_vertex, n);
    }
};

/* Edges of a band of 32-bit integers are planes of levels here. */
template <typename WAY>
qfz_status qfz_boruvka_solve(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_gpu_forest *forest)
{
    const forest_out out;
    if constexpr (sizeof(typename WAY::WORK::LEVEL) == sizeof(uint16_t))
        return launch_narrow<WAY>(gpu, edges, forest, out);
    else
        return edges->form == QFZ_EDGES_F32
                   ? launch_band<WAY, float>(gpu, edges, forest, out)
                   : launch<WAY, typename WAY::KEYS>(gpu, edges, forest, out);
}
