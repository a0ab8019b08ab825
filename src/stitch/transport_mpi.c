/* SPDX-License-Identifier: MIT */
/* transport_mpi.c - ranks as processes of MPI.
 *
 * MPI is entered only by a process that a launcher started: alone it would cost time and name a
 * network where there is none.  All calls come from the main thread. */
#include "stitch/ranks.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/memory.h"
#include "core/clock.h"

/* Exchanges have two tags each, by turns; 32767 is the least that MPI has to offer. */
enum { TAG_STOP = 1, FIRST_TAG, EXCHANGES = 1 << 12 };
enum { CHUNK_BYTES = 1 << 30 };               /* MPI counts in int */
static const int64_t afloat_bytes = 64 << 20; /* on the way from one rank at a time */

/* MPI is one for the whole process, and so is what is known of it. */
static struct {
    bool joined, began;
    MPI_Comm all;
    bool told, heard; /* stop: this rank to the others, others to this rank */
    MPI_Request *stops;
    unsigned exchanges; /* begun */
} mpi;

static qfz_status check(int code, const char *what, qfz_error *err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    if (code == MPI_SUCCESS) return QFZ_OK;
    (void)MPI_Error_string(code, text, &n);
    return qfz_fail(err, QFZ_EIO, "MPI: %s failed: %s", what, text);
}

/* One by one: gcc takes MPICH's mark for statuses that nobody wants for an array. */
static int wait_all(int n, MPI_Request *requests)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < n && code == MPI_SUCCESS; i++)
        code = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    return code;
}

/* Those that are done stay done. */
static int test_all(int n, MPI_Request *requests, int *done)
{
    int code = MPI_SUCCESS;
    *done = 1;
    for (int i = 0; i < n && code == MPI_SUCCESS && *done; i++)
        code = MPI_Test(&requests[i], done, MPI_STATUS_IGNORE);
    return code;
}

/* ------------------------------------------------------------------------------------ join, leave
 */
