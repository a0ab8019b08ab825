/* SPDX-License-Identifier: MIT */
/* libomp_leaks.c - clang's OpenMP library keeps the memory of its threads; this is no leak of a
 * target. */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libomp.so";
}
