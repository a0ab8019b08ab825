/* SPDX-License-Identifier: MIT */
/* test_setup.c - the type of labels follows from their number, that of levels from the pixels';
 * what a job may not ask for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "core/engine.h"
#include "job/engine_times.h"
#include "job/output_specs.h"
#include "job/setup_memory.h"
#include "job/setup_seconds.h"

static const qfz_job job_of_labels = {.task = QFZ_LABEL};

static void labels_are_wide_when_32_bits_are_too_few(void **state)
{
    (void)state;
    const qfz_setup setup = {.job = &job_of_labels, .rule = {.connectivity = 4}};
    assert_int_equal(qfz_output_spec_labels(&setup, "x.tif", 0).type, QFZ_OUT_U32);
    assert_int_equal(qfz_output_spec_labels(&setup, "x.tif", UINT32_MAX).type, QFZ_OUT_U32);
    const qfz_sink_spec wide = qfz_output_spec_labels(&setup, "x.tif", (uint64_t)UINT32_MAX + 1);
    assert_int_equal(wide.type, QFZ_OUT_U64);
    assert_true(wide.max_value == 4294967296.0 && wide.has_nodata && wide.nodata == 0);
}

static void wide_labels_keep_their_high_words(void **state)
{
    (void)state;
    const uint8_t pixels[4] = {1, 2, 2, 3};
    const qfz_image tile = {.h = 1, .w = 4, .n_bands = 1, .type = QFZ_U8, .pixels = pixels};
    const qfz_rule rule = {
        .connectivity = 4, .distance = QFZ_LINF, .type = QFZ_U8, .n_bands = 1, .alpha_level = 0};
    uint64_t row_start[1] = {UINT64_C(3) << 33 | 7}, border_label[3] = {UINT64_C(1) << 40, 0, 5};
    const qfz_numbers numbers = {.row_start = row_start, .border_label = border_label};
    const uint64_t want[4] = {border_label[0], row_start[0] + 1, row_start[0] + 1, 5};
    uint64_t got[4];
    qfz_error err = {.status = QFZ_OK};
    qfz_worker *worker;
    qfz_partition partition;
    const qfz_worker_spec spec = {
        .rule = &rule, .kind = QFZ_COMPONENTS, .max_h = 1, .max_w = 4, .n_threads = 1};
    assert_int_equal(qfz_engine_cpu.open(&worker, 1, &spec, &err), QFZ_OK);
    assert_int_equal(qfz_engine_cpu.load(worker, &tile, &err), QFZ_OK);
    assert_int_equal(qfz_engine_cpu.partition(worker, NULL, &partition, &err), QFZ_OK);
    assert_int_equal(partition.n_regions, 3);
    assert_int_equal(qfz_engine_cpu.number(worker, &numbers, &err), QFZ_OK);
    assert_int_equal(qfz_engine_cpu.labels(worker, true, got, &err), QFZ_OK);
    assert_memory_equal(got, want, sizeof want);
    qfz_engine_cpu.close(&worker, 1);
}

static void levels_get_the_least_type_that_is_larger_than_any(void **state)
{
    (void)state;
    qfz_setup setup = {.job = &job_of_labels,
                       .rule = {.connectivity = 8, .type = QFZ_U8, .distance = QFZ_L1}};
    setup.max_level = 255;
    assert_int_equal(qfz_output_spec_saliency(&setup, "x.tif", QFZ_EDGES, 0).type, QFZ_OUT_U16);
    assert_int_equal(qfz_output_spec_saliency(&setup, "x.tif", QFZ_EDGES, 0).n_bands, 4);
    setup.max_level = 65535;
    assert_int_equal(qfz_output_spec_saliency(&setup, "x.tif", QFZ_EDGES, 0).type, QFZ_OUT_U32);
    setup.max_level = UINT32_MAX;
    assert_int_equal(qfz_output_spec_saliency(&setup, "x.tif", QFZ_EDGES, 0).type, QFZ_OUT_U64);
    setup.rule.distance = QFZ_L2;
    assert_int_equal(qfz_output_spec_saliency(&setup, "x.tif", QFZ_EDGES, 0).type, QFZ_OUT_F32);
}

/* The largest saliency that occurs decides, but for levels whose type is fixed. */
static void found_levels_get_the_least_type(void **state)
{
    (void)state;
    qfz_job job = job_of_labels;
    qfz_setup setup = {.job = &job,
                       .rule = {.connectivity = 4, .type = QFZ_U16, .distance = QFZ_LINF}};
    setup.max_level = 65535;
    assert_true(qfz_output_type_is_found(&setup));
    assert_int_equal(qfz_output_spec_saliency(&setup, "x.tif", QFZ_EDGES, 1).type, QFZ_OUT_U8);
    assert_true(qfz_output_spec_saliency(&setup, "x.tif", QFZ_EDGES, 1).nodata == 255);
    assert_int_equal(qfz_output_spec_saliency(&setup, "x.tif", QFZ_PIXEL, 2).type, QFZ_OUT_U16);
    assert_int_equal(qfz_output_spec_saliency(&setup, "x.tif", QFZ_EDGES, 4).type, QFZ_OUT_U32);
    job.type = "UInt32";
    assert_false(qfz_output_type_is_found(&setup));
    assert_int_equal(qfz_output_spec_saliency(&setup, "x.tif", QFZ_EDGES, 1).type, QFZ_OUT_U32);
    job.type = NULL;
    setup.max_level = UINT32_MAX;
    assert_false(qfz_output_type_is_found(&setup));
    assert_int_equal(qfz_output_spec_saliency(&setup, "x.tif", QFZ_EDGES, 1).type, QFZ_OUT_U64);
    setup.max_level = 254;
    assert_false(qfz_output_type_is_found(&setup));
    assert_int_equal(qfz_output_spec_saliency(&setup, "x.tif", QFZ_EDGES, 0).type, QFZ_OUT_U8);
}

