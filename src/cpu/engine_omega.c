/* SPDX-License-Identifier: MIT */
/* engine_omega.c - (alpha, omega)-regions of the CPU engine: numbered, counted, added up, painted.
 *
 * The pixels' values are gathered by stop, one block after the other, while the block's stops are
 * in the cache; everything else is done once per stop.  So regions first have numbers in order of
 * discovery, and are then put in order of first pixels by rank. */
#include <string.h>

#include "core/exterior_fits.h"
#include "cpu/worker.h"
#include "core/memory.h"
#include "cpu/fetch.h"
#include "cpu/narrow_row.h"

qfz_status qfz_cpu_omega_open(qfz_worker *worker, int64_t h, int64_t w, qfz_error *err)
{
    QFZ_TRY(qfz_omega_contraction_init(&worker->omega, worker->rule, h, w, QFZ_CPU_BLOCK_SIDE,
                                       worker->n_threads, err));
    QFZ_TRY(QFZ_NEW_LARGE(&worker->mark, worker->omega.c.max_vertices, err));
    QFZ_TRY(QFZ_NEW_LARGE(&worker->region_of, h * w, err));
    QFZ_TRY(QFZ_NEW_LARGE(&worker->first, h * w, err));
    QFZ_TRY(QFZ_NEW_LARGE(&worker->count, h * w, err));
    QFZ_TRY(QFZ_NEW_LARGE(&worker->sums, h * w * qfz_sum_words(worker->rule->type), err));
    return qfz_alloc_large(&worker->means, h * w, qfz_cpu_means_bytes(worker->rule), err);
}

/* ---- Pixels by stop. */

/* By stop of a block: the number of pixels, and in the low half the sum of their values in one
 * band, each less the least value of its type; narrow types only.  Lies in the working memory of
 * one thread, while no image is being contracted. */
enum { COUNT_SHIFT = 32 };
typedef struct by_stop {
    uint64_t part[QFZ_CPU_BLOCK_PX];
    uint16_t first[QFZ_CPU_BLOCK_PX]; /* the first pixel, y * QFZ_CPU_BLOCK_SIDE + x */
} by_stop;

static bool is_narrow(qfz_type type)
{
    return qfz_type_bytes(type) <= 2;
}

/* The least value of a narrow type. */
static int64_t least_of(qfz_type type)
{
    return type == QFZ_I8 ? INT8_MIN : type == QFZ_I16 ? INT16_MIN : 0;
}

static void gather_px(uint64_t *part, uint32_t stop, uint16_t value)
{
    part[stop] += (UINT64_C(1) << COUNT_SHIFT) + value;
}

/* Four parts of the row in turn: pixels side by side often have one stop, and each would wait for
 * the store of the one before.  First pixels from the last one to the first, so that the first one
 * of each stop remains. */
static void gather_row(const uint16_t *stop, const uint16_t *values, int64_t w, int64_t place,
                       by_stop *t)
{
    enum { PARTS = 4 };
    const int64_t n = w / PARTS;
    for (int64_t x = 0; x < n; x++)
        for (int64_t k = x; k < PARTS * n; k += n)
            gather_px(t->part, stop[k], values[k]);
    for (int64_t x = PARTS * n; x < w; x++)
        gather_px(t->part, stop[x], values[x]);
    for (int64_t x = w - 1; x >= 0; x--)
        t->first[stop[x]] = (uint16_t)(place + x);
}

static void gather_block(const qfz_worker *worker, const qfz_stop_block *block, int band,
                         by_stop *t)
{
    const qfz_image *const tile = &worker->tile;
    const int64_t w = qfz_box_w(block->box);
    const size_t bytes = qfz_type_bytes(tile->type);
    const uint16_t offset = (uint16_t)-least_of(tile->type);
    uint16_t values[QFZ_CPU_BLOCK_SIDE] = {
        0}; /* zero for types that are not narrow, which add_rows() adds up */
    memset(t->part, 0, block->n * sizeof *t->part);
    for (int64_t y = qfz_box_h(block->box) - 1; y >= 0; y--) {
        const int64_t at = (band * tile->h + block->box.y0 + y) * tile->w + block->box.x0;
        const char *const row = (const char *)tile->pixels + (size_t)at * bytes;
        if (y >= QFZ_FETCH_ROWS)
            qfz_fetch(row - QFZ_FETCH_ROWS * tile->w * (int64_t)bytes, w * (int64_t)bytes);
        if (is_narrow(tile->type)) qfz_narrow_row(tile->type, row, offset, w, values);
        gather_row(block->stop + y * w, values, w, y * QFZ_CPU_BLOCK_SIDE, t);
    }
}

