/* SPDX-License-Identifier: MIT */
/* qfz.h - exact quasi-flat zones of rasters of any size.
 *
 * The answer never depends on tile size, thread count, memory or engine.  Nothing here prints,
 * exits, or keeps state between calls.  A function that can fail returns a qfz_status and writes
 * the reason into the caller's qfz_error; its results are then untouched.
 *
 * Two ways in: a job (files to files, streamed, section 1) and a session (one image that is in
 * memory, section 2). */
#ifndef QFZ_H
#define QFZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QFZ_VERSION "0.1.0"
#define QFZ_API __attribute__((visibility("default")))
#define QFZ_CHECKED __attribute__((warn_unused_result))

typedef enum qfz_status {
    QFZ_OK = 0,
    QFZ_EARG,   /* a parameter is out of range or contradicts another; the message names it */
    QFZ_ENOMEM, /* host or device memory ran out; a smaller tile may succeed */
    QFZ_EIO,    /* a raster or table could not be opened, read or written */
    QFZ_EGPU,   /* no usable device, or a kernel failed */
    QFZ_ECANCEL /* the progress function asked to stop */
} qfz_status;

/* Filled by the function that failed: one line, no newline, with the file and the numbers in it. */
typedef struct qfz_error {
    qfz_status status;
    char message[1024];
} qfz_error;

typedef enum qfz_type { QFZ_U8 = 0, QFZ_I8, QFZ_U16, QFZ_I16, QFZ_U32, QFZ_I32, QFZ_F32 } qfz_type;

/* Dissimilarity of two pixels over all bands; integers exactly, floats in IEEE single. */
typedef enum qfz_distance { QFZ_L1 = 0, QFZ_L2, QFZ_LINF } qfz_distance;

typedef enum qfz_engine_choice {
    QFZ_ENGINE_AUTO = 0,
    QFZ_ENGINE_CPU,
    QFZ_ENGINE_CUDA
} qfz_engine_choice;

/* What joins pixels. */
typedef struct qfz_criterion {
    int connectivity;      /* 4 or 8 */
    qfz_distance distance; /* over all bands, never divided by their number */
    bool has_alpha;        /* false: label joins equal values, simplify has no limit */
    double alpha;          /* largest level of an edge that joins, >= 0; infinity is allowed.
                              The hierarchy itself, tree and saliency, takes no notice of it */
    const double *omega;   /* largest max - min of a region per band; NULL: no limit */
    int n_omega;           /* 1 (for every band), or the number of bands */
} qfz_criterion;

/* What this library was built with: lines "NAME VERSION" for qfz, GDAL, PROJ, MPI, CUDA (with its
 * architectures) and the compiler; "none" for what is not in it.  A constant string without a final
 * newline. */
QFZ_API const char *qfz_build_info(void);

/* ---------------------------------------------------------------------------------------------
 * 1. Jobs: raster files in, raster files out
 * ------------------------------------------------------------------------------------------- */
typedef enum qfz_task {
    QFZ_LABEL = 0, /* dst: labels of zones of equal values, or of alpha-components */
    QFZ_SIMPLIFY,  /* dst: the mean of each (alpha, omega)-component (Soille, TPAMI 2008) */
    QFZ_SALIENCY,  /* dst: the level at which the two pixels of each edge meet: the hierarchy */
    QFZ_CUT        /* dst: labels of the alpha-components, src being a saliency raster */
} qfz_task;

/* Rasters say in their metadata what they are: QFZ_CONTENT (labels, painted, saliency),
 * QFZ_CONNECTIVITY and QFZ_DISTANCE, saliency QFZ_LAYOUT, the others QFZ_ALPHA and QFZ_OMEGA. */
typedef enum qfz_layout { QFZ_EDGES = 0, QFZ_PIXEL, QFZ_KHALIMSKY } qfz_layout;

typedef enum qfz_nodata_rule { QFZ_NODATA_ALL = 0, QFZ_NODATA_ANY } qfz_nodata_rule;

/* How far a job is. */
typedef struct qfz_progress {
    double done;               /* share of the whole job, 0..1, never falling */
    const char *step;          /* what is being done: "pass 1 of 2", "stitching" ...; borrowed */
    int64_t tiles_done, tiles; /* of the step, in this process; 0 of 0 where it has no tiles */
} qfz_progress;

/* Called by one thread at a time.  A return value other than 0 ends the job with QFZ_ECANCEL. */
typedef int (*qfz_progress_fn)(const qfz_progress *progress, void *arg);

