/* SPDX-License-Identifier: MIT */
#include "core/span.h"

static double float_of_order(uint32_t order)
{
    const uint32_t bits = order >> 31 ? order ^ 0x80000000u : ~order;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

bool qfz_orders_too_wide(qfz_type type, uint32_t least, uint32_t greatest, double omega)
{
    if (least >= greatest) return false;
    if (!qfz_type_is_float(type)) return (double)(greatest - least) > omega;
    return float_of_order(greatest) - float_of_order(least) > omega;
}

bool qfz_span_too_wide(const qfz_rule *rule, const uint64_t *span)
{
    for (int b = 0; b < rule->n_bands; b++)
        if (qfz_orders_too_wide(rule->type, (uint32_t)span[2 * b],
                                UINT32_MAX - (uint32_t)span[2 * b + 1], rule->omega[b]))
            return true;
    return false;
}