static by_stop *memory_of(const qfz_worker *worker)
{
    return worker->omega.c.scratch;
}

static uint32_t count_of(uint64_t part)
{
    return (uint32_t)(part >> COUNT_SHIFT);
}

/* The sum of n values, given the sum of their differences from the least value. */
static int64_t sum_of(uint64_t above, uint32_t n, qfz_type type)
{
    return (int64_t)above + n * least_of(type);
}

/* ---- Regions. */

/* Regions in discovery order; the arrays alias memory that is unused until place_regions(). */
typedef struct regions {
    uint32_t *leads_to; /* by stop: the stop that represents its region */
    uint32_t *first;    /* first pixel, in the blocks so far */
    uint32_t *count;
    uint64_t *above; /* sums of the values in the first band, as in by_stop */
} regions;

/* In region_of: the rest of the number is a border region, of which no pixel has been visited. */
static const uint32_t is_open_border = 1u << 31;

/* Returns the number, from 1 on, of a stop's region: that of the stop leads_to[stop] or of the
 * border region, or a new one. */
static uint32_t visit_stop(qfz_worker *worker, uint32_t stop, const uint32_t *leads_to)
{
    uint32_t *const own = &worker->region_of[stop], *const at = &worker->region_of[leads_to[stop]];
    if (*at & is_open_border) {
        uint32_t *const border_region = &worker->border_region_of[*at & ~is_open_border];
        if (*border_region == QFZ_NONE) *border_region = worker->n_regions++;
        *own = *border_region + 1;
    } else {
        if (*at == 0) *at = ++worker->n_regions;
        *own = *at;
    }
    return *own;
}

static void visit_block(qfz_worker *worker, const qfz_stop_block *block, const by_stop *t,
                        const regions *found)
{
    const qfz_image *const tile = &worker->tile;
    for (uint32_t s = 0; s < block->n; s++) {
        const uint64_t part = t->part[s];
        if (part == 0) continue; /* a stop without pixels */
        const int64_t y = block->box.y0 + t->first[s] / QFZ_CPU_BLOCK_SIDE;
        const int64_t x = block->box.x0 + t->first[s] % QFZ_CPU_BLOCK_SIDE;
        const uint32_t px = (uint32_t)(y * tile->w + x), n_before = worker->n_regions;
        if (tile->valid && !tile->valid[px]) continue;
        const uint32_t r = visit_stop(worker, block->first + s, found->leads_to) - 1;
        const bool is_new = r == n_before;
        if (is_new || px < found->first[r]) found->first[r] = px;
        found->count[r] = (is_new ? 0 : found->count[r]) + count_of(part);
        found->above[r] = (is_new ? 0 : found->above[r]) + (uint32_t)part;
    }
}

/* The number of bits set before bit `at`; before[k] is that number for the first bit of word k. */
static uint32_t rank_of(const uint64_t *bits, const uint32_t *before, int64_t at)
{
    const uint64_t lower = bits[at / 64] & ((UINT64_C(1) << at % 64) - 1);
    return before[at / 64] + (uint32_t)__builtin_popcountll(lower);
}

/* Replaces each region's first pixel by the region's place in the order of first pixels.  before:
 * memory for one word per 64 pixels. */
static void order_regions(qfz_worker *worker, uint32_t *first, uint32_t *before)
{
    const int64_t h = worker->tile.h, w = worker->tile.w, n_words = h * w / 64 + 1;
    uint64_t *const bits = worker->is_border;
    uint32_t n = 0;
    memset(bits, 0, (size_t)n_words * sizeof *bits);
    for (uint32_t r = 0; r < worker->n_regions; r++)
        bits[first[r] / 64] |= UINT64_C(1) << first[r] % 64;
    for (int64_t k = 0; k < n_words; k++) {
        before[k] = n;
        n += (uint32_t)__builtin_popcountll(bits[k]);
    }
    for (int64_t y = 0; y <= h; y++)
        worker->row_before[y] = rank_of(bits, before, y * w);
    for (uint32_t r = 0; r < worker->n_regions; r++) {
        const uint32_t place = rank_of(bits, before, first[r]);
        worker->first[place] = first[r];
        first[r] = place;
    }
}

