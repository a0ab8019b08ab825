/* SPDX-License-Identifier: MIT */
/* transport_mpi.c - ranks as processes of MPI.
 *
 * Only a process that a launcher started initialises MPI: for a single process that would cost time
 * and may fail where there is no network.  All calls come from the main thread.
 *
 * Whatever another rank sends is compared with what this rank knows, before use.  What cannot be
 * right ends all ranks at once: after a false number ranks would wait for messages that nobody
 * sends. */
#include "core/api.h"
#include "stitch/transport_launcher.h"
#include "stitch/ranks.h"

#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "core/memory.h"
#include "core/clock.h"

/* Each exchange uses two tags in turn; MPI guarantees tags up to 32767. */
enum { TAG_STOP = 1, FIRST_TAG, EXCHANGES = 1 << 12 };
enum { CHECK = 1 << 20 }; /* the distance of a number's second copy */
enum {
    PART_BYTES = 1 << 20,    /* of a piece, in one message; MPI counts in int */
    MOST_IN_FLIGHT = 8 << 20 /* bytes from one rank; they are in its memory */
};

/* MPI exists once per process, and so does this state. */
static struct {
    bool joined, began;
    bool agreed; /* at least once */
    qfz_ranks ranks;
    MPI_Comm all;
    bool stop_sent, stop_received; /* TAG_STOP messages since the last agreement: sent, received */
    MPI_Request *stops;
    int n_stops;         /* requests of the last TAG_STOP messages */
    uint32_t stop[2];    /* a TAG_STOP message: the number of the agreement, and its complement */
    uint32_t agreements; /* ended */
    int64_t exchanges;   /* begun */
} mpi;

static qfz_status check(int code, const char *what, qfz_error *err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    if (code == MPI_SUCCESS) return QFZ_OK;
    (void)MPI_Error_string(code, text, &n);
    return qfz_fail(err, QFZ_EIO, "MPI: %s failed: %s", what, text);
}

static qfz_status damaged(const char *what, qfz_error *err)
{
    return qfz_fail(err, QFZ_EIO,
                    "MPI: %s failed: a message from another rank is damaged, or from another "
                    "version of qfz",
                    what);
}

static qfz_status damaged_by(int rank, qfz_error *err)
{
    return qfz_fail(err, QFZ_EIO,
                    "MPI: receiving failed: a message from rank %d is damaged, or from another "
                    "version of qfz",
                    rank);
}

static uint32_t crc_of(const void *data, int64_t bytes)
{
    return (uint32_t)crc32_z(0, data, (size_t)bytes);
}

/* One by one: gcc warns about MPICH's MPI_STATUSES_IGNORE, which it takes for an array. */
static int wait_all(int n, MPI_Request *requests)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < n && code == MPI_SUCCESS; i++)
        code = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    return code;
}

/* *done counts the finished requests; they are not tested again. */
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
/* Looks for the environment variables that launchers set: Open MPI, MPICH, Slurm and others that
 * use PMI or PMIx. */
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
    static const char remedy[] = "use the launcher that belongs to this qfz's MPI (`qfz --version` "
                                 "names it; with Slurm, --mpi=pmix or pmi2), or start one process";
    qfz_error own;
    qfz_ranks found = {.n = 1, .n_local = 1};
    const qfz_launcher launcher = qfz_launcher_look();
    err = qfz_api_error(err, &own);
    if (!is_launched()) {
        QFZ_TRY(qfz_launcher_check(&launcher, 1, remedy, err));
        *ranks = found;
        return QFZ_OK;
    }
    QFZ_TRY(check(begin(), "starting", err));
    QFZ_TRY(check(look_around(&found), "looking for the other ranks", err));
    QFZ_TRY(qfz_launcher_check(&launcher, found.n, remedy, err));
    QFZ_TRY(QFZ_NEW(&mpi.stops, found.n, err));
    mpi.joined = true;
    mpi.agreed = false;
    mpi.n_stops = 0;
    mpi.ranks = *ranks = found;
    return QFZ_OK;
}

