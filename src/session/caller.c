/* SPDX-License-Identifier: MIT */
/* caller.c - what a session has from its caller at each call: progress, buffers and their room. */
#include "session/state.h"

#include "cpu/cpu.h"

qfz_status qfz_session_advance(qfz_session *s, double done, const char *step, qfz_error *err)
{
    const qfz_progress progress = {.struct_size = sizeof progress, .done = done, .step = step};
    if (!s->options.progress || s->options.progress(&progress, s->options.progress_arg) == 0)
        return QFZ_OK;
    return qfz_fail(err, QFZ_ECANCEL, "cancelled by the progress function before step '%s'", step);
}

qfz_status qfz_session_get_buffers(qfz_buffers *buffers, const qfz_buffers *into, qfz_error *err)
{
    *buffers = qfz_buffers_default();
    if (!into) return QFZ_OK;
    QFZ_TRY(qfz_api_read(buffers, sizeof *buffers, into, "qfz_buffers", err));
    if (buffers->memory != QFZ_MEMORY_HOST && buffers->memory != QFZ_MEMORY_DEVICE)
        return qfz_fail(err, QFZ_EARG, "%d is no kind of memory", (int)buffers->memory);
    return QFZ_OK;
}

/* AUTO may still change the engine: the larger room of both. */
int64_t qfz_session_tree_room(const qfz_session *s)
{
    const int64_t room = qfz_tree_room(&s->rule, s->image.h, s->image.w);
    return room > 2 * qfz_session_n_px(s) ? room : 2 * qfz_session_n_px(s);
}
