/* SPDX-License-Identifier: MIT */
/* races.cc - detects races in shared memory, by the definition of compute-sanitizer's racecheck:
 * two threads of a block access one byte without a barrier in between (or, in a warp, a
 * __syncwarp()), and one access is a write that is not atomic.  Such a pair of accesses is a race
 * whatever the order in which the schedule ran them.
 *
 * Kernels are compiled for ThreadSanitizer; the functions of this file replace its library.  At
 * the end the program prints the races as addresses for addr2line, and fails. */
#include "races.h"

#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace
{
enum { MANY = 48 };
enum kind { READ, WRITE, ATOMIC };
const char *const kind_names[] = {"read", "write", "atomic"};

struct access {
    int thread;
    kind how;
    uint64_t warp_barriers;
    uintptr_t at;
};

struct shared_byte {
    uint64_t barriers = 0;
    std::vector<access> accesses; /* since then; one per thread */
};

thread_local std::unordered_map<uintptr_t, shared_byte> *bytes;
std::mutex lock;
typedef std::tuple<uintptr_t, kind, uintptr_t, kind> race;
std::map<race, uint64_t> *races; /* number of occurrences */
uintptr_t program, static_bytes; /* size of __shared__ and other thread_local variables */

int look_at_program(dl_phdr_info *info, size_t, void *)
{
    program = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) &part = info->dlpi_phdr[i];
        if (part.p_type == PT_TLS)
            static_bytes = (part.p_memsz + part.p_align - 1) / part.p_align * part.p_align;
    }
    return 1; /* the program comes first */
}

void tell()
{
    const std::lock_guard<std::mutex> guard(lock);
    for (const auto &found : *races)
        fprintf(stderr, "race: %s at 0x%lx, %s at 0x%lx, %lu times\n",
                kind_names[std::get<1>(found.first)], std::get<0>(found.first) - program,
                kind_names[std::get<3>(found.first)], std::get<2>(found.first) - program,
                found.second);
    if (!races->empty()) _exit(1);
}

void begin()
{
    races = new std::map<race, uint64_t>;
    (void)dl_iterate_phdr(look_at_program, nullptr);
    (void)atexit(tell);
}

bool is_race(const access &a, const access &b)
{
    const bool one_warp = a.thread / 32 == b.thread / 32;
    if (a.thread == b.thread || (one_warp && a.warp_barriers != b.warp_barriers)) return false;
    return a.how == WRITE || b.how == WRITE;
}

void look_at_byte(shared_byte *byte, uint64_t barriers, const access &now, bool counts)
{
    if (byte->barriers != barriers) byte->accesses.clear();
    byte->barriers = barriers;
    bool is_known = false;
    for (const access &before : byte->accesses) {
        is_known |= before.thread == now.thread && before.how == now.how &&
                    before.warp_barriers == now.warp_barriers;
        if (!counts || !is_race(before, now)) continue;
        const std::lock_guard<std::mutex> guard(lock);
        ++(*races)[race(before.at, before.how, now.at, now.how)];
    }
    /* Where many threads read one byte, a few of the reads suffice to detect a race with a write.
     */
    if (!is_known && (now.how == WRITE || byte->accesses.size() < MANY))
        byte->accesses.push_back(now);
}

void look(const volatile void *memory, size_t n_bytes, kind how, void *return_address)
{
    static std::once_flag once;
    sim_moment now;
    if (!sim_now(&now)) return;
    std::call_once(once, begin);
    const uintptr_t first = (uintptr_t)memory;
    const uintptr_t statics_end = (uintptr_t)__builtin_thread_pointer(); /* x86-64 */
    const bool is_static = first >= statics_end - static_bytes && first < statics_end;
    const bool is_dynamic = first >= (uintptr_t)now.shared && first < (uintptr_t)now.shared_end;
    if (!is_static && !is_dynamic) return;
    if (!bytes) bytes = new std::unordered_map<uintptr_t, shared_byte>;
    const access self = {now.thread, how, now.warp_barriers, (uintptr_t)return_address - 1};
    for (size_t i = 0; i < n_bytes; i++)
        look_at_byte(&(*bytes)[first + i], now.barriers, self, i == 0);
}
} // namespace

/* ---- Functions that the compiler calls, under the names that it uses ------------------------- */
#define LOOK(how, n) look(p, n, how, __builtin_return_address(0))
#define ACCESSES(n)                                                                                \
    void __tsan_read##n(void *p)                                                                   \
    {                                                                                              \
        LOOK(READ, n);                                                                             \
    }                                                                                              \
    void __tsan_write##n(void *p)                                                                  \
    {                                                                                              \
        LOOK(WRITE, n);                                                                            \
    }                                                                                              \
    void __tsan_unaligned_read##n(void *p)                                                         \
    {                                                                                              \
        LOOK(READ, n);                                                                             \
    }                                                                                              \
    void __tsan_unaligned_write##n(void *p)                                                        \
    {                                                                                              \
        LOOK(WRITE, n);                                                                            \
    }
#define UPDATE(bits, T, name)                                                                      \
    T __tsan_atomic##bits##_##name(volatile T *p, T value, int)                                    \
    {                                                                                              \
        LOOK(ATOMIC, sizeof(T));                                                                   \
        return __atomic_##name(p, value, __ATOMIC_RELAXED);                                        \
    }
#define ATOMICS(bits, T)                                                                           \
    T __tsan_atomic##bits##_load(const volatile T *p, int)                                         \
    {                                                                                              \
        LOOK(ATOMIC, sizeof(T));                                                                   \
        return __atomic_load_n(p, __ATOMIC_RELAXED);                                               \
    }                                                                                              \
    T __tsan_atomic##bits##_exchange(volatile T *p, T value, int)                                  \
    {                                                                                              \
        LOOK(ATOMIC, sizeof(T));                                                                   \
        return __atomic_exchange_n(p, value, __ATOMIC_RELAXED);                                    \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile T *p, T *expected, T value, int,    \
                                                      int)                                         \
    {                                                                                              \
        LOOK(ATOMIC, sizeof(T));                                                                   \
        return __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_RELAXED,            \
                                           __ATOMIC_RELAXED);                                      \
    }                                                                                              \
    UPDATE(bits, T, fetch_add)                                                                     \
    UPDATE(bits, T, fetch_or)                                                                      \
    UPDATE(bits, T, fetch_and)

extern "C" {
void __tsan_init()
{
}
void __tsan_func_entry(void *)
{
}
void __tsan_func_exit()
{
}
void __tsan_atomic_thread_fence(int)
{
}
void __tsan_read_range(void *p, size_t n)
{
    LOOK(READ, n);
}
void __tsan_write_range(void *p, size_t n)
{
    LOOK(WRITE, n);
}
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
}
