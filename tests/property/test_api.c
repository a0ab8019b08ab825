/* SPDX-License-Identifier: MIT */
/* test_api.c - what qfz.h promises beside results: structs of other sizes, errors that are NULL,
 * progress and cancel, several threads at a time. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "check.h"
#include "engine_under_test.h"
#include "files.h"

enum { H = 40, W = 50, N = H * W };

static uint8_t pixels[N];

static qfz_image image_of(void)
{
    qfz_image image = qfz_image_default();
    image.h = H;
    image.w = W;
    image.n_bands = 1;
    image.type = QFZ_U8;
    image.pixels = pixels;
    return image;
}

static qfz_criterion criterion_of(double alpha)
{
    return (qfz_criterion){.connectivity = 4, .has_alpha = true, .alpha = alpha};
}

static qfz_session_options options_of(void)
{
    qfz_session_options options = qfz_session_options_default();
    options.engine = TEST_ENGINE;
    return options;
}

/* --------------------------------------------------------------------------- version and names */
static void versions(void)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%d.%d.%d", QFZ_VERSION_MAJOR, QFZ_VERSION_MINOR,
                   QFZ_VERSION_PATCH);
    CHECK(!strcmp(text, QFZ_VERSION) && !strcmp(text, qfz_version()), "version %s", qfz_version());
    CHECK(qfz_version_number() == QFZ_VERSION_NUMBER && QFZ_VERSION_NUMBER >= 10000, "version %d",
          qfz_version_number());
    CHECK(!strcmp(qfz_status_name(QFZ_OK), "QFZ_OK"), "name of 0");
    CHECK(!strcmp(qfz_status_name(QFZ_ECANCEL), "QFZ_ECANCEL"), "name of cancel");
    CHECK(!strcmp(qfz_status_name((qfz_status)99), "unknown status"), "name of 99");
}

/* ----------------------------------------------------------------------------- sizes of structs */
static qfz_status open_with(size_t image_size, size_t options_size, qfz_error *err)
{
    struct {
        qfz_image image;
        char more[64];
    } image = {.image = image_of()};
    struct {
        qfz_session_options options;
        char more[64];
    } options = {.options = options_of()};
    const qfz_criterion criterion = criterion_of(1);
    qfz_session *s = NULL;
    image.image.struct_size = image_size;
    options.options.struct_size = options_size;
    const qfz_status st = qfz_session_open(&s, &image.image, &criterion, &options.options, err);
    if (st == QFZ_OK) qfz_session_close(s);
    return st;
}

static void sizes_of_inputs(void)
{
    const size_t image = sizeof(qfz_image), options = sizeof(qfz_session_options);
    qfz_error err = {0};
    CHECK(open_with(offsetof(qfz_image, valid), options, &err) == QFZ_OK,
          "an image up to pixels: %s", err.message);
    CHECK(open_with(image, offsetof(qfz_session_options, n_threads), &err) == QFZ_OK, "%s",
          err.message);
    CHECK(open_with(image + 64, options + 64, &err) == QFZ_OK, "larger, with zeros: %s",
          err.message);
    CHECK(open_with(0, options, &err) == QFZ_EARG && strstr(err.message, "qfz_image"), "size 0: %s",
          err.message);
    CHECK(open_with(image, 0, &err) == QFZ_EARG && strstr(err.message, "qfz_session_options"),
          "size 0: %s", err.message);
    CHECK(open_with((size_t)-1, options, &err) == QFZ_EARG, "size -1");
    CHECK(open_with(image, 0, NULL) == QFZ_EARG, "no error to write to");
}

/* Bytes of the caller's that lie after a struct of its size. */
static bool is_untouched(const void *of, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (((const uint8_t *)of)[i] != 0xab) return false;
    return true;
}

