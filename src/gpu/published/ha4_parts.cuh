/* SPDX-License-Identifier: MIT */
/* ha4_parts.cuh - sums over pixels of one row, for ha4_features.cu: positions from bits, and values
 * from prefix sums that restart at each segment. */
#pragma once

#include "gpu/published/segments.cuh"
#include "gpu/device/pixel_type.cuh"
#include "gpu/device/warp.cuh"

/* The join of the values from the start of a pixel's segment, `distance` before, to the pixel. */
template <typename V, typename JOIN>
QFZ_DEVICE V since_start(V value, int distance, const JOIN &join)
{
#pragma unroll
    for (int step = 1; step < QFZ_WARP; step *= 2) {
        const V other = __shfl_up_sync(QFZ_ALL_LANES, value, (unsigned)step);
        if (distance >= step) value = join(value, other);
    }
    return value;
}

/* The sum over all lanes. */
QFZ_DEVICE uint64_t warp_add(uint64_t value)
{
#pragma unroll
    for (int lanes = QFZ_WARP / 2; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(QFZ_ALL_LANES, value, lanes);
    return value;
}

/* What one pass gathers. */
enum { PLACE = 1, VALUES = 2 };

/* Sums over some pixels of one row; columns are counted from the first of the warp's piece. */
template <typename T, int WHAT> struct ha4_part {
    uint32_t count, sum_x, x0, x1;
    uint64_t sum, square[2];
    uint32_t least, greatest;

    QFZ_DEVICE void clear()
    {
        count = sum_x = x1 = greatest = 0;
        x0 = least = UINT32_MAX;
        sum = square[0] = square[1] = 0;
    }

    QFZ_DEVICE void join(const ha4_part &other)
    {
        count += other.count;
        if (WHAT & PLACE) {
            sum_x += other.sum_x;
            x0 = min(x0, other.x0);
            x1 = max(x1, other.x1);
        }
        if (!(WHAT & VALUES)) return;
        sum += other.sum;
        square[0] += other.square[0];
        if (sizeof(T) == 4) square[1] += other.square[1];
        least = min(least, other.least);
        greatest = max(greatest, other.greatest);
    }

    /* Sets the positions of n pixels from column `first` on. */
    QFZ_DEVICE void set_place(uint32_t first, uint32_t n)
    {
        count = n;
        sum_x = n * first + n * (n - 1) / 2;
        x0 = first;
        x1 = first + n;
    }

    /* Sums over values from the start of the lane's segment to the lane. All lanes call. */
    QFZ_DEVICE void set_values(T value, int distance)
    {
        const auto add = [](auto a, auto b) { return a + b; };
        const uint32_t order = order_of(value);
        const uint64_t wide = (uint64_t)(int64_t)value, own = wide * wide;
        sum = since_start(wide, distance, add);
        if (sizeof(T) == 4) {
            square[0] = since_start(own & UINT32_MAX, distance, add);
            square[1] = since_start(own >> 32, distance, add);
        } else {
            square[0] = since_start(own, distance, add);
        }
        least = since_start(order, distance, [](uint32_t a, uint32_t b) { return min(a, b); });
        greatest = since_start(order, distance, [](uint32_t a, uint32_t b) { return max(a, b); });
    }
};

/* The join of all lanes' parts. */
template <typename T, int WHAT> QFZ_DEVICE ha4_part<T, WHAT> warp_part(const ha4_part<T, WHAT> &own)
{
    ha4_part<T, WHAT> all = own;
    all.count = qfz_warp_add(own.count);
    if (WHAT & PLACE) {
        all.sum_x = qfz_warp_add(own.sum_x);
        all.x0 = qfz_warp_min(own.x0);
        all.x1 = qfz_warp_max(own.x1);
    }
    if (WHAT & VALUES) {
        all.sum = warp_add(own.sum);
        all.square[0] = warp_add(own.square[0]);
        if (sizeof(T) == 4) all.square[1] = warp_add(own.square[1]);
        all.least = qfz_warp_min(own.least);
        all.greatest = qfz_warp_max(own.greatest);
    }
    return all;
}
