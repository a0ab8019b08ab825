/* SPDX-License-Identifier: MIT */
/* connect_omega.cu - (alpha, omega)-components and their boundary summaries from the tree of a tile
 * by CONNECT.
 *
 * The range of a node is that of the values of all pixels below it, in one band at a time.  A node
 * is too wide if its range exceeds omega in any band; so are all nodes above it.  With an exterior,
 * a node is too wide, too, if its level is above the omega level of a ring pixel below it.  The
 * region of a pixel is its highest node that is not too wide; nodes of level 0 always qualify.
 *
 * Range events of a summary: a node with a ring pixel below it has an event if a child without one
 * joins it, with the range of the whole node; the events of a ring pixel end at the first node that
 * is too wide, since every component that includes the node is. */
#include "gpu/device/collective.cuh"
#include "gpu/omega/omega_parts.cuh"
#include "gpu/published/connect_parts.cuh"

enum { THREADS = QFZ_CONNECT_THREADS, WORD_BITS = 32 };

namespace
{
struct omega_room {
    qfz_connect_tree tree;
    qfz_omega_values values;
    uint32_t *lo, *hi; /* the range of each node in one band, as words of values; empty: lo > hi */
    uint32_t *wide;    /* bits of nodes: too wide */
    uint32_t *d_edge_levels;
    double *d_limit;

    /* Regions. */
    uint32_t *first;        /* first pixel of the region of each node; lies in lo */
    uint32_t *border_first; /* of each border region */

    /* Summaries. */
    uint32_t *rep;        /* the least ring pixel below each node, or QFZ_NONE */
    uint32_t *has_event;  /* bits of nodes */
    int64_t event_room;   /* events, by level and node; */
    uint32_t *d_level[2]; /* sorted from one array to the other */
    uint32_t *d_node[2];
    void *d_lo, *d_hi;
    void *d_sort;
    qfz_gpu_links links;
    qfz_connect_ring_room ring;
    uint32_t *d_counts; /* of links, of events */
};
} // namespace

/* ---- Memory ---------------------------------------------------------------------------------- */

static int64_t bit_words(const omega_room *room)
{
    return (room->tree.n_nodes + WORD_BITS - 1) / WORD_BITS;
}

/* Upper bound of the events: one for each level on the way up from a ring pixel, and one for each
 * child without a ring pixel. */
static int64_t most_events(const qfz_rule *rule, int64_t n_ring, int64_t n_px)
{
    uint32_t max_level = UINT32_MAX;
    qfz_error ignored = {};
    (void)qfz_max_level(rule, &max_level, &ignored);
    const int64_t levels =
        1 + (int64_t)(max_level < rule->alpha_level ? max_level : rule->alpha_level);
    return levels < n_px / n_ring ? levels * n_ring : n_px;
}

/* Ring pixels' representatives lie in front, where the caller's roots may be. */
static void carve_summary(omega_room *room, const qfz_rule *rule, int64_t n_ring, qfz_carve *c)
{
    const int64_t n = room->event_room;
    const size_t bytes = (size_t)n * qfz_type_bytes(rule->type) * (size_t)rule->n_bands;
    qfz_gpu_links_take(c, n_ring, &room->links);
    qfz_carve_take(c, &room->has_event, bit_words(room));
    for (int i = 0; i < 2; i++) {
        qfz_carve_take(c, &room->d_level[i], n);
        qfz_carve_take(c, &room->d_node[i], n);
    }
    room->d_lo = qfz_carve_bytes(c, bytes);
    room->d_hi = qfz_carve_bytes(c, bytes);
    room->d_sort = qfz_carve_bytes(c, qfz_gpu_sort_bytes(n));
    qfz_connect_ring_carve(n_ring, c, &room->ring);
}

static void carve(const qfz_rule *rule, int32_t h, int32_t w, qfz_carve *c, omega_room *room)
{
    const int64_t n_ring = qfz_ring_size(h, w), n_px = (int64_t)h * w;
    room->tree = qfz_connect_tree_of(rule->connectivity, h, w, 0);
    room->event_room = most_events(rule, n_ring, n_px);
    qfz_carve_take(c, &room->rep, room->tree.n_nodes);
    qfz_carve_take(c, &room->tree.links.words, room->tree.n_nodes);
    qfz_carve_take(c, &room->lo, room->tree.n_nodes);
    qfz_carve_take(c, &room->hi, room->tree.n_nodes);
    room->first = room->lo;
    qfz_carve_take(c, &room->wide, bit_words(room));
    qfz_carve_take(c, &room->border_first, n_ring);
    qfz_carve_take(c, &room->d_limit, rule->n_bands);
    qfz_carve_take(c, &room->d_counts, 2);
    room->d_edge_levels = (uint32_t *)qfz_carve_bytes(c, qfz_gpu_edges_bytes(rule, n_px));
    carve_summary(room, rule, n_ring, c);
}

