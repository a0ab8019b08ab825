/* SPDX-License-Identifier: MIT */
#include "packer.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

enum { LEVEL = 6, BUFFER_BYTES = 3 << 14 }; /* a multiple of 3: only the end is padded */

struct packer {
    FILE *out;
    z_stream zlib;
    unsigned char buffer[BUFFER_BYTES]; /* compressed bytes */
};

packer *packer_open(FILE *out)
{
    packer *const p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->out = out;
    p->zlib.next_out = p->buffer;
    p->zlib.avail_out = BUFFER_BYTES;
    if (deflateInit(&p->zlib, LEVEL) == Z_OK) return p;
    free(p);
    return NULL;
}

static void write_base64(FILE *out, const unsigned char *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const size_t there = n - i < 3 ? n - i : 3;
        uint32_t word = (uint32_t)bytes[i] << 16;
        if (there > 1) word |= (uint32_t)bytes[i + 1] << 8;
        if (there > 2) word |= bytes[i + 2];
        char text[4];
        for (size_t d = 0; d < 4; d++)
            text[d] = d <= there ? digits[word >> (18 - 6 * d) & 63] : '=';
        (void)fwrite(text, 1, sizeof text, out);
    }
}

static void empty_buffer(packer *p)
{
    write_base64(p->out, p->buffer, BUFFER_BYTES - p->zlib.avail_out);
    p->zlib.next_out = p->buffer;
    p->zlib.avail_out = BUFFER_BYTES;
}

void packer_add(packer *p, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    while (n > 0) {
        const size_t part = n < BUFFER_BYTES ? n : BUFFER_BYTES;
        p->zlib.next_in = (unsigned char *)(uintptr_t)at;
        p->zlib.avail_in = (uInt)part;
        while (p->zlib.avail_in > 0) {
            (void)deflate(&p->zlib, Z_NO_FLUSH);
            if (p->zlib.avail_out == 0) empty_buffer(p);
        }
        at += part;
        n -= part;
    }
}

void packer_close(packer *p)
{
    while (deflate(&p->zlib, Z_FINISH) == Z_OK)
        empty_buffer(p);
    empty_buffer(p);
    (void)deflateEnd(&p->zlib);
    free(p);
}
