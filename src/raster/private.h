/* SPDX-License-Identifier: MIT */
/* private.h - what the files of this room share: errors of GDAL, the insides of a source,
 * output formats, temporary names. */
#ifndef QFZ_RASTER_PRIVATE_H
#define QFZ_RASTER_PRIVATE_H

#include "core/retry.h"
#include "raster/raster.h"

#include <gdal.h>
#include <ogr_srs_api.h>

/* Types and functions that not every supported GDAL has are looked up by name at run time. */

/* ------------------------------------------------------------------ errors of GDAL (trap.c) */

/* Keeps the first failure and the first warning of this thread between begin and end. */
typedef struct qfz_trap {
    bool failed;
    char failure[640];
    char warning[640];
} qfz_trap;

void qfz_trap_begin(qfz_trap *trap); /* trap stays where it is until end */
void qfz_trap_end(qfz_trap *trap);

/* Fails with "name: reason", reason being the failure, or the warning, or `otherwise`. */
qfz_status qfz_trap_fail(const qfz_trap *trap, qfz_error *err, qfz_status st, const char *name,
                         const char *otherwise);
/* The same with the box in the message. */
qfz_status qfz_trap_fail_box(const qfz_trap *trap, qfz_error *err, const char *name, qfz_box box);

/* QFZ_EARG unless the box has pixels, all of them among those of the whole. */
qfz_status qfz_box_check(qfz_box box, qfz_box whole, const char *name, qfz_error *err);

