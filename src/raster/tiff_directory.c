/* SPDX-License-Identifier: MIT */
/* tiff_directory.c - the two lists of a TIFF that say where its blocks are.
 *
 * A file begins with its order of bytes, ours, then a number that tells the two formats apart, then
 * the place of the directory: a count, then entries of tag, type, count, and a value or its place.
 * Counts and places have 2 and 4 bytes, or 8 and 8 in a BigTIFF. */
#include "raster/tiff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { TAG_OFFSETS = 324, TAG_COUNTS = 325, TYPE_LONG = 4, TYPE_LONG8 = 16 };
enum { CLASSIC = 42, BIG = 43, ENTRY = 12, BIG_ENTRY = 20, ENTRIES_MAX = 256 };

static qfz_status get(const qfz_tiff_file *f, int64_t at, void *data, int64_t bytes, qfz_error *err)
{
    int failures;
    if (qfz_patient_read(&f->patience, f->file, data, bytes, at, &failures) == bytes) return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: the file that was just made cannot be read: %s", f->name,
                    failures ? strerror(errno) : "it is too short");
}

/* An unsigned number of so many bytes, of our own order. */
static uint64_t number_at(const char *from, size_t bytes)
{
    uint64_t eight;
    uint32_t four;
    uint16_t two;
    memcpy(&two, from, sizeof two);
    if (bytes == sizeof two) return two;
    memcpy(&four, from, sizeof four);
    if (bytes == sizeof four) return four;
    memcpy(&eight, from, sizeof eight);
    return eight;
}

static bool is_ours(const char *header)
{
    const uint16_t one = 1;
    char low;
    memcpy(&low, &one, 1);
    return memcmp(header, low ? "II" : "MM", 2) == 0;
}

qfz_status qfz_tiff_find(qfz_tiff_file *file, qfz_error *err)
{
    char header[16], count[8], entries[ENTRIES_MAX * BIG_ENTRY];
    QFZ_TRY(get(file, 0, header, sizeof header, err));
    const uint64_t format = number_at(header + 2, 2);
    const bool is_big = format == BIG;
    const size_t count_bytes = is_big ? 8 : 2, entry_bytes = is_big ? BIG_ENTRY : ENTRY;
    const int64_t at = (int64_t)(is_big ? number_at(header + 8, 8) : number_at(header + 4, 4));
    QFZ_TRY(get(file, at, count, (int64_t)count_bytes, err));
    const uint64_t n = number_at(count, count_bytes);
    if (!is_ours(header) || (!is_big && format != CLASSIC) || n > ENTRIES_MAX)
        return qfz_fail(err, QFZ_EIO, "%s: GDAL has not made a TIFF of the usual kind", file->name);
    const int64_t first = at + (int64_t)count_bytes;
    QFZ_TRY(get(file, first, entries, (int64_t)(n * entry_bytes), err));
    file->is_big = is_big;
    file->offsets_at = file->counts_at = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t tag = number_at(entries + i * entry_bytes, 2);
        if (tag == TAG_OFFSETS) file->offsets_at = first + (int64_t)(i * entry_bytes);
        if (tag == TAG_COUNTS) file->counts_at = first + (int64_t)(i * entry_bytes);
    }
    if (file->offsets_at && file->counts_at) return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: the TIFF that GDAL made does not list its blocks",
                    file->name);
}

qfz_status qfz_tiff_put(const qfz_tiff_file *f, int64_t at, const void *data, int64_t bytes,
                        qfz_error *err)
{
    int failures;
    if (!f->is_big && at + bytes > UINT32_MAX)
        return qfz_fail(err, QFZ_EIO,
                        "%s: such a TIFF ends at 4 GB; -co BIGTIFF=YES makes a larger one",
                        f->name);
    if (qfz_patient_write(&f->patience, f->file, data, bytes, at, &failures) == bytes)
        return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: writing failed: %s (tried %d time%s)", f->name,
                    strerror(errno), failures, failures == 1 ? "" : "s");
}

/* A single number stands in the entry itself. */
static qfz_status put_entry(const qfz_tiff_file *f, int64_t at, int64_t n, uint64_t value,
                            qfz_error *err)
{
    char entry[BIG_ENTRY];
    const uint16_t type = f->is_big ? TYPE_LONG8 : TYPE_LONG;
    const uint32_t n_4 = (uint32_t)n, value_4 = (uint32_t)value;
    memcpy(entry, &type, 2);
    memcpy(entry + 2, f->is_big ? (const void *)&n : &n_4, f->is_big ? 8 : 4);
    memcpy(entry + (f->is_big ? 10 : 6), f->is_big ? (const void *)&value : &value_4,
           f->is_big ? 8 : 4);
    return qfz_tiff_put(f, at + 2, entry, (f->is_big ? BIG_ENTRY : ENTRY) - 2, err);
}

static qfz_status put_list(const qfz_tiff_file *f, int64_t at, int64_t n, const uint64_t *list,
                           qfz_error *err)
{
    uint32_t *narrow = NULL;
    if (f->is_big) return qfz_tiff_put(f, at, list, n * (int64_t)sizeof *list, err);
    QFZ_TRY(QFZ_NEW(&narrow, n, err));
    for (int64_t i = 0; i < n; i++)
        narrow[i] = (uint32_t)list[i];
    const qfz_status st = qfz_tiff_put(f, at, narrow, n * (int64_t)sizeof *narrow, err);
    free(narrow);
    return st;
}

qfz_status qfz_tiff_list(const qfz_tiff_file *file, int64_t end, int64_t n_blocks,
                         const uint64_t *offsets, const uint64_t *counts, qfz_error *err)
{
    const uint64_t *const lists[] = {offsets, counts};
    const int64_t entries[] = {file->offsets_at, file->counts_at};
    int64_t at = (end + 7) / 8 * 8;
    for (int i = 0; i < 2; i++) {
        const uint64_t value = n_blocks > 1 ? (uint64_t)at : lists[i][0];
        if (n_blocks > 1) QFZ_TRY(put_list(file, at, n_blocks, lists[i], err));
        QFZ_TRY(put_entry(file, entries[i], n_blocks, value, err));
        at += n_blocks * (file->is_big ? 8 : 4);
    }
    return QFZ_OK;
}
