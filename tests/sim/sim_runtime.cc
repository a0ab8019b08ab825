/* SPDX-License-Identifier: MIT */
#include "sim.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace
{
enum { MAX_DEVICES = 64 };
std::atomic<int> n_devices{1};
std::atomic<bool> was_used[MAX_DEVICES];
std::atomic<int> shared_bytes{227 << 10};
std::atomic<int> compute_capability{90};
constexpr int n_multiprocessors = 4;
std::atomic<int64_t> fail_in{0};
std::atomic<bool> fail_all{false};
std::atomic<bool> start_fails{false};
std::atomic<int64_t> n_calls{0}, fail_call{0};
std::atomic<bool> fail_later_calls{false};
std::atomic<int64_t> n_live{0}; /* allocations, page-locked ranges, streams and events */
std::atomic<int> start_ms{0};
std::atomic<int64_t> allocated{0}, most_allocated{0}, n_late{0};
std::atomic<bool> has_launched{false};
thread_local int device = 0;
thread_local cudaError_t last = cudaSuccess;
const size_t memory_bytes = (size_t)4 << 30;

cudaError_t tell(cudaError_t error)
{
    if (error != cudaSuccess) last = error;
    return error;
}

/* Counts a call; true if the test lets this call fail. */
bool call_fails()
{
    const int64_t n = ++n_calls, at = fail_call;
    if (at == 0 || (n != at && !(fail_later_calls && n > at))) return false;
    (void)tell(cudaErrorUnknown);
    return true;
}

struct header { /* before each allocation */
    size_t bytes;
    char fill[248];
};

/* The guard after each allocation: a change means that memory was planned too small. */
constexpr int guard_byte = 0x5c;
constexpr size_t guard_bytes = 4096;

void check_guard(const header *h)
{
    const unsigned char *const end = (const unsigned char *)(h + 1) + h->bytes;
    for (size_t i = 0; i < guard_bytes; i++) {
        if (end[i] == guard_byte) continue;
        std::fprintf(stderr, "device memory of %zu bytes: written %zu bytes after its end\n",
                     h->bytes, i);
        std::abort();
    }
}

struct transfer {
    void *to;
    const void *from;
    size_t bytes;
};

std::mutex locked_mutex;
std::map<const char *, size_t> locked; /* page-locked memory: address and bytes */

bool is_locked(const void *p)
{
    const std::lock_guard<std::mutex> guard(locked_mutex);
    auto after = locked.upper_bound(static_cast<const char *>(p));
    if (after == locked.begin()) return false;
    --after;
    return static_cast<const char *>(p) < after->first + after->second;
}
} // namespace

/* A stream, which one host thread at a time uses, as src/gpu/ does. */
struct sim_stream {
    int device;
    std::deque<transfer> waiting;
    int64_t n_done, n_requested; /* transfers since the stream was created */

    void flush(int64_t end)
    {
        for (; n_done < end; n_done++, waiting.pop_front()) {
            const transfer &t = waiting.front();
            std::memcpy(t.to, t.from, t.bytes);
        }
    }
};

struct sim_event {
    std::chrono::steady_clock::time_point at;
    cudaStream_t stream; /* the stream of the record, and its transfers at that time */
    int64_t n_requested;
};

void sim_flush(cudaStream_t stream)
{
    if (stream) stream->flush(stream->n_requested);
}

void sim_set_devices(int n)
{
    n_devices = n;
    for (std::atomic<bool> &used : was_used)
        used = false;
}

int sim_was_used(int d)
{
    return was_used[d];
}

void sim_set_shared(int64_t bytes)
{
    shared_bytes = (int)bytes;
}

void sim_set_compute_capability(int times_ten)
{
    compute_capability = times_ten;
}

void sim_fail_start(int fails)
{
    start_fails = fails != 0;
}

void sim_slow_start(int ms)
{
    start_ms = ms;
}

void sim_fail_allocation(int64_t n, int all)
{
    fail_in = n;
    fail_all = all != 0;
}

void sim_fail_call(int64_t n, int all)
{
    n_calls = 0;
    fail_call = n;
    fail_later_calls = all != 0;
}

int64_t sim_calls()
{
    return n_calls;
}

int64_t sim_live()
{
    return n_live;
}

static bool fails()
{
    if (fail_in == 0 || --fail_in > 0) return false;
    if (fail_all) fail_in = 1;
    return true;
}

void sim_watch_memory()
{
    most_allocated = allocated.load();
    n_late = 0;
    has_launched = false;
}

int64_t sim_most_bytes()
{
    return most_allocated;
}

int64_t sim_late_allocations()
{
    return n_late;
}

bool sim_note_launch()
{
    has_launched = true;
    return !call_fails();
}

