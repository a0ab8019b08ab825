/* SPDX-License-Identifier: MIT */
/* test_plan.c - the plan of a job stays within its memory, whatever the raster, its blocks and the
 * threads: the shares add up, more memory never makes a plan worse, and impossible jobs are
 * refused. */
#include <string.h>

#include "files.h"
#include "job/setup_init.h"
#include "job/setup_memory.h"

enum { MIB = 1 << 20 };

typedef struct problem {
    int64_t w, h, block_w, block_h;
    int type, n_bands;
    qfz_job job;
    char src[64];
} problem;

static const char *const types[] = {"Byte", "UInt16", "Float32"};

/* Writes a VRT that has blocks of a given size and is never read. */
static void write_source(const problem *p)
{
    FILE *const f = fopen(p->src, "w");
    files_must(f != NULL);
    fprintf(f, "<VRTDataset rasterXSize=\"%d\" rasterYSize=\"%d\">", (int)p->w, (int)p->h);
    for (int b = 1; b <= p->n_bands; b++)
        fprintf(f,
                "<VRTRasterBand dataType=\"%s\" band=\"%d\"><SimpleSource>"
                "<SourceFilename>none.tif</SourceFilename>"
                "<SourceProperties BlockXSize=\"%d\" BlockYSize=\"%d\"/>"
                "<SrcRect xOff=\"0\" yOff=\"0\" xSize=\"%d\" ySize=\"%d\"/>"
                "<DstRect xOff=\"0\" yOff=\"0\" xSize=\"%d\" ySize=\"%d\"/>"
                "</SimpleSource></VRTRasterBand>",
                types[p->type], b, (int)p->block_w, (int)p->block_h, (int)p->w, (int)p->h,
                (int)p->w, (int)p->h);
    fprintf(f, "</VRTDataset>");
    fclose(f);
}

static int64_t some_side(void)
{
    return 1 + check_pick((int64_t)1 << (1 + check_pick(20)));
}

static void make(problem *p)
{
    static const qfz_task tasks[] = {QFZ_LABEL, QFZ_SIMPLIFY, QFZ_SALIENCY};
    const bool strips = check_chance(30);
    p->w = some_side();
    p->h = some_side();
    p->block_w = strips ? p->w : 1 + check_pick(1024);
    p->block_h = strips ? 1 + check_pick(64) : 1 + check_pick(1024);
    p->type = (int)check_pick(3);
    p->n_bands = (int)(1 + check_pick(4));
    p->job = qfz_job_default(tasks[check_pick(3)]);
    p->job.criterion.has_alpha = true;
    p->job.criterion.connectivity = check_chance(50) ? 4 : 8;
    p->job.criterion.distance = QFZ_LINF;
    p->job.engine = QFZ_ENGINE_CPU;
    p->job.src = p->src;
    p->job.dst = "plan.tif";
    p->job.regions = p->job.task != QFZ_SALIENCY && check_chance(30) ? "plan.csv" : NULL;
    p->job.work = check_chance(30) ? "work" : NULL;
    p->job.n_threads = (int)(1 + check_pick(check_chance(50) ? 4 : 64));
    p->job.memory_bytes = (64 + check_pick((int64_t)1 << (1 + check_pick(16)))) * MIB;
    check_describe("%d x %d, blocks of %d x %d, %d bands %s, task %d, %d threads, %d MiB%s%s",
                   (int)p->w, (int)p->h, (int)p->block_w, (int)p->block_h, p->n_bands,
                   types[p->type], (int)p->job.task, p->job.n_threads,
                   (int)(p->job.memory_bytes / MIB), p->job.regions ? ", regions" : "",
                   p->job.work ? ", work" : "");
    write_source(p);
}

static qfz_status plan(const qfz_job *job, qfz_setup *setup, qfz_error *err)
{
    qfz_source *source = NULL;
    *err = (qfz_error){0};
    const qfz_status st = qfz_setup_init(setup, job, &source, err);
    qfz_source_close(source);
    return st;
}

/* The share of GDAL's cache. */
static int64_t blocks_bytes(const qfz_setup *s)
{
    const qfz_source_info *const info = &s->info;
    return 2 * info->block_w * info->block_h * info->px_bytes;
}

static void shares_fit(const qfz_setup *s)
{
    const int64_t tiles = s->worker_bytes * s->n_threads;
    const int64_t n_tiles = s->tiling.n_x * s->tiling.n_y;
    CHECK(s->program_bytes + tiles + s->cache_bytes + s->store_bytes + s->tile_cache_bytes <
              s->memory_bytes,
          "%d threads, program %" PRId64 ", tiles %" PRId64 ", cache %" PRId64 ", store %" PRId64
          ", kept %" PRId64,
          s->n_threads, s->program_bytes, tiles, s->cache_bytes, s->store_bytes,
          s->tile_cache_bytes);
    CHECK(s->program_bytes > 50 * MIB + 500 * n_tiles, "program %" PRId64 " and %" PRId64 " tiles",
          s->program_bytes, n_tiles);
    CHECK(s->cache_bytes >= blocks_bytes(s) * s->n_threads, "cache %" PRId64 " for %d threads",
          s->cache_bytes, s->n_threads);
    CHECK(s->n_threads == 1 || blocks_bytes(s) * s->n_threads <= s->memory_bytes / 2,
          "blocks of %d threads", s->n_threads);
}

