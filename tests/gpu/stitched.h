/* SPDX-License-Identifier: MIT */
/* stitched.h - an image in tiles that are summarised, stitched and answered, for tests in CUDA's
 * language, which cannot read stitch.h. */
#ifndef QFZ_TEST_STITCHED_H
#define QFZ_TEST_STITCHED_H

#include "core/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stitched stitched;

/* Borrows image and rule.  What fails ends the program. */
stitched *stitched_open(const qfz_image *image, const qfz_rule *rule, qfz_kind kind, int64_t tile_h,
                        int64_t tile_w);
void stitched_close(stitched *s);

int64_t stitched_tiles(const stitched *s);
qfz_box stitched_box(const stitched *s, int64_t tile);

/* Cut out of the image; valid until the next one. */
const qfz_image *stitched_tile(stitched *s, int64_t tile);

void stitched_put(stitched *s, int64_t tile, const qfz_summary *summary);
void stitched_solve(stitched *s);

/* Before: all groups that fit are solved by this worker.  Borrowed. */
void stitched_use(stitched *s, const qfz_engine *engine, qfz_worker *worker);
void stitched_exterior(stitched *s, int64_t tile, qfz_exterior *answer);

#ifdef __cplusplus
}
#endif

#endif