/* A rank that leaves before any agreement may have failed alone, while others wait for it in the
 * first agreement of their job. */
static void end_without_job(void)
{
    qfz_error err = {.status = QFZ_OK};
    const qfz_status st =
        qfz_fail(&err, QFZ_EIO, "rank %d ended before the job began", mpi.ranks.rank);
    (void)qfz_ranks_agree(&mpi.ranks, st, &err);
}

void qfz_ranks_leave(void)
{
    if (mpi.joined && !mpi.agreed) end_without_job();
    (void)wait_all(mpi.n_stops, mpi.stops);
    if (mpi.joined) (void)MPI_Comm_free(&mpi.all);
    if (mpi.began) (void)MPI_Finalize();
    free(mpi.stops);
    mpi.joined = mpi.began = false;
    mpi.stops = NULL;
}

/* ------------------------------------------------------------------------------------------- stop
 */
/* These messages are so small that MPI sends them before anybody receives them. */
void qfz_ranks_stop(const qfz_ranks *ranks)
{
    if (ranks->n == 1 || mpi.stop_sent || mpi.stop_received) return;
    (void)wait_all(mpi.n_stops, mpi.stops);
    mpi.stop_sent = true;
    mpi.stop[0] = mpi.agreements;
    mpi.stop[1] = ~mpi.agreements;
    mpi.n_stops = ranks->n;
    for (int r = 0; r < ranks->n; r++) {
        mpi.stops[r] = MPI_REQUEST_NULL;
        if (r != ranks->rank)
            (void)MPI_Isend(mpi.stop, sizeof mpi.stop, MPI_BYTE, r, TAG_STOP, mpi.all,
                            &mpi.stops[r]);
    }
}

/* True if the next TAG_STOP message counts, or cannot be read. */
static bool receive_stop(const MPI_Status *status)
{
    uint32_t stop[2] = {0};
    int n = 0;
    if (MPI_Get_count(status, MPI_BYTE, &n) != MPI_SUCCESS || n != sizeof stop) return true;
    const int code =
        MPI_Recv(stop, n, MPI_BYTE, status->MPI_SOURCE, TAG_STOP, mpi.all, MPI_STATUS_IGNORE);
    return code != MPI_SUCCESS || stop[1] != ~stop[0] || stop[0] == mpi.agreements;
}

/* Messages from before the last agreement do not count: it has reported their failure.  The next
 * agreement finds a message for which there is no failure. */
bool qfz_ranks_stopped(const qfz_ranks *ranks)
{
    while (ranks->n > 1 && !mpi.stop_received) {
        MPI_Status status;
        int there = 0;
        const int code = MPI_Iprobe(MPI_ANY_SOURCE, TAG_STOP, mpi.all, &there, &status);
        if (code != MPI_SUCCESS || !there) break;
        mpi.stop_received = receive_stop(&status);
    }
    return mpi.stop_received;
}

/* Ranks may be minutes apart, and waiting inside MPI would keep a processor busy; but messages
 * progress only while MPI is called.  So MPI is polled without pause for a while, then after pauses
 * that add a twentieth to the time waited so far. */
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

/* least = the least of each of two numbers over all ranks. */
static int reduce(const void *mine, void *least, MPI_Datatype type)
{
    MPI_Request request;
    const int code = MPI_Iallreduce(mine, least, 2, type, MPI_MIN, mpi.all, &request);
    return code == MPI_SUCCESS ? wait_for(&request) : code;
}

/* The network itself failed: ranks cannot agree any more, and some would wait without end. */
static qfz_status end_all(const qfz_ranks *ranks, qfz_status st, const qfz_error *err)
{
    (void)fprintf(stderr, "qfz: rank %d: %s\n", ranks->rank, err->message);
    (void)MPI_Abort(mpi.all, 1);
    return st;
}