/* The processes that share a job: this one's number among all of them, and among those of its
 * node. */
typedef struct qfz_ranks {
    int rank, n;
    int local_rank, n_local;
} qfz_ranks;

/* Joins the processes that mpirun, srun or the like started with this one; every one calls it, and
 * qfz_ranks_leave() at its end.  Where nobody started any, or qfz was built without MPI, there is
 * one.  The only state that this library keeps is MPI's. */
QFZ_API QFZ_CHECKED qfz_status qfz_ranks_join(qfz_ranks *ranks, qfz_error *err);
QFZ_API void qfz_ranks_leave(void);

enum { QFZ_GPUS_MAX = 64 };

/* What CUDA sees of a machine's GPUs, where the program can limit that: CUDA starts all that it
 * sees, some tenths of a second each.  A job asks and tells before it starts CUDA. */
typedef struct qfz_gpu_view {
    int (*count)(void *arg); /* how many there are, at most QFZ_GPUS_MAX; 0: nobody knows */
    bool (*show)(const int *gpus, int n, void *arg); /* only these, in this order; was it done? */
    void *arg;
} qfz_gpu_view;

/* The steps of a job as processes of their own; see qfz_job.phase. */
typedef enum qfz_phase {
    QFZ_PHASE_ALL = 0,
    QFZ_PHASE_SUMMARISE, /* what one part's tiles tell of themselves */
    QFZ_PHASE_STITCH,    /* what all of them mean together; one process */
    QFZ_PHASE_RESOLVE    /* one part's tiles once more, into the output */
} qfz_phase;

/* A job borrows everything it points to.  Start from qfz_job_default().  String lists are arrays
 * of "KEY=VALUE" that end with NULL; NULL is an empty list. */
typedef struct qfz_job {
    qfz_task task;
    const char *src; /* any GDAL dataset name */
    const char *dst;
    bool count_only; /* label, simplify, cut: regions and pixels are counted for the report, and
                        there are no outputs: dst, labels and regions are NULL */

    const char *labels;  /* simplify: labels too, into this raster; else NULL */
    const char *regions; /* label, simplify, cut: one row per region into this table; else NULL */

    const int *bands; /* 1-based; NULL: all that are no alpha band */
    int n_bands;
    const char *const *open_options;
    const char *const *config; /* GDAL configuration options; they hold for the whole process */
    const char *mask;          /* name of a raster of the same size, 0 = invalid; or NULL */
    bool has_nodata;           /* nodata replaces what src declares; one that the type of a band
                                  cannot hold is no pixel's */
    double nodata;
    qfz_nodata_rule nodata_rule;
    bool has_background; /* label: pixels of this value in every band get label 0 */
    double background;

    qfz_criterion criterion;
    qfz_layout layout; /* saliency */

    const char *format; /* GDAL driver of dst and labels; NULL: by extension, else GTiff */
    const char *type;   /* -ot, a GDAL type name; NULL: the smallest that holds the result */
    const char *const *creation_options;
    bool merge; /* several processes write: make one file of their parts, not a VRT over them */
    bool overwrite;

    int32_t tile_px;      /* tile side, 0: chosen from the memory */
    int64_t memory_bytes; /* peak of the process, 0: half of the machine's */
    int n_threads;        /* 0: one per processor */
    int retries;          /* of a read or a write that failed; default: 3 */
    double retry_wait_s;  /* before the first; four times as long before each other one, 10 s at
                             most; default: 0.01 */
    qfz_engine_choice engine;
    const int *gpus; /* CUDA devices, as CUDA numbers those that this process sees; NULL: all */
    int n_gpus;
    int64_t px_per_gpu; /* gpus NULL: one GPU, and one more for each so many pixels of this process,
                           of those that there are; 0: all */
    const qfz_gpu_view *gpu_view; /* NULL: CUDA sees what it sees */
    int64_t gpu_memory_bytes;     /* that is used of each GPU, 0: nine tenths of what it has */
    const char *gpu_method; /* of the CUDA engine: a published method by its name (below); NULL
                               or "auto": what is fastest.  No result depends on it */

    const qfz_ranks *ranks; /* every one runs the same job; NULL: this process is alone */
    const char *work;       /* folder of a journal, from which the job can go on after any end of
                               the process; NULL: none */
    bool resume;            /* go on with what work holds; false: work must hold no journal */
    qfz_phase phase;        /* not ALL: this phase only, of part `part` of n_parts, 1-based, through
                               the folder work; phases that have to run before must be complete */
    int part, n_parts;

    qfz_progress_fn progress; /* may be NULL */
    void *progress_arg;
} qfz_job;

