/* SPDX-License-Identifier: MIT */
/* omega_block.cu - (alpha, omega)-regions inside blocks of 64 x 64 pixels, in shared memory.
 *
 * The nodes of a block are its pixels and its components (forest/boruvka_parts.cuh).  Nothing is
 * attached to a pixel; a component has no value of its own.
 *
 *   load      the component to which each node is attached, unless its level is above alpha
 *   gather    the range of T of every component
 *   breaks    the levels at which components whose T is too wide break
 *   settle    the region of every pixel, as far as the block determines it
 *   record    records: nodes that are attached to vertices
 *
 * A waiting component x, a vertex of the graph of all blocks, joins other components at level n or
 * later, where n is the level of its lightest edge out of the block.  A node that is attached to x
 * by a level below n belongs to the vertex's own pixels.  Any other node may in the whole tile be
 * attached to a component that x joins; so it becomes a record, unless x breaks inside the block
 * before that level. */
#include "gpu/omega/omega_breaks.cuh"
#include "gpu/omega/omega_gather.cuh"

/* ---- Settle ---------------------------------------------------------------------------------- */

/* The component that represents the region of c in the block. */
template <typename WORK> static QFZ_DEVICE uint32_t region_of(const WORK &w, uint32_t c)
{
    for (;;) {
        const auto hook = w.m.hook[c];
        const uint32_t a = target_of(hook);
        if (!joins(hook) || level_of(hook) > w.m.ends[a].in) return c;
        c = a;
    }
}

/* If the pixel is attached to a vertex, it is one of the vertex's own pixels. */
template <typename WORK> static QFZ_DEVICE void gather_own_pixel(const WORK &w, int k)
{
    const auto to = w.m.hook[w.px.up(k)];
    if (is_vertex(to)) extend(&w.m.own[target_of(to)], value_range(w, k));
}

/* Finds regions, their first pixels in the block, the nodes that become records, and the ranges of
 * vertices' own pixels in the last band. */
template <typename WORK> static QFZ_DEVICE void settle(WORK &w)
{
    EACH_COMPONENT(w, c) w.m.ends[c] = ends_of(w, c);
    __syncthreads();
    EACH_COMPONENT(w, c)
    {
        w.m.region[c] = region_of(w, c);
        w.m.first[c] = QFZ_NONE;
    }
    __syncthreads();
    QFZ_EACH (k, EACH) {
        const uint32_t a = w.px.up(k), level = w.px.level(k);
        const auto ends = w.m.ends[a];
        if (level <= ends.in) {
            w.joined |= 1u << k;
            qfz_lower(&w.m.first[w.m.region[a]], place_of(k));
            gather_own_pixel(w, k);
        } else if (level <= ends.out) {
            w.records |= 1u << k;
        }
    }
    __syncthreads();
    EACH_COMPONENT(w, c)
    {
        const auto hook = w.m.hook[c];
        const uint32_t level = level_of(hook);
        if (!joins(hook) || w.m.first[c] == QFZ_NONE) continue;
        const auto ends = w.m.ends[target_of(hook)];
        if (level > ends.in && level <= ends.out) w.record_comps |= bit_of(c);
    }
}

/* ---- Record ---------------------------------------------------------------------------------- */

/* The block's first vertex. */
template <typename WORK> static QFZ_DEVICE uint32_t first_vertex(const WORK &w)
{
    return w.forest.block[blockIdx.x].x;
}

/* Reserves records for the thread's nodes; returns the first. */
template <typename WORK> static QFZ_DEVICE uint32_t take_records(WORK &w)
{
    const uint32_t n = (uint32_t)(__popc(w.records) + __popc(w.record_comps));
    const uint32_t at = qfz_take(&w.m.n_records, n);
    __syncthreads();
    if (threadIdx.x == 0) w.m.first_record = atomicAdd(w.graph.n_records, w.m.n_records);
    __syncthreads();
    return w.m.first_record + at;
}

template <typename WORK> static QFZ_DEVICE void store_row(const WORK &w, uint32_t word[EACH])
{
    struct __align__(16) many
    {
        uint32_t item[EACH];
    };
    uint32_t *const row = w.root + w.pixel;
    if (w.values.valid) {
        QFZ_EACH (k, EACH)
            if (k < w.n_px && w.px.up(k) == NOWHERE && !w.values.valid[w.pixel + k])
                word[k] = QFZ_NONE;
    }
    if (w.n_px == EACH && (uintptr_t)row % sizeof(many) == 0) {
        many all;
        QFZ_EACH (k, EACH)
            all.item[k] = word[k];
        *reinterpret_cast<many *>(row) = all;
        return;
    }
    QFZ_EACH (k, EACH)
        if (k < w.n_px) row[k] = word[k];
}

/* Writes the root word of each pixel: the first pixel of a region that ends in the block; else the
 * part of the pixel, with QFZ_OMEGA_PART. */