/* Checks a call that all ranks make together. */
static qfz_status check_together(const qfz_ranks *ranks, int code, const char *what, qfz_error *err)
{
    const qfz_status st = check(code, what, err);
    return st == QFZ_OK ? QFZ_OK : end_all(ranks, st, err);
}

/* Ends all ranks unless all have the same bytes: then the least checksum is that of this rank, and
 * so is the largest. */
static qfz_status check_same(const qfz_ranks *ranks, const void *data, int64_t bytes,
                             const char *what, qfz_error *err)
{
    const uint32_t crc = crc_of(data, bytes), mine[2] = {crc, ~crc};
    uint32_t least[2];
    QFZ_TRY(check_together(ranks, reduce(mine, least, MPI_UINT32_T), what, err));
    if (least[0] == mine[0] && least[1] == mine[1]) return QFZ_OK;
    return end_all(ranks, damaged(what, err), err);
}

/* Copies bytes from a rank to all. */
static qfz_status share_from(const qfz_ranks *ranks, int rank, void *data, int64_t bytes,
                             const char *what, qfz_error *err)
{
    if (bytes < 0 || bytes > INT_MAX)
        return qfz_fail(err, QFZ_EIO, "MPI: %s failed: a message of %lld bytes is too large", what,
                        (long long)bytes);
    QFZ_TRY(check_together(ranks, MPI_Bcast(data, (int)bytes, MPI_BYTE, rank, mpi.all), what, err));
    return check_same(ranks, data, bytes, what, err);
}

static bool is_failure(const qfz_error *err)
{
    return err->status != QFZ_OK && memchr(err->message, 0, sizeof err->message);
}

static qfz_status share_failure(const qfz_ranks *ranks, int from, qfz_error *err)
{
    qfz_error found = *err;
    QFZ_TRY(share_from(ranks, from, &found, sizeof found, "agreeing", err));
    if (!is_failure(&found)) return end_all(ranks, damaged("agreeing", err), err);
    *err = found;
    return found.status;
}

/* *least = the lowest rank that has sent TAG_STOP; none: the number of ranks. */
static qfz_status find_failed(const qfz_ranks *ranks, int *least, qfz_error *err)
{
    const int own = mpi.stop_sent ? ranks->rank : ranks->n, mine[2] = {own, own + CHECK};
    int found[2];
    QFZ_TRY(check_together(ranks, reduce(mine, found, MPI_INT), "agreeing", err));
    *least = found[0];
    const bool sound = found[0] >= 0 && found[0] <= own && found[1] == found[0] + CHECK;
    return sound ? QFZ_OK : end_all(ranks, damaged("agreeing", err), err);
}

/* A rank stops because it fails, or because another one says that it has failed: then there is a
 * lowest rank that has. */
qfz_status qfz_ranks_agree(const qfz_ranks *ranks, qfz_status st, qfz_error *err)
{
    int least;
    if (ranks->n == 1) return st;
    mpi.agreed = true;
    /* a rank that stopped because of another one has no failure of its own */
    if (st != QFZ_OK && !mpi.stop_received) qfz_ranks_stop(ranks);
    QFZ_TRY(find_failed(ranks, &least, err));
    const bool stopped = mpi.stop_received || st != QFZ_OK;
    const bool is_accused = least == ranks->rank && !mpi.stop_sent;
    mpi.stop_sent = mpi.stop_received = false;
    mpi.agreements++;
    if (is_accused || (stopped && least == ranks->n))
        return end_all(ranks, damaged("agreeing", err), err);
    return least == ranks->n ? QFZ_OK : share_failure(ranks, least, err);
}

/* -------------------------------------------------------------------------------- small quantities
 */
qfz_status qfz_ranks_share(const qfz_ranks *ranks, void *data, int64_t bytes, qfz_error *err)
{
    if (ranks->n == 1) return QFZ_OK;
    return share_from(ranks, 0, data, bytes, "sharing", err);
}

