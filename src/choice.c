/* SPDX-License-Identifier: MIT */
#include "choice.h"

#include <stdio.h>

#include "gpu/gpu.h"

_Static_assert((int)QFZ_MAX_DEVICES == (int)QFZ_GPU_MAX_DEVICES, "room for every device");

void qfz_choose_cpu(qfz_choice *choice, const qfz_error *err)
{
    *choice = (qfz_choice){.engine = &qfz_engine_cpu, .n_devices = 1};
    if (err)
        (void)snprintf(choice->warning, sizeof choice->warning, "%.200s; the CPU does it instead",
                       err->message);
}

/* Of n devices each process on this machine takes its share, at least one. */
static void share_devices(qfz_choice *choice, const qfz_wish *wish, int n)
{
    const int step = wish->n_local > 1 ? wish->n_local : 1;
    choice->n_devices = 0;
    for (int i = wish->local_rank % n; i < n; i += step)
        choice->devices[choice->n_devices++] = i;
}

static qfz_status take_devices(qfz_choice *choice, const qfz_wish *wish, int n_there,
                               qfz_error *err)
{
    const int n = wish->n_gpus;
    if (!wish->gpus) {
        share_devices(choice, wish, n_there);
        if (n > 0 && n < choice->n_devices) choice->n_devices = n;
        return QFZ_OK;
    }
    if (n < 1 || n > QFZ_MAX_DEVICES)
        return qfz_fail(err, QFZ_EARG, "%d GPUs; 1 to %d can be used", n, QFZ_MAX_DEVICES);
    choice->n_devices = n;
    for (int i = 0; i < n; i++) {
        const int device = wish->gpus[i];
        if (device < 0 || device >= n_there)
            return qfz_fail(err, QFZ_EARG, "there is no GPU %d; there are %d, counted from 0",
                            device, n_there);
        for (int k = 0; k < i; k++)
            if (choice->devices[k] == device)
                return qfz_fail(err, QFZ_EARG, "GPU %d is named twice", device);
        choice->devices[i] = device;
    }
    return QFZ_OK;
}

static qfz_status choose_cuda(qfz_choice *choice, const qfz_wish *wish, qfz_error *err)
{
    int n_there = 0;
    int64_t free_bytes = 0;
    QFZ_TRY(qfz_gpu_devices(&n_there, err));
    *choice = (qfz_choice){.engine = &qfz_engine_cuda};
    QFZ_TRY(take_devices(choice, wish, n_there, err));
    QFZ_TRY(qfz_gpu_memory(choice->devices, choice->n_devices, &free_bytes, err));
    choice->device_memory_bytes =
        wish->gpu_memory_bytes ? wish->gpu_memory_bytes : free_bytes / 10 * 9;
    return QFZ_OK;
}

qfz_status qfz_choice_settle(qfz_choice *choice, qfz_engine_choice wished, const qfz_rule *rule,
                             qfz_kind kind, qfz_error *err)
{
    if (!choice->device_memory_bytes) return QFZ_OK;
    for (int i = 0; i < choice->n_devices; i++) {
        const qfz_status st = qfz_gpu_can(choice->devices[i], rule, kind, err);
        if (st == QFZ_OK) continue;
        if (wished != QFZ_ENGINE_AUTO) return st;
        qfz_choose_cpu(choice, err);
        err->status = QFZ_OK;
        return QFZ_OK;
    }
    return QFZ_OK;
}

qfz_status qfz_choose(qfz_choice *choice, const qfz_wish *wish, qfz_error *err)
{
    const bool needs_gpu = wish->gpus || wish->gpu_memory_bytes || wish->method;
    if (wish->engine == QFZ_ENGINE_CPU && needs_gpu)
        return qfz_fail(err, QFZ_EARG,
                        "GPUs, their memory and their methods are not for the CPU engine");
    if (wish->engine == QFZ_ENGINE_CUDA || (wish->engine == QFZ_ENGINE_AUTO && needs_gpu))
        return choose_cuda(choice, wish, err);
    if (wish->engine == QFZ_ENGINE_CPU || !qfz_gpu_built()) {
        qfz_choose_cpu(choice, NULL);
        return QFZ_OK;
    }
    qfz_error why = {.status = QFZ_OK};
    if (choose_cuda(choice, wish, &why) != QFZ_OK) qfz_choose_cpu(choice, &why);
    return QFZ_OK;
}
