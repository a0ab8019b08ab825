/* SPDX-License-Identifier: MIT */
#include "job/work_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "job/setup_memory.h"
#include "job/work_files.h"

/* The journals of one stitching. */
typedef struct journals {
    qfz_journal *own;     /* opened for appending; NULL: not open */
    qfz_journal **others; /* n_others journals of other processes, only read */
    int64_t n_others;
} journals;

struct qfz_work_folder {
    const char *folder;
    const qfz_ranks *ranks;
    qfz_phase phase;
    int part, n_parts; /* part from 1; 0: phase stitch, which reads all parts */
    int64_t n_alphas;
    journals filter;
    journals *alphas;       /* of the stitching of each alpha */
    journals *pixels;       /* of the output of each alpha */
    qfz_work_others others; /* of phase ALL only */
    bool is_finishing;
    bool made_folder, made_job; /* by this process */
    int lock; /* locked file `job` while this process completes a job of phases; -1: none */
};

/* ---------------------------------------------------------------------------------- open, close */
/* Takes tile size and number of parts from the folder's file `job` (text there); refuses a job that
 * names others. */
static qfz_status take_tiling(qfz_work_folder *work, const char *there, qfz_setup *setup,
                              qfz_error *err)
{
    const qfz_job *const job = setup->job;
    const char *const tile = qfz_job_identity_find(there, QFZ_JOB_IDENTITY_TILE);
    const char *const parts = qfz_job_identity_find(there, QFZ_JOB_IDENTITY_PARTS);
    long long w = 0, h = 0;
    int n_parts = 0;
    if (!tile || !parts || sscanf(tile, "%lld x %lld", &w, &h) != 2 || w < 1 || h < 1 ||
        sscanf(parts, "%d", &n_parts) != 1 || n_parts < 1)
        return qfz_fail(err, QFZ_EARG, "%s: its file `job` is damaged; remove the folder",
                        work->folder);
    if (job->tile_px > 0 && (w != setup->tiling.tile_w || h != setup->tiling.tile_h))
        return qfz_fail(
            err, QFZ_EARG, "%s: begun with tiles of %lld x %lld, now %lld x %lld; leave out --tile",
            work->folder, w, h, (long long)setup->tiling.tile_w, (long long)setup->tiling.tile_h);
    const bool may_differ = job->phase == QFZ_PHASE_ALL && job->resume;
    if (work->n_parts > 0 && work->n_parts != n_parts && !may_differ)
        return qfz_fail(err, QFZ_EARG,
                        "%s: begun in %d part%s, now %d; use the same number, or leave out --phase "
                        "and --part: with --resume, any number of processes continues",
                        work->folder, n_parts, n_parts == 1 ? "" : "s", work->n_parts);
    if (work->n_parts == 0) work->n_parts = n_parts;
    return job->task == QFZ_REGIONS ? QFZ_OK : qfz_setup_retile(setup, w, h, err);
}

static qfz_status refuse(const char *folder, const qfz_job_difference *d, qfz_error *err)
{
    if (strcmp(d->what, QFZ_JOB_IDENTITY_VERSION) == 0)
        return qfz_fail(err, QFZ_EARG,
                        "%s: written by another version of qfz, %s; this is %s; continue with that "
                        "version, or remove the folder",
                        folder, d->there, d->here);
    return qfz_fail(
        err, QFZ_EARG,
        "%s: holds another job, with %s \"%s\" where this one has \"%s\"; use another folder",
        folder, d->what, d->there, d->here);
}

/* Compares the folder's job with this job's text here; NULL: rank 0 has compared it already. */
static qfz_status compare(qfz_work_folder *work, const char *here, qfz_setup *setup, qfz_error *err)
{
    qfz_job_difference d;
    char *there = NULL;
    QFZ_TRY(qfz_work_file_read(work->folder, "job", &there, err));
    qfz_status st;
    if (!there)
        st = qfz_fail(err, QFZ_EARG, "%s: holds no job yet; phase summarise comes first",
                      work->folder);
    else if (here && qfz_job_identity_differs(there, here, &d))
        st = refuse(work->folder, &d, err);
    else
        st = take_tiling(work, there, setup, err);
    free(there);
    return st;
}

