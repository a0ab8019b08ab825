/* SPDX-License-Identifier: MIT */
/* engine_regions.cu - the CUDA engine's regions: finds, numbers, labels and paints them.
 *
 * Data of single regions stays on the device; the host gets border regions and a count per row. */
#include <stdlib.h>
#include <string.h>

#include "gpu/components/components.cuh"
#include "gpu/features/means.cuh"
#include "gpu/features/spans.cuh"
#include "gpu/omega/omega.cuh"
#include "gpu/engine/worker.cuh"
#include "core/memory.h"

/* Least size of d_pool: the spans of all regions in a band (three words of 32 bits each, and a
 * count); or their names, and beside them the labels of half of the pixels, or some records. */
static size_t least_pool_bytes(const qfz_worker_spec *spec, int64_t n)
{
    enum { ALIGN = 256 };
    return 3 * (size_t)n * sizeof(uint32_t) + qfz_records_least_bytes(spec->rule) + ALIGN;
}

static size_t scratch_bytes(const qfz_worker *worker)
{
    const qfz_worker_spec *const spec = &worker->spec;
    const qfz_region_room *const room = &worker->regions;
    const int32_t h = spec->max_h, w = spec->max_w;
    const size_t bytes =
        max(qfz_gpu_components_number_bytes(spec->rule, h, w), qfz_gpu_regions_bytes(h, w));
    return room->published ? max(bytes, qfz_gpu_published_bytes(room->method, h, w)) : bytes;
}

static void carve_border(qfz_worker *worker, qfz_carve *carve)
{
    const qfz_worker_spec *const spec = &worker->spec;
    qfz_region_room *const room = &worker->regions;
    const int64_t n_ring = qfz_ring_size(spec->max_h, spec->max_w);
    qfz_carve_take(carve, &room->d_row_area, spec->max_h);
    qfz_carve_take(carve, &room->d_row_start, spec->max_h);
    qfz_carve_take(carve, &room->d_border_label, n_ring);
    if (spec->kind != QFZ_OMEGA) return;
    qfz_carve_take(carve, &room->d_border_sums, n_ring * qfz_sum_words(spec->rule->type));
    qfz_carve_take(carve, &room->d_border_region, n_ring);
    qfz_carve_take(carve, &room->d_omega_level, n_ring);
}

static void carve_work(qfz_worker *worker, qfz_carve *carve)
{
    const qfz_worker_spec *const spec = &worker->spec;
    qfz_region_room *const room = &worker->regions;
    const int64_t n = (int64_t)spec->max_h * spec->max_w;
    qfz_carve_take(carve, &room->d_name, n);
    /* the labels of all pixels, or at least some records */
    room->work_bytes = max((size_t)n * sizeof(uint64_t), qfz_records_least_bytes(spec->rule));
    room->d_work = qfz_carve_bytes(carve, room->work_bytes);
}

/* Memory of QFZ_OMEGA.  Of the scratch memory of qfz_gpu_omega() only the roots stay; until the
 * regions are numbered, the pool has the roots and the scratch memory of numbering.  The pool is as
 * large as that of qfz_gpu_omega() permits. */
static void carve_omega(qfz_worker *worker, qfz_carve *carve)
{
    const qfz_worker_spec *const spec = &worker->spec;
    qfz_region_room *const room = &worker->regions;
    const int32_t h = spec->max_h, w = spec->max_w;
    const size_t scratch = worker->by_connect ? qfz_connect_omega_bytes(spec->rule, h, w)
                                              : qfz_gpu_omega_bytes(spec->rule, h, w);
    qfz_carve numbering = *carve, regions = {}, all = *carve;
    room->d_scratch = qfz_carve_bytes(&all, scratch);
    qfz_carve_take(&numbering, &room->d_root, (int64_t)h * w); /* at d_scratch */
    room->d_number_scratch = qfz_carve_bytes(&numbering, qfz_gpu_regions_bytes(h, w));
    qfz_gpu_regions_take(&regions, h, w, true, &room->on_device);
    room->pool_bytes = max(numbering.used - carve->used, least_pool_bytes(spec, (int64_t)h * w));
    if (scratch > regions.used) room->pool_bytes = max(room->pool_bytes, scratch - regions.used);
    room->d_pool = (char *)qfz_carve_bytes(carve, room->pool_bytes);
    qfz_gpu_regions_take(carve, h, w, true, &room->on_device);
    carve->used = max(carve->used, all.used);
}

