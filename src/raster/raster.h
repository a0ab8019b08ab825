/* SPDX-License-Identifier: MIT */
/* raster.h - rasters and tables on disk, through GDAL and PROJ; the only room that knows them.
 *
 * Messages of GDAL never reach a terminal from here: the first one of a failed call becomes part
 * of the qfz_error.  Every read and write looks at its return value. */
#ifndef QFZ_RASTER_H
#define QFZ_RASTER_H

#include <stdio.h>

#include "core/box.h"
#include "core/rows.h"
#include "core/tiling.h"
#include "core/level.h"
#include "core/retry.h"

/* Registers drivers, silences GDAL's own printing, sets the configuration options of GDAL in config
 * (KEY=VALUE, NULL-terminated; or NULL) and the bytes of its block cache.  All of this holds for
 * the whole process.  Call before anything else; several calls are allowed. */
qfz_status qfz_raster_setup(const char *const *config, int64_t cache_bytes, qfz_error *err);

/* ------------------------------------------------------------------------------------- source */
typedef struct qfz_source qfz_source; /* a raster that is read; one thread at a time */

typedef struct qfz_source_info {
    int64_t w, h;
    int n_bands;   /* the bands in use */
    qfz_type type; /* one for all bands; the smallest that holds each band's own type */
    int64_t block_w, block_h;
    int64_t px_bytes;    /* of all bands that are decoded together, as they are stored */
    bool may_be_invalid; /* false: no pixel can be invalid, reads give valid = all 1 */
    bool has_nodata;     /* one value for the bands in use; what painted outputs put there */
    double nodata;
} qfz_source_info;

/* What is read of which raster.  Zero means: all bands but alpha, nodata as the raster declares. */
typedef struct qfz_source_options {
    const char *name; /* any GDAL dataset name */
    const char *const *open_options;
    const int *bands; /* 1-based, in order; NULL: every band except alpha */
    int n_bands;
    const char *mask; /* name of a raster of the same size, 0 = invalid; or NULL */
    bool has_nodata;  /* nodata replaces the declared values */
    double nodata;
    qfz_nodata_rule nodata_rule;
    bool has_background; /* a pixel of this value in every band is invalid */
    double background;
    bool is_saliency; /* name is a saliency raster of layout edges, to be cut at level alpha */
    double alpha;
    qfz_retry retry; /* of reads that fail */
} qfz_source_options;

/* Opens a raster.  The source borrows the strings and lists of options until it is closed.
 *
 * Refused with QFZ_EARG or QFZ_EIO: no such dataset, no bands, a band that does not exist,
 * Float64, complex and 64-bit integer bands (the message says how to convert), a mask of another
 * size. */
qfz_status qfz_source_open(qfz_source **source, const qfz_source_options *options, qfz_error *err);

/* Learns where on Earth the pixels are, which GDAL and PROJ take some 10 ms for: once, at any time
 * before an area is asked for or a table is created. */
qfz_status qfz_source_locate(qfz_source *source, qfz_error *err);

/* Opens a source once more for a thread that only reads pixels.  It is not to know where they are:
 * threads would learn it one after the other; how blocks lie in a mosaic the source tells it. */
qfz_status qfz_source_open_reader(qfz_source **reader, const qfz_source *source, qfz_error *err);
void qfz_source_close(qfz_source *source); /* NULL is allowed */
const qfz_source_info *qfz_source_get_info(const qfz_source *source);

/* Lines "what<tab>which": everything by which another raster would be told from this one, without
 * reading pixels. */
void qfz_source_describe(qfz_source *source, FILE *out);

/* A line of that kind about what lies under an output's name, a raster or a table, if anything
 * does. */
void qfz_output_describe(const char *path, FILE *out);

/* Of a saliency raster: 4 or 8; else 0. */
int qfz_source_connectivity(const qfz_source *source);

/* Reads a box: n_bands planes of h * w pixels of info.type, and h * w bytes of validity, 0 or 1;
 * valid may be NULL where info.may_be_invalid says that all are.
 *
 * For a saliency raster, one band of U8: bit d is set if the edge in direction d (rule.h) exists
 * and its level, as stored, is <= options->alpha.  Negative zeros are read as zero.  On QFZ_EIO the
 * message names the file and the box. */
