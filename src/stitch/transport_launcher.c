/* SPDX-License-Identifier: MIT */
#include "stitch/transport_launcher.h"

#include <stdlib.h>

/* A number in the environment; 0: none. */
static int number_of(const char *variable)
{
    const char *const text = getenv(variable);
    return text ? atoi(text) : 0;
}

/* Launchers other than Slurm, which sets the same variables in batch scripts as in steps. */
static qfz_launcher launcher_of_mpi(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS",
                                        "MV2_COMM_WORLD_SIZE"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const int n = number_of(sizes[i]);
        if (n > 1) return (qfz_launcher){sizes[i], n, n};
    }
    const int rank = number_of("PMIX_RANK");
    return (qfz_launcher){"PMIX_RANK", rank, rank > 0 ? rank + 1 : 0};
}

static qfz_launcher launcher_of_slurm(void)
{
    const char *const variable =
        getenv("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
    const int n = getenv("SLURM_STEP_ID") ? number_of(variable) : 0;
    return (qfz_launcher){variable, n, n};
}

qfz_launcher qfz_launcher_look(void)
{
    const qfz_launcher mpi = launcher_of_mpi();
    return mpi.n > 1 ? mpi : launcher_of_slurm();
}

qfz_status qfz_launcher_check(const qfz_launcher *launcher, int n, const char *remedy,
                              qfz_error *err)
{
    if (launcher->n <= 1 || n > 1) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG,
                    "a launcher started this process together with others (%s=%d), and each would "
                    "do the whole job; %s",
                    launcher->variable, launcher->number, remedy);
}
