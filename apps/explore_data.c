/* SPDX-License-Identifier: MIT */
#include "explore_data.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "packer.h"

/* A curve with more points than this is thinned to points whose numbers differ by a percent. */
enum { POINTS_MAX = 4096 };

static const char *const type_names[] = {"UInt8",  "Int8",  "UInt16", "Int16",
                                         "UInt32", "Int32", "Float32"};
static const size_t type_bytes[] = {1, 1, 2, 2, 4, 4, 4};
static const char *const distance_names[] = {"l1", "l2", "linf", "sam"};

/* ------------------------------------------------------------------------------------- the curve
 */
static bool is_kept(const qfz_curve *curve, int64_t i, uint64_t before)
{
    return curve->n <= POINTS_MAX || i == 0 || i == curve->n - 1 ||
           (double)curve->regions[i] < 0.99 * (double)before;
}

static void put_curve(json *j, const qfz_curve *curve)
{
    if (!curve) return;
    json_open(j, "curve", '{');
    for (int column = 0; column < 2; column++) {
        uint64_t before = 0;
        json_open(j, column ? "regions" : "alpha", '[');
        for (int64_t i = 0; i < curve->n; i++) {
            if (!is_kept(curve, i, before)) continue;
            before = curve->regions[i];
            if (column)
                json_count(j, NULL, before);
            else
                json_number(j, NULL, curve->alpha[i]);
        }
        json_close(j, ']');
    }
    json_number(j, "exact_below", curve->n > POINTS_MAX ? 0 : curve->exact_below);
    json_close(j, '}');
}

/* ------------------------------------------------------------- words of the command for the raster
 */
static void put_list(json *j, const char *name, const string_list *list)
{
    for (int i = 0; i < list->n; i++) {
        json_text(j, NULL, name);
        json_text(j, NULL, list->items[i]);
    }
}

/* The options that a job on the whole raster needs for the same pixels and levels, except those
 * that the page has controls for. */
static void put_options(json *j, const request *r)
{
    json_open(j, "bands_named", '[');
    for (int i = 0; i < r->job.n_bands; i++)
        json_integer(j, NULL, r->job.bands[i]);
    json_close(j, ']');
    json_open(j, "options", '[');
    if (r->job.mask) {
        json_text(j, NULL, "--mask");
        json_text(j, NULL, r->job.mask);
    }
    if (r->job.has_nodata) {
        char digits[JSON_DIGITS];
        json_digits(digits, r->job.nodata);
        json_text(j, NULL, "--nodata");
        json_text(j, NULL, digits);
    }
    if (r->job.nodata_rule == QFZ_NODATA_ANY) {
        json_text(j, NULL, "--nodata-rule");
        json_text(j, NULL, "any");
    }
    put_list(j, "-oo", &r->open_options);
    put_list(j, "--config", &r->config);
    if (r->job.allow_network) json_text(j, NULL, "--allow-network");
    json_close(j, ']');
}

/* ------------------------------------------------------------------------------------ the window
 */
int64_t explore_count_valid(const qfz_window *window)
{
    int64_t n = 0;
    for (int64_t p = 0; p < window->w * window->h; p++)
        n += window->valid[p];
    return n;
}

static void put_place(json *j, const qfz_window *window)
{
    if (window->crs) json_text(j, "crs", window->crs);
    if (!window->has_transform) return;
    json_open(j, "transform", '[');
    for (int i = 0; i < 6; i++)
        json_number(j, NULL, window->transform[i]);
    json_close(j, ']');
}

static void put_window(json *j, const qfz_window *window)
{
    json_open(j, NULL, '{');
    json_integer(j, "x", window->x);
    json_integer(j, "y", window->y);
    json_integer(j, "width", window->w);
    json_integer(j, "height", window->h);
    json_integer(j, "valid", explore_count_valid(window));
    if (window->has_transform) {
        json_open(j, "row_areas", '[');
        for (int64_t y = 0; y < window->h; y++)
            json_number(j, NULL, window->row_areas[y]);
        json_close(j, ']');
    }
    json_close(j, '}');
}