static qfz_status check_fresh(const qfz_work_folder *work, qfz_error *err)
{
    char *there = NULL;
    QFZ_TRY(qfz_work_file_read(work->folder, "job", &there, err));
    const bool found = there != NULL;
    free(there);
    if (!found) return QFZ_OK;
    return qfz_fail(
        err, QFZ_EARG,
        "%s: holds the journal of an earlier run; continue it with --resume, or remove the folder",
        work->folder);
}

/* The first process of the job creates the folder and the file `job`.  A process of phase stitch or
 * resolve never does: the folder must exist. */
static qfz_status enter(qfz_work_folder *work, const char *here, qfz_setup *setup, qfz_error *err)
{
    const qfz_job *const job = setup->job;
    if (job->phase == QFZ_PHASE_ALL || job->phase == QFZ_PHASE_SUMMARISE) {
        work->made_folder = mkdir(work->folder, 0777) == 0;
        if (!work->made_folder && errno != EEXIST)
            return qfz_work_failed(work->folder, "creating the folder", err);
        if (!job->resume && job->phase == QFZ_PHASE_ALL) QFZ_TRY(check_fresh(work, err));
        QFZ_TRY(qfz_work_file_write(work->folder, "job", here, &work->made_job, err));
    }
    return compare(work, here, setup, err);
}

/* Rank 0 first; the other ranks then find what it created. */
static qfz_status enter_all(qfz_work_folder *work, const char *here, qfz_setup *setup,
                            qfz_error *err)
{
    const bool first = work->ranks->rank == 0;
    qfz_status st = first ? enter(work, here, setup, err) : QFZ_OK;
    QFZ_TRY(qfz_ranks_agree(work->ranks, st, err));
    st = first ? QFZ_OK : compare(work, NULL, setup, err);
    return qfz_ranks_agree(work->ranks, st, err);
}

/* Outputs that have their final names are in as many parts as the run that was renaming them had
 * processes. */
static qfz_status read_finishing(qfz_work_folder *work, qfz_error *err)
{
    char *text = NULL;
    int n_parts = 0;
    QFZ_TRY(qfz_work_file_read(work->folder, "finishing", &text, err));
    work->is_finishing = text != NULL;
    const bool other = text && sscanf(text, "parts %d", &n_parts) == 1 && n_parts != work->n_parts;
    free(text);
    if (!other) return QFZ_OK;
    return qfz_fail(
        err, QFZ_EARG,
        "%s: the outputs are complete but for their names, in %d part%s; resume once more "
        "with %d process%s",
        work->folder, n_parts, n_parts == 1 ? "" : "s", n_parts, n_parts == 1 ? "" : "es");
}

/* Rank 0 first: it looks whether other processes still run. */
static qfz_status list_others(qfz_work_folder *work, qfz_error *err)
{
    const bool first = work->ranks->rank == 0;
    qfz_status st = QFZ_OK;
    if (work->phase != QFZ_PHASE_ALL) return QFZ_OK;
    if (first) st = qfz_work_others_list(&work->others, work->folder, work->n_parts, true, err);
    QFZ_TRY(qfz_ranks_agree(work->ranks, st, err));
    if (!first) st = qfz_work_others_list(&work->others, work->folder, work->n_parts, false, err);
    return qfz_ranks_agree(work->ranks, st, err);
}

static qfz_status make_journals(qfz_work_folder *work, const qfz_job *job, qfz_error *err)
{
    work->n_alphas = qfz_job_n_alphas(job);
    QFZ_TRY(QFZ_NEW_ZERO(&work->alphas, work->n_alphas, err));
    return QFZ_NEW_ZERO(&work->pixels, work->n_alphas, err);
}

static void set_part(qfz_work_folder *work, const qfz_job *job)
{
    work->phase = job->phase;
    work->part = job->phase == QFZ_PHASE_ALL ? work->ranks->rank + 1 : job->part;
    work->n_parts = job->phase == QFZ_PHASE_ALL ? work->ranks->n : job->n_parts;
}

