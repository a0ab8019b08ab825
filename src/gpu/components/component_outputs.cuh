/* SPDX-License-Identifier: MIT */
/* component_outputs.cuh - the outputs of component_labels.cu: roots, or labels of regions, and how
 * a block's runs receive them in shared memory. Included there only.
 *
 * prefetch() starts the loads of what a thread needs from global memory, begin() uses them, and
 * label_roots() labels the first runs of components and returns which of a thread's runs these
 * are. */
#pragma once

#include "gpu/components/component_blocks.cuh"

/* The number of the region whose first pixel is at a place of a block. */
QFZ_DEVICE uint32_t region_of(const layout &at, const firsts_view &firsts, uint32_t block_number,
                              uint32_t place)
{
    const uint32_t *const bits = firsts.bits + (int64_t)block_number * WORDS;
    const uint32_t word = place / QFZ_WARP;
    uint32_t region = firsts.before[row_of(at, place_of(at, block_number), place / SIDE)];
    if (word % 2) region += (uint32_t)__popc(bits[word - 1]);
    return region + (uint32_t)__popc(bits[word] & (up_to((int)(place % QFZ_WARP)) >> 1));
}

struct block_runs {
    uint32_t starts[WORDS], valid[WORDS];
    uint32_t before[WORDS]; /* runs that start in earlier words */
    uint32_t sums[WORDS / QFZ_WARP];
    alignas(16) uint32_t label[RUNS]; /* codes, later labels, of runs */
};

enum { CODE_MASK = 0xffff };

/* Loads runs->label[run] = code of the run, eight at a time, the last of which may belong to no
 * run. The loop is not unrolled: it would take registers, and fewer blocks would run at a time. */
QFZ_DEVICE void load_codes(const uint16_t *codes, uint32_t n_runs, block_runs *runs)
{
#pragma unroll 1
    for (uint32_t i = threadIdx.x; 8 * i < n_runs; i += WORDS) {
        const uint4 eight = __ldg(reinterpret_cast<const uint4 *>(codes) + i);
        uint4 *const to = reinterpret_cast<uint4 *>(runs->label) + 2 * i;
        to[0] = make_uint4(eight.x & CODE_MASK, eight.x >> 16, eight.y & CODE_MASK, eight.y >> 16);
        to[1] = make_uint4(eight.z & CODE_MASK, eight.z >> 16, eight.w & CODE_MASK, eight.w >> 16);
    }
}

/* The root of a component on the ring; after k_flatten_ring it is one step away. */
QFZ_DEVICE uint32_t ring_root(const layout &at, uint32_t px)
{
    return qfz_peek(at.parent + px);
}

/* Output: roots. They overwrite the union-find forest in place. Other blocks read only words of
 * first pixels of components on a ring, and what is written there equals what they hold. */
struct roots_out {
    enum { INVALID = -1 };
    struct in_thread {
    };

    QFZ_DEVICE void prefetch(const layout &, const block_place &, in_thread *) const
    {
    }
    QFZ_DEVICE void begin(const layout &, const block_place &, in_thread *) const
    {
    }

    /* The loads from global memory for AT_ONCE runs overlap. */
    QFZ_DEVICE uint32_t label_roots(const layout &at, const block_place &block, uint32_t n_runs,
                                    const in_thread &, block_runs *runs) const
    {
        enum { AT_ONCE = 4 };
        uint32_t roots = 0;
        for (uint32_t i = 0; i * WORDS < n_runs; i += AT_ONCE) {
            const uint32_t first = i * WORDS + threadIdx.x;
            uint32_t code[AT_ONCE], root[AT_ONCE];
            QFZ_EACH (k, AT_ONCE) {
                const uint32_t run = first + k * WORDS;
                code[k] = run < n_runs ? runs->label[run] : 0;
                root[k] = px_of(at, block, code[k] & RUN_NUMBER);
                if (code[k] & RUN_ON_RING) root[k] = ring_root(at, root[k]);
            }
            QFZ_EACH (k, AT_ONCE) {
                if (!(code[k] & RUN_ROOT)) continue;
                runs->label[first + k * WORDS] = root[k];
                roots |= 1u << (i + k);
            }
        }
        return roots;
    }
};

