/* SPDX-License-Identifier: MIT */
/* state.h - the state of a session: one image, one worker of an engine at a time, results.
 *
 * The worker is of one kind of work and stays open as long as runs need that kind.  After a run of
 * labels it holds the partition of the image, from which features and painted means are made. */
#ifndef QFZ_SESSION_STATE_H
#define QFZ_SESSION_STATE_H

#include "core/api.h"
#include "session/engine_choice.h"

struct qfz_session {
    qfz_image image; /* pixels and validity are the caller's */
    qfz_rule rule;
    double *omega;  /* what rule.omega points to, or NULL */
    float *weights; /* what rule.weights points to, or NULL */
    bool equal;     /* LABEL joins equal values only */
    qfz_session_options options;
    int n_threads;
    qfz_choice choice;
    qfz_engine_choice requested;

    const qfz_engine *engine; /* of the worker, or the one chosen */
    qfz_worker *worker;       /* NULL, or a worker that has loaded the image */
    qfz_kind kind;            /* of the worker */
    qfz_rule worker_rule;     /* the worker borrows it */
    bool has_partition;       /* the worker holds the regions of the last run, */
    uint32_t n_partition;     /* so many */

    /* Results in host memory of the session, and whether they are of the last run of their kind. */
    uint32_t n_regions;
    uint32_t *labels, *levels, *parent, *node_level;
    bool has_labels, has_levels, has_tree;
    int64_t n_nodes;
    uint64_t *records, *row_area; /* records of regions records_first.. of the partition */
    int64_t records_room, records_first, n_records;

    /* Cut: a worker of its own, its rule, and the joins of each pixel (host memory). */
    const qfz_engine *cut_engine;
    qfz_worker *cut_worker;
    qfz_rule cut_rule;
    uint8_t *cut_joins, *host_valid; /* host_valid: copy of a validity in device memory */

    /* The area filter: its result, which image.zeroed points to, and the caller's image.zeroed. */
    uint8_t *zeroed; /* NULL: there is no filter */
    bool has_zeroed; /* the result is complete */
    const uint8_t *given_zeroed;
    const qfz_engine *filter_engine;
    qfz_worker *filter_worker; /* of filter_engine, while it is needed */
    qfz_rule filter_rule;

    qfz_exterior exterior; /* RESOLVE: the links of the image itself, as if from outside */
};

static inline int64_t qfz_session_n_px(const qfz_session *s)
{
    return s->image.h * s->image.w;
}

/* Reports progress; QFZ_ECANCEL if the caller's function cancels. */
qfz_status qfz_session_advance(qfz_session *s, double done, const char *step, qfz_error *err);

/* Reads the caller's buffers; NULL: all members are NULL, in host memory. */
qfz_status qfz_session_get_buffers(qfz_buffers *buffers, const qfz_buffers *into, qfz_error *err);

/* Allocates memory and opens the worker for a part; then computes it. */
qfz_status qfz_session_prepare(qfz_session *s, qfz_part part, const qfz_buffers *into,
                               qfz_error *err);
qfz_status qfz_session_compute(qfz_session *s, qfz_part part, const qfz_buffers *into,
                               qfz_error *err);

/* What a worker is opened for. */
typedef struct qfz_session_work {
    const qfz_rule *rule; /* the worker borrows it */
    qfz_kind kind;
    const char *method; /* NULL: the fastest */
} qfz_session_work;

/* worker.c: opens a worker of the engine that the session has chosen, or of another one that the
 * caller left the choice of; *worker is NULL if that fails. */
qfz_status qfz_session_open_worker(const qfz_session *s, const qfz_session_work *work,
                                   const qfz_engine **engine, qfz_worker **worker, qfz_error *err);

/* Loads an image of the session into a worker, from host memory or in the order of cuda_stream. */
qfz_status qfz_session_load(const qfz_session *s, const qfz_engine *engine, qfz_worker *worker,
                            const qfz_image *image, qfz_error *err);

/* filter.c: sets up the area filter of a criterion; opens its worker, if the filter has not run;
 * runs it; closes the worker. */
qfz_status qfz_session_set_filter(qfz_session *s, uint64_t min_area, qfz_error *err);
qfz_status qfz_session_prepare_filter(qfz_session *s, qfz_error *err);
qfz_status qfz_session_filter(qfz_session *s, qfz_error *err);
void qfz_session_close_filter(qfz_session *s);

/* Room for the labels that a run or a cut keeps in the session: none if the caller has buffers. */
qfz_status qfz_session_need_labels(qfz_session *s, const qfz_buffers *into, qfz_error *err);

/* Finds the regions in a worker that has loaded its image, and writes their labels. */
qfz_status qfz_session_find_regions(qfz_session *s, const qfz_engine *engine, qfz_worker *worker,
                                    const qfz_buffers *into, uint32_t *n_regions, qfz_error *err);

/* Records of at least one region of the partition from `first` on, at most `n`, in s->records;
 * *n_there of them, the first at *at. */
qfz_status qfz_session_records(qfz_session *s, int64_t first, int64_t n, uint64_t **at,
                               int64_t *n_there, qfz_error *err);

void qfz_session_close_cut(qfz_session *s);

#endif