qfz_status qfz_work_folder_open(qfz_work_folder **out, qfz_setup *setup, const qfz_ranks *ranks,
                                qfz_source *source, qfz_error *err)
{
    qfz_work_folder *work = NULL;
    char *here = NULL;
    qfz_status st = QFZ_NEW_ZERO(&work, 1, err);
    if (st == QFZ_OK) {
        *work = (qfz_work_folder){.folder = setup->job->work, .ranks = ranks, .lock = -1};
        set_part(work, setup->job);
        st = make_journals(work, setup->job, err);
        if (st == QFZ_OK && ranks->rank == 0)
            st = qfz_job_identity_make(&here, setup, source, work->n_parts, err);
    }
    QFZ_TRY_OR(st, cleanup, qfz_ranks_agree(ranks, st, err));
    QFZ_TRY_OR(st, cleanup, enter_all(work, here, setup, err));
    st = read_finishing(work, err);
    QFZ_TRY_OR(st, cleanup, qfz_ranks_agree(ranks, st, err));
    QFZ_TRY_OR(st, cleanup, list_others(work, err));
    *out = work;
    work = NULL;

cleanup:
    free(here);
    qfz_work_folder_close(work);
    return st;
}

static void journals_close(journals *j)
{
    qfz_journal_close(j->own);
    for (int64_t i = 0; i < j->n_others; i++)
        qfz_journal_close(j->others[i]);
    free(j->others);
    *j = (journals){0};
}

void qfz_work_folder_close(qfz_work_folder *work)
{
    if (!work) return;
    journals_close(&work->filter);
    for (int64_t i = 0; i < work->n_alphas; i++) {
        if (work->alphas) journals_close(&work->alphas[i]);
        if (work->pixels) journals_close(&work->pixels[i]);
    }
    free(work->alphas);
    free(work->pixels);
    qfz_work_others_fini(&work->others);
    if (work->lock >= 0) (void)close(work->lock);
    free(work);
}

const qfz_work_others *qfz_work_folder_others(const qfz_work_folder *work)
{
    return &work->others;
}

int qfz_work_folder_n_parts(const qfz_work_folder *work)
{
    return work->n_parts;
}

/* ------------------------------------------------------------------------------------- journals */
enum { PREFIX_BYTES = 32 };

/* Before the names of the journals of a stitching, and of the output of an alpha. */
static const char *prefix_of(int64_t which, char prefix[PREFIX_BYTES])
{
    (void)snprintf(prefix, PREFIX_BYTES, "alpha-%lld-", (long long)which + 1);
    return which == QFZ_WORK_FILTER ? "filter-" : which == 0 ? "" : prefix;
}

static journals *journals_of(qfz_work_folder *work, int64_t which)
{
    return which == QFZ_WORK_FILTER ? &work->filter : &work->alphas[which];
}

/* The name of a part's journal; part 0: of phase stitch. */
static qfz_status journal_path(const qfz_work_folder *work, int64_t which, qfz_work_part part,
                               char path[QFZ_WORK_PATH_BYTES], qfz_error *err)
{
    char text[PREFIX_BYTES];
    const char *const prefix = prefix_of(which, text);
    if (part.part == 0) return qfz_work_path(work->folder, path, err, "%sstitch.journal", prefix);
    return qfz_work_path(work->folder, path, err, "%spart-%d-of-%d.journal", prefix, part.part,
                         part.n_parts);
}

static qfz_status pixels_path(const qfz_work_folder *work, int64_t alpha, qfz_work_part part,
                              char path[QFZ_WORK_PATH_BYTES], qfz_error *err)
{
    char text[PREFIX_BYTES];
    return qfz_work_path(work->folder, path, err, "%spixels-%d-of-%d.journal",
                         prefix_of(alpha, text), part.part, part.n_parts);
}