void qfz_regions_carve(qfz_worker *worker, qfz_carve *carve)
{
    const qfz_worker_spec *const spec = &worker->spec;
    qfz_region_room *const room = &worker->regions;
    const int32_t h = spec->max_h, w = spec->max_w;
    const bool by_blocks = spec->kind == QFZ_COMPONENTS && !room->published;
    carve_border(worker, carve);
    if (spec->kind == QFZ_OMEGA) {
        carve_omega(worker, carve);
        return;
    }
    qfz_gpu_regions_take(carve, h, w, !by_blocks, &room->on_device);
    if (room->published && room->method == QFZ_METHOD_HA4)
        room->d_cached = qfz_carve_bytes(carve, qfz_gpu_ha4_regions_bytes(h, w));
    qfz_carve first = *carve, second = *carve;
    qfz_carve_take(&first, &room->d_root, (int64_t)h * w);
    room->d_scratch = room->d_number_scratch = qfz_carve_bytes(&first, scratch_bytes(worker));
    carve_work(worker, &second);
    carve->used = max(first.used, second.used);
}

qfz_status qfz_regions_open(qfz_worker *worker)
{
    const qfz_worker_spec *const spec = &worker->spec;
    qfz_region_room *const room = &worker->regions;
    qfz_error *const err = worker->gpu.err;
    QFZ_TRY(QFZ_NEW(&room->n_and_rows, 2 + spec->max_h, err));
    return QFZ_NEW(&room->border_regions, qfz_ring_size(spec->max_h, spec->max_w), err);
}

void qfz_regions_close(qfz_worker *worker)
{
    free(worker->regions.n_and_rows);
    free(worker->regions.border_regions);
}

/* ---- Partition ------------------------------------------------------------------------------- */

static qfz_status find_roots(qfz_worker *worker, const qfz_gpu_omega_exterior *exterior,
                             qfz_connect_phase last)
{
    qfz_region_room *const room = &worker->regions;
    if (worker->by_connect)
        return qfz_connect_omega(&worker->gpu, worker->version, &worker->image, worker->spec.rule,
                                 exterior, last, room->d_scratch, room->d_root);
    if (worker->spec.kind == QFZ_OMEGA)
        return qfz_gpu_omega(&worker->gpu, &worker->image, worker->spec.rule, exterior,
                             room->d_scratch, room->d_root);
    if (room->published)
        return qfz_gpu_published(&worker->gpu, room->method, &worker->image,
                                 worker->spec.rule->connectivity, room->d_scratch, room->d_root);
    return qfz_gpu_components(&worker->gpu, &worker->image, worker->spec.rule, room->d_scratch,
                              room->d_root);
}

static qfz_status number_regions(qfz_worker *worker, const qfz_gpu_omega_exterior *exterior)
{
    qfz_region_room *const room = &worker->regions;
    qfz_gpu_regions *const regions = &room->on_device;
    regions->h = worker->image.h;
    regions->w = worker->image.w;
    if (worker->spec.kind == QFZ_COMPONENTS && !room->published)
        return qfz_gpu_components_number(&worker->gpu, &worker->image, worker->spec.rule,
                                         room->d_scratch, regions);
    QFZ_TRY(find_roots(worker, exterior, QFZ_CONNECT_READ));
    return qfz_gpu_regions_number(&worker->gpu, room->d_root, room->d_number_scratch, regions);
}

