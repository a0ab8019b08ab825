/* SPDX-License-Identifier: MIT */
#include "job/source_sum.h"

#include <string.h>

#include "core/level.h"
#include "core/wide.h"

enum { LANES = 4 };

/* Both halves of a product of 64-bit words. */
static uint64_t fold(uint64_t a, uint64_t b)
{
    const qfz_u128 product = (qfz_u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t word_at(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Odd numbers without a pattern: the fractions of the roots of 2, 3, 5 and 7. */
static const uint64_t odd[LANES] = {UINT64_C(0x6a09e667f3bcc909), UINT64_C(0xbb67ae8584caa73b),
                                    UINT64_C(0x3c6ef372fe94f82b), UINT64_C(0xa54ff53a5f1d36f1)};

static uint64_t sum_bytes(const void *data, size_t n, uint64_t place)
{
    const char *bytes = data;
    const size_t step = sizeof(uint64_t), stride = 2 * LANES * step;
    uint64_t lane[LANES] = {place, place, place, place};
    char rest[2 * LANES * sizeof(uint64_t)] = {0};
    uint64_t sum = n;
    for (; n > stride; n -= stride, bytes += stride)
        for (size_t k = 0; k < LANES; k++)
            lane[k] = fold(word_at(bytes + 2 * k * step) ^ odd[k] ^ lane[k],
                           word_at(bytes + (2 * k + 1) * step) ^ odd[(k + 1) % LANES]);
    if (n > 0) memcpy(rest, bytes, n);
    for (size_t k = 0; k < LANES; k++)
        lane[k] = fold(word_at(rest + 2 * k * step) ^ odd[k] ^ lane[k],
                       word_at(rest + (2 * k + 1) * step) ^ odd[(k + 1) % LANES]);
    for (size_t k = 0; k < LANES; k++)
        sum = fold(sum ^ odd[k], lane[k] ^ odd[(k + 2) % LANES]);
    return sum;
}

uint64_t qfz_source_sum_rows(const qfz_image *tile, const qfz_rows *rows)
{
    const size_t bytes = qfz_type_bytes(tile->type), row_bytes = bytes * (size_t)tile->w;
    uint64_t sum = 0;
    for (int64_t b = 0; b < tile->n_bands; b++)
        for (int64_t y = rows->y0; y < rows->y1; y++) {
            const int64_t at = b * rows->plane_px + (y - rows->y0) * tile->w;
            sum += sum_bytes((const char *)rows->pixels + (size_t)at * bytes, row_bytes,
                             (uint64_t)(b * tile->h + y));
        }
    return sum;
}

uint64_t qfz_source_sum_beside(const qfz_image *tile, int n_dirs)
{
    const size_t n = (size_t)(tile->h * tile->w);
    uint64_t sum = 0;
    if (tile->valid) sum += sum_bytes(tile->valid, n, 1);
    if (tile->edges) sum += sum_bytes(tile->edges, n * (size_t)n_dirs * sizeof *tile->edges, 2);
    return sum;
}
