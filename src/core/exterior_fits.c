/* SPDX-License-Identifier: MIT */
#include "core/exterior_fits.h"

static bool is_valid(const qfz_image *tile, int64_t i)
{
    int64_t y, x;
    qfz_ring_place(tile->h, tile->w, i, &y, &x);
    return !tile->valid || tile->valid[y * tile->w + x];
}

static bool are_valid(const qfz_image *tile, const uint32_t *ring, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!is_valid(tile, ring[i])) return false;
    return true;
}

static bool has_valid_regions(const qfz_image *tile, const qfz_exterior *exterior)
{
    for (int64_t i = 0; exterior->border_region && i < exterior->n_ring; i++)
        if (exterior->border_region[i] != QFZ_NONE && !is_valid(tile, i)) return false;
    return true;
}

qfz_status qfz_exterior_fits(const qfz_exterior *exterior, const qfz_image *tile, qfz_error *err)
{
    const qfz_links *const links = &exterior->external;
    if (exterior->n_ring == qfz_ring_size(tile->h, tile->w) &&
        are_valid(tile, links->u, links->n) && are_valid(tile, links->v, links->n) &&
        are_valid(tile, exterior->masses.at, exterior->masses.n) &&
        has_valid_regions(tile, exterior))
        return QFZ_OK;
    return qfz_fail(err, QFZ_EIO,
                    "the stored exterior does not fit the pixels: the source has changed since the "
                    "first pass");
}
