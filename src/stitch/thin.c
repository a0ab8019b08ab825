/* SPDX-License-Identifier: MIT */
#include "stitch/thin.h"

#include "cpu/omega.h"

/* span: the range of each ring pixel so far; holds: the index of its last event. */
static qfz_status thin(const qfz_ranges *from, const qfz_rule *rule, qfz_spans *spans,
                       qfz_ranges *to, qfz_error *err)
{
    const size_t bytes = qfz_type_bytes(rule->type) * (size_t)rule->n_bands;
    for (int64_t i = 0; i < from->n; i++) {
        const uint32_t at = from->at[i];
        void *const lo = (char *)spans->lo + at * bytes, *const hi = (char *)spans->hi + at * bytes;
        if (!qfz_widen(rule, lo, hi, (const char *)from->lo + (size_t)i * bytes,
                       (const char *)from->hi + (size_t)i * bytes))
            continue;
        uint32_t *const last = &spans->holds[at];
        if (*last == QFZ_NONE || to->level[*last] != from->level[i]) {
            QFZ_TRY(qfz_ranges_reserve(to, to->n + 1, rule, err));
            *last = (uint32_t)to->n++;
            to->at[*last] = at;
            to->level[*last] = from->level[i];
        }
        qfz_copy_span((char *)to->lo + *last * bytes, lo, bytes);
        qfz_copy_span((char *)to->hi + *last * bytes, hi, bytes);
    }
    return QFZ_OK;
}

qfz_status qfz_thin_ranges(const qfz_summary *summary, const qfz_rule *rule, qfz_ranges *ranges,
                           qfz_error *err)
{
    const qfz_image ring = {.h = 1,
                            .w = summary->n_ring,
                            .n_bands = rule->n_bands,
                            .type = rule->type,
                            .pixels = summary->values};
    qfz_ranges kept = {0};
    qfz_spans spans;
    QFZ_TRY(qfz_spans_init(&spans, summary->n_ring, rule, err));
    qfz_spans_start(&spans, 0, &ring);
    const qfz_status st = thin(&summary->ranges, rule, &spans, &kept, err);
    qfz_spans_fini(&spans);
    if (st == QFZ_OK)
        *ranges = kept;
    else
        qfz_ranges_fini(&kept);
    return st;
}
