/* SPDX-License-Identifier: MIT */
#include "raster/tiff_index.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* Tags and types of TIFF. */
enum { TILE_OFFSETS = 324, TILE_BYTE_COUNTS = 325 };
enum { TYPE_SHORT = 3, TYPE_LONG = 4, TYPE_LONG8 = 16 };
enum { CLASSIC = 42, BIG = 43 };

/* A file that is read number by number, in the order of this machine. */
typedef struct reading {
    VSILFILE *file;
    bool is_big; /* BigTIFF: numbers of tags and places have 64 bits */
    bool failed;
} reading;

static uint64_t read_number(reading *r, int width)
{
    uint64_t number = 0;
    uint32_t four = 0;
    uint16_t two = 0;
    void *const to = width == 2 ? (void *)&two : width == 4 ? (void *)&four : (void *)&number;
    if (VSIFReadL(to, (size_t)width, 1, r->file) != 1) r->failed = true;
    return number | four | two;
}

static void seek(reading *r, int64_t at)
{
    r->failed |= at < 0 || VSIFSeekL(r->file, (vsi_l_offset)at, SEEK_SET) != 0;
}

/* The place of the first directory; 0 if the file is none of this machine's order. */
static int64_t find_directory(reading *r)
{
    const uint16_t one = 1;
    const bool is_little = *(const uint8_t *)&one == 1;
    char order[2];
    seek(r, 0);
    if (VSIFReadL(order, sizeof order, 1, r->file) != 1) return 0;
    if (memcmp(order, is_little ? "II" : "MM", sizeof order) != 0) return 0;
    const uint64_t version = read_number(r, 2);
    if (version != CLASSIC && version != BIG) return 0;
    r->is_big = version == BIG;
    if (r->is_big) (void)read_number(r, 4); /* the width of places, 8 */
    const int64_t at = (int64_t)read_number(r, r->is_big ? 8 : 4);
    return r->failed || at < 0 ? 0 : at;
}

static int width_of(uint64_t type)
{
    switch (type) {
    case TYPE_SHORT: return 2;
    case TYPE_LONG: return 4;
    case TYPE_LONG8: return 8;
    default: return 0;
    }
}

/* Reads an entry of the directory after its tag: values that fit lie in the entry itself. */
static bool read_entry(reading *r, int64_t n, qfz_tiff_array *array)
{
    const int place = r->is_big ? 8 : 4;
    array->width = width_of(read_number(r, 2));
    const uint64_t count = read_number(r, place);
    array->at = (int64_t)VSIFTellL(r->file);
    if (array->width * n > place) array->at = (int64_t)read_number(r, place);
    return !r->failed && array->width > 0 && count == (uint64_t)n && array->at > 0;
}

static bool find_arrays(reading *r, int64_t n, qfz_tiff_index *index)
{
    const int64_t directory = find_directory(r);
    if (directory == 0) return false;
    seek(r, directory);
    const int64_t n_entries = (int64_t)read_number(r, r->is_big ? 8 : 2);
    const int64_t first = directory + (r->is_big ? 8 : 2), entry = r->is_big ? 20 : 12;
    bool has_offsets = false, has_bytes = false;
    for (int64_t i = 0; i < n_entries && !r->failed; i++) {
        seek(r, first + i * entry);
        const uint64_t tag = read_number(r, 2);
        if (tag == TILE_OFFSETS) has_offsets = read_entry(r, n, &index->offset);
        if (tag == TILE_BYTE_COUNTS) has_bytes = read_entry(r, n, &index->bytes);
    }
    return has_offsets && has_bytes && !r->failed;
}

qfz_status qfz_tiff_index_open(qfz_tiff_index *index, VSILFILE *file, int64_t n, bool *found,
                               qfz_error *err)
{
    reading r = {.file = file};
    *index = (qfz_tiff_index){.n = n};
    *found = find_arrays(&r, n, index);
    if (!*found) return QFZ_OK;
    qfz_status st = QFZ_NEW_ZERO(&index->offset.value, n, err);
    if (st == QFZ_OK) st = QFZ_NEW_ZERO(&index->bytes.value, n, err);
    if (st != QFZ_OK) qfz_tiff_index_close(index);
    return st;
}

static bool holds(const qfz_tiff_array *array, int64_t number)
{
    return array->width == 8 || (uint64_t)number >> 8 * array->width == 0;
}

bool qfz_tiff_index_set(qfz_tiff_index *index, int64_t block, int64_t offset, int64_t bytes)
{
    if (!holds(&index->offset, offset) || !holds(&index->bytes, bytes)) return false;
    index->offset.value[block] = (uint64_t)offset;
    index->bytes.value[block] = (uint64_t)bytes;
    return true;
}

static void put_number(char *to, uint64_t number, int width)
{
    const uint16_t two = (uint16_t)number;
    const uint32_t four = (uint32_t)number;
    memcpy(to,
           width == 2   ? (const void *)&two
           : width == 4 ? (const void *)&four
                        : &number,
           (size_t)width);
}

static bool store(const qfz_tiff_array *array, int64_t n, VSILFILE *file)
{
    enum { SOME = 4096 };
    char bytes[8 * SOME];
    if (VSIFSeekL(file, (vsi_l_offset)array->at, SEEK_SET) != 0) return false;
    for (int64_t done = 0; done < n; done += SOME) {
        const int64_t some = n - done < SOME ? n - done : SOME;
        for (int64_t i = 0; i < some; i++)
            put_number(bytes + i * array->width, array->value[done + i], array->width);
        if (VSIFWriteL(bytes, (size_t)array->width, (size_t)some, file) != (size_t)some)
            return false;
    }
    return true;
}

bool qfz_tiff_index_store(const qfz_tiff_index *index, VSILFILE *file)
{
    return store(&index->offset, index->n, file) && store(&index->bytes, index->n, file);
}

void qfz_tiff_index_close(qfz_tiff_index *index)
{
    free(index->offset.value);
    free(index->bytes.value);
    *index = (qfz_tiff_index){0};
}