/* What launchers of Open MPI, MPICH, Slurm and others that speak PMI or PMIx leave behind. */
static bool is_launched(void)
{
    static const char *const names[] = {
        "OMPI_COMM_WORLD_SIZE", "PMIX_RANK",          "PMI_RANK", "PMI_FD",
        "MPI_LOCALNRANKS",      "MV2_COMM_WORLD_SIZE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i])) return true;
    return false;
}

static int begin(void)
{
    int already = 0, level;
    int code = MPI_Initialized(&already);
    if (code != MPI_SUCCESS || already) return code;
    code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    mpi.began = code == MPI_SUCCESS;
    return code;
}

static int look_around(qfz_ranks *ranks)
{
    MPI_Comm local;
    int code = MPI_Comm_dup(MPI_COMM_WORLD, &mpi.all);
    if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(mpi.all, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS) code = MPI_Comm_rank(mpi.all, &ranks->rank);
    if (code == MPI_SUCCESS) code = MPI_Comm_size(mpi.all, &ranks->n);
    if (code == MPI_SUCCESS)
        code =
            MPI_Comm_split_type(mpi.all, MPI_COMM_TYPE_SHARED, ranks->rank, MPI_INFO_NULL, &local);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Comm_rank(local, &ranks->local_rank);
    if (code == MPI_SUCCESS) code = MPI_Comm_size(local, &ranks->n_local);
    (void)MPI_Comm_free(&local);
    return code;
}

qfz_status qfz_ranks_join(qfz_ranks *ranks, qfz_error *err)
{
    qfz_ranks found = {.n = 1, .n_local = 1};
    if (!is_launched()) {
        *ranks = found;
        return QFZ_OK;
    }
    QFZ_TRY(check(begin(), "starting", err));
    QFZ_TRY(check(look_around(&found), "looking for the other ranks", err));
    QFZ_TRY(QFZ_NEW(&mpi.stops, found.n, err));
    mpi.joined = true;
    *ranks = found;
    return QFZ_OK;
}

void qfz_ranks_leave(void)
{
    if (mpi.joined) (void)MPI_Comm_free(&mpi.all);
    if (mpi.began) (void)MPI_Finalize();
    free(mpi.stops);
    mpi.joined = mpi.began = false;
    mpi.stops = NULL;
}

/* ------------------------------------------------------------------------------------------- stop
 */
void qfz_ranks_stop(const qfz_ranks *ranks)
{
    if (ranks->n == 1 || mpi.told || mpi.heard) return;
    mpi.told = true;
    for (int r = 0; r < ranks->n; r++) {
        mpi.stops[r] = MPI_REQUEST_NULL;
        if (r != ranks->rank)
            (void)MPI_Isend(NULL, 0, MPI_BYTE, r, TAG_STOP, mpi.all, &mpi.stops[r]);
    }
}

bool qfz_ranks_stopped(const qfz_ranks *ranks)
{
    int there = 0;
    if (ranks->n == 1 || mpi.heard) return mpi.heard;
    if (MPI_Iprobe(MPI_ANY_SOURCE, TAG_STOP, mpi.all, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return false;
    mpi.heard = there != 0;
    return mpi.heard;
}

/* Takes the words that were sent, so that none is taken for one of a later job. */
static int hear_all(const qfz_ranks *ranks, int n_told)
{
    int code = MPI_SUCCESS;
    for (int i = mpi.told ? 1 : 0; i < n_told && code == MPI_SUCCESS; i++)
        code = MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, TAG_STOP, mpi.all, MPI_STATUS_IGNORE);
    if (mpi.told && code == MPI_SUCCESS) code = wait_all(ranks->n, mpi.stops);
    mpi.told = mpi.heard = false;
    return code;
}

/* Ranks may be apart by minutes, and waiting inside MPI would keep a processor busy; but what is on
 * its way makes progress only when MPI is asked.  So for a while it is asked again at once, then
 * after pauses, which add a twentieth to the time that was waited. */
static void wait_since(double *began) /* 0: begins now */
{
    static const double at_once_s = 20e-3, longest_s = 1e-3;
    const double now = qfz_seconds_now();
    if (*began == 0) *began = now;
    const double waited = now - *began, pause = waited / 20 < longest_s ? waited / 20 : longest_s;
    if (waited < at_once_s)
        (void)sched_yield();
    else
        (void)nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * pause)}, NULL);
}

static int wait_for(MPI_Request *request)
{
    double began = 0;
    int done = 0;
    for (;;) {
        const int code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || done) return code;
        wait_since(&began);
    }
}

static int reduce(int mine, int *all, MPI_Op op)
{
    MPI_Request request;
    const int code = MPI_Iallreduce(&mine, all, 1, MPI_INT, op, mpi.all, &request);
    return code == MPI_SUCCESS ? wait_for(&request) : code;
}

qfz_status qfz_ranks_agree(const qfz_ranks *ranks, qfz_status st, qfz_error *err)
{
    int least, n_told;
    if (ranks->n == 1) return st;
    /* who only stopped because others did has no failure of its own */
    if (st != QFZ_OK && !mpi.heard) qfz_ranks_stop(ranks);
    QFZ_TRY(check(reduce(mpi.told ? ranks->rank : ranks->n, &least, MPI_MIN), "agreeing", err));
    if (least == ranks->n) return QFZ_OK;
    QFZ_TRY(check(reduce(mpi.told, &n_told, MPI_SUM), "agreeing", err));
    QFZ_TRY(check(hear_all(ranks, n_told), "stopping", err));
    QFZ_TRY(check(MPI_Bcast(err, (int)sizeof *err, MPI_BYTE, least, mpi.all), "agreeing", err));
    return err->status;
}

/* -------------------------------------------------------------------------------- small quantities
 */
