/* SPDX-License-Identifier: MIT */
/* info.c - qfz info: the plan of a job. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "log.h"
#include "options.h"

static const char *const task_names[] = {"label", "simplify", "saliency", "cut",
                                         "curve", "regions",  "tree"};
static const char *const type_names[] = {"UInt8",  "Int8",  "UInt16", "Int16",
                                         "UInt32", "Int32", "Float32"};

static const json_field fields[] = {
    {"command", "Always info."},
    {"task", "The planned command."},
    {"src", "Source raster, as given."},
    {"width", "Width of the source raster in pixels."},
    {"height", "Height of the source raster in pixels."},
    {"bands", "Number of bands used."},
    {"type", "Data type of the pixel values; integers for labels of regions."},
    {"tiles", "Number of tiles."},
    {"tiles_x", "Number of tiles in a row of tiles."},
    {"tiles_y", "Number of rows of tiles."},
    {"tile_width", "Width of a tile in pixels."},
    {"tile_height", "Height of a tile in pixels."},
    {"passes", "Number of passes over the pixels."},
    {"engine", "Engine: cpu or cuda."},
    {"engine_reason", "Why this engine; empty where the options name it."},
    {"gpus", "Number of GPUs; 0 for the CPU engine."},
    {"gpu_memory_bytes", "Memory limit of each GPU in bytes."},
    {"threads", "Number of threads of each process."},
    {"memory_bytes", "Memory limit of each process in bytes."},
    {"program_bytes", "Part of the memory for the program, its libraries, and tables of tiles and "
                      "blocks, in bytes."},
    {"tile_bytes", "Part of the memory for tiles, in bytes."},
    {"cache_bytes", "Part of the memory for GDAL's block cache, in bytes."},
    {"kept_bytes", "Part of the memory for tiles that stay in memory between passes, in bytes."},
    {"border_bytes", "Size of all boundary summaries in bytes."},
    {"store_bytes", "Part of the memory for boundary summaries, in bytes; the excess goes to a "
                    "temporary file."},
    {"ranks", "Number of MPI processes."},
    {"ranks_per_node", "Number of MPI processes per node."},
    {"tiles_per_rank", "Largest number of tiles of a process."},
    {"pixels_per_rank", "Largest number of pixels of a process, per pass."},
    {"border_bytes_per_rank", "Largest size of the boundary summaries of a process, in bytes."},
    {"seconds", "Estimated time in seconds, from rates measured on another machine with files in "
                "memory."},
    {"picture_bytes", "Part of the memory for the quicklook, in bytes; 0 without one."},
    {"picture_seconds", "Estimated time of the quicklook, in addition to seconds."},
    {"attributes_bytes",
     "Part of the memory for the largest attribute table, in bytes; 0 without one."},
    {"attributes_seconds",
     "Estimated time of the largest attribute table, in addition to seconds."},
    {"stage", "Folder in which outputs for buckets are made first; absent without such outputs."},
    {"memory_bytes_per_node", "Memory limit of the processes of a node, in bytes."},
    {"work_bytes", "Largest size of the folder of --work in bytes, before compression and without "
                   "the table of regions."},
    {"record_bytes",
     "Size in the folder of --work of each region of each tile, in bytes; 0 without "
     "a table of regions."},
    {"outputs", "Array of the outputs, each with path and format; rasters also with type, "
                "type_is_upper_bound (saliency: a narrower type may suffice), bands, width and "
                "height."},
    {NULL, NULL}};

/* Labels of regions may have any integer type. */
static const char *type_of(const request *r, const qfz_plan *plan)
{
    return r->job.task == QFZ_REGIONS ? "integers" : type_names[plan->type];
}

/* The type of integer saliency follows from the levels that occur. */
static bool may_be_narrower(const request *r, const qfz_plan_output *output)
{
    return r->job.task == QFZ_SALIENCY && !r->job.type &&
           (!strcmp(output->type, "UInt16") || !strcmp(output->type, "UInt32"));
}