/* Published methods, each as its paper has it; a job or session that one cannot do is refused.
 *
 * labels of equal values, of one band of integers:
 *   stava        Stava, Benes, Connected component labeling in CUDA (GPU Computing Gems, 2011)
 *   c2fl         Chen et al., Efficient parallel connected component labeling with a coarse-to-fine
 *                strategy (IEEE Access 6, 2018)
 *   ha4          Hennequin, Lacassagne, Cabaret, Meunier, A new direct connected component labeling
 *                and analysis algorithms for GPUs (DASIP 2018)
 * alpha-trees of sessions:
 *   connect-v1, connect-v2   Carlinet, Kaci, Blin, An alpha-tree algorithm for massively parallel
 *                architectures (IEEE TIP 2025), their two versions */

QFZ_API qfz_job qfz_job_default(qfz_task task);

enum { QFZ_STEPS = 16 };

typedef struct qfz_step_time {
    char name[32]; /* as qfz_progress has it; before these "start", and "end" closes outputs */
    double seconds;
} qfz_step_time;

typedef struct qfz_report {
    uint64_t regions; /* saliency: 0 */
    uint64_t pixels;  /* valid ones */
    int64_t width, height;
    int64_t tiles;
    char engine[16];
    int n_gpus;        /* 0: the CPU did it */
    char warning[256]; /* what the user should know, one line; or "" */
    double seconds;
    int n_steps; /* of these the seconds are made up, in this process */
    qfz_step_time steps[QFZ_STEPS];
    int64_t peak_rss_bytes; /* of this process so far */
    qfz_phase next;         /* of a job in phases: what is to be run next; ALL: it is complete */
} qfz_report;

/* Run a job.  An output appears under its name when it is complete, and not before; after a
 * failure there is none, and nothing temporary stays behind. */
QFZ_API QFZ_CHECKED qfz_status qfz_job_run(const qfz_job *job, qfz_report *report, qfz_error *err);

enum { QFZ_PLAN_OUTPUTS = 3 };

/* What qfz_job_run() would do.  Nothing is computed or written.  job->ranks may be any number of
 * processes, which need not be there. */
typedef struct qfz_plan {
    int64_t width, height;
    int n_bands;
    qfz_type type;
    int64_t tile_w, tile_h;
    int64_t tiles_x, tiles_y;
    int passes; /* over the pixels of src */
    int n_threads;
    char engine[16];
    int n_gpus;               /* 0: the CPU engine */
    int64_t gpu_memory_bytes; /* the budget on each GPU */
    int64_t memory_bytes;     /* the budget */
    int64_t tile_bytes;       /* for the tiles in flight, all threads */
    int64_t cache_bytes;      /* for GDAL's block cache */
    int64_t border_bytes;     /* for summaries; above store_bytes they go to a temporary file */
    int64_t store_bytes;      /* memory kept for summaries */

    int n_ranks, n_local_ranks; /* processes of the job, and of a node */
    int64_t rank_tiles;         /* at most, of one process */
    int64_t rank_pixels;        /* of those tiles, in one pass */
    int64_t rank_border_bytes;  /* of their summaries */
    double rank_seconds;        /* of all passes over them, to an order of magnitude: at rates that
                                   were measured on another machine, with files in its memory */
    int64_t work_bytes;         /* of summaries and of output before it is compressed, in the folder
                                   work if there is one; without what a table takes ... */
    int64_t record_bytes;       /* ... for each region of each tile; 0: no table */
    int n_outputs;
    struct {
        const char *path; /* borrowed from the job */
        char format[32];
        char type[16]; /* for labels: the type if they fit UInt32 */
        int n_bands;
        int64_t width, height;
    } outputs[QFZ_PLAN_OUTPUTS];
} qfz_plan;

QFZ_API QFZ_CHECKED qfz_status qfz_job_plan(const qfz_job *job, qfz_plan *plan, qfz_error *err);

/* ---------------------------------------------------------------------------------------------
 * 2. Sessions: one image in memory
 * ------------------------------------------------------------------------------------------- */