qfz_status qfz_ranks_share(const qfz_ranks *ranks, void *data, int64_t bytes, qfz_error *err)
{
    if (ranks->n == 1) return QFZ_OK;
    return check(MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, mpi.all), "telling all", err);
}

qfz_status qfz_ranks_sum(const qfz_ranks *ranks, uint64_t mine, uint64_t *before, uint64_t *total,
                         qfz_error *err)
{
    *before = 0;
    *total = mine;
    if (ranks->n == 1) return QFZ_OK;
    QFZ_TRY(check(MPI_Exscan(&mine, before, 1, MPI_UINT64_T, MPI_SUM, mpi.all), "adding", err));
    if (ranks->rank == 0) *before = 0; /* undefined there */
    return check(MPI_Allreduce(&mine, total, 1, MPI_UINT64_T, MPI_SUM, mpi.all), "adding", err);
}

/* ------------------------------------------------------------------------------------------ pieces
 *
 * A piece is a head and, chunk by chunk, its body.  Sends do not wait, but only so many bytes are
 * on the way at a time; a rank that waits for its own to arrive takes what comes meanwhile, from
 * whomever.  So there is always somebody who takes, and all arrive.
 *
 * Exchanges are numbered by all ranks alike.  A rank may be some ahead of another, but there are
 * far fewer between two agreements than tags. */
typedef struct parcel {
    struct parcel *next;
    int64_t head[2]; /* key, bytes; FAILED: there are none */
    void *own;
    int n_requests;
    MPI_Request requests[];
} parcel;

enum { FAILED = -1 };

typedef struct post {
    const qfz_ranks *ranks;
    const qfz_mail *mail;
    int tag_head, tag_body;
    parcel *first, **last; /* on the way, the oldest first */
    int64_t afloat;
    int64_t n_out, n_in; /* done */
    qfz_status st;       /* of this rank; the first failure stays */
    qfz_error *err;
} post;

