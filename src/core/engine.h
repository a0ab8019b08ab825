/* SPDX-License-Identifier: MIT */
/* engine.h - the one seam between the pipeline and the processors.
 *
 * An engine is a table of functions that every engine must have, and five optional sub-tables
 * (cache, stream, groups, device, filter), each NULL or complete.  A worker holds what one thread
 * needs to process tiles; all of its memory is allocated when it opens.  The calls for one tile, in
 * order, with a bar where another pass over the raster begins:
 *
 *   components          load, partition, summarise | load, partition, number, labels, features
 *   saliency            load, summarise            | load, saliency
 *   area filter         load, filter->summarise | load, filter->resolve
 *   curve               load, joins
 *   (alpha, omega)      load, summarise | load, partition, border_sums, spans
 *                                       | load, partition, paint, number, labels, features
 *
 * Data about single pixels and about inner regions stays in the worker.  Before labelling, only
 * border regions and one count per row leave it.  After summarise, or after border_sums of every
 * band, the result can be cached; the next visit to the tile then begins with cache->resume instead
 * of load.
 *
 * Another run or another engine may process the same tile again, so all results are canonical:
 * regions are numbered by first pixel, border regions by first appearance on the ring. */
#ifndef QFZ_ENGINE_H
#define QFZ_ENGINE_H

#include "qfz_bench.h"

#include "core/histogram.h"
#include "core/record.h"
#include "core/rows.h"
#include "core/span.h"
#include "core/summary.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qfz_worker qfz_worker; /* each engine defines its own */
typedef struct qfz_cached qfz_cached; /* the cached result of a tile; each engine defines its own */
typedef struct qfz_filter_kept qfz_filter_kept; /* likewise, of the area filter */

/* A border region: a region of the tile that touches the tile's ring. */
typedef struct qfz_border_region {
    uint32_t first;  /* its first pixel, y * w + x in the tile */
    uint32_t before; /* inner regions that begin before it in the same row */
    uint32_t pixels; /* QFZ_OMEGA only */
} qfz_border_region;

/* The regions of one tile, as far as stitching needs them; owned by the worker and valid until the
 * next partition(). */
typedef struct qfz_partition {
    uint32_t n_regions;        /* inner regions and border regions */
    const uint32_t *row_inner; /* per row: inner regions that begin in it */
    uint32_t n_border_regions;
    const qfz_border_region *border_regions;
} qfz_partition;

/* The labels of the regions of one tile.  The tile owns every region whose first pixel in the
 * raster lies in it, among them all inner regions; the owned regions that begin in row y get labels
 * row_start[y] + 1, row_start[y] + 2 ... by first pixel. */
typedef struct qfz_numbers {
    uint64_t *row_start;
    uint64_t *border_label; /* of each border region; 0: the tile owns it */
} qfz_numbers;

/* One device of an engine. */
typedef struct qfz_device {
    int index;  /* counts the devices of the job, from 0 */
    int number; /* the number by which the user names it */
} qfz_device;

typedef struct qfz_worker_spec {
    const qfz_rule *rule; /* borrowed as long as the worker lives; without a stream table, its
                             alpha_level may change between two tiles */
    qfz_kind kind;
    int32_t max_h, max_w; /* largest tile */
    int64_t rows_bytes;   /* upper bound of the pixels of one stream->rows() call; 0: unknown */
    int n_threads;        /* threads that the worker may use for one tile */
    qfz_device device;    /* engines without devices ignore it */
    const char *method;   /* name of a published method, or NULL for the default; borrowed */
} qfz_worker_spec;

/* ---- Optional: cached results of tiles between two passes. */
typedef struct qfz_engine_cache {
    /* Upper bound of the bytes that store() allocates for the loaded tile; 0: nothing to cache. */
    int64_t (*bytes)(const qfz_worker *worker);

    /* Moves the result of summarise(), or of border_sums() of all bands, to *cached and unloads the
     * tile. */
    qfz_status (*store)(qfz_worker *worker, qfz_cached **cached, qfz_error *err);

    /* Loads the tile from its cached result, in any worker of the engine, so that partition() or
     * saliency() can follow; after border_sums() the exterior must be the same as before.  Takes
     * ownership of cached and returns true; returns false and changes nothing if the worker's
     * present pass cannot use it: the caller must load the tile then. */
    bool (*resume)(qfz_worker *worker, const qfz_image *tile, qfz_cached *cached);

    /* True if resume() needs tile->pixels; tile->valid is always read. */
    bool (*needs_pixels)(const qfz_worker *worker);

    void (*drop)(qfz_cached *cached);
} qfz_engine_cache;

