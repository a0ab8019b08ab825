/* SPDX-License-Identifier: MIT */
/* consumer.c - labels a tiny image with an installed qfz. */
#include <qfz.h>
#include <stdio.h>

int main(void)
{
    const uint8_t pixels[] = {7, 7, 2, 9, 7, 4, 1, 1, 1};
    const qfz_image image = {.h = 3, .w = 3, .n_bands = 1, .type = QFZ_U8, .pixels = pixels};
    const qfz_criterion method = {.connectivity = 4, .distance = QFZ_L1};
    qfz_session *session = NULL;
    qfz_error err = {0};
    double ms = 0;
    uint32_t n = 0;
    if (qfz_session_open(&session, &image, &method, NULL, &err) ||
        qfz_session_run(session, QFZ_PART_LABEL, &ms, &err))
        return fprintf(stderr, "%s\n", err.message), 1;
    const uint32_t *labels = qfz_session_labels(session, &n);
    for (int p = 0; p < 9; p++)
        printf("%u%c", labels[p], p % 3 == 2 ? '\n' : ' ');
    printf("qfz %s: %u zones\n", qfz_version(), n);
    qfz_session_close(session);
    return n == 5 ? 0 : 1;
}
