/* SPDX-License-Identifier: MIT */
/* out_file.h - a file that a command writes itself: it appears under its name when it is complete.
 */
#ifndef OUT_FILE_H
#define OUT_FILE_H

#include <stdio.h>

#include "command.h"

/* False, with a line on stderr, if the file exists and overwrite is false, or if it is a folder or
 * a device.  NULL is free. */
bool out_file_is_free(const command *c, const char *path, bool overwrite);

/* False, with a line on stderr, if the file's folder takes no new file.  NULL passes. */
bool out_file_can_be_made(const command *c, const char *path);

/* True if both paths lead to one file, also where there is none yet.  NULL leads nowhere. */
bool out_file_is_same(const char *a, const char *b);

/* Writes the contents; returns whether they could be made.  A failure of the stream itself need not
 * be looked at. */
typedef bool (*out_file_writer)(FILE *out, const void *arg);

/* Writes the file beside its name, then renames it.  Returns the exit status; after a failure there
 * is a line on stderr and no file. */
int out_file_write(const command *c, const char *path, out_file_writer write, const void *arg);

#endif