/* Divides the pool: `bytes` bytes for each region, and the rest, which becomes d_work.  The names
 * of regions, wherever they were, are overwritten. */
static void *divide_pool(qfz_region_room *room, size_t bytes)
{
    qfz_carve carve = {room->d_pool, 0};
    void *const by_region = qfz_carve_bytes(&carve, room->n_regions * bytes);
    room->d_work = room->d_pool + carve.used;
    room->work_bytes = room->pool_bytes - carve.used;
    room->is_named = false;
    return by_region;
}

/* Downloads the number of regions and, with has_border_regions, the number of border regions and
 * the number of inner regions that begin in each row. */
static qfz_status fetch_numbers(qfz_worker *worker, bool has_border_regions)
{
    qfz_region_room *const room = &worker->regions;
    const size_t words = has_border_regions ? 2 + (size_t)worker->image.h : 1;
    QFZ_TRY(qfz_worker_down(worker, room->n_and_rows, room->on_device.d_n,
                            words * sizeof *room->n_and_rows));
    room->n_regions = room->n_and_rows[0];
    room->n_border_regions = has_border_regions ? room->n_and_rows[1] : 0;
    if (worker->spec.kind == QFZ_OMEGA) (void)divide_pool(room, 0);
    return QFZ_OK;
}

static qfz_status send_exterior(qfz_worker *worker, const qfz_exterior *exterior)
{
    qfz_region_room *const room = &worker->regions;
    const size_t bytes = (size_t)exterior->n_ring * sizeof *exterior->border_region;
    QFZ_TRY(qfz_worker_up(worker, room->d_border_region, exterior->border_region, bytes));
    return qfz_worker_up(worker, room->d_omega_level, exterior->omega_level, bytes);
}

/* Fails unless the tile has as many border regions as its exterior; both number them in the same
 * order. */
static qfz_status check_border_regions(const qfz_worker *worker, const qfz_exterior *exterior)
{
    const uint32_t n = worker->regions.n_border_regions;
    if (!exterior || n == exterior->n_border_regions) return QFZ_OK;
    return qfz_fail(worker->gpu.err, QFZ_EGPU,
                    "GPU: %u regions on a tile's ring where its exterior has %u", n,
                    exterior->n_border_regions);
}

qfz_status qfz_regions_partition(qfz_worker *worker, const qfz_exterior *exterior,
                                 qfz_partition *partition, qfz_error *err)
{
    qfz_region_room *const room = &worker->regions;
    const qfz_gpu_omega_exterior on_device = {room->d_border_region, room->d_omega_level};
    const bool has_outside = exterior || worker->spec.kind == QFZ_COMPONENTS;
    QFZ_TRY(qfz_worker_enter(worker, err));
    QFZ_TRY(qfz_edges_send(worker));
    if (exterior) QFZ_TRY(send_exterior(worker, exterior));
    QFZ_TRY(number_regions(worker, exterior ? &on_device : NULL));
    QFZ_TRY(qfz_gpu_regions_border(&worker->gpu, has_outside, room->d_number_scratch,
                                   &room->on_device));
    QFZ_TRY(fetch_numbers(worker, true));
    QFZ_TRY(check_border_regions(worker, exterior));
    QFZ_TRY(qfz_worker_down(worker, room->border_regions, room->on_device.d_border_regions,
                            room->n_border_regions * sizeof *room->border_regions));
    partition->n_regions = room->n_regions;
    partition->row_inner = room->n_and_rows + 2;
    partition->n_border_regions = room->n_border_regions;
    partition->border_regions = room->border_regions;
    return QFZ_OK;
}

static qfz_status omega_ranges(qfz_worker *worker, uint32_t n, qfz_gpu_ranges *ranges)
{
    void *const d_scratch = worker->regions.d_scratch;
    const qfz_rule *const rule = worker->spec.rule;
    return worker->by_connect
               ? qfz_connect_omega_ranges(&worker->gpu, &worker->image, rule, d_scratch, n, ranges)
               : qfz_gpu_omega_ranges(&worker->gpu, &worker->image, rule, d_scratch, n, ranges);
}