/* ---- Optional: pixels of a tile that arrive in rows, while the rest is still being read. */
typedef struct qfz_engine_stream {
    /* Sets *pixels to a buffer of spec.rows_bytes where the next rows are best read to, such as
     * page-locked memory; leaves it unchanged if any buffer is as good. */
    qfz_status (*room)(qfz_worker *worker, void **pixels, qfz_error *err);

    /* Passes the next rows of the loaded tile, from its first row to its last; the pixels are valid
     * during the call.  tile->valid is complete for these rows.  The engine never reads
     * tile->pixels.  All rows are passed before any other function is called. */
    qfz_status (*rows)(qfz_worker *worker, const qfz_rows *rows, qfz_error *err);

    /* Begins the loaded tile again, whose pixels and edges are not passed once more, under a rule
     * that may have another alpha_level than that of open(), and with plane number `plane` of
     * rule->n_cuts.  The rule is borrowed until the next again(). */
    qfz_status (*again)(qfz_worker *worker, const qfz_rule *rule, int plane, qfz_error *err);
} qfz_engine_stream;

/* ---- Optional: stitching groups of tiles on a device, between two passes.
 *
 * The graph of a group (stitch/group.h): its vertices are the ring pixels of its members, one
 * member after the other.  All pointers are borrowed. */
enum { QFZ_GROUP_MEMBERS = 4 }; /* at most */

typedef struct qfz_group_graph {
    int n_members;
    const qfz_summary *members; /* with links and ranges on their own rings */
    const uint32_t *offset;     /* n_members + 1: first vertex of each member, then their number */
    const qfz_links *cross;     /* edges between members, on vertices */
    const qfz_links *outside;   /* external links on the group's own ring; NULL: none */
    const uint32_t *ring;       /* the vertex of each pixel of the group's ring */
    int64_t n_ring;             /* 0: the group is the whole raster */
} qfz_group_graph;

/* QFZ_OMEGA: the exteriors of a group's members, and which of their border regions are one region.
 * The border regions of the group itself are regions 0, 1, ... */
typedef struct qfz_group_regions {
    uint32_t *border_region, *omega_level; /* of each vertex, as in its member's exterior */
    uint32_t *region;                      /* of border region r of member m at offset[m] + r */
    uint32_t n_border_regions[QFZ_GROUP_MEMBERS];
    uint32_t n_regions;
} qfz_group_regions;

/* The functions use the memory of the worker's tile, which is unloaded. */
typedef struct qfz_engine_groups {
    /* True if the worker's memory suffices for the graph; graph->ring is not read. */
    bool (*fits)(const qfz_worker *worker, const qfz_group_graph *graph);

    /* Links, and for QFZ_OMEGA ranges, between the pixels of the group's ring; summary comes
     * without any. */
    qfz_status (*summarise)(qfz_worker *worker, const qfz_group_graph *graph, qfz_summary *summary,
                            qfz_error *err);

    /* QFZ_LEVELS: the external links of the members, and the level of each link of graph->cross. */
    qfz_status (*levels)(qfz_worker *worker, const qfz_group_graph *graph, qfz_exterior *members,
                         uint32_t *cross_level, qfz_error *err);

    /* QFZ_OMEGA; own: the exterior of the group. */
    qfz_status (*regions)(qfz_worker *worker, const qfz_group_graph *graph, const qfz_exterior *own,
                          qfz_group_regions *found, qfz_error *err);
} qfz_engine_groups;

