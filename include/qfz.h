/* SPDX-License-Identifier: MIT */
/* qfz.h - exact quasi-flat zones of rasters of any size: the public API of libqfz.
 *
 * A quasi-flat zone (alpha-component) is a maximal set of pixels joined by paths of neighbours
 * whose dissimilarity is at most alpha; alpha = 0 gives flat zones, the connected components of
 * equal values.  The library has two entrances:
 *
 *   1. Jobs: raster files in, raster files out, streamed tile by tile.
 *   2. Sessions: one image in memory, of the host or of a GPU.
 *
 * A hierarchy that a job has written as a table becomes a tree, a linkage or a cut by the functions
 * of section 3.  Section 4 computes on chunks of one image in any processes, for schedulers.
 *
 * Results never depend on the tile size, the number of threads, the memory or the engine.
 *
 * Errors.  A function that can fail returns a qfz_status and writes the reason into the caller's
 * qfz_error.  The parameter `err` may be NULL everywhere.  On failure, outputs are unchanged unless
 * the function says otherwise.  The library prints nothing and never ends the process.
 *
 * Growing structs.  A struct whose first member is struct_size can get further members at its end
 * in a later version of the library.  The caller sets struct_size to sizeof of the struct as
 * compiled, by the struct's _default() function.  The library reads and writes struct_size bytes
 * only; members that are missing in a smaller struct have their default.  A struct_size of 0, or a
 * larger struct whose unknown members are not all zero, is refused (QFZ_EARG).  All other structs
 * never change within a major version.
 *
 * Threads.  The library keeps no state between calls, with the process-wide exceptions below.  Any
 * functions may run in several threads at the same time, except that
 *   - a session is used by one thread at a time (several sessions may run at the same time, on one
 *     GPU too), and
 *   - at most one job of a process may have ranks (qfz_job.ranks with n > 1) at a time, and
 *     qfz_ranks_join() and qfz_ranks_leave() run alone, in the thread that runs that job.
 *
 * Process-wide.  Sessions change nothing outside themselves.  A job uses GDAL, whose settings hold
 * for the process; the job sets, and leaves set:
 *   - the GDAL configuration options of qfz_job.config, VRT_SHARED_SOURCE=1 and, unless set before,
 *     GDAL_MAX_DATASET_POOL_SIZE;
 *   - the size of GDAL's block cache, unless qfz_job.config has GDAL_CACHEMAX.  Of several jobs at
 *     the same time the last one to set these decides for all of them, which changes speed and
 *     memory, not results;
 *   - GDAL's default error handler, to one that prints nothing.  Handlers that a thread pushed
 *     (CPLPushErrorHandler) remain, and so do the thread's own configuration options;
 *   - GDAL's drivers, which are registered, and one virtual file system of the library.
 * qfz_job.memory_bytes bounds a job as if it were the only one of the process.
 *
 * The CUDA engine makes the GPU that it uses the current one of the calling thread
 * (cudaSetDevice()).
 */
#ifndef QFZ_H
#define QFZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------
 * Version, errors, words that jobs and sessions share
 * ------------------------------------------------------------------------------------------- */

/* Of this header.  Within a major version, programs built with an older header keep working. */
#define QFZ_VERSION_MAJOR 1
#define QFZ_VERSION_MINOR 0
#define QFZ_VERSION_PATCH 0
#define QFZ_VERSION_NUMBER (QFZ_VERSION_MAJOR * 10000 + QFZ_VERSION_MINOR * 100 + QFZ_VERSION_PATCH)
#define QFZ_VERSION "1.0.0"

#define QFZ_API __attribute__((visibility("default")))
#define QFZ_CHECKED __attribute__((warn_unused_result))

/* Of the library at run time: QFZ_VERSION_NUMBER and QFZ_VERSION of its own header. */
QFZ_API int qfz_version_number(void);
QFZ_API const char *qfz_version(void);

/* What the library was built with: lines "NAME VERSION" for qfz, GDAL, PROJ, MPI, CUDA (with its
 * architectures) and the compiler; "none" for what is not in it.  A static string without a final
 * newline. */
QFZ_API const char *qfz_build_info(void);

/* The peak of this process's resident memory in bytes, without that of the program that started it
 * where the system tells; as qfz_report.peak_rss_bytes, at any time.  Any thread. */
QFZ_API int64_t qfz_peak_memory_bytes(void);

typedef enum qfz_status {
    QFZ_OK = 0,
    QFZ_EARG,   /* a parameter is out of range or contradicts another; the message names it */
    QFZ_ENOMEM, /* host or device memory ran out; a smaller tile or image may succeed */
    QFZ_EIO,    /* a raster or table could not be opened, read or written */
    QFZ_EGPU,   /* there is no usable GPU, or a kernel failed */
    QFZ_ECANCEL /* the progress function returned a value other than 0 */
} qfz_status;

/* The name of a status as it is spelled above, "QFZ_EARG"; "unknown status" for other values.  The
 * string is static. */
QFZ_API const char *qfz_status_name(qfz_status status);

/* The reason of a failure.  The failing function writes status and message: one line without a
 * newline, with file names and numbers.  Functions that succeed set status to QFZ_OK. */
typedef struct qfz_error {
    qfz_status status;
    char message[1024];
} qfz_error;

/* Pixel types.  Int16 of GDAL is QFZ_I16, and so on. */
typedef enum qfz_type { QFZ_U8 = 0, QFZ_I8, QFZ_U16, QFZ_I16, QFZ_U32, QFZ_I32, QFZ_F32 } qfz_type;

/* Dissimilarity of two pixels over all bands: sum of absolute differences, Euclidean distance,
 * largest absolute difference, spectral angle.
 *
 * Without weights, l1 and linf of integer rasters are exact integers.  Everything else is an IEEE
 * single, computed in this order, each operation rounded to nearest:
 *   - l2 of integers without weights: the sum of squares exactly, then its root;
 *   - l1 and linf of floats, in single precision: |a - b| in each band; sum or maximum in the order
 *     of the bands;
 *   - l1 and linf with weights, integers and floats alike: |a - b|, exact for integers, rounded to
 *     a single; times the weight as a single; then as floats;
 *   - l2 of floats, and l2 with weights, in double precision: |a - b|, times the weight as a
 *     single, squared; sum in the order of the bands; root; then rounded to a single.  No square of
 *     a difference of finite values is too small or too large for a double, so l2 of one band of
 *     floats equals l1, and only equal values without weights have l2 0;
 *   - bands of weight 0 are left out; the difference of equal infinities is 0; a result greater
 *     than the largest single is infinite;
 *   - the angle in radians, 0 to pi: dot products a.b, a.a and b.b in double precision, in the
 *     order of the bands; from them the angle in double precision by the fixed operations of
 *     src/core/angle.h; then rounded.  Vectors in one direction have the angle 0 if their dot
 *     products are exact, as those of 8 and 16 bits are; any result is within 3e-8 of the angle,
 *     before it is rounded.  A vector of zeros, or one with an infinite value, has no direction:
 *     its angle is 0 to another one without, and pi / 2 to one with a direction.  The angle needs
 *     two bands or more, and takes no weights. */
