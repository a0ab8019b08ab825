/* SPDX-License-Identifier: MIT */
/* packer.h - bytes compressed by zlib and written as base64 text, which may stand in an HTML page.
 */
#ifndef PACKER_H
#define PACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct packer packer;

/* A packer that writes to out; NULL: out of memory.  packer_close() releases it. */
packer *packer_open(FILE *out);

/* Appends n bytes.  Failures of the stream are left for the caller to look at, by ferror(). */
void packer_add(packer *p, const void *bytes, size_t n);

/* Writes what remains, and releases the packer. */
void packer_close(packer *p);

#endif
