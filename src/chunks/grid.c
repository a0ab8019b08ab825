/* SPDX-License-Identifier: MIT */
#include "chunks/grid.h"

#include <stdlib.h>

#include "core/api.h"
#include "core/criterion.h"
#include "core/memory.h"

static const int64_t side_max = INT32_MAX;
static const int64_t chunk_px_max = (int64_t)1 << 29;
static const int64_t chunks_max = (int64_t)1 << 40;
static const uint32_t infinity_level = 0x7f800000u; /* of singles */

static qfz_status check_size(const qfz_chunks *given, qfz_error *err)
{
    const int64_t h = given->h, w = given->w, chunk_h = given->chunk_h, chunk_w = given->chunk_w;
    if (h < 1 || w < 1 || h > side_max || w > side_max)
        return qfz_fail(err, QFZ_EARG,
                        "an image of %lld x %lld pixels; each side can be 1 to 2^31 - 1",
                        (long long)w, (long long)h);
    if (chunk_h < 1 || chunk_w < 1 || chunk_h > h || chunk_w > w ||
        chunk_h > chunk_px_max / chunk_w)
        return qfz_fail(err, QFZ_EARG,
                        "chunks of %lld x %lld pixels; they can be 1 x 1 to the size of the image, "
                        "%lld x %lld, and have 2^29 pixels",
                        (long long)chunk_w, (long long)chunk_h, (long long)w, (long long)h);
    if (((h - 1) / chunk_h + 1) > chunks_max / ((w - 1) / chunk_w + 1))
        return qfz_fail(err, QFZ_EARG, "more than 2^40 chunks; make the chunks larger");
    return QFZ_OK;
}

static qfz_status check_kind(const qfz_chunks *given, qfz_error *err)
{
    if (given->part != QFZ_PART_LABEL && given->part != QFZ_PART_SALIENCY &&
        given->part != QFZ_PART_ALPHA_OMEGA)
        return qfz_fail(err, QFZ_EARG,
                        "part %d; chunks can have QFZ_PART_LABEL, QFZ_PART_ALPHA_OMEGA and "
                        "QFZ_PART_SALIENCY",
                        (int)given->part);
    if (given->n_bands < 1 || given->n_bands > QFZ_MAX_BANDS)
        return qfz_fail(err, QFZ_EARG, "%d bands; 1 to %d are allowed", given->n_bands,
                        QFZ_MAX_BANDS);
    if (given->type < QFZ_U8 || given->type > QFZ_F32)
        return qfz_fail(err, QFZ_EARG, "%d is no pixel type", (int)given->type);
    if ((given->has_edges | 1) != 1 || (given->edges_are_float | 1) != 1 ||
        given->edges_are_float > given->has_edges)
        return qfz_fail(err, QFZ_EARG,
                        "has_edges is %d and edges_are_float %d; they are 0 or 1, and the second "
                        "needs the first",
                        given->has_edges, given->edges_are_float);
    if (given->criterion.omega && given->part != QFZ_PART_ALPHA_OMEGA)
        return qfz_fail(err, QFZ_EARG, "omega needs QFZ_PART_ALPHA_OMEGA");
    if (given->part == QFZ_PART_LABEL && given->has_edges && !given->criterion.has_alpha)
        return qfz_fail(err, QFZ_EARG, "labels from levels of edges need alpha");
    return QFZ_OK;
}

