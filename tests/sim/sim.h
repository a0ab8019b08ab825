/* SPDX-License-Identifier: MIT */
/* sim.h - CUDA on the host, for tests: every thread of a block is a fiber, blocks run on several
 * host threads in a shuffled order, and every operation on shared state may switch to another fiber
 * or host thread at random.  So wrong votes, missing barriers and lost updates become visible
 * without a GPU, and a deadlocked block is reported.
 *
 * The simulator does not model weak memory: the host orders stores more strictly than a GPU. */
#ifndef QFZ_SIM_H
#define QFZ_SIM_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

/* ---- Language -------------------------------------------------------------------------------- */

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __shared__ static thread_local
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};
struct uchar4 {
    unsigned char x, y, z, w;
};
struct ushort2 {
    unsigned short x, y;
};
struct ushort4 {
    unsigned short x, y, z, w;
};
struct __attribute__((aligned(8))) uint2 {
    unsigned x, y;
};
struct uint3 {
    unsigned x, y, z;
};
struct __attribute__((aligned(16))) uint4 {
    unsigned x, y, z, w;
};
struct __attribute__((aligned(8))) int2 {
    int x, y;
};
struct __attribute__((aligned(16))) int4 {
    int x, y, z, w;
};
struct __attribute__((aligned(16))) ulonglong2 {
    unsigned long long x, y;
};
static inline uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w)
{
    return uchar4{x, y, z, w};
}
static inline ushort2 make_ushort2(unsigned short x, unsigned short y)
{
    return ushort2{x, y};
}
static inline ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z,
                                   unsigned short w)
{
    return ushort4{x, y, z, w};
}
static inline uint2 make_uint2(unsigned x, unsigned y)
{
    return uint2{x, y};
}
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return uint4{x, y, z, w};
}
static inline int2 make_int2(int x, int y)
{
    return int2{x, y};
}
static inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y)
{
    return ulonglong2{x, y};
}

/* ---- The running thread ---------------------------------------------------------------------- */

struct sim_fiber;
struct sim_place {
    dim3 thread, block, block_size, grid_size;
};
extern thread_local sim_place *sim_here;
#define threadIdx (sim_here->thread)
#define blockIdx (sim_here->block)
#define blockDim (sim_here->block_size)
#define gridDim (sim_here->grid_size)

void *sim_dynamic_shared();
void sim_maybe_yield();

/* Runs body once per thread of the grid; returns when all are done. */
void sim_run(dim3 grid, dim3 block, size_t shared_bytes, void (*body)(void *), void *arg);

/* ---- Barriers -------------------------------------------------------------------------------- */

enum sim_reduce { SIM_OR, SIM_AND, SIM_COUNT };
int sim_barrier(sim_reduce reduce, int value);
static inline void __syncthreads()
{
    (void)sim_barrier(SIM_OR, 0);
}
static inline int __syncthreads_or(int value)
{
    return sim_barrier(SIM_OR, value);
}
static inline int __syncthreads_and(int value)
{
    return sim_barrier(SIM_AND, value);
}
static inline int __syncthreads_count(int value)
{
    return sim_barrier(SIM_COUNT, value);
}

/* ---- Warps ----------------------------------------------------------------------------------- */

enum sim_vote {
    SIM_SYNC,
    SIM_SHFL,
    SIM_BALLOT,
    SIM_MATCH,
    SIM_ADD,
    SIM_MIN,
    SIM_MAX,
    SIM_ANY_BIT,
    SIM_ALL_BITS
};
enum { SIM_OWN = -1 }; /* shuffle: the lane's own value */
uint64_t sim_warp(sim_vote vote, unsigned mask, uint64_t value, int from);
int sim_lane();

static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
    (void)sim_warp(SIM_SYNC, mask, 0, 0);
}