/* *copy = text, to be freed with free(). */
qfz_status qfz_text_copy(char **copy, const char *text, qfz_error *err);
/* *text = what printf would give; free(). */
qfz_status qfz_text_print(char **text, qfz_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* text = the number, with as many digits as it takes to come back; 40 bytes are enough. */
void qfz_real_print(char *text, size_t bytes, double value);

/* ------------------------------------------------------------- georeference (georef.c, area.c) */
typedef struct qfz_georef {
    bool has_transform;
    double transform[6];      /* the identity where there is none */
    OGRSpatialReferenceH srs; /* owned, x before y; NULL: none that the transform leads to */
    bool is_geographic;
    double unit;          /* of the axes: radians if geographic, else metres; 1 without a CRS */
    double a, flattening; /* ellipsoid, if geographic */
} qfz_georef;

qfz_status qfz_georef_init(qfz_georef *georef, GDALDatasetH dataset, qfz_error *err);
void qfz_georef_fini(qfz_georef *georef);

/* CRS, geotransform or GCPs, pixel convention and RPC of one raster pass to another, whose first
 * row is row y0 of what the whole output has. */
qfz_status qfz_georef_copy(GDALDatasetH from, GDALDatasetH to, bool khalimsky, int64_t y0,
                           const char *name, qfz_error *err);

/* ------------------------------------------------------------------------ source (nested.c) */
enum { QFZ_VRT_BYTES_MAX = 256 << 20, QFZ_NESTED_MAX = 64 };

/* Fails if the VRT of that name and text leads back to itself by the VRTs that it names.
 * *window_matters becomes true if it is so of any of them. */
qfz_status qfz_nested_check(const char *vrt, const char *text, bool *window_matters,
                            qfz_error *err);

/* ------------------------------------------------------------------------ source (window.c) */

/* The number in an attribute (xOff=") of the tag that begins at text; NaN: there is none. */
double qfz_vrt_number(const char *text, const char *attribute);

/* May GDAL read other pixels of a VRT of this text where another window is asked for? */
bool qfz_window_matters(const char *vrt);

/* A part of a band, in the same cells whatever the part, if that matters. */
CPLErr qfz_window_read(GDALRasterBandH band, qfz_box box, GDALDataType type, bool in_cells,
                       void *pixels);

/* ------------------------------------------------------------------------- source (files.c) */

/* All files that a raster is read from, as far as GDAL knows them, those of VRTs that it names
 * among them; some more than once.  NULL: none.  *known, NULL before the first call, is the list,
 * to be released by CSLDestroy(). */
char *const *qfz_files_of(GDALDatasetH dataset, char ***known);

/* Is there a file of this name? */
bool qfz_raster_exists(const char *path);

/* ------------------------------------------------------------------------ source (mosaic.c) */

typedef struct qfz_mosaic {
    bool is_vrt;
    bool is_plain;            /* it lays out parts of TIFFs by pixels, and does nothing else */
    int64_t block_w, block_h; /* of all parts, if it is plain and says so; else 0 ... */
    bool has_grid;            /* ... and they begin at multiples of it */
    bool window_matters;      /* see qfz_window_matters(); of VRTs that it names, too */
} qfz_mosaic;

/* What kind of VRT this is; of other datasets, nothing.  Fails as qfz_nested_check(). */
qfz_status qfz_mosaic_of(GDALDatasetH dataset, qfz_mosaic *mosaic, qfz_error *err);

/* In between, GDAL opens files in this thread without looking for their georeferences. */
void qfz_mosaic_begin_read(void);
void qfz_mosaic_end_read(void);

/* ------------------------------------------------------------------------- source (source.c) */
typedef struct qfz_band {
    GDALRasterBandH handle;
    int number;        /* 1-based */
    qfz_type type;     /* its own */
    bool signed_bytes; /* GDAL calls it Byte, but it is signed */
    bool has_nodata, has_background;
    double nodata, background; /* exactly a value of the type, or NaN for has_nodata */
} qfz_band;

struct qfz_source {
    qfz_source_info info;
    char *name;
    GDALDatasetH dataset;
    GDALDatasetH mask_dataset;  /* of options.mask, or NULL */
    char **files, **mask_files; /* theirs; see qfz_files_of() */
    qfz_georef georef;          /* if is_located */
    bool is_located;

    qfz_band *bands; /* in use; for QFZ_CUT those of the saliency raster */
    int n_bands;
    int *numbers; /* of bands, as GDAL wants them */

    GDALRasterBandH *masks; /* 0 = invalid; alpha bands among them */
    int n_masks;
    qfz_nodata_rule rule;

    qfz_mosaic mosaic, mask_mosaic;
    bool knows_blocks;   /* what is decoded at a time is what info says ... */
    bool has_grid;       /* ... and blocks begin where multiples of their size are */
    bool is_interleaved; /* the bands in use lie together in blocks, or may */

    bool is_cut;
    int connectivity;
    double alpha;

    qfz_source_options options; /* to open it once more; strings and lists are borrowed */
    bool is_reader;             /* georef will not be asked for */
    qfz_retry retry;
    bool has_failed; /* the last read did */

    void *scratch;
    int64_t scratch_bytes;
};

/* Opens the raster once more, in the same place. */
qfz_status qfz_source_reopen(qfz_source *source, qfz_error *err);

/* Rows of a box that are processed at once where scratch is needed (read.c). */
int64_t qfz_source_chunk_rows(qfz_box box);
qfz_status qfz_source_scratch(qfz_source *source, int64_t n, size_t item_bytes, qfz_error *err);

/* Validity (valid.c): what open finds out, and what read does with it; planes of pixels are
 * plane_px pixels apart. */
qfz_status qfz_valid_init(qfz_source *source, const qfz_source_options *options, qfz_error *err);
qfz_status qfz_valid_read(qfz_source *source, qfz_box box, const void *pixels, int64_t plane_px,
                          uint8_t *valid, qfz_error *err);

/* The saliency raster behind QFZ_CUT (cut.c). */
qfz_status qfz_cut_init(qfz_source *source, const qfz_source_options *options, qfz_error *err);
qfz_status qfz_cut_read(qfz_source *source, qfz_box box, uint8_t *pixels, qfz_error *err);

/* --------------------------------------------------------------------- outputs (format.c) */

/* GDAL's type for a buffer of ours; GDT_Unknown: this GDAL has none. */
GDALDataType qfz_gdal_type(qfz_out_type type);

/* How a raster will be written. */
typedef struct qfz_format {
    GDALDriverH driver;
    bool copies;            /* the driver can only copy: write a GTiff first */
    GDALDataType file_type; /* of the bands */
    char file_type_name[16];
    GDALDataType buffer_type; /* of what qfz_sink_write() is given */
    double most;              /* no larger whole numbers fit; INFINITY: all of the type do */
    char **options;           /* of driver; owned */
    char **work_options;      /* copies: of the GTiff; owned */
} qfz_format;

qfz_status qfz_format_init(qfz_format *format, const qfz_source *source,
                           const qfz_sink_options *options, const qfz_sink_spec *spec,
                           qfz_error *err);
void qfz_format_fini(qfz_format *format);

/* The driver that writes files of path's extension; vector or raster. */
qfz_status qfz_driver_find(GDALDriverH *driver, const char *path, bool vector, qfz_error *err);

/* -------------------------------------------------------------------- outputs (steady.c) */

/* The name by which GDAL writes a plain file whose writes are tried again; other files' own. */
qfz_status qfz_steady_name(char **name, const char *path, const qfz_retry *retry, qfz_error *err);
bool qfz_steady_install(void); /* once is enough */

/* -------------------------------------------------------------------- outputs (header.c) */

/* Georeference, metadata, bands and mask of a raster that was just created. */
qfz_status qfz_header_fill(GDALDatasetH dataset, const qfz_source *source,
                           const qfz_sink_spec *spec, const char *name, qfz_error *err);

/* ---------------------------------------------------------------- outputs (part.c, vrt.c) */

/* May the output be written in parts, and is the name of their folder free? */
qfz_status qfz_parts_check(const qfz_sink_options *options, const qfz_sink_spec *spec,
                           qfz_error *err);
qfz_status qfz_part_make_folder(const qfz_sink_spec *spec, qfz_error *err);
qfz_status qfz_part_path_in(char **path, const char *folder, const qfz_sink_spec *spec, int part,
                            qfz_error *err);

/* Writes a VRT over the parts to temp.  Its sources are in a folder beside it; `one` is where one
 * of them can be looked at now. */
qfz_status qfz_vrt_write(const char *temp, const qfz_source *source, const qfz_sink_spec *spec,
                         const int64_t *rows, const char *folder, const char *one, qfz_error *err);

/* -------------------------------------------------------------------- outputs (output.c) */

/* Name free or overwrite asked for, no file of the source, named once in the job, folder
 * writable. */
qfz_status qfz_output_check(qfz_source *source, const qfz_output_options *options, const char *path,
                            qfz_error *err);

/* *temp = a name beside path, with path's extension (or `extension`, if given). */
qfz_status qfz_temp_name(char **temp, const char *path, const char *kind, const char *extension,
                         qfz_error *err);
/* Fails where path is free, but a file beside it that belongs to the temporary one would replace
 * one that is there: the header of another raster, which may be the source. */
qfz_status qfz_temp_check(const char *temp, const char *path, qfz_error *err);
/* Moves the temporary file and the files beside it that share its stem to path's. */
qfz_status qfz_temp_rename(const char *temp, const char *path, qfz_error *err);
/* Deletes them. */
void qfz_temp_delete(const char *temp);

#endif
