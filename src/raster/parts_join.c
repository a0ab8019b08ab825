/* SPDX-License-Identifier: MIT */
#include "raster/parts_join.h"

#include <cpl_conv.h>
#include <cpl_vsi.h>
#include <stdlib.h>

#include "core/memory.h"
#include "raster/error_trap.h"
#include "raster/object_store.h"
#include "raster/output_format.h"
#include "raster/part_folder.h"
#include "raster/parts_vrt.h"
#include "raster/paths.h"
#include "raster/sink_parts.h"
#include "raster/temp_output.h"
#include "raster/text.h"

struct qfz_joined {
    char *path;
    char *hidden, *shown, *old; /* folders: of the parts, before and after the join; replaced */
    bool is_shown, has_old;     /* what has been renamed */
    bool in_bucket;             /* no folder is renamed */
    int n_parts;
    qfz_placement placement;
};

static qfz_status move_folder(const char *from, const char *to, qfz_error *err)
{
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    const bool ok = VSIRename(from, to) == 0;
    qfz_error_trap_end(&trap);
    if (ok) return QFZ_OK;
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, to,
                               "the folder of parts could not be renamed to this name");
}

/* A join that was killed between its renames has moved the folder only. */
static qfz_status hide_again(const char *hidden, const char *shown, qfz_error *err)
{
    if (qfz_path_is_folder(hidden) || !qfz_path_is_folder(shown)) return QFZ_OK;
    return move_folder(shown, hidden, err);
}

static qfz_status find_folder(const qfz_sink_spec *spec, qfz_error *err)
{
    char *hidden = NULL, *shown = NULL;
    qfz_status st = qfz_part_folder_hidden(&hidden, spec->path, err);
    if (st == QFZ_OK) st = qfz_part_folder_shown(&shown, spec->path, err);
    if (st == QFZ_OK) st = hide_again(hidden, shown, err);
    free(hidden);
    free(shown);
    return st;
}

qfz_status qfz_parts_find(const qfz_sink_options *options, const qfz_sink_spec *spec,
                          const int64_t *rows, bool *merged, qfz_error *err)
{
    *merged = false;
    return qfz_output_is_vrt(options->format, spec->path)
               ? find_folder(spec, err)
               : qfz_parts_are_merged(spec, rows, merged, err);
}

/* The folder of the output that is replaced; the user may have put files into it. */
static qfz_status move_old_away(qfz_joined *joined, qfz_error *err)
{
    if (!qfz_path_is_folder(joined->shown)) return QFZ_OK;
    char *const stranger = qfz_part_folder_stranger(joined->shown, joined->path);
    const qfz_status st =
        stranger ? qfz_fail(err, QFZ_EIO,
                            "%s: the folder %s cannot be replaced, since %s in it is no part of "
                            "the raster; move it elsewhere",
                            joined->path, joined->shown, stranger)
                 : move_folder(joined->shown, joined->old, err);
    CPLFree(stranger);
    joined->has_old = st == QFZ_OK;
    return st;
}

static qfz_status show_folder(qfz_joined *joined, qfz_error *err)
{
    if (joined->in_bucket) return QFZ_OK;
    QFZ_TRY(move_old_away(joined, err));
    QFZ_TRY(move_folder(joined->hidden, joined->shown, err));
    joined->is_shown = true;
    return QFZ_OK;
}

static qfz_status name_folders(qfz_joined *joined, const char *stage, qfz_error *err)
{
    QFZ_TRY(qfz_part_folder_hidden(&joined->hidden, joined->path, err));
    QFZ_TRY(qfz_part_folder_shown(&joined->shown, joined->path, err));
    return qfz_temp_name(&joined->old, joined->path, "old", ".parts", stage, err);
}

/* Every part is looked at before the old output is touched. */
static qfz_status join(qfz_joined *joined, const qfz_source *source,
                       const qfz_sink_options *options, const qfz_sink_spec *spec,
                       const int64_t *rows, qfz_error *err)
{
    char *temp = NULL, *one = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, name_folders(joined, options->output.stage, err));
    QFZ_TRY_OR(st, cleanup, hide_again(joined->hidden, joined->shown, err));
    QFZ_TRY_OR(st, cleanup, qfz_part_path_first(&one, spec, rows, err));
    QFZ_TRY_OR(st, cleanup,
               qfz_temp_name(&temp, spec->path, "tmp", NULL, options->output.stage, err));
    QFZ_TRY_OR(st, cleanup, qfz_parts_check(options, spec, rows, err));
    QFZ_TRY_OR(
        st, cleanup,
        qfz_parts_vrt_write(temp, source, spec, rows, CPLGetFilename(joined->shown), one, err));
    QFZ_TRY_OR(st, cleanup, show_folder(joined, err));
    st = qfz_temp_place(temp, spec->path, options->output.overwrite, &joined->placement, err);

cleanup:
    if (st != QFZ_OK) qfz_temp_delete(temp);
    free(temp);
    free(one);
    return st;
}

qfz_status qfz_parts_join(qfz_joined **joined, const qfz_source *source,
                          const qfz_sink_options *options, const qfz_sink_spec *spec,
                          const int64_t *rows, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW_ZERO(joined, 1, err));
    (*joined)->placement.retry = options->output.retry;
    (*joined)->in_bucket = qfz_object_is(spec->path);
    (*joined)->n_parts = spec->n_parts;
    QFZ_TRY(qfz_text_copy(&(*joined)->path, spec->path, err));
    return join(*joined, source, options, spec, rows, err);
}

qfz_status qfz_joined_settle(qfz_joined *joined, qfz_error *err)
{
    if (joined->in_bucket) qfz_parts_delete_others(joined->path, joined->n_parts);
    QFZ_TRY(qfz_placement_settle(&joined->placement, err));
    if (joined->has_old) qfz_part_folder_delete(joined->old, joined->path);
    joined->is_shown = joined->has_old = false;
    return QFZ_OK;
}

void qfz_joined_close(qfz_joined *joined)
{
    if (!joined) return;
    qfz_placement_take_back(&joined->placement);
    if (joined->is_shown) (void)VSIRename(joined->shown, joined->hidden);
    if (joined->has_old) (void)VSIRename(joined->old, joined->shown);
    free(joined->path);
    free(joined->hidden);
    free(joined->shown);
    free(joined->old);
    free(joined);
}