/* Adds up the numbers of all ranks. */
static qfz_status add(const qfz_ranks *ranks, const uint64_t *all, uint64_t *before,
                      uint64_t *total, qfz_error *err)
{
    bool overflows = false;
    *before = *total = 0;
    for (int r = 0; r < ranks->n; r++) {
        if (r == ranks->rank) *before = *total;
        overflows |= __builtin_add_overflow(*total, all[r], total);
    }
    return overflows ? end_all(ranks, damaged("adding", err), err) : QFZ_OK;
}

qfz_status qfz_ranks_sum(const qfz_ranks *ranks, uint64_t mine, uint64_t *before, uint64_t *total,
                         qfz_error *err)
{
    uint64_t *all = NULL;
    *before = 0;
    *total = mine;
    if (ranks->n == 1) return QFZ_OK;
    qfz_status st = QFZ_NEW(&all, ranks->n, err);
    if (st != QFZ_OK) return end_all(ranks, st, err);
    st = check_together(ranks, MPI_Allgather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, mpi.all),
                        "adding", err);
    if (st == QFZ_OK && all[ranks->rank] != mine) st = end_all(ranks, damaged("adding", err), err);
    if (st == QFZ_OK) st = check_same(ranks, all, ranks->n * (int64_t)sizeof *all, "adding", err);
    if (st == QFZ_OK) st = add(ranks, all, before, total, err);
    free(all);
    return st;
}

/* ------------------------------------------------------------------------------------------ pieces
 *
 * A piece travels in parts: a message with a head, and one with bytes, with checksums.  A piece has
 * one part at least, if need be an empty one, so that a wrong length is found out, as those of all
 * parts.  The parts of one piece follow each other, and so do the pieces of one sender; those of
 * several senders mix.  Sends do not block, but the bytes in flight are limited; a rank that waits
 * for its own messages to arrive receives others meanwhile, from any rank.  So some rank always
 * receives, and all messages arrive.  A rank has in memory what is in flight, and one part that it
 * receives, whatever the size of a piece.
 *
 * All ranks number the exchanges alike.  A rank may be some exchanges ahead of another, but there
 * are far fewer exchanges between two agreements than tags. */
typedef struct head {
    int64_t key, bytes; /* of the piece; FAILED: the piece ends here, and an empty body follows */
    int64_t offset;     /* of the part */
    int64_t exchange;   /* its number */
    uint32_t body_crc, head_crc;
} head;

typedef struct parcel {
    struct parcel *next;
    head head;
    int64_t bytes;
    int n_requests;
    MPI_Request requests[2];
    char body[];
} parcel;

enum { FAILED = -1 };

/* A piece on its way out, or in from one rank. */
typedef struct piece {
    bool is_there;
    int to;
    int64_t key, bytes, done;
    bool
        is_open; /* incoming: begin() has succeeded, and neither end() nor drop() has been called */
    void *incoming;
} piece;

typedef struct post {
    const qfz_ranks *ranks;
    const qfz_mail *mail;
    int tag_head, tag_body;
    parcel *first, **last; /* in flight, the oldest first */
    int64_t in_flight;
    piece out;
    piece *in;           /* of each rank */
    char *body;          /* a part that arrives */
    int64_t n_out, n_in; /* done */
    qfz_status st;       /* of this rank; the first failure stays */
} post;

static uint32_t head_crc_of(const head *h)
{
    return crc_of(h, offsetof(head, head_crc));
}

/* Bytes of the next part. */
static int64_t part_bytes(const piece *it)
{
    const int64_t left = it->bytes - it->done;
    return left < 0 ? 0 : left < PART_BYTES ? left : PART_BYTES;
}

/* TAG_STOP messages inform the other ranks before a message with the failure reaches them. */
static void fail_post(post *p, qfz_status st)
{
    if (p->st == QFZ_OK) p->st = st;
    qfz_ranks_stop(p->ranks);
}