template <typename WORK> static QFZ_DEVICE void name(WORK &w, uint32_t at)
{
    const uint32_t vertex = QFZ_OMEGA_PART | first_vertex(w);
    uint32_t record = QFZ_OMEGA_PART | (*w.graph.n_vertices + at);
    uint32_t comp_record = record + (uint32_t)__popc(w.records), word[EACH];
    EACH_COMPONENT(w, c)
    {
        const uint32_t first = w.m.first[c];
        if (first == QFZ_NONE) continue;
        uint32_t part = (uint32_t)pixel_at(w, first);
        if (is_vertex(w.m.hook[c])) part = vertex + target_of(w.m.hook[c]);
        if (w.record_comps & bit_of(c)) part = comp_record++;
        w.m.word[c] = part;
    }
    __syncthreads();
    QFZ_EACH (k, EACH) {
        word[k] = w.records >> k & 1 ? record++ : (uint32_t)w.pixel + (uint32_t)k;
        if (w.joined >> k & 1) word[k] = w.m.word[w.m.region[w.px.up(k)]];
    }
    store_row(w, word);
}

template <typename VALUE>
static QFZ_DEVICE void store_records(const omega_work<VALUE> &w, int band, uint32_t at)
{
    typedef typename qfz_top_of<typename value_kind<VALUE>::KEY>::type LEVEL;
    const qfz_omega_graph &g = w.graph;
    const uint32_t n_vertices = *g.n_vertices, vertex = first_vertex(w);
    const auto store = [&](uint32_t a, uint32_t level, uint32_t first, uint2 range) {
        if (band == 0) {
            g.first[n_vertices + at] = first;
            qfz_omega_attach<LEVEL>(g, at, vertex + target_of(w.m.hook[a]), level);
        }
        value_io<VALUE>::store(w, g.lo, band * g.record_room + at, range.x);
        value_io<VALUE>::store(w, g.hi, band * g.record_room + at, range.y);
        at++;
    };
    QFZ_EACH (k, EACH)
        if (w.records >> k & 1)
            store(w.px.up(k), w.px.level(k), (uint32_t)w.pixel + (uint32_t)k, value_range(w, k));
    each_of(w.record_comps, [&](uint32_t c) {
        const auto hook = w.m.hook[c];
        store(target_of(hook), level_of(hook), (uint32_t)pixel_at(w, w.m.first[c]), w.m.range[c]);
    });
}

/* Adds the components in them to the ranges of vertices' own pixels. */
template <typename WORK> static QFZ_DEVICE void gather_own_components(WORK &w)
{
    EACH_COMPONENT(w, c)
    {
        const auto hook = w.m.hook[c];
        const uint32_t a = target_of(hook);
        if (joins(hook) && level_of(hook) <= w.m.ends[a].in && is_vertex(w.m.hook[a]))
            extend(&w.m.own[target_of(w.m.hook[a])], w.m.range[c]);
    }
}

/* Stores the block's vertices. */
template <typename WORK> static QFZ_DEVICE void store_vertices(const WORK &w, int band)
{
    const qfz_omega_graph &g = w.graph;
    const uint32_t vertex = first_vertex(w);
    EACH_COMPONENT(w, c)
    {
        const uint32_t first = w.m.first[c], own = target_of(w.m.hook[c]), v = vertex + own;
        if (!is_vertex(w.m.hook[c])) continue;
        if (band == 0) {
            g.first[v] = first == QFZ_NONE ? QFZ_NONE : (uint32_t)pixel_at(w, first);
            g.block_breaks[v] = w.m.breaks[c];
        }
        qfz_omega_set_own(g, band, v, w.m.own[own]);
    }
}

/* ---- The kernel ------------------------------------------------------------------------------ */

/* The block's part of `root` may overlap the hooks of its pixels, which have been read by then. */
template <typename VALUE>
static __global__ void __launch_bounds__(THREADS, value_kind<VALUE>::BLOCKS)
    k_block(qfz_gpu_forest forest, qfz_omega_values values, qfz_omega_graph graph, uint32_t *root)
{
    typedef omega_memory<VALUE> memory;
    QFZ_SHARED(memory, m);
    omega_work<VALUE> w(m, forest, values, graph, root);
    if (threadIdx.x == 0) m->n_records = 0;
    load_pixels(w);
    load_components(w);
    __syncthreads();
    attach(w);
    for (int band = 0; band < values.n_bands; band++) {
        gather(w, band);
        if (values.limit) find_breaks(w, band);
    }
    settle(w);
    const uint32_t at = take_records(w);
    name(w, at);
    for (int band = 0; band < values.n_bands; band++) {
        if (values.n_bands > 1) {
            __syncthreads();
            gather(w, band);
            QFZ_EACH (k, EACH)
                if (w.joined >> k & 1) gather_own_pixel(w, k);
        }
        gather_own_components(w);
        store_records(w, band, at);
        __syncthreads();
        store_vertices(w, band);
    }
}

template <typename VALUE>
static qfz_status launch(qfz_gpu *gpu, const qfz_omega_room *room, uint32_t *d_root)
{
    return qfz_launch(gpu, k_block<VALUE>, dim3((unsigned)room->forest.n_blocks), dim3(THREADS),
                      sizeof(omega_memory<VALUE>), room->forest, room->values, room->graph, d_root);
}

size_t qfz_gpu_omega_shared(const qfz_gpu_edges *edges)
{
    return edges->form == QFZ_EDGES_LEVELS ? sizeof(omega_memory<any_value>)
                                           : sizeof(omega_memory<uint16_t>);
}

qfz_status qfz_omega_blocks(qfz_gpu *gpu, const qfz_omega_room *room, uint32_t *d_root)
{
    if (room->forest.wide) return launch<any_value>(gpu, room, d_root);
    if (room->values.bytes == 1) return launch<uint8_t>(gpu, room, d_root);
    return launch<uint16_t>(gpu, room, d_root);
}
