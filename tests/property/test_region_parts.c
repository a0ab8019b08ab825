/* SPDX-License-Identifier: MIT */
/* test_region_parts.c - records gathered by several processes make the same table as records of one
 * process.
 *
 * Regions are invented: each begins in some part, and has records of a few pixels in that part and
 * in later ones. */
#include "files.h"

#include <unistd.h>

#include "job/region_parts.h"
#include "job/setup_init.h"

enum { PARTS = 5, REGIONS = 60, PIECES = 6, W = 40, H = 40 };

typedef struct piece {
    int part;
    uint64_t *record;
} piece;

typedef struct scene {
    qfz_job job;
    qfz_setup setup;
    qfz_source *source;
    int n_parts;
    int words;
    uint64_t own[PARTS];
    uint64_t total;
    piece pieces[REGIONS * PIECES];
    int n_pieces;
    char table[PATH_ROOM];
} scene;

static void make_source(const char *path, qfz_type type, int n_bands)
{
    GDALDatasetH d =
        GDALCreate(GDALGetDriverByName("GTiff"), path, W, H, n_bands, files_type(type), NULL);
    double transform[6] = {100, 2, 0, 500, 0, -3};
    files_must(d != NULL);
    GDALSetGeoTransform(d, transform);
    GDALClose(d);
}

/* A record of random pixels. */
static uint64_t *make_record(const scene *s, uint64_t label)
{
    const qfz_source_info *const info = &s->setup.info;
    uint8_t bytes[4 * RASTER_BANDS];
    const qfz_image image = {
        .h = 1, .w = 1, .n_bands = info->n_bands, .type = info->type, .pixels = bytes};
    uint64_t *const words = malloc((size_t)s->words * sizeof *words);
    qfz_record *const record = qfz_record_at(words, s->words, 0);
    qfz_record_clear(record, info->type, info->n_bands);
    for (int64_t i = check_pick(4); i >= 0; i--) {
        for (size_t b = 0; b < sizeof bytes; b++)
            bytes[b] = (uint8_t)check_pick(100); /* no NaN among floats */
        qfz_record_add_pixel(record, &image, 0, check_pick(H), check_pick(W),
                             (uint64_t)check_pick(1 << 20));
    }
    record->label = label;
    return words;
}

static void add_piece(scene *s, int part, uint64_t label, bool shared)
{
    piece *const p = &s->pieces[s->n_pieces++];
    p->part = part;
    p->record = make_record(s, label | (shared ? QFZ_RECORD_SHARED : 0));
}

static void invent(scene *s)
{
    for (int part = 0; part < s->n_parts; part++) {
        s->own[part] = (uint64_t)(check_chance(20) ? 0 : check_pick(REGIONS / PARTS + 1));
        for (uint64_t i = 0; i < s->own[part]; i++) {
            const int n = check_chance(50) ? 1 : (int)(2 + check_pick(PIECES - 1));
            s->total++;
            add_piece(s, part, s->total, n > 1 || check_chance(50));
            for (int k = 1; k < n; k++)
                add_piece(s, part + (int)check_pick(s->n_parts - part), s->total, true);
        }
    }
}

/* Adds records in any order, some at a time; those of one part, or of all. */
static void give(const scene *s, qfz_region_records *regions, int part)
{
    uint64_t *const batch = malloc((size_t)(s->words * REGIONS * PIECES) * sizeof *batch);
    int64_t n = 0, turn = check_pick(s->n_pieces + 1);
    qfz_error err = {0};
    for (int i = 0; i < s->n_pieces; i++) {
        const piece *const p = &s->pieces[(i + turn) % s->n_pieces];
        if (part >= 0 && p->part != part) continue;
        memcpy(batch + n++ * s->words, p->record, (size_t)s->words * sizeof *batch);
        if (check_chance(70)) continue;
        CHECK(qfz_region_records_add(regions, batch, n, &err) == QFZ_OK, "take: %s", err.message);
        n = 0;
    }
    CHECK(qfz_region_records_add(regions, batch, n, &err) == QFZ_OK, "take: %s", err.message);
    free(batch);
}

static char *text_of(qfz_table *table, const char *path)
{
    qfz_error err = {0};
    GByte *text = NULL;
    CHECK(qfz_table_commit(table, &err) == QFZ_OK, "commit: %s", err.message);
    qfz_table_close(table);
    files_must(VSIIngestFile(NULL, path, &text, NULL, -1));
    VSIUnlink(path);
    return (char *)text;
}

