/* SPDX-License-Identifier: MIT */
#include "regions/coloring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "regions/byte_file.h"

/* A colour less one is byte `label` of a file, if no label is larger than this many times the
 * number of pixels; else byte `rank of the label`. */
enum { SPREAD = 8 };

/* Contacts are records (higher label, lower label).  The largest label is a single record, key 0.
 */
enum { HIGH = 0, LOW, CONTACT_WORDS };
enum { LARGEST = 1, LARGEST_WORDS, LARGEST_BYTES = 1 << 12 };

struct qfz_coloring {
    const char *folder, *name;
    int64_t n_px, bytes;
    int n_threads;
    qfz_gather *contacts, *labels, *largest;
    uint64_t *ranks; /* labels in ascending order; NULL: a label is its own rank */
    int64_t n_ranks;
    int file;
    qfz_byte_view *views; /* for each thread */
    int n_colors;
};

static void add_nothing(void *arg, uint64_t *into, const uint64_t *more)
{
    (void)arg;
    (void)into;
    (void)more;
}

static void add_largest(void *arg, uint64_t *into, const uint64_t *more)
{
    (void)arg;
    if (more[LARGEST] > into[LARGEST]) into[LARGEST] = more[LARGEST];
}

static qfz_status open_gathers(qfz_coloring *c, qfz_error *err)
{
    const qfz_gather_format contacts = {
        .words = CONTACT_WORDS, .key_words = CONTACT_WORDS, .add = add_nothing};
    const qfz_gather_format labels = {.words = 1, .key_words = 1, .add = add_nothing};
    const qfz_gather_format largest = {.words = LARGEST_WORDS, .key_words = 1, .add = add_largest};
    const int64_t half = c->bytes / 2;
    QFZ_TRY(qfz_gather_open(&c->contacts, &contacts, c->n_threads, half, c->folder, err));
    QFZ_TRY(qfz_gather_open(&c->labels, &labels, c->n_threads, half, c->folder, err));
    QFZ_TRY(qfz_gather_open(&c->largest, &largest, c->n_threads, LARGEST_BYTES, c->folder, err));
    return QFZ_NEW_ZERO(&c->views, c->n_threads, err);
}

qfz_status qfz_coloring_open(qfz_coloring **coloring, int64_t n_px, int n_threads, int64_t bytes,
                             const char *folder, const char *name, qfz_error *err)
{
    qfz_coloring *c = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&c, 1, err));
    c->folder = folder;
    c->name = name;
    c->n_px = n_px;
    c->bytes = bytes;
    c->n_threads = n_threads;
    c->file = -1;
    const qfz_status st = open_gathers(c, err);
    if (st != QFZ_OK) {
        qfz_coloring_close(c);
        return st;
    }
    *coloring = c;
    return QFZ_OK;
}

void qfz_coloring_close(qfz_coloring *c)
{
    if (!c) return;
    for (int i = 0; c->views && i < c->n_threads; i++)
        qfz_byte_view_fini(&c->views[i]);
    if (c->file >= 0) (void)close(c->file);
    qfz_gather_close(c->contacts);
    qfz_gather_close(c->labels);
    qfz_gather_close(c->largest);
    free(c->views);
    free(c->ranks);
    free(c);
}

/* --------------------------------------------------------------------------------------- a tile */
typedef struct walk {
    qfz_coloring *coloring;
    int thread;
    uint64_t label, largest;      /* the last one, and the largest so far */
    uint64_t last[CONTACT_WORDS]; /* the last contact */
} walk;

static qfz_status add_label(walk *k, uint64_t label, qfz_error *err)
{
    uint64_t *record;
    bool is_new;
    if (label == 0 || label == k->label) return QFZ_OK;
    k->label = label;
    if (label > k->largest) k->largest = label;
    return qfz_gather_find(k->coloring->labels, k->thread, &label, &record, &is_new, err);
}

static qfz_status add_contact(walk *k, uint64_t p, uint64_t q, qfz_error *err)
{
    const uint64_t key[CONTACT_WORDS] = {[HIGH] = p > q ? p : q, [LOW] = p > q ? q : p};
    uint64_t *record;
    bool is_new;
    if (p == q || key[LOW] == 0) return QFZ_OK;
    if (key[HIGH] == k->last[HIGH] && key[LOW] == k->last[LOW]) return QFZ_OK;
    memcpy(k->last, key, sizeof key);
    return qfz_gather_find(k->coloring->contacts, k->thread, key, &record, &is_new, err);
}

