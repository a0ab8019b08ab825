/* SPDX-License-Identifier: MIT */
/* test_soak.c - PROGRAM SEED SESSIONS JOBS: so many sessions and jobs in one process, in two
 * threads side by side; the memory in use does not grow after the first tenth. */
#include "files.h"
#include "qfz.h"

#include <malloc.h>
#include <pthread.h>

enum { SIDE = 48, STEPS = 10, ROOM_BYTES = 256 << 10 };

static uint8_t pixels[SIDE * SIDE];

/* What one thread does in each of the steps. */
typedef struct work {
    int64_t n_sessions, n_jobs;
    char src[PATH_ROOM], dst[PATH_ROOM];
    uint64_t failures;
} work;

static bool session(int64_t number)
{
    static const qfz_part parts[] = {QFZ_PART_LABEL, QFZ_PART_SALIENCY, QFZ_PART_ALPHA_OMEGA};
    static const double omega[1] = {9};
    qfz_session *s = NULL;
    qfz_error err = {0};
    const qfz_image image = {.struct_size = sizeof(qfz_image),
                             .h = SIDE,
                             .w = SIDE,
                             .n_bands = 1,
                             .type = QFZ_U8,
                             .pixels = pixels};
    const qfz_criterion criterion = {.connectivity = number % 2 ? 4 : 8,
                                     .has_alpha = true,
                                     .alpha = (double)(number % 5),
                                     .omega = number % 3 == 2 ? omega : NULL,
                                     .n_omega = number % 3 == 2};
    qfz_session_options options = qfz_session_options_default();
    options.engine = QFZ_ENGINE_CPU;
    options.n_threads = 1;
    const bool good = qfz_session_open(&s, &image, &criterion, &options, &err) == QFZ_OK &&
                      qfz_session_run(s, parts[number % 3], NULL, &err) == QFZ_OK;
    qfz_session_close(s);
    return good;
}

/* Half of the jobs have blocks as large as tiles, which are encoded and written without GDAL. */
static bool job(const work *w, int64_t number)
{
    static const qfz_task tasks[] = {QFZ_LABEL, QFZ_SIMPLIFY, QFZ_SALIENCY};
    static const char *const blocks[] = {"BLOCKXSIZE=16", "BLOCKYSIZE=16", NULL};
    const bool is_whole = number % 2;
    qfz_job j = qfz_job_default(tasks[number % 3]);
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    j.src = w->src;
    j.dst = w->dst;
    j.overwrite = true;
    j.engine = QFZ_ENGINE_CPU;
    j.criterion.has_alpha = j.task != QFZ_SALIENCY;
    j.criterion.alpha = j.criterion.has_alpha ? 3 : 0;
    j.tile_px = is_whole ? 16 : 20;
    j.creation_options = is_whole ? blocks : NULL;
    j.n_threads = 1;
    j.memory_bytes = INT64_C(200) << 20;
    return qfz_job_run(&j, &report, &err) == QFZ_OK;
}

static void *run_step(void *arg)
{
    work *const w = arg;
    for (int64_t i = 0; i < w->n_sessions; i++)
        w->failures += !session(i);
    for (int64_t i = 0; i < w->n_jobs; i++)
        w->failures += !job(w, i);
    return NULL;
}

static void make_source(const char *path)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        pixels[i] = (uint8_t)(i / SIDE / 7 * 5 + i % SIDE / 5 * 3 + check_pick(3));
    files_write_bytes(path, pixels, SIDE, SIDE);
}

/* All threads of a step have ended: memory of a thread is not counted. */
static size_t step(work *both)
{
    pthread_t threads[2];
    for (int t = 0; t < 2; t++)
        files_must(pthread_create(&threads[t], NULL, run_step, &both[t]) == 0);
    for (int t = 0; t < 2; t++)
        files_must(pthread_join(threads[t], NULL) == 0);
    return mallinfo2().uordblks;
}

int main(int argc, char **argv)
{
    static work both[2];
    const int64_t n_sessions = argc > 2 ? strtoll(argv[2], NULL, 10) : 1000;
    const int64_t n_jobs = argc > 3 ? strtoll(argv[3], NULL, 10) : 60;
    size_t first = 0, last = 0;
    check_begin(argc > 2 ? 2 : argc, argv, 1);
    check_case(0, "%d sessions, %d jobs", (int)n_sessions, (int)n_jobs);
    files_begin();
    for (int t = 0; t < 2; t++) {
        both[t].n_sessions = n_sessions / 2 / STEPS;
        both[t].n_jobs = n_jobs / 2 / STEPS;
        (void)snprintf(both[t].src, PATH_ROOM, "%s/src%d.tif", files_.folder, t);
        (void)snprintf(both[t].dst, PATH_ROOM, "%s/dst%d.tif", files_.folder, t);
        make_source(both[t].src);
    }
    for (int i = 0; i < STEPS; i++) {
        last = step(both);
        if (i == 0) first = last;
    }
    for (int t = 0; t < 2; t++)
        CHECK(both[t].failures == 0, "%" PRIu64 " of thread %d failed", both[t].failures, t);
    CHECK(last < first + ROOM_BYTES, "%zu bytes in use, %zu after the first tenth", last, first);
    printf("bytes in use: %zu after a tenth, %zu at the end\n", first, last);
    files_end();
    return check_end();
}