/* ---- Optional: an engine with memory and a clock of its own. */
typedef struct qfz_engine_device {
    /* Device memory that a worker allocates for tiles of h x w.  method: as in qfz_worker_spec. */
    int64_t (*tile_bytes)(const qfz_rule *rule, qfz_kind kind, const char *method, int32_t h,
                          int32_t w);

    /* Device memory that the worker has allocated. */
    int64_t (*bytes)(const qfz_worker *worker);

    /* Runs a part of the worker's kind once uncounted and then n_runs times; results stay on the
     * device; ms[i] is measured by the device's clock. */
    qfz_status (*time)(qfz_worker *worker, qfz_part part, int n_runs, double *ms, qfz_error *err);

    /* Input and output in device memory, for a tile that is the whole raster.  stream: the caller's
     * stream of the worker's device; the work takes place after what the stream has been given
     * before, and before what it is given after the call.
     *
     * As load(), and all rows at once.  summarise() cannot follow. */
    qfz_status (*load)(qfz_worker *worker, const qfz_image *tile, void *stream, qfz_error *err);

    /* As load() of the joins of a rule with edge_bits, which are made from levels in device memory:
     * bit d of a pixel says that both pixels of the edge in direction d are valid and its level is
     * at most alpha_level.  image: size and validity, in host or device memory. */
    qfz_status (*load_cut)(qfz_worker *worker, const qfz_image *image, const uint32_t *levels,
                           uint32_t alpha_level, void *stream, qfz_error *err);

    /* As labels() not wide, paint() without border regions, saliency() of 4 bytes and without an
     * exterior, and tree(). */
    qfz_status (*labels)(qfz_worker *worker, uint32_t *labels, void *stream, qfz_error *err);
    qfz_status (*paint)(qfz_worker *worker, int band, const void *invalid, void *out, void *stream,
                        qfz_error *err);
    qfz_status (*saliency)(qfz_worker *worker, uint32_t *levels, void *stream, qfz_error *err);
    qfz_status (*tree)(qfz_worker *worker, uint32_t *parent, uint32_t *level, int64_t *n_nodes,
                       void *stream, qfz_error *err);

    /* Copies device memory to host memory; waits. */
    qfz_status (*fetch)(qfz_device device, void *to, const void *from, int64_t bytes, void *stream,
                        qfz_error *err);
} qfz_engine_device;

/* What the area filter finds of a tile's edges, a byte for each pixel: of the edge from the pixel
 * in direction d, bit d. */
typedef struct qfz_edge_bits {
    uint8_t *zeroed; /* the edge has filtered level 0, but not its own level, as in qfz_image */
    uint8_t *forest; /* the edge is in the minimum spanning forest, with a filtered level above 0;
                        NULL unless the rule wants the forest */
} qfz_edge_bits;

/* ---- Optional: the area filter (core/filter.h), by workers of kind QFZ_FILTER.
 *
 * The edges of the raster's minimum spanning forest in the order of (level, position) whose two
 * components weigh less than rule->min_mass have filtered level 0.  box: of the loaded tile in the
 * raster, which positions depend on.  row_mass: the weight of a pixel in each row of the tile;
 * NULL: 1. */
typedef struct qfz_engine_filter {
    /* Fills a summary that qfz_summary_init() made for the tile's box: links with positions, mass
     * events.  bits: NULL; or memory for the tile, if keep() is to follow. */
    qfz_status (*summarise)(qfz_worker *worker, qfz_box box, const uint64_t *row_mass,
                            const qfz_edge_bits *bits, qfz_summary *summary, qfz_error *err);

    /* Finds the bits of the edges that start from pixels of the tile; those that leave the tile
     * come from the exterior.  exterior NULL: the tile is the whole raster. */
    qfz_status (*resolve)(qfz_worker *worker, qfz_box box, const uint64_t *row_mass,
                          const qfz_exterior *exterior, const qfz_edge_bits *bits, qfz_error *err);

    /* Optional, all or none: what summarise() has found of a tile, kept until its exterior is
     * known, so that it is not found again.  kept_bytes(): what keep() allocates.  keep() follows
     * summarise(), with the same bits.  resolve_kept(): as resolve(), in any worker of the engine,
     * of a tile that need not be loaded, and whose pixels are not read. */
    int64_t (*kept_bytes)(const qfz_worker *worker);
    qfz_status (*keep)(const qfz_worker *worker, const qfz_edge_bits *bits, qfz_filter_kept **kept,
                       qfz_error *err);
    qfz_status (*resolve_kept)(qfz_worker *worker, const qfz_image *tile, qfz_box box,
                               const qfz_filter_kept *kept, const qfz_exterior *exterior,
                               const qfz_edge_bits *bits, qfz_error *err);
    void (*drop)(qfz_filter_kept *kept);
} qfz_engine_filter;

