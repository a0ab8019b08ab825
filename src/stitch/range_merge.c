/* SPDX-License-Identifier: MIT */
#include "stitch/range_merge.h"

#include <stdlib.h>

#include "core/memory.h"

struct qfz_range_source {
    qfz_event_reader reader;
    uint32_t first; /* vertex */
    qfz_events window;
    int64_t at;     /* the next event, in the window */
    int64_t n_read; /* events, the window included */
};

static qfz_status open_all(qfz_range_merge *merge, const qfz_event_list *lists,
                           const uint32_t *first, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW_ZERO(&merge->sources, merge->n, err));
    for (int i = 0; i < merge->n; i++) {
        QFZ_TRY(qfz_event_reader_open(&merge->sources[i].reader, &lists[i], err));
        merge->sources[i].first = first ? first[i] : 0;
        if (lists[i].block > merge->block) merge->block = lists[i].block;
    }
    return qfz_ranges_reserve(&merge->out, merge->block, merge->rule, err);
}

qfz_status qfz_range_merge_open(qfz_range_merge *merge, const qfz_rule *rule,
                                const qfz_event_list *lists, const uint32_t *first, int n,
                                qfz_error *err)
{
    *merge = (qfz_range_merge){.rule = rule, .n = n};
    const qfz_status st = open_all(merge, lists, first, err);
    if (st != QFZ_OK) qfz_range_merge_close(merge);
    return st;
}

void qfz_range_merge_close(qfz_range_merge *merge)
{
    for (int i = 0; merge->sources && i < merge->n; i++)
        qfz_event_reader_close(&merge->sources[i].reader);
    free(merge->sources);
    qfz_ranges_fini(&merge->out);
    *merge = (qfz_range_merge){0};
}

void qfz_range_merge_restrict(qfz_range_merge *merge, const uint16_t *part_of, int part)
{
    merge->part_of = part_of;
    merge->part = part;
}

static bool is_wanted(const qfz_range_merge *merge, const qfz_range_source *s)
{
    return !merge->part_of || merge->part_of[s->first + s->window.at[s->at]] == merge->part;
}

/* Passes over events of other parts, and reads the next window where one has ended.  At the end of
 * the list the window is empty. */
static qfz_status settle(const qfz_range_merge *merge, qfz_range_source *s)
{
    for (;;) {
        while (s->at < s->window.n && !is_wanted(merge, s))
            s->at++;
        if (s->at < s->window.n) return QFZ_OK;
        s->at = s->window.n = 0;
        if (s->n_read == s->reader.list->n) return QFZ_OK;
        if (!qfz_event_read(&s->reader, s->n_read, &s->window)) return s->reader.st;
        s->n_read += s->window.n;
    }
}

/* The source of the next event; NULL: there is none. */
static qfz_status find_next(const qfz_range_merge *merge, qfz_range_source **next)
{
    *next = NULL;
    for (int i = 0; i < merge->n; i++) {
        qfz_range_source *const s = &merge->sources[i];
        QFZ_TRY(settle(merge, s));
        if (s->window.n == 0) continue;
        if (!*next || s->window.level[s->at] < (*next)->window.level[(*next)->at]) *next = s;
    }
    return QFZ_OK;
}

static void take(qfz_range_merge *merge, qfz_range_source *s)
{
    const size_t bytes = s->reader.list->value_bytes;
    qfz_ranges *const out = &merge->out;
    const size_t from = (size_t)s->at++ * bytes, to = (size_t)out->n * bytes;
    out->at[out->n] = s->first + s->window.at[s->at - 1];
    out->level[out->n] = s->window.level[s->at - 1];
    qfz_copy_span((char *)out->lo + to, (const char *)s->window.first + from, bytes);
    qfz_copy_span((char *)out->hi + to, (const char *)s->window.second + from, bytes);
    out->n++;
}

/* Failures are those of readers, which have the caller's error. */
qfz_status qfz_range_merge_more(void *arg, qfz_ranges *ranges, qfz_error *err)
{
    (void)err;
    qfz_range_merge *const merge = arg;
    merge->out.n = 0;
    while (merge->out.n < merge->block) {
        qfz_range_source *next;
        QFZ_TRY(find_next(merge, &next));
        if (!next) break;
        take(merge, next);
    }
    *ranges = merge->out;
    return QFZ_OK;
}
