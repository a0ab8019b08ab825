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

/* Makes one part of the records, which are on the device afterwards; records: where they go on the
 * host, or NULL. */
typedef qfz_status (*part_fn)(qfz_worker *worker, const qfz_gpu_records *part, uint64_t *records);

/* Calls fn for all records in parts that fit d_work. */
static qfz_status in_parts(qfz_worker *worker, const qfz_gpu_records *all, uint64_t *records,
                           part_fn fn)
{
    const size_t bytes = record_bytes(worker->spec.rule), words = bytes / sizeof *records;
    const size_t most = worker->regions.work_bytes / bytes;
    qfz_gpu_records part = *all;
    part.d_records = (uint64_t *)worker->regions.d_work;
    if (all->n > 0 && most == 0)
        return qfz_fail(worker->gpu.err, QFZ_ENOMEM,
                        "GPU: a record of %zu bytes does not fit a tile's memory", bytes);
    for (uint32_t left = all->n; left > 0; left -= part.n) {
        part.n = left < most ? left : (uint32_t)most;
        QFZ_TRY(fn(worker, &part, records));
        part.first_region += part.n;
        if (records) records += part.n * words;
    }
    return QFZ_OK;
}

static qfz_status gather_pixels(qfz_worker *worker, const qfz_gpu_records *part, uint64_t *records)
{
    qfz_region_room *const room = &worker->regions;
    const size_t bytes = record_bytes(worker->spec.rule);
    QFZ_TRY(qfz_gpu_gather_features(&worker->gpu, &room->on_device, &worker->image, part));
    if (!records) return QFZ_OK;
    QFZ_TRY(qfz_gpu_regions_name_records(&worker->gpu, &room->on_device, room->n_border_regions,
                                         room->d_name, part->first_region, part->n,
                                         (int)(bytes / sizeof *records), part->d_records));
    return qfz_worker_down(worker, records, part->d_records, part->n * bytes);
}

/* Uploads the weights of rows, unless all rows have the same weight. */
static qfz_status send_areas(qfz_worker *worker, const uint64_t *row_area, qfz_gpu_areas *areas)
{
    qfz_region_room *const room = &worker->regions;
    const int32_t h = worker->image.h;
    bool same = true;
    for (int32_t y = 1; y < h && same; y++)
        same = row_area[y] == row_area[0];
    *areas = qfz_gpu_areas{row_area[0], same ? NULL : room->d_row_area};
    return same ? QFZ_OK
                : qfz_worker_up(worker, room->d_row_area, row_area, (size_t)h * sizeof *row_area);
}

qfz_status qfz_regions_features(qfz_worker *worker, qfz_box box, const uint64_t *row_area,
                                uint32_t first_region, uint32_t n, uint64_t *records,
                                qfz_error *err)
{
    qfz_gpu_records all = {box, {}, first_region, n, NULL};
    QFZ_TRY(qfz_worker_enter(worker, err));
    QFZ_TRY(qfz_regions_need_names(worker));
    QFZ_TRY(send_areas(worker, row_area, &all.areas));
    return in_parts(worker, &all, records, gather_pixels);
}

/* ---- Timed parts ----------------------------------------------------------------------------- */

/* All records of a tile in which every pixel has weight 1. */
static qfz_status whole_tile(qfz_worker *worker, part_fn fn)
{
    const qfz_gpu_records all = {
        {0, 0, worker->image.h, worker->image.w}, {1, NULL}, 0, worker->regions.n_regions, NULL};
    return in_parts(worker, &all, NULL, fn);
}

qfz_status qfz_records_of_regions(qfz_worker *worker)
{
    return whole_tile(worker, gather_pixels);
}

/* HA4's records, which need no labels; d_label holds the map from segments to regions. */
static qfz_status gather_segments(qfz_worker *worker, const qfz_gpu_records *part, uint64_t *)
{
    return qfz_gpu_ha4_features(&worker->gpu, &worker->image, worker->regions.d_cached,
                                worker->regions.on_device.d_label, part);
}

qfz_status qfz_records_of_segments(qfz_worker *worker)
{
    qfz_region_room *const room = &worker->regions;
    qfz_gpu_regions *const regions = &room->on_device;
    QFZ_TRY(qfz_gpu_ha4_regions(&worker->gpu, &worker->image, worker->spec.rule->connectivity,
                                room->d_cached, regions->d_label, regions->d_n));
    QFZ_TRY(qfz_worker_down(worker, &room->n_regions, regions->d_n, sizeof room->n_regions));
    return whole_tile(worker, gather_segments);
}
