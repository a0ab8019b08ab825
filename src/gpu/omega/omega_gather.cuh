/* SPDX-License-Identifier: MIT */
/* omega_gather.cuh - steps load and gather of omega_block.cu: the component to which each component
 * and pixel is attached, and the range of T of components. */
#pragma once

#include "gpu/omega/omega_block.cuh"

/* ---- Load ------------------------------------------------------------------------------------ */

/* Loads the hooks of components.  A component whose level is above alpha becomes a root. */
template <typename VALUE> QFZ_DEVICE void load_components(omega_work<VALUE> &w)
{
    typedef typename value_kind<VALUE>::KEY KEY;
    EACH_COMPONENT(w, c)
    {
        KEY hook = qfz_hook_at<KEY>(w.forest, blockIdx.x, c);
        if (joins(hook) && level_of(hook) >= w.graph.after) hook = QFZ_STEP_ENDED;
        w.m.hook[c] = hook;
        w.m.bounds[c] = make_uint2(w.graph.after, 0);
    }
}

/* The first component on the path up from a, a included, that is a root or has L above `level`. */
template <typename WORK> QFZ_DEVICE uint32_t first_after(const WORK &w, uint32_t a, uint32_t level)
{
    auto hook = w.m.hook[a];
    while (joins(hook) && level_of(hook) <= level) {
        a = target_of(hook);
        hook = w.m.hook[a];
    }
    return a;
}

/* Replaces each component's parent in the forest by the component to which it is attached.  All
 * threads read before any thread writes. */
template <typename VALUE> QFZ_DEVICE void attach_components(omega_work<VALUE> &w)
{
    enum { EACH_COMPS = (QFZ_COMPS + THREADS - 1) / THREADS };
    uint32_t up[EACH_COMPS];
#pragma unroll
    for (uint32_t j = 0; j < (uint32_t)EACH_COMPS; j++) {
        const uint32_t c = threadIdx.x + j * THREADS;
        if (c < w.n && joins(w.m.hook[c]))
            up[j] = first_after(w, target_of(w.m.hook[c]), level_of(w.m.hook[c]));
    }
    __syncthreads();
#pragma unroll
    for (uint32_t j = 0; j < (uint32_t)EACH_COMPS; j++) {
        const uint32_t c = threadIdx.x + j * THREADS;
        if (c < w.n && joins(w.m.hook[c]))
            w.m.hook[c] = (w.m.hook[c] & ~(typename value_kind<VALUE>::KEY)QFZ_STEP_MASK) | up[j];
    }
}

/* Reads the thread's EACH items, from `row` on; 0 outside the image. */
template <typename T, typename WORK>
QFZ_DEVICE void load_row(const WORK &w, const T *row, uint32_t out[EACH])
{
    struct __align__(EACH * sizeof(T) < 16 ? EACH * sizeof(T) : 16) many
    {
        T item[EACH];
    };
    if (w.n_px == EACH && (uintptr_t)row % sizeof(many) == 0) {
        const many all = *reinterpret_cast<const many *>(row);
#pragma unroll
        for (int k = 0; k < EACH; k++)
            out[k] = all.item[k];
        return;
    }
#pragma unroll
    for (int k = 0; k < EACH; k++)
        out[k] = k < w.n_px ? row[k] : 0;
}

/* Loads the hooks of the thread's pixels.  Invalid pixels of the tile's ring may have components,
 * so validity is checked. */
template <typename VALUE> QFZ_DEVICE void load_pixels(omega_work<VALUE> &w)
{
    typedef typename qfz_top_of<typename value_kind<VALUE>::KEY>::type TOP;
    uint32_t comp[EACH], top[EACH];
    const qfz_block_box box = qfz_block_of(w.forest, blockIdx.x);
    const int32_t y = (int32_t)place_of(0) / QFZ_SIDE, x = (int32_t)place_of(0) % QFZ_SIDE;
    load_row(w, qfz_comps<TOP>(w.forest, box, y) + x, comp);
    load_row(w, qfz_tops<TOP>(w.forest, box, y) + x, top);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const bool valid = k < w.n_px && (!w.values.valid || w.values.valid[w.pixel + k]);
        const bool hangs = valid && comp[k] != QFZ_NO_COMP && top[k] < w.graph.after;
        w.px.set_hang(k, hangs ? first_after(w, comp[k], top[k]) : (uint32_t)NOWHERE, top[k]);
    }
}

/* Reads the thread's values of a band, and writes a value of an array. */
template <typename VALUE> struct value_io {
    template <typename WORK> static QFZ_DEVICE void load(WORK &w, int)
    {
        uint32_t value[EACH];
        load_row(w, static_cast<const VALUE *>(w.values.pixels) + w.pixel, value);
#pragma unroll
        for (int k = 0; k < EACH; k++)
            w.px.set_value(k, value[k] ^ w.values.flip);
    }
    template <typename WORK>
    static QFZ_DEVICE void store(const WORK &w, void *array, int64_t i, uint32_t word)
    {
        static_cast<VALUE *>(array)[i] = (VALUE)(word ^ w.values.flip);
    }
};

template <> struct value_io<any_value> {
    template <typename WORK> static QFZ_DEVICE void load(WORK &w, int band)
    {
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (w.px.up(k) != NOWHERE) w.px.set_value(k, w.values.pixel(band, w.pixel + k));
    }
    template <typename WORK>
    static QFZ_DEVICE void store(const WORK &w, void *array, int64_t i, uint32_t word)
    {
        w.values.write(array, i, word);
    }
};

/* ---- Gather ---------------------------------------------------------------------------------- */

/* Computes the ranges of T of all components in one band, and loads the values of pixels.  A
 * component's range extends those above it, up to one that has the range already, because what made
 * that range goes on. */
template <typename VALUE> QFZ_DEVICE void gather(omega_work<VALUE> &w, int band)
{
    EACH_COMPONENT(w, c) w.m.range[c] = make_uint2(QFZ_NONE, 0);
    value_io<VALUE>::load(w, band);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (w.px.up(k) != NOWHERE) widen(w, w.px.up(k), value_range(w, k));
    __syncthreads();
    EACH_COMPONENT(w, c)
    {
        const uint2 range = peek_pair(&w.m.range[c]);
        for (auto hook = w.m.hook[c]; joins(hook) && widen(w, target_of(hook), range);)
            hook = w.m.hook[target_of(hook)];
    }
    __syncthreads();
}
