/* SPDX-License-Identifier: MIT */
/* test_owners.c - every tile and every group has one owner, and the nodes of one part are a range.
 */
#include "check.h"
#include "stitch/group_tree.h"

static void one_case(int64_t number)
{
    check_case(number, "a grid");
    const int64_t n_x = 1 + check_pick(9), n_y = 1 + check_pick(40);
    const int n_parts = 1 + (int)check_pick(check_chance(50) ? 8 : 60);
    const qfz_tiling tiling = {
        .w = n_x * 3, .h = n_y * 5, .tile_w = 3, .tile_h = 5, .n_x = n_x, .n_y = n_y};
    const qfz_group_tree h = qfz_group_tree_of(&tiling);
    check_describe("%d x %d tiles, %d parts", (int)n_x, (int)n_y, n_parts);
    for (int level = 0; level < h.n_levels; level++) {
        int64_t at = h.first[level];
        for (int part = 0; part < n_parts; part++) {
            int64_t first, end;
            qfz_group_tree_owned(&h, level, part, n_parts, &first, &end);
            CHECK(first == at && end >= first, "level %d, part %d: from %d, not %d", level, part,
                  (int)first, (int)at);
            for (int64_t node = first; node < end; node++)
                CHECK(qfz_group_tree_owner(&h, level, node, n_parts) == part,
                      "level %d, node %d of part %d", level, (int)node, part);
            at = end;
        }
        CHECK(at == h.first[level + 1], "level %d: %d nodes without an owner", level,
              (int)(h.first[level + 1] - at));
    }
    for (int level = 1; level < h.n_levels; level++)
        for (int64_t node = h.first[level]; node < h.first[level + 1]; node++) {
            int64_t members[QFZ_GROUP_CHILDREN];
            const int n = qfz_group_tree_children(&h, level, node, members);
            for (int m = 0; m < n; m++)
                CHECK(qfz_group_tree_parent(&h, level - 1, members[m]) == node, "parent of %d",
                      (int)members[m]);
        }
    for (int level = 0; level < h.n_levels; level++) {
        int64_t n_missing = 0;
        for (int64_t node = h.first[level]; node < h.first[level + 1]; node++)
            n_missing += 4 - __builtin_popcount((unsigned)qfz_group_tree_sides(
                                 &h, qfz_group_tree_box(&h, level, node)));
        CHECK(n_missing == 2 * (h.n_x[level] + h.n_y[level]),
              "level %d: %d sides are the raster's, not %d", level, (int)n_missing,
              (int)(2 * (h.n_x[level] + h.n_y[level])));
    }
    for (int part = 0; part < n_parts; part++) {
        const int64_t rows =
            qfz_part_first_row(n_y, part + 1, n_parts) - qfz_part_first_row(n_y, part, n_parts);
        CHECK(rows == n_y / n_parts || rows == n_y / n_parts + 1, "part %d: %d rows", part,
              (int)rows);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 500);
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    return check_end();
}
