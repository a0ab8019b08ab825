/* SPDX-License-Identifier: MIT */
/* fuzz_records.c - forged records of a journal, with the right checksums: boundary summaries,
 * exteriors, maps, partitions and numbers of a small raster.  The job that resumes from them ends
 * with a result or with an error.
 *
 * Input: a byte of flags (which problem), a byte (how many records of the journal are kept), then
 * changes of eight bytes: record, kind of change, offset (two bytes), value (four bytes). */
#include "fuzz.h"

#include <string.h>
#include <unistd.h>

#include "cpu/cpu.h"
#include "stitch/stitch.h"

enum { H = 11, W = 13, SIDE = 5, MOST_RECORDS = 512, MOST_PX = SIDE * SIDE, PROBLEMS = 16 };

typedef struct record {
    int64_t key, offset, bytes;
    uint8_t *data;
} record;

/* A job on the raster, and the records of its journal when nothing is wrong. */
typedef struct problem {
    qfz_kind kind;
    qfz_rule rule;
    qfz_tiling tiling;
    int n;
    record records[MOST_RECORDS];
} problem;

static const double omega[1] = {9};
static const qfz_ranks alone = {.n = 1, .n_local = 1};
static uint8_t raster[H * W];
static problem *problems[PROBLEMS];
static char path[64];

/* ---- The job, which takes from the journal what is there. */
typedef struct job {
    const problem *p;
    qfz_worker *worker;
    qfz_stitch *stitch;
    qfz_box box; /* of the loaded tile */
    uint8_t pixels[MOST_PX], valid[MOST_PX];
    uint32_t out[MOST_PX * QFZ_MAX_DIRS];
} job;

static int64_t n_tiles(const problem *p)
{
    return p->tiling.n_x * p->tiling.n_y;
}

static qfz_status load(job *j, int64_t t, qfz_error *err)
{
    j->box = qfz_tiling_box(&j->p->tiling, t / j->p->tiling.n_x, t % j->p->tiling.n_x);
    const int64_t h = qfz_box_h(j->box), w = qfz_box_w(j->box);
    for (int64_t y = 0; y < h; y++)
        memcpy(j->pixels + y * w, raster + (j->box.y0 + y) * W + j->box.x0, (size_t)w);
    for (int64_t i = 0; i < h * w; i++)
        j->valid[i] = j->pixels[i] != 0;
    const qfz_image tile = {
        .h = h, .w = w, .n_bands = 1, .type = QFZ_U8, .pixels = j->pixels, .valid = j->valid};
    return qfz_engine_load(&qfz_engine_cpu, j->worker, &tile, err);
}

static qfz_status summarise_tile(job *j, int64_t t, qfz_summary *summary, qfz_error *err)
{
    const qfz_engine *const engine = &qfz_engine_cpu;
    if (j->p->kind == QFZ_FILTER)
        return engine->filter->summarise(j->worker, j->box, NULL, NULL, summary, err);
    if (j->p->kind == QFZ_COMPONENTS) {
        qfz_partition partition;
        QFZ_TRY(engine->partition(j->worker, NULL, &partition, err));
        if (!qfz_stitch_has_partition(j->stitch, t))
            QFZ_TRY(qfz_stitch_put_partition(j->stitch, t, &partition, err));
    }
    return engine->summarise(j->worker, summary, err);
}

static qfz_status summarise(job *j, qfz_error *err)
{
    for (int64_t t = 0; t < n_tiles(j->p); t++) {
        qfz_summary summary;
        const bool counted = j->p->kind != QFZ_COMPONENTS || qfz_stitch_has_partition(j->stitch, t);
        if (counted && qfz_stitch_has_summary(j->stitch, t)) continue;
        QFZ_TRY(load(j, t, err));
        QFZ_TRY(qfz_summary_init(&summary, j->box, &j->p->rule, err));
        qfz_status st = summarise_tile(j, t, &summary, err);
        if (st == QFZ_OK) st = qfz_stitch_put(j->stitch, t, &summary, err);
        qfz_summary_fini(&summary);
        QFZ_TRY(st);
    }
    return qfz_stitch_solve(j->stitch, NULL, NULL, err);
}

static qfz_status partition_tile(job *j, int64_t t, qfz_partition *partition, qfz_error *err)
{
    qfz_exterior exterior;
    QFZ_TRY(load(j, t, err));
    QFZ_TRY(qfz_stitch_exterior(j->stitch, t, &exterior, err));
    const qfz_status st =
        qfz_engine_cpu.partition(j->worker, exterior.n_ring ? &exterior : NULL, partition, err);
    qfz_exterior_fini(&exterior);
    return st;
}

