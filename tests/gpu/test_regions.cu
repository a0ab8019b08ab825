/* SPDX-License-Identifier: MIT */
/* Regions on the device, against the CPU engine's, bit for bit: numbers, counts, border_regions,
 * labels, sums, spans, means, paint and features. */
#include <algorithm>
#include <cmath>
#include <cstring>

#include "check.h"
#include "cpu_worker.h"
#include "core/engine.h"
#include "gpu/components/components.cuh"
#include "core/exact.h"
#include "gpu/features/gather.cuh"
#include "gpu/features/means.cuh"
#include "gpu/features/regions.cuh"
#include "gpu/features/spans.cuh"
#include "hostile.h"
#include "uploaded.h"

static qfz_error err;
static const qfz_engine *const cpu = &qfz_engine_cpu;

#define MUST_DO(call) CHECK((call) == QFZ_OK, "%s", err.message)

namespace
{
/* One raster, with its regions by the CPU engine and by the device. */
struct both {
    qfz_gpu *gpu;
    const qfz_image *image;
    qfz_worker *worker;
    qfz_partition want;
    uploaded up;
    qfz_gpu_regions got;
    int64_t n_px;
};
} // namespace

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
    CHECK(n[1] == b.want.n_border_regions, "%u border_regions, not %u", n[1],
          b.want.n_border_regions);
    are_equal(b, b.got.d_n + 2, b.want.row_inner, b.image->h, "inner regions of rows");
    const std::vector<qfz_border_region> border_regions =
        from_device(b.gpu, b.got.d_border_regions, b.want.n_border_regions);
    for (uint32_t s = 0; s < b.want.n_border_regions; s++)
        CHECK(border_regions[s].first == b.want.border_regions[s].first &&
                  border_regions[s].before == b.want.border_regions[s].before,
              "border_region %u begins at %u after %u, not at %u after %u", s,
              border_regions[s].first, border_regions[s].before, b.want.border_regions[s].first,
              b.want.border_regions[s].before);
    qfz_summary summary = {};
    qfz_box box = {};
    box.y1 = b.image->h;
    box.x1 = b.image->w;
    qfz_rule rule = {};
    rule.type = b.image->type;
    rule.n_bands = b.image->n_bands;
    MUST_DO(qfz_summary_init(&summary, box, &rule, &err));
    MUST_DO(cpu->summarise(b.worker, &summary, &err));
    are_equal(b, b.got.d_ring_region, summary.border_region, summary.n_ring,
              "border regions of the ring");
    qfz_summary_fini(&summary);
}

/* Checks the counts; labels are those of a raster that is one tile. */
static void counts_are_equal(const both &b)
{
    std::vector<uint32_t> labels((size_t)b.n_px), first(b.want.n_regions), count(b.want.n_regions);
    MUST_DO(cpu->number(b.worker, NULL, &err));
    MUST_DO(cpu->labels(b.worker, false, labels.data(), &err));
    for (int64_t i = b.n_px - 1; i >= 0; i--) {
        if (!labels[(size_t)i]) continue;
        first[labels[(size_t)i] - 1] = (uint32_t)i;
        count[labels[(size_t)i] - 1]++;
    }
    are_equal(b, b.got.d_first, first.data(), b.want.n_regions, "first pixels");
    if (b.got.d_count) are_equal(b, b.got.d_count, count.data(), b.want.n_regions, "counts");
    for (const qfz_border_region &border_region :
         from_device(b.gpu, b.got.d_border_regions, b.want.n_border_regions))
        CHECK(!b.got.d_count || border_region.pixels == count[labels[border_region.first] - 1],
              "the border_region from %u has %u pixels", border_region.first, border_region.pixels);
    uint64_t *const d_name = device_room<uint64_t>(b.want.n_regions);
    uint32_t *const d_narrow = device_room<uint32_t>(b.n_px);
    MUST_DO(qfz_gpu_regions_name(b.gpu, &b.got, b.want.n_border_regions, NULL, NULL, d_name));
    MUST_DO(qfz_gpu_regions_labels(b.gpu, &b.got, d_name, 0, b.n_px, false, d_narrow));
    are_equal(b, d_narrow, labels.data(), b.n_px, "labels of a whole raster");
    cudaFree(d_name);
    cudaFree(d_narrow);
}