static int64_t chunks_of(int64_t bytes)
{
    return bytes > 0 ? (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES : 0;
}

static int64_t chunk_bytes(int64_t bytes, int64_t chunk)
{
    const int64_t left = bytes - chunk * CHUNK_BYTES;
    return left < CHUNK_BYTES ? left : CHUNK_BYTES;
}

/* The others hear of it by the word that agreeing collects, before they get a piece that says so.
 */
static void fail_post(post *p, qfz_status st)
{
    if (p->st == QFZ_OK) p->st = st;
    qfz_ranks_stop(p->ranks);
}

static qfz_status send_next(post *p, qfz_error *err)
{
    int to = 0;
    int64_t key = 0, bytes = FAILED;
    const void *data = NULL;
    void *own = NULL;
    parcel *it = NULL;
    p->n_out++;
    p->mail->next(p->mail->arg, &to, &key);
    if (p->st == QFZ_OK) {
        const qfz_status got = p->mail->get(p->mail->arg, key, &data, &bytes, &own, err);
        if (got != QFZ_OK) fail_post(p, got);
        if (got != QFZ_OK) bytes = FAILED;
    }
    const size_t room = sizeof *it + (size_t)(1 + chunks_of(bytes)) * sizeof(MPI_Request);
    const qfz_status st = qfz_alloc((void **)&it, 1, room, err);
    if (st != QFZ_OK) {
        free(own);
        return st;
    }
    *it = (parcel){.head = {key, bytes}, .own = own};
    *p->last = it;
    p->last = &it->next;
    p->afloat += bytes > 0 ? bytes : 0;
    QFZ_TRY(check(MPI_Isend(it->head, 2, MPI_INT64_T, to, p->tag_head, mpi.all,
                            &it->requests[it->n_requests]),
                  "sending", err));
    it->n_requests++;
    for (int64_t c = 0; c < chunks_of(bytes); c++) {
        QFZ_TRY(check(MPI_Isend((const char *)data + c * CHUNK_BYTES, (int)chunk_bytes(bytes, c),
                                MPI_BYTE, to, p->tag_body, mpi.all, &it->requests[it->n_requests]),
                      "sending", err));
        it->n_requests++;
    }
    return QFZ_OK;
}

/* Forgets what has arrived, oldest first. */
static qfz_status clear_arrived(post *p, qfz_error *err)
{
    while (p->first) {
        parcel *const it = p->first;
        int arrived;
        QFZ_TRY(check(test_all(it->n_requests, it->requests, &arrived), "sending", err));
        if (!arrived) return QFZ_OK;
        p->afloat -= it->head[1] > 0 ? it->head[1] : 0;
        p->first = it->next;
        if (!p->first) p->last = &p->first;
        free(it->own);
        free(it);
    }
    return QFZ_OK;
}

static qfz_status receive(post *p, int from, qfz_error *err)
{
    int64_t head[2];
    char *data = NULL;
    QFZ_TRY(check(MPI_Recv(head, 2, MPI_INT64_T, from, p->tag_head, mpi.all, MPI_STATUS_IGNORE),
                  "receiving", err));
    p->n_in++;
    if (head[1] == FAILED) {
        if (!mpi.told) mpi.heard = true;
        if (p->st == QFZ_OK) p->st = qfz_fail(err, QFZ_ECANCEL, "another rank failed");
        return QFZ_OK;
    }
    qfz_status st = QFZ_NEW_LARGE(&data, head[1], err);
    for (int64_t c = 0; c < chunks_of(head[1]) && st == QFZ_OK; c++)
        st = check(MPI_Recv(data + c * CHUNK_BYTES, (int)chunk_bytes(head[1], c), MPI_BYTE, from,
                            p->tag_body, mpi.all, MPI_STATUS_IGNORE),
                   "receiving", err);
    if (st != QFZ_OK || p->st != QFZ_OK) {
        free(data);
        return st;
    }
    const qfz_status kept = p->mail->put(p->mail->arg, head[0], data, head[1], err);
    if (kept != QFZ_OK) fail_post(p, kept);
    return QFZ_OK;
}

static qfz_status run_post(post *p, qfz_error *err)
{
    const qfz_mail *const mail = p->mail;
    double idle_since = 0;
    while (p->n_out < mail->n_out || p->n_in < mail->n_in || p->first) {
        MPI_Status status;
        int there = 0;
        const bool may_send = p->n_out < mail->n_out && p->afloat < afloat_bytes;
        if (may_send) QFZ_TRY(send_next(p, err));
        if (p->n_in < mail->n_in)
            QFZ_TRY(check(MPI_Iprobe(MPI_ANY_SOURCE, p->tag_head, mpi.all, &there, &status),
                          "receiving", err));
        if (there) QFZ_TRY(receive(p, status.MPI_SOURCE, err));
        QFZ_TRY(clear_arrived(p, err));
        if (may_send || there)
            idle_since = 0;
        else
            wait_since(&idle_since);
    }
    return QFZ_OK;
}

qfz_status qfz_ranks_exchange(const qfz_ranks *ranks, const qfz_mail *mail, qfz_status st,
                              qfz_error *err)
{
    if (ranks->n == 1) return st;
    const int tag = FIRST_TAG + 2 * (int)(mpi.exchanges++ % EXCHANGES);
    post p = {.ranks = ranks, .mail = mail, .tag_head = tag, .tag_body = tag + 1, .last = &p.first};
    if (st != QFZ_OK) fail_post(&p, st);
    const qfz_status sent = run_post(&p, err);
    if (sent != QFZ_OK) { /* the network itself: there is no agreeing over it, and no way back */
        (void)fprintf(stderr, "qfz: rank %d: %s\n", ranks->rank, err->message);
        (void)MPI_Abort(mpi.all, 1);
        return sent;
    }
    return p.st;
}
