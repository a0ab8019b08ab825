/* SPDX-License-Identifier: MIT */
#include "job/setup_memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "job/label_outputs.h"
#include "regions/regions.h"
#include "stitch/stitch.h"

static const int64_t mebi = 1 << 20;
enum {
    TILE_PX_LEAST = 1 << 14, /* below this, fewer threads are better than smaller tiles */
    TILE_PX_MIN = 1 << 18,   /* smaller tiles have too many border pixels per pixel */
    TILE_PX_MAX = 1 << 22,   /* larger tiles are not faster */
    DEVICE_TILE_PX_MAX = 1 << 24,
    TILE_PX_LIMIT = 1 << 29, /* no tile is larger */
    STRIP_ROWS = 64          /* rows of a tile of the whole width */
};

int64_t qfz_setup_source_bytes(const qfz_setup *setup)
{
    const qfz_source_info *const info = &setup->info;
    return (int64_t)qfz_type_bytes(info->type) * info->n_planes + (info->may_be_invalid ? 1 : 0);
}

int64_t qfz_setup_edge_bytes(const qfz_setup *setup)
{
    return setup->rule.edge_levels ? qfz_n_dirs(&setup->rule) * (int64_t)sizeof(uint32_t) : 0;
}

size_t qfz_setup_out_bytes(const qfz_setup *setup)
{
    const size_t labels = sizeof(uint64_t);
    const size_t painted = qfz_type_bytes(setup->info.type) * (size_t)setup->info.n_bands;
    if (setup->job->count_only) return 0;
    switch (setup->kind) {
    case QFZ_OMEGA: return painted > labels ? painted : labels;
    case QFZ_LEVELS:
        return (size_t)qfz_n_dirs(&setup->rule) * (sizeof(uint32_t) + sizeof(uint64_t));
    default: return labels;
    }
}

static int64_t machine_memory(const qfz_job *job)
{
    return (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE) / qfz_job_n_local(job);
}

qfz_status qfz_job_budget(const qfz_job *job, int64_t *bytes, qfz_error *err)
{
    const int64_t least = 64 * mebi;
    *bytes = job->memory_bytes ? job->memory_bytes : machine_memory(job) / 2;
    if (*bytes >= least) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "memory of %.3g MB; qfz needs at least %lld MB",
                    (double)*bytes / 1e6, (long long)(least + 999999) / 1000000);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* A published method joins the small tiles of its paper inside a tile of the job, so every thread
 * of every rank has one tile, which is as large as memory allows. */
static int64_t method_px(const qfz_setup *setup, int64_t n_threads)
{
    const int64_t share = (setup->info.w * setup->info.h - 1) / n_threads + 1;
    return clamp(share, TILE_PX_MIN, TILE_PX_LIMIT);
}

/* Small enough that every thread of every rank has four tiles, and not larger than useful.  Where
 * the source's blocks are rows of the whole width, tiles are too, and need a few such rows. */
static int64_t preferred_px(const qfz_setup *setup)
{
    const qfz_source_info *const info = &setup->info;
    const int n_ranks = setup->job->ranks ? setup->job->ranks->n : 1;
    if (setup->method) return method_px(setup, (int64_t)setup->n_threads * n_ranks);
    const int64_t share = info->w * info->h / (4 * setup->n_threads * n_ranks);
    const int64_t usual = setup->choice.device_memory_bytes ? DEVICE_TILE_PX_MAX : TILE_PX_MAX;
    const int64_t most =
        info->block_w < info->w ? usual : clamp(STRIP_ROWS * info->w, usual, INT32_MAX);
    return clamp(share, TILE_PX_MIN, most);
}

/* Reduces the number of threads until fits(setup) is true, or one thread is left. */
static void spare_threads(qfz_setup *setup, bool (*fits)(const qfz_setup *setup))
{
    while (setup->n_threads > 1 && !fits(setup))
        setup->n_threads--;
}

/* What the process has in memory beside tiles and caches, measured with GDAL 3.6 on x86-64: the
 * program and its libraries; writers of rasters; writers of tables; what reads the labels again;
 * a job of several ranks; a thread with its stack, heap and dataset. */
