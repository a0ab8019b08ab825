/* SPDX-License-Identifier: MIT */
/* test_saliency_type.c - how wide the levels of a tile's joins are: the CUDA engine's summary has
 * the number of bytes of the CPU engine's, on tiles of several blocks of 64 x 64 pixels, with and
 * without invalid pixels, and with levels of edges in the place of those of pixels. */
#include "check.h"
#include "cpu/cpu.h"
#include "engine_under_test.h"

enum { MAX_PX = 1 << 16 };

static uint16_t pixels[MAX_PX];
static uint8_t narrow[MAX_PX], valid[MAX_PX];
static uint32_t edges[MAX_PX * QFZ_MAX_DIRS];

static void ok(qfz_status st, const qfz_error *err)
{
    CHECK(st == QFZ_OK, "status %d: %s", (int)st, err->message);
}

static int level_bytes_of(const qfz_engine *engine, const char *method, const qfz_rule *rule,
                          const qfz_image *image)
{
    const qfz_box box = {0, 0, image->h, image->w};
    const qfz_worker_spec spec = {.rule = rule,
                                  .kind = QFZ_LEVELS,
                                  .max_h = (int32_t)image->h,
                                  .max_w = (int32_t)image->w,
                                  .n_threads = 1,
                                  .method = method};
    qfz_error err = {0};
    qfz_worker *worker = NULL;
    qfz_summary summary;
    ok(engine->open(&worker, 1, &spec, &err), &err);
    ok(qfz_engine_load(engine, worker, image, &err), &err);
    ok(qfz_summary_init(&summary, box, rule, &err), &err);
    ok(engine->summarise(worker, &summary, &err), &err);
    const int bytes = summary.level_bytes;
    qfz_summary_fini(&summary);
    engine->close(&worker, 1);
    return bytes;
}

/* Noise of a range that may make levels of one byte, of two or of more; some pixels are invalid,
 * one by one or in a rectangle. */
static void make(qfz_image *image)
{
    static const int64_t ranges[] = {9, 250, 256, 300, 65535, 65536};
    const int64_t range = ranges[check_pick(image->type == QFZ_U8 ? 3 : 6)];
    const int64_t hole = check_pick(image->w), percent = check_chance(50) ? 0 : check_pick(20);
    for (int64_t i = 0; i < image->h * image->w; i++) {
        pixels[i] = (uint16_t)check_pick(range);
        narrow[i] = (uint8_t)pixels[i];
        valid[i] = i % image->w >= hole / 2 && check_pick(100) >= percent;
    }
    image->pixels = image->type == QFZ_U8 ? (const void *)narrow : pixels;
    image->valid = check_chance(70) ? valid : NULL;
}

/* Noise as above, of a raster of edges of 8, 16 or 32 bits; some edges are missing. */
static void make_edges(qfz_image *image, qfz_rule *rule)
{
    static const uint32_t most[] = {254, 255, 65534, 65535, 65536, QFZ_NO_EDGE - 1};
    const uint32_t max_edge = most[check_pick(6)];
    const int64_t range = 1 + check_pick(max_edge < 70000 ? max_edge : 70000);
    const int64_t missing = check_chance(30) ? 0 : check_pick(70);
    for (int64_t i = 0; i < qfz_n_dirs(rule) * image->h * image->w; i++) {
        const uint32_t level = check_chance(3) ? max_edge : (uint32_t)check_pick(range);
        edges[i] = check_chance(missing) ? QFZ_NO_EDGE : level;
    }
    image->edges = edges;
    rule->edge_levels = true;
    rule->max_edge = max_edge;
    rule->alpha_level = qfz_top_level(rule);
}

static void test_case(void)
{
    const qfz_type type = check_chance(50) ? QFZ_U8 : QFZ_U16;
    qfz_image image = {
        .h = 1 + check_pick(200), .w = 1 + check_pick(300), .n_bands = 1, .type = type};
    qfz_rule rule = {.connectivity = check_chance(50) ? 4 : 8,
                     .distance = QFZ_LINF,
                     .type = type,
                     .n_bands = 1,
                     .alpha_level = UINT32_MAX};
    make(&image);
    if (check_chance(40)) make_edges(&image, &rule);
    const int n_methods = TEST_ENGINE == QFZ_ENGINE_CUDA && !image.edges ? 3 : 1;
    const int want = level_bytes_of(&qfz_engine_cpu, NULL, &rule, &image);
    for (int m = 0; m < n_methods; m++) {
        static const char *const methods[] = {NULL, "connect-v1", "connect-v2"};
        const int got = level_bytes_of(&TEST_ENGINE_TABLE, methods[m], &rule, &image);
        CHECK(got == want,
              "%s, %d x %d pixels of %d bytes, %d neighbours%s: levels of %d bytes, not %d",
              methods[m] ? methods[m] : "auto", (int)image.w, (int)image.h,
              (int)qfz_type_bytes(type), rule.connectivity, image.edges ? ", with edges" : "", got,
              want);
    }
}

int main(int argc, char **argv)
{
    need_engine();
    check_begin(argc, argv, 60);
    for (int64_t i = check_.first; i < check_.cases; i++) {
        check_case(i, "making the case");
        test_case();
    }
    return check_end();
}
