/* SPDX-License-Identifier: MIT */
/* pack.h - boundary summaries and exteriors as flat bytes, for the store, journals and messages. */
#ifndef QFZ_STITCH_PACK_H
#define QFZ_STITCH_PACK_H

#include "core/summary.h"

/* *data is new memory that the caller frees. */
qfz_status qfz_pack_summary(const qfz_summary *summary, const qfz_rule *rule, void **data,
                            int64_t *bytes, qfz_error *err);
qfz_status qfz_pack_exterior(const qfz_exterior *exterior, const qfz_rule *rule, void **data,
                             int64_t *bytes, qfz_error *err);

/* The arrays of the result point into data, which the result owns as `packed`; on failure it stays
 * the caller's.  With take_data NULL a summary borrows data instead. */
qfz_status qfz_unpack_summary(qfz_summary *summary, const qfz_rule *rule, const void *data,
                              void *take_data, int64_t bytes, qfz_error *err);
qfz_status qfz_unpack_exterior(qfz_exterior *exterior, const qfz_rule *rule, void *take_data,
                               int64_t bytes, qfz_error *err);

#endif