qfz_status qfz_source_read(qfz_source *source, qfz_box box, void *pixels, uint8_t *valid,
                           qfz_error *err);

/* Where the rows of a box go, and who goes on with them as soon as they are there. */
typedef struct qfz_reading {
    void *pixels;   /* room for the box, where what was read stays; or, if not is_whole, for */
    bool is_whole;  /* qfz_source_part_px() pixels of each band, for one part after the other */
    uint8_t *valid; /* of the box in any case; NULL as above */
    void *arg;      /* of the two functions */
    /* Asked before each part, if neither it nor is_whole is there: may put the part elsewhere. */
    qfz_status (*room)(void *arg, void **pixels, qfz_error *err);
    /* Given one part of the box after the other, from the first row to the last. */
    qfz_status (*came)(void *arg, const qfz_rows *rows, qfz_error *err);
} qfz_reading;

/* The same as qfz_source_read(), in parts. */
qfz_status qfz_source_read_rows(qfz_source *source, qfz_box box, const qfz_reading *reading,
                                qfz_error *err);
int64_t qfz_source_part_px(const qfz_source *source, int64_t h,
                           int64_t w); /* of boxes up to h x w */

/* What one thread should have of GDAL's cache so that it decodes no block twice for a box of that
 * width; 0: as much as there is, for such boxes cut blocks, which others need too, or may. */
int64_t qfz_source_cache_bytes(const qfz_source *source, int64_t w);

/* Gives GDAL's cache another size, unless config sets GDAL_CACHEMAX. */
void qfz_raster_set_cache(const char *const *config, int64_t cache_bytes);

/* ----------------------------------------------------------------------------------- tile plan */
/* tile_px > 0: square tiles of that side.  0: at most max_px pixels, of the shape that fits the
 * source's blocks best: multiples of blocks (and of 256, where it can), whole rows for strips. */
qfz_status qfz_tiling_choose(qfz_tiling *tiling, const qfz_source_info *info, int32_t tile_px,
                             int64_t max_px, qfz_error *err);

/* --------------------------------------------------------------------------------------- sink */
typedef struct qfz_sink qfz_sink; /* a raster that is written; any thread, calls are serialised */

/* What the pixels mean; it decides nodata, metadata and georeference. */
typedef enum qfz_content {
    QFZ_CONTENT_LABELS = 0, /* UInt32 or UInt64, nodata 0 */
    QFZ_CONTENT_PAINTED,    /* the source's type, bands and nodata */
    QFZ_CONTENT_SALIENCY    /* of the layout named in the spec */
} qfz_content;

/* Pixel type of an output; wider than qfz_type. */
typedef enum qfz_out_type {
    QFZ_OUT_U8 = 0,
    QFZ_OUT_I8,
    QFZ_OUT_U16,
    QFZ_OUT_I16,
    QFZ_OUT_U32,
    QFZ_OUT_I32,
    QFZ_OUT_U64,
    QFZ_OUT_F32,
    QFZ_OUT_F64
} qfz_out_type;
size_t qfz_out_type_bytes(qfz_out_type type);
qfz_out_type qfz_out_type_of(qfz_type type);

typedef struct qfz_sink_spec {
    const char *path;
    qfz_content content;
    int64_t w, h;
    int n_bands;
    qfz_out_type type; /* of the pixels that qfz_sink_write() is given */
    double max_value;  /* largest value that will be written; an options->type that cannot hold it
                          is refused (QFZ_EARG) before anything is created */
    bool has_nodata;
    double nodata; /* NaN is allowed */
    bool has_mask; /* the writer gives validity, which is kept in a mask band */

    /* Written as metadata. */
    int connectivity;
    qfz_distance distance;
    qfz_layout layout;   /* QFZ_CONTENT_SALIENCY; the others: */
    double alpha;        /* infinity: no limit */
    const double *omega; /* one, or one for each band, borrowed; n_omega = 0: no limit */
    int n_omega;

    int part, n_parts; /* n_parts > 0: only a part, 0 <= part < n_parts, of what path will be ... */
    int64_t y0, y1;    /* ... its rows y0..y1 of h, y0 < y1; see qfz_parts_join() */
} qfz_sink_spec;