enum {
    PROGRAM_MB = 50,
    WRITER_MB = 19,
    TABLE_MB = 5,
    READING_MB = 4,
    RANKS_MB = 24,
    THREAD_KB = 1024
};
enum {
    TILE_BYTES = 500, /* a tile in the tables of a stitching */
    ALPHA_TILE_BYTES = 700,
    WRITER_BLOCKS_MB = 15, /* in WRITER_MB */
    LEAST_BYTES = 2 << 20  /* of summaries and stitching */
};

static int64_t n_parts(int64_t length, int64_t part)
{
    return part > 0 ? (length - 1) / part + 1 : 1;
}

int64_t qfz_picture_bytes(const qfz_job *job, int64_t w, int64_t h)
{
    const int64_t per_contour_px = 8, of_means = 12000000;
    const qfz_picture_grid g = qfz_picture_grid_of(w, h);
    const int64_t n = g.n_x * g.n_y, n_px = n * g.zoom * g.zoom;
    if (!job->quicklook) return 0;
    if (job->task == QFZ_SALIENCY) return n_px * per_contour_px;
    return (n + n_px) * QFZ_RGB + (job->quicklook_style == QFZ_QUICKLOOK_COLORS ? 0 : of_means);
}

/* What large blocks of the outputs need more than the blocks of WRITER_MB. */
static int64_t sinks_bytes(const qfz_setup *setup)
{
    int64_t bytes = 0;
    for (int i = 0; i < setup->n_sinks; i++)
        bytes += qfz_sink_memory_bytes(&setup->sinks[i], setup->n_threads);
    bytes = bytes * qfz_job_n_alphas(setup->job) - WRITER_BLOCKS_MB * (int64_t)1000000;
    return bytes > 0 ? bytes : 0;
}

/* Each further alpha has a stitching and files of its own, and so has the area filter. */
static int64_t all_tiles_bytes(const qfz_setup *setup, int64_t n_tiles)
{
    const int64_t filter = setup->rule.min_mass > 0 ? TILE_BYTES : 0;
    return n_tiles * (TILE_BYTES + filter + (qfz_job_n_alphas(setup->job) - 1) * ALPHA_TILE_BYTES);
}

static int64_t program_bytes(const qfz_setup *setup, int64_t n_tiles)
{
    const qfz_source_info *const info = &setup->info;
    const qfz_job *const job = setup->job;
    const int64_t mb = PROGRAM_MB + (job->count_only ? 0 : WRITER_MB) +
                       (job->regions || job->polygons || job->forest ? TABLE_MB : 0) +
                       (qfz_label_outputs_wanted(job) ? READING_MB : 0) +
                       (job->ranks && job->ranks->n > 1 ? RANKS_MB : 0);
    const int64_t thread_bytes = THREAD_KB * (int64_t)1000 + setup->stats_bytes;
    return mb * 1000000 + setup->n_threads * thread_bytes + all_tiles_bytes(setup, n_tiles) +
           qfz_picture_bytes(job, info->w, info->h) + sinks_bytes(setup) +
           qfz_polygon_rows_bytes(job, info->h) + info->table_bytes * (setup->n_threads + 1);
}

/* What is left for tiles, caches, summaries and stitching. */
static int64_t free_bytes(const qfz_setup *setup)
{
    const int64_t bytes = setup->memory_bytes - setup->program_bytes;
    return bytes > LEAST_BYTES ? bytes : LEAST_BYTES;
}

/* Bytes of GDAL's cache that all threads need: each has its own blocks, two of every band. */
static int64_t blocks_bytes(const qfz_setup *setup)
{
    return qfz_source_reader_bytes(&setup->info) * setup->n_threads;
}

static bool blocks_fit(const qfz_setup *setup)
{
    return blocks_bytes(setup) <= free_bytes(setup) / 2;
}

static qfz_status plan_cache(qfz_setup *setup, qfz_error *err)
{
    const qfz_source_info *const info = &setup->info;
    spare_threads(setup, blocks_fit);
    const int64_t needed = blocks_bytes(setup);
    setup->cache_bytes = clamp(free_bytes(setup) / 8, mebi, 512 * mebi);
    if (needed > setup->cache_bytes) setup->cache_bytes = needed;
    if (needed > free_bytes(setup) / 4 * 3)
        return qfz_fail(err, QFZ_ENOMEM,
                        "%s: its blocks of %lld x %lld pixels%s do not fit into %.4g MB of memory",
                        setup->job->src, (long long)info->block_w, (long long)info->block_h,
                        info->beside_block_bytes > 0 ? ", with those of its mask or edges," : "",
                        (double)setup->memory_bytes / 1e6);
    return QFZ_OK;
}