typedef enum qfz_distance { QFZ_L1 = 0, QFZ_L2, QFZ_LINF, QFZ_SAM } qfz_distance;

typedef enum qfz_engine_choice {
    QFZ_ENGINE_AUTO = 0, /* CUDA where it can do the work and would finish first, else the CPU */
    QFZ_ENGINE_CPU,
    QFZ_ENGINE_CUDA
} qfz_engine_choice;

/* Which pixels form a region.  The members in `reserved` must be 0; later versions of the library
 * may give them a meaning. */
typedef struct qfz_criterion {
    int connectivity;      /* 4 or 8 */
    qfz_distance distance; /* not divided by the number of bands */
    bool has_alpha;        /* false: labels are of flat zones, simplify has no limit alpha */
    double alpha;          /* largest dissimilarity of joined neighbours, >= 0; infinity is allowed.
                              Tree and saliency are of all alphas and ignore it */
    const double *omega;   /* largest max - min of a region, per band, >= 0; NULL: no limit */
    int n_omega;       /* length of omega: 1 (the same for every band), or the number of bands */
    int n_weights;     /* length of weights: the number of bands; ignored where weights is NULL */
    uint64_t min_area; /* N: least number of pixels of a region.  The hierarchy is filtered so that
                          no region of any cut is smaller, except whole areas of valid pixels that
                          are; a region may span more than omega for it.  0 or 1: no filter.
                          Not for trees of sessions (qfz_session_tree()) and for cuts.  For an
                          image in device memory, a byte for each pixel passes through host
                          memory */
    const double *weights; /* of l1, l2 and linf: one per band, finite, >= 0, at least one > 0; flat
                              zones ignore them; NULL: none */
    uint64_t reserved[4];
} qfz_criterion;

/* Published GPU methods by their names, for gpu_method of jobs and sessions: the kernels of the
 * papers in the papers' order.  docs/user/methods.md lists where a method differs from its paper.
 * The results are those of the default, whose kernels are faster.  A job or session that a method
 * cannot do is refused.
 *
 * Labels of equal values, one band of integers, 4 or 8 neighbours, without a least area:
 *   stava        Stava, Benes: Connected component labeling in CUDA (GPU Computing Gems, 2011)
 *   c2fl         Chen et al.: Efficient parallel connected component labeling with a coarse-to-fine
 *                strategy (IEEE Access 6, 2018)
 *   ha4, ha4-32  Hennequin, Lacassagne, Cabaret, Meunier: A new direct connected component labeling
 *                and analysis algorithm for GPUs (DASIP 2018), with words of 64 and of 32 pixels
 * Alpha-trees: saliency and simplify of jobs; saliency, (alpha, omega) and trees of sessions; every
 * raster and distance, but not levels of edges:
 *   connect-v1, connect-v2   Carlinet, Kaci, Blin: An alpha-tree algorithm for massively parallel
 *                architectures (IEEE TIP 2025), its two versions */

/* How far a job or the run of a session is.  The library sets struct_size. */
typedef struct qfz_progress {
    size_t struct_size;
    double done;      /* part of the whole, 0..1, never decreasing */
    const char *step; /* the present step, such as "pass 1 of 2" or "stitching"; valid during the
                         call */
    int64_t tiles_done, tiles; /* of the step, in this process; 0 of 0 where a step has no tiles */
    int64_t retries; /* reads and writes of this process repeated after a failure, since it started;
                        0 for sessions */
} qfz_progress;

/* The library calls it from one thread at a time, which may be any thread of its own.  A return
 * value other than 0 cancels: the job or run fails with QFZ_ECANCEL, and the function is not called
 * again. */
typedef int (*qfz_progress_fn)(const qfz_progress *progress, void *arg);

/* ---------------------------------------------------------------------------------------------
 * 1. Jobs: raster files in, raster files out
 * ------------------------------------------------------------------------------------------- */

typedef enum qfz_task {
    QFZ_LABEL = 0, /* dst: labels of flat zones or alpha-components */
    QFZ_SIMPLIFY,  /* dst: each (alpha, omega)-component painted with its mean (Soille, Constrained
                      connectivity, IEEE TPAMI 30, 2008) */
    QFZ_SALIENCY,  /* dst: for every edge the lowest alpha at which its two pixels are in one
                      alpha-component; the raster is the whole hierarchy */
    QFZ_CUT,       /* dst: labels of alpha-components, src being a saliency raster */
    QFZ_CURVE,     /* curve: the number of alpha-components for every alpha; no dst */
    QFZ_REGIONS,   /* regions, neighbours: src being a raster of labels, of any origin; no dst */
    QFZ_FOREST     /* dst: labels of the regions of level 0; forest: the rest of the hierarchy, as a
                      table of the edges of the minimum spanning forest between them */
} qfz_task;

/* Form of a saliency raster.  EDGES: one band per direction (right, below; 8-connected also below
 * right, below left), each edge stored at the pixel that it starts from; qfz_job of QFZ_CUT reads
 * this form only.  PIXEL: largest level around each pixel.  KHALIMSKY: (2h - 1) x (2w - 1) cells.
 *
 * Outputs carry metadata: QFZ_CONTENT (labels, painted, saliency), QFZ_CONNECTIVITY, QFZ_DISTANCE,
 * QFZ_WEIGHTS where there are weights; saliency also QFZ_LAYOUT, labels and painted rasters also
 * QFZ_ALPHA and QFZ_OMEGA, and outputs with a least area of regions QFZ_MIN_AREA. */
typedef enum qfz_layout { QFZ_EDGES = 0, QFZ_PIXEL, QFZ_KHALIMSKY } qfz_layout;

/* Overviews of an output raster, of factors 2, 4, 8 ... until both sides are at most 512 pixels.
 * NEAREST: the upper left pixel of each square of 2 x 2, 4 x 4 ... pixels.  MODE, for labels only:
 * the most frequent label of the square, of several the least; 0 where there is none. */
typedef enum qfz_overviews {
    QFZ_OVERVIEWS_NONE = 0,
    QFZ_OVERVIEWS_NEAREST,
    QFZ_OVERVIEWS_MODE
} qfz_overviews;

