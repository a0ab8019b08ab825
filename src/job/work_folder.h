/* SPDX-License-Identifier: MIT */
/* work_folder.h - the folder in which a job survives the end of its processes (job->work).
 *
 *   job                      what the job is, one line per fact (job_identity.h)
 *   part-K-of-N.journal      summaries and exteriors of the tiles of a part
 *   stitch.journal           the same, written by phase stitch
 *   filter-*.journal         the same two of the area filter
 *   alpha-I-*.journal        the same of number I of several alphas, from 2, and its finished
 * output pixels-K-of-N.journal    finished output of tiles (output_journal.h) curve the work folder
 * of the curve from which a job with a largest number of regions finds alpha part-K-of-N.done phase
 * resolve of the part is complete; its number of valid pixels finishing                the outputs
 * are being renamed to their final names; the number of parts done                     the job is
 * complete; its counts, and the outputs' size and time
 *
 * A job without phases may be continued by another number of processes (work_others.h).  Each of
 * them reads the journals of all parts of the other numbers, and appends to its own.
 *
 * Invariant: every file appears complete, and journals are only appended to, so that a process may
 * be killed at any time. */
#ifndef QFZ_WORK_FOLDER_H
#define QFZ_WORK_FOLDER_H

#include "job/job_identity.h"
#include "job/output_journal.h"
#include "job/setup.h"
#include "job/work_others.h"
#include "stitch/stitch.h"

#define QFZ_WORK_CURVE "curve"

typedef struct qfz_work_folder qfz_work_folder;

/* The stitchings of a job, which have journals of their own: that of each alpha, by its number from
 * 0, and that of the area filter. */
enum { QFZ_WORK_FILTER = -1 };

/* Opens the folder setup->job->work for this job, or creates it.  The tiling that the folder holds
 * replaces setup->tiling.  Borrows ranks and the folder's name.
 *
 * QFZ_EARG: the folder of another job (the message names the difference), or of an earlier run of
 * this job without job->resume.  Collective. */
qfz_status qfz_work_folder_open(qfz_work_folder **work, qfz_setup *setup, const qfz_ranks *ranks,
                                qfz_source *source, qfz_error *err);
void qfz_work_folder_close(qfz_work_folder *work); /* NULL is allowed */
int qfz_work_folder_n_parts(const qfz_work_folder *work);

/* Loads the journals that this process's phase needs into stitch, which appends to this process's
 * own journal from then on.  which: number of an alpha, or QFZ_WORK_FILTER.  A second call for the
 * same stitching closes the journals of the first one. */
qfz_status qfz_work_folder_attach(qfz_work_folder *work, int64_t which, qfz_stitch *stitch,
                                  qfz_error *err);

/* Loads the journals of output of an alpha that this process needs, and appends to that of its part
 * from then on. */
qfz_status qfz_work_folder_attach_output(qfz_work_folder *work, int64_t alpha,
                                         qfz_output_journal *output, qfz_error *err);

/* The parts of other numbers of processes that have worked on the job; borrowed. */
const qfz_work_others *qfz_work_folder_others(const qfz_work_folder *work);

/* Records that phase resolve of this part is complete.  *last: all other parts are complete too;
 * this process then holds a lock on the folder until the folder is closed.  *level_bytes: 0 if this
 * part does not know it (run.h); becomes what one of the parts knows. */
qfz_status qfz_work_folder_part_done(qfz_work_folder *work, qfz_stitch *stitch, int *level_bytes,
                                     bool *last, qfz_error *err);

/* Records that outputs get their final names: a resumed run may replace existing outputs. */
qfz_status qfz_work_folder_finish(qfz_work_folder *work, qfz_error *err);
bool qfz_work_folder_is_finishing(const qfz_work_folder *work);

/* Records that the job is complete, with the counts, also of each alpha (list), and the state of
 * the output files, and deletes the journals.  In a job of phases, report->pixels becomes the sum
 * over all parts.  Collective. */
qfz_status qfz_work_folder_end(qfz_work_folder *work, const qfz_outcome *list, qfz_report *report,
                               qfz_error *err);

/* Deletes the journals that a run has left which was killed after the job was complete. */
void qfz_work_folder_clean(qfz_work_folder *work);

/* True, with the counts in *report and the list, whose jobs are set, if the job is complete and its
 * outputs are unchanged since. */
bool qfz_work_folder_is_done(const qfz_work_folder *work, qfz_outcome *list, qfz_report *report);

/* Undoes open() of a job that was refused before it did anything: deletes what this process
 * created, unless other processes have used the folder since. */
void qfz_work_folder_forget(qfz_work_folder *work);

/* Writes everything that was appended to the journals to disk (fsync). */
qfz_status qfz_work_folder_sync(qfz_work_folder *work, qfz_error *err);

#endif