static void tiles_cover_the_raster(const problem *p, const qfz_setup *s)
{
    const qfz_tiling *const t = &s->tiling;
    CHECK(t->tile_w <= p->w && t->tile_h <= p->h, "tiles of %d x %d", (int)t->tile_w,
          (int)t->tile_h);
    CHECK(t->n_x == (p->w - 1) / t->tile_w + 1 && t->n_y == (p->h - 1) / t->tile_h + 1,
          "%d x %d tiles", (int)t->n_x, (int)t->n_y);
    CHECK(s->n_threads >= 1 && s->n_threads <= p->job.n_threads, "%d threads", s->n_threads);
}

/* A job continues with the tiles it began with: with fewer threads if memory is too small for
 * all. */
static void other_tiles_fit_too(const problem *p, qfz_setup *s)
{
    qfz_error err = {0};
    const int64_t w = 1 + check_pick(p->w), h = 1 + check_pick(p->h < 4096 ? p->h : 4096);
    const int before = s->n_threads;
    const int64_t share = (s->memory_bytes - s->cache_bytes) / 7 * 3;
    if (qfz_setup_retile(s, w, h, &err) != QFZ_OK) {
        CHECK(w > INT32_MAX / h, "%s", err.message);
        return;
    }
    CHECK(s->tiling.tile_w == w && s->tiling.tile_h == h, "other tiles");
    tiles_cover_the_raster(p, s);
    CHECK(s->n_threads <= before, "%d threads", s->n_threads);
    CHECK(s->n_threads == 1 || s->worker_bytes * s->n_threads <= share,
          "tiles of %d x %d: %d threads of %" PRId64 " bytes", (int)w, (int)h, s->n_threads,
          s->worker_bytes);
    CHECK(qfz_setup_retile(s, p->w + 1, 1, &err) == QFZ_EARG, "tiles wider than the raster");
}

/* What a refusal names as the least memory is, to the megabyte. */
static void least_memory_holds(const problem *p, const char *message)
{
    qfz_setup s = {0};
    qfz_error err;
    qfz_job job = p->job;
    const char *const named = strstr(message, "--memory ");
    long long mb = 0;
    if (!CHECK(named && sscanf(named, "--memory %lldMB", &mb) == 1, "%s", message)) return;
    job.memory_bytes = mb * 1000000;
    CHECK(plan(&job, &s, &err) == QFZ_OK, "%lld MB: %s", mb, err.message);
    qfz_setup_fini(&s);
    s = (qfz_setup){0};
    job.memory_bytes -= 1000000;
    CHECK(plan(&job, &s, &err) != QFZ_OK, "%lld MB suffice, not only %lld MB", mb - 1, mb);
    qfz_setup_fini(&s);
}

static void one_case(int64_t number)
{
    problem p = {0};
    qfz_setup s = {0}, more = {0};
    qfz_error err;
    check_case(number, "making it");
    snprintf(p.src, sizeof p.src, "%s", scratch("plan.vrt"));
    make(&p);
    const qfz_status st = plan(&p.job, &s, &err);
    if (st == QFZ_OK) {
        shares_fit(&s);
        tiles_cover_the_raster(&p, &s);
        qfz_job job = p.job;
        job.memory_bytes *= 2;
        if (CHECK(plan(&job, &more, &err) == QFZ_OK, "twice the memory: %s", err.message))
            CHECK(more.n_threads >= s.n_threads &&
                      more.worker_bytes * more.n_threads >= s.worker_bytes * s.n_threads / 4,
                  "twice the memory: %d threads, not %d", more.n_threads, s.n_threads);
        other_tiles_fit_too(&p, &s);
    } else {
        CHECK(st == QFZ_ENOMEM, "status %d: %s", (int)st, err.message);
        least_memory_holds(&p, err.message);
    }
    qfz_setup_fini(&s);
    qfz_setup_fini(&more);
}

static void too_little_is_refused(void)
{
    problem p = {.w = 4096, .h = 4096, .block_w = 4096, .block_h = 4096, .n_bands = 1};
    qfz_setup s = {0};
    qfz_error err;
    check_case(-1, "too little memory");
    snprintf(p.src, sizeof p.src, "%s", scratch("plan.vrt"));
    write_source(&p);
    p.job = qfz_job_default(QFZ_LABEL);
    p.job.engine = QFZ_ENGINE_CPU;
    p.job.src = p.src;
    p.job.dst = "plan.tif";
    p.job.memory_bytes = 64 * MIB - 1;
    CHECK(plan(&p.job, &s, &err) == QFZ_EARG && strstr(err.message, "at least"), "%s", err.message);
    p.block_w = p.block_h = 8192; /* two of them take 128 MiB */
    p.w = p.h = 8192;
    write_source(&p);
    p.job.memory_bytes = 128 * MIB;
    CHECK(plan(&p.job, &s, &err) == QFZ_ENOMEM && strstr(err.message, "8192 x 8192"), "%s",
          err.message);
    p.job.memory_bytes = 256 * MIB;
    p.job.n_threads = 8;
    CHECK(plan(&p.job, &s, &err) == QFZ_OK && s.n_threads == 1, "%d threads: %s", s.n_threads,
          err.message);
    qfz_setup_fini(&s);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 400);
    files_begin();
    too_little_is_refused();
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    files_end();
    return check_end();
}