/* What qfz_job.quicklook shows of regions, with their borders: colours that differ where regions
 * touch; the means of the pixels that the picture shows; the image itself, under the borders. Means
 * and image are of src (label, simplify) or of stats (cut, regions): of its bands of red, green and
 * blue, else of bands 3, 2 and 1 of at least four, of three bands, or of the first. */
typedef enum qfz_quicklook_style {
    QFZ_QUICKLOOK_COLORS = 0,
    QFZ_QUICKLOOK_MEANS,
    QFZ_QUICKLOOK_IMAGE
} qfz_quicklook_style;

/* A pixel is invalid if all of its bands hold nodata, or if any does. */
typedef enum qfz_nodata_rule { QFZ_NODATA_ALL = 0, QFZ_NODATA_ANY } qfz_nodata_rule;

/* This process among the processes that share a job, and among those on the same machine. */
typedef struct qfz_ranks {
    int rank, n;
    int local_rank, n_local;
} qfz_ranks;

/* Finds the processes that mpirun, srun or a similar launcher started together with this one.
 * Starts MPI.  Every one of these processes must call qfz_ranks_join() once, and qfz_ranks_leave(),
 * which ends MPI, before it exits.  Without a launcher, or in a build without MPI, *ranks is one
 * process and MPI is not started. */
QFZ_API QFZ_CHECKED qfz_status qfz_ranks_join(qfz_ranks *ranks, qfz_error *err);
QFZ_API void qfz_ranks_leave(void);

enum { QFZ_GPUS_MAX = 64 };

/* Lets a program limit which GPUs CUDA sees, as by CUDA_VISIBLE_DEVICES.  CUDA starts every GPU
 * that it sees, which takes some tenths of a second each.  A job calls count(), then show(), before
 * CUDA starts.  Both pointers must be set. */
typedef struct qfz_gpu_view {
    int (*count)(void *arg); /* returns the number of GPUs, at most QFZ_GPUS_MAX; 0: not known */
    bool (*show)(const int *gpus, int n, void *arg); /* makes CUDA see these GPUs only, in this
                                                        order; returns whether it did */
    void *arg;                                       /* for both functions */
} qfz_gpu_view;

/* The steps of a job that runs as several processes, one after the other; see qfz_job.phase. */
typedef enum qfz_phase {
    QFZ_PHASE_ALL = 0,
    QFZ_PHASE_SUMMARISE, /* the boundary summaries of one part's tiles */
    QFZ_PHASE_STITCH,    /* one process: the exteriors of all tiles from all summaries */
    QFZ_PHASE_RESOLVE    /* one part's tiles again, given their exteriors, into the output */
} qfz_phase;

/* The number of alpha-components for every alpha: regions[i] of them for alpha[i] <= alpha <
 * alpha[i + 1], and regions[n - 1] from alpha[n - 1] on.  alpha[0] is 0, alpha ascends in the unit
 * of the pixels, and regions descends.
 *
 * Where the levels of more than 2^18 different floats (or integers from 2^20 on) occur,
 * neighbouring ones share a point: from alpha = exact_below on, regions[i] is exact at alpha[i],
 * and between alpha[i] and alpha[i + 1] the number is between regions[i] and regions[i + 1]. */
typedef struct qfz_curve {
    size_t struct_size;
    int64_t n; /* points */
    double *alpha;
    uint64_t *regions;
    double exact_below; /* infinity: all is exact */
} qfz_curve;

static inline qfz_curve qfz_curve_default(void)
{
    qfz_curve curve;
    memset(&curve, 0, sizeof curve);
    curve.struct_size = sizeof curve;
    return curve;
}

/* Frees the arrays of a curve that a job has filled. */
QFZ_API void qfz_curve_release(qfz_curve *curve);

/* Draws a curve into a PNG image of 900 x 600 pixels, both axes logarithmic.  overwrite: replace
 * the file if it exists. */
QFZ_API QFZ_CHECKED qfz_status qfz_curve_plot(const qfz_curve *curve, const char *path,
                                              bool overwrite, qfz_error *err);

/* A job.  Start from qfz_job_default().  Everything a job points to is borrowed until the call
 * returns.  String lists are arrays of "KEY=VALUE" that end with NULL; NULL is an empty list. */
