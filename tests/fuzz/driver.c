/* SPDX-License-Identifier: MIT */
/* driver.c - PROGRAM [-runs=N] [-seed=N] FOLDER: runs a fuzz target without libFuzzer, on every
 * file of a folder and on N changed ones, the same ones with the same seed.
 *
 * The input is in crash-input.bin of the current folder while the target runs; PROGRAM FILE repeats
 * it. */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "fuzz.h"

enum { MOST_FILES = 4096, MOST_BYTES = 4096 };

typedef struct input {
    size_t size;
    uint8_t data[MOST_BYTES];
} input;

static const char kept[] = "crash-input.bin";
static input *corpus[MOST_FILES];
static int n_corpus;

static void add_file(const char *path)
{
    FILE *const file = fopen(path, "rb");
    FUZZ_MUST(file != NULL && n_corpus < MOST_FILES);
    input *const in = corpus[n_corpus++] = calloc(1, sizeof *in);
    FUZZ_MUST(in != NULL);
    in->size = fread(in->data, 1, sizeof in->data, file);
    (void)fclose(file);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void add(const char *path)
{
    struct dirent **names = NULL;
    struct stat info;
    FUZZ_MUST(stat(path, &info) == 0);
    if (!S_ISDIR(info.st_mode)) {
        add_file(path);
        return;
    }
    const int n = scandir(path, &names, NULL, by_name);
    FUZZ_MUST(n >= 0);
    for (int i = 0; i < n; i++) {
        char file[4096];
        (void)snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.') add_file(file);
        free(names[i]);
    }
    free(names);
}

/* Replaces, removes, inserts or repeats a few bytes, or appends a part of another input. */
static void change(input *in)
{
    static const uint8_t usual[] = {0, 1, 2, 4, 7, 16, 32, 64, 127, 128, 254, 255};
    const size_t at = in->size ? (size_t)check_pick((int64_t)in->size) : 0;
    const size_t most = in->size - at,
                 n = most ? 1 + (size_t)check_pick(most < 16 ? (int64_t)most : 16) : 0;
    const input *const other = corpus[check_pick(n_corpus)];
    const size_t from = other->size ? (size_t)check_pick((int64_t)other->size) : 0;
    const uint8_t byte = check_chance(50) ? usual[check_pick(12)] : (uint8_t)check_pick(256);
    switch (check_pick(6)) {
    case 0:
    case 1:
        if (most) in->data[at] = byte;
        break;
    case 2:
        if (most) in->data[at] ^= (uint8_t)(1 << check_pick(8));
        break;
    case 3:
        memmove(in->data + at, in->data + at + n, most - n);
        in->size -= n;
        break;
    case 4:
        if (in->size + n > MOST_BYTES) break;
        memmove(in->data + at + n, in->data + at, most);
        if (check_chance(50)) memset(in->data + at, byte, n);
        in->size += n;
        break;
    default:
        in->size = at;
        for (size_t i = from; i < other->size && in->size < MOST_BYTES; i++)
            in->data[in->size++] = other->data[i];
    }
}

static void run(const input *in)
{
    FILE *const file = fopen(kept, "wb");
    FUZZ_MUST(file != NULL && fwrite(in->data, 1, in->size, file) == in->size);
    (void)fclose(file);
    uint8_t *const exact = malloc(in->size + 1); /* so that reads behind the end are noticed */
    FUZZ_MUST(exact != NULL);
    memcpy(exact, in->data, in->size);
    (void)LLVMFuzzerTestOneInput(exact, in->size);
    free(exact);
}

int main(int argc, char **argv)
{
    static input in;
    int64_t runs = 0;
    check_begin(0, argv, 0);
    check_.seed = 1;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-runs=", 6) == 0)
            runs = strtoll(argv[i] + 6, NULL, 10);
        else if (strncmp(argv[i], "-seed=", 6) == 0)
            check_.seed = strtoull(argv[i] + 6, NULL, 10);
        else
            add(argv[i]);
    }
    FUZZ_MUST(n_corpus > 0 && freopen("/dev/null", "w", stderr) != NULL);
    (void)LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 0; i < n_corpus; i++)
        run(corpus[i]);
    for (int64_t i = 0; i < runs; i++) {
        check_case(i, "a changed input");
        in = *corpus[check_pick(n_corpus)];
        for (int64_t n = 1 + check_pick(6); n > 0; n--)
            change(&in);
        run(&in);
    }
    (void)unlink(kept);
    (void)printf("%d inputs of the corpus, %lld changed ones\n", n_corpus, (long long)runs);
    for (int i = 0; i < n_corpus; i++)
        free(corpus[i]);
    return 0;
}