size_t qfz_connect_omega_bytes(const qfz_rule *rule, int32_t h, int32_t w)
{
    qfz_carve c = {};
    omega_room room = {};
    carve(rule, h, w, &c, &room);
    return c.used;
}

static qfz_status cut(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                      void *d_scratch, omega_room *room)
{
    qfz_carve c = {static_cast<char *>(d_scratch), 0};
    qfz_omega_room limits = {};
    *room = omega_room{};
    carve(rule, image->h, image->w, &c, room);
    limits.d_limit = room->d_limit;
    QFZ_TRY(qfz_omega_set_rule(gpu, rule, &limits));
    room->values = limits.values;
    room->values.pixels = image->d_pixels;
    room->values.valid = image->d_valid;
    room->values.n_px = room->tree.n_px;
    return qfz_omega_send_limits(gpu, rule, &limits);
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

/* Takes the value of each pixel into all nodes above it.  Stops at a node whose range has the
 * value: the threads that extended the range so far go on. */
static __global__ void __launch_bounds__(THREADS) k_find_ranges(omega_room room, int band)
{
    const int64_t p = qfz_connect_item();
    if (p >= room.tree.n_px || (room.values.valid && !room.values.valid[p])) return;
    const uint32_t value = room.values.pixel(band, p);
    for (uint32_t node = (uint32_t)p;;) {
        if (qfz_peek(room.lo + node) <= value && qfz_peek(room.hi + node) >= value) return;
        atomicMin(room.lo + node, value);
        atomicMax(room.hi + node, value);
        const uint32_t parent = room.tree.links.get(node).parent;
        if (parent == node) return;
        node = parent;
    }
}

/* One bit a thread; a warp writes a word. */
static __global__ void __launch_bounds__(THREADS) k_find_wide(omega_room room, int band)
{
    const int64_t node = qfz_connect_item();
    const bool is = node < room.tree.n_nodes &&
                    room.values.too_wide(room.lo[node], room.hi[node], room.values.limit[band]);
    const uint32_t bits = __ballot_sync(QFZ_ALL_LANES, is);
    if (threadIdx.x % QFZ_WARP == 0 && bits) room.wide[node / WORD_BITS] |= bits;
}

static qfz_status find_ranges(qfz_gpu *gpu, const omega_room *room, int band)
{
    QFZ_TRY(qfz_gpu_fill(gpu, room->lo, 0xff, room->tree.n_nodes));
    QFZ_TRY(qfz_gpu_fill(gpu, room->hi, 0, room->tree.n_nodes));
    return qfz_connect_launch(gpu, k_find_ranges, room->tree.n_px, *room, band);
}

static qfz_status find_wide(qfz_gpu *gpu, const qfz_rule *rule, const omega_room *room)
{
    QFZ_TRY(qfz_gpu_fill(gpu, room->wide, 0, bit_words(room)));
    for (int band = 0; rule->omega && band < rule->n_bands; band++) {
        QFZ_TRY(find_ranges(gpu, room, band));
        QFZ_TRY(qfz_connect_launch(gpu, k_find_wide, room->tree.n_nodes, *room, band));
    }
    return QFZ_OK;
}

static QFZ_DEVICE bool has_bit(const uint32_t *bits, uint32_t node)
{
    return bits[node / WORD_BITS] >> node % WORD_BITS & 1;
}

/* Sets a bit; returns whether it was set before. */
static QFZ_DEVICE bool set_bit(uint32_t *bits, uint32_t node)
{
    const uint32_t bit = 1u << node % WORD_BITS;
    return atomicOr(bits + node / WORD_BITS, bit) & bit;
}

/* Builds the tree and finds the nodes that are too wide. */
static qfz_status make_tree(qfz_gpu *gpu, qfz_gpu_connect version, const qfz_gpu_image *image,
                            const qfz_rule *rule, qfz_connect_phase last, const omega_room *room)
{
    qfz_gpu_edges edges;
    QFZ_TRY(qfz_gpu_edges_make(gpu, image, rule, room->d_edge_levels, &edges));
    QFZ_TRY(qfz_connect_build(gpu, version, &edges, rule->alpha_level, NULL, last, &room->tree));
    return last < QFZ_CONNECT_READ ? QFZ_OK : find_wide(gpu, rule, room);
}

/* ---- Regions --------------------------------------------------------------------------------- */

/* Marks the nodes above each ring pixel whose level is above its omega level.  Stops at a node that
 * is too wide: so are those above it, or the thread that marked it goes on. */
static __global__ void __launch_bounds__(THREADS)
    k_mark_outside(omega_room room, int64_t n_ring, qfz_gpu_omega_exterior exterior)
{
    const int64_t i = qfz_connect_item();
    if (i >= n_ring || exterior.d_border_region[i] == QFZ_NONE) return;
    qfz_climber at = qfz_start(room.tree.links, qfz_connect_ring_node(room.tree, i), 0);
    while (at.link.parent != at.node) {
        qfz_step(room.tree.links, &at);
        if (at.level > exterior.d_omega_level[i] && set_bit(room.wide, at.node)) return;
    }
}

/* root[p] = the node of p's region; first[node] = its first pixel. */
static __global__ void __launch_bounds__(THREADS) k_find_regions(omega_room room, uint32_t *root)
{
    const int64_t p = qfz_connect_item();
    if (p >= room.tree.n_px) return;
    if (room.values.valid && !room.values.valid[p]) {
        root[p] = QFZ_NONE;
        return;
    }
    qfz_climber at = qfz_start(room.tree.links, (uint32_t)p, 0);
    while (at.link.parent != at.node && (at.link.level == 0 || !has_bit(room.wide, at.link.parent)))
        qfz_step(room.tree.links, &at);
    root[p] = at.node;
    qfz_lower(room.first + at.node, (uint32_t)p);
}

/* Regions with the same border region are one region. */
static __global__ void __launch_bounds__(THREADS)
    k_join_outside(omega_room room, int64_t n_ring, const uint32_t *__restrict__ border_region,
                   const uint32_t *__restrict__ root)
{
    const int64_t i = qfz_connect_item();
    if (i >= n_ring || border_region[i] == QFZ_NONE) return;
    qfz_lower(room.border_first + border_region[i],
              room.first[root[qfz_connect_ring_node(room.tree, i)]]);
}

static __global__ void __launch_bounds__(THREADS)
    k_use_outside(omega_room room, int64_t n_ring, const uint32_t *__restrict__ border_region,
                  const uint32_t *__restrict__ root)
{
    const int64_t i = qfz_connect_item();
    if (i >= n_ring || border_region[i] == QFZ_NONE) return;
    room.first[root[qfz_connect_ring_node(room.tree, i)]] = room.border_first[border_region[i]];
}

static __global__ void __launch_bounds__(THREADS) k_name_pixels(omega_room room, uint32_t *root)
{
    const int64_t p = qfz_connect_item();
    if (p < room.tree.n_px && root[p] != QFZ_NONE) root[p] = room.first[root[p]];
}

static qfz_status name_regions(qfz_gpu *gpu, const omega_room *room,
                               const qfz_gpu_omega_exterior *exterior, uint32_t *d_root)
{
    const qfz_connect_tree *const tree = &room->tree;
    const int64_t n_ring = qfz_ring_size(tree->h, tree->w);
    if (exterior)
        QFZ_TRY(qfz_connect_launch(gpu, k_mark_outside, n_ring, *room, n_ring, *exterior));
    QFZ_TRY(qfz_gpu_fill(gpu, room->first, 0xff, tree->n_nodes));
    QFZ_TRY(qfz_connect_launch(gpu, k_find_regions, tree->n_px, *room, d_root));
    if (exterior) {
        QFZ_TRY(qfz_gpu_fill(gpu, room->border_first, 0xff, n_ring));
        QFZ_TRY(qfz_connect_launch(gpu, k_join_outside, n_ring, *room, n_ring,
                                   exterior->d_border_region, d_root));
        QFZ_TRY(qfz_connect_launch(gpu, k_use_outside, n_ring, *room, n_ring,
                                   exterior->d_border_region, d_root));
    }
    return qfz_connect_launch(gpu, k_name_pixels, tree->n_px, *room, d_root);
}

qfz_status qfz_connect_omega(qfz_gpu *gpu, qfz_gpu_connect version, const qfz_gpu_image *image,
                             const qfz_rule *rule, const qfz_gpu_omega_exterior *exterior,
                             qfz_connect_phase last, void *d_scratch, uint32_t *d_root)
{
    omega_room room;
    QFZ_TRY(cut(gpu, image, rule, d_scratch, &room));
    QFZ_TRY(make_tree(gpu, version, image, rule, last, &room));
    return last < QFZ_CONNECT_READ ? QFZ_OK : name_regions(gpu, &room, exterior, d_root);
}

/* ---- Summaries ------------------------------------------------------------------------------- */

/* A node has an event if a child has pixels, none of which is on the ring. */
static __global__ void __launch_bounds__(THREADS) k_choose_events(omega_room room)
{
    const int64_t i = qfz_connect_item();
    if (i >= room.tree.n_nodes) return;
    const uint32_t node = (uint32_t)i;
    if (room.rep[node] != QFZ_NONE || room.lo[node] > room.hi[node]) return;
    const uint32_t parent = room.tree.links.get(node).parent;
    if (parent != node && room.rep[parent] != QFZ_NONE && !has_bit(room.has_event, parent))
        (void)set_bit(room.has_event, parent);
}

/* Collects the events of the nodes that each ring pixel represents. */
static __global__ void __launch_bounds__(THREADS)
    k_collect_events(omega_room room, int64_t n_ring, uint32_t *n)
{
    const int64_t i = qfz_connect_item();
    if (i >= n_ring) return;
    qfz_climber at = qfz_start(room.tree.links, qfz_connect_ring_node(room.tree, i), 0);
    while (room.rep[at.node] == (uint32_t)i) {
        if (has_bit(room.has_event, at.node)) {
            const uint32_t to = atomicAdd(n, 1u);
            room.d_level[0][to] = at.level;
            room.d_node[0][to] = at.node;
        }
        if (at.link.parent == at.node || (at.level > 0 && has_bit(room.wide, at.node))) return;
        qfz_step(room.tree.links, &at);
    }
}

/* Writes the ranges of events in one band, and, with the first band, their ring pixels. */
static __global__ void __launch_bounds__(THREADS)
    k_store_events(omega_room room, int band, uint32_t n, const uint32_t *__restrict__ nodes,
                   qfz_gpu_ranges ranges)
{
    const int64_t e = qfz_connect_item();
    if (e >= n) return;
    const uint32_t node = nodes[e];
    room.values.write(ranges.d_lo, e * room.values.n_bands + band, room.lo[node]);
    room.values.write(ranges.d_hi, e * room.values.n_bands + band, room.hi[node]);
    if (band == 0) ranges.d_at[e] = room.rep[node];
}

static qfz_status collect_events(qfz_gpu *gpu, const omega_room *room)
{
    const int64_t n_ring = qfz_ring_size(room->tree.h, room->tree.w);
    QFZ_TRY(qfz_gpu_fill(gpu, room->has_event, 0, bit_words(room)));
    QFZ_TRY(qfz_connect_launch(gpu, k_choose_events, room->tree.n_nodes, *room));
    return qfz_connect_launch(gpu, k_collect_events, n_ring, *room, n_ring, room->d_counts + 1);
}

qfz_status qfz_connect_omega_links(qfz_gpu *gpu, qfz_gpu_connect version,
                                   const qfz_gpu_image *image, const qfz_rule *rule,
                                   void *d_scratch, qfz_gpu_links *links, uint32_t **d_n)
{
    omega_room room;
    QFZ_TRY(cut(gpu, image, rule, d_scratch, &room));
    QFZ_TRY(make_tree(gpu, version, image, rule, QFZ_CONNECT_READ, &room));
    QFZ_TRY(qfz_gpu_fill(gpu, room.d_counts, 0, 2));
    QFZ_TRY(qfz_connect_ring(gpu, &room.tree, room.rep, &room.ring, &room.links, room.d_counts));
    if (rule->omega) QFZ_TRY(collect_events(gpu, &room));
    *links = room.links;
    *d_n = room.d_counts;
    return QFZ_OK;
}

/* The ranges that the links were followed by are those of the last band. */
qfz_status qfz_connect_omega_ranges(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                                    void *d_scratch, uint32_t n, qfz_gpu_ranges *ranges)
{
    omega_room room;
    int sorted = 0;
    QFZ_TRY(cut(gpu, image, rule, d_scratch, &room));
    if (n > 0)
        QFZ_TRY(qfz_gpu_sort_pairs(gpu, room.d_sort, room.d_level, room.d_node, n, 0, WORD_BITS,
                                   &sorted));
    *ranges = qfz_gpu_ranges{room.d_level[1 - sorted], room.d_level[sorted], room.d_lo, room.d_hi};
    for (int band = 0; n > 0 && band < rule->n_bands; band++) {
        if (rule->n_bands > 1) QFZ_TRY(find_ranges(gpu, &room, band));
        QFZ_TRY(qfz_connect_launch(gpu, k_store_events, n, room, band, n, room.d_node[sorted],
                                   *ranges));
    }
    return QFZ_OK;
}