/* ---- What every engine has. */
typedef struct qfz_engine {
    const char *name;

    /* Opens n equal workers, one for each thread of a device; their memory is allocated together.
     * They are closed together, too; close() accepts NULL entries. */
    qfz_status (*open)(qfz_worker **workers, int n, const qfz_worker_spec *spec, qfz_error *err);
    void (*close)(qfz_worker *const *workers, int n);

    /* Upper bound of the host memory of a worker beside the tile's pixels, in bytes per pixel. */
    int64_t (*bytes_per_px)(const qfz_rule *rule, qfz_kind kind);

    /* Begins a tile.  Its validity, its levels of edges, and without stream its pixels, are
     * borrowed until the next load().  With stream, stream->rows() passes the pixels afterwards. */
    qfz_status (*load)(qfz_worker *worker, const qfz_image *tile, qfz_error *err);

    /* Fills a summary that qfz_summary_init() made for the tile's box. */
    qfz_status (*summarise)(qfz_worker *worker, qfz_summary *summary, qfz_error *err);

    /* Finds the regions of the tile.  exterior: QFZ_OMEGA only, else NULL.  For QFZ_COMPONENTS the
     * border regions are those of the summary.  QFZ_EIO, here and wherever an exterior is given: it
     * does not fit the pixels; the caller names the tile. */
    qfz_status (*partition)(qfz_worker *worker, const qfz_exterior *exterior,
                            qfz_partition *partition, qfz_error *err);

    /* Sets the labels of the regions of the last partition(); copies what it needs.  NULL: the tile
     * is the whole raster, and the labels are 1, 2, 3 ... */
    qfz_status (*number)(qfz_worker *worker, const qfz_numbers *numbers, qfz_error *err);

    /* out[px] = label, 0 where invalid; uint32_t, or uint64_t if wide. */
    qfz_status (*labels)(qfz_worker *worker, bool wide, void *out, qfz_error *err);

    /* sums[border region] = exact sum of one band (exact.h); n_border_regions * qfz_sum_words()
     * words. */
    qfz_status (*border_sums)(qfz_worker *worker, int band, uint64_t *sums, qfz_error *err);

    /* QFZ_OMEGA with an omega, after border_sums() or without it: the span of each border region
     * (span.h), qfz_span_words() words each; *wide = the pixels of the inner regions whose span
     * exceeds omega. */
    qfz_status (*spans)(qfz_worker *worker, uint64_t *spans, uint64_t *wide, qfz_error *err);

    /* records[i] = features of region first_region + i, 0 <= i < n (record.h), with its label, and
     * with QFZ_RECORD_SHARED if it is a border region.  row_area: weight of a pixel in each row of
     * the tile. */
    qfz_status (*features)(qfz_worker *worker, qfz_box box, const uint64_t *row_area,
                           uint32_t first_region, uint32_t n, uint64_t *records, qfz_error *err);

    /* out[px] = mean of the pixel's region in one band (qfz_sum_mean()); for border regions
     * border_mean; *invalid where the pixel is invalid.  All values are of the raster's type. */
    qfz_status (*paint)(qfz_worker *worker, int band, const void *border_mean, const void *invalid,
                        void *out, qfz_error *err);

    /* Level of every edge: n_dirs planes of h * w levels, QFZ_NONE where there is no edge.
     * level_bytes is 4, or 2 if all levels are below 2^16 - 1, which then stands for QFZ_NONE.
     * levels has room for 4 bytes a level in any case.  exterior: from stitching; NULL if the tile
     * is the whole raster. */
    qfz_status (*saliency)(qfz_worker *worker, const qfz_exterior *exterior, int level_bytes,
                           void *levels, qfz_error *err);

    /* Words that tree() needs for each of parent and level of a tile of h x w, the largest result
     * and work space together.  NULL: 2 * h * w. */
    int64_t (*tree_room)(const qfz_rule *rule, int64_t h, int64_t w);

    /* The canonical alpha-tree, as in qfz_tree. */
    qfz_status (*tree)(qfz_worker *worker, uint32_t *parent, uint32_t *level, int64_t *n_nodes,
                       qfz_error *err);

    /* QFZ_JOINS: as summarise(), and the levels of those joins of the tile's minimum
     * spanning forest that no link of the summary stands for; owned by the worker and valid until
     * the next call.  summary NULL: the tile is the whole raster, and all joins are counted. */
    qfz_status (*joins)(qfz_worker *worker, qfz_summary *summary, const qfz_histogram **settled,
                        qfz_error *err);

    const qfz_engine_cache *cache;
    const qfz_engine_stream *stream;
    const qfz_engine_groups *groups;
    const qfz_engine_device *device;
    const qfz_engine_filter *filter;
} qfz_engine;

extern const qfz_engine qfz_engine_cpu;

/* Loads a tile whose pixels are complete in memory, into any engine. */
static inline qfz_status qfz_engine_load(const qfz_engine *engine, qfz_worker *worker,
                                         const qfz_image *tile, qfz_error *err)
{
    const qfz_rows all = {0, tile->h, tile->pixels, tile->h * tile->w};
    QFZ_TRY(engine->load(worker, tile, err));
    return engine->stream ? engine->stream->rows(worker, &all, err) : QFZ_OK;
}

#ifdef __cplusplus
}
#endif

#endif