typedef struct qfz_job {
    size_t struct_size;
    qfz_task task;
    const char *src; /* any GDAL dataset name */
    const char *dst; /* any name that the GDAL driver can create */
    bool count_only; /* label, simplify, cut: count regions and pixels for the report and write
                        nothing; dst, labels and regions must be NULL */

    const char *labels;  /* simplify: also write labels into this raster; or NULL */
    const char *regions; /* not saliency and curve: write one row per region into this table; or
                            NULL */

    const int *bands; /* n_bands band numbers from 1; NULL: every band except alpha */
    int n_bands;
    const char *const *open_options; /* of GDAL's driver for src */
    const char *const *config;       /* GDAL configuration options, for the whole process */
    const char *mask;                /* a raster of the same size, 0 = invalid; or NULL */
    bool has_nodata;                 /* nodata replaces the value that src declares */
    double nodata;                   /* ignored in bands whose type cannot hold it */
    qfz_nodata_rule nodata_rule;
    bool has_background; /* label: pixels with this value in every band get label 0 */
    double background;

    qfz_criterion criterion;
    qfz_layout layout; /* saliency */

    const char *format; /* GDAL driver of dst and labels; NULL: by file extension, else GTiff */
    const char *type;   /* GDAL type name of dst; NULL: the smallest type that holds the result */
    const char *const *creation_options; /* of the GDAL driver, for dst and labels */
    bool merge;     /* several processes: copy their parts into one file instead of a VRT */
    bool overwrite; /* replace outputs that exist */

    int32_t tile_px;      /* side of a tile, pixels; 0: chosen from the memory */
    int64_t memory_bytes; /* bound of this process's peak; 0: half of the machine's memory */
    int n_threads;        /* 0: one per processor */
    int retries;          /* of a failed read or write; default 3 */
    double retry_wait_s;  /* before the first retry; each further wait is four times as long, at
                             most 10 s; default 0.01 */
    qfz_engine_choice engine;
    const int *gpus; /* n_gpus CUDA device numbers; NULL: all GPUs, or as px_per_gpu says */
    int n_gpus;
    int64_t px_per_gpu; /* gpus NULL: use one GPU, and one more for each px_per_gpu pixels of this
                           process; 0: all */
    const qfz_gpu_view *gpu_view; /* NULL: CUDA's view is not changed */
    int64_t gpu_memory_bytes;     /* to use on each GPU; 0: nine tenths of its memory */
    const char *gpu_method;       /* a published method; NULL or "auto": the fastest.  Results are
                                     the same */

    const qfz_ranks *ranks; /* every one of these processes runs the same job; NULL: this process
                               is alone */
    const char *work;       /* folder of a journal, from which an interrupted job can be resumed;
                               NULL: none */
    bool resume;     /* true: continue the job in work, which another number of ranks may have
                        begun; false: work must hold no journal */
    qfz_phase phase; /* not ALL: run this phase only, of part `part` of n_parts (from 1),
                        through the folder work; earlier phases must be complete */
    int part, n_parts;

    qfz_progress_fn progress; /* NULL: none */
    void *progress_arg;

    double min_area_m2; /* not cut: least area of a region, as criterion.min_area,
                           in square metres (without a CRS, in square units of the geotransform); 0:
                           none */
    qfz_curve *curve; /* curve: receives the result, which the caller releases; in every process */
    bool allow_network;   /* src and mask, and what a VRT names, may be read over a network, and
                             outputs may be objects in buckets (/vsis3/, /vsigs/, /vsiaz/), made in
                             work, without it in the folder that TMPDIR names, else in /tmp */
    bool trust_source;    /* true: the pixels of src do not change during the job, and checksums of
                             them, which later passes compare, are left out */
    bool unused_flags[2]; /* must be false */
    qfz_overviews overviews; /* of dst and labels, in a GTiff; in a COG, QFZ_OVERVIEWS_NONE leaves
                                the choice to creation_options; see qfz_overviews */

    /* A raster of src's size whose bands are levels of edges, stored as in QFZ_EDGES: 2 bands
     * (4-connected) or 4 (8-connected) of integers or Float32, >= 0; NaN, or the band's nodata: no
     * edge.  label, simplify, saliency: these levels take the place of dissimilarities; src gives
     * valid pixels, georeference and values; label needs alpha.  cut: read instead of src, which is
     * NULL or the same name, without the metadata that a saliency raster has.  curve: the same name
     * as src gives the curve of these edges, as of cuts.  NULL: none. */
    const char *edges;

    /* label, simplify (with labels), cut, regions: also write the pairs of regions that share sides
     * of pixels into this table: a < b, number of shared sides, their length in metres, and, where
     * values are at hand (src of label and simplify, stats), the mean and the least level of these
     * edges; or NULL. */
    const char *neighbours;
    /* label, cut, regions: a raster of src's size; the table of regions gets the statistics of its
     * bands; or NULL.  A pixel counts where no band used is nodata. */
    const char *stats;
    const int *stats_bands; /* n_stats_bands band numbers from 1; NULL: every band except alpha */
    int64_t n_stats_bands;
    /* label, simplify (with labels), cut, regions: also write an 8-bit raster with a colour table,
     * in which regions that touch, in sides or corners, have different colours; or NULL. */
    const char *colors;
    /* label, simplify (with labels), cut, tree, regions: also draw the regions in the style of
     * quicklook_style, with their borders, into a PNG image of at most 2048 x 2048 pixels.
     * saliency: draw the hierarchy as lines, the greater the level the darker and wider.  Or NULL.
     */
    const char *quicklook;
    /* forest: the table, with the columns a, b (labels of two regions, a < b), level (the
     * dissimilarity at which they meet) and x, y (the middle of the edge in the CRS of src).  Rows
     * are in the order in which Kruskal's algorithm joins: by level, then by the position of the
     * edge (docs/dev/area-filter.md). */
    const char *forest;

    /* label, simplify (with labels), cut, regions: also write one multipolygon per region into this
     * table; or NULL.  Formats without geometry, such as CSV, are refused. */
    const char *polygons;
    /* Of polygons: how far, in pixels, lines between junctions may lie from the borders of regions;
     * 0: lines are the borders. */
    double simplify_tolerance;

    const char *columns; /* of the table `regions`, in this order: names of docs/user/tables.md,
                            separated by commas; a name without the number of its band stands for
                            all bands.  NULL: the columns that a table has by default */
    /* label, cut: the largest number of regions; alpha, which must not be given, is the least one
     * that has no more.  The job finds alpha from the curve of the raster (QFZ_CURVE), at whose
     * points it lies.  Not with phases.  0: none. */
    uint64_t regions_target;

    /* label, simplify, cut: n_alphas alphas (>= 0, no two the same) instead of criterion.alpha.
     * Every pass reads src once for all of them.  Each alpha has outputs of its own: the name of
     * each output contains "{alpha}", which the alpha replaces, with 15 significant digits or, if
     * these are of another double, 17: 5, 0.5, 1e-07, inf.  All outputs appear together.  The
     * report's regions are those of the first alpha.  Not with gpu_method, count_only,
     * regions_target and phases.  NULL: none, and no name may contain "{alpha}". */
    const double *alphas;
    int64_t n_alphas;
    uint64_t *alpha_regions; /* receives the number of regions of each of the n_alphas alphas, after
                                success; NULL: not wanted */
    qfz_quicklook_style quicklook_style;
    bool
        attribute_table; /* label, simplify (with labels), cut, tree: the raster of labels, a GTiff,
                            HFA or KEA, also gets the rows of regions, which must be named, as its
                            raster attribute table; of at most 100,000 regions, in one process */
    bool unused_flags_too[3]; /* must be false */
} qfz_job;

/* Sets the default of every member in the first struct_size bytes of *job: 4-connected, l1, no
 * alpha, no omega, engine AUTO.  qfz_job_default() calls it. */
QFZ_API void qfz_job_init(qfz_job *job, size_t struct_size, qfz_task task);

static inline qfz_job qfz_job_default(qfz_task task)
{
    qfz_job job;
    qfz_job_init(&job, sizeof job, task);
    return job;
}

enum { QFZ_STEPS = 16 };

typedef struct qfz_step_time {
    char name[32]; /* a step of qfz_progress; the first is "start", "end" closes the outputs */
    double seconds;
} qfz_step_time;

/* What a job did. */
typedef struct qfz_report {
    size_t struct_size;
    uint64_t regions; /* saliency: 0; curve: at alpha 0 */
    uint64_t pixels;  /* valid pixels */
    int64_t width, height;
    int64_t tiles;
    char engine[16];
    int n_gpus;        /* 0: the CPU engine */
    char warning[256]; /* one line for the user, such as why the CPU did the work; or "" */
    double seconds;    /* of this process, the sum of the steps */
    int n_steps;
    qfz_step_time steps[QFZ_STEPS];
    int64_t peak_rss_bytes; /* of this process since it started */
    qfz_phase next;         /* job in phases: the phase to run next; ALL: the job is complete */
    int reserved;           /* 0 */
    double alpha;           /* with qfz_job.regions_target: the alpha that was found; else 0 */
    int64_t retries;      /* reads and writes repeated after a failure, since the process started */
    uint64_t wide_pixels; /* simplify with a least area and omega: pixels in regions that exceed
                             omega, because a part of them would have less than the least area; else
                             0 */
} qfz_report;