/* ---- Sending. */
static void begin_piece(post *p, qfz_error *err)
{
    piece *const out = &p->out;
    *out = (piece){.is_there = true};
    p->mail->next(p->mail->arg, &out->to, &out->key);
    if (p->st != QFZ_OK) return;
    const qfz_status got = p->mail->size(p->mail->arg, out->key, &out->bytes, err);
    if (got != QFZ_OK) fail_post(p, got);
}

/* A failure of this rank ends the piece. */
static void fill_part(post *p, parcel *it, qfz_error *err)
{
    piece *const out = &p->out;
    if (p->st == QFZ_OK && it->bytes > 0) {
        const qfz_status got =
            p->mail->read(p->mail->arg, out->key, out->done, it->body, it->bytes, err);
        if (got != QFZ_OK) fail_post(p, got);
    }
    if (p->st != QFZ_OK) {
        out->bytes = FAILED;
        it->bytes = 0;
    }
    it->head = (head){.key = out->key,
                      .bytes = out->bytes,
                      .offset = out->done,
                      .exchange = mpi.exchanges,
                      .body_crc = crc_of(it->body, it->bytes)};
    it->head.head_crc = head_crc_of(&it->head);
}

static qfz_status post_message(parcel *it, const void *data, int64_t bytes, int to, int tag,
                               qfz_error *err)
{
    QFZ_TRY(check(
        MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, mpi.all, &it->requests[it->n_requests]),
        "sending", err));
    it->n_requests++;
    return QFZ_OK;
}

static qfz_status send_next(post *p, qfz_error *err)
{
    piece *const out = &p->out;
    parcel *it = NULL;
    if (!out->is_there) begin_piece(p, err);
    const int64_t bytes = part_bytes(out);
    QFZ_TRY(qfz_alloc((void **)&it, 1, sizeof *it + (size_t)bytes, err));
    *it = (parcel){.bytes = bytes};
    fill_part(p, it, err);
    *p->last = it;
    p->last = &it->next;
    p->in_flight += it->bytes;
    QFZ_TRY(post_message(it, &it->head, sizeof it->head, out->to, p->tag_head, err));
    QFZ_TRY(post_message(it, it->body, it->bytes, out->to, p->tag_body, err));
    out->done += it->bytes;
    out->is_there = out->done < out->bytes;
    p->n_out += !out->is_there;
    return QFZ_OK;
}

/* Releases the messages that have arrived, oldest first. */
static qfz_status clear_arrived(post *p, qfz_error *err)
{
    while (p->first) {
        parcel *const it = p->first;
        int arrived;
        QFZ_TRY(check(test_all(it->n_requests, it->requests, &arrived), "sending", err));
        if (!arrived) return QFZ_OK;
        p->in_flight -= it->bytes;
        p->first = it->next;
        if (!p->first) p->last = &p->first;
        free(it);
    }
    return QFZ_OK;
}

/* ---- Receiving. */
/* The length is compared first: some implementations of MPI write past a buffer that is too short
 * before they report that. */
static qfz_status receive_bytes(void *to, int64_t bytes, int from, int tag, qfz_error *err)
{
    MPI_Status status;
    int n = 0;
    QFZ_TRY(check(MPI_Probe(from, tag, mpi.all, &status), "receiving", err));
    QFZ_TRY(check(MPI_Get_count(&status, MPI_BYTE, &n), "receiving", err));
    if (n != bytes) return damaged_by(from, err);
    return check(MPI_Recv(to, n, MPI_BYTE, from, tag, mpi.all, MPI_STATUS_IGNORE), "receiving",
                 err);
}

/* True if a part is the next one of the piece that comes from its sender, or the first of another.
 */
static bool is_next_part(const piece *in, const head *h)
{
    if (h->bytes == FAILED) return true;
    return in->is_there ? h->key == in->key && h->bytes == in->bytes && h->offset == in->done
                        : h->offset == 0;
}

static qfz_status receive_head(const post *p, int from, head *h, qfz_error *err)
{
    QFZ_TRY(receive_bytes(h, sizeof *h, from, p->tag_head, err));
    const bool sound = h->head_crc == head_crc_of(h) && h->bytes >= FAILED &&
                       h->exchange == mpi.exchanges && is_next_part(&p->in[from], h);
    return sound ? QFZ_OK : damaged_by(from, err);
}