/* Where there is no edge, the greatest value that the type has. */
static void levels_that_are_missing_are_nodata(void **state)
{
    (void)state;
    static const struct {
        uint32_t max_level;
        double nodata;
    } cases[] = {{255, 65535}, {65535, 4294967295.0}, {UINT32_MAX, 18446744073709551615.0}};
    qfz_setup setup = {.job = &job_of_labels,
                       .rule = {.connectivity = 4, .type = QFZ_U8, .distance = QFZ_L1}};
    for (int i = 0; i < 3; i++) {
        setup.max_level = cases[i].max_level;
        const qfz_sink_spec spec = qfz_output_spec_saliency(&setup, "x.tif", QFZ_EDGES, 0);
        assert_true(spec.has_nodata && spec.nodata == cases[i].nodata);
        assert_true(spec.max_value == cases[i].nodata);
    }
    setup.rule.type = QFZ_F32;
    const qfz_sink_spec spec = qfz_output_spec_saliency(&setup, "x.tif", QFZ_EDGES, 0);
    assert_true(spec.type == QFZ_OUT_F32 && isnan(spec.nodata) && isinf(spec.max_value));
}

/* Invalid pixels beside invalid ones have no edge that could say so: edges have a mask. */
static void layouts_have_their_sizes_and_masks(void **state)
{
    (void)state;
    static const qfz_layout layouts[] = {QFZ_EDGES, QFZ_PIXEL, QFZ_KHALIMSKY};
    qfz_setup setup = {.job = &job_of_labels,
                       .rule = {.connectivity = 4, .type = QFZ_U8},
                       .info = {.w = 7, .h = 5}};
    for (int masked = 0; masked < 2; masked++)
        for (int i = 0; i < 3; i++) {
            setup.info.may_be_invalid = masked;
            const qfz_sink_spec spec = qfz_output_spec_saliency(&setup, "x.tif", layouts[i], 0);
            assert_int_equal(spec.w, layouts[i] == QFZ_KHALIMSKY ? 13 : 7);
            assert_int_equal(spec.h, layouts[i] == QFZ_KHALIMSKY ? 9 : 5);
            assert_int_equal(spec.n_bands, layouts[i] == QFZ_EDGES ? 2 : 1);
            assert_int_equal(spec.has_mask, masked && layouts[i] == QFZ_EDGES);
        }
}

/* What pixels without data are in a painted raster: the source's nodata, NaN, or masked. */
static void painted_pixels_keep_what_they_are(void **state)
{
    (void)state;
    qfz_setup setup = {.job = &job_of_labels, .info = {.type = QFZ_U8, .n_bands = 3}};
    qfz_sink_spec spec = qfz_output_spec_painted(&setup, "x.tif");
    assert_true(!spec.has_nodata && !spec.has_mask && spec.n_bands == 3 && spec.max_value == 255);
    setup.info.may_be_invalid = true;
    spec = qfz_output_spec_painted(&setup, "x.tif");
    assert_true(!spec.has_nodata && spec.has_mask);
    setup.info.type = QFZ_F32;
    spec = qfz_output_spec_painted(&setup, "x.tif");
    assert_true(spec.has_nodata && isnan(spec.nodata) && !spec.has_mask);
    setup.info.has_nodata = true;
    setup.info.nodata = -1;
    spec = qfz_output_spec_painted(&setup, "x.tif");
    assert_true(spec.has_nodata && spec.nodata == -1 && !spec.has_mask);
}