/* Opens the journal of another process, if it exists, for reading; else *journal = NULL. */
static qfz_status open_other(journals *j, const char *path, qfz_journal **journal, qfz_error *err)
{
    *journal = NULL;
    if (access(path, F_OK) != 0) return QFZ_OK;
    QFZ_TRY(qfz_journal_open(journal, path, false, err));
    j->others[j->n_others++] = *journal;
    return QFZ_OK;
}

/* A process of a phase reads what other processes have completed.  Other processes that continue
 * the job in another number may have been killed, so their records are checked. */
static qfz_status read_other(qfz_work_folder *work, int64_t which, qfz_work_part part,
                             qfz_stitch *stitch, qfz_error *err)
{
    char path[QFZ_WORK_PATH_BYTES];
    qfz_journal *journal;
    QFZ_TRY(journal_path(work, which, part, path, err));
    QFZ_TRY(open_other(journals_of(work, which), path, &journal, err));
    if (!journal) return QFZ_OK;
    return qfz_stitch_attach(stitch, journal, work->phase == QFZ_PHASE_ALL, err);
}

static qfz_status read_other_numbers(qfz_work_folder *work, int64_t which, qfz_stitch *stitch,
                                     qfz_error *err)
{
    QFZ_TRY(QFZ_NEW_ZERO(&journals_of(work, which)->others, work->others.n, err));
    for (int64_t i = 0; i < work->others.n; i++)
        QFZ_TRY(read_other(work, which, work->others.parts[i], stitch, err));
    qfz_stitch_forget_count(stitch);
    return QFZ_OK;
}

static qfz_status read_others(qfz_work_folder *work, int64_t which, qfz_stitch *stitch,
                              qfz_error *err)
{
    const int n_parts = work->n_parts;
    if (work->phase == QFZ_PHASE_ALL) return read_other_numbers(work, which, stitch, err);
    QFZ_TRY(QFZ_NEW_ZERO(&journals_of(work, which)->others, n_parts, err));
    if (work->phase != QFZ_PHASE_STITCH)
        return read_other(work, which, (qfz_work_part){0, n_parts}, stitch, err);
    for (int part = 1; part <= n_parts; part++)
        QFZ_TRY(read_other(work, which, (qfz_work_part){part, n_parts}, stitch, err));
    return QFZ_OK;
}

qfz_status qfz_work_folder_attach(qfz_work_folder *work, int64_t which, qfz_stitch *stitch,
                                  qfz_error *err)
{
    journals *const j = journals_of(work, which);
    const qfz_work_part part = {work->phase == QFZ_PHASE_STITCH ? 0 : work->part, work->n_parts};
    char path[QFZ_WORK_PATH_BYTES];
    journals_close(j); /* of an attempt that had too little memory */
    QFZ_TRY(read_others(work, which, stitch, err));
    QFZ_TRY(journal_path(work, which, part, path, err));
    QFZ_TRY(qfz_journal_open(&j->own, path, true, err));
    return qfz_stitch_attach(stitch, j->own, true, err);
}

qfz_status qfz_work_folder_attach_output(qfz_work_folder *work, int64_t alpha,
                                         qfz_output_journal *output, qfz_error *err)
{
    journals *const j = &work->pixels[alpha];
    char path[QFZ_WORK_PATH_BYTES];
    QFZ_TRY(QFZ_NEW_ZERO(&j->others, work->others.n, err));
    for (int64_t i = 0; i < work->others.n; i++) {
        qfz_journal *journal;
        QFZ_TRY(pixels_path(work, alpha, work->others.parts[i], path, err));
        QFZ_TRY(open_other(j, path, &journal, err));
        if (journal) QFZ_TRY(qfz_output_journal_attach(output, journal, err));
    }
    QFZ_TRY(pixels_path(work, alpha, (qfz_work_part){work->part, work->n_parts}, path, err));
    QFZ_TRY(qfz_journal_open(&j->own, path, true, err));
    return qfz_output_journal_attach(output, j->own, err);
}

static qfz_status sync_own(const journals *j, qfz_error *err)
{
    return j->own ? qfz_journal_sync(j->own, err) : QFZ_OK;
}