static qfz_status label_tile(job *j, int64_t t, qfz_error *err)
{
    qfz_partition partition;
    qfz_numbers numbers = {0};
    QFZ_TRY(partition_tile(j, t, &partition, err));
    QFZ_TRY(qfz_stitch_numbers(j->stitch, t, &partition, &numbers, err));
    qfz_status st = qfz_engine_cpu.number(j->worker, &numbers, err);
    if (st == QFZ_OK) st = qfz_engine_cpu.labels(j->worker, false, j->out, err);
    qfz_numbers_fini(&numbers);
    return st;
}

static qfz_status label(job *j, qfz_error *err)
{
    for (int64_t t = 0; t < n_tiles(j->p) && j->p->kind == QFZ_OMEGA; t++) {
        qfz_partition partition;
        if (qfz_stitch_has_partition(j->stitch, t)) continue;
        QFZ_TRY(partition_tile(j, t, &partition, err));
        QFZ_TRY(qfz_stitch_put_partition(j->stitch, t, &partition, err));
    }
    QFZ_TRY(qfz_stitch_number(j->stitch, err));
    for (int64_t t = 0; t < n_tiles(j->p); t++)
        QFZ_TRY(label_tile(j, t, err));
    return QFZ_OK;
}

static qfz_status resolve_tile(job *j, int64_t t, qfz_error *err)
{
    qfz_exterior e;
    uint8_t zeroed[MOST_PX], forest[MOST_PX];
    const qfz_edge_bits bits = {zeroed, j->p->rule.wants_forest ? forest : NULL};
    QFZ_TRY(load(j, t, err));
    QFZ_TRY(qfz_stitch_exterior(j->stitch, t, &e, err));
    const qfz_exterior *const exterior = e.n_ring ? &e : NULL;
    const qfz_engine *const engine = &qfz_engine_cpu;
    const qfz_status st =
        j->p->kind == QFZ_LEVELS
            ? engine->saliency(j->worker, exterior, 4, j->out, err)
            : engine->filter->resolve(j->worker, j->box, NULL, exterior, &bits, err);
    qfz_exterior_fini(&e);
    return st;
}

static qfz_status run_job(const problem *p, qfz_journal *journal, qfz_error *err)
{
    static job j;
    const qfz_worker_spec spec = {
        .rule = &p->rule, .kind = p->kind, .max_h = SIDE, .max_w = SIDE, .n_threads = 1};
    j = (job){.p = p};
    qfz_status st = qfz_engine_cpu.open(&j.worker, 1, &spec, err);
    if (st == QFZ_OK)
        st =
            qfz_stitch_open(&j.stitch, &p->rule, p->kind, &p->tiling, &alone, 1, 1 << 20, ".", err);
    if (st == QFZ_OK) st = qfz_stitch_attach(j.stitch, journal, true, err);
    if (st == QFZ_OK) st = summarise(&j, err);
    if (p->kind == QFZ_COMPONENTS || p->kind == QFZ_OMEGA) {
        if (st == QFZ_OK) st = label(&j, err);
    } else {
        for (int64_t t = 0; t < n_tiles(p) && st == QFZ_OK; t++)
            st = resolve_tile(&j, t, err);
    }
    qfz_engine_cpu.close(&j.worker, 1);
    qfz_stitch_close(j.stitch);
    return st;
}

/* ---- The records of a job that nothing disturbs. */
static void add(int64_t key, int64_t offset, int64_t bytes, void *arg)
{
    problem *const p = arg;
    FUZZ_MUST(p->n < MOST_RECORDS);
    p->records[p->n++] = (record){.key = key, .offset = offset, .bytes = bytes};
}

