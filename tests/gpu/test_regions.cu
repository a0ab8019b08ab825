/* SPDX-License-Identifier: MIT */
/* Regions on the device, against the CPU engine's, bit for bit: numbers, counts, slots, labels,
 * paint, sums and features. */
#include <algorithm>
#include <cstring>

#include "check.h"
#include "engine.h"
#include "gpu/components.cuh"
#include "gpu/gather.cuh"
#include "gpu/regions.cuh"
#include "hostile.h"
#include "uploaded.h"

static qfz_error err;
static const qfz_engine *const cpu = &qfz_engine_cpu;

#define MUST_DO(call) CHECK((call) == QFZ_OK, "%s", err.message)

/* One raster, its regions on both sides. */
struct both {
    qfz_gpu *gpu;
    const qfz_image *image;
    qfz_worker *worker;
    qfz_partition want;
    uploaded up;
    qfz_gpu_regions got;
    int64_t n_px;
};

template <typename T>
static void are_equal(const both &b, const T *d_got, const T *want, int64_t n, const char *what)
{
    const std::vector<T> got = from_device(b.gpu, d_got, n);
    int64_t wrong = 0, at = 0;
    for (int64_t i = 0; i < n; i++)
        if (got[(size_t)i] != want[i] && wrong++ == 0) at = i;
    CHECK(wrong == 0, "%s: %lld of %lld are wrong; the first, %lld, is %llx, not %llx", what,
          (long long)wrong, (long long)n, (long long)at,
          n ? (unsigned long long)got[(size_t)at] : 0, n ? (unsigned long long)want[at] : 0);
}

static void partitions_are_equal(const both &b)
{
    const std::vector<uint32_t> n = from_device(b.gpu, b.got.d_n, 2);
    CHECK(n[0] == b.want.n_regions, "%u regions, not %u", n[0], b.want.n_regions);
    CHECK(n[1] == b.want.n_slots, "%u slots, not %u", n[1], b.want.n_slots);
    are_equal(b, b.got.d_first, b.want.first, b.want.n_regions, "first pixels");
    are_equal(b, b.got.d_count, b.want.count, b.want.n_regions, "counts");
    are_equal(b, b.got.d_slot_region, b.want.slot_region, b.want.n_slots, "regions of slots");
    qfz_summary summary = {};
    qfz_box box = {};
    box.y1 = b.image->h;
    box.x1 = b.image->w;
    qfz_rule rule = {};
    rule.type = b.image->type;
    rule.n_bands = b.image->n_bands;
    MUST_DO(qfz_summary_init(&summary, box, &rule, &err));
    MUST_DO(cpu->summarise(b.worker, &summary, &err));
    are_equal(b, b.got.d_ring_slot, summary.slot, summary.n_ring, "slots of the ring");
    qfz_summary_fini(&summary);
}

static void labels_are_equal(const both &b)
{
    std::vector<uint64_t> lut(b.want.n_regions + 1u), wide((size_t)b.n_px);
    std::vector<uint32_t> narrow((size_t)b.n_px);
    for (uint64_t &value : lut)
        value = check_random();
    uint64_t *const d_lut = to_device(lut), *const d_wide = device_room<uint64_t>(b.n_px);
    uint32_t *const d_narrow = device_room<uint32_t>(b.n_px);
    MUST_DO(cpu->labels(b.worker, lut.data(), true, wide.data(), &err));
    MUST_DO(cpu->labels(b.worker, lut.data(), false, narrow.data(), &err));
    MUST_DO(qfz_gpu_regions_labels(b.gpu, &b.got, d_lut, true, d_wide));
    MUST_DO(qfz_gpu_regions_labels(b.gpu, &b.got, d_lut, false, d_narrow));
    are_equal(b, d_wide, wide.data(), b.n_px, "wide labels");
    are_equal(b, d_narrow, narrow.data(), b.n_px, "labels");
    const size_t bytes = qfz_type_bytes(b.image->type);
    uint8_t *const d_painted = device_room<uint8_t>(b.n_px * 4);
    std::vector<uint8_t> painted((size_t)b.n_px * bytes);
    const uint32_t invalid = (uint32_t)check_random();
    MUST_DO(cpu->paint(b.worker, lut.data(), &invalid, painted.data(), &err));
    MUST_DO(qfz_gpu_regions_paint(b.gpu, &b.got, d_lut, bytes, &invalid, d_painted));
    are_equal(b, d_painted, painted.data(), (int64_t)painted.size(), "painted bytes");
    for (void *d : {(void *)d_lut, (void *)d_wide, (void *)d_narrow, (void *)d_painted})
        cudaFree(d);
}

static void sums_are_equal(const both &b)
{
    const int64_t n = (int64_t)b.want.n_regions * qfz_sum_words(b.image->type);
    std::vector<uint64_t> want((size_t)n);
    uint64_t *const d_sums = device_room<uint64_t>(n);
    const int band = (int)check_pick(b.image->n_bands);
    MUST_DO(cpu->sums(b.worker, band, want.data(), &err));
    MUST_DO(qfz_gpu_gather_sums(b.gpu, &b.got, &b.up.image, band, b.want.n_regions, d_sums));
    are_equal(b, d_sums, want.data(), n, "words of sums");
    cudaFree(d_sums);
}

