/* SPDX-License-Identifier: MIT */
/* alpha_omega.c - (alpha, omega)-components of an array (Soille, IEEE TPAMI 30, 2008): features of
 * each region, and the array painted with the regions' means. */
#include <qfz.h>
#include <stdio.h>
#include <stdlib.h>

enum { H = 3, W = 6 };

static void print_features(uint32_t n, const uint64_t *pixels, const double *x, const double *y,
                           const double *mean)
{
    for (uint32_t i = 0; i < n; i++)
        printf("region %u: %llu pixels about (%g, %g), mean %g\n", i + 1,
               (unsigned long long)pixels[i], x[i], y[i], mean[i]);
}

static qfz_status find_regions(qfz_session *session, uint8_t *painted, qfz_error *err)
{
    qfz_status status = qfz_session_run(session, QFZ_PART_ALPHA_OMEGA, NULL, err);
    if (status != QFZ_OK) return status;

    const uint32_t n = qfz_session_n_regions(session);
    qfz_features features = qfz_features_default(); /* arrays that remain NULL are not wanted */
    features.pixels = calloc(n, sizeof *features.pixels);
    features.x = calloc(n, sizeof *features.x);
    features.y = calloc(n, sizeof *features.y);
    features.mean = calloc(n, sizeof *features.mean); /* one band */
    status = qfz_session_features(session, 0, n, &features, err);
    if (status == QFZ_OK) print_features(n, features.pixels, features.x, features.y, features.mean);
    free(features.pixels);
    free(features.x);
    free(features.y);
    free(features.mean);
    if (status != QFZ_OK) return status;
    return qfz_session_paint(session, 0, NULL, QFZ_MEMORY_HOST, painted, err);
}

int main(void)
{
    static const uint8_t pixels[H * W] = {
        1, 2, 3, 4, 5, 6, /**/
        1, 1, 8, 8, 9, 6, /**/
        0, 1, 8, 9, 9, 7,
    };
    uint8_t painted[H * W];
    const double omega = 2; /* largest max - min within a region */

    qfz_image image = qfz_image_default();
    image.h = H;
    image.w = W;
    image.n_bands = 1;
    image.type = QFZ_U8;
    image.pixels = pixels;

    qfz_criterion criterion = {.connectivity = 4,
                               .distance = QFZ_L1,
                               .has_alpha = true,
                               .alpha = 1,
                               .omega = &omega,
                               .n_omega = 1};
    qfz_session *session = NULL;
    qfz_error err;
    qfz_status status = qfz_session_open(&session, &image, &criterion, NULL, &err);
    if (status == QFZ_OK) status = find_regions(session, painted, &err);
    for (int p = 0; status == QFZ_OK && p < H * W; p++)
        printf("%u%c", painted[p], p % W < W - 1 ? ' ' : '\n');
    if (status != QFZ_OK) fprintf(stderr, "%s\n", err.message);
    qfz_session_close(session);
    return status == QFZ_OK ? 0 : 1;
}