static qfz_run run_of(const scene *s, int part)
{
    static qfz_job_progress silent;
    uint64_t before = 0;
    for (int k = 0; k < part; k++)
        before += s->own[k];
    return (qfz_run){.setup = &s->setup,
                     .source = s->source,
                     .progress = &silent,
                     .part = part,
                     .n_parts = s->n_parts,
                     .count = {.before = before, .own = s->own[part], .total = s->total}};
}

static char *table_of_one(const scene *s)
{
    qfz_run run = run_of(s, 0);
    qfz_region_records *regions = NULL;
    qfz_table *table = NULL;
    qfz_attributes *attributes = NULL;
    qfz_error err = {0};
    run.count = (qfz_count){.own = s->total, .total = s->total};
    CHECK(qfz_region_records_open(&regions, &run, &err) == QFZ_OK, "open: %s", err.message);
    give(s, regions, -1);
    CHECK(qfz_region_records_write(regions, &run, NULL, &table, &attributes, &err) == QFZ_OK,
          "write: %s", err.message);
    qfz_region_records_close(regions);
    return text_of(table, s->table);
}

static char *table_of_parts(const scene *s)
{
    qfz_table *table = NULL;
    qfz_attributes *attributes = NULL;
    qfz_error err = {0};
    for (int part = s->n_parts - 1; part >= 0; part--) {
        const qfz_run run = run_of(s, part);
        qfz_region_records *regions = NULL;
        CHECK(qfz_region_records_open(&regions, &run, &err) == QFZ_OK, "open: %s", err.message);
        give(s, regions, part);
        CHECK(qfz_region_parts_save(regions, &run, &err) == QFZ_OK, "save: %s", err.message);
        qfz_region_records_close(regions);
    }
    qfz_run run = run_of(s, 0);
    CHECK(qfz_region_parts_join(&run, NULL, &table, &attributes, &err) == QFZ_OK, "join: %s",
          err.message);
    return text_of(table, s->table);
}

/* A missing file of a part, or one of another job, is named in the message. */
static void refuses_what_is_not_its_own(const scene *s)
{
    qfz_run run = run_of(s, 0);
    qfz_table *table = NULL;
    qfz_attributes *attributes = NULL;
    qfz_error err = {0};
    run.count.total++;
    CHECK(qfz_region_parts_join(&run, NULL, &table, &attributes, &err) == QFZ_EIO &&
              strstr(err.message, "regions"),
          "a region too few: %s", err.message);
    run.count.total--;
    err = (qfz_error){0};
    qfz_region_parts_delete(&s->job, s->n_parts - 1, s->n_parts);
    CHECK(qfz_region_parts_join(&run, NULL, &table, &attributes, &err) == QFZ_EIO &&
              strstr(err.message, "-records-"),
          "a missing file: %s", err.message);
}

static void one_case(int64_t number)
{
    static const char *const left[] = {"source.tif", NULL};
    static scene s;
    qfz_error err = {0};
    s = (scene){0};
    check_case(number, "making it");
    const qfz_type type = check_chance(50) ? QFZ_F32 : (qfz_type)check_pick(QFZ_F32);
    const int n_bands = (int)(1 + check_pick(RASTER_BANDS));
    s.n_parts = (int)(1 + check_pick(PARTS));
    make_source(scratch("source.tif"), type, n_bands);
    s.job = qfz_job_default(QFZ_LABEL);
    s.job.src = scratch("source.tif");
    s.job.dst = scratch("labels.tif");
    snprintf(s.table, sizeof s.table, "%s", scratch("regions.csv"));
    s.job.regions = s.table;
    files_must(qfz_setup_init(&s.setup, &s.job, &s.source, &err) == QFZ_OK);
    files_must(qfz_source_locate(s.source, &err) == QFZ_OK);
    s.words = (int)(qfz_region_record_bytes(&s.setup) / (int64_t)sizeof(uint64_t));
    invent(&s);
    check_describe("%d parts, %d regions, %d pieces, %d bands of type %d", s.n_parts, (int)s.total,
                   s.n_pieces, n_bands, (int)type);
    char *const one = table_of_one(&s), *const many = table_of_parts(&s);
    CHECK(strcmp(one, many) == 0, "another table");
    refuses_what_is_not_its_own(&s);
    for (int part = 0; part < s.n_parts; part++)
        qfz_region_parts_delete(&s.job, part, s.n_parts);
    files_only(left);
    VSIFree(one);
    VSIFree(many);
    for (int i = 0; i < s.n_pieces; i++)
        free(s.pieces[i].record);
    qfz_source_close(s.source);
    qfz_setup_fini(&s.setup);
    files_clear();
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 200);
    files_begin();
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    files_end();
    return check_end();
}
