/* SPDX-License-Identifier: MIT */
/* sim.cc - the scheduler: fibers of one block take turns on one host thread.
 *
 * A fiber runs until it waits (barrier, warp operation), ends, or, at random, switches to another
 * fiber.  If a round over all fibers of a block finds none that can run, the block is deadlocked.
 */
#include "cuda_pipeline_primitives.h"
#include "races.h"
#include "sim.h"

#include <sys/mman.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <sched.h>
#include <thread>
#include <vector>

extern "C" void sim_switch(void **save, void *load);

namespace
{
enum { MAX_FIBERS = 1024, STACK_BYTES = 1 << 18, HOST_THREADS = 3, WARP = 32 };

struct warp_wait { /* the warp operation for which a lane waits */
    sim_vote vote;
    unsigned mask;
    uint64_t value;
    int from;
    uint64_t result;
};

struct fiber {
    sim_place place;
    void *stack_pointer;
    bool waits, done;
    bool in_warp_wait;
    warp_wait wait;
    std::vector<sim_copy> copies;
};

struct worker { /* one host thread and the block that it runs */
    fiber fibers[MAX_FIBERS];
    char *stacks = nullptr; /* STACK_BYTES per fiber */
    void *own_stack_pointer = nullptr;
    fiber *current = nullptr;
    int n_fibers = 0, n_alive = 0;
    int n_at_barrier = 0, barrier_sum = 0, barrier_result = 0;
    uint64_t barriers = 0; /* barriers, and starts of blocks */
    uint64_t warp_barriers[MAX_FIBERS / WARP] = {};
    void (*body)(void *) = nullptr;
    void *arg = nullptr;
    std::vector<uint64_t> shared;
    uint64_t random = 1;
};

thread_local worker *me = nullptr;
std::atomic<uint64_t> seed{1};

uint64_t next_random(worker *w)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random;
}

void leave(worker *w)
{
    fiber *const self = w->current;
    sim_switch(&self->stack_pointer, w->own_stack_pointer);
}

/* All living fibers have reached the barrier. */
void open_barrier(worker *w)
{
    w->barriers++;
    w->barrier_result = w->barrier_sum;
    w->n_at_barrier = w->barrier_sum = 0;
    for (int i = 0; i < w->n_fibers; i++)
        if (!w->fibers[i].in_warp_wait) w->fibers[i].waits = false;
}

void fiber_main()
{
    worker *const w = me;
    w->body(w->arg);
    w->current->done = true;
    w->n_alive--;
    if (w->n_at_barrier > 0 && w->n_at_barrier == w->n_alive) /* only this fiber was missing */
        open_barrier(w);
    leave(w);
}

[[noreturn]] void stuck(const worker *w)
{
    const fiber *const f = w->current ? w->current : w->fibers;
    fprintf(stderr, "sim: block (%u,%u) can never go on\n", f->place.block.x, f->place.block.y);
    for (int i = 0; i < w->n_fibers; i++) {
        const fiber *const t = &w->fibers[i];
        if (t->done) continue;
        if (t->in_warp_wait)
            fprintf(stderr, "  thread %d: warp operation %d, mask %08x\n", i, (int)t->wait.vote,
                    t->wait.mask);
        else
            fprintf(stderr, "  thread %d: barrier\n", i);
    }
    abort();
}

void prepare(worker *w, dim3 grid, dim3 block_size, dim3 block)
{
    w->n_fibers = w->n_alive = (int)(block_size.x * block_size.y * block_size.z);
    w->n_at_barrier = w->barrier_sum = 0;
    w->barriers++;
    for (int i = 0; i < w->n_fibers; i++) {
        fiber *const f = &w->fibers[i];
        const unsigned x = (unsigned)i % block_size.x, yz = (unsigned)i / block_size.x;
        *f = fiber{};
        f->place = {dim3(x, yz % block_size.y, yz / block_size.y), block, block_size, grid};
        void **top = (void **)(void *)(w->stacks + (size_t)(i + 1) * STACK_BYTES);
        *--top = nullptr; /* keeps the stack aligned as after a call */
        *--top = (void *)fiber_main;
        for (int r = 0; r < 6; r++)
            *--top = nullptr;
        f->stack_pointer = top;
    }
    std::memset(w->shared.data(), 0xa5, w->shared.size() * sizeof(uint64_t));
}