/* What rasters and tables have in common: the outputs of one run. */
enum { QFZ_OUTPUTS_MAX = 3 };
typedef struct qfz_output_options {
    const char *names[QFZ_OUTPUTS_MAX]; /* of all outputs of the run, to find equal ones; or NULL */
    bool overwrite;                     /* an output of the same name is replaced */
    qfz_retry retry;                    /* of reads and writes that fail */
} qfz_output_options;

/* How a raster is written. */
typedef struct qfz_sink_options {
    qfz_output_options output;
    const char *format; /* GDAL driver; NULL: by extension, else GTiff */
    const char *type;   /* of the file, a GDAL type name; NULL: spec->type */
    const char *const *creation_options;
    bool merge;       /* parts are merged into one file */
    int n_threads;    /* of the driver; 0: one for each processor */
    int32_t tile_px;  /* side of the boxes that will be written; 0: any */
    bool has_journal; /* files beside the output may be those of an earlier, killed run */
} qfz_sink_options;

/* An output is written whole, by one process, or in parts, by one or several: a range of rows each,
 * as a GTiff in a hidden folder beside path.  A VRT is always in parts, and nothing else can be but
 * what is merged in the end.  Boxes are counted in the whole raster in either case. */

/* Checks that need no pixels: format known and able to write, name free or overwrite asked for,
 * not the source itself or one of its files, folder writable, type able to hold max_value.  Run
 * before the first pass, so that a job does not fail after hours.  The source learns what its files
 * are, once for all outputs. */
qfz_status qfz_sink_check(qfz_source *source, const qfz_sink_options *options,
                          const qfz_sink_spec *spec, qfz_error *err);

/* *name = the format that path will have, as GDAL calls it; valid as long as options->format. */
qfz_status qfz_output_format(const char *format, const char *path, const char **name,
                             qfz_error *err);

/* Creates a raster beside spec->path under a temporary name.  CRS, geotransform, GCPs, area or
 * point are the source's (for khalimsky half its pixel size).  default GTiff: tiled, ZSTD if there,
 * BIGTIFF=IF_SAFER, SPARSE_OK.  Drivers that can only copy (COG, PNG) get a temporary GTiff that
 * commit() copies. */
qfz_status qfz_sink_create(qfz_sink **sink, const qfz_source *source,
                           const qfz_sink_options *options, const qfz_sink_spec *spec,
                           qfz_error *err);

/* Does all that is written go past GDAL's cache, if boxes begin at multiples of box_w and, from the
 * file's first row on, box_h, and go as far or to the edge? */
bool qfz_sink_is_direct(const qfz_sink *sink, int64_t box_w, int64_t box_h);

/* Writes a box: n_bands planes of h * w, of spec->type.  valid (h * w, or NULL: all valid) is
 * looked at only if spec->has_mask.  A pixel is written once.  Any thread. */
qfz_status qfz_sink_write(qfz_sink *sink, qfz_box box, const void *pixels, const uint8_t *valid,
                          qfz_error *err);

/* How much of something that takes long is done, 0..1; where it fails, that ends. */
typedef qfz_status (*qfz_advance_fn)(void *arg, double part, qfz_error *err);

/* Is a file of the format that path will have made by copying a finished one (COG, PNG)? */
bool qfz_output_is_copied(const char *format, const char *path);

/* Flushes, closes, copies where the format needs it, which told hears of: all that can fail before
 * the file has its name.  Nothing is written or read from here on until commit(). */
qfz_status qfz_sink_finish(qfz_sink *sink, qfz_advance_fn told, void *arg, qfz_error *err);

/* Finishes, if that is not done, and renames to the final name (with side files). */
qfz_status qfz_sink_commit(qfz_sink *sink, qfz_error *err);

/* Closes; deletes what is not committed.  NULL is allowed. */
void qfz_sink_close(qfz_sink *sink);

/* Opens an output, or a part of one, that is complete, to be read by qfz_sink_read().  Refused if
 * it has another size or number of bands than the spec says. */
qfz_status qfz_sink_open(qfz_sink **sink, const qfz_sink_options *options,
                         const qfz_sink_spec *spec, qfz_error *err);

/* Deletes what killed runs of a job have left of an output, under temporary names. */
void qfz_output_clean(const char *path);

/* Reads back a box that is written already, before or after commit (layouts other than edges are
 * derived from a raster of edges).  Same planes and type as qfz_sink_write(). */