static qfz_status receive_body(const post *p, int from, const head *h, int64_t bytes,
                               qfz_error *err)
{
    QFZ_TRY(receive_bytes(p->body, bytes, from, p->tag_body, err));
    return crc_of(p->body, bytes) == h->body_crc ? QFZ_OK : damaged_by(from, err);
}

static void drop(const post *p, piece *in)
{
    if (in->is_open) p->mail->drop(p->mail->arg, in->incoming);
    in->is_open = false;
}

/* A failure of this rank, or another one: the rest of the piece is received and not used. */
static void take_part(post *p, int from, piece *in, int64_t bytes, qfz_error *err)
{
    const qfz_mail *const mail = p->mail;
    qfz_status st = QFZ_OK;
    if (p->st == QFZ_OK && in->done == 0) {
        st = mail->begin(mail->arg, from, in->key, in->bytes, &in->incoming, err);
        in->is_open = st == QFZ_OK;
    }
    if (in->is_open && p->st == QFZ_OK)
        st = mail->add(mail->arg, in->incoming, p->body, bytes, err);
    if (st != QFZ_OK) fail_post(p, st);
    if (p->st != QFZ_OK) drop(p, in);
}

static void end_piece(post *p, piece *in, qfz_error *err)
{
    const bool is_open = in->is_open;
    in->is_there = in->is_open = false;
    p->n_in++;
    if (!is_open) return;
    const qfz_status st = p->mail->end(p->mail->arg, in->incoming, err);
    if (st != QFZ_OK) fail_post(p, st);
}

static qfz_status receive(post *p, int from, qfz_error *err)
{
    head h;
    piece *const in = &p->in[from];
    QFZ_TRY(receive_head(p, from, &h, err));
    if (!in->is_there) *in = (piece){.is_there = true, .key = h.key, .bytes = h.bytes};
    const int64_t bytes = h.bytes == FAILED ? 0 : part_bytes(in);
    QFZ_TRY(receive_body(p, from, &h, bytes, err));
    if (h.bytes == FAILED) {
        if (!mpi.stop_sent) mpi.stop_received = true;
        if (p->st == QFZ_OK) p->st = qfz_fail(err, QFZ_ECANCEL, "another rank failed");
        drop(p, in);
        end_piece(p, in, err);
        return QFZ_OK;
    }
    take_part(p, from, in, bytes, err);
    in->done += bytes;
    if (in->done == in->bytes) end_piece(p, in, err);
    return QFZ_OK;
}

static qfz_status run_post(post *p, qfz_error *err)
{
    const qfz_mail *const mail = p->mail;
    double idle_since = 0;
    while (p->n_out < mail->n_out || p->n_in < mail->n_in || p->first) {
        MPI_Status status;
        int there = 0;
        const bool may_send = p->n_out < mail->n_out && p->in_flight < MOST_IN_FLIGHT;
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

static qfz_status open_post(post *p, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW_ZERO(&p->in, p->ranks->n, err));
    return QFZ_NEW(&p->body, PART_BYTES, err);
}

qfz_status qfz_ranks_exchange(const qfz_ranks *ranks, const qfz_mail *mail, qfz_status st,
                              qfz_error *err)
{
    if (ranks->n == 1) return st;
    const int tag = FIRST_TAG + 2 * (int)(++mpi.exchanges % EXCHANGES);
    post p = {.ranks = ranks, .mail = mail, .tag_head = tag, .tag_body = tag + 1, .last = &p.first};
    qfz_status sent = open_post(&p, err);
    if (st != QFZ_OK) fail_post(&p, st);
    if (sent == QFZ_OK) sent = run_post(&p, err);
    free(p.in);
    free(p.body);
    return sent == QFZ_OK ? p.st : end_all(ranks, sent, err);
}
