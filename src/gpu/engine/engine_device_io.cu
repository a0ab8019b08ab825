/* SPDX-License-Identifier: MIT */
/* engine_device_io.cu - tiles and results of the CUDA engine in device memory of the caller.
 *
 * Everything happens in the worker's stream.  At the beginning that stream waits for the caller's,
 * and at the end the caller's stream waits for the worker's; so the caller sees the order of its
 * own stream.  Pixels and results are copied within the device; only counts go to the host. */
#include "gpu/device/edge_reader.cuh"
#include "gpu/device/launch.cuh"
#include "gpu/engine/worker.cuh"

namespace
{
enum { BLOCK = 256 };

/* What follows in stream `later` comes after what stream `earlier` has been given so far. */
qfz_status wait_for(qfz_worker *worker, cudaStream_t later, cudaStream_t earlier)
{
    QFZ_TRY_CUDA(worker->gpu.err, cudaEventRecord(worker->to, earlier));
    QFZ_TRY_CUDA(worker->gpu.err, cudaStreamWaitEvent(later, worker->to, 0));
    return QFZ_OK;
}

qfz_status begin(qfz_worker *worker, void *stream, qfz_error *err)
{
    QFZ_TRY(qfz_worker_enter(worker, err));
    return wait_for(worker, worker->gpu.stream, static_cast<cudaStream_t>(stream));
}

qfz_status end(qfz_worker *worker, void *stream)
{
    return wait_for(worker, static_cast<cudaStream_t>(stream), worker->gpu.stream);
}

qfz_status copy(qfz_worker *worker, void *d_to, const void *d_from, size_t bytes)
{
    if (bytes == 0) return QFZ_OK;
    QFZ_TRY_CUDA(worker->gpu.err, cudaMemcpyAsync(d_to, d_from, bytes, cudaMemcpyDeviceToDevice,
                                                  worker->gpu.stream));
    return QFZ_OK;
}

qfz_pixel_grid grid_of(const qfz_worker *worker)
{
    return {worker->image.h, worker->image.w, worker->image.d_valid};
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* n levels from number `first` on.  65535 of 16 bits stands for "no edge" too, which has 32 bits
 * here.  edges: as qfz_gpu_image.d_edges, or NULL. */
__global__ void __launch_bounds__(BLOCK)
    k_widen_levels(qfz_pixel_grid grid, const uint32_t *__restrict__ edges,
                   const uint16_t *__restrict__ narrow, int64_t first, int64_t n,
                   uint32_t *__restrict__ wide)
{
    const int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x, i = first + k;
    const int64_t n_px = (int64_t)grid.h * grid.w;
    if (k >= n) return;
    const uint32_t level = narrow[i];
    const bool none = level == UINT16_MAX && (!grid.has_edge(i % n_px, (int)(i / n_px)) ||
                                              (edges && edges[i] == QFZ_NONE));
    wide[k] = none ? QFZ_NONE : level;
}

__global__ void __launch_bounds__(BLOCK)
    k_widen(const uint16_t *__restrict__ narrow, int64_t n, uint32_t *__restrict__ wide)
{
    const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) wide[i] = narrow[i];
}

/* Bit d: the edge in direction d exists and has a level of at most alpha_level. */
__global__ void __launch_bounds__(BLOCK)
    k_joins(qfz_pixel_grid grid, int n_dirs, const uint32_t *__restrict__ levels,
            uint32_t alpha_level, uint8_t *__restrict__ joins)
{
    const int64_t n = (int64_t)grid.h * grid.w, p = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (p >= n) return;
    unsigned bits = 0;
    for (int d = 0; d < n_dirs; d++)
        bits |= (unsigned)(levels[d * n + p] <= alpha_level && grid.has_edge(p, d)) << d;
    joins[p] = (uint8_t)bits;
}

/* ---- Input ----------------------------------------------------------------------------------- */

/* The tile's size and type; its validity lies in, or is copied to, device memory, and its levels of
 * edges lie there. */
qfz_status begin_tile(qfz_worker *worker, const qfz_image *tile, qfz_error *err)
{
    qfz_image blind = *tile;
    blind.pixels = NULL;
    blind.valid = NULL;
    blind.edges = NULL;
    return qfz_engine_cuda.load(worker, &blind, err);
}

qfz_status copy_valid(qfz_worker *worker, const qfz_image *tile)
{
    const size_t n = qfz_worker_px(worker);
    if (!tile->valid) return QFZ_OK;
    if (tile->memory == QFZ_MEMORY_DEVICE && qfz_worker_makes_nan(worker))
        return qfz_gpu_make_nan(&worker->gpu, tile->valid, (int64_t)n,
                                static_cast<float *>(worker->d_pixels));
    worker->image.d_valid = worker->d_valid;
    if (tile->memory == QFZ_MEMORY_DEVICE) return copy(worker, worker->d_valid, tile->valid, n);
    return qfz_worker_up(worker, worker->d_valid, tile->valid, n);
}

qfz_status copy_edges(qfz_worker *worker, const qfz_image *tile)
{
    const qfz_rule *const rule = worker->spec.rule;
    if (!rule->edge_levels) return QFZ_OK;
    worker->image.d_edges = worker->d_edges;
    return copy(worker, worker->d_edges, tile->edges,
                (size_t)qfz_n_dirs(rule) * qfz_worker_px(worker) * sizeof *tile->edges);
}
} // namespace

