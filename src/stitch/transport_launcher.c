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
static int processes_of_mpi(const char **variable)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS",
                                        "MV2_COMM_WORLD_SIZE"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        *variable = sizes[i];
        if (number_of(sizes[i]) > 1) return number_of(sizes[i]);
    }
    *variable = "PMIX_RANK";
    return number_of("PMIX_RANK") > 0 ? number_of("PMIX_RANK") + 1 : 0;
}

static int processes_of_slurm(const char **variable)
{
    if (!getenv("SLURM_STEP_ID")) return 0;
    *variable = getenv("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
    return number_of(*variable);
}

qfz_status qfz_launcher_check(int n, const char *remedy, qfz_error *err)
{
    const char *variable = NULL;
    int launched = processes_of_mpi(&variable);
    if (launched <= n) launched = processes_of_slurm(&variable);
    if (launched <= n || n > 1) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG,
                    "a launcher started this process together with others (%s=%s), and each would "
                    "do the whole job; %s",
                    variable, getenv(variable), remedy);
}