qfz_status qfz_work_folder_sync(qfz_work_folder *work, qfz_error *err)
{
    QFZ_TRY(sync_own(&work->filter, err));
    for (int64_t i = 0; i < work->n_alphas; i++) {
        QFZ_TRY(sync_own(&work->alphas[i], err));
        QFZ_TRY(sync_own(&work->pixels[i], err));
    }
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------------------ end */
qfz_status qfz_work_folder_finish(qfz_work_folder *work, qfz_error *err)
{
    char text[32];
    work->is_finishing = true;
    (void)snprintf(text, sizeof text, "parts\t%d\n", work->n_parts);
    return qfz_work_file_write(work->folder, "finishing", text, NULL, err);
}

bool qfz_work_folder_is_finishing(const qfz_work_folder *work)
{
    return work->is_finishing;
}

/* *pixels = the sum over all parts that are done; *level_bytes = the largest of theirs, if one is
 * larger; *missing: some part is not done yet. */
static qfz_status read_parts(const qfz_work_folder *work, uint64_t *pixels, int *level_bytes,
                             bool *missing, qfz_error *err)
{
    *pixels = 0;
    *missing = false;
    for (int part = 1; part <= work->n_parts && !*missing; part++) {
        char name[64], *text = NULL;
        unsigned long long n = 0;
        int bytes = 0;
        (void)snprintf(name, sizeof name, "part-%d-of-%d.done", part, work->n_parts);
        QFZ_TRY(qfz_work_file_read(work->folder, name, &text, err));
        *missing = !text || sscanf(text, "pixels %llu level bytes %d", &n, &bytes) != 2;
        *pixels += n;
        if (bytes > *level_bytes) *level_bytes = bytes;
        free(text);
    }
    return QFZ_OK;
}

/* Locks the job until the folder is closed, so that of two parts that end at the same time only one
 * finds no part missing, and joins them. */
static qfz_status lock_job(qfz_work_folder *work, qfz_error *err)
{
    char path[QFZ_WORK_PATH_BYTES];
    QFZ_TRY(qfz_work_path(work->folder, path, err, "job"));
    work->lock = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (work->lock < 0) return qfz_work_failed(path, "opening", err);
    while (flock(work->lock, LOCK_EX) != 0)
        if (errno != EINTR) return QFZ_OK; /* a file system without locks: go on without */
    return QFZ_OK;
}

qfz_status qfz_work_folder_part_done(qfz_work_folder *work, qfz_stitch *stitch, int *level_bytes,
                                     bool *last, qfz_error *err)
{
    char name[64], text[64];
    uint64_t pixels;
    bool missing;
    QFZ_TRY(qfz_stitch_pixels(stitch, &pixels, err));
    (void)snprintf(name, sizeof name, "part-%d-of-%d.done", work->part, work->n_parts);
    (void)snprintf(text, sizeof text, "pixels\t%llu\nlevel bytes\t%d\n", (unsigned long long)pixels,
                   *level_bytes);
    QFZ_TRY(qfz_work_file_write(work->folder, name, text, NULL, err));
    QFZ_TRY(lock_job(work, err));
    QFZ_TRY(read_parts(work, &pixels, level_bytes, &missing, err));
    *last = !missing;
    return QFZ_OK;
}

static qfz_status add_pixels(const qfz_work_folder *work, uint64_t *pixels, qfz_error *err)
{
    int level_bytes = 0;
    bool missing;
    return read_parts(work, pixels, &level_bytes, &missing, err);
}

/* False if other processes have written to the folder too. */
static bool holds_job_only(const qfz_work_folder *work)
{
    DIR *const folder = opendir(work->folder);
    int n_others = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "job") != 0) n_others++;
    if (folder) (void)closedir(folder);
    return folder && n_others == 0;
}

/* Deletes the files of processes that were killed while writing them. */
static void delete_temporary(const qfz_work_folder *work)
{
    DIR *const folder = opendir(work->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        const size_t n = strlen(entry->d_name);
        if (n > 4 && strcmp(entry->d_name + n - 4, ".tmp") == 0)
            qfz_work_file_delete(work->folder, entry->d_name);
    }
    if (folder) (void)closedir(folder);
}