static qfz_status set_rule(qfz_grid *grid, qfz_error *err)
{
    const qfz_chunks *const given = &grid->given;
    const qfz_criterion *const criterion = &given->criterion;
    const bool labels = given->part != QFZ_PART_SALIENCY;
    const bool flat = given->part == QFZ_PART_LABEL && !criterion->has_alpha;
    uint32_t max_level;
    if (!given->has_edges)
        QFZ_TRY(qfz_criterion_spread_weights(criterion, given->n_bands, &grid->weights, err));
    grid->rule = (qfz_rule){.connectivity = criterion->connectivity,
                            .distance = criterion->distance,
                            .weights = grid->weights,
                            .type = given->type,
                            .n_bands = given->n_bands,
                            .edge_levels = given->has_edges != 0,
                            .edges_are_float = given->edges_are_float != 0,
                            .max_edge = given->edges_are_float ? infinity_level : UINT32_MAX - 1};
    grid->rule.alpha_level = qfz_top_level(&grid->rule);
    QFZ_TRY(qfz_max_level(&grid->rule, &max_level, err));
    QFZ_TRY(qfz_criterion_spread_omega(criterion, given->type, given->n_bands, &grid->omega, err));
    grid->rule.omega = grid->omega;
    grid->rule.min_mass = grid->filters ? criterion->min_area : 0;
    grid->filter_rule = grid->rule;
    if (labels && criterion->has_alpha)
        grid->rule.alpha_level = qfz_level_of_alpha(&grid->rule, criterion->alpha);
    if (flat) grid->rule.alpha_level = 0;
    if (flat && !grid->filters) { /* equal values join whatever the distance is */
        grid->rule.distance = QFZ_LINF;
        grid->rule.weights = NULL;
    }
    return QFZ_OK;
}

qfz_status qfz_grid_init(qfz_grid *grid, const qfz_chunks *chunks, qfz_error *err)
{
    *grid = (qfz_grid){.given = qfz_chunks_default()};
    qfz_chunks *const given = &grid->given;
    QFZ_TRY(qfz_api_read(given, sizeof *given, chunks, "qfz_chunks", err));
    QFZ_TRY(qfz_criterion_check(&given->criterion, err));
    QFZ_TRY(check_size(given, err));
    QFZ_TRY(check_kind(given, err));
    if (given->n_threads < 1) given->n_threads = 1;
    grid->kind = given->part == QFZ_PART_LABEL      ? QFZ_COMPONENTS
                 : given->part == QFZ_PART_SALIENCY ? QFZ_LEVELS
                                                    : QFZ_OMEGA;
    grid->filters = given->criterion.min_area > 1;
    grid->n_rounds = (grid->filters ? 1 : 0) + (grid->kind == QFZ_OMEGA ? 2 : 1);
    grid->tiling = (qfz_tiling){.w = given->w,
                                .h = given->h,
                                .tile_w = given->chunk_w,
                                .tile_h = given->chunk_h,
                                .n_x = (given->w - 1) / given->chunk_w + 1,
                                .n_y = (given->h - 1) / given->chunk_h + 1};
    const qfz_status st = set_rule(grid, err);
    if (st != QFZ_OK) qfz_grid_fini(grid);
    return st;
}

void qfz_grid_fini(qfz_grid *grid)
{
    free(grid->weights);
    free(grid->omega);
    grid->weights = NULL;
    grid->omega = NULL;
}

qfz_status qfz_grid_box(const qfz_grid *grid, int64_t row, int64_t column, qfz_box *box,
                        qfz_error *err)
{
    if (row < 0 || column < 0 || row >= grid->tiling.n_y || column >= grid->tiling.n_x)
        return qfz_fail(err, QFZ_EARG, "chunk (%lld, %lld) of a grid of %lld x %lld chunks",
                        (long long)row, (long long)column, (long long)grid->tiling.n_y,
                        (long long)grid->tiling.n_x);
    *box = qfz_tiling_box(&grid->tiling, row, column);
    return QFZ_OK;
}

static qfz_status check_image(const qfz_grid *grid, qfz_box box, const qfz_image *image,
                              qfz_error *err)
{
    if (image->h != qfz_box_h(box) || image->w != qfz_box_w(box))
        return qfz_fail(err, QFZ_EARG,
                        "rows %lld to %lld, columns %lld to %lld: the image of the chunk has %lld "
                        "rows and %lld columns",
                        (long long)box.y0, (long long)box.y1 - 1, (long long)box.x0,
                        (long long)box.x1 - 1, (long long)image->h, (long long)image->w);
    if (image->type != grid->rule.type || image->n_bands != grid->rule.n_bands)
        return qfz_fail(err, QFZ_EARG, "%d bands of type %d in a grid with %d bands of type %d",
                        image->n_bands, (int)image->type, grid->rule.n_bands, (int)grid->rule.type);
    if (!image->pixels) return qfz_fail(err, QFZ_EARG, "the pixels of the image are NULL");
    if (image->memory != QFZ_MEMORY_HOST)
        return qfz_fail(err, QFZ_EARG, "the image of a chunk must be in host memory");
    if (image->zeroed) return qfz_fail(err, QFZ_EARG, "chunks have no qfz_image.zeroed");
    if (!image->edges != !grid->given.has_edges ||
        image->edges_are_float != grid->given.edges_are_float)
        return qfz_fail(err, QFZ_EARG,
                        "edges and edges_are_float of the image differ from qfz_chunks");
    return QFZ_OK;
}

