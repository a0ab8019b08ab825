/* SPDX-License-Identifier: MIT */
/* run.c - qfz run: another command, one phase of it in one process. */
#include "options.h"

static int run(request *r)
{
    complain(r->command, "%s: not a task: label, simplify, saliency or cut", r->operands[0]);
    return EXIT_USAGE;
}

const command run_command = {
    .name = "qfz run",
    .page = "qfz-run",
    .bit = FOR_RUN,
    .operands = "TASK [options of TASK] SRC DST",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "one phase of a task in a process of its own, for job arrays",
    .description =
        "Does a part of what the command TASK does. All processes of a job name the same folder "
        "--work, and give the same options to TASK.\n\n"
        "Phase summarise is run for every part K of N, phase stitch once when all of those are "
        "through, phase resolve for every part again; for simplify, summarise and stitch are run "
        "twice before. Parts may run in any order, anywhere, and again. Each run says which phase "
        "is next; the last one to resolve completes the result.",
    .example = "qfz run --phase summarise --part 3/16 --work /scratch/w saliency big.vrt out.vrt",
    .run = run,
};
