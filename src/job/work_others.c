/* SPDX-License-Identifier: MIT */
#include "job/work_others.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "job/work_files.h"
#include "stitch/stitch.h"

/* True if the name is that of a journal of a part. */
static bool is_journal(const char *name, qfz_work_part *part)
{
    static const char *const formats[] = {
        "part-%d-of-%d.journal%n", "filter-part-%d-of-%d.journal%n", "pixels-%d-of-%d.journal%n"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        int end = 0;
        if (sscanf(name, formats[i], &part->part, &part->n_parts, &end) == 2 && end > 0 &&
            name[end] == '\0')
            return part->part >= 1 && part->part <= part->n_parts;
    }
    return false;
}

static int by_number(const void *a, const void *b)
{
    const qfz_work_part *const x = a, *const y = b;
    if (x->n_parts != y->n_parts) return x->n_parts < y->n_parts ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part);
}

/* A process that appends to a journal has locked it. */
static qfz_status check_unused(const char *folder, const char *name, qfz_error *err)
{
    char path[QFZ_WORK_PATH_BYTES];
    qfz_journal *journal = NULL;
    QFZ_TRY(qfz_work_path(folder, path, err, "%s", name));
    QFZ_TRY(qfz_journal_open(&journal, path, true, err));
    qfz_journal_close(journal);
    return QFZ_OK;
}

static qfz_status add(qfz_work_others *others, qfz_work_part part, qfz_error *err)
{
    QFZ_TRY(qfz_realloc((void **)&others->parts, others->n + 1, sizeof part, err));
    others->parts[others->n++] = part;
    return QFZ_OK;
}

/* Sorts the parts; a part with several journals is listed once. */
static void sort(qfz_work_others *others)
{
    int64_t n = 0;
    if (others->n == 0) return;
    qsort(others->parts, (size_t)others->n, sizeof *others->parts, by_number);
    for (int64_t i = 1; i < others->n; i++)
        if (by_number(&others->parts[n], &others->parts[i]) != 0)
            others->parts[++n] = others->parts[i];
    others->n = n + 1;
}

qfz_status qfz_work_others_list(qfz_work_others *others, const char *folder, int n_parts,
                                bool check, qfz_error *err)
{
    DIR *const entries = opendir(folder);
    qfz_status st = QFZ_OK;
    *others = (qfz_work_others){0};
    if (!entries) return qfz_work_failed(folder, "listing the folder", err);
    for (struct dirent *entry; st == QFZ_OK && (entry = readdir(entries)) != NULL;) {
        qfz_work_part part;
        if (!is_journal(entry->d_name, &part) || part.n_parts == n_parts) continue;
        if (check) st = check_unused(folder, entry->d_name, err);
        if (st == QFZ_OK) st = add(others, part, err);
    }
    (void)closedir(entries);
    sort(others);
    if (st != QFZ_OK) qfz_work_others_fini(others);
    return st;
}

void qfz_work_others_fini(qfz_work_others *others)
{
    free(others->parts);
    *others = (qfz_work_others){0};
}
