/* SPDX-License-Identifier: MIT */
/* fuzz_journal.c - the bytes of a journal.  Opening and scanning one may fail; every record that a
 * checked scan finds can be read, and a second scan finds the same records. */
#include "fuzz.h"

#include <string.h>
#include <unistd.h>

#include "stitch/journal.h"

enum { MOST = 256 };

typedef struct found {
    int n;
    int64_t key[MOST], offset[MOST], bytes[MOST];
} found;

static char path[64];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    (void)snprintf(path, sizeof path, "fuzz-journal-%ld.tmp", (long)getpid());
    return 0;
}

static void write_file(const uint8_t *data, size_t size)
{
    FILE *const file = fopen(path, "wb");
    FUZZ_MUST(file && fwrite(data, 1, size, file) == size);
    FUZZ_MUST(fclose(file) == 0);
}

static void add(int64_t key, int64_t offset, int64_t bytes, void *arg)
{
    found *const f = arg;
    if (f->n == MOST) return;
    f->key[f->n] = key;
    f->offset[f->n] = offset;
    f->bytes[f->n++] = bytes;
}

static void scan(found *f, size_t size)
{
    qfz_journal *journal = NULL;
    qfz_error err = {0};
    f->n = 0;
    if (qfz_journal_open(&journal, path, true, &err) != QFZ_OK) return;
    FUZZ_MUST(qfz_journal_scan(journal, true, add, f, &err) == QFZ_OK);
    for (int i = 0; i < f->n; i++) {
        FUZZ_MUST(f->bytes[i] >= 0 && f->bytes[i] <= (int64_t)size);
        void *const data = malloc((size_t)f->bytes[i] + 1);
        FUZZ_MUST(data != NULL);
        FUZZ_MUST(qfz_journal_read(journal, f->offset[i], data, f->bytes[i], &err) == QFZ_OK);
        free(data);
    }
    qfz_journal_close(journal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static found first, second;
    write_file(data, size);
    scan(&first, size);
    scan(&second, size);
    FUZZ_MUST(first.n == second.n);
    for (int i = 0; i < first.n; i++)
        FUZZ_MUST(first.key[i] == second.key[i] && first.offset[i] == second.offset[i] &&
                  first.bytes[i] == second.bytes[i]);
    (void)unlink(path);
    return 0;
}
