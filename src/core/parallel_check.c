/* SPDX-License-Identifier: MIT */
/* parallel_check.c - whether the system provides the threads of a job: OpenMP ends the process
 * where it does not, and GDAL may wait for ever. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/parallel.h"

/* A thread ends when all others have begun. */
static void *wait_for_others(void *arg)
{
    pthread_mutex_t *const begun = arg;
    pthread_mutex_lock(begun);
    pthread_mutex_unlock(begun);
    return NULL;
}

/* The number of threads that could begin, at most n, of which all were there at one time; *reason:
 * an error number if these are fewer. */
static int begin_and_end(pthread_mutex_t *begun, pthread_t *threads, int n, int *reason)
{
    int n_begun = 0;
    *reason = 0;
    pthread_mutex_lock(begun);
    for (; n_begun < n && *reason == 0; n_begun += *reason == 0)
        *reason = pthread_create(&threads[n_begun], NULL, wait_for_others, begun);
    pthread_mutex_unlock(begun);
    for (int i = 0; i < n_begun; i++)
        (void)pthread_join(threads[i], NULL);
    return n_begun;
}

static qfz_status refuse(int n_threads, int wanted, int n, int reason, qfz_error *err)
{
    const int fewer = n_threads * n / wanted; /* in proportion, rounded down */
    char remedy[32] = "";
    if (n_threads > 1)
        (void)snprintf(remedy, sizeof remedy, "use -j %d, or ", fewer > 1 ? fewer : 1);
    return qfz_fail(err, QFZ_ENOMEM,
                    "a job of %d threads needs %d more of the system, which provides %d (%s); "
                    "%sraise the limit of threads (ulimit -u, pids.max of the control group)",
                    n_threads, wanted, n, strerror(reason), remedy);
}

qfz_status qfz_parallel_check(int n_threads, int n_devices, qfz_error *err)
{
    const int of_gdal = n_threads > 1 ? n_threads : 0;
    const int wanted = n_threads - 1 + n_devices + of_gdal;
    pthread_mutex_t begun; /* held until all have begun */
    pthread_t *threads = NULL;
    int reason;
    if (wanted < 1) return QFZ_OK;
    QFZ_TRY(QFZ_NEW(&threads, wanted, err));
    if (pthread_mutex_init(&begun, NULL) != 0) {
        free(threads);
        return qfz_fail(err, QFZ_ENOMEM, "out of memory for a lock");
    }
    const int n = begin_and_end(&begun, threads, wanted, &reason);
    (void)pthread_mutex_destroy(&begun);
    free(threads);
    return n == wanted ? QFZ_OK : refuse(n_threads, wanted, n, reason, err);
}