/* Bytes of device memory for each thread. */
static int64_t device_share(const qfz_setup *setup)
{
    const qfz_choice *const choice = &setup->choice;
    const int64_t threads = (setup->n_threads + choice->n_devices - 1) / choice->n_devices;
    return choice->device_memory_bytes / threads;
}

static int64_t device_tile_bytes(const qfz_setup *setup, int64_t h, int64_t w)
{
    const qfz_engine_device *const device = setup->engine->device;
    const qfz_rule *const rule = &setup->rule;
    const int64_t filter =
        rule->min_mass > 0 ? device->tile_bytes(rule, QFZ_FILTER, NULL, (int32_t)h, (int32_t)w) : 0;
    return device->tile_bytes(rule, setup->kind, setup->method, (int32_t)h, (int32_t)w) + filter;
}

/* About the largest tile, in pixels, such that each thread can have one on its device. */
static int64_t device_tile_px(const qfz_setup *setup)
{
    enum { SIDE = 1024 }; /* large enough that fixed costs are a small share */
    if (!setup->choice.device_memory_bytes) return INT32_MAX;
    const int64_t px_bytes = device_tile_bytes(setup, SIDE, SIDE) / (SIDE * SIDE) + 1;
    return clamp(device_share(setup) / px_bytes, 1, INT32_MAX);
}

/* Checks the actual tile: narrow tiles, and tiles that end inside a block of GPU threads, take more
 * memory per pixel. */
static bool fits_device(const qfz_setup *setup)
{
    const qfz_tiling *const t = &setup->tiling;
    return !setup->choice.device_memory_bytes ||
           device_tile_bytes(setup, t->tile_h, t->tile_w) <= device_share(setup);
}

qfz_status qfz_setup_check_device(const qfz_setup *setup, qfz_error *err)
{
    const qfz_tiling *const t = &setup->tiling;
    if (fits_device(setup)) return QFZ_OK;
    return qfz_fail(err, QFZ_ENOMEM,
                    "GPU: tiles of %lld x %lld pixels take %lld bytes of its memory; %lld may be "
                    "used; choose smaller tiles",
                    (long long)t->tile_w, (long long)t->tile_h,
                    (long long)device_tile_bytes(setup, t->tile_h, t->tile_w),
                    (long long)device_share(setup));
}

/* Bytes per pixel of a thread's share of the area filter: its worker, zeroed, and the forest. */
static int64_t filter_px_bytes(const qfz_setup *setup)
{
    if (setup->rule.min_mass == 0) return 0;
    return setup->engine->bytes_per_px(&setup->rule, QFZ_FILTER) +
           (setup->rule.wants_forest ? 2 : 1);
}

/* Bytes per pixel of a tile's range events from a device, which reports up to one for each pixel of
 * several bands or of floats where few regions end within a block; the CPU engine reports only
 * those that widen a range, and so does a device, nearly, of one band of integers. */
static int64_t event_px_bytes(const qfz_setup *setup)
{
    const int64_t place = sizeof(uint32_t), level = sizeof(uint32_t);
    const int64_t span = (int64_t)qfz_type_bytes(setup->info.type) * setup->info.n_bands;
    if (!setup->engine->device || setup->kind != QFZ_OMEGA || !setup->rule.omega) return 0;
    return place + level + 2 * span;
}

/* Bytes per pixel of a thread context.  With a journal of outputs, the output is in memory twice:
 * as it is, and compressed. */
static int64_t px_bytes_of(const qfz_setup *setup)
{
    const int64_t out = (int64_t)qfz_setup_out_bytes(setup);
    return qfz_setup_source_bytes(setup) + qfz_setup_edge_bytes(setup) +
           setup->engine->bytes_per_px(&setup->rule, setup->kind) + filter_px_bytes(setup) +
           event_px_bytes(setup) + (setup->job->work ? 2 * out : out);
}

static int64_t tiles_bytes(const qfz_setup *setup)
{
    return (free_bytes(setup) - setup->cache_bytes) / 7 * 3;
}

/* Bytes of a thread context that do not depend on the size of its tile. */
static int64_t fixed_bytes(const qfz_setup *setup)
{
    const int64_t records = setup->job->regions ? QFZ_RECORDS_BYTES : 0;
    return records + (setup->kind == QFZ_JOINS ? qfz_histogram_bytes(&setup->rule) : 0);
}