qfz_status qfz_device_load(qfz_worker *worker, const qfz_image *tile, void *stream, qfz_error *err)
{
    const size_t px_bytes = qfz_type_bytes(tile->type) * (size_t)tile->n_bands;
    QFZ_TRY(begin(worker, stream, err));
    QFZ_TRY(begin_tile(worker, tile, err));
    QFZ_TRY(copy(worker, worker->d_pixels, tile->pixels, qfz_worker_px(worker) * px_bytes));
    QFZ_TRY(copy_valid(worker, tile));
    QFZ_TRY(copy_edges(worker, tile));
    return end(worker, stream);
}

qfz_status qfz_device_load_cut(qfz_worker *worker, const qfz_image *image, const uint32_t *levels,
                               uint32_t alpha_level, void *stream, qfz_error *err)
{
    qfz_image tile = *image;
    tile.type = QFZ_U8;
    tile.n_bands = 1;
    QFZ_TRY(begin(worker, stream, err));
    QFZ_TRY(begin_tile(worker, &tile, err));
    QFZ_TRY(copy_valid(worker, &tile));
    QFZ_TRY(qfz_launch_each(&worker->gpu, k_joins, (int64_t)qfz_worker_px(worker), BLOCK,
                            grid_of(worker), qfz_n_dirs(worker->spec.rule), levels, alpha_level,
                            static_cast<uint8_t *>(worker->d_pixels)));
    return end(worker, stream);
}

/* ---- Results --------------------------------------------------------------------------------- */

qfz_status qfz_device_labels(qfz_worker *worker, uint32_t *labels, void *stream, qfz_error *err)
{
    qfz_region_room *const room = &worker->regions;
    const size_t n = qfz_worker_px(worker);
    QFZ_TRY(begin(worker, stream, err));
    QFZ_TRY(qfz_regions_need_names(worker));
    QFZ_TRY(qfz_gpu_regions_labels(&worker->gpu, &room->on_device, room->d_name, 0, (int64_t)n,
                                   false, room->d_work));
    QFZ_TRY(copy(worker, labels, room->d_work, n * sizeof *labels));
    return end(worker, stream);
}

qfz_status qfz_device_paint(qfz_worker *worker, int band, const void *invalid, void *out,
                            void *stream, qfz_error *err)
{
    const size_t bytes = qfz_worker_px(worker) * qfz_type_bytes(worker->image.type);
    QFZ_TRY(begin(worker, stream, err));
    QFZ_TRY(qfz_regions_paint_on_device(worker, band, NULL, invalid, err));
    QFZ_TRY(copy(worker, out, worker->regions.d_work, bytes));
    return end(worker, stream);
}

qfz_status qfz_device_widen_levels(qfz_worker *worker, size_t first, size_t n, uint32_t *d_wide)
{
    return qfz_launch_each(&worker->gpu, k_widen_levels, (int64_t)n, BLOCK, grid_of(worker),
                           worker->image.d_edges,
                           static_cast<const uint16_t *>(worker->levels.d_saliency), (int64_t)first,
                           (int64_t)n, d_wide);
}

qfz_status qfz_device_saliency(qfz_worker *worker, uint32_t *levels, void *stream, qfz_error *err)
{
    const qfz_gpu_edges edges = qfz_largest_edges(&worker->spec);
    const size_t n = (size_t)qfz_n_dirs(worker->spec.rule) * qfz_worker_px(worker);
    QFZ_TRY(begin(worker, stream, err));
    QFZ_TRY(qfz_edges_send(worker));
    QFZ_TRY(qfz_levels_work(worker, QFZ_PART_SALIENCY));
    if (qfz_gpu_is_narrow(&edges))
        QFZ_TRY(qfz_device_widen_levels(worker, 0, n, levels));
    else
        QFZ_TRY(copy(worker, levels, worker->levels.d_saliency, n * sizeof *levels));
    return end(worker, stream);
}

static qfz_status clear(qfz_worker *worker, void *d_level, size_t bytes)
{
    return qfz_gpu_fill(&worker->gpu, static_cast<char *>(d_level), 0, (int64_t)bytes);
}

static qfz_status widen(qfz_worker *worker, void *d_to, const void *d_level, size_t bytes)
{
    const int64_t n = (int64_t)(bytes / sizeof(uint32_t));
    return qfz_launch_each(&worker->gpu, k_widen, n, BLOCK, static_cast<const uint16_t *>(d_level),
                           n, static_cast<uint32_t *>(d_to));
}

qfz_status qfz_device_tree(qfz_worker *worker, uint32_t *parent, uint32_t *level, int64_t *n_nodes,
                           void *stream, qfz_error *err)
{
    const qfz_tree_out out = {copy, clear, widen};
    QFZ_TRY(begin(worker, stream, err));
    QFZ_TRY(qfz_trees_work(worker));
    QFZ_TRY(qfz_trees_fetch(worker, &out, parent, level, n_nodes));
    return end(worker, stream);
}

qfz_status qfz_device_fetch(qfz_device device, void *to, const void *from, int64_t bytes,
                            void *stream, qfz_error *err)
{
    const cudaStream_t theirs = static_cast<cudaStream_t>(stream);
    QFZ_TRY_CUDA(err, cudaSetDevice(device.index));
    QFZ_TRY_CUDA(err, cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToHost, theirs));
    QFZ_TRY_CUDA(err, cudaStreamSynchronize(theirs));
    return QFZ_OK;
}
