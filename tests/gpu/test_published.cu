/* SPDX-License-Identifier: MIT */
/* The published labeling methods, against a flood from every pixel that has no label yet. */

#include "check.h"
#include "device_test.h"
#include "flood.h"
#include "gpu/published/published.cuh"
#include "hostile.h"

static qfz_error err;

static void roots_are(const std::vector<uint32_t> &got, const std::vector<uint32_t> &want,
                      const char *method, int connectivity)
{
    size_t wrong = 0, at = 0;
    for (size_t p = 0; p < want.size(); p++)
        if (got[p] != want[p] && wrong++ == 0) at = p;
    CHECK(wrong == 0, "%s, %d-connected: %zu pixels are wrong; the first, %zu, is %u, not %u",
          method, connectivity, wrong, at, got[at], want[at]);
}

static void methods_label(qfz_gpu *gpu, const scene &s, int connectivity)
{
    const int64_t n_px = s.h * s.w;
    const std::vector<uint32_t> want = flood(s, connectivity);
    uint8_t *const d_values = to_device(s.values);
    uint8_t *const d_valid = s.valid.empty() ? NULL : to_device(s.valid);
    const qfz_gpu_image image = {(int32_t)s.h, (int32_t)s.w, 1,    s.type, d_values,
                                 d_valid,      NULL,         NULL, NULL};
    uint32_t *const d_root = device_room<uint32_t>(n_px);
    for (int m = 0; m < QFZ_N_LABELING_METHODS; m++) {
        const qfz_method method = (qfz_method)m;
        char *const d_scratch =
            device_room<char>((int64_t)qfz_gpu_published_bytes(method, image.h, image.w));
        MUST(cudaMemset(d_root, 0xa5, (size_t)n_px * sizeof *d_root));
        MUST(cudaDeviceSynchronize());
        CHECK(qfz_gpu_published(gpu, method, &image, connectivity, d_scratch, d_root) == QFZ_OK,
              "%s", err.message);
        roots_are(from_device(gpu, d_root, n_px), want, qfz_method_name(method), connectivity);
        cudaFree(d_scratch);
    }
    cudaFree(d_root);
    cudaFree(d_values);
    cudaFree(d_valid);
}

static void labels_any_raster(qfz_gpu *gpu, int64_t number)
{
    hostile made;
    qfz_type type = (qfz_type)(number % QFZ_F32);
    hostile_make(&made, check_.seed, number, number % 3 ? 90 : 200, type, 1);
    check_case(number, "%s", made.what);
    const size_t n_px = (size_t)(made.image.h * made.image.w);
    const uint8_t *const values = static_cast<const uint8_t *>(made.image.pixels);
    scene s = {};
    s.h = made.image.h;
    s.w = made.image.w;
    s.type = made.image.type;
    s.values.assign(values, values + n_px * qfz_type_bytes(s.type));
    if (!check_chance(25)) s.valid.assign(made.image.valid, made.image.valid + n_px);
    methods_label(gpu, s, check_chance(50) ? 4 : 8);
    hostile_free(&made);
}

/* Squares of grain x grain pixels, each set with a probability, as integers of a type. */
static void labels_noise(qfz_gpu *gpu, int64_t h, int64_t w, int64_t grain, int density,
                         qfz_type type = QFZ_U8)
{
    check_case(density, "noise, %lld x %lld, grain %lld, density %d, %s", (long long)w,
               (long long)h, (long long)grain, density, qfz_type_name(type));
    const size_t bytes = qfz_type_bytes(type);
    std::vector<uint8_t> squares((size_t)(h * w));
    for (uint8_t &square : squares)
        square = check_chance(density);
    scene s = {};
    s.h = h;
    s.w = w;
    s.type = type;
    s.valid.resize((size_t)(h * w));
    s.values.resize((size_t)(h * w) * bytes);
    for (int64_t p = 0; p < h * w; p++) {
        const uint8_t square = squares[(size_t)(p / w / grain * w + p % w / grain)];
        s.valid[(size_t)p] = square;
        s.values[((size_t)p + 1) * bytes - 1] = square; /* two values; one is masked, or none */
    }
    methods_label(gpu, s, 4);
    methods_label(gpu, s, 8);
    s.valid.clear();
    methods_label(gpu, s, 4);
    methods_label(gpu, s, 8);
}

/* PROGRAM SEED 0: one small raster of each width, for tools that slow kernels down. */
int main(int argc, char **argv)
{
    check_begin(argc, argv, 120);
    qfz_gpu gpu = open_gpu(&err);
    for (const qfz_type type : {QFZ_U8, QFZ_U16, QFZ_I32})
        labels_noise(&gpu, 35, 131, 2, 50, type);
    for (int64_t number = check_.first; number < check_.cases; number++)
        labels_any_raster(&gpu, number);
    for (int64_t grain = 1; check_.cases > 0 && grain <= 16; grain *= 4)
        for (int density = 20; density <= 80; density += 20)
            labels_noise(&gpu, 70, 259, grain, density);
    return check_end();
}
