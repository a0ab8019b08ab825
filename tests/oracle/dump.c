/* SPDX-License-Identifier: MIT */
/* dump.c - random rasters and the oracle's results as text, for compare.py to check.
 *
 * dump SEED CASES: each case is a line of words (h w bands type connectivity distance alpha
 * omega), then values, validity, and the results flat, alpha, alpha_omega and saliency. */
#include "check.h"
#include "oracle.h"

#include <string.h>

enum { SIDE = 9, MOST = SIDE * SIDE, BANDS = 3 };

static void print_labels(const char *name, const uint32_t *labels, int64_t n)
{
    printf("%s", name);
    for (int64_t p = 0; p < n; p++)
        printf(" %" PRIu32, labels[p]);
    printf("\n");
}

static void print_doubles(const char *name, const double *values, int64_t n)
{
    printf("%s", name);
    for (int64_t p = 0; p < n; p++)
        printf(" %.17g", values[p]);
    printf("\n");
}

int main(int argc, char **argv)
{
    static const char *const distances[] = {"l1", "l2", "linf"};
    check_begin(argc, argv, 40);
    for (int64_t c = 0; c < check_.cases; c++) {
        int32_t whole[BANDS * MOST];
        float real[BANDS * MOST];
        double values[BANDS * MOST], planes[4 * MOST];
        uint8_t valid[MOST];
        uint32_t labels[MOST];
        check_case(c, "dump");
        const int64_t h = 1 + check_pick(SIDE), w = 1 + check_pick(SIDE), n = h * w;
        const int bands = (int)(1 + check_pick(BANDS)), conn = check_chance(50) ? 4 : 8;
        const qfz_distance distance = (qfz_distance)check_pick(3);
        const bool floats = check_chance(30);
        /* squares of the values neither vanish nor pass the range of singles */
        const double unit = !floats            ? 1
                            : check_chance(50) ? 0.25
                            : check_chance(50) ? 0x1p-120
                                               : 0x1p+110;
        const int64_t spread = check_chance(50) ? 6 : 200;
        const double alpha = (double)check_pick(spread) / (check_chance(50) ? 1 : 2) * unit;
        double omega[BANDS];
        for (int64_t i = 0; i < bands * n; i++) {
            whole[i] = (int32_t)(check_pick(spread) - spread / 3);
            real[i] = (float)(whole[i] * unit);
            values[i] = floats ? (double)real[i] : whole[i];
        }
        for (int64_t p = 0; p < n; p++)
            valid[p] = check_chance(88);
        for (int b = 0; b < bands; b++)
            omega[b] = (double)check_pick(spread) * unit;
        const qfz_image image = {.h = h,
                                 .w = w,
                                 .n_bands = bands,
                                 .type = floats ? QFZ_F32 : QFZ_I32,
                                 .pixels = floats ? (void *)real : (void *)whole,
                                 .valid = valid};
        oracle *o = oracle_open(&image, conn, distance);
        printf("case %d %d %d %d %s %.17g\n", (int)h, (int)w, bands, conn, distances[distance],
               alpha);
        print_doubles("omega", omega, bands);
        print_doubles("values", values, bands * n);
        for (int64_t p = 0; p < n; p++)
            labels[p] = valid[p];
        print_labels("valid", labels, n);
        oracle_flat(o, labels);
        print_labels("flat", labels, n);
        oracle_alpha(o, alpha, labels);
        print_labels("alpha", labels, n);
        oracle_alpha_omega(o, alpha, omega, labels);
        print_labels("alpha_omega", labels, n);
        oracle_saliency(o, planes);
        print_doubles("saliency", planes, conn / 2 * n);
        oracle_close(o);
    }
    return EXIT_SUCCESS;
}
