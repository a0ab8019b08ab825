/* SPDX-License-Identifier: MIT */
/* method.h - published methods of the CUDA engine by name: which kinds of work each of them does,
 * and under which rules.  The table of method.c is the only such list: the plan of a job, sessions
 * and workers read it.  The kernels are in src/gpu/published. */
#ifndef QFZ_CORE_METHOD_H
#define QFZ_CORE_METHOD_H

#include "core/summary.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum qfz_method {
    QFZ_METHOD_STAVA = 0, /* those that label equal values */
    QFZ_METHOD_C2FL,
    QFZ_METHOD_HA4,
    QFZ_METHOD_HA4_32,
    QFZ_METHOD_CONNECT_V1, /* those that build alpha-trees */
    QFZ_METHOD_CONNECT_V2,
    QFZ_N_METHODS,
    QFZ_N_LABELING_METHODS = QFZ_METHOD_CONNECT_V1
} qfz_method;

const char *qfz_method_name(qfz_method method);

/* Finds a method by name.  QFZ_EARG if there is no such method, if it does not do this kind of
 * work, or not under this rule; the message says why, and what to use instead.  Needs no device. */
qfz_status qfz_method_find(const char *name, const qfz_rule *rule, qfz_kind kind,
                           qfz_method *method, qfz_error *err);

#ifdef __cplusplus
}
#endif

#endif
