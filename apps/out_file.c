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

int out_file_write(const command *c, const char *path, out_file_writer write, const void *arg)
{
    char target[PATH_MAX], temp[NAME_BYTES];
    if (realpath(path, target)) path = target; /* a symbolic link stays */
    if (snprintf(temp, sizeof temp, "%s.%ld.tmp", path, (long)getpid()) >= (int)sizeof temp)
        return bad_file(c, path, "the name is too long");
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
