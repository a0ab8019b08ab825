/* SPDX-License-Identifier: MIT */
/* test_large.c [SIDE] - the CUDA engine against the CPU engine for large numbers: images of SIDE x
 * SIDE pixels (16384) in one tile, and a job on a raster of more than 2^31 edges.  Needs some 40 GB
 * of memory and 10 GB in TMPDIR. */
#include "engine_under_test.h"
#include "files.h"

#include <unistd.h>

static int64_t side = 16384;

/* Fields of all sizes with noise; each value depends on a hash of its place only, so that any rows
 * can be computed. */
static uint32_t hash(uint64_t y, uint64_t x, uint64_t what)
{
    uint64_t z = (y << 32 | x) + what * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z >> 33);
}

static uint8_t value_at(int64_t y, int64_t x)
{
    const uint64_t v = (uint64_t)y, u = (uint64_t)x;
    uint32_t value = 0;
    for (int k = 2; k < 14; k += 3)
        value += hash(v >> k, u >> k, (uint64_t)k) % 60;
    return (uint8_t)(value + hash(v, u, 0) % 4);
}

static uint8_t *make_image(int64_t h, int64_t w)
{
    uint8_t *const pixels = malloc((size_t)(h * w));
    files_must(pixels != NULL);
#pragma omp parallel for
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++)
            pixels[y * w + x] = value_at(y, x);
    return pixels;
}

/* ---- One large tile -------------------------------------------------------------------------- */

static qfz_session *opened(const qfz_image *image, const qfz_criterion *criterion,
                           qfz_engine_choice engine, int n_threads)
{
    const qfz_session_options options = {
        .struct_size = sizeof(qfz_session_options), .engine = engine, .n_threads = n_threads};
    qfz_session *session = NULL;
    qfz_error err = {0};
    const qfz_status st = qfz_session_open(&session, image, criterion, &options, &err);
    CHECK(st == QFZ_OK, "%s", err.message);
    return session;
}

static bool ran(qfz_session *session, qfz_part part)
{
    qfz_error err = {0};
    return CHECK(qfz_session_run(session, part, NULL, &err) == QFZ_OK, "%s", err.message);
}

static bool same_words(const uint32_t *a, const uint32_t *b, int64_t n)
{
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

/* Compares trees whose inner nodes are numbered differently: to[i] is the node of b that equals
 * node i of a. */
static bool same_trees(const qfz_tree *a, const qfz_tree *b)
{
    bool same = a->n_nodes == b->n_nodes;
    uint32_t *const to = malloc((size_t)a->n_nodes * sizeof *to);
    files_must(to != NULL);
    memset(to, 0xff, (size_t)a->n_nodes * sizeof *to);
    for (int64_t i = 0; i < side * side; i++)
        to[i] = (uint32_t)i;
    /* Climbs from every pixel to the first node that is mapped already; it must be mapped to b's.
     */
    for (int64_t i = 0; i < side * side && same; i++) {
        uint32_t at = (uint32_t)i;
        for (; to[a->parent[at]] == UINT32_MAX; at = a->parent[at])
            to[a->parent[at]] = b->parent[to[at]];
        same = to[a->parent[at]] == b->parent[to[at]];
    }
    uint8_t *const seen = calloc((size_t)a->n_nodes, 1);
    files_must(seen != NULL);
    for (int64_t i = 0; i < a->n_nodes && same; i++) {
        if (to[i] == UINT32_MAX) continue; /* not in use */
        same = !seen[to[i]] && a->level[i] == b->level[to[i]];
        seen[to[i]] = 1;
    }
    free(seen);
    free(to);
    return same;
}

static void compare_part(qfz_session *cpu, qfz_session *cuda, qfz_part part, int n_dirs)
{
    const int64_t n = side * side;
    uint32_t n_cpu = 0, n_cuda = 0;
    if (!ran(cpu, part) || !ran(cuda, part)) return;
    switch (part) {
    case QFZ_PART_SALIENCY:
        CHECK(same_words(qfz_session_saliency(cpu), qfz_session_saliency(cuda), n_dirs * n),
              "saliency differs");
        break;
    case QFZ_PART_TREE: {
        const qfz_tree a = qfz_session_tree(cpu), b = qfz_session_tree(cuda);
        CHECK(same_trees(&a, &b), "trees of %lld and %lld nodes differ", (long long)a.n_nodes,
              (long long)b.n_nodes);
        break;
    }
    default: {
        const uint32_t *const a = qfz_session_labels(cpu, &n_cpu);
        const uint32_t *const b = qfz_session_labels(cuda, &n_cuda);
        CHECK(n_cpu == n_cuda && n_cpu > 1 && same_words(a, b, n), "labels: %u and %u regions",
              n_cpu, n_cuda);
    }
    }
}

static void compare_engines(const uint8_t *pixels, int connectivity)
{
    static const qfz_part parts[] = {QFZ_PART_LABEL, QFZ_PART_ALPHA_OMEGA, QFZ_PART_SALIENCY,
                                     QFZ_PART_TREE};
    static const double omega = 30;
    const int n_threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    const qfz_image image = {.struct_size = sizeof(qfz_image),
                             .h = side,
                             .w = side,
                             .n_bands = 1,
                             .type = QFZ_U8,
                             .pixels = pixels};
    qfz_criterion criterion = qfz_job_default(QFZ_SIMPLIFY).criterion;
    criterion.connectivity = connectivity;
    criterion.has_alpha = true;
    criterion.alpha = 12;
    criterion.omega = &omega;
    criterion.n_omega = 1;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        check_case((int64_t)i, "part %d, %d-connected", (int)parts[i], connectivity);
        qfz_session *const cpu = opened(&image, &criterion, QFZ_ENGINE_CPU, n_threads);
        qfz_session *const cuda = opened(&image, &criterion, TEST_ENGINE, 1);
        if (cpu && cuda) compare_part(cpu, cuda, parts[i], connectivity / 2);
        qfz_session_close(cpu);
        qfz_session_close(cuda);
    }
}