/* Output: labels, and the first pixels of regions. First pixels in a block have consecutive region
 * numbers in each row; only components on the ring that begin in other blocks need a look-up. */
struct labels_out {
    enum { INVALID = 0, RING_EACH = RING / WORDS };
    struct in_thread {
        uint32_t firsts, region;                     /* first pixels in its word, and the region of
                                                      * the first one */
        uint32_t place[RING_EACH], label[RING_EACH]; /* of components that begin in other blocks; or
                                                      * NO_PLACE */
    };
    firsts_view firsts;
    uint32_t *first_px, *n_regions;

    /* Starts loads whose results begin() uses; others can run meanwhile. */
    QFZ_DEVICE void prefetch(const layout &at, const block_place &block, in_thread *own) const
    {
        const uint32_t word = threadIdx.x;
        own->firsts = firsts.bits[(int64_t)blockIdx.x * WORDS + word];
        own->region = firsts.before[row_of(at, block, word / 2)];
        QFZ_EACH (k, RING_EACH)
            own->place[k] = at.ring[(int64_t)blockIdx.x * RING + k * WORDS + word];
        QFZ_EACH (k, RING_EACH) {
            const uint32_t before = __shfl_up_sync(QFZ_ALL_LANES, own->place[k], 1);
            if (word % QFZ_WARP && own->place[k] == before) own->place[k] = NO_PLACE;
            if (own->place[k] != NO_PLACE)
                own->label[k] = ring_root(at, px_of(at, block, own->place[k])); /* the root,
                                                                                 * for now */
        }
    }

    /* Looks up the labels of components that begin in other blocks. */
    QFZ_DEVICE void begin(const layout &at, const block_place &block, in_thread *own) const
    {
        const uint32_t word = threadIdx.x;
        const uint32_t left = __shfl_up_sync(QFZ_ALL_LANES, (uint32_t)__popc(own->firsts), 1);
        if (word % 2) own->region += left;
        QFZ_EACH (k, RING_EACH) {
            if (own->place[k] == NO_PLACE) continue;
            const uint32_t root = own->label[k];
            const uint32_t y = root / (uint32_t)at.w, x = root % (uint32_t)at.w;
            const uint32_t region =
                region_of(at, firsts, y / SIDE * (uint32_t)at.blocks_w + x / SIDE,
                          y % SIDE * SIDE + x % SIDE);
            own->label[k] = region + 1;
            if (root == px_of(at, block, own->place[k])) own->place[k] = NO_PLACE;
        }
        if (blockIdx.x == 0 && word == 0) *n_regions = firsts.before[firsts.n];
    }

    QFZ_DEVICE uint32_t label_roots(const layout &at, const block_place &block, uint32_t n_runs,
                                    const in_thread &own, block_runs *runs) const
    {
        const uint32_t word = threadIdx.x;
        uint32_t region = own.region, roots = 0;
        for (uint32_t k = 0; k * WORDS + word < n_runs; k++)
            roots |= (runs->label[k * WORDS + word] & RUN_ROOT ? 1u : 0) << k;
        const uint32_t starts = runs->starts[word], last = runs->before[word] - 1;
        __syncthreads(); /* all codes have been read */
        for (uint32_t rest = own.firsts; rest; rest &= rest - 1, region++) {
            const int x = __ffs((int)rest) - 1;
            runs->label[last + (uint32_t)__popc(starts & up_to(x))] = region + 1;
            first_px[region] = px_of(at, block, word * QFZ_WARP + (uint32_t)x);
        }
        QFZ_EACH (k, RING_EACH) {
            const uint32_t place = own.place[k];
            if (place == NO_PLACE) continue; /* several threads may have the same place */
            atomicExch(runs->label + run_at(*runs, place / QFZ_WARP, (int)(place % QFZ_WARP)),
                       own.label[k]);
        }
        return roots;
    }
};
