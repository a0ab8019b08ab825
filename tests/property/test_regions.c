/* SPDX-License-Identifier: MIT */
/* test_regions.c - (alpha, omega)-regions of tiles of several blocks: counts, sums, painted means
 * features and spans of the CPU engine agree with its labels, pixel by pixel.  test_contract.c
 * checks the labels. */
#include "core/engine.h"
#include "rasters.h"

enum { SIDE = 300 }; /* up to 3 x 3 blocks */

typedef struct problem {
    raster r;
    qfz_rule rule;
    double omega[RASTER_BANDS];
    uint32_t *label;
    uint32_t n_regions;
} problem;

static void make(problem *p)
{
    raster_make(&p->r, SIDE, -1, RASTER_BANDS);
    const qfz_image *const image = &p->r.image;
    if (!strcmp(p->r.holes, "none") && check_chance(50)) p->r.image.valid = NULL;
    p->rule = (qfz_rule){.connectivity = check_chance(50) ? 4 : 8,
                         .distance = QFZ_LINF,
                         .type = image->type,
                         .n_bands = image->n_bands,
                         .alpha_level = check_chance(50) ? UINT32_MAX : (uint32_t)check_pick(64),
                         .omega = p->omega};
    for (int b = 0; b < image->n_bands; b++)
        p->omega[b] = raster_omega(&p->r, b);
    p->label = raster_room(image->h * image->w, sizeof *p->label);
    check_describe("%dx%d, %d bands %s, %s in %s, holes %s, %d-connected", (int)image->h,
                   (int)image->w, image->n_bands, raster_types[image->type], p->r.shape,
                   p->r.palette, p->r.holes, p->rule.connectivity);
}

/* Labels are 1, 2, 3 ... in order of first pixels, and each row has the reported number of first
 * pixels. */
static void come_by_first_pixels(const problem *p, const qfz_partition *partition)
{
    const qfz_image *const image = &p->r.image;
    uint32_t n = 0;
    for (int64_t y = 0; y < image->h; y++) {
        uint32_t in_row = 0;
        for (int64_t i = y * image->w; i < (y + 1) * image->w; i++) {
            const bool valid = !image->valid || image->valid[i];
            if (!CHECK(p->label[i] <= n + 1 && (p->label[i] != 0) == valid,
                       "pixel %d has label %u, after %u", (int)i, p->label[i], n))
                return;
            in_row += p->label[i] == n + 1;
            n += p->label[i] == n + 1;
        }
        CHECK(partition->row_inner[y] == in_row, "row %d: %u regions, not %u", (int)y,
              partition->row_inner[y], in_row);
    }
    CHECK(partition->n_regions == n, "%u regions, not %u", partition->n_regions, n);
}

static void painted_in_means(const problem *p, qfz_worker *worker, int band)
{
    const qfz_image *const image = &p->r.image;
    const int64_t n = image->h * image->w;
    const int words = qfz_sum_words(image->type);
    const size_t bytes = qfz_type_bytes(image->type);
    const char *const plane = (const char *)image->pixels + (size_t)(band * n) * bytes;
    const uint32_t invalid = 0x12345678;
    uint64_t *sums = raster_room((p->n_regions + 1) * (int64_t)words, sizeof *sums);
    uint64_t *count = raster_room(p->n_regions + 1, sizeof *count);
    char *painted = raster_room(n, bytes), want[4];
    qfz_error err = {0};
    for (int64_t i = 0; i < n; i++) {
        qfz_sum_add_pixel(sums + p->label[i] * (size_t)words, image->type, plane, i);
        count[p->label[i]]++;
    }
    raster_must(qfz_engine_cpu.paint(worker, band, NULL, &invalid, painted, &err));
    for (int64_t i = 0; i < n; i++) {
        const uint32_t label = p->label[i];
        memcpy(want, &invalid, sizeof want);
        if (label) qfz_sum_mean(sums + label * (size_t)words, count[label], image->type, want);
        if (!CHECK(memcmp(painted + (size_t)i * bytes, want, bytes) == 0,
                   "band %d: pixel %d, of region %u, is not its mean", band, (int)i, label))
            break;
    }
    free(sums);
    free(count);
    free(painted);
}

/* The pixels of regions that exceed omega in some band, with values as doubles. */
static uint64_t wide_pixels(const problem *p)
{
    const qfz_image *const image = &p->r.image;
    const int64_t n = image->h * image->w;
    double *lo = raster_room(p->n_regions + 1, sizeof *lo),
           *hi = raster_room(p->n_regions + 1, sizeof *hi);
    bool *wide = raster_room(p->n_regions + 1, sizeof *wide);
    uint64_t n_wide = 0;
    for (int b = 0; b < image->n_bands; b++) {
        for (uint32_t r = 0; r <= p->n_regions; r++) {
            lo[r] = INFINITY;
            hi[r] = -INFINITY;
        }
        for (int64_t i = 0; i < n; i++) {
            const double value = oracle_value(image, b, i);
            lo[p->label[i]] = fmin(lo[p->label[i]], value);
            hi[p->label[i]] = fmax(hi[p->label[i]], value);
        }
        for (uint32_t r = 1; r <= p->n_regions; r++)
            wide[r] |= lo[r] < hi[r] && hi[r] - lo[r] > p->omega[b];
    }
    for (int64_t i = 0; i < n; i++)
        n_wide += p->label[i] && wide[p->label[i]];
    free(lo);
    free(hi);
    free(wide);
    return n_wide;
}

/* Most regions are within omega; so the limit is lowered after they have been found. */
static void spans_are_right(problem *p, qfz_worker *worker)
{
    qfz_error err = {0};
    uint64_t none, wide;
    for (int b = 0; b < p->rule.n_bands; b++)
        if (check_chance(80)) p->omega[b] = p->omega[b] * (double)check_pick(3) / 3 - 0.5;
    raster_must(qfz_engine_cpu.spans(worker, &none, &wide, &err));
    const uint64_t want = wide_pixels(p);
    CHECK(wide == want, "%" PRIu64 " pixels in wide regions, not %" PRIu64, wide, want);
}

static void one_case(int64_t number)
{
    problem p = {0};
    qfz_worker *worker = NULL;
    qfz_partition partition;
    qfz_error err = {0};
    uint64_t none;
    check_case(number, "regions");
    make(&p);
    const qfz_image *const image = &p.r.image;
    const qfz_worker_spec spec = {.rule = &p.rule,
                                  .kind = QFZ_OMEGA,
                                  .max_h = SIDE,
                                  .max_w = SIDE,
                                  .n_threads = 1 + (int)check_pick(3)};
    raster_must(qfz_engine_cpu.open(&worker, 1, &spec, &err));
    raster_must(qfz_engine_cpu.load(worker, image, &err));
    raster_must(qfz_engine_cpu.partition(worker, NULL, &partition, &err));
    raster_must(qfz_engine_cpu.number(worker, NULL, &err));
    raster_must(qfz_engine_cpu.labels(worker, false, p.label, &err));
    p.n_regions = partition.n_regions;
    come_by_first_pixels(&p, &partition);
    for (int b = 0; b < image->n_bands; b++) {
        if (check_chance(50)) raster_must(qfz_engine_cpu.border_sums(worker, b, &none, &err));
        painted_in_means(&p, worker, b);
    }
    spans_are_right(&p, worker);
    qfz_engine_cpu.close(&worker, 1);
    free(p.label);
    raster_free(&p.r);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 60);
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    return check_end();
}
