/* SPDX-License-Identifier: MIT */
/* consumer.c - labels a tiny image with an installed qfz. */
#include <qfz.h>
#include <stdio.h>

int main(void)
{
    const uint8_t pixels[] = {7, 7, 2, 9, 7, 4, 1, 1, 1};
    const qfz_criterion criterion = {.connectivity = 4, .distance = QFZ_L1};
    qfz_image image = qfz_image_default();
    qfz_session *session = NULL;
    qfz_error err = {0};
    uint32_t n = 0;
    image.h = image.w = 3;
    image.n_bands = 1;
    image.type = QFZ_U8;
    image.pixels = pixels;
    if (qfz_session_open(&session, &image, &criterion, NULL, &err) ||
        qfz_session_run(session, QFZ_PART_LABEL, NULL, &err))
        return fprintf(stderr, "%s\n", err.message), 1;
    const uint32_t *labels = qfz_session_labels(session, &n);
    for (int p = 0; p < 9; p++)
        printf("%u%c", labels[p], p % 3 == 2 ? '\n' : ' ');
    printf("qfz %s: %u regions\n", qfz_version(), n);
    qfz_session_close(session);
    return n == 5 && qfz_version_number() == QFZ_VERSION_NUMBER ? 0 : 1;
}