void run_block(worker *w)
{
    while (w->n_alive > 0) {
        bool any = false;
        const int start = (int)(next_random(w) % (unsigned)w->n_fibers);
        const int step = next_random(w) % 2 ? 1 : w->n_fibers - 1;
        for (int k = 0, i = start; k < w->n_fibers; k++, i = (i + step) % w->n_fibers) {
            fiber *const f = &w->fibers[i];
            if (f->done || f->waits) continue;
            any = true;
            w->current = f;
            sim_here = &f->place;
            sim_switch(&w->own_stack_pointer, f->stack_pointer);
        }
        if (!any) stuck(w);
    }
}

/* ---- Warps ----------------------------------------------------------------------------------- */

uint64_t shuffled(const fiber *warp, const fiber *lane)
{
    const int from = lane->wait.from;
    if (from == SIM_OWN) return lane->wait.value;
    const bool there = lane->wait.mask >> from & 1;
    return there ? warp[from].wait.value : 0xbadbadbadbadbadull; /* undefined on a GPU */
}

uint64_t outcome(const fiber *warp, const fiber *lane)
{
    const warp_wait *const own = &lane->wait;
    if (own->vote == SIM_SHFL) return shuffled(warp, lane);
    uint64_t r = own->vote == SIM_MIN || own->vote == SIM_ALL_BITS ? UINT64_MAX : 0;
    for (int i = 0; i < WARP; i++) {
        if (!(own->mask >> i & 1)) continue;
        const uint64_t value = warp[i].wait.value;
        switch (own->vote) {
        case SIM_BALLOT: r |= (uint64_t)(value != 0) << i; break;
        case SIM_MATCH: r |= (uint64_t)(value == own->value) << i; break;
        case SIM_ADD: r += value; break;
        case SIM_MIN: r = value < r ? value : r; break;
        case SIM_MAX: r = value > r ? value : r; break;
        case SIM_ANY_BIT: r |= value; break;
        case SIM_ALL_BITS: r &= value; break;
        default: break;
        }
    }
    return r;
}

bool complete(const fiber *warp, int n_lanes, const warp_wait *wait)
{
    for (int i = 0; i < WARP; i++) {
        if (!(wait->mask >> i & 1)) continue;
        if (i >= n_lanes || !warp[i].in_warp_wait || warp[i].wait.mask != wait->mask ||
            warp[i].wait.vote != wait->vote)
            return false;
    }
    return true;
}
} // namespace

thread_local sim_place *sim_here = nullptr;

void sim_seed(uint64_t s)
{
    seed = s * 2654435761u + 88172645463325252ull;
}

bool sim_now(sim_moment *now)
{
    const worker *const w = me;
    if (!w) return false;
    const int thread = (int)(w->current - w->fibers);
    const char *const shared = (const char *)w->shared.data();
    *now = {thread, w->barriers, w->warp_barriers[thread / WARP], shared,
            shared + w->shared.size() * sizeof(uint64_t)};
    return true;
}

void *sim_dynamic_shared()
{
    return me->shared.data();
}

std::vector<sim_copy> &sim_copies()
{
    return me->current->copies;
}

void sim_maybe_yield()
{
    worker *const w = me;
    if (!w) return; /* called outside a kernel */
    const uint64_t r = next_random(w) >> 20;
    if (r % 64 == 0) (void)sched_yield();
    if (r % 8 == 0) leave(w);
}

int sim_barrier(sim_reduce reduce, int value)
{
    worker *const w = me;
    /* For SIM_AND the sum counts zero values, so that one sum serves all three reductions. */
    w->barrier_sum += reduce == SIM_AND ? value == 0 : value != 0;
    w->n_at_barrier++;
    if (w->n_at_barrier == w->n_alive) {
        open_barrier(w);
        leave(w);
    } else {
        w->current->waits = true;
        leave(w);
    }
    const int sum = w->barrier_result;
    return reduce == SIM_COUNT ? sum : reduce == SIM_AND ? sum == 0 : sum != 0;
}

int sim_lane()
{
    return (int)(me->current - me->fibers) % WARP;
}

