/* SPDX-License-Identifier: MIT */
/* parallel_once.c - a loop on threads of its own. */
#include <pthread.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/parallel.h"

typedef struct loop {
    qfz_item_fn fn;
    void *arg;
    int64_t n, next;      /* items; the first that has not begun */
    pthread_mutex_t lock; /* of next, st and err */
    qfz_status st;
    qfz_error *err;
} loop;

typedef struct worker {
    loop *loop;
    int number;
    pthread_t thread;
} worker;

static void fail(loop *l, qfz_status st, const qfz_error *err)
{
    pthread_mutex_lock(&l->lock);
    if (l->st == QFZ_OK) l->st = qfz_fail(l->err, st, "%s", err->message);
    pthread_mutex_unlock(&l->lock);
}

/* Takes an item; false: there is none, or one has failed. */
static bool take(loop *l, int64_t *item)
{
    pthread_mutex_lock(&l->lock);
    const bool more = l->st == QFZ_OK && l->next < l->n;
    *item = l->next;
    l->next += more;
    pthread_mutex_unlock(&l->lock);
    return more;
}

static void *work(void *arg)
{
    const worker *const w = arg;
    int64_t item;
    while (take(w->loop, &item)) {
        qfz_error err = {.status = QFZ_OK};
        const qfz_status st = w->loop->fn(w->loop->arg, item, w->number, &err);
        if (st != QFZ_OK) fail(w->loop, st, &err);
    }
    return NULL;
}

qfz_status qfz_parallel_for_once(int n_threads, int64_t n, qfz_item_fn fn, void *arg,
                                 qfz_error *err)
{
    loop l = {.fn = fn, .arg = arg, .n = n, .err = err};
    worker *workers = NULL;
    const int64_t wanted = n < n_threads ? n : n_threads;
    QFZ_TRY(QFZ_NEW_ZERO(&workers, wanted > 0 ? wanted : 1, err));
    if (pthread_mutex_init(&l.lock, NULL) != 0) {
        free(workers);
        return qfz_fail(err, QFZ_ENOMEM, "out of memory for a lock");
    }
    int n_begun = 1; /* the calling thread; it does without threads that cannot begin */
    workers[0] = (worker){.loop = &l};
    for (; n_begun < wanted; n_begun++) {
        workers[n_begun] = (worker){.loop = &l, .number = n_begun};
        if (pthread_create(&workers[n_begun].thread, NULL, work, &workers[n_begun]) != 0) break;
    }
    (void)work(&workers[0]);
    for (int i = 1; i < n_begun; i++)
        (void)pthread_join(workers[i].thread, NULL);
    (void)pthread_mutex_destroy(&l.lock);
    free(workers);
    return l.st;
}
