/* SPDX-License-Identifier: MIT */
/* HA4's features of regions, against records that the host computes pixel by pixel. */
#include "check.h"
#include "device_test.h"
#include "flood.h"
#include "gpu/published/ha4_features.cuh"
#include "hostile.h"
#include "core/record.h"

static qfz_error err;

#define MUST_DO(call) CHECK((call) == QFZ_OK, "%s", err.message)

/* Records of the regions, in the order of their first pixels; row_area as in the engine. */
static std::vector<uint64_t> records_of(const qfz_image *image, const std::vector<uint32_t> &root,
                                        qfz_box box, const std::vector<uint64_t> &row_area)
{
    const int words = qfz_record_words(image->type, image->n_bands);
    std::vector<uint64_t> records;
    std::vector<uint32_t> region(root.size());
    uint32_t n = 0;
    for (size_t p = 0; p < root.size(); p++) {
        if (root[p] == QFZ_NONE) continue;
        if (root[p] == p) {
            region[p] = n++;
            records.resize((size_t)n * (size_t)words);
            qfz_record_clear(qfz_record_at(records.data(), words, region[p]), image->type,
                             image->n_bands);
        }
        const int64_t y = (int64_t)p / image->w, x = (int64_t)p % image->w;
        qfz_record_add_pixel(qfz_record_at(records.data(), words, region[root[p]]), image,
                             (int64_t)p, box.y0 + y, box.x0 + x, row_area[(size_t)y]);
    }
    return records;
}

static void words_are(const std::vector<uint64_t> &got, const uint64_t *want, int words)
{
    size_t wrong = 0, at = 0;
    for (size_t i = 0; i < got.size(); i++)
        if (got[i] != want[i] && wrong++ == 0) at = i;
    CHECK(wrong == 0, "%zu words are wrong; the first, word %zu of record %zu, is %llx, not %llx",
          wrong, at % (size_t)words, at / (size_t)words,
          got.empty() ? 0 : (unsigned long long)got[at],
          got.empty() ? 0 : (unsigned long long)want[at]);
}

/* Checks the features; segments have equal values in the first band. */
static void features_are(qfz_gpu *gpu, const qfz_image *image, int connectivity)
{
    const int64_t n_px = image->h * image->w;
    const int words = qfz_record_words(image->type, image->n_bands);
    scene s = {image->h, image->w, image->type, {}, {}};
    const size_t bytes = (size_t)n_px * qfz_type_bytes(s.type);
    const uint8_t *const values = static_cast<const uint8_t *>(image->pixels);
    s.values.assign(values, values + bytes);
    if (image->valid) s.valid.assign(image->valid, image->valid + n_px);
    const bool same = check_chance(50);
    std::vector<uint64_t> row_area((size_t)s.h);
    for (size_t y = 0; y < row_area.size(); y++)
        row_area[y] = same && y ? row_area[0] : check_random() % (UINT64_MAX / (uint64_t)n_px);
    qfz_box box = {check_pick(1 << 30), check_pick(1 << 30), 0, 0};
    box.y1 = box.y0 + s.h;
    box.x1 = box.x0 + s.w;
    const std::vector<uint64_t> want = records_of(image, flood(s, connectivity), box, row_area);
    const uint32_t n_regions = (uint32_t)(want.size() / (size_t)words);

    char *const d_pixels = to_device(static_cast<const char *>(image->pixels),
                                     (int64_t)bytes * (image->n_bands > 1 ? image->n_bands : 1));
    uint8_t *const d_valid = image->valid ? to_device(image->valid, n_px) : NULL;
    uint64_t *const d_row_area = to_device(row_area);
    const qfz_gpu_image on_device = {(int32_t)s.h, (int32_t)s.w, image->n_bands, s.type, d_pixels,
                                     d_valid,      NULL,         NULL,           NULL};
    char *const d_scratch =
        device_room<char>((int64_t)qfz_gpu_ha4_regions_bytes(on_device.h, on_device.w));
    uint32_t *const d_parent = device_room<uint32_t>(n_px), *const d_n = device_room<uint32_t>(1);
    MUST_DO(qfz_gpu_ha4_regions(gpu, &on_device, connectivity, d_scratch, d_parent, d_n));
    const uint32_t got_n = from_device(gpu, d_n, 1)[0];
    CHECK(got_n == n_regions, "%u regions, not %u", got_n, n_regions);

    const uint32_t first = check_chance(30) ? (uint32_t)check_pick(n_regions + 1) : 0;
    const uint32_t n = n_regions - first;
    const qfz_gpu_areas areas = {row_area[0], same ? NULL : d_row_area};
    uint64_t *const d_records = device_room<uint64_t>((int64_t)n * words);
    const qfz_gpu_records wanted = {box, areas, first, n, d_records};
    MUST_DO(qfz_gpu_ha4_features(gpu, &on_device, d_scratch, d_parent, &wanted));
    words_are(from_device(gpu, d_records, (int64_t)n * words),
              want.data() + (size_t)first * (size_t)words, words);
    for (void *d : {(void *)d_pixels, (void *)d_valid, (void *)d_row_area, (void *)d_scratch,
                    (void *)d_parent, (void *)d_n, (void *)d_records})
        cudaFree(d);
}

static void any_raster(qfz_gpu *gpu, int64_t number)
{
    hostile made;
    hostile_make(&made, check_.seed, number, number % 3 ? 90 : 200, (int)(number % QFZ_F32), 3);
    check_case(number, "%s", made.what);
    qfz_image seen = made.image;
    if (check_chance(25)) seen.valid = NULL;
    if (check_chance(15)) seen.n_bands = 0;
    features_are(gpu, &seen, check_chance(50) ? 4 : 8);
    hostile_free(&made);
}

/* A region that extends over all pieces of its rows, and many small regions in between. */
static void wide_raster(qfz_gpu *gpu, int density)
{
    const int64_t h = 3, w = 9000;
    check_case(density, "noise, %lld x %lld, density %d", (long long)w, (long long)h, density);
    std::vector<uint32_t> values((size_t)(h * w));
    for (uint32_t &value : values)
        value = check_chance(density) ? UINT32_MAX : (uint32_t)check_pick(3);
    qfz_image image = {};
    image.h = h;
    image.w = w;
    image.n_bands = 1;
    image.type = QFZ_U32;
    image.pixels = values.data();
    features_are(gpu, &image, 8);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 100);
    qfz_gpu gpu = open_gpu(&err);
    for (int64_t number = check_.first; number < check_.cases; number++)
        any_raster(&gpu, number);
    for (int density = 10; density <= 100; density += 30)
        wide_raster(&gpu, density);
    return check_end();
}
