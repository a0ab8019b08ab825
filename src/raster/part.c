/* SPDX-License-Identifier: MIT */
/* part.c - an output that several processes write: each a range of rows, as a GTiff of its own, in
 * a folder that is hidden while parts are missing.  When all are there, the folder gets its name
 * and a VRT beside it shows the parts as one raster; or all are copied into one file. */
#define _LARGEFILE64_SOURCE /* GDAL's VSIStatBufL is made of it */
#include "raster/private.h"

#include "core/memory.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_SIDE = 512, COPY_BYTES = 32 << 20 }; /* what is copied at once: whole blocks */

/* --------------------------------------------------------------------------------------- names */
bool qfz_output_is_vrt(const char *format, const char *path)
{
    return format ? EQUAL(format, "VRT") : EQUAL(CPLGetExtension(path), "vrt");
}

static qfz_status hidden_folder(char **folder, const char *path, qfz_error *err)
{
    const char *const slash = strrchr(path, '/');
    const int n = slash ? (int)(slash - path) + 1 : 0;
    return qfz_text_print(folder, err, "%.*s.%s.qfz-parts", n, path, path + n);
}

/* Beside a VRT; a merged output has none. */
static qfz_status shown_folder(char **folder, const char *path, qfz_error *err)
{
    const size_t n = strlen(path) - (EQUAL(CPLGetExtension(path), "vrt") ? 4 : 0);
    return qfz_text_print(folder, err, "%.*s.parts", (int)n, path);
}

/* Where in its folder a part is; counted from 1, for people. */
static qfz_status name_in_folder(char **name, const char *path, int part, int n_parts,
                                 qfz_error *err)
{
    const int digits = n_parts < 1000 ? 3 : 6;
    return qfz_text_print(name, err, "%s-%0*d-of-%0*d.tif", CPLGetBasename(path), digits, part + 1,
                          digits, n_parts);
}

qfz_status qfz_part_path_in(char **path, const char *folder, const qfz_sink_spec *spec, int part,
                            qfz_error *err)
{
    char *name = NULL;
    QFZ_TRY(name_in_folder(&name, spec->path, part, spec->n_parts, err));
    const qfz_status st = qfz_text_print(path, err, "%s/%s", folder, name);
    free(name);
    return st;
}

qfz_status qfz_part_path(char **path, const qfz_sink_spec *spec, qfz_error *err)
{
    char *folder = NULL;
    QFZ_TRY(hidden_folder(&folder, spec->path, err));
    const qfz_status st = qfz_part_path_in(path, folder, spec, spec->part, err);
    free(folder);
    return st;
}

static bool is_folder(const char *path)
{
    VSIStatBufL found;
    return VSIStatExL(path, &found, VSI_STAT_EXISTS_FLAG | VSI_STAT_NATURE_FLAG) == 0 &&
           VSI_ISDIR(found.st_mode);
}

qfz_status qfz_part_make_folder(const qfz_sink_spec *spec, qfz_error *err)
{
    char *folder = NULL;
    qfz_trap trap;
    QFZ_TRY(hidden_folder(&folder, spec->path, err));
    qfz_trap_begin(&trap);
    const bool ok = VSIMkdir(folder, 0777) == 0 || is_folder(folder); /* another's, perhaps */
    qfz_trap_end(&trap);
    free(folder);
    if (ok) return QFZ_OK;
    return qfz_trap_fail(&trap, err, QFZ_EIO, spec->path, "no folder for its parts can be made");
}

qfz_status qfz_parts_check(const qfz_sink_options *options, const qfz_sink_spec *spec,
                           qfz_error *err)
{
    char *folder = NULL;
    if (!qfz_output_is_vrt(options->format, spec->path)) {
        if (options->merge) return QFZ_OK;
        return qfz_fail(err, QFZ_EARG,
                        "%s: several processes write a VRT over their parts; name it .vrt, or add "
                        "--merge for one file of them",
                        spec->path);
    }
    if (options->merge)
        return qfz_fail(err, QFZ_EARG, "%s: a VRT is not merged; name a file, as .tif", spec->path);
    QFZ_TRY(shown_folder(&folder, spec->path, err));
    const bool taken = is_folder(folder) && !options->output.overwrite;
    const qfz_status st =
        taken ? qfz_fail(err, QFZ_EARG,
                         "%s: the folder %s for its parts exists already; --overwrite replaces it",
                         spec->path, folder)
              : QFZ_OK;
    free(folder);
    return st;
}

/* -------------------------------------------------------------------------------------- deleting
 */