static inline qfz_report qfz_report_default(void)
{
    qfz_report report;
    memset(&report, 0, sizeof report);
    report.struct_size = sizeof report;
    return report;
}

/* Runs a job.  An output appears under its name when it is complete, and not before.  After a
 * failure there is no output, and no temporary file remains except in job->work.  report may be
 * NULL. */
QFZ_API QFZ_CHECKED qfz_status qfz_job_run(const qfz_job *job, qfz_report *report, qfz_error *err);

enum { QFZ_PLAN_OUTPUTS = 8 };

typedef struct qfz_plan_output {
    const char *path; /* borrowed from the job */
    char format[32];  /* GDAL driver; "table" */
    char type[16];    /* GDAL type of a raster; of labels: if they fit UInt32 */
    int n_bands;      /* 0: a table */
    int64_t width, height;
} qfz_plan_output;

/* What qfz_job_run() would do.  Budgets are upper bounds. */
typedef struct qfz_plan {
    size_t struct_size;
    int64_t width, height;
    int n_bands;
    qfz_type type;            /* regions: QFZ_U8, whatever the labels are */
    int64_t tile_w, tile_h;   /* pixels */
    int64_t tiles_x, tiles_y; /* number of tiles */
    int passes;               /* over the pixels of src */
    int n_threads;
    char engine[16];
    int n_gpus;               /* 0: the CPU engine */
    int64_t gpu_memory_bytes; /* budget on each GPU */
    int64_t memory_bytes;     /* budget of this process */
    int64_t tile_bytes;       /* of it, for tiles in work, all threads together */
    int64_t cache_bytes;      /* of it, for GDAL's block cache */
    int64_t border_bytes;     /* size of all boundary summaries */
    int64_t store_bytes;      /* memory for summaries; the rest goes to a temporary file */

    int n_ranks, n_local_ranks; /* processes of the job, and per machine */
    int64_t rank_tiles;         /* largest number of tiles of a process */
    int64_t rank_pixels;        /* pixels of these tiles */
    int64_t rank_border_bytes;  /* summaries of these tiles */
    double rank_seconds;        /* for all passes over these tiles: an order of magnitude, from
                                   rates that another machine reached with cached files */
    int64_t work_bytes;         /* of the folder work: summaries and uncompressed output, without
                                   the table's records */
    int64_t record_bytes;       /* of the folder work, in addition, per region and tile; 0: there is
                                   no table */
    int n_outputs;
    qfz_plan_output outputs[QFZ_PLAN_OUTPUTS];
    int64_t program_bytes;   /* of memory_bytes, for the program, its libraries, and tables of tiles
                                and blocks */
    char engine_reason[256]; /* why this engine; "": the job names it */

    /* Of the process that makes these outputs.  Seconds are orders of magnitude, in addition to
     * rank_seconds; 0: there is no such output. */
    int64_t picture_bytes;    /* of memory_bytes, for the quicklook */
    double picture_seconds;   /* of its passes over all labels or edges */
    int64_t attributes_bytes; /* of memory_bytes, for an attribute table of the most rows */
    double attributes_seconds;
    char stage[256];    /* the folder in which outputs for buckets are made first; "": none is for a
                           bucket, or the name is longer */
    int64_t kept_bytes; /* of memory_bytes, for tiles that stay in memory between passes */
} qfz_plan;

static inline qfz_plan qfz_plan_default(void)
{
    qfz_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.struct_size = sizeof plan;
    return plan;
}

/* Checks a job and plans it.  Nothing is computed or written.  job->ranks may describe processes
 * that do not exist. */
QFZ_API QFZ_CHECKED qfz_status qfz_job_plan(const qfz_job *job, qfz_plan *plan, qfz_error *err);

/* A check of a raster that holds labels, or saliency of layout EDGES.  Start from
 * qfz_check_default(). */
typedef struct qfz_check {
    size_t struct_size;
    const char *raster;   /* borrowed, as job */
    const qfz_job *job;   /* how the raster was made: src, with its bands, mask, nodata and
                             background; edges; criterion and min_area_m2, as far as the raster's
                             metadata shall not hold; memory, threads, engine and progress.  src NULL:
                             labels are checked for themselves.  Outputs and task are ignored */
    int has_connectivity; /* 1: the criterion's connectivity holds, not the metadata's */
    int has_distance;     /* likewise.  Alpha, omega, weights and least area hold where they are
                             set */
    const char *table; /* borrowed; a table of regions, which is compared with the labels: a row of
                          each label, pixels and bounding box.  NULL: none */
    const char *polygons; /* likewise; a table of polygons that are not simplified: also the pixels
                             that they cover */
} qfz_check;

static inline qfz_check qfz_check_default(void)
{
    qfz_check check;
    memset(&check, 0, sizeof check);
    check.struct_size = sizeof check;
    return check;
}

typedef struct qfz_check_report {
    size_t struct_size;
    uint64_t faults;  /* 0: the raster is right */
    int64_t x, y;     /* column and row of the first fault in raster order; -1: it has no pixel */
    char what[256];   /* the first fault, in words */
    uint64_t regions; /* labels; saliency: 0 */
    uint64_t pixels;  /* with a label; saliency: valid */
    int64_t width, height;
    qfz_task task; /* LABEL, SIMPLIFY (labels with omega) or SALIENCY */
    int compared;  /* 1: the result was also computed anew, and compared */
    double seconds;
    int64_t peak_rss_bytes; /* of this process since it started */
} qfz_check_report;

static inline qfz_check_report qfz_check_report_default(void)
{
    qfz_check_report report;
    memset(&report, 0, sizeof report);
    report.struct_size = sizeof report;
    return report;
}

/* Checks a raster in one pass over its rows; labels with omega or a least area, and saliency with a
 * least area, are then computed anew and compared.  QFZ_OK whether the raster is right or not:
 * report->faults says it. */
QFZ_API QFZ_CHECKED qfz_status qfz_check_run(const qfz_check *check, qfz_check_report *report,
                                             qfz_error *err);