/* Sets the same labels on both sides; returns the device's. */
static uint64_t *give_names(const both &b)
{
    std::vector<uint64_t> row_start((size_t)b.image->h), border_label(b.want.n_border_regions + 1u);
    for (uint64_t &start : row_start)
        start = check_random() >> 8;
    for (uint64_t &label : border_label)
        label = check_chance(50) ? 0 : check_random() >> 8;
    uint64_t *const d_row_start = to_device(row_start), *const d_border_label =
                                                            to_device(border_label);
    uint64_t *const d_name = device_room<uint64_t>(b.want.n_regions);
    const qfz_numbers numbers = {row_start.data(), border_label.data()};
    MUST_DO(cpu->number(b.worker, &numbers, &err));
    MUST_DO(qfz_gpu_regions_name(b.gpu, &b.got, b.want.n_border_regions, d_row_start,
                                 d_border_label, d_name));
    MUST(cudaStreamSynchronize(b.gpu->stream));
    cudaFree(d_row_start);
    cudaFree(d_border_label);
    return d_name;
}

static void labels_are_equal(const both &b)
{
    std::vector<uint64_t> wide((size_t)b.n_px);
    std::vector<uint32_t> narrow((size_t)b.n_px);
    uint64_t *const d_name = give_names(b), *const d_wide = device_room<uint64_t>(b.n_px);
    uint32_t *const d_narrow = device_room<uint32_t>(b.n_px);
    MUST_DO(cpu->labels(b.worker, true, wide.data(), &err));
    MUST_DO(cpu->labels(b.worker, false, narrow.data(), &err));
    MUST_DO(qfz_gpu_regions_labels(b.gpu, &b.got, d_name, 0, b.n_px, true, d_wide));
    MUST_DO(qfz_gpu_regions_labels(b.gpu, &b.got, d_name, 0, b.n_px, false, d_narrow));
    are_equal(b, d_wide, wide.data(), b.n_px, "wide labels");
    are_equal(b, d_narrow, narrow.data(), b.n_px, "labels");
    for (void *d : {(void *)d_name, (void *)d_wide, (void *)d_narrow})
        cudaFree(d);
}

/* Checks the means of all regions against the host's, computed from sums of pixels. */
static void means_are_equal(const both &b)
{
    const qfz_type type = b.image->type;
    const size_t bytes = qfz_type_bytes(type);
    const int words = qfz_sum_words(type), band = (int)check_pick(b.image->n_bands);
    const int64_t n = b.want.n_regions, n_border_regions = b.want.n_border_regions;
    const char *const plane = (const char *)b.image->pixels + (size_t)band * (size_t)b.n_px * bytes;
    const std::vector<uint32_t> labels = from_device(b.gpu, b.got.d_label, b.n_px);
    const std::vector<uint32_t> count = from_device(b.gpu, b.got.d_count, n);
    const std::vector<uint32_t> border_regions =
        from_device(b.gpu, b.got.d_border_region_of, n_border_regions);
    std::vector<uint64_t> sums((size_t)(n * words)), of_border;
    std::vector<uint8_t> means((size_t)n * bytes),
        border_mean((size_t)n_border_regions * bytes + 1);
    qfz_sum_add_regions(sums.data(), type, plane, labels.data(), b.n_px);
    for (int64_t r = 0; r < n; r++)
        qfz_sum_mean(sums.data() + r * words, count[(size_t)r], type,
                     means.data() + (size_t)r * bytes);
    for (uint8_t &byte : border_mean)
        byte = (uint8_t)check_random();
    for (size_t s = 0; s < border_regions.size(); s++) {
        const auto sum = sums.begin() + (int64_t)border_regions[s] * words;
        of_border.insert(of_border.end(), sum, sum + words);
        memcpy(&means[border_regions[s] * bytes], &border_mean[s * bytes], bytes);
    }
    uint64_t *const d_sums = device_room<uint64_t>(n * words);
    uint64_t *const d_of_border = device_room<uint64_t>(n_border_regions * words);
    uint8_t *const d_border_mean = to_device(border_mean), *const d_means =
                                                               device_room<uint8_t>(n * 4);
    uint8_t *const d_painted = device_room<uint8_t>(b.n_px * 4);
    const uint32_t all = (uint32_t)n, split = (uint32_t)check_pick(n + 1);
    for (const uint32_t first : {0u, split}) { /* in two parts */
        const uint32_t some = first < split ? split : all - first;
        MUST_DO(qfz_gpu_gather_sums(b.gpu, &b.got, &b.up.image, band, first, some, d_sums));
        are_equal(b, d_sums, sums.data() + first * (uint32_t)words, some * (int64_t)words,
                  "words of sums");
        MUST_DO(qfz_gpu_border_sums(b.gpu, &b.got, first, some, (uint32_t)n_border_regions, words,
                                    d_sums, d_of_border));
        MUST_DO(qfz_gpu_means(b.gpu, &b.got, type, first, some, (uint32_t)n_border_regions, d_sums,
                              d_border_mean, d_means));
    }
    are_equal(b, d_of_border, of_border.data(), n_border_regions * words,
              "words of border_regions' sums");
    are_equal(b, d_means, means.data(), n * (int64_t)bytes, "bytes of means");
    const uint32_t invalid = (uint32_t)check_random();
    std::vector<uint8_t> painted((size_t)b.n_px * bytes);
    for (size_t i = 0; i < labels.size(); i++)
        memcpy(&painted[i * bytes],
               labels[i] ? (const void *)&means[(labels[i] - 1) * bytes] : &invalid, bytes);
    MUST_DO(qfz_gpu_regions_paint(b.gpu, &b.got, d_means, bytes, &invalid, d_painted));
    are_equal(b, d_painted, painted.data(), (int64_t)painted.size(), "painted bytes");
    for (void *d : {(void *)d_sums, (void *)d_of_border, (void *)d_border_mean, (void *)d_means,
                    (void *)d_painted})
        cudaFree(d);
}