/* Born from a bug: with labels asked for and no other output, a name that was not there was read.
 */
static void counting_takes_no_outputs(void **state)
{
    (void)state;
    qfz_job job = qfz_job_default(QFZ_SIMPLIFY);
    qfz_plan plan = qfz_plan_default();
    qfz_error err = {.status = QFZ_OK};
    job.src = "none.tif";
    job.count_only = true;
    job.labels = "labels.tif";
    assert_int_equal(qfz_job_plan(&job, &plan, &err), QFZ_EARG);
    assert_non_null(strstr(err.message, "labels.tif: where regions are only counted"));
    job.labels = NULL;
    job.task = QFZ_SALIENCY;
    err = (qfz_error){.status = QFZ_OK};
    assert_int_equal(qfz_job_plan(&job, &plan, &err), QFZ_EARG);
    assert_non_null(strstr(err.message, "no regions to count"));
}

static qfz_job good_job(qfz_task task)
{
    qfz_job job = qfz_job_default(task);
    job.src = "none.tif";
    job.dst = "out.tif";
    if (task == QFZ_CURVE) job.dst = NULL;
    if (task == QFZ_FOREST) job.forest = "tree.csv";
    job.criterion.has_alpha = task == QFZ_CUT;
    return job;
}

/* The job asks for nothing that is wrong in itself; or, words: that is what is said of it. */
static void says(const qfz_job *job, const char *words)
{
    qfz_plan plan = qfz_plan_default();
    qfz_error err = {.status = QFZ_OK};
    const qfz_status st = qfz_job_plan(job, &plan, &err);
    if (st != (words ? QFZ_EARG : QFZ_EIO) || !strstr(err.message, words ? words : "none.tif"))
        fail_msg("status %d, not \"%s\": %s", (int)st, words ? words : "", err.message);
}

/* SET changes a good job. */
#define REFUSED(TASK, SET, WORDS)                                                                  \
    do {                                                                                           \
        qfz_job job = good_job(TASK);                                                              \
        says(&job, NULL);                                                                          \
        SET;                                                                                       \
        says(&job, WORDS);                                                                         \
    } while (0)

static void senseless_jobs_are_refused(void **state)
{
    (void)state;
    const double omega = 1, negative = -1;
    REFUSED(QFZ_LABEL, job.dst = NULL, "source and output must be named");
    REFUSED(QFZ_LABEL, job.src = NULL, "source and output must be named");
    REFUSED(QFZ_LABEL, job.criterion.connectivity = 6, "connectivity is 6");
    REFUSED(QFZ_LABEL, (job.criterion.has_alpha = true, job.criterion.alpha = -1), "alpha is -1");
    REFUSED(QFZ_LABEL, (job.criterion.has_alpha = true, job.criterion.alpha = NAN), "alpha is");
    REFUSED(QFZ_SIMPLIFY, (job.criterion.omega = &negative, job.criterion.n_omega = 1),
            "omega is -1");
    REFUSED(QFZ_LABEL, (job.criterion.omega = &omega, job.criterion.n_omega = 1), "simplify only");
    REFUSED(QFZ_LABEL, job.tile_px = -1, "tile side is -1");
    REFUSED(QFZ_LABEL, job.n_threads = -2, "thread count is -2");
    REFUSED(QFZ_LABEL, job.retries = -1, "-1 retries");
    REFUSED(QFZ_LABEL, job.retry_wait_s = NAN, "retries after");
    REFUSED(QFZ_LABEL, job.memory_bytes = -1, "memory is negative");
    REFUSED(QFZ_LABEL, job.labels = "labels.tif", "simplify only");
    REFUSED(QFZ_SIMPLIFY, job.labels = job.dst, "named for two outputs");
    REFUSED(QFZ_SALIENCY, job.regions = "r.csv", "no regions to list");
    REFUSED(QFZ_SIMPLIFY, job.has_background = true, "background belongs to label");
    REFUSED(QFZ_CUT, job.criterion.has_alpha = false, "a cut needs alpha");
    REFUSED(QFZ_CURVE, job.dst = "out.tif", "there are no outputs");
    REFUSED(QFZ_FOREST, job.forest = NULL, "the table of the hierarchy must be named");
    REFUSED(QFZ_FOREST, (job.count_only = true, job.dst = NULL), "tree writes its outputs");
    REFUSED(QFZ_LABEL, job.forest = "tree.csv", "tree.csv: a table of the hierarchy belongs to");
}