/* ---- Many edges ------------------------------------------------------------------------------ */

/* 4 edges a pixel: with SIDE 16384, 2^31 and a few rows more. */
static void write_source(const char *path, int64_t h, int64_t w)
{
    uint8_t *const pixels = make_image(h, w);
    files_write_bytes(path, pixels, h, w);
    free(pixels);
}

static void run_saliency(const char *dst, qfz_engine_choice engine, int64_t tile, int n_threads)
{
    static const char *const options[] = {"TILED=YES", "BIGTIFF=YES", NULL};
    qfz_job job = qfz_job_default(QFZ_SALIENCY);
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    job.src = scratch("in.tif");
    job.dst = dst;
    job.criterion.connectivity = 8;
    job.engine = engine;
    job.tile_px = (int32_t)tile;
    job.n_threads = n_threads;
    job.memory_bytes = (int64_t)64 << 30;
    job.creation_options = options;
    CHECK(qfz_job_run(&job, &report, &err) == QFZ_OK, "%s", err.message);
}

static bool same_rows(GDALDatasetH a, GDALDatasetH b, int y, int h)
{
    const int w = GDALGetRasterXSize(a), n_bands = GDALGetRasterCount(a);
    const size_t n = (size_t)w * (size_t)h * (size_t)n_bands;
    uint16_t *const values = malloc(2 * n * sizeof *values);
    files_must(values &&
               GDALDatasetRasterIO(a, GF_Read, 0, y, w, h, values, w, h, GDT_UInt16, n_bands, NULL,
                                   0, 0, 0) == CE_None &&
               GDALDatasetRasterIO(b, GF_Read, 0, y, w, h, values + n, w, h, GDT_UInt16, n_bands,
                                   NULL, 0, 0, 0) == CE_None);
    const bool same = memcmp(values, values + n, n * sizeof *values) == 0;
    free(values);
    return same;
}

static void compare_rasters(const char *path_a, const char *path_b)
{
    enum { ROWS = 256 };
    const GDALDatasetH a = GDALOpen(path_a, GA_ReadOnly), b = GDALOpen(path_b, GA_ReadOnly);
    if (CHECK(a && b, "an output is missing")) {
        const int h = GDALGetRasterYSize(a);
        CHECK(GDALGetRasterCount(a) == 4 && GDALGetRasterYSize(b) == h, "sizes differ");
        for (int y = 0; y < h; y += ROWS)
            CHECK(same_rows(a, b, y, h - y < ROWS ? h - y : ROWS), "rows %d.. differ", y);
    }
    GDALClose(a);
    GDALClose(b);
}

static void compare_jobs(void)
{
    const int64_t h = side + 16, w = 2 * side;
    check_case(100, "a job on %lld x %lld pixels, 8-connected", (long long)w, (long long)h);
    write_source(scratch("in.tif"), h, w);
    run_saliency(scratch("cpu.tif"), QFZ_ENGINE_CPU, side / 8, 0);
    run_saliency(scratch("cuda.tif"), TEST_ENGINE, side, 1);
    compare_rasters(scratch("cpu.tif"), scratch("cuda.tif"));
}

int main(int argc, char **argv)
{
    check_begin(1, argv, 1);
    if (argc > 1) side = strtoll(argv[1], NULL, 10);
    need_engine();
    if (sysconf(_SC_PHYS_PAGES) < (side * side * 160) / sysconf(_SC_PAGESIZE)) {
        printf("skipped: needs %lld bytes of memory\n", (long long)(side * side * 160));
        return CHECK_SKIP;
    }
    files_begin();
    uint8_t *const pixels = make_image(side, side);
    compare_engines(pixels, 4);
    compare_engines(pixels, 8);
    free(pixels);
    compare_jobs();
    files_end();
    return check_end();
}
