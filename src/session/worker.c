/* SPDX-License-Identifier: MIT */
/* worker.c - opens a worker for an image of a session, and loads the image. */
#include "session/state.h"

static qfz_status open_on(const qfz_session *s, const qfz_choice *choice,
                          const qfz_session_work *work, qfz_worker **worker, qfz_error *err)
{
    const qfz_worker_spec spec = {.rule = work->rule,
                                  .kind = work->kind,
                                  .max_h = (int32_t)s->image.h,
                                  .max_w = (int32_t)s->image.w,
                                  .n_threads = s->n_threads,
                                  .device = choice->devices[0],
                                  .method = work->method};
    *worker = NULL;
    return choice->engine->open(worker, 1, &spec, err);
}

/* A GPU may lack what this kind of work needs, or may not start: AUTO then takes the CPU. */
qfz_status qfz_session_open_worker(const qfz_session *s, const qfz_session_work *work,
                                   const qfz_engine **engine, qfz_worker **worker, qfz_error *err)
{
    qfz_choice choice = s->choice;
    QFZ_TRY(qfz_choice_settle(&choice, s->requested, work->rule, work->kind, err));
    qfz_status st = open_on(s, &choice, work, worker, err);
    if (st == QFZ_EGPU && s->requested == QFZ_ENGINE_AUTO) {
        qfz_choose_cpu(&choice, err);
        err->status = QFZ_OK;
        st = open_on(s, &choice, work, worker, err);
    }
    *engine = choice.engine;
    return st;
}

qfz_status qfz_session_load(const qfz_session *s, const qfz_engine *engine, qfz_worker *worker,
                            const qfz_image *image, qfz_error *err)
{
    if (image->memory == QFZ_MEMORY_DEVICE)
        return engine->device->load(worker, image, s->options.cuda_stream, err);
    return qfz_engine_load(engine, worker, image, err);
}
