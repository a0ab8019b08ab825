/* SPDX-License-Identifier: MIT */
/* pack.c - one list of members serves counting, writing and reading: a walk visits every array
 * with its length and counts, writes or reads it, by its mode.  Every array begins at a multiple of
 * 8 bytes, so that arrays can be used in place. */
#include "stitch/pack.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

typedef enum mode { MEASURE, WRITE, READ } mode;

typedef struct walk {
    mode mode;
    char *data;
    int64_t at, bytes;
    qfz_status st;
    qfz_error *err;
} walk;

static int64_t padded(int64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* Returns the next bytes of data; NULL in a walk that only counts, or that has failed. */
static char *advance(walk *w, int64_t bytes)
{
    char *const here = w->data ? w->data + w->at : NULL;
    if (w->st != QFZ_OK) return NULL;
    if (w->mode != MEASURE && (bytes < 0 || padded(bytes) > w->bytes - w->at)) {
        w->st = qfz_fail(w->err, QFZ_EIO, "a stored summary is damaged: %lld of %lld bytes",
                         (long long)w->bytes, (long long)w->at + bytes);
        return NULL;
    }
    w->at += padded(bytes);
    if (w->mode == WRITE) memset(here + bytes, 0, (size_t)(padded(bytes) - bytes));
    return here;
}

static void visit_bytes(walk *w, void *member, int64_t bytes)
{
    char *const here = advance(w, bytes);
    if (!here) return;
    if (w->mode == WRITE) memcpy(here, member, (size_t)bytes);
    if (w->mode == READ) memcpy(member, here, (size_t)bytes);
}

/* A number of items, of which each takes a byte or more. */
static void visit_count(walk *w, int64_t *n)
{
    visit_bytes(w, n, sizeof *n);
    if (w->mode != READ || w->st != QFZ_OK || (*n >= 0 && *n <= w->bytes)) return;
    w->st = qfz_fail(w->err, QFZ_EIO, "a stored summary is damaged: %lld items in %lld bytes",
                     (long long)*n, (long long)w->bytes);
    *n = 0;
}

/* An array of n items; a word before it says whether the array is present. */
static void visit_array(walk *w, void **array, int64_t n, size_t item_bytes)
{
    uint8_t there = *array != NULL;
    int64_t bytes = 0;
    visit_bytes(w, &there, 1);
    if (!there || w->st != QFZ_OK) return;
    if (__builtin_mul_overflow(n, (int64_t)item_bytes, &bytes)) bytes = -1;
    char *const here = advance(w, bytes);
    if (!here) return;
    if (w->mode == WRITE) memcpy(here, *array, (size_t)bytes);
    if (w->mode == READ) *array = here;
}

static void visit_words(walk *w, uint32_t **array, int64_t n)
{
    visit_array(w, (void **)array, n, sizeof **array);
}

static void visit_links(walk *w, qfz_links *links)
{
    visit_count(w, &links->n);
    visit_words(w, &links->u, links->n);
    visit_words(w, &links->v, links->n);
    visit_words(w, &links->level, links->n);
    visit_array(w, (void **)&links->position, links->n, sizeof *links->position);
}

static void visit_masses(walk *w, qfz_masses *masses)
{
    visit_count(w, &masses->n);
    visit_words(w, &masses->at, masses->n);
    visit_words(w, &masses->level, masses->n);
    visit_array(w, (void **)&masses->position, masses->n, sizeof *masses->position);
    visit_array(w, (void **)&masses->mass, masses->n, sizeof *masses->mass);
}

static void visit_summary(walk *w, qfz_summary *s, const qfz_rule *rule)
{
    const size_t bytes = qfz_type_bytes(rule->type);
    const size_t span_bytes = bytes * (size_t)rule->n_bands;
    visit_bytes(w, &s->box, sizeof s->box);
    visit_bytes(w, &s->sides, sizeof s->sides);
    visit_count(w, &s->n_ring);
    visit_array(w, &s->values, s->n_ring * rule->n_bands, bytes);
    visit_array(w, (void **)&s->valid, s->n_ring, 1);
    visit_array(w, (void **)&s->zeroed, s->n_ring, 1);
    visit_words(w, &s->edges, s->n_ring * qfz_n_dirs(rule));
    visit_bytes(w, &s->n_border_regions, sizeof s->n_border_regions);
    visit_words(w, &s->border_region, s->n_ring);
    visit_links(w, &s->links);
    visit_bytes(w, &s->level_bytes, sizeof s->level_bytes);
    qfz_ranges *const a = &s->ranges;
    visit_count(w, &a->n);
    visit_words(w, &a->at, a->n);
    visit_words(w, &a->level, a->n);
    visit_array(w, &a->lo, a->n, span_bytes);
    visit_array(w, &a->hi, a->n, span_bytes);
    visit_masses(w, &s->masses);
    visit_array(w, (void **)&s->weight, s->n_ring, sizeof *s->weight);
}

static void visit_exterior(walk *w, qfz_exterior *a, const qfz_rule *rule)
{
    visit_count(w, &a->n_ring);
    visit_links(w, &a->external);
    visit_words(w, &a->cross, a->n_ring * qfz_n_dirs(rule));
    visit_array(w, (void **)&a->cross_has, a->n_ring, 1);
    visit_bytes(w, &a->level_bytes, sizeof a->level_bytes);
    visit_bytes(w, &a->n_border_regions, sizeof a->n_border_regions);
    visit_words(w, &a->border_region, a->n_ring);
    visit_words(w, &a->omega_level, a->n_ring);
    visit_masses(w, &a->masses);
    visit_array(w, (void **)&a->zeroed, a->n_ring, 1);
}

typedef void (*visit_fn)(walk *w, void *item, const qfz_rule *rule);

static void visit_as_summary(walk *w, void *item, const qfz_rule *rule)
{
    visit_summary(w, item, rule);
}

static void visit_as_answer(walk *w, void *item, const qfz_rule *rule)
{
    visit_exterior(w, item, rule);
}

/* item is a copy of the struct; its arrays are only read. */
static qfz_status pack(visit_fn visit, void *item, const qfz_rule *rule, void **data,
                       int64_t *bytes, qfz_error *err)
{
    walk w = {.mode = MEASURE, .err = err};
    visit(&w, item, rule);
    void *room = NULL;
    QFZ_TRY(qfz_alloc_large(&room, w.at, 1, err));
    w = (walk){.mode = WRITE, .data = room, .bytes = w.at, .err = err};
    visit(&w, item, rule);
    *data = room;
    *bytes = w.at;
    return w.st;
}

qfz_status qfz_pack_summary(const qfz_summary *summary, const qfz_rule *rule, void **data,
                            int64_t *bytes, qfz_error *err)
{
    qfz_summary copy = *summary;
    return pack(visit_as_summary, &copy, rule, data, bytes, err);
}

qfz_status qfz_pack_exterior(const qfz_exterior *exterior, const qfz_rule *rule, void **data,
                             int64_t *bytes, qfz_error *err)
{
    qfz_exterior copy = *exterior;
    return pack(visit_as_answer, &copy, rule, data, bytes, err);
}

static walk reading(const void *data, int64_t bytes, qfz_error *err)
{
    /* the walk writes to data in mode WRITE only */
    return (walk){.mode = READ, .data = (char *)(uintptr_t)data, .bytes = bytes, .err = err};
}

qfz_status qfz_unpack_summary(qfz_summary *summary, const qfz_rule *rule, const void *data,
                              void *take_data, int64_t bytes, qfz_error *err)
{
    walk w = reading(data, bytes, err);
    qfz_summary got = {.is_view = true, .packed = take_data};
    visit_summary(&w, &got, rule);
    if (w.st == QFZ_OK) *summary = got;
    return w.st;
}

qfz_status qfz_unpack_exterior(qfz_exterior *exterior, const qfz_rule *rule, void *take_data,
                               int64_t bytes, qfz_error *err)
{
    walk w = reading(take_data, bytes, err);
    qfz_exterior got = {.is_view = true, .packed = take_data};
    visit_exterior(&w, &got, rule);
    if (w.st == QFZ_OK) *exterior = got;
    return w.st;
}
