/* SPDX-License-Identifier: MIT */
/* launch.cuh - replaces src/gpu/device/launch.cuh when src/gpu/ is compiled for the simulator. */
#pragma once

#include <tuple>

#include "gpu/device/device.cuh"

template <typename... P> struct sim_call {
    void (*kernel)(P...);
    std::tuple<P...> args;
};

template <typename... P> static void sim_body(void *arg)
{
    const auto *const call = static_cast<const sim_call<P...> *>(arg);
    std::apply(call->kernel, call->args);
}

template <typename... P, typename... A>
static inline qfz_status qfz_launch(qfz_gpu *gpu, void (*kernel)(P...), dim3 grid, dim3 block,
                                    size_t shared_bytes, A... args)
{
    if (grid.x == 0 || grid.y == 0) return QFZ_OK;
    if (block.x * block.y * block.z > 1024 || shared_bytes > gpu->shared_max || grid.y > 65535 ||
        grid.z > 65535)
        return qfz_fail(gpu->err, QFZ_EGPU, "GPU: kernel launch: blocks or grid too large");
    sim_flush(gpu->stream);
    sim_call<P...> call{kernel, std::tuple<P...>(static_cast<P>(args)...)};
    sim_run(grid, block, shared_bytes, sim_body<P...>, &call);
    return qfz_gpu_check(gpu->err, cudaGetLastError(), "kernel launch");
}

template <typename... P, typename... A>
static inline qfz_status qfz_launch_each(qfz_gpu *gpu, void (*kernel)(P...), int64_t n, int block,
                                         A... args)
{
    return qfz_launch(gpu, kernel, dim3(qfz_launch_blocks(n, block)), dim3((unsigned)block), 0,
                      args...);
}

#define QFZ_SHARED(TYPE, name) TYPE *const name = static_cast<TYPE *>(sim_dynamic_shared())