static qfz_status open_worker(const qfz_grid *grid, qfz_kind kind, const qfz_image *image,
                              qfz_worker **worker, qfz_error *err)
{
    const qfz_worker_spec spec = {.rule = kind == QFZ_FILTER ? &grid->filter_rule : &grid->rule,
                                  .kind = kind,
                                  .max_h = (int32_t)image->h,
                                  .max_w = (int32_t)image->w,
                                  .n_threads = grid->given.n_threads};
    *worker = NULL;
    QFZ_TRY(qfz_engine_cpu.open(worker, 1, &spec, err));
    return qfz_engine_load(&qfz_engine_cpu, *worker, image, err);
}

/* Finds the edges of level 0 of an image from the exterior of the area filter. */
static qfz_status find_zeroed(const qfz_grid *grid, qfz_box box, const qfz_payload *payload,
                              const qfz_image *image, uint8_t *zeroed, bool *fits, qfz_error *err)
{
    const qfz_edge_bits bits = {.zeroed = zeroed};
    qfz_worker *worker = NULL;
    qfz_exterior exterior = {0};
    qfz_error found = {.status = QFZ_OK};
    qfz_status st;
    QFZ_TRY(qfz_message_exterior(grid, QFZ_FILTER, box, payload, QFZ_SECTION_FILTER, &exterior,
                                 fits, err));
    if (!*fits) return QFZ_OK;
    QFZ_TRY_OR(st, cleanup, open_worker(grid, QFZ_FILTER, image, &worker, err));
    st = qfz_engine_cpu.filter->resolve(worker, box, NULL, exterior.n_ring ? &exterior : NULL,
                                        &bits, &found);
    *fits = st != QFZ_EIO;
    if (st == QFZ_EIO) st = QFZ_OK;
    if (st != QFZ_OK) st = qfz_fail(err, st, "%s", found.message);

cleanup:
    if (worker) qfz_engine_cpu.close(&worker, 1);
    qfz_exterior_fini(&exterior);
    return st;
}

qfz_status qfz_grid_load(const qfz_grid *grid, int round, qfz_box box, const qfz_image *image,
                         const qfz_payload *exterior, qfz_loaded *loaded, bool *fits,
                         qfz_error *err)
{
    qfz_image *const own = &loaded->image;
    *own = qfz_image_default();
    *fits = true;
    QFZ_TRY(qfz_api_read(own, sizeof *own, image, "qfz_image", err));
    QFZ_TRY(check_image(grid, box, own, err));
    if (grid->filters && round > 0) {
        QFZ_TRY(QFZ_NEW_LARGE(&loaded->zeroed, own->h * own->w, err));
        QFZ_TRY(find_zeroed(grid, box, exterior, own, loaded->zeroed, fits, err));
        if (!*fits) return QFZ_OK;
        own->zeroed = loaded->zeroed;
    }
    return open_worker(grid, qfz_round_kind(grid, round), own, &loaded->worker, err);
}

void qfz_loaded_fini(qfz_loaded *loaded)
{
    if (loaded->worker) qfz_engine_cpu.close(&loaded->worker, 1);
    free(loaded->zeroed);
    *loaded = (qfz_loaded){0};
}

qfz_status qfz_chunks_rounds(const qfz_chunks *chunks, int *n, qfz_error *err)
{
    qfz_error own;
    qfz_grid grid;
    err = qfz_api_error(err, &own);
    if (!n) return qfz_fail(err, QFZ_EARG, "the pointer to the number of rounds is NULL");
    QFZ_TRY(qfz_grid_init(&grid, chunks, err));
    *n = grid.n_rounds;
    qfz_grid_fini(&grid);
    return QFZ_OK;
}
