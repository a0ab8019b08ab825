/* SPDX-License-Identifier: MIT */
/* test_journal.c - after any damage to the file, a scan finds every record that was not touched,
 * and never returns bytes that were not written. */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "stitch/journal.h"

enum { MOST = 40, MOST_BYTES = 3000 };

typedef struct record {
    int64_t bytes, offset;
    uint8_t data[MOST_BYTES];
    bool found;
} record;

typedef struct problem {
    char path[64];
    qfz_journal *journal;
    int n;
    record records[MOST];
    int strangers; /* found, but never written */
} problem;

static bool ok(qfz_status st, const qfz_error *err)
{
    return CHECK(st == QFZ_OK, "status %d: %s", (int)st, err->message);
}

static void found(int64_t key, int64_t offset, int64_t bytes, void *arg)
{
    problem *const p = arg;
    if (key < 0 || key >= p->n || p->records[key].bytes != bytes) {
        p->strangers++;
        return;
    }
    p->records[key].found = true;
    p->records[key].offset = offset;
}

static void append(problem *p, int i)
{
    qfz_error err = {0};
    record *const r = &p->records[i];
    r->bytes = check_chance(20) ? 0 : check_pick(check_chance(50) ? 40 : MOST_BYTES);
    for (int64_t b = 0; b < r->bytes; b++)
        r->data[b] = (uint8_t)check_pick(check_chance(50) ? 2 : 256);
    if (check_chance(70)) {
        ok(qfz_journal_append(p->journal, i, r->data, r->bytes, &r->offset, &err), &err);
        return;
    }
    qfz_long_record slow = qfz_journal_reserve(p->journal, i, r->bytes);
    for (int64_t at = 0, n; at < r->bytes; at += n) {
        n = 1 + check_pick(r->bytes - at);
        ok(qfz_journal_fill(p->journal, &slow, r->data + at, n, &err), &err);
    }
    ok(qfz_journal_seal(p->journal, &slow, &err), &err);
    r->offset = slow.offset;
}

/* Checks that every record that a scan finds has the bytes that were written; returns their number.
 */
static int look(problem *p, bool append_too, bool check)
{
    int n = 0;
    qfz_error err = {0};
    p->strangers = 0;
    for (int i = 0; i < p->n; i++)
        p->records[i].found = false;
    ok(qfz_journal_open(&p->journal, p->path, append_too, &err), &err);
    ok(qfz_journal_scan(p->journal, check, found, p, &err), &err);
    CHECK(p->strangers == 0, "%d records that nobody wrote", p->strangers);
    for (int i = 0; i < p->n; i++) {
        uint8_t data[MOST_BYTES];
        const record *const r = &p->records[i];
        qfz_error damage = {0};
        if (!r->found) continue;
        const qfz_status st = qfz_journal_read(p->journal, r->offset, data, r->bytes, &damage);
        if (check) ok(st, &damage);
        if (st != QFZ_OK) continue;
        n++;
        CHECK(memcmp(data, r->data, (size_t)r->bytes) == 0, "record %d has other bytes", i);
    }
    return n;
}

static void close_journal(problem *p)
{
    qfz_journal_close(p->journal);
    p->journal = NULL;
}

static void make(problem *p)
{
    qfz_error err = {0};
    p->n = 1 + (int)check_pick(MOST - 5);
    ok(qfz_journal_open(&p->journal, p->path, true, &err), &err);
    for (int i = 0; i < p->n; i++)
        append(p, i);
    qfz_journal *second = NULL;
    CHECK(qfz_journal_open(&second, p->path, true, &err) == QFZ_EARG, "opened twice for appending");
    close_journal(p);
    CHECK(look(p, false, true) == p->n, "not all of %d records are found", p->n);
    close_journal(p);
}

/* Damages random bytes of a file of `size` bytes; returns the number of records touched at most. */
static int damage(problem *p, int64_t size)
{
    enum { FLIP, REMOVE, CUT, INSERT };
    const int how = (int)check_pick(4);
    const int64_t at = check_pick(size), most = size - at,
                  n = 1 + check_pick(most < 200 ? most : 200);
    uint8_t *const data = malloc((size_t)(size + n));
    FILE *file = fopen(p->path, "rb");
    CHECK(data && file && fread(data, 1, (size_t)size, file) == (size_t)size, "no reading");
    (void)fclose(file);
    int64_t left = size;
    if (how == FLIP) data[at + check_pick(n)] ^= (uint8_t)(1 << check_pick(8));
    if (how == REMOVE) {
        memmove(data + at, data + at + n, (size_t)(size - at - n));
        left = size - n;
    }
    if (how == CUT) left = at;
    if (how == INSERT) {
        memmove(data + at + n, data + at, (size_t)(size - at));
        left = size + n;
    }
    file = fopen(p->path, "wb");
    CHECK(file && fwrite(data, 1, (size_t)left, file) == (size_t)left, "no writing");
    (void)fclose(file);
    free(data);
    int touched = 0;
    const int64_t end = how == FLIP || how == REMOVE ? at + n : how == CUT ? size : at + 1;
    for (int i = 0; i < p->n; i++) {
        const record *const r = &p->records[i];
        touched += r->offset - 64 < end && r->offset + r->bytes > at - 1;
    }
    return touched;
}

static void one_case(int64_t number)
{
    static problem p;
    memset(&p, 0, sizeof p);
    check_case(number, "a journal");
    (void)snprintf(p.path, sizeof p.path, "journal-%ld.test", (long)getpid());
    (void)unlink(p.path);
    make(&p);
    FILE *const file = fopen(p.path, "rb");
    CHECK(file && fseek(file, 0, SEEK_END) == 0, "no file");
    const int64_t size = ftell(file);
    (void)fclose(file);
    const int touched = damage(&p, size), before = p.n;
    const bool check = check_chance(70);
    const int n = look(&p, check && check_chance(70), check);
    CHECK(!check || n >= before - touched, "%d of %d records found, %d were touched", n, before,
          touched);
    close_journal(&p);
    /* a process that resumes appends behind the damage, and finds its record again */
    qfz_error err = {0};
    const int had = look(&p, true, true);
    p.n = before + 5;
    for (int i = before; i < p.n; i++)
        append(&p, i);
    ok(qfz_journal_sync(p.journal, &err), &err);
    close_journal(&p);
    for (int check_too = 0; check_too < 2; check_too++) {
        CHECK(look(&p, false, check_too) == had + 5, "not all found after going on");
        close_journal(&p);
    }
    (void)unlink(p.path);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 400);
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    return check_end();
}
