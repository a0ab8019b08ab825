/* SPDX-License-Identifier: MIT */
/* tile_error.h - errors of one tile, named by the source and the rows and columns of the tile. */
#ifndef QFZ_TILE_ERROR_H
#define QFZ_TILE_ERROR_H

#include "core/status.h"
#include "core/tiling.h"

/* Writes the message, what behind the place, and returns st. */
qfz_status qfz_tile_fail(const char *src, qfz_box box, qfz_status st, const char *what,
                         qfz_error *err);

/* Returns the status of a function of the engine.  from: its error; an engine does not know where
 * its tile lies, so QFZ_EIO, an exterior that does not fit the pixels, gets the place. */
qfz_status qfz_tile_engine_status(const char *src, qfz_box box, qfz_status st,
                                  const qfz_error *from, qfz_error *err);

#endif