/* A window of a raster: pixels as sessions take them (qfz_image), and their place on Earth. */
typedef struct qfz_window {
    size_t struct_size;
    int64_t x, y, w, h;  /* the caller sets these: first column and row, size; in pixels of the
                            raster, inside it, at most 2^29 pixels */
    int n_bands;         /* of the bands in use, in their order */
    qfz_type type;       /* that holds the values of every band in use */
    void *pixels;        /* n_bands planes of h * w pixels */
    uint8_t *valid;      /* h * w bytes, 0 = invalid, else 1 */
    double *row_areas;   /* h areas of a pixel, in square metres; without a CRS, in square units of
                            the geotransform */
    char *crs;           /* WKT 2 in one line; NULL: none */
    char **band_names;   /* n_bands descriptions; "" where a band has none */
    double transform[6]; /* of the raster, not of the window: the corner of pixel (column, row) is
                            at t[0] + t[1] * column + t[2] * row, t[3] + t[4] * column + t[5] * row
                          */
    int64_t has_transform; /* 0: the raster has none, transform is the identity */
} qfz_window;

static inline qfz_window qfz_window_default(void)
{
    qfz_window window;
    memset(&window, 0, sizeof window);
    window.struct_size = sizeof window;
    return window;
}

/* Reads a window of job->src with the bands, mask and nodata of the job; its criterion and outputs
 * do not matter.  The caller releases the window.  Pointers in *window are overwritten; on failure
 * *window stays as it is. */
QFZ_API QFZ_CHECKED qfz_status qfz_job_read_window(const qfz_job *job, qfz_window *window,
                                                   qfz_error *err);

/* Frees the arrays of a window that has been read. */
QFZ_API void qfz_window_release(qfz_window *window);

/* ---------------------------------------------------------------------------------------------
 * 2. Sessions: one image in memory
 * ------------------------------------------------------------------------------------------- */

/* Where a pointer of the caller points to.  DEVICE: memory of the GPU of the session, allocated by
 * cudaMalloc() or with the same access; only the CUDA engine takes it. */
typedef enum qfz_memory { QFZ_MEMORY_HOST = 0, QFZ_MEMORY_DEVICE } qfz_memory;

/* An image.  Band b, row y, column x is element (b * h + y) * w + x of pixels. */
typedef struct qfz_image {
    size_t struct_size;
    int64_t h, w; /* h * w is at most 2^29 */
    int n_bands;  /* 1 to 1024 */
    qfz_type type;
    const void *pixels;
    const uint8_t *valid;  /* h * w bytes, 0 = invalid, else 1; NULL: all pixels are valid.  Pixels
                              with a NaN must be invalid */
    qfz_memory memory;     /* of pixels, valid and edges */
    int edges_are_float;   /* 0: edges holds integers; 1: the bits of IEEE singles */
    const uint8_t *zeroed; /* h * w bytes, bit d = the edge from the pixel in direction d has level
                              0 whatever the values, if its two pixels are valid: right 0, below
                              1, below right 2, below left 3.  NULL: none.  In host memory; not for
                              trees, and not for the CUDA engine */
    const uint32_t *edges; /* 2 (4-connected) or 4 (8-connected) planes of h * w levels, of the
                              edges from each pixel to the right, below, below right, below left:
                              they take the place of the dissimilarities of pixels.  QFZ_NO_EDGE:
                              the two pixels are no neighbours.  Levels of singles are >= 0 and no
                              NaN; where an edge leaves the image or ends in an invalid pixel, its
                              level is not used.  Distance and weights of the criterion are not
                              used, and LABEL needs alpha.  NULL: levels are those of pixels */
} qfz_image;

static inline qfz_image qfz_image_default(void)
{
    qfz_image image;
    memset(&image, 0, sizeof image);
    image.struct_size = sizeof image;
    return image;
}

/* What a session computes. */
typedef enum qfz_part {
    QFZ_PART_LABEL = 0,   /* labels of flat zones, or of alpha-components if the criterion has alpha
                           */
    QFZ_PART_TREE,        /* the canonical alpha-tree */
    QFZ_PART_SALIENCY,    /* the saliency of every edge */
    QFZ_PART_ALPHA_OMEGA, /* labels of (alpha, omega)-components */
    QFZ_PART_FEATURES     /* LABEL, and the features of the regions */
} qfz_part;

typedef struct qfz_session qfz_session;

typedef struct qfz_session_options {
    size_t struct_size;
    qfz_engine_choice engine; /* AUTO and an image in DEVICE memory: CUDA; in HOST memory, of fewer
                                 than 256 * 256 pixels: the CPU */
    int n_threads;            /* of the CPU engine; 0: 1 */
    int gpu;                  /* CUDA engine: device number, from 0 */
    const char *gpu_method;   /* CUDA engine: a published method; NULL: the fastest; borrowed */
    void *cuda_stream; /* a cudaStream_t of that GPU; NULL: CUDA's default stream.  An image in
                          DEVICE memory is read, and buffers in DEVICE memory are written, in
                          the order of this stream */
    qfz_progress_fn progress; /* called between the steps of a run; NULL: none */
    void *progress_arg;
} qfz_session_options;

static inline qfz_session_options qfz_session_options_default(void)
{
    qfz_session_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    return options;
}

/* Opens a session.  The pixels and validity that *image points to are borrowed and must not change
 * until qfz_session_close(); image, criterion and options themselves are copied.  options may be
 * NULL: all default. */
QFZ_API QFZ_CHECKED qfz_status qfz_session_open(qfz_session **session, const qfz_image *image,
                                                const qfz_criterion *criterion,
                                                const qfz_session_options *options, qfz_error *err);

/* NULL is allowed. */
QFZ_API void qfz_session_close(qfz_session *session);

/* "cpu" or "cuda".  AUTO may change from cuda to cpu in a run that the GPU cannot do. */
QFZ_API const char *qfz_session_engine(const qfz_session *session);

/* The level that stands for "no edge": outside the image, or an end is invalid.  The dissimilarity
 * 2^32 - 1, which only UInt32 and Int32 rasters reach, has the same number. */
#define QFZ_NO_EDGE UINT32_MAX

/* Memory of the caller for results.  A run writes the members of its part; other members are
 * ignored.  A member that is NULL: the session keeps the result in host memory of its own, or, in
 * DEVICE memory, the run is refused. */
typedef struct qfz_buffers {
    size_t struct_size;
    qfz_memory memory; /* of all pointers below */

    /* LABEL, ALPHA_OMEGA, FEATURES, cut: h * w labels, 1..n by first pixel in raster-scan order,
     * 0 = invalid. */
    uint32_t *labels;

    /* SALIENCY: 2 (4-connected) or 4 (8-connected) planes of h * w levels, of the edges from each
     * pixel to the right, below, below right, below left; QFZ_NO_EDGE where there is none. */
    uint32_t *levels;

    /* TREE: see qfz_tree; both or none. */
    uint32_t *tree_parent, *tree_level;
    int64_t tree_room; /* elements of each; at least qfz_session_tree_room() */
} qfz_buffers;

