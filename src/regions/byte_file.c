/* SPDX-License-Identifier: MIT */
#include "regions/byte_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/temp_file.h"

enum { PAGE_BITS = 14, PAGE = 1 << PAGE_BITS };

static int64_t n_pages_of(int64_t n)
{
    return n / PAGE + 1;
}

qfz_status qfz_byte_file_open(int *file, int64_t n, const char *folder, qfz_error *err)
{
    int made;
    QFZ_TRY(qfz_temp_open(folder, &made, err));
    if (ftruncate(made, (off_t)(n_pages_of(n) * PAGE)) == 0) {
        *file = made;
        return QFZ_OK;
    }
    (void)qfz_fail(err, QFZ_EIO, "%s: no temporary file of %lld bytes can be made there: %s",
                   folder, (long long)n, strerror(errno));
    (void)close(made);
    return QFZ_EIO;
}

qfz_status qfz_byte_view_init(qfz_byte_view *view, int file, int64_t n, const char *folder,
                              int64_t bytes, qfz_error *err)
{
    const int64_t fit = bytes / PAGE < 1 ? 1 : bytes / PAGE, all = n_pages_of(n);
    *view = (qfz_byte_view){.file = file, .folder = folder, .n_slots = fit < all ? fit : all};
    qfz_status st = QFZ_NEW(&view->pages, view->n_slots, err);
    if (st == QFZ_OK) st = QFZ_NEW_ZERO(&view->changed, view->n_slots, err);
    if (st == QFZ_OK) st = qfz_alloc((void **)&view->data, view->n_slots, PAGE, err);
    if (st != QFZ_OK) {
        qfz_byte_view_fini(view);
        return st;
    }
    for (int64_t i = 0; i < view->n_slots; i++)
        view->pages[i] = -1;
    return QFZ_OK;
}

void qfz_byte_view_fini(qfz_byte_view *view)
{
    free(view->pages);
    free(view->changed);
    free(view->data);
    *view = (qfz_byte_view){0};
}

static qfz_status write_slot(qfz_byte_view *view, int64_t slot, qfz_error *err)
{
    if (!view->changed[slot]) return QFZ_OK;
    view->changed[slot] = false;
    return qfz_temp_write(view->file, view->folder, view->data + slot * PAGE, PAGE,
                          view->pages[slot] * PAGE, err);
}

/* *slot = the slot that has the page of byte i. */
static qfz_status find(qfz_byte_view *view, int64_t i, int64_t *slot, qfz_error *err)
{
    const int64_t page = i >> PAGE_BITS;
    *slot = page % view->n_slots;
    if (view->pages[*slot] == page) return QFZ_OK;
    QFZ_TRY(write_slot(view, *slot, err));
    view->pages[*slot] = -1;
    QFZ_TRY(
        qfz_temp_read(view->file, view->folder, view->data + *slot * PAGE, PAGE, page * PAGE, err));
    view->pages[*slot] = page;
    return QFZ_OK;
}

qfz_status qfz_byte_view_get(qfz_byte_view *view, int64_t i, uint8_t *byte, qfz_error *err)
{
    int64_t slot;
    QFZ_TRY(find(view, i, &slot, err));
    *byte = view->data[slot * PAGE + (i & (PAGE - 1))];
    return QFZ_OK;
}

qfz_status qfz_byte_view_set(qfz_byte_view *view, int64_t i, uint8_t byte, qfz_error *err)
{
    int64_t slot;
    QFZ_TRY(find(view, i, &slot, err));
    view->data[slot * PAGE + (i & (PAGE - 1))] = byte;
    view->changed[slot] = true;
    return QFZ_OK;
}

qfz_status qfz_byte_view_flush(qfz_byte_view *view, qfz_error *err)
{
    for (int64_t slot = 0; slot < view->n_slots; slot++)
        QFZ_TRY(write_slot(view, slot, err));
    return QFZ_OK;
}