template <typename T> static inline T sim_shuffle(unsigned mask, T value, int from)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "shuffles move 8 bytes at most");
    uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    word = sim_warp(SIM_SHFL, mask, word, from);
    std::memcpy(&value, &word, sizeof value);
    return value;
}
template <typename T> static inline T __shfl_sync(unsigned mask, T value, int from, int width = 32)
{
    const int lane = sim_lane();
    return sim_shuffle(mask, value, (lane & ~(width - 1)) | (from & (width - 1)));
}
template <typename T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    const int lane = sim_lane(), from = lane - (int)delta;
    return sim_shuffle(mask, value, from < (lane & ~(width - 1)) ? SIM_OWN : from);
}
template <typename T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    const int lane = sim_lane(), from = lane + (int)delta;
    return sim_shuffle(mask, value, from > (lane | (width - 1)) ? SIM_OWN : from);
}
template <typename T>
static inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32)
{
    const int lane = sim_lane(), from = lane ^ lanes;
    return sim_shuffle(mask, value, from > (lane | (width - 1)) ? SIM_OWN : from);
}
static inline unsigned __ballot_sync(unsigned mask, int value)
{
    return (unsigned)sim_warp(SIM_BALLOT, mask, value != 0, 0);
}
static inline int __any_sync(unsigned mask, int value)
{
    return __ballot_sync(mask, value) != 0;
}
static inline int __all_sync(unsigned mask, int value)
{
    return __ballot_sync(mask, !value) == 0;
}
template <typename T> static inline unsigned __match_any_sync(unsigned mask, T value)
{
    uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    return (unsigned)sim_warp(SIM_MATCH, mask, word, 0);
}
static inline unsigned __reduce_add_sync(unsigned mask, unsigned value)
{
    return (unsigned)sim_warp(SIM_ADD, mask, value, 0);
}
static inline unsigned __reduce_min_sync(unsigned mask, unsigned value)
{
    return (unsigned)sim_warp(SIM_MIN, mask, value, 0);
}
static inline unsigned __reduce_max_sync(unsigned mask, unsigned value)
{
    return (unsigned)sim_warp(SIM_MAX, mask, value, 0);
}
static inline unsigned __reduce_or_sync(unsigned mask, unsigned value)
{
    return (unsigned)sim_warp(SIM_ANY_BIT, mask, value, 0);
}
static inline unsigned __reduce_and_sync(unsigned mask, unsigned value)
{
    return (unsigned)sim_warp(SIM_ALL_BITS, mask, value, 0);
}

/* ---- Atomics --------------------------------------------------------------------------------- */

#define SIM_ATOMIC(T)                                                                              \
    static inline T atomicCAS(T *word, T expected, T value)                                        \
    {                                                                                              \
        sim_maybe_yield();                                                                         \
        __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_RELAXED,               \
                                    __ATOMIC_RELAXED);                                             \
        sim_maybe_yield();                                                                         \
        return expected;                                                                           \
    }                                                                                              \
    static inline T atomicExch(T *word, T value)                                                   \
    {                                                                                              \
        sim_maybe_yield();                                                                         \
        const T was = __atomic_exchange_n(word, value, __ATOMIC_RELAXED);                          \
        sim_maybe_yield();                                                                         \
        return was;                                                                                \
    }                                                                                              \
    static inline T atomicAdd(T *word, T value)                                                    \
    {                                                                                              \
        sim_maybe_yield();                                                                         \
        return __atomic_fetch_add(word, value, __ATOMIC_RELAXED);                                  \
    }                                                                                              \
    static inline T atomicOr(T *word, T value)                                                     \
    {                                                                                              \
        sim_maybe_yield();                                                                         \
        return __atomic_fetch_or(word, value, __ATOMIC_RELAXED);                                   \
    }                                                                                              \
    static inline T atomicAnd(T *word, T value)                                                    \
    {                                                                                              \
        sim_maybe_yield();                                                                         \
        return __atomic_fetch_and(word, value, __ATOMIC_RELAXED);                                  \
    }                                                                                              \
    static inline T atomicMin(T *word, T value)                                                    \
    {                                                                                              \
        sim_maybe_yield();                                                                         \
        T was = __atomic_load_n(word, __ATOMIC_RELAXED);                                           \
        while (value < was && !__atomic_compare_exchange_n(word, &was, value, false,               \
                                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED))    \
            ;                                                                                      \
        sim_maybe_yield();                                                                         \
        return was;                                                                                \
    }                                                                                              \
    static inline T atomicMax(T *word, T value)                                                    \
    {                                                                                              \
        sim_maybe_yield();                                                                         \
        T was = __atomic_load_n(word, __ATOMIC_RELAXED);                                           \
        while (was < value && !__atomic_compare_exchange_n(word, &was, value, false,               \
                                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED))    \
            ;                                                                                      \
        sim_maybe_yield();                                                                         \
        return was;                                                                                \
    }
SIM_ATOMIC(int)
SIM_ATOMIC(unsigned)
SIM_ATOMIC(unsigned long long)
#undef SIM_ATOMIC
static inline unsigned atomicSub(unsigned *word, unsigned value)
{
    return atomicAdd(word, 0u - value);
}

