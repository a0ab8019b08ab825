/* SPDX-License-Identifier: MIT */
/* omega_gather.cuh - steps load and gather of omega_block.cu: the component to which each component
 * and pixel is attached, and the range of T of components. */
#pragma once

#include "gpu/omega/omega_block.cuh"

/* ---- Load ------------------------------------------------------------------------------------ */

enum { EACH_COMPS = (QFZ_COMPS + THREADS - 1) / THREADS };

/* Loads the hooks of components.  A component whose level is above alpha becomes a root.  In
 * m.in_forest, a root has a word that is above those of all levels. */
template <typename VALUE> QFZ_DEVICE void load_components(omega_work<VALUE> &w)
{
    typedef typename value_kind<VALUE>::KEY KEY;
    KEY hook[EACH_COMPS];
    QFZ_EACH (j, EACH_COMPS) {
        const uint32_t c = threadIdx.x + (uint32_t)j * THREADS;
        hook[j] = c < w.n ? qfz_hook_at<KEY>(w.forest, blockIdx.x, c) : (KEY)QFZ_STEP_ENDED;
    }
    QFZ_EACH (j, EACH_COMPS) {
        const uint32_t c = threadIdx.x + (uint32_t)j * THREADS;
        if (joins(hook[j]) && level_of(hook[j]) >= w.graph.after) hook[j] = QFZ_STEP_ENDED;
        if (c >= w.n) continue;
        w.m.hook[c] = hook[j];
        w.m.in_forest[c] = joins(hook[j]) ? hook[j] : ~(KEY)0;
    }
}

/* The first component on the path up from a in the forest, a included, that is a root or has L
 * above `level`. */
template <typename WORK> QFZ_DEVICE uint32_t first_after(const WORK &w, uint32_t a, uint32_t level)
{
    typedef typename WORK::KEY KEY;
    const KEY above = (KEY)level << 16 | QFZ_STEP_ROOT << QFZ_STEP_BITS;
    for (KEY hook; (hook = w.m.in_forest[a]) < above;)
        a = target_of(hook);
    return a;
}

/* Finds the component to which each component and each of the thread's pixels is attached. */
template <typename VALUE> QFZ_DEVICE void attach(omega_work<VALUE> &w)
{
    typedef typename value_kind<VALUE>::KEY KEY;
    QFZ_EACH (k, EACH)
        w.px.set_hang(k, first_after(w, w.px.up(k), w.px.level(k)), w.px.level(k));
    EACH_COMPONENT(w, c)
    {
        const KEY hook = w.m.hook[c];
        w.m.breaks[c] = c == NOWHERE ? 1 : w.graph.after;
        if (joins(hook))
            w.m.hook[c] =
                (hook & ~(KEY)QFZ_STEP_MASK) | first_after(w, target_of(hook), level_of(hook));
    }
}

/* EACH adjacent items. */
template <typename T> struct __align__(EACH * sizeof(T) < 16 ? EACH * sizeof(T) : 16) many
{
    T item[EACH];
};

/* True if the thread's pixels are in the image, and the items of an array are aligned. */
template <typename T, typename WORK> QFZ_DEVICE bool is_whole(const WORK &w, const T *row)
{
    return w.n_px == EACH && (uintptr_t)row % alignof(many<T>) == 0;
}

/* Reads the thread's EACH items, from `row` on; 0 outside the image. */
template <bool WHOLE, typename T, typename WORK>
QFZ_DEVICE void load_row(const WORK &w, const T *row, uint32_t out[EACH])
{
    if (WHOLE) {
        const many<T> all = *reinterpret_cast<const many<T> *>(row);
        QFZ_EACH (k, EACH)
            out[k] = all.item[k];
    } else {
        QFZ_EACH (k, EACH)
            out[k] = k < w.n_px ? row[k] : 0;
    }
}

/* Reads the thread's values, and writes a value of an array.  Those of the only band are read with
 * the hooks of pixels, those of several bands one band after the other. */