static void print_json(const request *r, const qfz_plan *plan)
{
    json j = json_to(stdout);
    json_open(&j, NULL, '{');
    json_text(&j, "command", "info");
    json_text(&j, "task", task_names[r->job.task]);
    json_text(&j, "src", r->job.src);
    json_integer(&j, "width", plan->width);
    json_integer(&j, "height", plan->height);
    json_integer(&j, "bands", plan->n_bands);
    json_text(&j, "type", type_of(r, plan));
    json_integer(&j, "tiles", plan->tiles_x * plan->tiles_y);
    json_integer(&j, "tiles_x", plan->tiles_x);
    json_integer(&j, "tiles_y", plan->tiles_y);
    json_integer(&j, "tile_width", plan->tile_w);
    json_integer(&j, "tile_height", plan->tile_h);
    json_integer(&j, "passes", plan->passes);
    json_text(&j, "engine", plan->engine);
    json_text(&j, "engine_reason", plan->engine_reason);
    json_integer(&j, "gpus", plan->n_gpus);
    json_integer(&j, "gpu_memory_bytes", plan->gpu_memory_bytes);
    json_integer(&j, "threads", plan->n_threads);
    json_integer(&j, "memory_bytes", plan->memory_bytes);
    json_integer(&j, "program_bytes", plan->program_bytes);
    json_integer(&j, "tile_bytes", plan->tile_bytes);
    json_integer(&j, "cache_bytes", plan->cache_bytes);
    json_integer(&j, "kept_bytes", plan->kept_bytes);
    json_integer(&j, "border_bytes", plan->border_bytes);
    json_integer(&j, "store_bytes", plan->store_bytes);
    json_integer(&j, "ranks", plan->n_ranks);
    json_integer(&j, "ranks_per_node", plan->n_local_ranks);
    json_integer(&j, "tiles_per_rank", plan->rank_tiles);
    json_integer(&j, "pixels_per_rank", plan->rank_pixels);
    json_integer(&j, "border_bytes_per_rank", plan->rank_border_bytes);
    json_number(&j, "seconds", plan->rank_seconds);
    json_integer(&j, "picture_bytes", plan->picture_bytes);
    json_number(&j, "picture_seconds", plan->picture_seconds);
    json_integer(&j, "attributes_bytes", plan->attributes_bytes);
    json_number(&j, "attributes_seconds", plan->attributes_seconds);
    if (plan->stage[0]) json_text(&j, "stage", plan->stage);
    json_integer(&j, "memory_bytes_per_node", plan->memory_bytes * plan->n_local_ranks);
    json_integer(&j, "work_bytes", plan->work_bytes);
    json_integer(&j, "record_bytes", plan->record_bytes);
    json_open(&j, "outputs", '[');
    for (int i = 0; i < plan->n_outputs; i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "path", plan->outputs[i].path);
        json_text(&j, "format", plan->outputs[i].format);
        if (plan->outputs[i].n_bands > 0) {
            json_text(&j, "type", plan->outputs[i].type);
            json_flag(&j, "type_is_upper_bound", may_be_narrower(r, &plan->outputs[i]));
            json_integer(&j, "bands", plan->outputs[i].n_bands);
            json_integer(&j, "width", plan->outputs[i].width);
            json_integer(&j, "height", plan->outputs[i].height);
        }
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

static double mb(int64_t bytes)
{
    return (double)bytes / 1e6;
}

static const char *plural(int n)
{
    return n == 1 ? "" : "s";
}

/* The resources to request from a batch system. */
static void print_ranks(const qfz_plan *plan)
{
    if (plan->n_ranks == 1) return;
    printf("ranks    %d, %d per node; per rank at most %" PRId64 " tiles, %.0f Mpx per pass, "
           "%.1f MB of boundary summaries\n",
           plan->n_ranks, plan->n_local_ranks, plan->rank_tiles, (double)plan->rank_pixels / 1e6,
           mb(plan->rank_border_bytes));
    if (plan->n_ranks > plan->tiles_y)
        printf("         only %" PRId64 " ranks get tiles: the smallest share is a row of tiles\n",
               plan->tiles_y);
    printf("node     %.0f MB of memory\n", mb(plan->memory_bytes * plan->n_local_ranks));
}

static void print_seconds(double s)
{
    if (s < 120)
        printf("about %.0f s", s < 1 ? 1 : s);
    else if (s < 7200)
        printf("about %.0f minutes", s / 60);
    else
        printf("about %.1f hours", s / 3600);
}

/* Memory is part of that of the line `memory`. */
static void print_extra(const char *what, int64_t bytes, double seconds)
{
    if (bytes == 0) return;
    printf("         %s: %.0f MB of the memory, ", what, mb(bytes));
    print_seconds(seconds);
    printf(" more\n");
}

static void print_time(const qfz_plan *plan)
{
    printf("time     ");
    print_seconds(plan->rank_seconds);
    printf(", an estimate from rates measured on another machine with files in memory; request "
           "twice as much\n");
}

static void print_work(const qfz_plan *plan)
{
    printf("work     at most %.0f MB in the folder of --work, before compression",
           mb(plan->work_bytes));
    if (plan->record_bytes > 0)
        printf(", plus %" PRId64 " bytes per region and tile", plan->record_bytes);
    printf("\n");
}

static void print_text(const request *r, const qfz_plan *plan)
{
    printf("source   %s: %" PRId64 " x %" PRId64 " pixels, %d band%s, %s\n", r->job.src,
           plan->width, plan->height, plan->n_bands, plural(plan->n_bands), type_of(r, plan));
    printf("task     %s, %d pass%s over the pixels\n", task_names[r->job.task], plan->passes,
           plan->passes == 1 ? "" : "es");
    printf("engine   %s, %d thread%s", plan->engine, plan->n_threads, plural(plan->n_threads));
    if (plan->n_gpus)
        printf(", %d GPU%s with %.0f MB each", plan->n_gpus, plural(plan->n_gpus),
               mb(plan->gpu_memory_bytes));
    if (plan->engine_reason[0]) printf(" (%s)", plan->engine_reason);
    printf("\n");
    printf("tiles    %" PRId64 " x %" PRId64 " of %" PRId64 " x %" PRId64 " pixels\n",
           plan->tiles_x, plan->tiles_y, plan->tile_w, plan->tile_h);
    printf("memory   %.0f MB: %.0f MB for the program and its tables, %.0f MB for tiles, %.0f MB "
           "for GDAL's block cache, %.0f MB for tiles kept between passes, %.0f MB for boundary "
           "summaries\n",
           mb(plan->memory_bytes), mb(plan->program_bytes), mb(plan->tile_bytes),
           mb(plan->cache_bytes), mb(plan->kept_bytes), mb(plan->store_bytes));
    printf("borders  %.1f MB of boundary summaries%s\n", mb(plan->border_bytes),
           plan->rank_border_bytes > plan->store_bytes ? ", the excess in a temporary file" : "");
    print_ranks(plan);
    print_time(plan);
    print_extra("the quicklook", plan->picture_bytes, plan->picture_seconds);
    print_extra("the largest attribute table", plan->attributes_bytes, plan->attributes_seconds);
    print_work(plan);
    for (int i = 0; i < plan->n_outputs; i++) {
        printf("output   %s: %s", plan->outputs[i].path, plan->outputs[i].format);
        if (plan->outputs[i].n_bands > 0)
            printf(", %" PRId64 " x %" PRId64 " pixels, %d band%s, %s%s", plan->outputs[i].width,
                   plan->outputs[i].height, plan->outputs[i].n_bands,
                   plural(plan->outputs[i].n_bands), plan->outputs[i].type,
                   may_be_narrower(r, &plan->outputs[i]) ? " or narrower" : "");
        printf("\n");
    }
    if (plan->stage[0])
        printf("stage    %s: outputs for buckets are made there first\n", plan->stage);
}

static bool writes_nothing(const request *r)
{
    return r->job.count_only || r->job.task == QFZ_CURVE || r->job.task == QFZ_REGIONS;
}

static int run(request *r)
{
    qfz_plan plan = qfz_plan_default();
    qfz_error err = {0};
    r->job.src = r->operands[0];
    const char *const usual = r->job.n_alphas > 0 ? "DST_{alpha}" : "DST";
    r->job.dst = r->n_operands > 1 ? r->operands[1] : writes_nothing(r) ? NULL : usual;
    if (r->job.task == QFZ_FOREST) r->job.forest = r->n_operands > 2 ? r->operands[2] : "FOREST";
    if (qfz_job_plan(&r->job, &plan, &err) != QFZ_OK) {
        complain(r->command, "%s", err.message);
        return EXIT_FAILED;
    }
    if (r->json)
        print_json(r, &plan);
    else
        print_text(r, &plan);
    return EXIT_OK;
}

static const char *check(const request *r)
{
    if (r->n_operands > 2 && r->job.task != QFZ_FOREST)
        return "SRC and DST are followed by FOREST only for --task tree";
    if (r->job.task == QFZ_CUT) return cut_command.check(r);
    if (r->job.task == QFZ_LABEL) return label_command.check(r);
    return r->job.task == QFZ_SIMPLIFY ? simplify_command.check(r) : NULL;
}

const command info_command = {
    .name = "qfz info",
    .page = "qfz-info",
    .bit = FOR_INFO,
    .operands = "SRC [DST [FOREST]]",
    .min_operands = 1,
    .max_operands = 3,
    .summary = "the plan of a command: tiles, passes, memory, time and outputs",
    .description =
        "Prints the plan of the command that --task names: engine, tiles, passes over the pixels, "
        "memory, estimated time and outputs. Nothing is computed or written. Every option "
        "of the planned command is accepted.",
    .example = "qfz info --task saliency --memory 2GB mosaic.vrt\n"
               "qfz info --task simplify --omega 24 --ranks 64,4 --json mosaic.vrt",
    .json = fields,
    .check = check,
    .run = run,
};
