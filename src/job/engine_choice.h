/* SPDX-License-Identifier: MIT */
/* choice.h - which engine does the work, and on which devices. */
#ifndef QFZ_ENGINE_CHOICE_H
#define QFZ_ENGINE_CHOICE_H

#include "core/engine.h"

typedef struct qfz_choice {
    const qfz_engine *engine;
    int n_devices; /* at least 1; an engine without devices has one, the machine */
    qfz_device devices[QFZ_GPUS_MAX];
    int64_t device_memory_bytes; /* that may be used of each; 0: the engine has no devices */
    char warning[256];           /* why it is not the engine that one could expect; or "" */
} qfz_choice;

/* What is requested: gpus NULL means all that there are, or the first n_gpus of them if that is not
 * 0; shown, the numbers of the n_shown GPUs that the program lets CUDA see, if that is not 0;
 * gpu_memory_bytes 0 most of what there is. */
typedef struct qfz_device_request {
    qfz_engine_choice engine;
    const int *gpus;
    int n_gpus;
    const int *shown;
    int n_shown;
    int local_rank, n_local; /* processes of this job on this machine share its GPUs; 0, 0: alone */
    int64_t gpu_memory_bytes;
    const char *method; /* as in qfz_worker_spec */
} qfz_device_request;

/* The numbers of the GPUs that are requested of n_there; room for QFZ_GPUS_MAX. */
qfz_status qfz_request_gpus(const qfz_device_request *request, int n_there, int *numbers, int *n,
                            qfz_error *err);

/* AUTO chooses the GPUs if they can be used, else the CPU: silently where no GPU is visible, with a
 * warning where GPUs are visible but cannot be used.  A request that names GPUs or a GPU method
 * means the CUDA engine. */
qfz_status qfz_choose(qfz_choice *choice, const qfz_device_request *request, qfz_error *err);

/* A choice stands if its devices can do this kind of work by this rule; if not, and only AUTO was
 * requested, the CPU does it. */
qfz_status qfz_choice_settle(qfz_choice *choice, qfz_engine_choice requested, const qfz_rule *rule,
                             qfz_kind kind, qfz_error *err);

/* The CPU after all, because of what err says. */
void qfz_choose_cpu(qfz_choice *choice, const qfz_error *err);

#endif