static inline void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    sim_maybe_yield();
}
static inline void __threadfence_block()
{
    __threadfence();
}
template <typename T> static inline T __ldg(const T *p)
{
    return *p;
}
template <typename T> static inline T __ldcs(const T *p)
{
    return *p;
}
template <typename T> static inline T __ldcg(const T *p)
{
    sim_maybe_yield();
    return *(const volatile T *)p;
}
static inline uint2 __ldcg(const uint2 *p)
{
    const unsigned *const word = (const unsigned *)p;
    return uint2{__ldcg(word), __ldcg(word + 1)};
}
static inline uint4 __ldcg(const uint4 *p)
{
    const unsigned *const word = (const unsigned *)p;
    return uint4{__ldcg(word), __ldcg(word + 1), __ldcg(word + 2), __ldcg(word + 3)};
}
template <typename T> static inline void __stcs(T *p, T value)
{
    *p = value;
}
template <typename T> static inline void __stcg(T *p, T value)
{
    *p = value;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static inline int min(int a, int b)
{
    return a < b ? a : b;
}
static inline unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}
static inline int max(int a, int b)
{
    return a > b ? a : b;
}
static inline unsigned max(unsigned a, unsigned b)
{
    return a > b ? a : b;
}
#define SIM_MIN_MAX(T)                                                                             \
    static inline T min(T a, T b)                                                                  \
    {                                                                                              \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    static inline T max(T a, T b)                                                                  \
    {                                                                                              \
        return a > b ? a : b;                                                                      \
    }
SIM_MIN_MAX(long)
SIM_MIN_MAX(unsigned long)
SIM_MIN_MAX(long long)
SIM_MIN_MAX(unsigned long long)
SIM_MIN_MAX(float)
SIM_MIN_MAX(double)
#undef SIM_MIN_MAX
static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
static inline int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
static inline int __clz(int x)
{
    return x ? __builtin_clz((unsigned)x) : 32;
}
static inline int __clzll(long long x)
{
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}
static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}
static inline int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}
static inline unsigned __brev(unsigned x)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (x >> i & 1u) << (31 - i);
    return r;
}
static inline unsigned long long __brevll(unsigned long long x)
{
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift)
{
    const uint64_t both = (uint64_t)hi << 32 | lo;
    return (unsigned)(both << (shift & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift)
{
    const uint64_t both = (uint64_t)hi << 32 | lo;
    return (unsigned)(both >> (shift & 31));
}
static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
    const uint64_t both = (uint64_t)b << 32 | a;
    unsigned r = 0;
    for (int i = 0; i < 4; i++)
        r |= (unsigned)(both >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    return r;
}
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum)
{
    for (int i = 0; i < 32; i += 8)
        sum += (a >> i & 255) * (b >> i & 255);
    return sum;
}
template <typename F> static inline unsigned sim_bytes(unsigned a, unsigned b, F f)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i += 8)
        r |= (f(a >> i & 255, b >> i & 255) & 255) << i;
    return r;
}
template <typename F> static inline unsigned sim_halves(unsigned a, unsigned b, F f)
{
    return (f(a & 0xffff, b & 0xffff) & 0xffff) | (f(a >> 16, b >> 16) & 0xffff) << 16;
}
#define SIM_VIDEO(name, expression)                                                                \
    static inline unsigned name##4(unsigned a, unsigned b)                                         \
    {                                                                                              \
        return sim_bytes(a, b, [](unsigned x, unsigned y) { return (unsigned)(expression); });     \
    }                                                                                              \
    static inline unsigned name##2(unsigned a, unsigned b)                                         \
    {                                                                                              \
        return sim_halves(a, b, [](unsigned x, unsigned y) { return (unsigned)(expression); });    \
    }
SIM_VIDEO(__vabsdiffu, x > y ? x - y : y - x)
SIM_VIDEO(__vmaxu, x > y ? x : y)
SIM_VIDEO(__vminu, x < y ? x : y)
SIM_VIDEO(__vcmpeq, x == y ? 0xffffffffu : 0u)
SIM_VIDEO(__vcmpleu, x <= y ? 0xffffffffu : 0u)
SIM_VIDEO(__vcmpgtu, x > y ? 0xffffffffu : 0u)
SIM_VIDEO(__vseteq, x == y)
SIM_VIDEO(__vsetleu, x <= y)
#undef SIM_VIDEO
static inline unsigned __float_as_uint(float x)
{
    unsigned r;
    std::memcpy(&r, &x, sizeof r);
    return r;
}
static inline float __uint_as_float(unsigned x)
{
    float r;
    std::memcpy(&r, &x, sizeof r);
    return r;
}
static inline long long __double_as_longlong(double x)
{
    long long r;
    std::memcpy(&r, &x, sizeof r);
    return r;
}
static inline double __longlong_as_double(long long x)
{
    double r;
    std::memcpy(&r, &x, sizeof r);
    return r;
}
static inline float __fsqrt_rn(float x)
{
    return std::sqrt(x);
}
static inline double __dsqrt_rn(double x)
{
    return std::sqrt(x);
}
static inline float __fadd_rn(float a, float b)
{
    return a + b;
}
static inline float __fsub_rn(float a, float b)
{
    return a - b;
}
static inline float __fmul_rn(float a, float b)
{
    return a * b;
}
static inline double __dadd_rn(double a, double b)
{
    return a + b;
}
static inline double __dsub_rn(double a, double b)
{
    return a - b;
}
static inline double __dmul_rn(double a, double b)
{
    return a * b;
}
static inline float __double2float_rn(double x)
{
    return (float)x;
}
static inline float __ull2float_rn(unsigned long long x)
{
    return (float)x;
}
static inline float __uint2float_rn(unsigned x)
{
    return (float)x;
}
static inline double __ull2double_rn(unsigned long long x)
{
    return (double)x;
}
using std::isinf;
using std::isnan;

#include "sim_control.h"
#include "sim_runtime.h"

#endif