static void features_are_equal(const both &b, uint32_t first, uint32_t n)
{
    const int64_t words = (int64_t)n * qfz_record_words(b.image->type, b.image->n_bands);
    const int64_t h = b.image->h;
    qfz_box box;
    box.y0 = check_pick(1 << 30);
    box.x0 = check_pick(1 << 30);
    box.y1 = box.y0 + h;
    box.x1 = box.x0 + b.image->w;
    const bool same = check_chance(40);
    std::vector<uint64_t> want((size_t)words), weights((size_t)h);
    const uint64_t most = UINT64_MAX / (uint64_t)b.n_px;
    for (int64_t y = 0; y < h; y++)
        weights[(size_t)y] = same && y ? weights[0] : check_random() % most;
    uint64_t *const d_weights = to_device(weights), *const d_records = device_room<uint64_t>(words);
    const qfz_gpu_areas areas = {weights[0], same ? NULL : d_weights};
    MUST_DO(cpu->features(b.worker, box, weights.data(), first, n, want.data(), &err));
    MUST_DO(qfz_gpu_gather_features(b.gpu, &b.got, &b.up.image, box, areas, first, n, d_records));
    are_equal(b, d_records, want.data(), words, "words of features");
    cudaFree(d_weights);
    cudaFree(d_records);
}

static int64_t most_scratch(const qfz_rule *rule, int32_t h, int32_t w)
{
    const size_t bytes[] = {qfz_gpu_regions_bytes(h, w), qfz_gpu_components_bytes(rule, h, w),
                            qfz_gpu_components_number_bytes(rule, h, w)};
    return (int64_t)std::max(bytes[0], std::max(bytes[1], bytes[2]));
}

static void regions_are_equal(qfz_gpu *gpu, const qfz_image *image, const qfz_rule *rule)
{
    both b = {};
    b.gpu = gpu;
    b.image = image;
    b.n_px = image->h * image->w;
    b.up = upload(image);
    qfz_worker_spec spec = {};
    spec.rule = rule;
    spec.kind = QFZ_COMPONENTS;
    spec.max_h = b.up.image.h;
    spec.max_w = b.up.image.w;
    spec.n_threads = 1;
    MUST_DO(cpu->open(&b.worker, &spec, &err));
    MUST_DO(cpu->load(b.worker, image, &err));
    MUST_DO(cpu->partition(b.worker, NULL, &b.want, &err));

    qfz_carve carve = {};
    qfz_gpu_regions_take(&carve, spec.max_h, spec.max_w, &b.got);
    char *const d_memory = device_room<char>((int64_t)carve.used);
    carve = qfz_carve{d_memory, 0};
    qfz_gpu_regions_take(&carve, spec.max_h, spec.max_w, &b.got);
    char *const d_scratch = device_room<char>(most_scratch(rule, spec.max_h, spec.max_w));
    uint32_t *const d_root = device_room<uint32_t>(b.n_px);
    MUST_DO(qfz_gpu_components_number(gpu, &b.up.image, rule, d_scratch, &b.got));
    MUST_DO(qfz_gpu_regions_slots(gpu, d_scratch, &b.got));
    partitions_are_equal(b);
    labels_are_equal(b);
    features_are_equal(b, 0, b.want.n_regions);

    MUST(cudaMemset(d_memory, 0x33, carve.used));
    MUST(cudaDeviceSynchronize());
    MUST_DO(qfz_gpu_components(gpu, &b.up.image, rule, d_scratch, d_root));
    MUST_DO(qfz_gpu_regions_number(gpu, d_root, d_scratch, &b.got));
    MUST_DO(qfz_gpu_regions_slots(gpu, d_scratch, &b.got));
    partitions_are_equal(b);
    labels_are_equal(b);
    sums_are_equal(b);
    features_are_equal(b, 0, b.want.n_regions);
    if (b.want.n_regions > 1) {
        const uint32_t first = (uint32_t)check_pick(b.want.n_regions);
        features_are_equal(b, first, 1 + (uint32_t)check_pick(b.want.n_regions - first));
    }
    cudaFree(d_memory);
    cudaFree(d_scratch);
    cudaFree(d_root);
    upload_free(&b.up);
    cpu->close(b.worker);
}

static void random_raster(qfz_gpu *gpu, int64_t number)
{
    hostile made;
    hostile_make(&made, check_.seed, number, number % 3 ? 100 : 200, -1, 3);
    check_case(number, "%s", made.what);
    qfz_image seen = made.image;
    if (check_chance(25)) seen.valid = NULL;
    qfz_rule rule = {};
    rule.type = seen.type;
    rule.n_bands = seen.n_bands;
    rule.distance = QFZ_LINF;
    rule.connectivity = check_chance(50) ? 4 : 8;
    const int64_t p = check_pick(seen.h * seen.w), q = check_pick(seen.h * seen.w);
    if (check_chance(50)) qfz_levels(&seen, rule.distance, p, q, 1, &rule.alpha_key);
    regions_are_equal(gpu, &seen, &rule);
    hostile_free(&made);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 150);
    qfz_gpu gpu = open_gpu(&err);
    for (int64_t number = check_.first; number < check_.cases; number++)
        random_raster(&gpu, number);
    return check_end();
}
