/* SPDX-License-Identifier: MIT */
/* fuzz.h - the interface between a fuzz target and its driver: clang's libFuzzer, or driver.c.
 *
 * A target ends the process by abort() where a result is wrong; the driver keeps the input. */
#ifndef QFZ_TESTS_FUZZ_H
#define QFZ_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Names of libFuzzer.  Called once before the first input, and with each input. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_MUST(condition)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                 \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Reads numbers from the input; behind its end they are 0. */
typedef struct fuzz_input {
    const uint8_t *data;
    size_t left;
} fuzz_input;

static inline uint32_t fuzz_take(fuzz_input *input, int n_bytes)
{
    uint32_t number = 0;
    for (int i = 0; i < n_bytes && input->left > 0; i++, input->data++, input->left--)
        number |= (uint32_t)*input->data << 8 * i;
    return number;
}

#endif
