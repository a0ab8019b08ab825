/* SPDX-License-Identifier: MIT */
/* engine_choice.c - the engine and its devices, from a request and from what CUDA reports. */
#include "session/engine_choice.h"

#include <stdio.h>
#include <string.h>

#include "gpu/gpu.h"

void qfz_choose_cpu(qfz_choice *choice, const qfz_error *err)
{
    *choice = (qfz_choice){.engine = &qfz_engine_cpu, .n_devices = 1};
    if (err)
        (void)snprintf(choice->warning, sizeof choice->warning, "%.200s; the CPU does it instead",
                       err->message);
}

/* Every n_local-th device, from local_rank on: each process of this machine has its share, at least
 * one device. */
static int share_devices(const qfz_device_request *request, int n_there, int *numbers)
{
    const int step = request->n_local > 1 ? request->n_local : 1;
    int n = 0;
    for (int i = request->local_rank % n_there; i < n_there && n < QFZ_GPUS_MAX; i += step)
        numbers[n++] = i;
    return request->n_gpus > 0 && request->n_gpus < n ? request->n_gpus : n;
}

qfz_status qfz_request_gpus(const qfz_device_request *request, int n_there, int *numbers, int *n,
                            qfz_error *err)
{
    if (!request->gpus) {
        *n = share_devices(request, n_there, numbers);
        return QFZ_OK;
    }
    if (request->n_gpus < 1 || request->n_gpus > QFZ_GPUS_MAX)
        return qfz_fail(err, QFZ_EARG, "%d GPUs; 1 to %d can be used", request->n_gpus,
                        QFZ_GPUS_MAX);
    for (int i = 0; i < request->n_gpus; i++) {
        const int number = request->gpus[i];
        if (number < 0 || number >= n_there)
            return qfz_fail(err, QFZ_EARG, "there is no GPU %d; there are %d, counted from 0",
                            number, n_there);
        for (int k = 0; k < i; k++)
            if (numbers[k] == number)
                return qfz_fail(err, QFZ_EARG, "GPU %d is named twice", number);
        numbers[i] = number;
    }
    *n = request->n_gpus;
    return QFZ_OK;
}

/* If the program made CUDA see some GPUs only, these are the devices, numbered from 0.  If CUDA had
 * started before, for example within MPI, its view is still the old one, with all numbers. */
static qfz_status take_devices(qfz_choice *choice, const qfz_device_request *request, int n_there,
                               qfz_error *err)
{
    const bool in_effect = n_there <= request->n_shown;
    int numbers[QFZ_GPUS_MAX];
    int n = request->n_shown;
    if (n > 0)
        memcpy(numbers, request->shown, (size_t)n * sizeof *numbers);
    else
        QFZ_TRY(qfz_request_gpus(request, n_there, numbers, &n, err));
    for (int i = 0; i < n; i++) {
        choice->devices[i] =
            (qfz_device){.index = in_effect ? i : numbers[i], .number = numbers[i]};
        if (choice->devices[i].index >= n_there)
            return qfz_fail(err, QFZ_EGPU, "CUDA shows no GPU %d", numbers[i]);
    }
    choice->n_devices = n;
    return QFZ_OK;
}

static qfz_status choose_cuda(qfz_choice *choice, const qfz_device_request *request, qfz_error *err)
{
    int n_there = 0;
    int64_t all_bytes = 0;
    QFZ_TRY(qfz_gpu_count(&n_there, err));
    *choice = (qfz_choice){.engine = &qfz_engine_cuda};
    QFZ_TRY(take_devices(choice, request, n_there, err));
    QFZ_TRY(qfz_gpu_memory(choice->devices, choice->n_devices, &all_bytes, err));
    choice->device_memory_bytes =
        request->gpu_memory_bytes ? request->gpu_memory_bytes : all_bytes / 10 * 9;
    return QFZ_OK;
}

qfz_status qfz_choice_settle(qfz_choice *choice, qfz_engine_choice requested, const qfz_rule *rule,
                             qfz_kind kind, qfz_error *err)
{
    if (!choice->device_memory_bytes) return QFZ_OK;
    for (int i = 0; i < choice->n_devices; i++) {
        const qfz_status st = qfz_gpu_can(choice->devices[i], rule, kind, err);
        if (st == QFZ_OK) continue;
        if (requested != QFZ_ENGINE_AUTO) return st;
        qfz_choose_cpu(choice, err);
        err->status = QFZ_OK;
        return QFZ_OK;
    }
    return QFZ_OK;
}

qfz_status qfz_choose(qfz_choice *choice, const qfz_device_request *request, qfz_error *err)
{
    const bool needs_gpu = request->gpus || request->gpu_memory_bytes || request->method;
    if (request->engine == QFZ_ENGINE_CPU && needs_gpu)
        return qfz_fail(err, QFZ_EARG,
                        "the CPU engine takes none of --gpus, --gpu-memory and --method");
    if (request->engine == QFZ_ENGINE_CUDA || (request->engine == QFZ_ENGINE_AUTO && needs_gpu))
        return choose_cuda(choice, request, err);
    if (request->engine == QFZ_ENGINE_CPU || !qfz_gpu_visible()) {
        qfz_choose_cpu(choice, NULL);
        return QFZ_OK;
    }
    qfz_error why = {.status = QFZ_OK};
    if (choose_cuda(choice, request, &why) != QFZ_OK) qfz_choose_cpu(choice, &why);
    return QFZ_OK;
}
