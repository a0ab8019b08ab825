/* SPDX-License-Identifier: MIT */
#include "job/counted_rows.h"

qfz_status qfz_counted_rows_set(qfz_gather *gather, qfz_table_spec *spec, qfz_error *err)
{
    bool wants = false;
    QFZ_TRY(qfz_table_wants_rows(spec->path, &wants, err));
    if (!wants) return QFZ_OK;
    QFZ_TRY(qfz_gather_count(gather, &spec->n_rows, err));
    return qfz_table_check_rows(spec, err);
}