static void senseless_phases_are_refused(void **state)
{
    (void)state;
    const qfz_ranks two = {.n = 2, .n_local = 2};
    REFUSED(QFZ_LABEL, job.resume = true, "needs --work");
    REFUSED(QFZ_LABEL, job.n_parts = 2, "belongs to a --phase");
    REFUSED(QFZ_LABEL, job.phase = QFZ_PHASE_STITCH, "needs --work");
    REFUSED(QFZ_LABEL, (job.work = "w", job.phase = QFZ_PHASE_STITCH, job.ranks = &two),
            "a phase is for one process");
    REFUSED(QFZ_LABEL, (job.work = "w", job.phase = QFZ_PHASE_RESOLVE), "one part at a time");
    REFUSED(QFZ_LABEL, (job.work = "w", job.phase = QFZ_PHASE_RESOLVE, job.n_parts = 2),
            "part 0 of 2");
    REFUSED(QFZ_LABEL,
            (job.work = "w", job.phase = QFZ_PHASE_SUMMARISE, job.part = 3, job.n_parts = 2),
            "part 3 of 2");
}

static void time_grows_with_pixels_and_bands_and_falls_with_threads_and_gpus(void **state)
{
    (void)state;
    for (int task = QFZ_LABEL; task <= QFZ_CUT; task++) {
        qfz_job job = qfz_job_default((qfz_task)task);
        const qfz_setup one = {
            .job = &job, .info.n_bands = 1, .n_threads = 4, .choice.n_devices = 1};
        qfz_setup setup = one;
        const double cpu = qfz_setup_seconds(&setup, 1000000000);
        assert_true(cpu > 1 && cpu < 100);
        assert_true(qfz_setup_seconds(&setup, 2000000000) == 2 * cpu);
        setup.info.n_bands = 4;
        assert_true(qfz_setup_seconds(&setup, 1000000000) > cpu);
        setup = one;
        setup.n_threads = 8;
        assert_true(qfz_setup_seconds(&setup, 1000000000) == cpu / 2);
        setup.choice.device_memory_bytes = 1; /* the threads feed the GPU; then it is the limit */
        assert_true(qfz_setup_seconds(&setup, 1000000000) <= 1.2 * cpu / 2);
        setup.n_threads = 10000;
        const double gpu = qfz_setup_seconds(&setup, 1000000000);
        setup.choice.n_devices = 2;
        assert_true(gpu > 0.1 && qfz_setup_seconds(&setup, 1000000000) == gpu / 2);
        job.count_only = true;
        if (task != QFZ_SALIENCY) assert_true(qfz_setup_seconds(&one, 1000000000) < cpu);
    }
}

static int64_t no_bytes(const qfz_rule *rule, qfz_kind kind)
{
    (void)rule;
    (void)kind;
    return 0;
}

/* Bytes of a tile of 100 x 100 pixels of 16 bits. */
static int64_t tile_bytes_of(const qfz_engine *engine, const double *omega)
{
    qfz_error err = {.status = QFZ_OK};
    const qfz_job job = qfz_job_default(QFZ_SIMPLIFY);
    qfz_setup setup = {.job = &job,
                       .engine = engine,
                       .kind = QFZ_OMEGA,
                       .n_threads = 1,
                       .rule.omega = omega,
                       .info = {.type = QFZ_U16, .n_bands = 1, .n_planes = 1},
                       .tiling = {.w = 100, .h = 100}};
    assert_int_equal(qfz_setup_retile(&setup, 100, 100, &err), QFZ_OK);
    return setup.worker_bytes;
}

/* Symptom: simplify of fifty gigapixels on a GPU took 39 % more memory than was planned. */
static void range_events_of_a_device_are_planned(void **state)
{
    (void)state;
    static const qfz_engine_device device = {0};
    static const qfz_engine host = {.bytes_per_px = no_bytes},
                            gpu = {.bytes_per_px = no_bytes, .device = &device};
    const double omega = 20;
    const int64_t event_bytes = 4 + 4 + 2 + 2;
    assert_int_equal(tile_bytes_of(&gpu, &omega) - tile_bytes_of(&host, &omega),
                     100 * 100 * event_bytes);
    assert_int_equal(tile_bytes_of(&gpu, NULL), tile_bytes_of(&host, NULL));
}

/* Of 50 Gpixel on 16 cores, docs/dev/measurements, "Fifty gigapixels": 64 s, where 131 were
 * expected, the time of labels of equal values. */
