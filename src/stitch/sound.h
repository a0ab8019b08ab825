/* SPDX-License-Identifier: MIT */
/* sound.h - the one place where results that come out of a store, a journal or another rank are
 * compared with what they will index, before they are used.
 *
 * A journal may be damaged or forged, with the right checksum; another rank may have read other
 * pixels; and the pixels of the source may have changed since the result was made.  QFZ_EIO: a
 * number is out of range, an array is missing or has another length.  The message names the rows
 * and columns of the tile or group. */
#ifndef QFZ_STITCH_SOUND_H
#define QFZ_STITCH_SOUND_H

#include "core/ring.h"
#include "core/summary.h"

/* The message: box is that of the tile or group, what is the result that does not fit. */
qfz_status qfz_unsound(qfz_box box, const char *what, qfz_error *err);

/* A summary of a tile or group with this ring. */
qfz_status qfz_sound_summary(const qfz_summary *summary, const qfz_rule *rule, qfz_kind kind,
                             const qfz_ring *ring, qfz_error *err);

/* The exterior of a tile or group with this ring; not of the whole raster. */
qfz_status qfz_sound_exterior(const qfz_exterior *exterior, const qfz_rule *rule, qfz_kind kind,
                              const qfz_ring *ring, qfz_error *err);

/* The map (solve.h) of a group of n_members, of so many bytes. */
qfz_status qfz_sound_map(const uint32_t *words, int64_t bytes, int n_members, qfz_box box,
                         qfz_error *err);

#endif
