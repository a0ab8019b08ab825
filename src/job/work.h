/* SPDX-License-Identifier: MIT */
/* work.h - the folder of a job that outlives its processes: whose it is, what is known, and how far
 * it is.
 *
 *   job                      what the job is, a line for each fact; made by who comes first
 *   part-K-of-N.journal      what the tiles of a part told, and what they were told
 *   stitch.journal           the same of phase stitch
 *   pixels-K-of-N.journal    finished output of tiles
 *   part-K-of-N.done         phase resolve of the part is through; how many pixels it has
 *   finishing, done          the outputs are being given their names; they have them, and what they
 *                            are on disk */
#ifndef QFZ_WORK_H
#define QFZ_WORK_H

#include "job/run.h"

/* Opens setup->job->work for this job, or makes it.  setup->tiling becomes the one that the folder
 * holds.  Refused, QFZ_EARG: the folder of another job, with the difference named; that of an
 * earlier run of this one, unless it is to be resumed.  Collective. */
qfz_status qfz_work_open(qfz_work **work, qfz_setup *setup, const qfz_ranks *ranks,
                         qfz_source *source, qfz_error *err);
void qfz_work_close(qfz_work *work); /* NULL is allowed */
int qfz_work_n_parts(const qfz_work *work);

/* All that the journals of this process's phase know is known to stitch from here on. */
qfz_status qfz_work_attach(qfz_work *work, qfz_stitch *stitch, qfz_error *err);

/* The journal of this part's output, opened for appending. */
qfz_status qfz_work_spool(qfz_work *work, qfz_journal **journal, qfz_error *err);

/* Phase resolve of this part is through.  *last: it is that of all parts; then this process is
 * alone with the job from here on, until the folder is closed. */
qfz_status qfz_work_part_done(qfz_work *work, qfz_stitch *stitch, bool *last, qfz_error *err);

/* From here on outputs that exist are this job's own. */
qfz_status qfz_work_finish(qfz_work *work, qfz_error *err);
bool qfz_work_is_finishing(const qfz_work *work);

/* All is done: what the folder held is not needed any more.  The report is kept, and what rank 0
 * finds under the outputs' names (identity.h), for who resumes once more: it is done as long as the
 * same is there.  Of a job in phases, the report's pixels become those of all parts.  Collective.
 */
qfz_status qfz_work_end(qfz_work *work, const qfz_job *job, qfz_report *report, qfz_error *err);
bool qfz_work_is_done(const qfz_work *work, const qfz_job *job, qfz_report *report);

/* The job was refused before anything was done: if this process brought it, the folder is again as
 * it was found. */
void qfz_work_forget(qfz_work *work);

/* Whatever was appended is on the disk. */
qfz_status qfz_work_sync(qfz_work *work, qfz_error *err);

#endif