static void labels_of_alpha_take_less_than_those_of_equal_values(void **state)
{
    (void)state;
    const int64_t n_px = INT64_C(223606) * 223607;
    qfz_job job = qfz_job_default(QFZ_LABEL);
    const qfz_setup setup = {.job = &job, .info.n_bands = 1, .n_threads = 16};
    const double equal = qfz_setup_seconds(&setup, n_px);
    job.criterion.has_alpha = true;
    const double found = qfz_setup_seconds(&setup, n_px);
    assert_true(found > 64 / 1.5 && found < 64 * 1.5 && equal > 1.5 * found);
}

/* Seconds on 16 cores and one H200, 16384 x 16384 pixels:
 * docs/dev/measurements/2026-11-27-engine-rates.md. */
static void the_engine_that_was_faster_is_chosen(void **state)
{
    (void)state;
    static const struct {
        qfz_task task;
        bool has_area;
        double cpu_s, gpu_s;
    } measured[] = {{QFZ_LABEL, false, 0.74, 1.03},    {QFZ_LABEL, true, 1.405, 1.018},
                    {QFZ_SIMPLIFY, false, 1.46, 0.69}, {QFZ_SIMPLIFY, true, 2.047, 0.972},
                    {QFZ_SALIENCY, false, 1.36, 1.00}, {QFZ_SALIENCY, true, 2.236, 1.139},
                    {QFZ_CURVE, true, 1.624, 0.741},   {QFZ_FOREST, true, 2.105, 1.477}};
    for (size_t i = 0; i < sizeof measured / sizeof measured[0]; i++) {
        const qfz_engine_work work = {.task = measured[i].task,
                                      .has_area = measured[i].has_area,
                                      .n_px = 16384 * 16384,
                                      .n_threads = 16,
                                      .n_gpus = 1};
        const qfz_engine_times times = qfz_engine_times_of(&work);
        assert_true(fabs(times.cpu_s - measured[i].cpu_s) < 0.03);
        assert_true(fabs(times.gpu_s - measured[i].gpu_s) < 0.03);
    }
}

static void the_start_of_gpus_must_pay(void **state)
{
    (void)state;
    qfz_engine_work work = {.task = QFZ_SIMPLIFY, .n_px = 1 << 20, .n_threads = 2, .n_gpus = 1};
    qfz_engine_times times = qfz_engine_times_of(&work);
    assert_true(times.cpu_s < 0.3 && times.gpu_s > 0.3);
    work.n_px = 1 << 30;
    times = qfz_engine_times_of(&work);
    assert_true(times.gpu_s < times.cpu_s);
    work.n_threads = 100000; /* the GPU's kernels are the limit */
    const double one = qfz_engine_times_of(&work).gpu_s;
    work.n_gpus = 2;
    const double two = qfz_engine_times_of(&work).gpu_s;
    assert_true(fabs(two - 0.6 - (one - 0.3) / 2) < 1e-9);
    work.counts_only = true;
    work.n_threads = 16;
    work.n_gpus = 1;
    assert_true(qfz_engine_times_of(&work).gpu_s < times.gpu_s);
}

static void the_cpu_has_tables(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const qfz_engine_work work = {.task = QFZ_REGIONS,
                                      .has_area = i == 1,
                                      .n_px = INT64_C(1) << 40,
                                      .n_threads = 1,
                                      .n_gpus = 1};
        const qfz_engine_times times = qfz_engine_times_of(&work);
        assert_true(times.gpu_s == INFINITY && times.cpu_s > 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_wide_when_32_bits_are_too_few),
        cmocka_unit_test(wide_labels_keep_their_high_words),
        cmocka_unit_test(levels_get_the_least_type_that_is_larger_than_any),
        cmocka_unit_test(found_levels_get_the_least_type),
        cmocka_unit_test(levels_that_are_missing_are_nodata),
        cmocka_unit_test(layouts_have_their_sizes_and_masks),
        cmocka_unit_test(painted_pixels_keep_what_they_are),
        cmocka_unit_test(counting_takes_no_outputs),
        cmocka_unit_test(senseless_jobs_are_refused),
        cmocka_unit_test(senseless_phases_are_refused),
        cmocka_unit_test(time_grows_with_pixels_and_bands_and_falls_with_threads_and_gpus),
        cmocka_unit_test(range_events_of_a_device_are_planned),
        cmocka_unit_test(labels_of_alpha_take_less_than_those_of_equal_values),
        cmocka_unit_test(the_engine_that_was_faster_is_chosen),
        cmocka_unit_test(the_start_of_gpus_must_pay),
        cmocka_unit_test(the_cpu_has_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