uint64_t sim_warp(sim_vote vote, unsigned mask, uint64_t value, int from)
{
    worker *const w = me;
    fiber *const self = w->current;
    const int index = (int)(self - w->fibers), first = index / WARP * WARP;
    fiber *const warp = w->fibers + first;
    const int n_lanes = w->n_fibers - first < WARP ? w->n_fibers - first : WARP;
    if (!(mask >> (index - first) & 1)) {
        fprintf(stderr, "sim: thread %d is not in the mask %08x of its warp operation %d\n", index,
                mask, (int)vote);
        abort();
    }
    /* Lanes beyond a short last warp do not exist, as on a GPU. */
    if (n_lanes < WARP) mask &= (1u << n_lanes) - 1;
    self->wait = {vote, mask, value, from, 0};
    self->in_warp_wait = self->waits = true;
    if (complete(warp, n_lanes, &self->wait)) {
        for (int i = 0; i < n_lanes; i++)
            if (mask >> i & 1) warp[i].wait.result = outcome(warp, &warp[i]);
        for (int i = 0; i < n_lanes; i++)
            if (mask >> i & 1) warp[i].in_warp_wait = warp[i].waits = false;
        w->warp_barriers[index / WARP] += vote == SIM_SYNC;
        if (next_random(w) % 4 == 0) leave(w);
    } else {
        leave(w);
    }
    return self->wait.result;
}

/* ---- Launches -------------------------------------------------------------------------------- */

namespace
{
struct launch {
    dim3 grid, block;
    size_t shared_bytes;
    void (*body)(void *);
    void *arg;
    uint64_t seed;
    std::vector<int64_t> order; /* random order of blocks */
    std::atomic<int64_t> next{0};
};

worker *new_worker()
{
    worker *const w = new worker;
    void *const memory = mmap(nullptr, (size_t)MAX_FIBERS * STACK_BYTES, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) abort();
    w->stacks = static_cast<char *>(memory);
    return w;
}

void run_blocks(worker *w, launch *l, uint64_t own_seed)
{
    w->random = own_seed | 1;
    w->body = l->body;
    w->arg = l->arg;
    w->shared.resize((l->shared_bytes + 15) / 16 * 2);
    me = w;
    for (int64_t i; (i = l->next++) < (int64_t)l->order.size();) {
        const int64_t b = l->order[(size_t)i];
        const unsigned x = (unsigned)(b % l->grid.x), yz = (unsigned)(b / l->grid.x);
        prepare(w, l->grid, l->block, dim3(x, yz % l->grid.y, yz / l->grid.y));
        run_block(w);
    }
    me = nullptr;
    sim_here = nullptr;
}

/* Host threads that live as long as the program; they run one launch at a time. */
struct pool {
    std::mutex one_launch, lock;
    std::condition_variable wake, finished;
    launch *current = nullptr;
    uint64_t n_launches = 0;
    int n_busy = 0;
    worker *of_caller = new_worker();

    pool()
    {
        for (int i = 1; i < HOST_THREADS; i++)
            std::thread([this, i] { serve(i); }).detach();
    }

    [[noreturn]] void serve(int i)
    {
        worker *const w = new_worker();
        for (uint64_t seen = 0;;) {
            std::unique_lock<std::mutex> guard(lock);
            wake.wait(guard, [&] { return n_launches > seen && current; });
            seen = n_launches;
            launch *const l = current;
            n_busy++;
            guard.unlock();
            run_blocks(w, l, l->seed * (uint64_t)(2 * i + 1));
            guard.lock();
            if (--n_busy == 0) finished.notify_all();
        }
    }

    void run(launch *l)
    {
        const std::lock_guard<std::mutex> one(one_launch);
        {
            const std::lock_guard<std::mutex> guard(lock);
            current = l;
            n_launches++;
        }
        if (l->order.size() > 1) wake.notify_all();
        run_blocks(of_caller, l, l->seed);
        std::unique_lock<std::mutex> guard(lock);
        current = nullptr;
        finished.wait(guard, [&] { return n_busy == 0; });
    }
};
} // namespace

void sim_run(dim3 grid, dim3 block, size_t shared_bytes, void (*body)(void *), void *arg)
{
    static pool *const threads = new pool; /* outlives every static object */
    if (!sim_note_launch()) return;
    launch l;
    l.grid = grid;
    l.block = block;
    l.shared_bytes = shared_bytes;
    l.body = body;
    l.arg = arg;
    l.seed = seed += 0x9e3779b97f4a7c15ull;
    l.order.resize((size_t)grid.x * grid.y * grid.z);
    std::iota(l.order.begin(), l.order.end(), 0);
    uint64_t random = l.seed | 1;
    for (size_t i = l.order.size(); i > 1; i--) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        std::swap(l.order[i - 1], l.order[(random >> 33) % i]);
    }
    threads->run(&l);
}
