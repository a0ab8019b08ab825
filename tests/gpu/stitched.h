/* SPDX-License-Identifier: MIT */
/* stitched.h - an image in tiles: summaries of tiles, stitching, and exteriors, for tests in CUDA
 * C++, which cannot include stitch/stitch.h. */
#ifndef QFZ_TEST_STITCHED_H
#define QFZ_TEST_STITCHED_H

#include "core/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stitched stitched;

/* Borrows image and rule.  A failure ends the program. */
stitched *stitched_open(const qfz_image *image, const qfz_rule *rule, qfz_kind kind, int64_t tile_h,
                        int64_t tile_w);
void stitched_close(stitched *s);

int64_t stitched_tiles(const stitched *s);
qfz_box stitched_box(const stitched *s, int64_t tile);

/* A copy of the tile's part of the image; valid until the next call. */
const qfz_image *stitched_tile(stitched *s, int64_t tile);

void stitched_put(stitched *s, int64_t tile, const qfz_summary *summary);
void stitched_solve(stitched *s);

/* Before the stitching: makes this worker solve all groups that fit its memory.  Borrowed. */
void stitched_use(stitched *s, const qfz_engine *engine, qfz_worker *worker);
void stitched_exterior(stitched *s, int64_t tile, qfz_exterior *exterior);

#ifdef __cplusplus
}
#endif

#endif