/* Is it a part of path, or a file that a driver puts beside one, or a part's temporary? */
static bool is_part(const char *name, const char *path)
{
    const char *const stem = CPLGetBasename(path);
    const size_t n = strlen(stem);
    int part = 0, n_parts = 0;
    if (name[0] == '.') name++;
    return strncmp(name, stem, n) == 0 && sscanf(name + n, "-%d-of-%d.", &part, &n_parts) == 2;
}

/* Deletes the parts in a folder and the folder, if nothing else is in it. */
static void delete_folder(const char *folder, const char *path)
{
    char **const names = VSIReadDir(folder);
    for (char **name = names; name && *name; name++)
        if (is_part(*name, path)) (void)VSIUnlink(CPLSPrintf("%s/%s", folder, *name));
    CSLDestroy(names);
    (void)VSIRmdir(folder);
}

void qfz_parts_delete(const char *path)
{
    char *folder = NULL;
    qfz_trap trap;
    if (hidden_folder(&folder, path, NULL) != QFZ_OK) return;
    qfz_trap_begin(&trap);
    if (is_folder(folder)) delete_folder(folder, path);
    qfz_trap_end(&trap);
    free(folder);
}

void qfz_parts_remove(const char *path)
{
    char *folder = NULL;
    qfz_trap trap;
    if (shown_folder(&folder, path, NULL) != QFZ_OK) return;
    qfz_trap_begin(&trap);
    (void)VSIUnlink(path);
    if (is_folder(folder)) delete_folder(folder, path);
    qfz_trap_end(&trap);
    free(folder);
}

/* --------------------------------------------------------------------------------- one file of all
 */

static qfz_sink_spec spec_of_part(const qfz_sink_spec *spec, const int64_t *rows, int part)
{
    qfz_sink_spec one = *spec;
    one.part = part;
    one.y0 = rows[part];
    one.y1 = rows[part + 1];
    return one;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

typedef struct copying {
    const qfz_sink_options *options;
    qfz_sink *to;
    int64_t columns; /* as many at once as fit */
    void *pixels;
    uint8_t *valid;
    qfz_advance_fn told;
    void *arg;
} copying;

/* Rows box.y0..y1 of a part, which are of one row of blocks. */
static qfz_status copy_rows(const copying *c, qfz_sink *from, const qfz_sink_spec *one, qfz_box box,
                            qfz_error *err)
{
    uint8_t *const mask = one->has_mask ? c->valid : NULL;
    const double w = (double)one->w, h = (double)one->h;
    for (box.x0 = 0; box.x0 < one->w; box.x0 = box.x1) {
        box.x1 = smaller(box.x0 + c->columns, one->w);
        QFZ_TRY(qfz_sink_read(from, box, c->pixels, mask, err));
        QFZ_TRY(qfz_sink_write(c->to, box, c->pixels, mask, err));
        const double rows = (double)box.y0 + (double)qfz_box_h(box) * ((double)box.x1 / w);
        QFZ_TRY(c->told(c->arg, rows / h, err));
    }
    return QFZ_OK;
}

static qfz_status copy_part(const copying *c, const qfz_sink_spec *one, qfz_error *err)
{
    qfz_sink *from = NULL;
    qfz_status st;
    QFZ_TRY(qfz_sink_open(&from, c->options, one, err));
    for (qfz_box box = {.y0 = one->y0}; box.y0 < one->y1; box.y0 = box.y1) {
        box.y1 = smaller((box.y0 / COPY_SIDE + 1) * COPY_SIDE, one->y1);
        QFZ_TRY_OR(st, cleanup, copy_rows(c, from, one, box, err));
    }
    st = QFZ_OK;

cleanup:
    qfz_sink_close(from);
    return st;
}

static qfz_status merge(copying *c, const qfz_source *source, const qfz_sink_spec *spec,
                        const int64_t *rows, qfz_error *err)
{
    qfz_sink_spec whole = *spec;
    const int64_t px_bytes = (int64_t)qfz_out_type_bytes(spec->type) * spec->n_bands;
    const int64_t blocks = COPY_BYTES / (COPY_SIDE * COPY_SIDE * px_bytes);
    qfz_status st;
    c->columns = COPY_SIDE * (blocks > 1 ? blocks : 1);
    whole.n_parts = 0;
    QFZ_TRY_OR(st, cleanup, qfz_alloc(&c->pixels, COPY_SIDE * c->columns, (size_t)px_bytes, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&c->valid, COPY_SIDE * c->columns, err));
    QFZ_TRY_OR(st, cleanup, qfz_sink_create(&c->to, source, c->options, &whole, err));
    for (int part = 0; part < spec->n_parts; part++) {
        const qfz_sink_spec one = spec_of_part(spec, rows, part);
        if (one.y0 < one.y1) QFZ_TRY_OR(st, cleanup, copy_part(c, &one, err));
    }

cleanup:
    free(c->pixels);
    free(c->valid);
    return st;
}

/* ------------------------------------------------------------------------------- a VRT over all */

/* Parts that are not of this job, or not there, are found before the old output is touched. */
static qfz_status check_all(const qfz_sink_options *options, const qfz_sink_spec *spec,
                            const int64_t *rows, qfz_error *err)
{
    for (int part = 0; part < spec->n_parts; part++) {
        const qfz_sink_spec one = spec_of_part(spec, rows, part);
        qfz_sink *sink = NULL;
        if (one.y0 == one.y1) continue;
        QFZ_TRY(qfz_sink_open(&sink, options, &one, err));
        qfz_sink_close(sink);
    }
    return QFZ_OK;
}

/* Where the first part that has rows is. */
static qfz_status first_path(char **path, const qfz_sink_spec *spec, const int64_t *rows,
                             qfz_error *err)
{
    qfz_sink_spec first = *spec;
    for (first.part = 0; rows[first.part] == rows[first.part + 1];)
        first.part++;
    return qfz_part_path(path, &first, err);
}

static qfz_status move_folder(const char *from, const char *to, const char *path, qfz_error *err)
{
    qfz_trap trap;
    qfz_trap_begin(&trap);
    if (is_folder(to)) delete_folder(to, path); /* of the output that is replaced */
    const bool ok = VSIRename(from, to) == 0;
    qfz_trap_end(&trap);
    if (ok) return QFZ_OK;
    return qfz_trap_fail(&trap, err, QFZ_EIO, to, "the folder of parts could not be named so");
}

static qfz_status join_as_vrt(const qfz_source *source, const qfz_sink_options *options,
                              const qfz_sink_spec *spec, const int64_t *rows, qfz_error *err)
{
    char *temp = NULL, *hidden = NULL, *shown = NULL, *one = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, hidden_folder(&hidden, spec->path, err));
    QFZ_TRY_OR(st, cleanup, shown_folder(&shown, spec->path, err));
    QFZ_TRY_OR(st, cleanup, first_path(&one, spec, rows, err));
    QFZ_TRY_OR(st, cleanup, qfz_temp_name(&temp, spec->path, "tmp", NULL, err));
    if (!is_folder(hidden) && is_folder(shown)) /* a join was killed between its two renames */
        QFZ_TRY_OR(st, cleanup, move_folder(shown, hidden, spec->path, err));
    QFZ_TRY_OR(st, cleanup, check_all(options, spec, rows, err));
    QFZ_TRY_OR(st, cleanup,
               qfz_vrt_write(temp, source, spec, rows, CPLGetFilename(shown), one, err));
    QFZ_TRY_OR(st, cleanup, move_folder(hidden, shown, spec->path, err));
    st = qfz_temp_rename(temp, spec->path, err);

cleanup:
    if (st != QFZ_OK) qfz_temp_delete(temp);
    free(temp);
    free(hidden);
    free(shown);
    free(one);
    return st;
}