/* A report of every possible size: as many bytes of it are written, and no others. */
static void sizes_of_reports(const char *src)
{
    qfz_job job = qfz_job_default(QFZ_LABEL);
    qfz_report whole = qfz_report_default();
    qfz_error err = {0};
    job.src = src;
    job.count_only = true;
    job.engine = TEST_ENGINE;
    CHECK(qfz_job_run(&job, &whole, &err) == QFZ_OK && whole.pixels == N, "%s", err.message);
    const size_t sizes[] = {sizeof(size_t), offsetof(qfz_report, pixels),
                            offsetof(qfz_report, engine), sizeof(qfz_report)};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        qfz_report part;
        memset(&part, 0xab, sizeof part);
        part.struct_size = sizes[i];
        CHECK(qfz_job_run(&job, &part, &err) == QFZ_OK, "report of %zu bytes: %s", sizes[i],
              err.message);
        CHECK(part.struct_size == sizes[i] && is_untouched(&part, sizes[i], sizeof part),
              "report of %zu bytes: written after it", sizes[i]);
        if (sizes[i] >= offsetof(qfz_report, pixels))
            CHECK(part.regions == whole.regions, "report of %zu bytes: regions", sizes[i]);
    }
    whole.struct_size = 0;
    CHECK(qfz_job_run(&job, &whole, &err) == QFZ_EARG && strstr(err.message, "qfz_report"), "%s",
          err.message);
    CHECK(qfz_job_run(&job, NULL, NULL) == QFZ_OK, "without report and error");
}

static void sizes_of_jobs(const char *src)
{
    struct {
        qfz_job job;
        char more[16];
    } j = {.job = qfz_job_default(QFZ_LABEL)};
    qfz_plan plan = qfz_plan_default(), small;
    qfz_error err = {0};
    j.job.src = src;
    j.job.count_only = true;
    j.job.struct_size = offsetof(qfz_job, format); /* all options of the engine are missing */
    j.job.gpu_method = "no such method";
    j.job.retries = -7;
    CHECK(qfz_job_plan(&j.job, &plan, &err) == QFZ_OK && plan.width == W, "a short job: %s",
          err.message);
    j.job = qfz_job_default(QFZ_LABEL);
    j.job.src = src;
    j.job.count_only = true;
    j.job.struct_size = sizeof j;
    CHECK(qfz_job_plan(&j.job, &plan, &err) == QFZ_OK, "a long job: %s", err.message);
    j.more[3] = 1;
    CHECK(qfz_job_plan(&j.job, &plan, &err) == QFZ_EARG && strstr(err.message, "qfz_job"),
          "a job of the future: %s", err.message);
    j.job.struct_size = 0;
    CHECK(qfz_job_plan(&j.job, &plan, &err) == QFZ_EARG, "a job of no size");
    j.job.struct_size = sizeof j.job;
    memset(&small, 0xab, sizeof small);
    small.struct_size = offsetof(qfz_plan, n_bands);
    CHECK(qfz_job_plan(&j.job, &small, &err) == QFZ_OK && small.height == H &&
              is_untouched(&small, offsetof(qfz_plan, n_bands), sizeof small),
          "a short plan: %s", err.message);
    j.job.criterion.reserved[2] = 1;
    CHECK(qfz_job_plan(&j.job, &plan, &err) == QFZ_EARG && strstr(err.message, "reserved"), "%s",
          err.message);
    CHECK(qfz_job_plan(NULL, &plan, &err) == QFZ_EARG, "no job");
    CHECK(qfz_job_plan(NULL, NULL, NULL) == QFZ_EARG, "nothing at all");
}

/* qfz_job_init() of an older program's job. */
static void sizes_of_initialisers(void)
{
    qfz_job job;
    const size_t size = offsetof(qfz_job, memory_bytes);
    memset(&job, 0xab, sizeof job);
    qfz_job_init(&job, size, QFZ_CUT);
    CHECK(job.struct_size == size && job.task == QFZ_CUT && job.criterion.connectivity == 4,
          "a short job");
    CHECK(is_untouched(&job, size, sizeof job), "written after a short job");
}

/* ---------------------------------------------------------------------------- progress, cancel */
typedef struct watch {
    int calls, cancel_at;
    double done;
    bool good;
} watch;

static int look(const qfz_progress *progress, void *arg)
{
    watch *const w = arg;
    w->good = w->good && progress->struct_size == sizeof *progress && progress->done >= w->done &&
              progress->done <= 1 && progress->step && progress->step[0];
    w->done = progress->done;
    return ++w->calls == w->cancel_at;
}

static const qfz_part parts[] = {QFZ_PART_LABEL, QFZ_PART_TREE, QFZ_PART_SALIENCY,
                                 QFZ_PART_ALPHA_OMEGA, QFZ_PART_FEATURES};
