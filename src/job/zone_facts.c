/* SPDX-License-Identifier: MIT */
#include "job/zone_facts.h"

int qfz_zone_facts_users(const qfz_zone_needs *needs)
{
    return needs->zones + needs->neighbours + needs->values + needs->stats_values;
}

qfz_status qfz_zone_facts_open(qfz_zone_facts *facts, const qfz_zone_needs *needs,
                               const qfz_source *stats, int n_threads, int64_t bytes,
                               const char *folder, qfz_error *err)
{
    const qfz_source_info *const info = stats ? qfz_source_get_info(stats) : NULL;
    facts->needs = *needs;
    if (needs->zones)
        QFZ_TRY(qfz_zones_open(&facts->zones, info ? info->type : QFZ_U8, info ? info->n_bands : 0,
                               needs->borders, n_threads, bytes, folder, err));
    if (needs->neighbours)
        QFZ_TRY(qfz_tally_open(&facts->neighbours, n_threads, bytes, folder, err));
    if (needs->values) QFZ_TRY(qfz_tally_open(&facts->values, n_threads, bytes, folder, err));
    if (!needs->stats_values) return QFZ_OK;
    return qfz_tally_open(&facts->stats_values, n_threads, bytes, folder, err);
}

void qfz_zone_facts_close(qfz_zone_facts *facts)
{
    qfz_zones_close(facts->zones);
    qfz_tally_close(facts->neighbours);
    qfz_tally_close(facts->values);
    qfz_tally_close(facts->stats_values);
    *facts = (qfz_zone_facts){0};
}

qfz_status qfz_zone_facts_add(qfz_zone_facts *facts, int thread, const qfz_label_tile *tile,
                              const uint64_t *areas, const uint64_t *lengths,
                              const qfz_image *image, const qfz_image *stats, qfz_error *err)
{
    if (facts->zones)
        QFZ_TRY(qfz_zones_add(facts->zones, thread, tile, areas, lengths, stats, err));
    if (facts->neighbours) QFZ_TRY(qfz_tally_add_neighbours(facts->neighbours, thread, tile, err));
    if (facts->values) QFZ_TRY(qfz_tally_add_values(facts->values, thread, tile, image, err));
    if (!facts->stats_values) return QFZ_OK;
    return qfz_tally_add_values(facts->stats_values, thread, tile, stats, err);
}

qfz_status qfz_zone_facts_begin_reading(qfz_zone_facts *facts, qfz_error *err)
{
    qfz_tally *const tallies[] = {facts->neighbours, facts->values, facts->stats_values};
    for (int i = 0; i < 3; i++)
        if (tallies[i]) QFZ_TRY(qfz_tally_begin_reading(tallies[i], err));
    return facts->zones ? qfz_zones_begin_reading(facts->zones, err) : QFZ_OK;
}
