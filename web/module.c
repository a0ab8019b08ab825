/* SPDX-License-Identifier: MIT */
/* module.c - the functions that the WebAssembly module exports; web/qfz.js calls them.
 *
 * Numbers and pointers only, so that JavaScript needs no layout of a struct.  Counts are doubles,
 * which hold every whole number up to 2^53.  A function that returns int returns a qfz_status; the
 * reason of the last failure is at qfz_web_message(). */
#include "qfz.h"

#define EXPORT __attribute__((used, visibility("default")))

static qfz_error last; /* the module has one thread */

EXPORT const char *qfz_web_message(void);
EXPORT int qfz_web_status(void);
EXPORT qfz_session *qfz_web_open(int w, int h, int n_bands, int type, const void *pixels,
                                 const uint8_t *valid, int connectivity, int distance,
                                 int has_alpha, double alpha, const double *omega, int n_omega,
                                 const double *weights, int n_weights, double min_area);
EXPORT void qfz_web_close(qfz_session *session);
EXPORT int qfz_web_run(qfz_session *session, int part);
EXPORT int qfz_web_cut(qfz_session *session, double alpha);
EXPORT uint32_t qfz_web_n_regions(const qfz_session *session);
EXPORT const uint32_t *qfz_web_labels(const qfz_session *session);
EXPORT const uint32_t *qfz_web_levels(const qfz_session *session);
EXPORT double qfz_web_level(const qfz_session *session, uint32_t level);
EXPORT int qfz_web_paint(qfz_session *session, int band, void *out);

const char *qfz_web_message(void)
{
    return last.message;
}

int qfz_web_status(void)
{
    return (int)last.status;
}

/* Pixels, validity, omega and weights are borrowed until qfz_web_close(); omega and weights may be
 * NULL.  Returns NULL on failure. */
qfz_session *qfz_web_open(int w, int h, int n_bands, int type, const void *pixels,
                          const uint8_t *valid, int connectivity, int distance, int has_alpha,
                          double alpha, const double *omega, int n_omega, const double *weights,
                          int n_weights, double min_area)
{
    qfz_session *session = NULL;
    qfz_image image = qfz_image_default();
    image.w = w;
    image.h = h;
    image.n_bands = n_bands;
    image.type = (qfz_type)type;
    image.pixels = pixels;
    image.valid = valid;
    const qfz_criterion criterion = {.connectivity = connectivity,
                                     .distance = (qfz_distance)distance,
                                     .has_alpha = has_alpha != 0,
                                     .alpha = alpha,
                                     .omega = omega,
                                     .n_omega = n_omega,
                                     .weights = weights,
                                     .n_weights = n_weights,
                                     .min_area = (uint64_t)min_area};
    return qfz_session_open(&session, &image, &criterion, NULL, &last) == QFZ_OK ? session : NULL;
}

void qfz_web_close(qfz_session *session)
{
    qfz_session_close(session);
}

int qfz_web_run(qfz_session *session, int part)
{
    return (int)qfz_session_run(session, (qfz_part)part, NULL, &last);
}

int qfz_web_cut(qfz_session *session, double alpha)
{
    return (int)qfz_session_cut(session, alpha, NULL, NULL, &last);
}

uint32_t qfz_web_n_regions(const qfz_session *session)
{
    return qfz_session_n_regions(session);
}

const uint32_t *qfz_web_labels(const qfz_session *session)
{
    return qfz_session_labels(session, NULL);
}

const uint32_t *qfz_web_levels(const qfz_session *session)
{
    return qfz_session_saliency(session);
}

double qfz_web_level(const qfz_session *session, uint32_t level)
{
    return qfz_session_level(session, level);
}

int qfz_web_paint(qfz_session *session, int band, void *out)
{
    return (int)qfz_session_paint(session, band, NULL, QFZ_MEMORY_HOST, out, &last);
}