enum { N_PARTS = sizeof parts / sizeof *parts };

/* Cancelled at each call in turn, then run to the end: the result is as without it. */
static void cancels_session(qfz_part part)
{
    const qfz_image image = image_of();
    const qfz_criterion criterion = criterion_of(2);
    qfz_session_options options = options_of();
    qfz_session *s = NULL;
    qfz_error err = {0};
    watch w = {.good = true};
    options.progress = look;
    options.progress_arg = &w;
    CHECK(qfz_session_open(&s, &image, &criterion, &options, &err) == QFZ_OK, "%s", err.message);
    for (int at = 1; s && at < 100; at++) {
        w = (watch){.cancel_at = at, .good = true};
        const qfz_status st = qfz_session_run(s, part, NULL, &err);
        CHECK(w.good, "progress of part %d", (int)part);
        if (st == QFZ_OK) {
            CHECK(w.done == 1 && w.calls >= 3, "part %d: %g after %d calls", (int)part, w.done,
                  w.calls);
            break;
        }
        CHECK(st == QFZ_ECANCEL && w.calls == at && err.message[0], "part %d: %s", (int)part,
              err.message);
    }
    CHECK(qfz_session_n_regions(s) > 0 || part == QFZ_PART_TREE || part == QFZ_PART_SALIENCY,
          "part %d: no regions", (int)part);
    qfz_session_close(s);
}

static void cancels_job(const char *src)
{
    qfz_job job = qfz_job_default(QFZ_SALIENCY);
    qfz_error err = {0};
    watch w = {.cancel_at = 2, .good = true};
    job.src = src;
    job.dst = "/vsimem/api_cancelled.tif";
    job.tile_px = 16;
    job.n_threads = 4; /* the other threads do not call the function any more */
    job.engine = TEST_ENGINE;
    job.progress = look;
    job.progress_arg = &w;
    CHECK(qfz_job_run(&job, NULL, &err) == QFZ_ECANCEL && w.calls == 2 && w.good, "%s",
          err.message);
    VSILFILE *const left = VSIFOpenL(job.dst, "rb");
    CHECK(!left, "a cancelled job left an output");
    if (left) (void)VSIFCloseL(left);
}

/* ------------------------------------------------------------------------------ wrong calls */
static void wrong_calls(void)
{
    const qfz_image image = image_of();
    const qfz_criterion criterion = criterion_of(2);
    const qfz_session_options options = options_of();
    qfz_buffers into = qfz_buffers_default();
    qfz_features features = qfz_features_default();
    qfz_session *s = NULL;
    uint8_t painted[N];
    CHECK(qfz_session_open(NULL, &image, &criterion, &options, NULL) == QFZ_EARG, "no session");
    CHECK(qfz_session_open(&s, NULL, &criterion, &options, NULL) == QFZ_EARG, "no image");
    CHECK(qfz_session_open(&s, &image, NULL, &options, NULL) == QFZ_EARG, "no criterion");
    CHECK(qfz_session_open(&s, &image, &criterion, &options, NULL) == QFZ_OK, "with all");
    CHECK(!qfz_session_labels(s, NULL) && !qfz_session_saliency(s) && !qfz_session_tree(s).n_nodes,
          "results before a run");
    CHECK(qfz_session_run(s, (qfz_part)77, NULL, NULL) == QFZ_EARG, "part 77");
    CHECK(qfz_session_features(s, 0, 0, &features, NULL) == QFZ_EARG, "features before a run");
    CHECK(qfz_session_cut(s, 1, NULL, NULL, NULL) == QFZ_EARG, "cut before saliency");
    CHECK(qfz_session_run(s, QFZ_PART_SALIENCY, NULL, NULL) == QFZ_OK, "saliency");
    CHECK(qfz_session_cut(s, -1, NULL, NULL, NULL) == QFZ_EARG, "cut at -1");
    CHECK(qfz_session_cut(s, (double)NAN, NULL, NULL, NULL) == QFZ_EARG, "cut at NaN");
    CHECK(qfz_session_run(s, QFZ_PART_LABEL, NULL, NULL) == QFZ_OK, "label");
    CHECK(qfz_session_paint(s, 0, NULL, QFZ_MEMORY_HOST, painted, NULL) == QFZ_EARG,
          "paint labels");
    into.memory = QFZ_MEMORY_DEVICE;
    CHECK(qfz_session_run(s, QFZ_PART_LABEL, &into, NULL) == QFZ_EARG, "device without a buffer");
    into.struct_size = 0;
    CHECK(qfz_session_run(s, QFZ_PART_LABEL, &into, NULL) == QFZ_EARG, "buffers of no size");
    CHECK(qfz_session_run(s, QFZ_PART_LABEL, NULL, NULL) == QFZ_OK, "label again");
    qfz_session_close(s);
    qfz_session_close(NULL);
}

