/* SPDX-License-Identifier: MIT */
/* option_table.c - the one table of options. */
#include <limits.h>
#include <math.h>

#include "setters.h"

#define FOR_REGIONS (FOR_LABEL | FOR_SIMPLIFY | FOR_CUT)
#define FOR_IMAGES (FOR_LABEL | FOR_SIMPLIFY | FOR_SALIENCY)
#define FOR_JOBS (FOR_IMAGES | FOR_CUT)
#define FOR_ALL (FOR_JOBS | FOR_INFO | FOR_BENCH)
#define FOR_PHASES (FOR_JOBS | FOR_INFO | FOR_RUN)

#define AT(member) offsetof(request, member)
#define FLAG(member) .set = set_flag, .at = AT(member)
#define TAKES(word) .argument = word, .n_values = 1

static const char joins[] = "What joins pixels";
static const char pixels[] = "Pixels that count";
static const char output[] = "Output";
static const char running[] = "Running";
static const char batch[] = "Batch jobs";
static const char images[] = "Images";

const option option_table[] = {
    {"--task", TAKES("label|simplify|saliency|cut"), .commands = FOR_INFO, .section = "Task",
     .help = "The command whose plan is shown; its options may be given too. Default: label.",
     .set = set_choice, .at = AT(job.task)},

    {"--connectivity", TAKES("4|8"), .commands = FOR_IMAGES | FOR_INFO | FOR_BENCH,
     .section = joins, .help = "Neighbours by edges only, or by corners too. Default: 4.",
     .set = set_chosen_int, .at = AT(job.criterion.connectivity)},
    {"--distance", TAKES("l1|l2|linf"), .commands = FOR_IMAGES | FOR_INFO | FOR_BENCH,
     .section = joins,
     .help = "Difference of two pixels over all bands: sum of absolute differences, Euclidean, or "
             "the largest absolute difference. Default: l1.",
     .set = set_choice, .at = AT(job.criterion.distance)},
    {"--alpha", TAKES("A"), .commands = FOR_ALL, .section = joins,
     .help = "Neighbours that differ by at most A join; A is at least 0, or inf. Without it label "
             "joins equal values, and simplify has no limit; cut needs it. To saliency it makes no "
             "difference: that holds every A.",
     .set = set_number, .at = AT(job.criterion.alpha), .at_has = AT(job.criterion.has_alpha)},
    {"--omega", TAKES("W[,W...]"), .commands = FOR_SIMPLIFY | FOR_INFO | FOR_BENCH,
     .section = joins,
     .help = "In a region the values of a band span at most W (maximum - minimum); one W for every "
             "band, or one for each. Default: no limit.",
     .set = set_omega},
    {"--background", TAKES("V"), .commands = FOR_LABEL | FOR_INFO, .section = joins,
     .help = "Pixels that are V in every band are background, label 0. Default: nodata only.",
     .set = set_number, .low = -INFINITY, .at = AT(job.background),
     .at_has = AT(job.has_background)},

    {"-b", TAKES("BAND"), .repeats = true, .commands = FOR_IMAGES | FOR_INFO | FOR_BENCH,
     .section = pixels,
     .help = "Use this band, counted from 1. Repeatable. Default: all that are no alpha band.",
     .set = add_band, .low = 1, .high = INT_MAX},
    {"--mask", TAKES("FILE"), .commands = FOR_JOBS | FOR_INFO, .section = pixels,
     .help =
         "A raster of the size of SRC; pixels where it is 0 are left out. Default: the mask and "
         "alpha bands of SRC.",
     .set = set_text, .at = AT(job.mask)},
    {"--nodata", TAKES("V"), .commands = FOR_JOBS | FOR_INFO, .section = pixels,
     .help =
         "Value of pixels without data, nan included; of a type that cannot hold it, no pixel's, "
         "so that -9999 lets a raster of bytes count as a whole. Default: what SRC declares.",
     .set = set_any_number, .at = AT(job.nodata), .at_has = AT(job.has_nodata)},
    {"--nodata-rule", TAKES("all|any"), .commands = FOR_IMAGES | FOR_INFO, .section = pixels,
     .help = "A pixel is without data when all bands say so, or when any does. Default: all.",
     .set = set_choice, .at = AT(job.nodata_rule)},
    {"-oo", TAKES("KEY=VALUE"), .repeats = true, .commands = FOR_JOBS | FOR_INFO, .section = pixels,
     .help = "Open option of the driver of SRC. Repeatable.", .set = add_key_value,
     .at = AT(open_options)},

    {"--layout", TAKES("edges|pixel|khalimsky"), .commands = FOR_SALIENCY | FOR_INFO,
     .section = output,
     .help =
         "edges: a band per direction of neighbours, what qfz cut reads; pixel: the largest level "
         "around each pixel; khalimsky: pixels and the lines between them. Default: edges.",
     .set = set_choice, .at = AT(job.layout)},
    {"--labels", TAKES("FILE"), .commands = FOR_SIMPLIFY | FOR_INFO, .section = output,
     .help = "Write the labels of the regions too, into this raster.", .set = set_text,
     .at = AT(job.labels)},
    {"--regions", TAKES("FILE"), .commands = FOR_REGIONS | FOR_INFO, .section = output,
     .help =
         "Write one row per region (size, area, box, statistics) into this table: .gpkg, .csv or "
         "any other vector format of GDAL.",
     .set = set_text, .at = AT(job.regions)},
    {"-of", TAKES("FORMAT"), .commands = FOR_JOBS | FOR_INFO, .section = output,
     .help = "GDAL driver of the output rasters. Default: by the extension of DST, else GTiff.",
     .set = set_text, .at = AT(job.format)},
    {"-ot", TAKES("TYPE"), .commands = FOR_JOBS | FOR_INFO, .section = output,
     .help = "Type of the output's values, as UInt32; refused if it cannot hold them. "
             "Default: by the result; labels are UInt32, or UInt64 where they need it.",
     .set = set_text, .at = AT(job.type)},
    {"-co", TAKES("KEY=VALUE"), .repeats = true, .commands = FOR_JOBS | FOR_INFO, .section = output,
     .help = "Creation option of the driver. Repeatable. Default for GTiff: tiled, ZSTD.",
     .set = add_key_value, .at = AT(creation_options)},
    {"--count-only", .commands = FOR_REGIONS | FOR_INFO, .section = output,
     .help = "Write no raster: count the regions, print the result as JSON. Takes no DST.",
     FLAG(job.count_only)},
    {"--merge", .commands = FOR_JOBS | FOR_INFO, .section = output,
     .help =
         "Several processes: make one raster of what each wrote. Default: a VRT over them; then "
         "DST is a .vrt.",
     FLAG(job.merge)},
    {"--overwrite", .commands = FOR_JOBS | FOR_INFO, .section = output,
     .help = "Replace outputs that exist. Default: refuse.", FLAG(job.overwrite)},

    {"--work", TAKES("DIR"), .commands = FOR_PHASES, .section = batch,
     .help =
         "Keep a journal in this folder, from which the job can go on however it ended; with it "
         "SIGTERM and SIGUSR1 end the job with status 75. Default: none.",
     .set = set_text, .at = AT(job.work)},
    {"--resume", .commands = FOR_JOBS | FOR_INFO, .section = batch,
     .help = "Go on with what is in the folder of --work, from the beginning if nothing is. "
             "Default: refuse a folder that holds a journal.",
     FLAG(job.resume)},
    {"--phase", TAKES("all|summarise|stitch|resolve"), .commands = FOR_PHASES, .section = batch,
     .help = "Do this phase of the job only; the folder of --work connects them. Default: all.",
     .set = set_choice, .at = AT(job.phase)},
    {"--part", TAKES("K/N"), .commands = FOR_PHASES, .section = batch,
     .help =
         "Of N parts of the raster, do this one, counted from 1, in phase summarise or resolve.",
     .set = set_part},

    {"--ranks", TAKES("N[,M]"), .commands = FOR_INFO, .section = batch,
     .help = "The plan of a job of N processes, M of them on each node. Default: 1.",
     .set = set_ranks},

    {"--generate", TAKES("binary|white|fractal|flat|ramp"), .commands = FOR_BENCH,
     .section = images,
     .help =
         "Make an image instead of reading FILE: random blocks of 0 and 1; uniform noise; a sum "
         "of octaves, like land; the same in wide flat zones; steps of 1.",
     .set = set_chosen_text, .at = AT(bench.kind)},
    {"--size", TAKES("N"), .commands = FOR_BENCH, .section = images,
     .help = "Generated images have N x N pixels. Default: 4096.", .set = set_int,
     .at = AT(bench.size_px), .low = 1, .high = 32768},
    {"--bits", TAKES("8|16|32"), .commands = FOR_BENCH, .section = images,
     .help = "Bits of generated values; 32: floating-point. Default: 8.", .set = set_chosen_int,
     .at = AT(bench.bits)},
    {"--bands", TAKES("B"), .commands = FOR_BENCH, .section = images,
     .help = "Bands of generated images. Default: 1.", .set = set_int, .at = AT(bench.bands),
     .low = 1, .high = 64},
    {"--granularity", TAKES("G"), .commands = FOR_BENCH, .section = images,
     .help = "binary: side of its blocks in pixels. Default: 4.", .set = set_int,
     .at = AT(bench.granularity_px), .low = 1, .high = 32768},
    {"--density", TAKES("P"), .commands = FOR_BENCH, .section = images,
     .help = "binary: percentage of blocks that are 1. Default: 50.", .set = set_int,
     .at = AT(bench.density_percent), .low = 0, .high = 100},
    {"--seed", TAKES("S"), .commands = FOR_BENCH, .section = images,
     .help = "Another seed, another image; the same one, the same image everywhere. Default: 1.",
     .set = set_int64, .at = AT(bench.seed), .low = 0, .high = 9e15},
    {"--mirror", TAKES("N"), .commands = FOR_BENCH, .section = images,
     .help = "Make the image N x N pixels, by reflecting it at its edges or by leaving off what is "
             "too much. Default: as it is.",
     .set = set_int, .at = AT(bench.mirror_px), .low = 1, .high = 32768},

    {"--runs", TAKES("R"), .commands = FOR_BENCH, .section = running,
     .help = "Measure R runs, after one that is not measured. Default: 7.", .set = set_int,
     .at = AT(bench.runs), .low = 1, .high = 100000},
    {"--tile", TAKES("N"), .commands = FOR_JOBS | FOR_INFO, .section = running,
     .help = "Work in tiles of N x N pixels; no result depends on it. Default: by the memory.",
     .set = set_int, .at = AT(job.tile_px), .low = 1, .high = INT_MAX},
    {"--memory", TAKES("SIZE"), .commands = FOR_JOBS | FOR_INFO, .section = running,
     .help =
         "Stay below this peak: 2GB, 512MiB, 50% (of the machine's); KB, MB, GB, TB are powers of "
         "1000, KiB and so on of 1024. Default: 50%.",
     .set = set_memory, .at = AT(job.memory_bytes)},
    {"-j", TAKES("N"), .commands = FOR_ALL, .section = running,
     .help = "Threads. Default: one per processor.", .set = set_int, .at = AT(job.n_threads),
     .low = 1, .high = 4096},
    {"--engine", TAKES("auto|cpu|cuda"), .commands = FOR_ALL, .section = running,
     .help = "Who computes; no result depends on it. Default: auto.", .set = set_choice,
     .at = AT(job.engine)},
    {"--gpus", TAKES("N[,N...]"), .commands = FOR_JOBS | FOR_INFO, .section = running,
     .help = "GPUs that share the tiles, counted from 0 among those that CUDA_VISIBLE_DEVICES "
             "leaves. Default: one, and one more for each 4 Gpixel, of all.",
     .set = set_gpus},
    {"--gpu-memory", TAKES("SIZE"), .commands = FOR_JOBS | FOR_INFO, .section = running,
     .help = "Stay below this on each GPU, as 20GB. Default: nine tenths of what it has.",
     .set = set_bytes, .at = AT(job.gpu_memory_bytes)},
    {"--method", TAKES("auto|stava|c2fl|ha4|connect-v1|connect-v2"), .commands = FOR_ALL,
     .section = running,
     .help = "A published method of the CUDA engine instead of its fastest: stava, c2fl and ha4 "
             "label equal values, connect-v1 and connect-v2 make the trees of qfz-bench. Refused "
             "where it cannot do what is asked; no result depends on it. Default: auto.",
     .set = set_chosen_text, .at = AT(job.gpu_method)},
    {"--retries", TAKES("N"), .commands = FOR_JOBS | FOR_INFO, .section = running,
     .help =
         "Try a read or a write that failed N times more, after 10 ms, 40 ms, and so on, 10 s at "
         "most. Default: 3.",
     .set = set_int, .at = AT(job.retries), .low = 0, .high = 100},
    {"--config", .argument = "KEY VALUE", .n_values = 2, .repeats = true,
     .commands = FOR_JOBS | FOR_INFO, .section = running,
     .help = "Configuration option of GDAL. Repeatable.", .set = add_pair, .at = AT(config)},
    {"-q", .commands = FOR_JOBS | FOR_INFO, .section = running,
     .help = "No progress and no summary on stderr; errors still are.", FLAG(quiet)},
    {"--json", .commands = FOR_ALL, .section = running,
     .help = "Print the result on stdout as JSON.", FLAG(json)},
    {"--help", .commands = FOR_ALL | FOR_RUN, .section = running, .help = "Print this help."},
    {"--version", .commands = FOR_ALL | FOR_RUN, .section = running, .help = "Print the version."},
};

const int n_options = sizeof option_table / sizeof *option_table;
_Static_assert(sizeof option_table / sizeof *option_table <= OPTIONS_MAX,
               "given[] has too little room");
