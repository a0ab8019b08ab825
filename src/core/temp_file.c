/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* O_TMPFILE */
#include "core/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/retry.h"

/* If the file system does not support files without a name, the file gets a name and loses it at
 * once. */
qfz_status qfz_temp_open(const char *folder, int *out, qfz_error *err)
{
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    char name[4096];
    const int length = snprintf(name, sizeof name, "%s/.qfz-XXXXXX", folder);
    if (file < 0 && length > 0 && (size_t)length < sizeof name) {
        file = mkstemp(name);
        if (file >= 0) (void)unlink(name);
    }
    if (file < 0)
        return qfz_fail(err, QFZ_EIO,
                        "%s: no temporary file can be made there for what exceeds --memory: %s",
                        folder, strerror(errno));
    *out = file;
    return QFZ_OK;
}

qfz_status qfz_temp_write(int file, const char *folder, const void *data, int64_t bytes,
                          int64_t offset, qfz_error *err)
{
    int failures;
    if (qfz_retry_write(&qfz_retry_default, file, data, bytes, offset, &failures) == bytes)
        return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: writing a temporary file there failed: %s", folder,
                    strerror(errno));
}

qfz_status qfz_temp_read(int file, const char *folder, void *data, int64_t bytes, int64_t offset,
                         qfz_error *err)
{
    int failures;
    if (qfz_retry_read(&qfz_retry_default, file, data, bytes, offset, &failures) == bytes)
        return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: reading a temporary file there failed: %s", folder,
                    failures ? strerror(errno) : "it is too short");
}

qfz_status qfz_random_name(char number[QFZ_RANDOM_BYTES], qfz_error *err)
{
    unsigned long long bits;
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
        return qfz_fail(err, QFZ_EIO, "no random number for the name of a temporary file: %s",
                        strerror(errno));
    (void)snprintf(number, QFZ_RANDOM_BYTES, "%016llx", bits);
    return QFZ_OK;
}

int qfz_create_new(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}