static inline qfz_buffers qfz_buffers_default(void)
{
    qfz_buffers buffers;
    memset(&buffers, 0, sizeof buffers);
    buffers.struct_size = sizeof buffers;
    return buffers;
}

/* Computes one part.  A session may run parts in any order and any number of times.  into NULL: all
 * results stay in the session.  Results in host memory are complete when the function returns.
 * Results in DEVICE memory are complete for work that is put into the session's cuda_stream after
 * the function returned.  On failure buffers have unspecified contents; the session can be used
 * again. */
QFZ_API QFZ_CHECKED qfz_status qfz_session_run(qfz_session *session, qfz_part part,
                                               const qfz_buffers *into, qfz_error *err);

/* Computes the labels of the alpha-components from the saliency of the image, without the pixels.
 * The labels equal those of LABEL with that alpha, which must be >= 0.  levels: as a run of
 * SALIENCY wrote them, in the memory that into->memory names (into NULL: host); NULL: the levels
 * that the session keeps from its last run of SALIENCY, which are in host memory. */
QFZ_API QFZ_CHECKED qfz_status qfz_session_cut(qfz_session *session, double alpha,
                                               const uint32_t *levels, const qfz_buffers *into,
                                               qfz_error *err);

/* Regions of the last run of LABEL, ALPHA_OMEGA or FEATURES, or of the last cut. */
QFZ_API uint32_t qfz_session_n_regions(const qfz_session *session);

/* The results that the session keeps in host memory of its own; NULL where the last run that made
 * such a result wrote it to buffers of the caller, failed, or did not happen.  Valid until the next
 * run or cut that makes such a result, and until qfz_session_close().
 *
 * Labels: h * w.  *n_regions, unless n_regions is NULL: as qfz_session_n_regions(). */
QFZ_API const uint32_t *qfz_session_labels(const qfz_session *session, uint32_t *n_regions);

/* Levels: as in qfz_buffers. */
QFZ_API const uint32_t *qfz_session_saliency(const qfz_session *session);

/* The canonical alpha-tree.  Node p < h * w is pixel p and has level 0; the other nodes are inner
 * nodes.  parent[i] == i at a root.  The level of an inner node is higher than the levels of its
 * children, except flat zones: inner nodes of level 0, whose children are all pixels.  Nodes that
 * are not in use have parent[i] == i and no children. */
typedef struct qfz_tree {
    int64_t n_nodes; /* length of parent and level, at most 2 * h * w; 0: there is no tree */
    const uint32_t *parent;
    const uint32_t *level;
} qfz_tree;

/* The tree of the last run of TREE.  parent and level are NULL where the run wrote them to buffers
 * of the caller; n_nodes counts them in any case. */
QFZ_API qfz_tree qfz_session_tree(const qfz_session *session);

/* Elements that each buffer of a tree must have: the tree, and room to work in. */
QFZ_API int64_t qfz_session_tree_room(const qfz_session *session);

/* The dissimilarity that a level stands for, in units of the pixels.  Levels are whole numbers for
 * l1 and linf of integers without weights, and the bits of an IEEE single for everything else; both
 * in the order of the dissimilarities.  level must not be QFZ_NO_EDGE. */
QFZ_API double qfz_session_level(const qfz_session *session, uint32_t level);

/* Features of regions, as arrays in host memory of the caller.  An array that is NULL is not
 * wanted.  Element i is of region first + i, whose label is first + i + 1. */
typedef struct qfz_features {
    size_t struct_size;
    uint64_t *pixels;           /* number of pixels */
    double *x, *y;              /* centroid in pixels; the centre of the first pixel is 0.5, 0.5 */
    int64_t *x0, *y0, *x1, *y1; /* bounding box: columns x0..x1 - 1, rows y0..y1 - 1 */
    double *mean, *min, *max;   /* n_bands values per region: band b at i * n_bands + b */
    double *stddev;             /* likewise; of the population */
} qfz_features;

static inline qfz_features qfz_features_default(void)
{
    qfz_features features;
    memset(&features, 0, sizeof features);
    features.struct_size = sizeof features;
    return features;
}

/* Features of the n regions from number `first` (0 = label 1) of the last run, which must be LABEL,
 * ALPHA_OMEGA or FEATURES.  first + n must be at most qfz_session_n_regions().  After LABEL and
 * ALPHA_OMEGA a call passes over the image; after FEATURES it does not where the session's 64 MB of
 * records hold the regions. */
QFZ_API QFZ_CHECKED qfz_status qfz_session_features(qfz_session *session, uint32_t first,
                                                    uint32_t n, const qfz_features *features,
                                                    qfz_error *err);

/* Paints the regions of the last run, which must be ALPHA_OMEGA, with their mean in one band
 * (from 0), rounded to nearest, halves up: out has h * w pixels of the image's type, in the memory
 * named.  *invalid (host memory, of the image's type) is written where pixels are invalid; NULL:
 * 0.  DEVICE memory is complete in the order of cuda_stream, as in qfz_session_run(). */
QFZ_API QFZ_CHECKED qfz_status qfz_session_paint(qfz_session *session, int band,
                                                 const void *invalid, qfz_memory memory, void *out,
                                                 qfz_error *err);

/* ---------------------------------------------------------------------------------------------
 * 3. A hierarchy as a table, in memory
 * ------------------------------------------------------------------------------------------- */

/* The table of a job QFZ_FOREST: row i joins the regions a[i] and b[i] at level[i].  The rows may
 * be in any order; no row joins two regions that other rows join already, so that there are fewer
 * rows than regions.  Borrowed. */
typedef struct qfz_tree_table {
    size_t struct_size;
    int64_t n_regions; /* of level 0; their labels are 1..n_regions */
    int64_t n;         /* rows */
    const uint64_t *a, *b;
    const double *level; /* >= 0 */
} qfz_tree_table;

static inline qfz_tree_table qfz_tree_table_default(void)
{
    qfz_tree_table hierarchy;
    memset(&hierarchy, 0, sizeof hierarchy);
    hierarchy.struct_size = sizeof hierarchy;
    return hierarchy;
}

/* labels[i] = the region of region i + 1 at alpha, labels 1..*n by first pixel in raster-scan
 * order, as QFZ_LABEL numbers alpha-components.  labels has room for n_regions.  QFZ_EARG: the rows
 * are no forest of the regions; the message names the row, from 0. */
QFZ_API QFZ_CHECKED qfz_status qfz_tree_table_cut(const qfz_tree_table *hierarchy, double alpha,
                                                  uint64_t *labels, int64_t *n, qfz_error *err);

