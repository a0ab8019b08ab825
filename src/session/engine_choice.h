/* SPDX-License-Identifier: MIT */
/* engine_choice.h - which engine does the work of a job or session, and on which devices.
 *
 * AUTO prefers CUDA and takes the CPU, with a warning, where CUDA is built in but cannot be used.
 */
#ifndef QFZ_ENGINE_CHOICE_H
#define QFZ_ENGINE_CHOICE_H

#include "core/engine.h"

typedef struct qfz_choice {
    const qfz_engine *engine;
    int n_devices; /* at least 1; the CPU engine counts the machine as one device */
    qfz_device devices[QFZ_GPUS_MAX];
    int64_t device_memory_bytes; /* to use on each device; 0: the CPU engine */
    char warning[256];           /* why AUTO took the CPU; or "" */
} qfz_choice;

/* What a caller requests. */
typedef struct qfz_device_request {
    qfz_engine_choice engine;
    const int *gpus;  /* n_gpus device numbers; NULL: all GPUs, */
    int n_gpus;       /* or the first n_gpus of them if n_gpus is not 0 */
    const int *shown; /* numbers of the GPUs that the program made CUDA see (qfz_gpu_view); */
    int n_shown;      /* 0: CUDA's view was not changed */
    int local_rank, n_local; /* processes of this job on this machine share its GPUs; 0, 0: alone */
    int64_t gpu_memory_bytes; /* to use on each GPU; 0: nine tenths of its memory */
    const char *method;       /* as in qfz_worker_spec */
} qfz_device_request;

/* numbers[0..*n - 1] = device numbers of the requested GPUs, out of n_there; numbers has room for
 * QFZ_GPUS_MAX.  QFZ_EARG: a GPU that does not exist, or one named twice. */
qfz_status qfz_request_gpus(const qfz_device_request *request, int n_there, int *numbers, int *n,
                            qfz_error *err);

/* Chooses engine and devices.  A request with gpus, gpu_memory_bytes or method makes AUTO mean
 * CUDA; then, and for CUDA, QFZ_EGPU where no GPU can be used. */
qfz_status qfz_choose(qfz_choice *choice, const qfz_device_request *request, qfz_error *err);

/* Checks that the devices of a choice can do this kind of work by this rule.  If a device cannot,
 * AUTO changes the choice to the CPU, and CUDA fails with QFZ_EGPU. */
qfz_status qfz_choice_settle(qfz_choice *choice, qfz_engine_choice requested, const qfz_rule *rule,
                             qfz_kind kind, qfz_error *err);

/* Chooses the CPU; err NULL: without a warning, else its message is the reason in the warning. */
void qfz_choose_cpu(qfz_choice *choice, const qfz_error *err);

#endif
