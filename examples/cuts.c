/* SPDX-License-Identifier: MIT */
/* cuts.c - computes the hierarchy of an array once, as saliency, and cuts it at several alphas. */
#include <qfz.h>
#include <stdio.h>

enum { H = 3, W = 5 };

int main(void)
{
    static const uint16_t pixels[H * W] = {
        10, 11, 30, 31, 90, /**/
        10, 12, 30, 33, 90, /**/
        11, 12, 60, 33, 95,
    };
    qfz_image image = qfz_image_default();
    image.h = H;
    image.w = W;
    image.n_bands = 1;
    image.type = QFZ_U16;
    image.pixels = pixels;

    qfz_criterion criterion = {.connectivity = 4, .distance = QFZ_L1};
    qfz_session *session = NULL;
    qfz_error err;
    qfz_status status = qfz_session_open(&session, &image, &criterion, NULL, &err);
    if (status == QFZ_OK) status = qfz_session_run(session, QFZ_PART_SALIENCY, NULL, &err);
    if (status == QFZ_OK) {
        const uint32_t level = qfz_session_saliency(session)[1]; /* right of pixel (0, 1) */
        printf("(0, 1) and (0, 2) meet at %g\n", qfz_session_level(session, level));
    }
    for (double alpha = 0; status == QFZ_OK && alpha <= 60; alpha = alpha ? 3 * alpha : 1) {
        status = qfz_session_cut(session, alpha, NULL, NULL, &err);
        if (status == QFZ_OK)
            printf("alpha %g: %u regions\n", alpha, qfz_session_n_regions(session));
    }
    if (status != QFZ_OK) fprintf(stderr, "%s\n", err.message);
    qfz_session_close(session);
    return status == QFZ_OK ? 0 : 1;
}
