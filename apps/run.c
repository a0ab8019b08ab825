/* SPDX-License-Identifier: MIT */
/* run.c - qfz run: one phase of another command in one process. */
#include "log.h"
#include "options.h"

/* Called only without a valid task; main.c runs valid ones. */
static int run(request *r)
{
    complain(r->command,
             "%s: no such task; the tasks are label, simplify, saliency, cut, curve, "
             "tree and regions",
             r->operands[0]);
    return EXIT_USAGE;
}

const command run_command = {
    .name = "qfz run",
    .page = "qfz-run",
    .bit = FOR_RUN,
    .operands = "TASK [options of TASK] SRC DST",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "one phase of a task in one process, for job arrays",
    .description =
        "Runs one phase of TASK on one part of the raster. TASK is label, simplify, saliency, "
        "cut, curve, tree or regions; its options are accepted before and after TASK. All "
        "processes of a "
        "job "
        "have the same folder --work and the same options of TASK.\n\n"
        "First run phase summarise for every part K of N; when all parts are complete, run phase "
        "stitch once; then run phase resolve for every part. For simplify and tree, run summarise "
        "and stitch twice before resolve. With --min-area, run both once more than without, but "
        "for tree, which always filters. For curve and regions, resolve is left out, and stitch "
        "prints "
        "the result or writes the outputs. The parts of a phase may run in any order, at the same "
        "time and on different "
        "machines, and may be repeated. Each process prints the phase to run next. The last "
        "process of resolve completes the output.",
    .example =
        "qfz run --phase summarise --part 3/16 --work /scratch/w saliency mosaic.vrt out.vrt\n"
        "qfz run --phase stitch --work /scratch/w saliency mosaic.vrt out.vrt\n"
        "qfz run --phase resolve --part 3/16 --work /scratch/w saliency mosaic.vrt out.vrt",
    .run = run,
};