qfz_status qfz_sink_read(qfz_sink *sink, qfz_box box, void *pixels, uint8_t *valid, qfz_error *err);

/* -------------------------------------------------------------------------------------- parts */

/* Will path be a VRT over parts?  If not, several processes need options->merge. */
bool qfz_output_is_vrt(const char *format, const char *path);

/* *path = where a part is while some are missing: .out.vrt.qfz-parts/out-003-of-016.tif for part 2
 * of 16 of out.vrt; to be freed with free(). */
qfz_status qfz_part_path(char **path, const qfz_sink_spec *spec, qfz_error *err);

/* Copies all spec->n_parts parts, when they are committed, into one file in the format of options;
 * part k has rows rows[k]..rows[k+1] of the output, none if they are equal, and then there is no
 * file of it.  *whole is to be finished, for qfz_parts_join(); left alone if a join that was killed
 * had come past its commit. */
qfz_status qfz_parts_merge(qfz_sink **whole, const qfz_source *source,
                           const qfz_sink_options *options, const qfz_sink_spec *spec,
                           const int64_t *rows, qfz_advance_fn told, void *arg, qfz_error *err);

/* Makes spec->path when all parts are committed.
 *
 * A VRT: the parts' folder becomes out.parts, and the VRT names its files relative to itself.  Else
 * (options->merge) whole, as merged, is committed, after which the parts are gone.  Pixels, CRS,
 * geotransform, nodata, mask, names of bands and metadata are those of an output written whole.  It
 * appears when complete.  A join that was killed may be called again. */
qfz_status qfz_parts_join(const qfz_source *source, const qfz_sink_options *options,
                          const qfz_sink_spec *spec, const int64_t *rows, qfz_sink *whole,
                          qfz_error *err);

/* Deletes the parts of an output that will not be joined, and their hidden folder. */
void qfz_parts_delete(const char *path);

/* Deletes a VRT that was joined, with its parts. */
void qfz_parts_remove(const char *path);

/* -------------------------------------------------------------------------------------- table */
typedef struct qfz_table qfz_table; /* one row per region; one thread at a time */

typedef struct qfz_region_band {
    double mean, min, max, stddev; /* population standard deviation */
} qfz_region_band;

typedef struct qfz_region_row {
    uint64_t label;
    uint64_t pixels;
    double area;                  /* square metres; square units of the raster without a CRS */
    double x, y;                  /* centroid in pixels: 0.5 is the middle of the first one */
    int64_t x0, y0, x1, y1;       /* bounding box in pixels, half-open */
    const qfz_region_band *bands; /* n_bands of them */
} qfz_region_row;

/* The driver follows from the extension (.gpkg, .csv, .parquet, .geojson ... any OGR driver that
 * can create).  Columns: label, pixels, area, x, y (centroid in the CRS of the raster), lon, lat
 * (WGS 84, where there is a CRS), bounding box in the CRS and in pixels, mean_b, min_b, max_b,
 * stddev_b per band used, b being its number in the source.  Geometry, where the format has one:
 * the centroid as a point.  A NaN is written as null. */
qfz_status qfz_table_check(qfz_source *source, const qfz_output_options *options, const char *path,
                           qfz_error *err);
qfz_status qfz_table_create(qfz_table **table, const qfz_source *source,
                            const qfz_output_options *options, const char *path, int n_bands,
                            qfz_error *err);
qfz_status qfz_table_write(qfz_table *table, const qfz_region_row *row, qfz_error *err);
/* As qfz_sink_finish() and qfz_sink_commit(): some drivers (XLSX, KML) write all in finish(). */
qfz_status qfz_table_finish(qfz_table *table, qfz_error *err);
qfz_status qfz_table_commit(qfz_table *table, qfz_error *err);
void qfz_table_close(qfz_table *table);

/* weights[i] = area of a pixel in raster row y0 + i, in units of qfz_source_area_unit(), as whole
 * numbers, so that areas add exactly; those of the whole raster stay below 2^63.  On the CRS's
 * ellipsoid for a geographic CRS (the mean of a row, if the geotransform is rotated), else
 * |determinant of the geotransform| times the unit squared. */
qfz_status qfz_source_row_areas(const qfz_source *source, int64_t y0, int64_t n, uint64_t *weights,
                                qfz_error *err);
double qfz_source_area_unit(const qfz_source *source);

#endif