/* Moves everything from discovery order to places. */
static void place_regions(qfz_worker *worker, const regions *found, const uint32_t *place)
{
    const qfz_type type = worker->tile.type;
    const int words = qfz_sum_words(type);
    const uint32_t n = worker->n_regions;
    for (uint32_t r = 0; r < n; r++)
        worker->count[place[r]] = found->count[r];
    memset(worker->sums, 0, n * (size_t)words * sizeof *worker->sums); /* overwrites found->count */
    for (uint32_t r = 0; is_narrow(type) && r < n; r++)
        qfz_sum_add(worker->sums + (int64_t)words * place[r],
                    sum_of(found->above[r], worker->count[place[r]], type));
    worker->summed = is_narrow(type) ? 0 : -1;
    for (uint32_t stop = 0; stop < worker->omega.n_stops; stop++) {
        uint32_t *const own = &worker->region_of[stop];
        if (*own & is_open_border) *own = 0; /* a stop without pixels */
        if (*own) *own = place[*own - 1] + 1;
    }
    for (uint32_t s = 0; s < worker->n_border_regions; s++)
        worker->border_region_of[s] = place[worker->border_region_of[s]];
}

/* False if a border region of the exterior has no pixel: the exterior is of other pixels. */
static bool find_regions(qfz_worker *worker, const regions *found)
{
    const qfz_cpu_blocks *const in = &worker->omega.c.layout;
    by_stop *const t = memory_of(worker);
    worker->n_regions = 0;
    for (int64_t i = 0; i < in->n_y * in->n_x; i++) {
        const qfz_stop_block block = qfz_omega_contraction_block(&worker->omega, i);
        gather_block(worker, &block, 0, t);
        visit_block(worker, &block, t, found);
    }
    for (uint32_t s = 0; s < worker->n_border_regions; s++)
        if (worker->border_region_of[s] == QFZ_NONE) return false;
    order_regions(worker, found->first, found->leads_to);
    place_regions(worker, found, found->first);
    return true;
}

qfz_status qfz_cpu_omega_find(qfz_worker *worker, const qfz_exterior *exterior, qfz_error *err)
{
    const qfz_image *const tile = &worker->tile;
    qfz_omega_contraction *const o = &worker->omega;
    if (exterior) QFZ_TRY(qfz_exterior_fits(exterior, tile, err));
    uint32_t *const leads_to = (uint32_t *)worker->sums;
    const regions found = {leads_to, worker->border_of, leads_to + worker->max_h * worker->max_w,
                           worker->name};
    if (worker->resumed != QFZ_CACHED_GRAPH)
        QFZ_TRY(qfz_omega_contract(o, tile, exterior != NULL, err));
    worker->resumed = QFZ_CACHED_NOTHING;
    QFZ_TRY(
        qfz_omega_contraction_regions(o, exterior ? exterior->omega_level : NULL, leads_to, err));
    memset(worker->region_of, 0, o->n_stops * sizeof *worker->region_of);
    worker->n_border_regions = exterior ? exterior->n_border_regions : 0;
    memset(worker->border_region_of, 0xff,
           worker->n_border_regions * sizeof *worker->border_region_of);
    for (int64_t i = 0; exterior && i < exterior->n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(tile->h, tile->w, i, &y, &x);
        if (exterior->border_region[i] != QFZ_NONE)
            worker->region_of[leads_to[qfz_omega_contraction_stop(o, y, x)]] =
                exterior->border_region[i] | is_open_border;
    }
    if (find_regions(worker, &found)) return QFZ_OK;
    worker->n_regions = worker->n_border_regions = 0;
    return qfz_fail(err, QFZ_EIO,
                    "a border region has no pixel in this one: the source has changed since the "
                    "first pass");
}

/* ---- Means. */

static void add_block(qfz_worker *worker, const qfz_stop_block *block, int band, by_stop *t)
{
    const qfz_type type = worker->tile.type;
    const int words = qfz_sum_words(type);
    const uint32_t *const region = worker->region_of + block->first;
    gather_block(worker, block, band, t);
    for (uint32_t s = 0; s < block->n; s++)
        if (region[s])
            qfz_sum_add(worker->sums + (int64_t)words * (region[s] - 1),
                        sum_of((uint32_t)t->part[s], count_of(t->part[s]), type));
}

static void add_rows(qfz_worker *worker, int band)
{
    const qfz_image *const tile = &worker->tile;
    const size_t row_bytes = (size_t)tile->w * qfz_type_bytes(tile->type);
    const char *row = (const char *)tile->pixels + (size_t)(band * tile->h) * row_bytes;
    for (int64_t y = 0; y < tile->h; y++, row += row_bytes) {
        qfz_omega_contraction_row(&worker->omega, y, worker->region_of, worker->row);
        qfz_sum_add_regions(worker->sums, tile->type, row, worker->row, tile->w);
    }
}