/* The contacts of the pixel at p, and between its right and its lower neighbour. */
static qfz_status add_quad(walk *k, const uint64_t *p, bool has_right, const uint64_t *below,
                           qfz_error *err)
{
    if (has_right) QFZ_TRY(add_contact(k, p[0], p[1], err));
    if (!below) return QFZ_OK;
    QFZ_TRY(add_contact(k, p[0], below[0], err));
    if (!has_right) return QFZ_OK;
    QFZ_TRY(add_contact(k, p[0], below[1], err));
    return add_contact(k, p[1], below[0], err);
}

qfz_status qfz_coloring_add(qfz_coloring *c, int thread, const qfz_label_tile *tile, qfz_error *err)
{
    const int64_t w = qfz_box_w(tile->box), h = qfz_box_h(tile->box);
    walk k = {.coloring = c, .thread = thread};
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            const uint64_t *const p = tile->labels + y * tile->w + x;
            const uint64_t *const below = y + 1 < tile->h ? p + tile->w : NULL;
            const bool has_right = x + 1 < tile->w;
            QFZ_TRY(add_label(&k, p[0], err));
            if (has_right && below && p[0] == p[1] && p[0] == below[0] && p[0] == below[1])
                continue;
            QFZ_TRY(add_quad(&k, p, has_right, below, err));
        }
    const uint64_t record[LARGEST_WORDS] = {[LARGEST] = k.largest};
    return qfz_gather_put(c->largest, thread, record, err);
}

void qfz_coloring_gathers(const qfz_coloring *c, qfz_gather *gathers[QFZ_COLORING_GATHERS])
{
    gathers[0] = c->contacts;
    gathers[1] = c->labels;
    gathers[2] = c->largest;
}

