/* SPDX-License-Identifier: MIT */
/* temp_folder.h - the folder of a job's temporary files. */
#ifndef QFZ_TEMP_FOLDER_H
#define QFZ_TEMP_FOLDER_H

#include "qfz.h"

/* Writes a path of less than `size` bytes: the folder of the journal (job->work); without one the
 * folder of the first output, if its name is one of a file in an existing folder; else, if the
 * output has a name of GDAL's file systems, qfz_temp_folder_local(); else the current folder. */
void qfz_temp_folder(const qfz_job *job, char *folder, size_t size);

/* The folder in which outputs for buckets are made: job->work, else what TMPDIR names, else /tmp.
 * Owned by the job or the environment. */
const char *qfz_temp_folder_local(const qfz_job *job);

#endif