static void add_up(qfz_worker *worker, int band)
{
    const qfz_cpu_blocks *const in = &worker->omega.c.layout;
    const size_t words = worker->n_regions * (size_t)qfz_sum_words(worker->tile.type);
    if (worker->summed == band) return;
    worker->summed = band;
    memset(worker->sums, 0, words * sizeof *worker->sums);
    if (!is_narrow(worker->tile.type)) {
        add_rows(worker, band);
        return;
    }
    for (int64_t i = 0; i < in->n_y * in->n_x; i++) {
        const qfz_stop_block block = qfz_omega_contraction_block(&worker->omega, i);
        add_block(worker, &block, band, memory_of(worker));
    }
}

/* The mean of each region in one band, in the raster's type. */
static void *means_of(const qfz_worker *worker, int band)
{
    const size_t plane_bytes = worker->n_regions * qfz_type_bytes(worker->tile.type);
    return (char *)worker->means + (size_t)band * plane_bytes;
}

/* Computes the means of all regions, from the tile's own pixels. */
static void find_means(qfz_worker *worker, int band)
{
    const qfz_type type = worker->tile.type;
    const int words = qfz_sum_words(type);
    const size_t bytes = qfz_type_bytes(type);
    char *const means = means_of(worker, band);
    add_up(worker, band);
    for (uint32_t r = 0; r < worker->n_regions; r++)
        qfz_sum_mean(worker->sums + (int64_t)r * words, worker->count[r], type, means + r * bytes);
}

qfz_status qfz_cpu_border_sums(qfz_worker *worker, int band, uint64_t *sums, qfz_error *err)
{
    (void)err;
    const int words = qfz_sum_words(worker->tile.type);
    find_means(worker, band);
    for (uint32_t s = 0; s < worker->n_border_regions; s++)
        memcpy(sums + (int64_t)s * words,
               worker->sums + (int64_t)worker->border_region_of[s] * words,
               (size_t)words * sizeof *sums);
    if (band + 1 == worker->tile.n_bands) worker->found = QFZ_CACHED_REGIONS;
    return QFZ_OK;
}

#define PAINT(TYPE)                                                                                \
    do {                                                                                           \
        TYPE *const of_stop = room, *to = out;                                                     \
        for (uint32_t s = 0; s < block->n; s++)                                                    \
            of_stop[s] =                                                                           \
                region[s] ? ((const TYPE *)means)[region[s] - 1] : *(const TYPE *)invalid;         \
        for (int64_t y = 0; y < h; y++, to += worker->tile.w)                                      \
            for (int64_t x = 0; x < w; x++)                                                        \
                to[x] = of_stop[block->stop[y * w + x]];                                           \
    } while (0)

/* Paints the pixels of a block; out is the place of its first pixel. */
static void paint_block(const qfz_worker *worker, const qfz_stop_block *block, const void *means,
                        const void *invalid, void *out)
{
    const int64_t h = qfz_box_h(block->box), w = qfz_box_w(block->box);
    const uint32_t *const region = worker->region_of + block->first;
    void *const room = memory_of(worker);
    switch (qfz_type_bytes(worker->tile.type)) {
    case 1: PAINT(uint8_t); break;
    case 2: PAINT(uint16_t); break;
    default: PAINT(uint32_t); break;
    }
}

qfz_status qfz_cpu_paint(qfz_worker *worker, int band, const void *border_mean, const void *invalid,
                         void *out, qfz_error *err)
{
    (void)err;
    const qfz_cpu_blocks *const in = &worker->omega.c.layout;
    const size_t bytes = qfz_type_bytes(worker->tile.type);
    char *const means = means_of(worker, band);
    if (worker->resumed != QFZ_CACHED_REGIONS) find_means(worker, band);
    for (uint32_t s = 0; s < worker->n_border_regions; s++)
        memcpy(means + worker->border_region_of[s] * bytes, (const char *)border_mean + s * bytes,
               bytes);
    for (int64_t i = 0; i < in->n_y * in->n_x; i++) {
        const qfz_stop_block block = qfz_omega_contraction_block(&worker->omega, i);
        const int64_t at = block.box.y0 * in->w + block.box.x0;
        paint_block(worker, &block, means, invalid, (char *)out + (size_t)at * bytes);
    }
    return QFZ_OK;
}
