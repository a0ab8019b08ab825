/* SPDX-License-Identifier: MIT */
/* filter.c - the area filter of a session's image.  It runs once, before the first part that needs
 * it; the parts see its result as image.zeroed. */
#include <stdlib.h>

#include "core/memory.h"
#include "session/state.h"

qfz_status qfz_session_set_filter(qfz_session *s, uint64_t min_area, qfz_error *err)
{
    s->given_zeroed = s->image.zeroed;
    if (min_area <= 1) return QFZ_OK;
    s->rule.min_mass = min_area;
    s->filter_rule = s->rule;
    s->filter_rule.alpha_level = qfz_top_level(&s->filter_rule);
    QFZ_TRY(QFZ_NEW_LARGE(&s->zeroed, qfz_session_n_px(s), err));
    s->image.zeroed = s->zeroed;
    return QFZ_OK;
}

qfz_status qfz_session_prepare_filter(qfz_session *s, qfz_error *err)
{
    if (!s->zeroed || s->has_zeroed || s->filter_worker) return QFZ_OK;
    qfz_image image = s->image;
    image.zeroed = s->given_zeroed;
    const qfz_session_work work = {.rule = &s->filter_rule, .kind = QFZ_FILTER};
    QFZ_TRY(qfz_session_open_worker(s, &work, &s->filter_engine, &s->filter_worker, err));
    return qfz_session_load(s, s->filter_engine, s->filter_worker, &image, err);
}

qfz_status qfz_session_filter(qfz_session *s, qfz_error *err)
{
    const qfz_box box = {.y1 = s->image.h, .x1 = s->image.w};
    const qfz_edge_bits bits = {.zeroed = s->zeroed};
    if (!s->zeroed || s->has_zeroed) return QFZ_OK;
    QFZ_TRY(qfz_session_advance(s, 0.15, "filter", err));
    QFZ_TRY(s->filter_engine->filter->resolve(s->filter_worker, box, NULL, NULL, &bits, err));
    for (int64_t p = 0; s->given_zeroed && p < qfz_session_n_px(s); p++)
        s->zeroed[p] |= s->given_zeroed[p];
    s->has_zeroed = true;
    return QFZ_OK;
}

void qfz_session_close_filter(qfz_session *s)
{
    if (s->filter_worker) s->filter_engine->close(&s->filter_worker, 1);
    s->filter_worker = NULL;
}
