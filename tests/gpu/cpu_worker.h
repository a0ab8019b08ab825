/* SPDX-License-Identifier: MIT */
/* cpu_worker.h - a worker of the CPU engine with a loaded tile, whose results a device's results
 * are compared with. */
#ifndef QFZ_TEST_CPU_WORKER_H
#define QFZ_TEST_CPU_WORKER_H

#include <stdio.h>
#include <stdlib.h>

#include "core/engine.h"

/* One thread; image and rule are borrowed.  Released by qfz_engine_cpu.close(). */
static inline qfz_worker *cpu_worker(const qfz_image *image, const qfz_rule *rule, qfz_kind kind)
{
    qfz_worker_spec spec = {};
    qfz_worker *worker = NULL;
    qfz_error why = {};
    spec.rule = rule;
    spec.kind = kind;
    spec.max_h = (int32_t)image->h;
    spec.max_w = (int32_t)image->w;
    spec.n_threads = 1;
    if (qfz_engine_cpu.open(&worker, 1, &spec, &why) == QFZ_OK &&
        qfz_engine_cpu.load(worker, image, &why) == QFZ_OK)
        return worker;
    printf("the test itself failed: CPU engine: %s\n", why.message);
    abort();
}

#endif