static int64_t worker_bytes_of(const qfz_setup *setup)
{
    return setup->tiling.tile_w * setup->tiling.tile_h * px_bytes_of(setup) + fixed_bytes(setup);
}

static bool tiles_fit(const qfz_setup *setup)
{
    return setup->worker_bytes <= tiles_bytes(setup) / setup->n_threads && fits_device(setup);
}

qfz_status qfz_setup_retile(qfz_setup *setup, int64_t tile_w, int64_t tile_h, qfz_error *err)
{
    qfz_tiling *const t = &setup->tiling;
    if (tile_w < 1 || tile_h < 1 || tile_w > t->w || tile_h > t->h || tile_w > INT32_MAX / tile_h)
        return qfz_fail(err, QFZ_EARG, "tiles of %lld x %lld pixels are too large for this raster",
                        (long long)tile_w, (long long)tile_h);
    t->tile_w = tile_w;
    t->tile_h = tile_h;
    t->n_x = (t->w - 1) / tile_w + 1;
    t->n_y = (t->h - 1) / tile_h + 1;
    setup->worker_bytes = worker_bytes_of(setup);
    spare_threads(setup, tiles_fit);
    return QFZ_OK;
}

/* Bytes for each ring pixel of a group's members while the group is stitched, measured. */
static int64_t vertex_bytes(const qfz_setup *setup)
{
    enum { FILTER = 96, COMPONENTS = 28, OTHERS = 60 };
    if (setup->rule.min_mass > 0) return FILTER;
    return setup->kind == QFZ_COMPONENTS ? COMPONENTS : OTHERS;
}

/* Ring pixels of a box; a group has none at the raster's edge. */
static int64_t n_ring(const qfz_tiling *t, int64_t w, int64_t h, bool is_tile)
{
    const int64_t n = (is_tile || w < t->w ? 2 * h : 0) + (is_tile || h < t->h ? 2 * w : 0);
    return n < w * h ? n : w * h;
}

/* Bytes of a thread's blocks of events, which are in files.  The area filter comes before the other
 * stitching. */
static int64_t window_bytes(const qfz_setup *setup)
{
    const int64_t filter =
        setup->rule.min_mass > 0 ? qfz_stitch_window_bytes(QFZ_FILTER, &setup->rule) : 0;
    const int64_t own = qfz_stitch_window_bytes(setup->kind, &setup->rule);
    return own > filter ? own : filter;
}

/* Bytes of the groups that all threads stitch at a time. */
static int64_t stitch_bytes(const qfz_setup *setup)
{
    const qfz_tiling *const t = &setup->tiling;
    const qfz_group_tree tree = qfz_group_tree_of(t);
    int64_t most = 0;
    for (int level = 1; level < tree.n_levels; level++) {
        const qfz_box member = qfz_group_tree_box(&tree, level - 1, tree.first[level - 1]);
        const int64_t n_groups = tree.n_x[level] * tree.n_y[level];
        const int64_t n_nodes = tree.n_x[level - 1] * tree.n_y[level - 1];
        const int64_t n_busy = clamp(n_groups, 1, setup->n_threads);
        const int64_t n = clamp(QFZ_GROUP_CHILDREN * n_busy, 1, n_nodes);
        const int64_t vertices = n * n_ring(t, qfz_box_w(member), qfz_box_h(member), level == 1);
        const int64_t bytes = vertices * vertex_bytes(setup);
        if (bytes > most) most = bytes;
    }
    return most + setup->n_threads * window_bytes(setup);
}

/* The share of stitching.  The size of a tile matters where the raster is one tile wide or high:
 * then most ring pixels are on long sides. */
static bool fits_stitching(const qfz_setup *setup)
{
    const qfz_tiling *const t = &setup->tiling;
    const bool is_column = t->n_x == 1 && t->tile_h > t->tile_w;
    const bool is_row = t->n_y == 1 && t->tile_w > t->tile_h;
    return !(is_column || is_row) ||
           stitch_bytes(setup) <= (free_bytes(setup) - setup->cache_bytes) / 7;
}

/* Tiles of at most max_px pixels that fit the device and the share of stitching, or of the side
 * that the user chose. */