/* Range events in parts, for which the device has room; d_n, n: as of qfz_gpu_omega_links(). */
static qfz_status ranges_in_parts(qfz_worker *worker, const uint32_t *d_n, const uint32_t *n,
                                  uint32_t most, qfz_ranges *all)
{
    const qfz_rule *const rule = worker->spec.rule;
    void *const d_scratch = worker->regions.d_scratch;
    for (uint32_t first = 0, part, n_events; first < n[2]; first += part) {
        const int64_t before = all->n;
        qfz_gpu_ranges ranges;
        part = n[2] - first < most ? n[2] - first : most;
        QFZ_TRY(qfz_gpu_omega_part(&worker->gpu, &worker->image, rule, d_scratch, first, part));
        QFZ_TRY(qfz_worker_down(worker, &n_events, d_n + 1, sizeof n_events));
        QFZ_TRY(omega_ranges(worker, n_events, &ranges));
        QFZ_TRY(qfz_worker_down_ranges(worker, &ranges, n_events, all));
        QFZ_TRY(qfz_ranges_merge(all, before, rule, worker->gpu.err));
    }
    return QFZ_OK;
}

static qfz_status summarise_omega(qfz_worker *worker, qfz_summary *summary)
{
    const qfz_rule *const rule = worker->spec.rule;
    void *const d_scratch = worker->regions.d_scratch;
    const uint32_t most = worker->by_connect
                              ? QFZ_NONE
                              : qfz_gpu_omega_events(rule, worker->image.h, worker->image.w);
    qfz_gpu_links links;
    qfz_gpu_ranges ranges;
    uint32_t *d_n, n[3];
    QFZ_TRY(worker->by_connect
                ? qfz_connect_omega_links(&worker->gpu, worker->version, &worker->image, rule,
                                          d_scratch, &links, &d_n)
                : qfz_gpu_omega_links(&worker->gpu, &worker->image, rule, d_scratch, &links, &d_n));
    QFZ_TRY(qfz_worker_down(worker, n, d_n, (worker->by_connect ? 2 : 3) * sizeof *n));
    QFZ_TRY(qfz_worker_down_links(worker, &links, n[0], &summary->links));
    if (n[1] > most) return ranges_in_parts(worker, d_n, n, most, &summary->ranges);
    QFZ_TRY(omega_ranges(worker, n[1], &ranges));
    return qfz_worker_down_ranges(worker, &ranges, n[1], &summary->ranges);
}

qfz_status qfz_regions_summarise(qfz_worker *worker, qfz_summary *summary)
{
    qfz_region_room *const room = &worker->regions;
    if (worker->spec.kind == QFZ_OMEGA) return summarise_omega(worker, summary);
    QFZ_TRY(QFZ_NEW(&summary->border_region, summary->n_ring, worker->gpu.err));
    summary->n_border_regions = room->n_border_regions;
    return qfz_worker_down(worker, summary->border_region, room->on_device.d_ring_region,
                           (size_t)summary->n_ring * sizeof(uint32_t));
}

/* ---- Outputs --------------------------------------------------------------------------------- */

qfz_status qfz_regions_need_names(qfz_worker *worker)
{
    qfz_region_room *const room = &worker->regions;
    if (room->is_named) return QFZ_OK;
    if (worker->spec.kind == QFZ_OMEGA)
        room->d_name = (uint64_t *)divide_pool(room, sizeof *room->d_name);
    room->is_named = true;
    return qfz_gpu_regions_name(&worker->gpu, &room->on_device, room->n_border_regions,
                                room->has_numbers ? room->d_row_start : NULL,
                                room->has_numbers ? room->d_border_label : NULL, room->d_name);
}