static void put_facts(json *j, const explore_data *data)
{
    const request *const r = data->r;
    const qfz_window *const window = data->windows;
    json_text(j, "version", qfz_version());
    json_text(j, "src", r->job.src);
    json_integer(j, "raster_width", data->raster_w);
    json_integer(j, "raster_height", data->raster_h);
    json_text(j, "type", type_names[window->type]);
    json_text(j, "distance", distance_names[r->job.criterion.distance]);
    json_integer(j, "connectivity", r->job.criterion.connectivity);
    json_open(j, "bands", '[');
    for (int b = 0; b < window->n_bands; b++) {
        json_open(j, NULL, '{');
        json_integer(j, "number", r->job.bands ? r->job.bands[b] : b + 1);
        json_text(j, "name", window->band_names[b]);
        json_close(j, '}');
    }
    json_close(j, ']');
    if (r->weights) {
        json_open(j, "weights", '[');
        for (int b = 0; b < r->job.criterion.n_weights; b++)
            json_number(j, NULL, r->weights[b]);
        json_close(j, ']');
    }
}

static void write_json(FILE *out, const explore_data *data)
{
    json j = json_to(out);
    j.for_html = true;
    (void)fputs("<script type=\"application/json\" id=\"data\">", out);
    json_open(&j, NULL, '{');
    put_facts(&j, data);
    put_place(&j, data->windows);
    json_open(&j, "windows", '[');
    for (int i = 0; i < data->n_windows; i++)
        put_window(&j, &data->windows[i]);
    json_close(&j, ']');
    put_options(&j, data->r);
    put_curve(&j, data->curve);
    json_close(&j, '}');
    (void)fputs("</script>\n", out);
}

/* ------------------------------------------------------------------------------------ the pixels
 */
static uint32_t load(const void *pixels, size_t bytes, int64_t p)
{
    if (bytes == 1) return ((const uint8_t *)pixels)[p];
    if (bytes == 2) return ((const uint16_t *)pixels)[p];
    return ((const uint32_t *)pixels)[p];
}

/* One plane of bytes of the differences of a band, row by row; row has room for w bytes. */
static void pack_plane(packer *p, const void *band, size_t bytes, int plane, int64_t w, int64_t h,
                       uint8_t *row)
{
    for (int64_t y = 0; y < h; y++) {
        uint32_t left = 0;
        for (int64_t x = 0; x < w; x++) {
            const uint32_t here = load(band, bytes, y * w + x);
            row[x] = (uint8_t)((here - left) >> 8 * plane);
            left = here;
        }
        packer_add(p, row, (size_t)w);
    }
}

/* number: of the window, from 1. */
static bool write_pixels(FILE *out, const qfz_window *window, int number)
{
    const size_t bytes = type_bytes[window->type];
    const int64_t n_px = window->w * window->h;
    uint8_t *const row = malloc((size_t)window->w);
    packer *const p = row ? packer_open(out) : NULL;
    if (!p) {
        free(row);
        return false;
    }
    (void)fprintf(out, "<script type=\"text/plain\" id=\"pixels-%d\">", number);
    for (int b = 0; b < window->n_bands; b++)
        for (int plane = 0; plane < (int)bytes; plane++)
            pack_plane(p, (const char *)window->pixels + (size_t)b * (size_t)n_px * bytes, bytes,
                       plane, window->w, window->h, row);
    if (explore_count_valid(window) < n_px) packer_add(p, window->valid, (size_t)n_px);
    packer_close(p);
    free(row);
    (void)fputs("</script>\n", out);
    return true;
}

bool explore_data_write(FILE *out, const explore_data *data)
{
    write_json(out, data);
    for (int i = 0; i < data->n_windows; i++)
        if (!write_pixels(out, &data->windows[i], i + 1)) return false;
    return true;
}