static double value_as_double(qfz_type type, const void *value)
{
    switch (type) {
    case QFZ_U8: return *static_cast<const uint8_t *>(value);
    case QFZ_I8: return *static_cast<const int8_t *>(value);
    case QFZ_U16: return *static_cast<const uint16_t *>(value);
    case QFZ_I16: return *static_cast<const int16_t *>(value);
    case QFZ_U32: return *static_cast<const uint32_t *>(value);
    case QFZ_I32: return *static_cast<const int32_t *>(value);
    default: return *static_cast<const float *>(value);
    }
}

static uint32_t order_as_cpu(qfz_type type, double value)
{
    if (type == QFZ_F32) return qfz_order_of_float((float)value);
    return type == QFZ_I8 || type == QFZ_I16 || type == QFZ_I32
               ? qfz_order_of_signed((int32_t)value)
               : qfz_order_of_unsigned((uint32_t)value);
}

/* Checks spans against the least and the greatest of the values of each region's pixels. */
static void spans_are_equal(const both &b)
{
    const uint32_t n = b.want.n_regions, n_border = b.want.n_border_regions;
    const int band = (int)check_pick(b.image->n_bands);
    const size_t bytes = qfz_type_bytes(b.image->type);
    const char *const plane = (const char *)b.image->pixels + (size_t)band * (size_t)b.n_px * bytes;
    const std::vector<uint32_t> labels = from_device(b.gpu, b.got.d_label, b.n_px);
    const std::vector<uint32_t> border = from_device(b.gpu, b.got.d_border_region_of, n_border);
    const std::vector<uint32_t> count = from_device(b.gpu, b.got.d_count, n);
    std::vector<uint64_t> of_border(2 * (size_t)n_border);
    std::vector<uint32_t> wide(n), pixels(1);
    std::vector<double> least(n, INFINITY), greatest(n, -INFINITY);
    const double omega = 0.3 * (double)check_pick(b.image->type == QFZ_U16 ? 9000 : 90);
    for (size_t i = 0; i < labels.size(); i++) {
        if (labels[i] == 0) continue;
        const double value = value_as_double(b.image->type, plane + i * bytes);
        least[labels[i] - 1] = fmin(least[labels[i] - 1], value);
        greatest[labels[i] - 1] = fmax(greatest[labels[i] - 1], value);
    }
    for (uint32_t r = 0; r < n; r++)
        wide[r] = least[r] < greatest[r] && greatest[r] - least[r] > omega;
    for (uint32_t s = 0; s < n_border; s++) {
        of_border[2 * s] = order_as_cpu(b.image->type, least[border[s]]);
        of_border[2 * s + 1] = UINT32_MAX - order_as_cpu(b.image->type, greatest[border[s]]);
    }
    for (uint32_t r = 0; r < n; r++)
        if (wide[r] && std::find(border.begin(), border.end(), r) == border.end())
            pixels[0] += count[r];
    const std::vector<uint32_t> zero(n + 1u);
    uint32_t *const d_words = device_room<uint32_t>(2 * (int64_t)n), *const d_wide =
                                                                         to_device(zero);
    uint64_t *const d_of_border = device_room<uint64_t>(2 * (int64_t)n_border);
    const qfz_gpu_spans spans = {n, d_words, d_words + n, d_wide};
    MUST_DO(qfz_gpu_spans_of_band(b.gpu, &b.got, &b.up.image, band, omega, &spans));
    MUST_DO(qfz_gpu_spans_of_border(b.gpu, &b.got, n_border, &spans, d_of_border));
    MUST_DO(qfz_gpu_spans_count(b.gpu, &b.got, &spans, d_wide + n));
    are_equal(b, d_of_border, of_border.data(), 2 * (int64_t)n_border, "words of spans");
    are_equal(b, d_wide, wide.data(), n, "wide regions");
    are_equal(b, d_wide + n, pixels.data(), 1, "pixels of wide regions");
    for (void *d : {(void *)d_words, (void *)d_wide, (void *)d_of_border})
        cudaFree(d);
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
    uint64_t *const d_name = give_names(b);
    const qfz_gpu_areas areas = {weights[0], same ? NULL : d_weights};
    MUST_DO(cpu->features(b.worker, box, weights.data(), first, n, want.data(), &err));
    const qfz_gpu_records wanted = {box, areas, first, n, d_records};
    MUST_DO(qfz_gpu_gather_features(b.gpu, &b.got, &b.up.image, &wanted));
    MUST_DO(qfz_gpu_regions_name_records(b.gpu, &b.got, b.want.n_border_regions, d_name, first, n,
                                         qfz_record_words(b.image->type, b.image->n_bands),
                                         d_records));
    are_equal(b, d_records, want.data(), words, "words of features");
    cudaFree(d_name);
    cudaFree(d_weights);
    cudaFree(d_records);
}

