/* SPDX-License-Identifier: MIT */
/* zlib.h - the one function of zlib that the library uses, in place of zlib, for a processor that
 * zlib is not installed for (tools/test-aarch64.sh). */
#ifndef QFZ_TESTS_ZLIB_H
#define QFZ_TESTS_ZLIB_H

#include <stddef.h>

static inline unsigned long crc32_z(unsigned long crc, const unsigned char *data, size_t bytes)
{
    crc = ~crc & 0xffffffff;
    for (size_t i = 0; i < bytes; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc & 0xffffffff;
}

#endif