/* The linkage matrix of SciPy: n_regions - 1 rows of four numbers, for which linkage has room.
 * Row i joins two clusters into cluster n_regions + i: their numbers, the lesser first (cluster
 * k < n_regions is region k + 1), the level, and the number of regions in the new cluster.  Rows
 * ascend by level, rows of one level by labels.  Areas that no row joins meet last, at infinity.
 * QFZ_EARG as above. */
QFZ_API QFZ_CHECKED qfz_status qfz_tree_table_linkage(const qfz_tree_table *hierarchy,
                                                      double *linkage, qfz_error *err);

/* The canonical alpha-tree.  Node k < n_regions is region k + 1, of level 0; the others are inner
 * nodes, in ascending order of levels, each of a higher level than its children and with at least
 * two of them.  parent[k] == k at a root.  parent and level have room for 2 * n_regions; *n_nodes
 * of them are used.  QFZ_EARG as above. */
QFZ_API QFZ_CHECKED qfz_status qfz_tree_table_tree(const qfz_tree_table *hierarchy, int64_t *parent,
                                                   double *level, int64_t *n_nodes, qfz_error *err);

/* ---------------------------------------------------------------------------------------------
 * 4. Chunks: an image that no process holds whole
 *
 * For schedulers such as Dask, Ray or Spark, which hold an image as a grid of chunks.  Three steps
 * give the results of one session on the whole image, with the same numbers of regions:
 *
 *   1. qfz_chunk_summarise()   each chunk, anywhere: its boundary summary
 *   2. qfz_chunks_stitch()     once, with the summaries of all chunks: the exterior of each chunk
 *   3. qfz_chunk_resolve()     each chunk again, anywhere, with its exterior: its pixels' result
 *
 * With omega or a minimum area, steps 1 and 2 are made in several rounds (qfz_chunks_rounds()):
 * from the second round on, qfz_chunk_continue() summarises each chunk, with its exterior of the
 * round before.
 *
 * Summaries and exteriors are bytes that may be sent and stored.  Their size grows with the border
 * of a chunk, not with its area.  They have a version, which a library that cannot read it refuses.
 * They are checked before use, as they may come from elsewhere: QFZ_EARG if they are damaged, or of
 * another chunk, grid or criterion.  Forged ones can give wrong results, but do no harm.
 *
 * The CPU engine computes.
 * ------------------------------------------------------------------------------------------- */

/* The grid of chunks and what is computed; equal in all steps, except n_threads.  Chunk (row,
 * column) begins at pixel (row * chunk_h, column * chunk_w); the last row and the last column may
 * be smaller. */
typedef struct qfz_chunks {
    size_t struct_size;
    qfz_part part;            /* QFZ_PART_LABEL, QFZ_PART_ALPHA_OMEGA or QFZ_PART_SALIENCY */
    qfz_type type;            /* of the pixels */
    qfz_criterion criterion;  /* omega: of ALPHA_OMEGA alone */
    int64_t h, w;             /* of the whole image, 1 to 2^31 - 1 */
    int64_t chunk_h, chunk_w; /* of a chunk, chunk_h * chunk_w at most 2^29 */
    int n_bands;
    int has_edges;       /* 1: every chunk has qfz_image.edges, 0: none */
    int edges_are_float; /* as that of every chunk's qfz_image */
    int n_threads;       /* of a step; 0: 1 */
} qfz_chunks;

static inline qfz_chunks qfz_chunks_default(void)
{
    qfz_chunks chunks;
    memset(&chunks, 0, sizeof chunks);
    chunks.struct_size = sizeof chunks;
    chunks.criterion.connectivity = 4;
    return chunks;
}

/* Bytes, from the library or from the caller; {NULL, 0}: none. */
typedef struct qfz_bytes {
    void *data;
    size_t size;
} qfz_bytes;

/* Frees bytes that the library has made, and sets *bytes to none. */
QFZ_API void qfz_bytes_release(qfz_bytes *bytes);

/* *n = the number of rounds of steps 1 and 2: one; one more with a minimum area, and one more for
 * ALPHA_OMEGA. */
QFZ_API QFZ_CHECKED qfz_status qfz_chunks_rounds(const qfz_chunks *chunks, int *n, qfz_error *err);

/* image: the pixels of one chunk, in host memory, without zeroed.  An edge that leaves the chunk
 * and ends in a pixel of another chunk has its level in the plane of its direction (image->edges),
 * like all other edges.  The caller releases *summary. */
QFZ_API QFZ_CHECKED qfz_status qfz_chunk_summarise(const qfz_chunks *chunks, int64_t row,
                                                   int64_t column, const qfz_image *image,
                                                   qfz_bytes *summary, qfz_error *err);

/* The summary of the next round, from the exterior of the round before. */
QFZ_API QFZ_CHECKED qfz_status qfz_chunk_continue(const qfz_chunks *chunks, int64_t row,
                                                  int64_t column, const qfz_image *image,
                                                  const qfz_bytes *exterior, qfz_bytes *summary,
                                                  qfz_error *err);

/* summaries: of all chunks in one round, row by row.  exteriors: room for as many, in the same
 * order; the caller releases each.  *n_regions, unless n_regions is NULL: the number of regions,
 * after the last round; else, and for SALIENCY, 0. */
QFZ_API QFZ_CHECKED qfz_status qfz_chunks_stitch(const qfz_chunks *chunks,
                                                 const qfz_bytes *summaries, qfz_bytes *exteriors,
                                                 uint64_t *n_regions, qfz_error *err);

/* Memory of the caller for the result of one chunk; a member that is NULL is not wanted. */
typedef struct qfz_chunk_buffers {
    size_t struct_size;
    uint32_t *labels; /* not SALIENCY: a label for each pixel of the chunk, 0 = invalid.  QFZ_EARG
                         if the number of regions passes 2^32 - 1 */
    uint64_t *wide_labels; /* the same, of 64 bits; one of the two at a time */
    uint32_t *levels;      /* SALIENCY: planes as in qfz_buffers; an edge that leaves the chunk
                              belongs to the pixel that it starts from */
} qfz_chunk_buffers;

static inline qfz_chunk_buffers qfz_chunk_buffers_default(void)
{
    qfz_chunk_buffers buffers;
    memset(&buffers, 0, sizeof buffers);
    buffers.struct_size = sizeof buffers;
    return buffers;
}

/* image: as in the first step; exterior: of the last round.  On failure the buffers have
 * unspecified contents. */
QFZ_API QFZ_CHECKED qfz_status qfz_chunk_resolve(const qfz_chunks *chunks, int64_t row,
                                                 int64_t column, const qfz_image *image,
                                                 const qfz_bytes *exterior,
                                                 const qfz_chunk_buffers *into, qfz_error *err);

#ifdef __cplusplus
}
#endif

#endif
