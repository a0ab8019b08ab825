/* SPDX-License-Identifier: MIT */
/* check.h - proofs that labels and saliency are right, in one sweep over the rows of a raster: the
 * header of this room for other rooms.
 *
 * No code here is shared with the engines, which compute by tiles. */
#ifndef QFZ_CHECK_CHECK_H
#define QFZ_CHECK_CHECK_H

#include "check/faults.h"
#include "check/hierarchy.h"
#include "check/outline.h"
#include "check/pieces.h"
#include "check/row.h"

#endif