static void note_allocation(size_t bytes)
{
    const int64_t now = allocated += (int64_t)bytes;
    int64_t most = most_allocated;
    while (most < now && !most_allocated.compare_exchange_weak(most, now)) {
    }
    n_late += has_launched;
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    if (call_fails()) return cudaErrorUnknown;
    if (fails()) return tell(cudaErrorMemoryAllocation);
    if (allocated + (int64_t)bytes > (int64_t)memory_bytes) return tell(cudaErrorMemoryAllocation);
    header *h = nullptr;
    if (posix_memalign((void **)&h, 256, sizeof(header) + bytes + guard_bytes) != 0)
        return tell(cudaErrorMemoryAllocation);
    h->bytes = bytes;
    n_live++;
    note_allocation(bytes);
    *p = h + 1;
    std::memset(*p, 0xa5, bytes);
    std::memset(static_cast<char *>(*p) + bytes, guard_byte, guard_bytes);
    return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
    if (!p) return cudaSuccess;
    header *const h = static_cast<header *>(p) - 1;
    check_guard(h);
    allocated -= (int64_t)h->bytes;
    n_live--;
    free(h);
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned)
{
    if (call_fails()) return cudaErrorUnknown;
    if (fails()) return tell(cudaErrorMemoryAllocation);
    note_allocation(0);
    const std::lock_guard<std::mutex> guard(locked_mutex);
    n_live += locked.emplace(static_cast<const char *>(p), bytes).second;
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *p)
{
    const std::lock_guard<std::mutex> guard(locked_mutex);
    n_live -= (int64_t)locked.erase(static_cast<const char *>(p));
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    if (call_fails()) return cudaErrorUnknown;
    if (bytes) std::memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    if (stream && kind == cudaMemcpyHostToDevice && is_locked(from)) {
        if (call_fails()) return cudaErrorUnknown;
        stream->waiting.push_back({to, from, bytes});
        stream->n_requested++;
        return cudaSuccess;
    }
    sim_flush(stream);
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
    if (call_fails()) return cudaErrorUnknown;
    if (bytes) std::memset(p, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    sim_flush(stream);
    return cudaMemset(p, value, bytes);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    if (call_fails()) return cudaErrorUnknown;
    if (start_fails) return tell(cudaErrorDevicesUnavailable);
    std::this_thread::sleep_for(std::chrono::milliseconds(start_ms));
    *stream = new sim_stream{device, {}, 0, 0};
    n_live++;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    sim_flush(stream);
    delete stream;
    n_live--;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (call_fails()) return cudaErrorUnknown;
    sim_flush(stream);
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
    if (call_fails()) return cudaErrorUnknown;
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    if (call_fails()) return cudaErrorUnknown;
    *event = new sim_event{};
    n_live++;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    n_live--;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    if (call_fails()) return cudaErrorUnknown;
    event->stream = stream;
    event->n_requested = stream ? stream->n_requested : 0;
    event->at = std::chrono::steady_clock::now();
    return cudaSuccess;
}

/* What the stream waits for is done at once. */
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t event, unsigned)
{
    return cudaEventSynchronize(event);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (call_fails()) return cudaErrorUnknown;
    if (event->stream) event->stream->flush(event->n_requested);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    if (call_fails()) return cudaErrorUnknown;
    *ms = std::chrono::duration<float, std::milli>(to->at - from->at).count();
    return cudaSuccess;
}

cudaError_t cudaGetLastError()
{
    const cudaError_t error = last;
    last = cudaSuccess;
    return error;
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    default: return "unknown error";
    }
}

cudaError_t cudaDriverGetVersion(int *version)
{
    if (call_fails()) return cudaErrorUnknown;
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *n)
{
    if (call_fails()) return cudaErrorUnknown;
    *n = n_devices;
    return *n > 0 ? cudaSuccess : tell(cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int d)
{
    if (call_fails()) return cudaErrorUnknown;
    if (d < 0 || d >= n_devices) return tell(cudaErrorInvalidDevice);
    device = d;
    was_used[d] = true;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *d)
{
    if (call_fails()) return cudaErrorUnknown;
    *d = device;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int d)
{
    if (call_fails()) return cudaErrorUnknown;
    if (d < 0 || d >= n_devices) return tell(cudaErrorInvalidDevice);
    *properties = cudaDeviceProp{};
    std::strcpy(properties->name, "simulator");
    properties->major = compute_capability / 10;
    properties->minor = compute_capability % 10;
    properties->multiProcessorCount = n_multiprocessors;
    properties->totalGlobalMem = memory_bytes;
    properties->sharedMemPerBlockOptin = (size_t)shared_bytes;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int d)
{
    if (call_fails()) return cudaErrorUnknown;
    if (d < 0 || d >= n_devices) return tell(cudaErrorInvalidDevice);
    switch (attribute) {
    case cudaDevAttrMultiProcessorCount: *value = n_multiprocessors; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = shared_bytes; break;
    case cudaDevAttrComputeCapabilityMajor: *value = compute_capability / 10; break;
    case cudaDevAttrComputeCapabilityMinor: *value = compute_capability % 10; break;
    }
    return cudaSuccess;
}
