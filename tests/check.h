/* SPDX-License-Identifier: MIT */
/* check.h - CHECK(cond, "format", ...) counts a failure, prints it and goes on.
 *
 * A test program calls check_begin() with its arguments (seed, number of cases), check_case() at
 * the start of each case, and returns check_end().  A failure prints program, seed and case, so
 * that `program SEED CASES FIRST` repeats it.  check_feed() lets the bytes of a fuzzer take the
 * place of random numbers. */
#ifndef QFZ_TESTS_CHECK_H
#define QFZ_TESTS_CHECK_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHECK_SKIP = 77, CHECK_SHOWN = 30 };

static struct {
    const char *program;
    uint64_t seed;
    int64_t cases, first, now;
    uint64_t checks, failures;
    char what[512]; /* the case, in words */
    uint64_t random;
    const uint8_t *fed; /* n_fed bytes that are left, two for each random number */
    size_t n_fed;
} check_;

__attribute__((unused)) static void check_feed(const uint8_t *bytes, size_t n)
{
    check_.fed = bytes;
    check_.n_fed = n;
}

__attribute__((unused)) static uint64_t check_random(void) /* splitmix64 */
{
    if (check_.n_fed >= 2) {
        const uint64_t number = check_.fed[0] + 256u * check_.fed[1];
        check_.fed += 2;
        check_.n_fed -= 2;
        return number;
    }
    uint64_t z = (check_.random += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* 0 .. n - 1 */
__attribute__((unused)) static int64_t check_pick(int64_t n)
{
    return (int64_t)(check_random() % (uint64_t)n);
}

__attribute__((unused)) static bool check_chance(int64_t percent)
{
    return check_pick(100) < percent;
}

/* PROGRAM [SEED [CASES [FIRST]]] */
__attribute__((unused)) static void check_begin(int argc, char **argv, int64_t cases)
{
    check_.program = argv[0];
    check_.seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    check_.cases = argc > 2 ? strtoll(argv[2], NULL, 10) : cases;
    check_.first = argc > 3 ? strtoll(argv[3], NULL, 10) : 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
}

/* Each case has random numbers of its own, so that it can be repeated alone. */
__attribute__((unused, format(printf, 2, 3))) static void check_case(int64_t number,
                                                                     const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(check_.what, sizeof check_.what, format, args);
    va_end(args);
    check_.now = number;
    check_.random = check_.seed * UINT64_C(0x2545f4914f6cdd1d) + (uint64_t)number;
}

__attribute__((unused, format(printf, 1, 2))) static void check_describe(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(check_.what, sizeof check_.what, format, args);
    va_end(args);
}

__attribute__((format(printf, 4, 5))) static inline bool
check_one(bool good, const char *file, int line, const char *format, ...)
{
    va_list args;
    check_.checks++;
    if (good) return true;
    if (++check_.failures > CHECK_SHOWN) return false;
    printf("%s:%d: ", file, line);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n    seed %" PRIu64 " case %" PRId64 ": %s\n    again: %s %" PRIu64 " %" PRId64
           " %" PRId64 "\n",
           check_.seed, check_.now, check_.what, check_.program, check_.seed, check_.now + 1,
           check_.now);
    return false;
}

#define CHECK(cond, ...) check_one((cond), __FILE__, __LINE__, __VA_ARGS__)

__attribute__((unused)) static int check_end(void)
{
    printf("%" PRIu64 " checks, %" PRIu64 " failed\n", check_.checks, check_.failures);
    return check_.failures || !check_.checks ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