static void all_features_are_equal(const both &b)
{
    features_are_equal(b, 0, b.want.n_regions);
    if (b.want.n_regions < 2) return;
    const uint32_t first = (uint32_t)check_pick(b.want.n_regions);
    features_are_equal(b, first, 1 + (uint32_t)check_pick(b.want.n_regions - first));
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
    b.worker = cpu_worker(image, rule, QFZ_COMPONENTS);
    MUST_DO(cpu->partition(b.worker, NULL, &b.want, &err));

    qfz_carve carve = {};
    const int32_t h = b.up.image.h, w = b.up.image.w;
    qfz_gpu_regions_take(&carve, h, w, true, &b.got);
    const size_t bytes = carve.used;
    char *const d_memory = device_room<char>((int64_t)bytes);
    carve = qfz_carve{d_memory, 0};
    qfz_gpu_regions_take(&carve, h, w, false, &b.got);
    char *const d_scratch = device_room<char>(most_scratch(rule, h, w));
    uint32_t *const d_root = device_room<uint32_t>(b.n_px);
    MUST_DO(qfz_gpu_components_number(gpu, &b.up.image, rule, d_scratch, &b.got));
    MUST_DO(qfz_gpu_regions_border(gpu, true, d_scratch, &b.got));
    partitions_are_equal(b);
    counts_are_equal(b);
    labels_are_equal(b);
    all_features_are_equal(b);

    MUST(cudaMemset(d_memory, 0x33, bytes));
    MUST(cudaDeviceSynchronize());
    carve = qfz_carve{d_memory, 0};
    qfz_gpu_regions_take(&carve, h, w, true, &b.got);
    MUST_DO(qfz_gpu_components(gpu, &b.up.image, rule, d_scratch, d_root));
    MUST_DO(qfz_gpu_regions_number(gpu, d_root, d_scratch, &b.got));
    MUST_DO(qfz_gpu_regions_border(gpu, true, d_scratch, &b.got));
    partitions_are_equal(b);
    spans_are_equal(b);
    counts_are_equal(b);
    labels_are_equal(b);
    means_are_equal(b);
    all_features_are_equal(b);
    cudaFree(d_memory);
    cudaFree(d_scratch);
    cudaFree(d_root);
    upload_free(&b.up);
    cpu->close(&b.worker, 1);
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
    if (check_chance(50)) qfz_levels(&seen, &rule, p, q, 1, &rule.alpha_level);
    regions_are_equal(gpu, &seen, &rule);
    hostile_free(&made);
}

/* A region of many values of both signs that extends over several pieces of its rows, and small
 * regions in between. */
template <typename T> static void wide_raster(qfz_gpu *gpu, qfz_type type, int density)
{
    const int64_t h = 3, w = 9000;
    check_case(density, "%s, %lld x %lld, density %d", qfz_type_name(type), (long long)w,
               (long long)h, density);
    std::vector<T> values((size_t)(h * w));
    for (T &value : values)
        value = check_chance(density) ? (T)((double)check_random() / 0x1p64 - 0.5)
                                      : (T)((double)check_pick(5) - 2) * (T)1e9;
    qfz_image image = {};
    image.h = h;
    image.w = w;
    image.n_bands = 1;
    image.type = type;
    image.pixels = values.data();
    qfz_rule rule = {};
    const float alpha = 1;
    rule.type = type;
    rule.n_bands = 1;
    rule.connectivity = 8;
    if (type == QFZ_F32) memcpy(&rule.alpha_level, &alpha, sizeof alpha);
    regions_are_equal(gpu, &image, &rule);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 150);
    qfz_gpu gpu = open_gpu(&err);
    for (int64_t number = check_.first; number < check_.cases; number++)
        random_raster(&gpu, number);
    for (int density = 10; density <= 100; density += 30) {
        wide_raster<float>(&gpu, QFZ_F32, density);
        wide_raster<int32_t>(&gpu, QFZ_I32, density);
    }
    return check_end();
}
