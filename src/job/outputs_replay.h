/* SPDX-License-Identifier: MIT */
/* outputs_replay.h - writes what the journal of outputs holds into the output files. */
#ifndef QFZ_OUTPUTS_REPLAY_H
#define QFZ_OUTPUTS_REPLAY_H

#include "job/outputs.h"

/* After the last tile of this process: creates the output files, and writes all its tiles and
 * region records from the journal into them.  Deletes temporary files of killed runs first. */
qfz_status qfz_outputs_replay(qfz_outputs *outputs, qfz_error *err);

#endif
