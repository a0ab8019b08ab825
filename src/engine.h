/* SPDX-License-Identifier: MIT */
/* engine.h - the one seam between the pipeline and the processors.
 *
 * An engine is a table of functions.  A worker is what one thread needs to process tiles: all
 * memory is taken when it opens.  The calls on a tile, in order:
 *
 *   components          load, partition, summarise | load, partition, number, labels, features
 *   saliency            load, summarise            | load, saliency
 *   (alpha, omega)      load, summarise | load, partition, slot_sums
 *                                       | load, partition, paint, number, labels, features
 *
 * What a tile has by pixel or by region stays with the worker; what its ring touches, and a number
 * a row, is all that others learn before there are labels.  After summarise and after all
 * slot_sums it can be kept for the next visit to the tile, which then begins with resume where load
 * stands above.
 *
 * A tile may be asked again in another run or by another engine, so everything that comes out is
 * canonical: regions are numbered by first pixel, slots by first appearance on the ring. */
#ifndef QFZ_ENGINE_H
#define QFZ_ENGINE_H

#include "record.h"
#include "rows.h"
#include "summary.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qfz_worker qfz_worker; /* each engine has its own */
typedef struct qfz_kept qfz_kept;     /* what was found out of a tile; likewise */

/* A region that touches the tile's ring. */
typedef struct qfz_slot {
    uint32_t first;  /* its first pixel, y * w + x in the tile */
    uint32_t before; /* inner regions, those that are no slots, that begin before it in its row */
    uint32_t pixels; /* QFZ_OMEGA only */
} qfz_slot;

/* What others must know of the regions of one tile; owned by the worker until the next
 * partition(). */
typedef struct qfz_partition {
    uint32_t n_regions;
    const uint32_t *row_inner; /* per row: inner regions that begin in it */
    uint32_t n_slots;
    const qfz_slot *slots;
} qfz_partition;

/* What the regions of one tile are called.  Those that it owns, all inner ones among them, get
 * row_start[y] + 1, row_start[y] + 2 ... by first pixel, y being its row. */
typedef struct qfz_numbers {
    uint64_t *row_start;
    uint64_t *slot_label; /* 0: the tile owns it */
} qfz_numbers;

/* One of an engine's devices. */
typedef struct qfz_device {
    int index;  /* from 0 */
    int number; /* by which the user knows it */
} qfz_device;

typedef struct qfz_worker_spec {
    const qfz_rule *rule; /* borrowed as long as the worker lives */
    qfz_kind kind;
    int32_t max_h, max_w; /* of its tiles */
    int64_t rows_bytes;   /* of the pixels that rows() gets at a time, at most; 0: not known */
    int n_threads;        /* how many it may use for one tile */
    qfz_device device;    /* index 0 where there is one */
    const char *method;   /* a published one by name, or NULL: what is fastest; borrowed */
} qfz_worker_spec;

enum { QFZ_GROUP_MEMBERS = 4 }; /* at most */

/* A group of tiles that is to be stitched (stitch/group.h): the pixels of its members' rings, one
 * member after the other, are the vertices of a graph.  Borrowed. */
typedef struct qfz_group_graph {
    int n_members;
    const qfz_summary *members; /* with links and absorbs on their own rings */
    const uint32_t *offset;     /* of each member: its first vertex; the last entry: all */
    const qfz_links *cross;     /* between members, on vertices */
    const qfz_links *outside;   /* through the outside, on the group's own ring; NULL: none */
    const uint32_t *ring;       /* the vertex of each pixel of that ring */
    int64_t n_ring;             /* 0: nobody is outside */
} qfz_group_graph;

/* The answers of a group's members, QFZ_OMEGA, and which of their slots are one region: the slots
 * of the group itself are the first regions.  The arrays, of a word a vertex, follow each other. */
typedef struct qfz_group_regions {
    uint32_t *slot, *holds_to; /* of each vertex, as in its member's answer */
    uint32_t *region;          /* of member m's slot s at offset[m] + s */
    uint32_t n_slots[QFZ_GROUP_MEMBERS];
    uint32_t n_regions;
} qfz_group_regions;