/* ---------------------------------------------------------------------------------------- ranks */
static int64_t rank_of(const qfz_coloring *c, uint64_t label)
{
    if (!c->ranks) return (int64_t)label;
    int64_t lo = 0, hi = c->n_ranks - 1;
    while (lo < hi) {
        const int64_t middle = lo + (hi - lo) / 2;
        if (c->ranks[middle] < label)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static qfz_status list_labels(qfz_coloring *c, qfz_error *err)
{
    const int64_t most = c->bytes / 2 / (int64_t)sizeof *c->ranks;
    const uint64_t *label;
    int64_t room = 0;
    QFZ_TRY(qfz_gather_begin_reading(c->labels, err));
    for (;;) {
        QFZ_TRY(qfz_gather_next(c->labels, &label, err));
        if (!label) return QFZ_OK;
        if (c->n_ranks == most)
            return qfz_fail(err, QFZ_ENOMEM,
                            "%s: labels have such gaps that colours need a list of them, and more "
                            "than %lld do not fit; raise --memory, or number the regions from 1",
                            c->name, (long long)most);
        if (c->n_ranks == room) {
            room = room > most / 2 ? most : 2 * room + 1024;
            QFZ_TRY(qfz_realloc((void **)&c->ranks, room, sizeof *c->ranks, err));
        }
        c->ranks[c->n_ranks++] = *label;
    }
}

/* *n = the number of bytes of the file. */
static qfz_status choose_ranks(qfz_coloring *c, int64_t *n, qfz_error *err)
{
    const uint64_t *record;
    QFZ_TRY(qfz_gather_begin_reading(c->largest, err));
    QFZ_TRY(qfz_gather_next(c->largest, &record, err));
    const uint64_t largest = record ? record[LARGEST] : 0;
    if (largest / SPREAD > (uint64_t)c->n_px) QFZ_TRY(list_labels(c, err));
    *n = c->ranks ? c->n_ranks : (int64_t)largest + 1;
    return QFZ_OK;
}

/* -------------------------------------------------------------------------------------- colours */
/* A region, and the colours that its neighbours of lower labels have. */
typedef struct region {
    uint64_t label; /* 0: none yet */
    bool taken[QFZ_COLORS];
} region;

static qfz_status settle(qfz_coloring *c, region *r, qfz_byte_view *view, qfz_error *err)
{
    int color = 0;
    if (r->label == 0) return QFZ_OK;
    while (color < QFZ_COLORS && r->taken[color])
        color++;
    if (color == QFZ_COLORS)
        return qfz_fail(err, QFZ_EARG,
                        "%s: region %llu touches regions of all %d colours; such labels cannot be "
                        "coloured in 8 bits",
                        c->name, (unsigned long long)r->label, (int)QFZ_COLORS);
    if (color >= c->n_colors) c->n_colors = color + 1;
    return color > 0 ? qfz_byte_view_set(view, rank_of(c, r->label), (uint8_t)color, err) : QFZ_OK;
}

/* The first region has colour 1, as regions without neighbours of lower labels have. */
static qfz_status color_all(qfz_coloring *c, qfz_byte_view *view, qfz_error *err)
{
    region r = {0};
    const uint64_t *contact;
    c->n_colors = 1;
    for (;;) {
        uint8_t color;
        QFZ_TRY(qfz_gather_next(c->contacts, &contact, err));
        if (!contact || contact[HIGH] != r.label) {
            QFZ_TRY(settle(c, &r, view, err));
            r = (region){.label = contact ? contact[HIGH] : 0};
        }
        if (!contact) return qfz_byte_view_flush(view, err);
        QFZ_TRY(qfz_byte_view_get(view, rank_of(c, contact[LOW]), &color, err));
        r.taken[color] = true;
    }
}

qfz_status qfz_coloring_solve(qfz_coloring *c, qfz_error *err)
{
    qfz_byte_view view = {0};
    int64_t n;
    QFZ_TRY(choose_ranks(c, &n, err));
    qfz_gather_close(c->labels);
    c->labels = NULL;
    QFZ_TRY(qfz_byte_file_open(&c->file, n, c->folder, err));
    QFZ_TRY(qfz_gather_begin_reading(c->contacts, err));
    QFZ_TRY(qfz_byte_view_init(&view, c->file, n, c->folder, c->bytes / 4, err));
    qfz_status st = color_all(c, &view, err);
    qfz_byte_view_fini(&view);
    qfz_gather_close(c->contacts);
    c->contacts = NULL;
    for (int i = 0; i < c->n_threads && st == QFZ_OK; i++)
        st = qfz_byte_view_init(&c->views[i], c->file, n, c->folder, c->bytes / 2 / c->n_threads,
                                err);
    return st;
}

int qfz_coloring_n(const qfz_coloring *c)
{
    return c->n_colors;
}

qfz_status qfz_coloring_paint(qfz_coloring *c, int thread, const qfz_label_tile *tile,
                              uint8_t *colors, qfz_error *err)
{
    const int64_t w = qfz_box_w(tile->box), h = qfz_box_h(tile->box);
    uint64_t label = 0;
    uint8_t color = 0;
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            const uint64_t next = tile->labels[y * tile->w + x];
            if (next != label && next != 0) {
                QFZ_TRY(qfz_byte_view_get(&c->views[thread], rank_of(c, next), &color, err));
                label = next;
            }
            colors[y * w + x] = next == 0 ? 0 : (uint8_t)(color + 1);
        }
    return QFZ_OK;
}

/* ---------------------------------------------------------------------------------------- palette
 */
/* Hue, saturation and value, 0 to 1, as red, green and blue. */
static void from_hsv(double hue, double saturation, double value, uint8_t rgb[4])
{
    for (int i = 0; i < 3; i++) {
        const double at = fmod(5 - 2 * i + 6 * hue, 6);
        const double part = fmax(0, fmin(fmin(at, 4 - at), 1));
        rgb[i] = (uint8_t)lrint(255 * value * (1 - saturation * part));
    }
}

void qfz_coloring_palette(uint8_t palette[QFZ_COLORS + 1][4])
{
    static const uint8_t first[][3] = {{120, 180, 120}, {230, 190, 110}, {110, 155, 205},
                                       {215, 120, 100}, {165, 140, 200}, {235, 225, 140},
                                       {105, 190, 185}, {230, 155, 185}, {150, 115, 85},
                                       {175, 205, 85},  {90, 105, 150},  {200, 200, 195}};
    enum { FIRST = sizeof first / sizeof *first };
    memset(palette, 0, 4);
    for (int i = 1; i <= QFZ_COLORS; i++) {
        if (i <= FIRST)
            memcpy(palette[i], first[i - 1], 3);
        else
            from_hsv(fmod(i * 0.6180339887498949, 1), 0.35 + 0.15 * (i % 3), 0.95 - 0.15 * (i % 2),
                     palette[i]);
        palette[i][3] = 255;
    }
}