qfz_status qfz_regions_number(qfz_worker *worker, const qfz_numbers *numbers, qfz_error *err)
{
    qfz_region_room *const room = &worker->regions;
    const size_t h = (size_t)worker->image.h;
    QFZ_TRY(qfz_worker_enter(worker, err));
    if (numbers) {
        QFZ_TRY(qfz_worker_up(worker, room->d_row_start, numbers->row_start,
                              h * sizeof *numbers->row_start));
        QFZ_TRY(qfz_worker_up(worker, room->d_border_label, numbers->border_label,
                              room->n_border_regions * sizeof *numbers->border_label));
    }
    room->has_numbers = numbers != NULL;
    room->is_named = false;
    return qfz_regions_need_names(worker);
}

/* In parts, for which d_work has room. */
qfz_status qfz_regions_labels(qfz_worker *worker, bool wide, void *out, qfz_error *err)
{
    qfz_region_room *const room = &worker->regions;
    const size_t bytes = wide ? sizeof(uint64_t) : sizeof(uint32_t), n = qfz_worker_px(worker);
    QFZ_TRY(qfz_worker_enter(worker, err));
    QFZ_TRY(qfz_regions_need_names(worker));
    const size_t most = room->work_bytes / bytes;
    for (size_t first = 0, part; first < n; first += part) {
        part = n - first < most ? n - first : most;
        QFZ_TRY(qfz_gpu_regions_labels(&worker->gpu, &room->on_device, room->d_name, (int64_t)first,
                                       (int64_t)part, wide, room->d_work));
        QFZ_TRY(qfz_worker_down(worker, (char *)out + first * bytes, room->d_work, part * bytes));
    }
    return QFZ_OK;
}

/* Computes the sums of *n regions from `first` on: all, or as many as fit d_work. */
static qfz_status add_up(qfz_worker *worker, int band, uint32_t first, uint32_t *n)
{
    qfz_region_room *const room = &worker->regions;
    const size_t sum = (size_t)qfz_sum_words(worker->image.type) * sizeof(uint64_t);
    const uint32_t left = room->n_regions - first;
    *n = room->work_bytes / sum < left ? (uint32_t)(room->work_bytes / sum) : left;
    return qfz_gpu_gather_sums(&worker->gpu, &room->on_device, &worker->image, band, first, *n,
                               (uint64_t *)room->d_work);
}

qfz_status qfz_regions_border_sums(qfz_worker *worker, int band, uint64_t *sums, qfz_error *err)
{
    qfz_region_room *const room = &worker->regions;
    const int words = qfz_sum_words(worker->image.type);
    QFZ_TRY(qfz_worker_enter(worker, err));
    (void)divide_pool(room, 0);
    for (uint32_t first = 0, n; first < room->n_regions; first += n) {
        QFZ_TRY(add_up(worker, band, first, &n));
        QFZ_TRY(qfz_gpu_border_sums(&worker->gpu, &room->on_device, first, n,
                                    room->n_border_regions, words, (const uint64_t *)room->d_work,
                                    room->d_border_sums));
    }
    return qfz_worker_down(worker, sums, room->d_border_sums,
                           room->n_border_regions * (size_t)words * sizeof *sums);
}

/* The spans of border regions in the last band, among those of all bands. */
static qfz_status fetch_spans(qfz_worker *worker, int band, const qfz_gpu_spans *on_device,
                              uint64_t *words, uint64_t *spans)
{
    qfz_region_room *const room = &worker->regions;
    const size_t n = room->n_border_regions, n_bands = (size_t)worker->image.n_bands;
    QFZ_TRY(qfz_gpu_spans_of_border(&worker->gpu, &room->on_device, room->n_border_regions,
                                    on_device, room->d_border_sums));
    QFZ_TRY(qfz_worker_down(worker, words, room->d_border_sums, 2 * n * sizeof *words));
    for (size_t s = 0; s < n; s++)
        memcpy(spans + 2 * (s * n_bands + (size_t)band), words + 2 * s, 2 * sizeof *words);
    return QFZ_OK;
}

