/* SPDX-License-Identifier: MIT */
/* wide.h - 128-bit integers, for which ISO C has no name. */
#ifndef QFZ_WIDE_H
#define QFZ_WIDE_H

__extension__ typedef unsigned __int128 qfz_u128;
__extension__ typedef __int128 qfz_i128;

#endif
