/* SPDX-License-Identifier: MIT */
/* rows_block.cu - the block kernel of rows.cuh: the rounds of boruvka_block.cu, by the same rules,
 * with pixels in registers.
 *
 *   choose    every pixel hooks itself by its lightest edge
 *   number,   of two pixels that chose the same edge the first is the root of a component; the
 *   settle    components are numbered and every pixel learns its own
 *   collect   edges between two components, but for the heaviest of each square, become a list
 *   rounds    on that list, until (almost) every component waits: its lightest edge leaves the
 * block span      what remains becomes vertices and edges of the graph of all blocks close every
 * edge gets its level, or goes to the list of open edges */
#include "gpu/rows_close.cuh"
#include "gpu/rows_collect.cuh"
#include "gpu/rows_graph.cuh"

/* The pixel of a place of leave[]. */
static __device__ __forceinline__ int leaving_pixel(int i)
{
    const int at = i % QFZ_SIDE, side = i - at;
    const int y = side == TOP ? 0 : side == BOTTOM ? QFZ_SIDE - 1 : at;
    const int x = side == LEFT ? 0 : side == RIGHT ? QFZ_SIDE - 1 : at;
    return y * QFZ_SIDE + x;
}

/* The thread's pixel of the box's ring, or some other. */
static __device__ __forceinline__ int ring_pixel(const rows_work &w)
{
    const int last = qfz_ring_count(w.box.h, w.box.w) - 1;
    const int2 place = qfz_ring_pixel(w.box.h, w.box.w, min(w.thread, last));
    return place.y * QFZ_SIDE + place.x;
}

static __device__ __forceinline__ void begin(rows_work &w)
{
    if (w.thread == 0)
        w.m.n_numbers = w.m.n_list = w.m.n_next = w.m.n_tree = w.m.n_vertices = w.m.n_leaving =
            w.m.n_open = 0;
    uint4 *const best = reinterpret_cast<uint4 *>(w.m.best + ACTIVE);
    for (int i = w.thread; i < (COMPS - ACTIVE) / 4; i += THREADS)
        best[i] = make_uint4(NO_KEY, NO_KEY, NO_KEY, NO_KEY);
}

/* Names of components that wait from the first round on, and of so few others that there will be
 * no second. */
static __device__ __forceinline__ void begin_names(rows_work &w)
{
    const uint32_t c = (uint32_t)w.thread, n_waiting = w.m.n_numbers & 0xffff;
    w.m.name[c] = (uint16_t)(c * 4 | WAITS | (c < n_waiting ? 0 : ENDED));
    if (c < QFZ_SPARE) w.m.name[ACTIVE + c] = (uint16_t)((ACTIVE + c) * 4);
}

/* From pixels to the list.  *rim: the word that store_rim() begins with. */
template <bool FULL, typename T>
static __device__ __forceinline__ void make_list(rows_work &w, const rows_image<T> &image,
                                                 rows_there &there, rows_settled &s, uint32_t *rim)
{
    rows_edges edges;
    rows_chosen p;
    begin(w);
    {
        rows_values in;
        rows_levels l;
        if (FULL)
            load_full(w, image, in);
        else
            load_some(w, image, in);
        find_levels(w, in, l);
        if (!FULL) there = find_there(w, in);
        choose<FULL>(w, l, there, p);
        find_edges<FULL>(w, l, there, edges);
    }
    publish(w, p);
    __syncthreads();
    const int on_ring = ring_pixel(w);
    *rim = (uint32_t)w.m.top[on_ring] << 16;
    s.top[OWN_ROWS] = reinterpret_cast<const uint32_t *>(w.m.top)[below(w)];
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++)
        s.top[j] = p.top[j];
    number(w, p);
    __syncthreads();
    begin_names(w);
    settle(w, p, s.comp);
    *rim |= w.m.pixel[on_ring];
    w.m.leave_comp[w.thread] = w.m.pixel[leaving_pixel(w.thread)] & 0x7fff;
    collect(w, edges, s.comp);
    __syncthreads();
}

template <bool FULL, typename T>
static __device__ __forceinline__ void block(rows_work &w, const rows_image<T> &image,
                                             uint32_t *open, uint16_t *saliency)
{
    rows_there there = {EVEN, EVEN, EVEN, EVEN, EVEN, EVEN, EVEN};
    rows_settled s;
    rows_closing e;
    uint32_t rim;
    make_list<FULL>(w, image, there, s, &rim);
    const uint32_t warp = (uint32_t)w.warp, n = w.m.n_list;
    list_part part = {warp * n / WARPS, (warp + 1) * n / WARPS - warp * n / WARPS};
    const uint32_t n_rounds = rounds(w, part);
    name_vertices(w);
    span(w, part);
    store_graph(w);
    store_rim(w, rim);
    close(w, there, max(n_rounds, 1u), s, e, open + (int64_t)blockIdx.x * QFZ_OPEN_ROOM);
    store_levels<FULL>(w, there, e, saliency);
    if (w.thread == 0)
        w.forest.block[blockIdx.x] =
            make_uint2(w.m.first_vertex, w.m.n_open << 16 | w.m.n_vertices);
}

/* ---- The kernel ------------------------------------------------------------------------------ */

/* Four blocks a multiprocessor. */
template <typename T>
static __global__ void __launch_bounds__(THREADS, 4)
    k_rows(qfz_gpu_forest forest, rows_image<T> image, uint32_t *open, uint16_t *saliency)
{
    QFZ_SHARED(rows_memory, m);
    const int thread = (int)threadIdx.x;
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    rows_work w = {*m, forest, box, thread, thread % QFZ_WARP, thread / QFZ_WARP};
    const bool inside =
        box.y > 0 && box.x > 0 && box.y + QFZ_SIDE < forest.h && box.x + QFZ_SIDE < forest.w;
    const bool even =
        forest.w % 2 == 0 && reinterpret_cast<uintptr_t>(image.pixels) % (2 * sizeof(T)) == 0;
    if (inside && even && !image.valid && image.bias == 0)
        block<true>(w, image, open, saliency);
    else
        block<false>(w, image, open, saliency);
}

template <typename T>
static qfz_status launch(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_rows *rows,
                         uint16_t *d_saliency)
{
    const rows_image<T> image = {static_cast<const T *>(edges->d_values), edges->d_valid,
                                 edges->bias};
    return qfz_launch(gpu, k_rows<T>, dim3((unsigned)rows->forest.n_blocks), dim3(THREADS),
                      sizeof(rows_memory), rows->forest, image, rows->open, d_saliency);
}

size_t qfz_rows_shared(void)
{
    return sizeof(rows_memory);
}

qfz_status qfz_rows_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_rows *rows,
                           uint16_t *d_saliency)
{
    return edges->form == QFZ_EDGES_U8 ? launch<uint8_t>(gpu, edges, rows, d_saliency)
                                       : launch<uint16_t>(gpu, edges, rows, d_saliency);
}
