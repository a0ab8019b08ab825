/* SPDX-License-Identifier: MIT */
/* fuzz_options.c - command lines: one word a line, the first one selects the command.  A line is
 * refused, or parsed; the words of a request are among those of the line. */
#include "fuzz.h"

#include <string.h>

#include "commands.h"
#include "options.h"

enum { MOST_WORDS = 64 };

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

/* Splits the text at line ends; each word is memory of its own. */
static int split(const uint8_t *data, size_t size, char **words)
{
    int n = 0;
    for (size_t at = 0; at < size && n < MOST_WORDS; n++) {
        const uint8_t *const end = memchr(data + at, '\n', size - at);
        const size_t length = end ? (size_t)(end - data) - at : size - at;
        words[n] = calloc(length + 1, 1);
        FUZZ_MUST(words[n] != NULL);
        memcpy(words[n], data + at, length);
        at += length + 1;
    }
    return n;
}

static bool is_among(const char *word, char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (words[i] == word) return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *words[MOST_WORDS + 1] = {NULL};
    const int n = split(data, size, words);
    const command *const c = n > 0 ? command_find(words[0]) : NULL;
    if (n > 0 && !c) FUZZ_MUST(command_unknown(&label_command, words[0]) == EXIT_USAGE);
    for (int i = 1; i < n; i++) {
        const int taken = option_words(n - i, words + i);
        FUZZ_MUST(taken >= 1 && taken <= n - i);
    }
    if (c) {
        request r;
        request_init(&r, c);
        if (request_parse(&r, n - 1, words + 1)) {
            FUZZ_MUST(r.n_operands <= c->max_operands || r.action != ACTION_RUN);
            for (int i = 0; i < r.n_operands; i++)
                FUZZ_MUST(is_among(r.operands[i], words, n));
            FUZZ_MUST(r.job.n_bands >= 0 && r.job.criterion.n_omega >= 0);
        }
        request_fini(&r);
    }
    for (int i = 0; i < n; i++)
        free(words[i]);
    return 0;
}
