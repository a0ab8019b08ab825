/* SPDX-License-Identifier: MIT */
/* engine_records.cu - the CUDA engine's records of regions, computed in parts that fit the worker's
 * memory: from the labels of pixels, or by HA4. */
#include "gpu/engine/worker.cuh"
#include "core/record.h"

enum { RECORDS_AT_LEAST = 64 };

static size_t record_bytes(const qfz_rule *rule)
{
    return sizeof(uint64_t) * (size_t)qfz_record_words(rule->type, rule->n_bands);
}

size_t qfz_records_least_bytes(const qfz_rule *rule)
{
    return RECORDS_AT_LEAST * record_bytes(rule);
}

namespace
{
/* Requested records: those of regions from number `first` on. */
typedef struct request {
    qfz_box box;
    uint32_t first;
    uint64_t *records; /* on the host; NULL: the records stay on the device */
} request;
} // namespace

typedef qfz_status (*part_fn)(qfz_worker *worker, const request *part, uint32_t n);

/* Calls fn for n regions in parts whose records fit d_work. */
static qfz_status in_parts(qfz_worker *worker, const request *all, uint32_t n, part_fn fn)
{
    const size_t bytes = record_bytes(worker->spec.rule), words = bytes / sizeof *all->records;
    const size_t most = worker->regions.work_bytes / bytes;
    request next = *all;
    if (n > 0 && most == 0)
        return qfz_fail(worker->gpu.err, QFZ_ENOMEM,
                        "GPU: a record of %zu bytes does not fit a tile's memory", bytes);
    for (uint32_t left = n, part; left > 0; left -= part) {
        part = left < most ? left : (uint32_t)most;
        QFZ_TRY(fn(worker, &next, part));
        next.first += part;
        if (next.records) next.records += part * words;
    }
    return QFZ_OK;
}

static qfz_status gather_pixels(qfz_worker *worker, const request *part, uint32_t n)
{
    qfz_region_room *const room = &worker->regions;
    const size_t bytes = record_bytes(worker->spec.rule);
    uint64_t *const d_records = (uint64_t *)room->d_work;
    QFZ_TRY(qfz_gpu_gather_features(&worker->gpu, &room->on_device, &worker->image, part->box,
                                    room->areas, part->first, n, d_records));
    if (!part->records) return QFZ_OK;
    QFZ_TRY(qfz_gpu_regions_name_records(&worker->gpu, &room->on_device, room->n_border_regions,
                                         room->d_name, part->first, n,
                                         (int)(bytes / sizeof *d_records), d_records));
    return qfz_worker_down(worker, part->records, d_records, n * bytes);
}

/* Uploads the weights of rows, unless all rows have the same weight. */
static qfz_status send_areas(qfz_worker *worker, const uint64_t *row_area)
{
    qfz_region_room *const room = &worker->regions;
    const int32_t h = worker->image.h;
    bool same = true;
    for (int32_t y = 1; y < h && same; y++)
        same = row_area[y] == row_area[0];
    room->areas = qfz_gpu_areas{row_area[0], same ? NULL : room->d_row_area};
    return same ? QFZ_OK
                : qfz_worker_up(worker, room->d_row_area, row_area, (size_t)h * sizeof *row_area);
}

qfz_status qfz_regions_features(qfz_worker *worker, qfz_box box, const uint64_t *row_area,
                                uint32_t first_region, uint32_t n, uint64_t *records,
                                qfz_error *err)
{
    const request all = {box, first_region, records};
    QFZ_TRY(qfz_worker_enter(worker, err));
    QFZ_TRY(qfz_regions_need_names(worker));
    QFZ_TRY(send_areas(worker, row_area));
    return in_parts(worker, &all, n, gather_pixels);
}

/* ---- Timed parts ----------------------------------------------------------------------------- */

/* All records of a tile in which every pixel has weight 1. */
static request whole_tile(qfz_worker *worker)
{
    request all = {};
    worker->regions.areas = qfz_gpu_areas{1, NULL};
    all.box.y1 = worker->image.h;
    all.box.x1 = worker->image.w;
    return all;
}

qfz_status qfz_records_of_regions(qfz_worker *worker)
{
    const request all = whole_tile(worker);
    return in_parts(worker, &all, worker->regions.n_regions, gather_pixels);
}

/* HA4's records, which need no labels; d_label holds the map from segments to regions. */
static qfz_status gather_segments(qfz_worker *worker, const request *part, uint32_t n)
{
    qfz_region_room *const room = &worker->regions;
    return qfz_gpu_ha4_features(&worker->gpu, &worker->image, part->box, room->areas, part->first,
                                n, room->d_cached, room->on_device.d_label,
                                (uint64_t *)room->d_work);
}

qfz_status qfz_records_of_segments(qfz_worker *worker)
{
    qfz_region_room *const room = &worker->regions;
    qfz_gpu_regions *const regions = &room->on_device;
    const request all = whole_tile(worker);
    const qfz_gpu_segments segments = qfz_regions_segments(worker);
    QFZ_TRY(qfz_gpu_ha4_regions(&worker->gpu, &segments, room->d_cached, regions->d_label,
                                regions->d_n));
    QFZ_TRY(qfz_worker_down(worker, &room->n_regions, regions->d_n, sizeof room->n_regions));
    return in_parts(worker, &all, room->n_regions, gather_segments);
}
