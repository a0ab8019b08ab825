/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <stdio.h>

/* MPI has one state per process, and so have the ranks. */
static qfz_ranks ranks = {.n = 1, .n_local = 1};

bool command_join(void)
{
    qfz_error err = {0};
    if (qfz_ranks_join(&ranks, &err) != QFZ_OK) {
        (void)fprintf(stderr, "qfz: %s\n", err.message);
        return false;
    }
    return ranks.rank == 0 || freopen("/dev/null", "w", stdout) != NULL;
}

const qfz_ranks *command_ranks(void)
{
    return &ranks;
}

void command_leave(void)
{
    qfz_ranks_leave();
}