static qfz_status choose_tiles(qfz_setup *setup, int64_t max_px, qfz_error *err)
{
    const int32_t given = setup->job->tile_px;
    for (int64_t px = max_px;; px -= px / 8 + 1) {
        QFZ_TRY(qfz_tiling_choose(&setup->tiling, &setup->info, given, px, err));
        if (given == 0 && px > 1 && !(fits_device(setup) && fits_stitching(setup))) continue;
        spare_threads(setup, fits_device);
        return QFZ_OK;
    }
}

/* The largest tile, in pixels, such that each thread can have one in host memory. */
static int64_t host_tile_px(const qfz_setup *setup)
{
    return (tiles_bytes(setup) / setup->n_threads - fixed_bytes(setup)) / px_bytes_of(setup);
}

static bool least_tiles_fit(const qfz_setup *setup)
{
    return host_tile_px(setup) >= TILE_PX_LEAST && device_tile_px(setup) >= TILE_PX_LEAST;
}

/* Shares of what the program leaves: 3/8 thread contexts, 1/8 GDAL's blocks, 1/8 summaries, 1/4
 * tile cache.  The last 1/8 is for stitching.  If GDAL's blocks need more than their share, the
 * others shrink in proportion. */
static qfz_status plan_shares(qfz_setup *setup, qfz_error *err)
{
    QFZ_TRY(plan_cache(setup, err));
    spare_threads(setup, least_tiles_fit);
    const int64_t shared = free_bytes(setup) - setup->cache_bytes;
    int64_t max_px = clamp(host_tile_px(setup), 1, INT32_MAX);
    const int64_t device_px = device_tile_px(setup);
    if (max_px > device_px) max_px = device_px;
    setup->store_bytes = shared / 7;
    setup->tile_cache_bytes = shared / 7 * 2;
    const int64_t wanted_px = preferred_px(setup);
    QFZ_TRY(choose_tiles(setup, max_px < wanted_px ? max_px : wanted_px, err));
    const int64_t tile_px = setup->tiling.tile_w * setup->tiling.tile_h;
    setup->worker_bytes = worker_bytes_of(setup);
    if (tile_px > TILE_PX_LIMIT)
        return qfz_fail(
            err, QFZ_EARG,
            "tiles of %lld x %lld pixels are too large; at most 2^29 pixels are allowed",
            (long long)setup->tiling.tile_w, (long long)setup->tiling.tile_h);
    return QFZ_OK;
}

/* The shares depend on the number of tiles, and so do the tables of tiles. */
static qfz_status plan_program(qfz_setup *setup, qfz_error *err)
{
    enum { ROUNDS = 4 };
    setup->program_bytes = program_bytes(setup, 1);
    for (int round = 0; round < ROUNDS; round++) {
        QFZ_TRY(plan_shares(setup, err));
        const int64_t bytes = program_bytes(setup, setup->tiling.n_x * setup->tiling.n_y);
        if (bytes <= setup->program_bytes) break;
        setup->program_bytes = bytes;
    }
    return QFZ_OK;
}

/* Tiles that the user chose may take more than their share: of the tile cache and of summaries. */
static bool plan_fits(qfz_setup *setup)
{
    const int64_t taken =
        setup->program_bytes + setup->cache_bytes + setup->worker_bytes * setup->n_threads;
    const int64_t rest = setup->memory_bytes - taken;
    const int64_t needed = clamp(stitch_bytes(setup), LEAST_BYTES, INT64_MAX);
    const int64_t stitch = rest / 4 > needed ? rest / 4 : needed;
    if (rest - stitch < setup->store_bytes) setup->store_bytes = rest - stitch;
    if (setup->store_bytes < 0) setup->store_bytes = 0;
    if (rest - stitch - setup->store_bytes < setup->tile_cache_bytes)
        setup->tile_cache_bytes = rest - stitch - setup->store_bytes;
    if (setup->tile_cache_bytes < 0) setup->tile_cache_bytes = 0;
    return rest >= needed;
}

static bool plan_of_threads_fits(const qfz_setup *setup)
{
    return setup->program_bytes + setup->cache_bytes +
               clamp(stitch_bytes(setup), LEAST_BYTES, INT64_MAX) +
               setup->worker_bytes * setup->n_threads <=
           setup->memory_bytes;
}