template <typename VALUE> struct value_io {
    template <typename WORK> static QFZ_DEVICE const VALUE *row(const WORK &w)
    {
        return static_cast<const VALUE *>(w.values.pixels) + w.pixel;
    }
    template <typename WORK> static QFZ_DEVICE bool is_aligned(const WORK &w)
    {
        return is_whole(w, row(w));
    }
    template <bool WHOLE, typename WORK> static QFZ_DEVICE void load_only(WORK &w)
    {
        uint32_t value[EACH];
        load_row<WHOLE>(w, row(w), value);
        QFZ_EACH (k, EACH)
            w.px.set_value(k, value[k] ^ w.values.flip);
    }
    template <typename WORK> static QFZ_DEVICE void load(WORK &, int)
    {
    }
    template <typename WORK>
    static QFZ_DEVICE void store(const WORK &w, void *array, int64_t i, uint32_t word)
    {
        static_cast<VALUE *>(array)[i] = (VALUE)(word ^ w.values.flip);
    }
};

template <> struct value_io<any_value> {
    template <typename WORK> static QFZ_DEVICE bool is_aligned(const WORK &)
    {
        return true;
    }
    template <bool WHOLE, typename WORK> static QFZ_DEVICE void load_only(WORK &)
    {
    }
    template <typename WORK> static QFZ_DEVICE void load(WORK &w, int band)
    {
        QFZ_EACH (k, EACH)
            if (w.px.up(k) != NOWHERE) w.px.set_value(k, w.values.pixel(band, w.pixel + k));
    }
    template <typename WORK>
    static QFZ_DEVICE void store(const WORK &w, void *array, int64_t i, uint32_t word)
    {
        w.values.write(array, i, word);
    }
};

/* Loads the hooks of the thread's pixels.  With the tile's ring, invalid pixels may have
 * components. */
template <bool WHOLE, typename VALUE, typename TOP>
QFZ_DEVICE void load_rows(omega_work<VALUE> &w, const uint16_t *comps, const TOP *tops)
{
    const uint8_t *const valid = w.forest.keeps_ring ? w.values.valid : NULL;
    uint32_t comp[EACH], top[EACH];
    load_row<WHOLE>(w, comps, comp);
    load_row<WHOLE>(w, tops, top);
    value_io<VALUE>::template load_only<WHOLE>(w);
    QFZ_EACH (k, EACH) {
        const bool hangs = comp[k] != QFZ_NO_COMP && top[k] < w.graph.after;
        const bool there = (WHOLE || k < w.n_px) && (!valid || valid[w.pixel + k]);
        if (hangs && there)
            w.px.set_hang(k, comp[k], top[k]);
        else
            w.px.set_hang(k, NOWHERE, (TOP)QFZ_NONE);
    }
}

template <typename VALUE> QFZ_DEVICE void load_pixels(omega_work<VALUE> &w)
{
    typedef typename qfz_top_of<typename value_kind<VALUE>::KEY>::type TOP;
    const qfz_block_box box = qfz_block_of(w.forest, blockIdx.x);
    const int32_t y = (int32_t)place_of(0) / QFZ_SIDE, x = (int32_t)place_of(0) % QFZ_SIDE;
    const uint16_t *const comps = qfz_comps<TOP>(w.forest, box, y) + x;
    const TOP *const tops = qfz_tops<TOP>(w.forest, box, y) + x;
    if (is_whole(w, comps) && is_whole(w, tops) && value_io<VALUE>::is_aligned(w))
        load_rows<true>(w, comps, tops);
    else
        load_rows<false>(w, comps, tops);
}

/* ---- Gather ---------------------------------------------------------------------------------- */

/* Computes the ranges of T of all components in one band, and loads the values of pixels.  A
 * component's range extends those above it, up to one that has the range already, because what made
 * that range goes on. */
template <typename VALUE> QFZ_DEVICE void gather(omega_work<VALUE> &w, int band)
{
    EACH_COMPONENT(w, c) w.m.range[c] = make_uint2(QFZ_NONE, 0);
    for (uint32_t v = threadIdx.x; v < QFZ_VERTICES; v += THREADS)
        w.m.own[v] = make_uint2(QFZ_NONE, 0);
    value_io<VALUE>::load(w, band);
    __syncthreads();
    if (threadIdx.x == 0) w.m.n_wide = 0; /* that of the band before has been read by now */
    QFZ_EACH (k, EACH)
        extend(&w.m.range[w.px.up(k)], value_range(w, k));
    __syncthreads();
    EACH_COMPONENT(w, c)
    {
        const uint2 range = peek_pair(&w.m.range[c]);
        for (auto hook = w.m.hook[c]; joins(hook) && extend(&w.m.range[target_of(hook)], range);)
            hook = w.m.hook[target_of(hook)];
    }
    __syncthreads();
}