/* -------------------------------------------------------------------------------------- threads */
typedef struct one_thread {
    const char *src;
    double alpha;
    uint32_t labels[N], n;
    qfz_report report;
    char dst[64];
    bool good;
} one_thread;

static void *session_thread(void *arg)
{
    one_thread *const t = arg;
    const qfz_image image = image_of();
    const qfz_criterion criterion = criterion_of(t->alpha);
    const qfz_session_options options = options_of();
    qfz_buffers into = qfz_buffers_default();
    qfz_session *s = NULL;
    into.labels = t->labels;
    t->good = qfz_session_open(&s, &image, &criterion, &options, NULL) == QFZ_OK;
    for (int i = 0; t->good && i < 20; i++)
        t->good =
            qfz_session_run(s, i % 2 ? QFZ_PART_SALIENCY : QFZ_PART_LABEL, &into, NULL) == QFZ_OK;
    t->n = t->good ? qfz_session_n_regions(s) : 0;
    qfz_session_close(s);
    return NULL;
}

static void *job_thread(void *arg)
{
    one_thread *const t = arg;
    qfz_job job = qfz_job_default(QFZ_LABEL);
    job.src = t->src;
    job.dst = t->dst;
    job.tile_px = 16;
    job.n_threads = 2;
    job.overwrite = true;
    job.engine = TEST_ENGINE;
    job.criterion = criterion_of(t->alpha);
    t->report = qfz_report_default();
    t->good = true;
    for (int i = 0; t->good && i < 5; i++)
        t->good = qfz_job_run(&job, &t->report, NULL) == QFZ_OK;
    return NULL;
}

/* Both at a time do what each does alone. */
static void two_threads(const char *src, void *(*work)(void *), const char *what)
{
    static one_thread alone[2], both[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        alone[i] = (one_thread){.src = src, .alpha = i + 1};
        (void)snprintf(alone[i].dst, sizeof alone[i].dst, "/vsimem/api_thread_%d.tif", i);
        both[i] = alone[i];
        (void)work(&alone[i]);
    }
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, &both[i]) != 0) abort();
    for (int i = 0; i < 2; i++) {
        (void)pthread_join(threads[i], NULL);
        CHECK(alone[i].good && both[i].good, "%s, thread %d", what, i);
        CHECK(alone[i].n == both[i].n && alone[i].report.regions == both[i].report.regions &&
                  !memcmp(alone[i].labels, both[i].labels, sizeof alone[i].labels),
              "%s, thread %d: other results", what, i);
    }
}

int main(int argc, char **argv)
{
    need_engine();
    check_begin(argc, argv, 1);
    check_case(0, "the API");
    for (int i = 0; i < N; i++)
        pixels[i] = (uint8_t)check_pick(6);
    GDALAllRegister();
    const char src[] = "/vsimem/api.tif";
    const GDALDatasetH file =
        GDALCreate(GDALGetDriverByName("GTiff"), src, W, H, 1, GDT_Byte, NULL);
    if (GDALRasterIO(GDALGetRasterBand(file, 1), GF_Write, 0, 0, W, H, pixels, W, H, GDT_Byte, 0,
                     0) != CE_None)
        abort();
    GDALClose(file);
    versions();
    sizes_of_inputs();
    sizes_of_reports(src);
    sizes_of_jobs(src);
    sizes_of_initialisers();
    for (int i = 0; i < N_PARTS; i++)
        cancels_session(parts[i]);
    cancels_job(src);
    wrong_calls();
    two_threads(src, session_thread, "sessions");
    two_threads(src, job_thread, "jobs");
    return check_end();
}