static void delete_journals_of_alpha(const qfz_work_folder *work, int64_t alpha, qfz_work_part part)
{
    static const char *const names[] = {"pixels", "part"};
    char prefix[PREFIX_BYTES], name[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(name, sizeof name, "%s%s-%d-of-%d.journal", prefix_of(alpha, prefix),
                       names[i], part.part, part.n_parts);
        qfz_work_file_delete(work->folder, name);
    }
}

/* Those of the first alpha last: they show that there are others (work_others.h). */
static void delete_journals(const qfz_work_folder *work, qfz_work_part part)
{
    static const char *const names[][2] = {
        {"filter-part", "journal"}, {"pixels", "journal"}, {"part", "journal"}, {"part", "done"}};
    for (int64_t i = work->n_alphas - 1; i > 0; i--)
        delete_journals_of_alpha(work, i, part);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[128];
        (void)snprintf(name, sizeof name, "%s-%d-of-%d.%s", names[i][0], part.part, part.n_parts,
                       names[i][1]);
        qfz_work_file_delete(work->folder, name);
    }
}

/* Deletes what no part has to itself. */
static void delete_rest(const qfz_work_folder *work)
{
    for (int64_t i = 0; i < work->others.n; i++)
        delete_journals(work, work->others.parts[i]);
    qfz_work_file_delete(work->folder, "filter-stitch.journal");
    qfz_work_file_delete(work->folder, "stitch.journal");
    qfz_work_file_delete(work->folder, "finishing");
    qfz_work_delete_folder(work->folder, QFZ_WORK_CURVE);
    delete_temporary(work);
}

void qfz_work_folder_clean(qfz_work_folder *work)
{
    for (int part = 1; part <= work->n_parts; part++)
        delete_journals(work, (qfz_work_part){part, work->n_parts});
    delete_rest(work);
}

static qfz_status write_done(const qfz_work_folder *work, const qfz_outcome *list,
                             const qfz_report *report, qfz_error *err)
{
    char *text = NULL;
    QFZ_TRY(qfz_job_identity_of_outputs(&text, list, work->n_alphas, report, err));
    const qfz_status st = qfz_work_file_write(work->folder, "done", text, NULL, err);
    free(text);
    return st;
}

qfz_status qfz_work_folder_end(qfz_work_folder *work, const qfz_outcome *list, qfz_report *report,
                               qfz_error *err)
{
    qfz_status st = QFZ_OK;
    if (work->phase == QFZ_PHASE_RESOLVE) QFZ_TRY(add_pixels(work, &report->pixels, err));
    if (work->ranks->rank == 0) st = write_done(work, list, report, err);
    QFZ_TRY(qfz_ranks_agree(work->ranks, st, err));
    const bool all = work->phase != QFZ_PHASE_ALL;
    for (int part = all ? 1 : work->part; part <= (all ? work->n_parts : work->part); part++)
        delete_journals(work, (qfz_work_part){part, work->n_parts});
    if (work->ranks->rank == 0) delete_rest(work);
    return QFZ_OK;
}

bool qfz_work_folder_is_done(const qfz_work_folder *work, qfz_outcome *list, qfz_report *report)
{
    const int64_t n = work->n_alphas;
    char *text = NULL, *now = NULL;
    qfz_report then = {0};
    qfz_error ignored = {.status = QFZ_OK};
    const bool done = qfz_work_file_read(work->folder, "done", &text, &ignored) == QFZ_OK && text &&
                      qfz_job_identity_read_counts(text, list, n, &then) &&
                      qfz_job_identity_of_outputs(&now, list, n, &then, &ignored) == QFZ_OK &&
                      strcmp(now, text) == 0;
    free(now);
    free(text);
    if (done) *report = then;
    return done;
}

void qfz_work_folder_forget(qfz_work_folder *work)
{
    if (!work->made_job || !holds_job_only(work)) return;
    qfz_work_file_delete(work->folder, "job");
    if (work->made_folder) (void)rmdir(work->folder);
}
