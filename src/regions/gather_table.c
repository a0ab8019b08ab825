/* SPDX-License-Identifier: MIT */
#include "regions/gather_table.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum { SLOTS_FIRST = 1 << 10, DIGITS = 1 << 8, ROOM_MAX = 1 << 30 };

/* Bytes of a record beside its words: slots, and two places while the table is sorted. */
static int64_t places_bytes(const qfz_gather_format *format)
{
    const int64_t slots = 4 * sizeof(uint32_t), places = 2 * sizeof(qfz_gather_place);
    return format->add ? slots + places : places;
}

qfz_status qfz_gather_table_init(qfz_gather_table *table, const qfz_gather_format *format,
                                 int64_t bytes, qfz_error *err)
{
    const int64_t each = format->words * (int64_t)sizeof(uint64_t) + places_bytes(format);
    const int64_t room = bytes / each < 16 ? 16 : bytes / each;
    *table = (qfz_gather_table){.format = format, .n_slots = format->add ? SLOTS_FIRST : 0};
    table->room = room < ROOM_MAX ? room : ROOM_MAX;
    if (format->add) QFZ_TRY(QFZ_NEW_ZERO(&table->slots, table->n_slots, err));
    /* The system gives pages of it as they are used. */
    return QFZ_NEW(&table->records, table->room * format->words, err);
}

void qfz_gather_table_fini(qfz_gather_table *table)
{
    free(table->records);
    free(table->slots);
    free(table->order);
    free(table->spare);
    *table = (qfz_gather_table){0};
}

/* --------------------------------------------------------------------------------------- hashing
 */
static uint64_t hash_of(const uint64_t *key, int words)
{
    uint64_t hash = 0;
    for (int i = 0; i < words; i++) {
        hash = (hash ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static uint64_t *record_at(const qfz_gather_table *table, int64_t i)
{
    return table->records + i * table->format->words;
}

static bool same_key(const uint64_t *a, const uint64_t *b, int words)
{
    for (int i = 0; i < words; i++)
        if (a[i] != b[i]) return false;
    return true;
}

/* The slot that has the key, or the free slot where the key belongs. */
static uint32_t *slot_of(const qfz_gather_table *table, const uint64_t *key)
{
    const int words = table->format->key_words;
    const uint64_t mask = (uint64_t)table->n_slots - 1;
    uint64_t at = hash_of(key, words) & mask;
    while (table->slots[at] && !same_key(record_at(table, table->slots[at] - 1), key, words))
        at = (at + 1) & mask;
    return &table->slots[at];
}

static qfz_status grow(qfz_gather_table *table, qfz_error *err)
{
    uint32_t *slots = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&slots, 2 * table->n_slots, err));
    free(table->slots);
    table->slots = slots;
    table->n_slots *= 2;
    for (int64_t i = 0; i < table->n; i++)
        *slot_of(table, record_at(table, i)) = (uint32_t)i + 1;
    return QFZ_OK;
}

qfz_status qfz_gather_table_find(qfz_gather_table *table, const uint64_t *key, uint64_t **record,
                                 bool *is_new, qfz_error *err)
{
    const qfz_gather_format *const format = table->format;
    uint32_t *slot = slot_of(table, key);
    *is_new = *slot == 0;
    *record = NULL;
    if (!*is_new) {
        *record = record_at(table, *slot - 1);
        return QFZ_OK;
    }
    if (table->n == table->room) return QFZ_OK;
    if (2 * (table->n + 1) > table->n_slots) {
        QFZ_TRY(grow(table, err));
        slot = slot_of(table, key);
    }
    *slot = (uint32_t)++table->n;
    *record = record_at(table, table->n - 1);
    memset(*record, 0, (size_t)format->words * sizeof **record);
    memcpy(*record, key, (size_t)format->key_words * sizeof *key);
    return QFZ_OK;
}

void qfz_gather_table_append(qfz_gather_table *table, const uint64_t *record)
{
    memcpy(record_at(table, table->n++), record, (size_t)table->format->words * sizeof *record);
}

void qfz_gather_table_clear(qfz_gather_table *table)
{
    if (table->slots) memset(table->slots, 0, (size_t)table->n_slots * sizeof *table->slots);
    table->n = 0;
}

/* --------------------------------------------------------------------------------------- sorting
 */
/* Sorts the order by one byte of the keys, keeping the order of equal ones.  False, without doing
 * anything, if all bytes are equal. */
static bool sort_by_byte(qfz_gather_table *table, int shift)
{
    int64_t begin[DIGITS] = {0}, sum = 0;
    for (int64_t i = 0; i < table->n; i++)
        begin[table->order[i].key >> shift & (DIGITS - 1)]++;
    if (begin[table->order[0].key >> shift & (DIGITS - 1)] == table->n) return false;
    for (int digit = 0; digit < DIGITS; digit++) {
        const int64_t n = begin[digit];
        begin[digit] = sum;
        sum += n;
    }
    for (int64_t i = 0; i < table->n; i++) {
        const qfz_gather_place place = table->order[i];
        table->spare[begin[place.key >> shift & (DIGITS - 1)]++] = place;
    }
    return true;
}

qfz_status qfz_gather_table_sort(qfz_gather_table *table, qfz_error *err)
{
    if (!table->order) QFZ_TRY(QFZ_NEW_LARGE(&table->order, table->room, err));
    if (!table->spare) QFZ_TRY(QFZ_NEW_LARGE(&table->spare, table->room, err));
    for (int64_t i = 0; i < table->n; i++)
        table->order[i].at = i;
    if (table->n == 0) return QFZ_OK;
    for (int word = table->format->key_words - 1; word >= 0; word--) {
        for (int64_t i = 0; i < table->n; i++)
            table->order[i].key = record_at(table, table->order[i].at)[word];
        for (int shift = 0; shift < 64; shift += 8) {
            if (!sort_by_byte(table, shift)) continue;
            qfz_gather_place *const sorted = table->spare;
            table->spare = table->order;
            table->order = sorted;
        }
    }
    return QFZ_OK;
}