/* The filter's bits of all tiles, half a byte a pixel and as much for the forest, at most half of
 * the tile cache: to find them again takes more time than to read the pixels again.  In a job of
 * phases the next pass is another process's. */
static void share_tile_cache(qfz_setup *setup)
{
    const int n_ranks = setup->job->ranks ? setup->job->ranks->n : 1;
    const int64_t tile_px = setup->tiling.tile_w * setup->tiling.tile_h;
    const int64_t n_tiles = n_parts(setup->tiling.n_y, n_ranks) * setup->tiling.n_x;
    const int64_t bytes = n_tiles * (setup->rule.wants_forest ? tile_px : (tile_px + 1) / 2);
    const bool is_kept = setup->rule.min_mass > 0 && setup->job->phase == QFZ_PHASE_ALL;
    setup->filter_cache_bytes = is_kept ? clamp(bytes, 0, setup->tile_cache_bytes / 2) : 0;
    setup->tile_cache_bytes -= setup->filter_cache_bytes;
}

static qfz_status plan_threads(qfz_setup *setup, bool *fits, qfz_error *err)
{
    QFZ_TRY(plan_program(setup, err));
    spare_threads(setup, plan_of_threads_fits);
    *fits = plan_fits(setup);
    share_tile_cache(setup);
    return QFZ_OK;
}

/* The most threads of which none is spared: a plan of fewer has a smaller program. */
static qfz_status plan_within(qfz_setup *setup, int64_t memory_bytes, bool *fits, qfz_error *err)
{
    setup->memory_bytes = memory_bytes;
    for (int n = setup->n_threads;; n--) {
        setup->n_threads = n;
        const qfz_status st = plan_threads(setup, fits, err);
        const bool is_whole = st == QFZ_OK && *fits && setup->n_threads == n;
        if (n == 1 || is_whole || (st != QFZ_OK && st != QFZ_ENOMEM)) return st;
        err->status = QFZ_OK;
    }
}

/* The least memory, in MB, whose plan fits; 0: none. */
static int64_t least_mb(const qfz_setup *setup)
{
    qfz_error ignored = {.status = QFZ_OK};
    int64_t low = 1, high = INT64_C(1) << 40;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        qfz_setup trial = *setup;
        bool fits = false;
        if (plan_within(&trial, middle * 1000000, &fits, &ignored) == QFZ_OK && fits)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static qfz_status refuse(const qfz_setup *before, qfz_error *err)
{
    const long long least = (long long)least_mb(before);
    if (err->status != QFZ_OK) {
        const size_t n = strlen(err->message);
        (void)snprintf(err->message + n, sizeof err->message - n,
                       "; use --memory %lldMB or more, or rewrite the file in tiles "
                       "(gdal_translate -co TILED=YES)",
                       least);
        return err->status;
    }
    return qfz_fail(err, QFZ_ENOMEM,
                    "%s: %.4g MB of memory are too little for this job; use --memory %lldMB or "
                    "more, or other tiles",
                    before->job->src, (double)before->memory_bytes / 1e6, least);
}

/* Only a limit that the user set is a promise. */
qfz_status qfz_setup_plan_memory(qfz_setup *setup, qfz_error *err)
{
    int64_t memory_bytes;
    bool fits = false;
    QFZ_TRY(qfz_job_budget(setup->job, &memory_bytes, err));
    qfz_setup before = *setup;
    const qfz_status st = plan_within(setup, memory_bytes, &fits, err);
    if (st == QFZ_OK && (fits || setup->job->memory_bytes == 0)) return QFZ_OK;
    if (st != QFZ_OK && st != QFZ_ENOMEM) return st;
    before.memory_bytes = memory_bytes;
    before.program_bytes = setup->program_bytes;
    return refuse(&before, err);
}

int64_t qfz_setup_cache_bytes(const qfz_setup *setup, const qfz_source *source)
{
    const int64_t each = qfz_source_cache_bytes(source, setup->tiling.tile_w);
    if (each == 0) return setup->cache_bytes;
    const int64_t wanted = clamp(each * setup->n_threads, 32 * mebi, INT64_MAX);
    return wanted < setup->cache_bytes ? wanted : setup->cache_bytes;
}

int64_t qfz_setup_first_cache(const qfz_job *job)
{
    return job->memory_bytes ? clamp(job->memory_bytes / 32, mebi, 512 * mebi) : 512 * mebi;
}