static problem *make(int flags)
{
    static const qfz_kind kinds[] = {QFZ_COMPONENTS, QFZ_OMEGA, QFZ_LEVELS, QFZ_FILTER};
    problem *const p = calloc(1, sizeof *p);
    qfz_journal *journal = NULL;
    qfz_error err = {0};
    FUZZ_MUST(p != NULL);
    p->kind = kinds[flags % 4];
    p->rule = (qfz_rule){.connectivity = flags & 4 ? 8 : 4,
                         .distance = QFZ_LINF,
                         .type = QFZ_U8,
                         .n_bands = 1,
                         .alpha_level = p->kind == QFZ_COMPONENTS ? 2 : 0xffffffffu,
                         .omega = p->kind == QFZ_OMEGA ? omega : NULL,
                         .min_mass = p->kind == QFZ_FILTER ? 4 : 0,
                         .wants_forest = p->kind == QFZ_FILTER && flags & 8};
    p->tiling = (qfz_tiling){.w = W, .h = H, .tile_w = SIDE, .tile_h = SIDE, .n_x = 3, .n_y = 3};
    (void)unlink(path);
    FUZZ_MUST(qfz_journal_open(&journal, path, true, &err) == QFZ_OK);
    FUZZ_MUST(run_job(p, journal, &err) == QFZ_OK);
    qfz_journal_close(journal);
    FUZZ_MUST(qfz_journal_open(&journal, path, false, &err) == QFZ_OK);
    FUZZ_MUST(qfz_journal_scan(journal, true, add, p, &err) == QFZ_OK && p->n > 0);
    for (int i = 0; i < p->n; i++) {
        record *const r = &p->records[i];
        r->data = malloc((size_t)r->bytes + 1);
        FUZZ_MUST(r->data != NULL);
        FUZZ_MUST(qfz_journal_read(journal, r->offset, r->data, r->bytes, &err) == QFZ_OK);
    }
    qfz_journal_close(journal);
    return p;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    (void)snprintf(path, sizeof path, "fuzz-records-%ld.tmp", (long)getpid());
    for (int i = 0; i < H * W; i++) /* patches, steps, noise and holes */
        raster[i] = (uint8_t)(i % 17 == 0 ? 0 : 1 + i % W / 3 * 2 + i / W / 4 * 3 + i * i % 3);
    for (int i = 0; i < PROBLEMS; i++)
        problems[i] = make(i);
    return 0;
}

/* ---- Forged records. */
static void change(problem *forged, const problem *p, fuzz_input *input)
{
    record *const r = &forged->records[fuzz_take(input, 1) % (uint32_t)p->n];
    const uint32_t kind = fuzz_take(input, 1) % 6, offset = fuzz_take(input, 2),
                   value = fuzz_take(input, 4);
    const record *const other = &p->records[value % (uint32_t)p->n];
    if (r->bytes == 0) return;
    const size_t at = offset % (size_t)r->bytes;
    if (kind == 0 || kind == 1) { /* an aligned word, or any byte */
        const size_t word = at & ~(size_t)3;
        if (kind == 0 && word + 4 <= (size_t)r->bytes) memcpy(r->data + word, &value, 4);
        if (kind == 1) r->data[at] = (uint8_t)value;
    } else if (kind == 2) {
        r->bytes = (int64_t)at;
    } else if (kind == 3) {
        r->data = realloc(r->data, (size_t)other->bytes + 1);
        FUZZ_MUST(r->data != NULL);
        memcpy(r->data, other->data, (size_t)other->bytes);
        r->bytes = other->bytes;
    } else if (kind == 4) {
        r->key = other->key;
    } else {
        r->bytes = 0;
    }
}

static problem *copy(const problem *p)
{
    problem *const c = malloc(sizeof *c);
    FUZZ_MUST(c != NULL);
    *c = *p;
    for (int i = 0; i < c->n; i++) {
        c->records[i].data = malloc((size_t)p->records[i].bytes + 1);
        FUZZ_MUST(c->records[i].data != NULL);
        memcpy(c->records[i].data, p->records[i].data, (size_t)p->records[i].bytes);
    }
    return c;
}

static void write_journal(const problem *p, int n)
{
    qfz_journal *journal = NULL;
    qfz_error err = {0};
    int64_t offset;
    (void)unlink(path);
    FUZZ_MUST(qfz_journal_open(&journal, path, true, &err) == QFZ_OK);
    for (int i = 0; i < n; i++) {
        const record *const r = &p->records[i];
        FUZZ_MUST(qfz_journal_append(journal, r->key, r->data, r->bytes, &offset, &err) == QFZ_OK);
    }
    qfz_journal_close(journal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, size};
    const problem *const p = problems[fuzz_take(&input, 1) % PROBLEMS];
    const int n_kept = 1 + (int)((fuzz_take(&input, 1) + (uint32_t)p->n - 1) % (uint32_t)p->n);
    problem *const forged = copy(p);
    qfz_journal *journal = NULL;
    qfz_error err = {0};
    for (int i = 0; i < 8 && input.left > 0; i++)
        change(forged, p, &input);
    write_journal(forged, n_kept);
    FUZZ_MUST(qfz_journal_open(&journal, path, true, &err) == QFZ_OK);
    const qfz_status st = run_job(p, journal, &err);
    FUZZ_MUST(st == QFZ_OK || (err.message[0] && (st == QFZ_EIO || st == QFZ_EARG)));
    qfz_journal_close(journal);
    for (int i = 0; i < forged->n; i++)
        free(forged->records[i].data);
    free(forged);
    (void)unlink(path);
    return 0;
}