typedef struct qfz_engine {
    const char *name;

    /* Workers that are alike, one for each thread of a device: what they need is taken for all at
     * once.  They are closed together, too; NULLs are allowed. */
    qfz_status (*open)(qfz_worker **workers, int n, const qfz_worker_spec *spec, qfz_error *err);
    void (*close)(qfz_worker *const *workers, int n);

    /* Memory of a worker: of the host beside the tile's pixels, bytes per pixel at the most; of the
     * device, where the engine has one (else NULL), all that it takes for tiles of h x w. */
    int64_t (*bytes_per_px)(const qfz_rule *rule, qfz_kind kind);
    int64_t (*device_tile_bytes)(const qfz_rule *rule, qfz_kind kind, int32_t h, int32_t w);

    /* The tile that the next calls are about; its validity is borrowed until the next load().
     *
     * rows NULL: so are its pixels.  Else the engine never looks at tile->pixels: rows() gives them
     * to it, for the time of the call, for one part of the tile after the other, from the first row
     * to the last, before anything is asked of the tile.  A part's validity is there by then, and
     * stays.  room(), NULL with rows: where the next part's pixels are best put, spec.rows_bytes;
     * *pixels stays as it is where any place is as good. */
    qfz_status (*load)(qfz_worker *worker, const qfz_image *tile, qfz_error *err);
    qfz_status (*room)(qfz_worker *worker, void **pixels, qfz_error *err);
    qfz_status (*rows)(qfz_worker *worker, const qfz_rows *rows, qfz_error *err);

    /* What summarise(), or slot_sums() of all bands, have found out of the loaded tile, put aside,
     * so that the next visit need not find it again.  All NULL: the engine does not.
     *
     * kept_bytes   what keep() would take, at the most; 0: there is nothing that helps
     * keep         *kept = it; the worker has a tile no more
     * resume       instead of load(), by any worker: the tile is loaded, and partition() or
     *              saliency() begin from there.  After slot_sums() the answer must be the same.
     *              Takes kept; false, and does nothing, if the worker has no use for it: then the
     *              tile is to be loaded.
     * needs_pixels does who resumes look at the tile's pixels?  At its validity, always.
     * drop         releases it. */
    int64_t (*kept_bytes)(const qfz_worker *worker);
    qfz_status (*keep)(qfz_worker *worker, qfz_kept **kept, qfz_error *err);
    bool (*resume)(qfz_worker *worker, const qfz_image *tile, qfz_kept *kept);
    bool (*needs_pixels)(const qfz_worker *worker);
    void (*drop)(qfz_kept *kept);

    /* Fills a summary that qfz_summary_init() made for the tile's box. */
    qfz_status (*summarise)(qfz_worker *worker, qfz_summary *summary, qfz_error *err);

    /* Regions of the tile.  answer: QFZ_OMEGA only, else NULL; for QFZ_COMPONENTS the slots are
     * the summary's. */
    qfz_status (*partition)(qfz_worker *worker, const qfz_answer *answer, qfz_partition *partition,
                            qfz_error *err);

    /* The labels of the regions of the last partition(); NULL: the tile is the whole raster, and
     * they are 1, 2, 3 ...  Copies what it needs. */
    qfz_status (*number)(qfz_worker *worker, const qfz_numbers *numbers, qfz_error *err);

    /* out[px] = label, 0 where invalid; uint32_t, or uint64_t if wide. */
    qfz_status (*labels)(qfz_worker *worker, bool wide, void *out, qfz_error *err);

    /* sums[slot] = exact sum of one band (exact.h), n_slots * qfz_sum_words() words. */
    qfz_status (*slot_sums)(qfz_worker *worker, int band, uint64_t *sums, qfz_error *err);

    /* records[i] = features of region first_region + i, 0 <= i < n (record.h), with its label, and
     * QFZ_RECORD_SHARED if it is a slot.  row_area: weight of a pixel in each row of the tile. */
    qfz_status (*features)(qfz_worker *worker, qfz_box box, const uint64_t *row_area,
                           uint32_t first_region, uint32_t n, uint64_t *records, qfz_error *err);

    /* out[px] = the mean of its region in one band (qfz_sum_mean()), of slots the one that is
     * given; *invalid where invalid; all of the raster's type. */
    qfz_status (*paint)(qfz_worker *worker, int band, const void *slot_mean, const void *invalid,
                        void *out, qfz_error *err);

    /* Keys of every edge: n_dirs planes of h * w, QFZ_NONE where there is none; of key_bytes each,
     * 4, or 2 where all are below 2^16 - 1, which then stands for QFZ_NONE.  There is room for 4
     * in any case.  answer: from stitching, NULL if the tile is the whole raster. */
    qfz_status (*saliency)(qfz_worker *worker, const qfz_answer *answer, int key_bytes, void *keys,
                           qfz_error *err);

    /* Words that tree() wants for parent, and for level, of a tile of h x w: those of the largest
     * result and some to work in.  NULL: 2 * h * w. */
    int64_t (*tree_room)(const qfz_rule *rule, int64_t h, int64_t w);

    /* The canonical alpha-tree, as in qfz_tree. */
    qfz_status (*tree)(qfz_worker *worker, uint32_t *parent, uint32_t *level, int64_t *n_nodes,
                       qfz_error *err);

    /* Groups of tiles, between passes: they take the place of the worker's tile.  All of these are
     * NULL for an engine that has no faster way than the host's. */

    /* Does the worker's memory hold what the others need for a group like this?  ring is not looked
     * at. */
    bool (*group_fits)(const qfz_worker *worker, const qfz_group_graph *graph);

    /* Up: links, and for QFZ_OMEGA absorbs, between the pixels of the group's ring; fills a summary
     * without any. */
    qfz_status (*group_summarise)(qfz_worker *worker, const qfz_group_graph *graph,
                                  qfz_summary *summary, qfz_error *err);

    /* Down, QFZ_LEVELS: the members' ghosts, and the level of every link in graph->cross. */
    qfz_status (*group_levels)(qfz_worker *worker, const qfz_group_graph *graph,
                               qfz_answer *members, uint32_t *cross_level, qfz_error *err);

    /* Down, QFZ_OMEGA; own: the group's answer. */
    qfz_status (*group_regions)(qfz_worker *worker, const qfz_group_graph *graph,
                                const qfz_answer *own, qfz_group_regions *found, qfz_error *err);

    /* Does a part of the worker's kind n_runs times, after once uncounted, what comes out staying
     * on the device; ms[i] by the device's clock.  NULL for an engine without a device. */
    qfz_status (*time)(qfz_worker *worker, qfz_part part, int n_runs, double *ms, qfz_error *err);

    /* Memory of the device that the worker has; NULL like the one before. */
    int64_t (*device_bytes)(const qfz_worker *worker);
} qfz_engine;

extern const qfz_engine qfz_engine_cpu;

/* A tile that is there as a whole. */
static inline qfz_status qfz_engine_load(const qfz_engine *engine, qfz_worker *worker,
                                         const qfz_image *tile, qfz_error *err)
{
    const qfz_rows all = {0, tile->h, tile->pixels, tile->h * tile->w};
    QFZ_TRY(engine->load(worker, tile, err));
    return engine->rows ? engine->rows(worker, &all, err) : QFZ_OK;
}

#ifdef __cplusplus
}
#endif

#endif
