/* SPDX-License-Identifier: MIT */
/* pack.h - summaries and answers as flat bytes, for the store and whatever carries them. */
#ifndef QFZ_STITCH_PACK_H
#define QFZ_STITCH_PACK_H

#include "core/summary.h"

/* *data is new memory that the caller frees. */
qfz_status qfz_pack_summary(const qfz_summary *summary, const qfz_rule *rule, void **data,
                            int64_t *bytes, qfz_error *err);
qfz_status qfz_pack_exterior(const qfz_exterior *answer, const qfz_rule *rule, void **data,
                             int64_t *bytes, qfz_error *err);

/* The result's arrays lie in data, which is taken over as `packed`; on failure it stays the
 * caller's.  A summary may borrow data instead, take_data being NULL. */
qfz_status qfz_unpack_summary(qfz_summary *summary, const qfz_rule *rule, const void *data,
                              void *take_data, int64_t bytes, qfz_error *err);
qfz_status qfz_unpack_exterior(qfz_exterior *answer, const qfz_rule *rule, void *take_data,
                               int64_t bytes, qfz_error *err);

#endif
