/* SPDX-License-Identifier: MIT */
#include "out_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

enum { NAME_BYTES = PATH_MAX + 32 };

/* Complains about a file; returns the exit status. */
static int bad_file(const command *c, const char *path, const char *why)
{
    complain(c, "%s: %s", path, why);
    return EXIT_FAILED;
}

bool out_file_is_free(const command *c, const char *path, bool overwrite)
{
    struct stat file;
    if (!path || stat(path, &file) != 0) return true;
    if (S_ISREG(file.st_mode) && overwrite) return true;
    if (S_ISREG(file.st_mode))
        complain(c, "%s: already exists; use --overwrite", path);
    else
        complain(c, "%s: not a regular file", path);
    return false;
}

/* The name of the file while it is made, beside its own; false, with a line on stderr, if it is too
 * long. */
static bool name_unfinished(const command *c, const char *path, char *temp)
{
    if (snprintf(temp, NAME_BYTES, "%s.%ld.tmp", path, (long)getpid()) < NAME_BYTES) return true;
    (void)bad_file(c, path, "the name is too long");
    return false;
}

bool out_file_can_be_made(const command *c, const char *path)
{
    char target[PATH_MAX], temp[NAME_BYTES];
    if (!path) return true;
    if (realpath(path, target)) path = target;
    if (!name_unfinished(c, path, temp)) return false;
    FILE *const out = fopen(temp, "we");
    if (!out) {
        (void)bad_file(c, path, strerror(errno));
        return false;
    }
    (void)fclose(out);
    (void)unlink(temp);
    return true;
}

/* The path without links and dots, also of a file that does not exist in a folder that does. */
static bool resolve(const char *path, char *resolved)
{
    char folder[PATH_MAX];
    const char *const slash = strrchr(path, '/');
    if (realpath(path, resolved)) return true;
    if (snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
                 slash ? path : ".") >= (int)sizeof folder ||
        !realpath(folder, resolved))
        return false;
    const size_t n = strlen(resolved);
    return snprintf(resolved + n, PATH_MAX - n, "/%s", slash ? slash + 1 : path) <
           (int)(PATH_MAX - n);
}

bool out_file_is_same(const char *a, const char *b)
{
    char one[PATH_MAX], other[PATH_MAX];
    struct stat first, second;
    if (!a || !b) return false;
    if (stat(a, &first) == 0 && stat(b, &second) == 0)
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
    return resolve(a, one) && resolve(b, other) && strcmp(one, other) == 0;
}

int out_file_write(const command *c, const char *path, out_file_writer write, const void *arg)
{
    char target[PATH_MAX], temp[NAME_BYTES];
    if (realpath(path, target)) path = target; /* a symbolic link stays */
    if (!name_unfinished(c, path, temp)) return EXIT_FAILED;
    FILE *const out = fopen(temp, "we");
    if (!out) return bad_file(c, path, strerror(errno));
    errno = 0;
    const bool is_made = write(out, arg);
    const bool is_written = fflush(out) == 0 && !ferror(out);
    const int why = errno;
    if (fclose(out) == 0 && is_made && is_written && rename(temp, path) == 0) return EXIT_OK;
    const int last = errno;
    (void)unlink(temp);
    if (!is_made && is_written) return bad_file(c, path, "out of memory");
    return bad_file(c, path, strerror(is_written ? last : why));
}
