/* SPDX-License-Identifier: MIT */
/* position.h - the position of an edge: its place in the order of edges of equal level.
 *
 * The order of edges by (level, position) is total, so it has one minimum spanning forest.  The
 * position mixes the place of the edge's first pixel in the whole raster, one to one, so that ties
 * do not follow the rows: in raster order, light components of a plateau would join one after the
 * other along a row.  The mix is the finaliser of splitmix64 (Steele, Lea, Flood, Fast splittable
 * pseudorandom number generators, OOPSLA 2014). */
#ifndef QFZ_POSITION_H
#define QFZ_POSITION_H

#include "core/host_device.h"
#include "core/level.h"

QFZ_HOST_AND_DEVICE uint64_t qfz_mix64_begin(uint64_t z)
{
    return z ^ z >> 30;
}
QFZ_HOST_AND_DEVICE uint64_t qfz_mix64_end(uint64_t z)
{
    z *= UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
QFZ_HOST_AND_DEVICE uint64_t qfz_mix64(uint64_t z)
{
    return qfz_mix64_end(qfz_mix64_begin(z));
}

/* In a position, directions are counted right, below left, below, below right. */
QFZ_HOST_AND_DEVICE uint32_t qfz_position_number(uint32_t dir)
{
    const uint32_t numbers = 0 << 2 * QFZ_RIGHT | 2 << 2 * QFZ_BELOW | 3 << 2 * QFZ_BELOW_RIGHT |
                             1 << 2 * QFZ_BELOW_LEFT;
    return numbers >> 2 * dir & 3;
}

/* What the positions of the edges that start from pixel (y, x) of the raster share.  Rasters have
 * at most 2^30 rows and 2^32 columns. */
QFZ_HOST_AND_DEVICE uint64_t qfz_position_of_px(int64_t y, int64_t x)
{
    return qfz_mix64_begin((uint64_t)y << 34 | (uint64_t)x << 2);
}

/* The position of the edge in direction dir (level.h). */
QFZ_HOST_AND_DEVICE uint64_t qfz_position_from(uint64_t of_px, int dir)
{
    return qfz_mix64_end(of_px ^ qfz_position_number((uint32_t)dir));
}

QFZ_HOST_AND_DEVICE uint64_t qfz_position(int64_t y, int64_t x, int dir)
{
    return qfz_position_from(qfz_position_of_px(y, x), dir);
}

/* The inverse of qfz_mix64(). */
QFZ_HOST_AND_DEVICE uint64_t qfz_unmix64(uint64_t z)
{
    z = (z ^ z >> 31 ^ z >> 62) * UINT64_C(0x319642b2d24d8ec3);
    z = (z ^ z >> 27 ^ z >> 54) * UINT64_C(0x96de1b173f119089);
    return z ^ z >> 30 ^ z >> 60;
}

/* The pixel and the direction of an edge of the given position. */
QFZ_HOST_AND_DEVICE void qfz_position_edge(uint64_t position, int64_t *y, int64_t *x, int *dir)
{
    const uint32_t dirs = QFZ_RIGHT << 2 * 0 | QFZ_BELOW_LEFT << 2 * 1 | QFZ_BELOW << 2 * 2 |
                          QFZ_BELOW_RIGHT << 2 * 3;
    const uint64_t z = qfz_unmix64(position);
    *y = (int64_t)(z >> 34);
    *x = (int64_t)(z >> 2 & UINT32_MAX);
    *dir = (int)(dirs >> 2 * (z & 3) & 3);
}

#endif