static qfz_status find_spans(qfz_worker *worker, uint64_t *words, uint64_t *spans, uint64_t *wide)
{
    qfz_region_room *const room = &worker->regions;
    const size_t n = room->n_regions;
    uint32_t *const d_words = static_cast<uint32_t *>(room->d_work), *const d_pixels = d_words;
    const qfz_gpu_spans found = {room->n_regions, d_words + 1 + n, d_words + 1 + 2 * n,
                                 d_words + 1};
    uint32_t pixels;
    QFZ_TRY_CUDA(worker->gpu.err,
                 cudaMemsetAsync(d_words, 0, (1 + n) * sizeof *d_words, worker->gpu.stream));
    for (int b = 0; b < worker->image.n_bands; b++) {
        QFZ_TRY(qfz_gpu_spans_of_band(&worker->gpu, &room->on_device, &worker->image, b,
                                      worker->spec.rule->omega[b], &found));
        QFZ_TRY(fetch_spans(worker, b, &found, words, spans));
    }
    QFZ_TRY(qfz_gpu_spans_count(&worker->gpu, &room->on_device, &found, d_pixels));
    QFZ_TRY(qfz_worker_down(worker, &pixels, d_pixels, sizeof pixels));
    *wide = pixels;
    return QFZ_OK;
}

qfz_status qfz_regions_spans(qfz_worker *worker, uint64_t *spans, uint64_t *wide, qfz_error *err)
{
    uint64_t *words = NULL;
    QFZ_TRY(qfz_worker_enter(worker, err));
    (void)divide_pool(&worker->regions, 0);
    QFZ_TRY(QFZ_NEW(&words, 2 * (int64_t)worker->regions.n_border_regions, err));
    const qfz_status st = find_spans(worker, words, spans, wide);
    free(words);
    return st;
}

qfz_status qfz_regions_paint_on_device(qfz_worker *worker, int band, const void *border_mean,
                                       const void *invalid, qfz_error *err)
{
    qfz_region_room *const room = &worker->regions;
    const size_t bytes = qfz_type_bytes(worker->image.type);
    QFZ_TRY(qfz_worker_enter(worker, err));
    QFZ_TRY(
        qfz_worker_up(worker, room->d_border_sums, border_mean, room->n_border_regions * bytes));
    room->d_means = divide_pool(room, bytes);
    for (uint32_t first = 0, n; first < room->n_regions; first += n) {
        QFZ_TRY(add_up(worker, band, first, &n));
        QFZ_TRY(qfz_gpu_means(&worker->gpu, &room->on_device, worker->image.type, first, n,
                              room->n_border_regions, (const uint64_t *)room->d_work,
                              room->d_border_sums, room->d_means));
    }
    return qfz_gpu_regions_paint(&worker->gpu, &room->on_device, room->d_means, bytes, invalid,
                                 room->d_work);
}

qfz_status qfz_regions_paint(qfz_worker *worker, int band, const void *border_mean,
                             const void *invalid, void *out, qfz_error *err)
{
    QFZ_TRY(qfz_regions_paint_on_device(worker, band, border_mean, invalid, err));
    return qfz_worker_down(worker, out, worker->regions.d_work,
                           qfz_worker_px(worker) * qfz_type_bytes(worker->image.type));
}

/* ---- What is timed --------------------------------------------------------------------------- */

qfz_status qfz_regions_work(qfz_worker *worker, qfz_part part)
{
    const qfz_region_room *const room = &worker->regions;
    if (part != QFZ_PART_FEATURES) return find_roots(worker, NULL, qfz_worker_phase(part));
    if (room->published && room->method == QFZ_METHOD_HA4) return qfz_records_of_segments(worker);
    QFZ_TRY(number_regions(worker, NULL));
    QFZ_TRY(fetch_numbers(worker, false));
    return qfz_records_of_regions(worker);
}