/* The first part is deleted first: where it is missing, the others were killed on their way out. */
static qfz_status join_as_file(const qfz_sink_spec *spec, const int64_t *rows, qfz_sink *whole,
                               qfz_error *err)
{
    char *one = NULL;
    QFZ_TRY(first_path(&one, spec, rows, err));
    const qfz_status st = whole ? qfz_sink_commit(whole, err) : QFZ_OK;
    if (st == QFZ_OK) {
        (void)VSIUnlink(one);
        qfz_parts_delete(spec->path);
    }
    free(one);
    return st;
}

qfz_status qfz_parts_merge(qfz_sink **whole, const qfz_source *source,
                           const qfz_sink_options *options, const qfz_sink_spec *spec,
                           const int64_t *rows, qfz_advance_fn told, void *arg, qfz_error *err)
{
    copying c = {.options = options, .told = told, .arg = arg};
    char *one = NULL;
    QFZ_TRY(first_path(&one, spec, rows, err));
    const bool done = !qfz_raster_exists(one) && qfz_raster_exists(spec->path);
    free(one);
    if (done) return QFZ_OK;
    const qfz_status st = merge(&c, source, spec, rows, err);
    if (st != QFZ_OK) {
        qfz_sink_close(c.to);
        return st;
    }
    *whole = c.to;
    return QFZ_OK;
}

qfz_status qfz_parts_join(const qfz_source *source, const qfz_sink_options *options,
                          const qfz_sink_spec *spec, const int64_t *rows, qfz_sink *whole,
                          qfz_error *err)
{
    if (qfz_output_is_vrt(options->format, spec->path))
        return join_as_vrt(source, options, spec, rows, err);
    return join_as_file(spec, rows, whole, err);
}