/* Band b, row y, column x is at element (b * h + y) * w + x of pixels. */
typedef struct qfz_image {
    int64_t h, w;
    int n_bands;
    qfz_type type;
    const void *pixels;
    const uint8_t *valid; /* h * w, 0 = invalid; NULL: all are valid */
} qfz_image;

typedef enum qfz_part {
    QFZ_PART_LABEL = 0,   /* labels of equal values, or of alpha-components */
    QFZ_PART_TREE,        /* canonical alpha-tree */
    QFZ_PART_SALIENCY,    /* saliency of every edge */
    QFZ_PART_ALPHA_OMEGA, /* labels of (alpha, omega)-components */
    QFZ_PART_SUMMARISE,   /* what a tile tells of its border for the saliency of its surroundings */
    QFZ_PART_RESOLVE, /* saliency once more, with links through an outside (which change nothing) */
    QFZ_PART_FEATURES /* LABEL, and size, box and statistics of every region */
} qfz_part;

typedef struct qfz_session qfz_session;

typedef struct qfz_session_options {
    qfz_engine_choice engine;
    int n_threads;          /* 0: 1 */
    int gpu;                /* of the CUDA engine: which device, from 0 */
    const char *gpu_method; /* as in qfz_job; borrowed */
} qfz_session_options;

/* Borrows the image and omega until qfz_session_close().  h * w is at most 2^29.  options may be
 * NULL: all 0. */
QFZ_API QFZ_CHECKED qfz_status qfz_session_open(qfz_session **session, const qfz_image *image,
                                                const qfz_criterion *criterion,
                                                const qfz_session_options *options, qfz_error *err);
QFZ_API void qfz_session_close(qfz_session *session);
QFZ_API const char *qfz_session_engine(const qfz_session *session);

/* Computes one part; *ms is what the engine took, without reading or writing files. */
QFZ_API QFZ_CHECKED qfz_status qfz_session_run(qfz_session *session, qfz_part part, double *ms,
                                               qfz_error *err);

/* Does a part once, and then n_runs times for ms[0 .. n_runs - 1].  For the CUDA engine what the
 * device took by its own clock, the image and what comes out being in its memory; there are then
 * no results to be asked for. */
QFZ_API QFZ_CHECKED qfz_status qfz_session_time(qfz_session *session, qfz_part part, int n_runs,
                                                double *ms, qfz_error *err);

/* Memory of a GPU that the session has at present, bytes. */
QFZ_API int64_t qfz_session_gpu_bytes(const qfz_session *session);

/* Bytes a second, read and written together, of a large copy within the memory of a GPU: what the
 * times of its kernels are to be measured against. */
QFZ_API QFZ_CHECKED qfz_status qfz_gpu_copy_rate(int gpu, double *bytes_per_s, qfz_error *err);

/* Results of the last run of the part named; owned by the session, valid until its next call. */

/* After LABEL or ALPHA_OMEGA: h * w labels 1..*n_regions by first pixel, 0 = invalid. */
QFZ_API const uint32_t *qfz_session_labels(const qfz_session *session, uint32_t *n_regions);

/* After SALIENCY or RESOLVE: level keys of the edges right, below (8-connected: also below right,
 * below left), one plane of h * w each; see qfz_session_level().  Where there is no edge, 2^32 - 1.
 */
QFZ_API const uint32_t *qfz_session_saliency(const qfz_session *session);

/* After TREE: node p < h * w is pixel p, of level 0; the others are inner nodes.  parent[i] == i
 * at a root.  A node's level is above its children's, but for flat zones: inner nodes of level 0
 * whose children are all pixels.  Nodes that are not in use have parent[i] == i and no children. */
typedef struct qfz_tree {
    int64_t n_nodes; /* border_regions of parent and level, at most 2 * h * w */
    const uint32_t *parent;
    const uint32_t *level; /* keys */
} qfz_tree;
QFZ_API qfz_tree qfz_session_tree(const qfz_session *session);

/* A level key as a number, in units of the pixels. */
QFZ_API double qfz_session_level(const qfz_session *session, uint32_t key);

/* A whole raster in memory, as an image: bands (1-based) or, with NULL, all that are no alpha band.
 * qfz_image_free() releases what was read. */
QFZ_API QFZ_CHECKED qfz_status qfz_image_read(const char *src, const int *bands, int n_bands,
                                              qfz_image *image, qfz_error *err);
QFZ_API void qfz_image_free(qfz_image *image);

QFZ_API const char *qfz_version(void);

#ifdef __cplusplus
}
#endif

#endif
