/* SPDX-License-Identifier: MIT */
/* test_large_methods.c [HEIGHT] - labels by published methods on one tile of HEIGHT x 2 HEIGHT
 * pixels (16384 x 32768, the largest tile) against the CPU engine.  Needs some 12 GB of memory and
 * 20 GB of the GPU's. */
#include "engine_under_test.h"

#include <string.h>
#include <unistd.h>

#include "check.h"

enum { BYTES_PER_PX = 24 };

static const char *const methods[] = {"stava", "c2fl", "ha4", "ha4-32"};

/* Depends on the place only.  Squares of four sizes: regions of one pixel, and some that reach over
 * many of the methods' tiles; lines that cross the whole image. */
static uint8_t value_at(uint64_t y, uint64_t x)
{
    uint64_t sum = 0;
    if (y % 1021 == 5 || x % 4093 == 7) return 255;
    for (int k = 2; k < 14; k += 3) {
        uint64_t z = (y >> k << 32 | x >> k) + (uint64_t)k * UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        sum += (z >> 33) % (k == 2 ? 3 : 40);
    }
    return (uint8_t)sum;
}

/* Labels of the image; NULL after a failure.  The session owns the labels. */
static const uint32_t *label(qfz_session **session, const qfz_image *image, int connectivity,
                             const char *method, uint32_t *n)
{
    const int n_threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    const qfz_session_options options = {.struct_size = sizeof(qfz_session_options),
                                         .engine = method ? TEST_ENGINE : QFZ_ENGINE_CPU,
                                         .n_threads = method ? 1 : n_threads,
                                         .gpu_method = method};
    const qfz_criterion equal = {.connectivity = connectivity, .distance = QFZ_LINF};
    qfz_error err = {0};
    const bool good = qfz_session_open(session, image, &equal, &options, &err) == QFZ_OK &&
                      qfz_session_run(*session, QFZ_PART_LABEL, NULL, &err) == QFZ_OK;
    if (!CHECK(good, "%s", err.message)) return NULL;
    return qfz_session_labels(*session, n);
}

static void compare(const qfz_image *image, int connectivity)
{
    const size_t bytes = (size_t)(image->h * image->w) * sizeof(uint32_t);
    qfz_session *cpu = NULL;
    uint32_t n_cpu = 0, n = 0;
    const uint32_t *const want = label(&cpu, image, connectivity, NULL, &n_cpu);
    for (int m = 0; want && m < 4; m++) {
        qfz_session *cuda = NULL;
        check_describe("%s, %d-connected", methods[m], connectivity);
        const uint32_t *const got = label(&cuda, image, connectivity, methods[m], &n);
        if (got)
            CHECK(n == n_cpu && n > 1 && memcmp(got, want, bytes) == 0,
                  "labels differ: %u regions, not %u", n, n_cpu);
        qfz_session_close(cuda);
    }
    qfz_session_close(cpu);
}

int main(int argc, char **argv)
{
    const int64_t h = argc > 1 ? atoll(argv[1]) : 16384, w = 2 * h;
    need_engine();
    if (sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE) < h * w * BYTES_PER_PX) {
        printf("skipped: needs %lld bytes of memory\n", (long long)(h * w * BYTES_PER_PX));
        return 77;
    }
    uint8_t *const pixels = malloc((size_t)(h * w));
    check_begin(1, argv, 1);
    if (!pixels) abort();
#pragma omp parallel for
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++)
            pixels[y * w + x] = value_at((uint64_t)y, (uint64_t)x);
    const qfz_image image = {.struct_size = sizeof(qfz_image),
                             .h = h,
                             .w = w,
                             .n_bands = 1,
                             .type = QFZ_U8,
                             .pixels = pixels};
    check_case(0, "%lld x %lld", (long long)w, (long long)h);
    compare(&image, 4);
    compare(&image, 8);
    free(pixels);
    return check_end();
}
