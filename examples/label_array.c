/* SPDX-License-Identifier: MIT */
/* label_array.c - labels an array: neighbours that differ by at most 1 are in one region. */
#include <qfz.h>
#include <stdio.h>

enum { H = 4, W = 6 };

int main(void)
{
    static const uint8_t pixels[H * W] = {
        1, 2, 3, 9, 9, 9, /**/
        1, 7, 4, 9, 3, 3, /**/
        1, 7, 5, 0, 3, 3, /**/
        1, 7, 6, 0, 0, 2,
    };
    uint32_t labels[H * W];

    qfz_image image = qfz_image_default();
    image.h = H;
    image.w = W;
    image.n_bands = 1;
    image.type = QFZ_U8;
    image.pixels = pixels;

    qfz_criterion criterion = {
        .connectivity = 4, .distance = QFZ_L1, .has_alpha = true, .alpha = 1};

    qfz_buffers into = qfz_buffers_default(); /* labels go straight into our array */
    into.labels = labels;

    qfz_session *session = NULL;
    qfz_error err;
    if (qfz_session_open(&session, &image, &criterion, NULL, &err) != QFZ_OK ||
        qfz_session_run(session, QFZ_PART_LABEL, &into, &err) != QFZ_OK) {
        fprintf(stderr, "%s\n", err.message);
        qfz_session_close(session);
        return 1;
    }
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            printf("%u%c", labels[y * W + x], x < W - 1 ? ' ' : '\n');
    printf("%u regions\n", qfz_session_n_regions(session));
    qfz_session_close(session);
    return 0;
}
