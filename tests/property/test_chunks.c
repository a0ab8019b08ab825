/* SPDX-License-Identifier: MIT */
/* test_chunks.c - random images in chunks of random shapes equal one session on the whole image,
 * and summaries and exteriors that are damaged, forged or of another problem do no harm. */
#include <zlib.h>

#include "chunks.h"

typedef struct problem {
    raster r;
    qfz_criterion criterion;
    double weights[RASTER_BANDS], omega[RASTER_BANDS];
    raster_edges edges; /* levels NULL: none */
    int64_t chunk_h, chunk_w;
    int n_threads;
} problem;

static double level_of(const qfz_image *image)
{
    const int64_t n = image->h * image->w;
    const double level =
        fabs(oracle_value(image, 0, check_pick(n)) - oracle_value(image, 0, check_pick(n)));
    return isfinite(level) && !check_chance(20) ? level : (double)check_pick(4);
}

static void make(problem *p, int64_t side)
{
    raster_make(&p->r, side, -1, RASTER_BANDS);
    qfz_image *const image = &p->r.image;
    if (!strcmp(p->r.holes, "none") && check_chance(50)) image->valid = NULL;
    p->criterion = (qfz_criterion){.connectivity = check_chance(50) ? 4 : 8,
                                   .distance = raster_distance(image)};
    raster_weigh(p->weights, image->n_bands);
    if (p->criterion.distance != QFZ_SAM && check_chance(25)) {
        p->criterion.weights = p->weights;
        p->criterion.n_weights = image->n_bands;
    }
    p->edges = (raster_edges){0};
    if (check_chance(30)) {
        p->edges = raster_edges_make(image, p->criterion.connectivity);
        image->edges = p->edges.levels;
        image->edges_are_float = p->edges.are_float;
    }
    p->criterion.has_alpha = p->edges.levels || check_chance(75);
    p->criterion.alpha = p->criterion.has_alpha ? level_of(image) : 0;
    if (p->edges.levels) p->criterion.alpha = (double)check_pick(check_chance(50) ? 4 : 1000);
    if (check_chance(40))
        p->criterion.min_area = (uint64_t)(1 + check_pick(check_chance(80) ? 9 : side * side));
    for (int b = 0; b < image->n_bands; b++)
        p->omega[b] = raster_omega(&p->r, b);
    p->chunk_h = 1 + check_pick(check_chance(30) ? image->h : 1 + image->h / 2);
    p->chunk_w = 1 + check_pick(check_chance(30) ? image->w : 1 + image->w / 2);
    if (p->chunk_h > image->h) p->chunk_h = image->h;
    if (p->chunk_w > image->w) p->chunk_w = image->w;
    p->n_threads = check_chance(95) ? 1 : 2; /* threads wait for each other on a busy machine */
    check_describe("%dx%d in chunks of %dx%d, %d bands %s, %s in %s, holes %s, %d-connected, %s%s, "
                   "alpha %s %.17g, least area %d, %d threads",
                   (int)image->h, (int)image->w, (int)p->chunk_h, (int)p->chunk_w, image->n_bands,
                   raster_types[image->type], p->r.shape, p->r.palette, p->r.holes,
                   p->criterion.connectivity, raster_distances[p->criterion.distance],
                   p->edges.levels        ? " with edges"
                   : p->criterion.weights ? " with weights"
                                          : "",
                   p->criterion.has_alpha ? "at most" : "none", p->criterion.alpha,
                   (int)p->criterion.min_area, p->n_threads);
}

static void problem_free(problem *p)
{
    raster_edges_free(&p->edges);
    raster_free(&p->r);
}

/* Result word i of a chunk, as 64 bits; wide: the words have 64. */
static uint64_t word_at(const void *result, bool wide, int64_t i)
{
    return wide ? ((const uint64_t *)result)[i] : ((const uint32_t *)result)[i];
}

/* Compares one chunk with the words of the whole image. */
static bool equals(const problem *p, const cut_image *c, int64_t chunk, const void *result,
                   bool wide, const uint32_t *whole)
{
    const qfz_image *const image = &p->r.image, *const part = &c->images[chunk];
    const int64_t y0 = chunk / c->n_x * p->chunk_h, x0 = chunk % c->n_x * p->chunk_w;
    const int64_t n_planes =
        c->chunks.part == QFZ_PART_SALIENCY ? p->criterion.connectivity / 2 : 1;
    for (int64_t i = 0; i < n_planes * part->h * part->w; i++) {
        const int64_t plane = i / (part->h * part->w), at = i % (part->h * part->w);
        const int64_t y = y0 + at / part->w, x = x0 + at % part->w;
        const uint64_t want = whole[(plane * image->h + y) * image->w + x];
        const uint64_t got = word_at(result, wide, i);
        if (!CHECK(got == want, "plane %d, pixel (%d, %d) is %llu, not %llu", (int)plane, (int)y,
                   (int)x, (unsigned long long)got, (unsigned long long)want))
            return false;
    }
    return true;
}

static void chunks_equal(const problem *p, const qfz_criterion *criterion, qfz_part part,
                         qfz_session *session)
{
    qfz_error err = {.status = QFZ_OK};
    uint32_t n_whole = 0;
    const bool wide = part != QFZ_PART_SALIENCY && check_chance(50);
    cut_image c = cut_make(&p->r.image, criterion, part, p->chunk_h, p->chunk_w, p->n_threads);
    if (!CHECK(qfz_session_run(session, part, NULL, &err) == QFZ_OK, "%s", err.message)) goto end;
    const uint32_t *const whole = part == QFZ_PART_SALIENCY ? qfz_session_saliency(session)
                                                            : qfz_session_labels(session, &n_whole);
    if (!CHECK(cut_stitch(&c, &err) == QFZ_OK, "%s", err.message)) goto end;
    CHECK(c.n_regions == n_whole, "%llu regions, not %u", (unsigned long long)c.n_regions, n_whole);
    for (int64_t i = 0; i < c.n; i++) {
        void *result;
        const qfz_status st = cut_resolve(&c, i, &c.exteriors[i], wide, &result, &err);
        const bool good = CHECK(st == QFZ_OK, "chunk %d: %s", (int)i, err.message) &&
                          equals(p, &c, i, result, wide, whole);
        free(result);
        if (!good) break;
    }

end:
    cut_free(&c);
}

static void parts_equal(const problem *p, const qfz_criterion *criterion, const qfz_part *parts,
                        int n)
{
    qfz_session *session = NULL;
    qfz_error err = {.status = QFZ_OK};
    const qfz_session_options options = {.struct_size = sizeof options, .engine = QFZ_ENGINE_CPU};
    const qfz_status st = qfz_session_open(&session, &p->r.image, criterion, &options, &err);
    if (CHECK(st == QFZ_OK, "%s", err.message))
        for (int i = 0; i < n; i++)
            chunks_equal(p, criterion, parts[i], session);
    qfz_session_close(session);
}

/* The criterion with omega, which chunks have in the part ALPHA_OMEGA alone. */
static qfz_criterion with_omega(const problem *p)
{
    qfz_criterion criterion = p->criterion;
    if (check_chance(90)) {
        criterion.omega = p->omega;
        criterion.n_omega = check_chance(50) ? 1 : p->r.image.n_bands;
    }
    return criterion;
}

static void one_case(int64_t number)
{
    static const qfz_part without[] = {QFZ_PART_LABEL, QFZ_PART_SALIENCY},
                          with[] = {QFZ_PART_ALPHA_OMEGA};
    problem p;
    check_case(number, "a problem");
    make(&p, check_chance(20) ? 60 : 14);
    const qfz_criterion omega = with_omega(&p);
    parts_equal(&p, &p.criterion, without, 2);
    parts_equal(&p, &omega, with, 1);
    problem_free(&p);
}

/* ------------------------------------------------------------------------------ hostile bytes */
enum { CRC_AT = 32, CHECKED_FROM = 40, HEAD_BYTES = CHECKED_FROM + 17 * 8, LENGTHS = 3 };

/* Makes the checksum right again. */
static void seal(qfz_bytes *message)
{
    char *const data = message->data;
    const uint64_t crc =
        crc32_z(0, (const Bytef *)data + CHECKED_FROM, message->size - CHECKED_FROM);
    memcpy(data + CRC_AT, &crc, sizeof crc);
}

static qfz_bytes copy_of(const qfz_bytes *message)
{
    qfz_bytes copy = {.data = raster_room((int64_t)message->size, 1), .size = message->size};
    memcpy(copy.data, message->data, message->size);
    return copy;
}

static void flip(qfz_bytes *message, size_t from)
{
    if (from >= message->size) return;
    const size_t at = from + (size_t)check_pick((int64_t)(message->size - from));
    ((uint8_t *)message->data)[at] ^= (uint8_t)(1 << check_pick(8));
}

/* Stitches with one summary replaced; *n_regions as from the library. */
static qfz_status stitch_with(cut_image *c, int64_t chunk, const qfz_bytes *summary,
                              qfz_bytes *exteriors, qfz_error *err)
{
    uint64_t n_regions;
    const qfz_bytes kept = c->summaries[chunk];
    c->summaries[chunk] = *summary;
    const qfz_status st = qfz_chunks_stitch(&c->chunks, c->summaries, exteriors, &n_regions, err);
    c->summaries[chunk] = kept;
    return st;
}

static void release_all(qfz_bytes *bytes, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        qfz_bytes_release(&bytes[i]);
}

/* A forged summary: stitching refuses it, or its exteriors are refused or give some result. */
static void forged_summary(cut_image *c, int64_t chunk)
{
    qfz_error err = {.status = QFZ_OK};
    qfz_bytes *const exteriors = raster_room(c->n, sizeof *exteriors);
    qfz_bytes forged = copy_of(&c->summaries[chunk]);
    for (int64_t i = 1 + check_pick(4); i > 0; i--)
        flip(&forged, HEAD_BYTES);
    seal(&forged);
    const qfz_status st = stitch_with(c, chunk, &forged, exteriors, &err);
    CHECK(st == QFZ_OK || st == QFZ_EARG, "a forged summary: %s", err.message);
    for (int64_t i = 0; i < c->n && st == QFZ_OK; i++) {
        void *result;
        const qfz_status resolved = cut_resolve(c, i, &exteriors[i], false, &result, &err);
        CHECK(resolved == QFZ_OK || resolved == QFZ_EARG, "its exterior: %s", err.message);
        free(result);
    }
    release_all(exteriors, c->n);
    free(exteriors);
    free(forged.data);
}

/* Copies what a forged exterior must keep, so that its labels can be checked: the lengths of its
 * sections, and the number of regions, with which the section of labels begins. */
static void keep_counts(qfz_bytes *forged, const qfz_bytes *sound)
{
    uint64_t lengths[LENGTHS];
    memcpy(lengths, (const char *)sound->data + HEAD_BYTES, sizeof lengths);
    memcpy((char *)forged->data + HEAD_BYTES, lengths, sizeof lengths);
    const size_t at = HEAD_BYTES + sizeof lengths + (size_t)(lengths[0] + lengths[1]) * 8;
    memcpy((char *)forged->data + at, (const char *)sound->data + at, 8);
}

static void forged_exterior(cut_image *c, int64_t chunk)
{
    qfz_error err = {.status = QFZ_OK};
    qfz_bytes forged = copy_of(&c->exteriors[chunk]);
    void *result;
    const bool labels = c->chunks.part != QFZ_PART_SALIENCY;
    for (int64_t i = 1 + check_pick(4); i > 0; i--)
        flip(&forged, HEAD_BYTES);
    if (labels) keep_counts(&forged, &c->exteriors[chunk]);
    seal(&forged);
    const qfz_status st = cut_resolve(c, chunk, &forged, false, &result, &err);
    CHECK(st == QFZ_OK || st == QFZ_EARG, "a forged exterior: %s", err.message);
    const qfz_image *const part = &c->images[chunk];
    for (int64_t i = 0; i < part->h * part->w && st == QFZ_OK && labels; i++)
        if (!CHECK(word_at(result, false, i) <= c->n_regions, "label %llu of %llu regions",
                   (unsigned long long)word_at(result, false, i), (unsigned long long)c->n_regions))
            break;
    free(result);
    free(forged.data);
}

/* Bytes whose checksum is wrong, or that end too soon, are refused with a message that says so. */
static void damaged(cut_image *c, int64_t chunk)
{
    qfz_error err = {.status = QFZ_OK};
    void *result;
    qfz_bytes bad = copy_of(&c->summaries[chunk]);
    flip(&bad, CRC_AT);
    CHECK(stitch_with(c, chunk, &bad, c->exteriors, &err) == QFZ_EARG &&
              strstr(err.message, "damaged"),
          "a damaged summary: %s", err.message);
    bad.size = (size_t)check_pick((int64_t)bad.size);
    CHECK(stitch_with(c, chunk, &bad, c->exteriors, &err) == QFZ_EARG, "%d bytes of a summary",
          (int)bad.size);
    free(bad.data);
    bad = copy_of(&c->exteriors[chunk]);
    flip(&bad, CRC_AT);
    CHECK(cut_resolve(c, chunk, &bad, false, &result, &err) == QFZ_EARG &&
              strstr(err.message, "damaged"),
          "a damaged exterior: %s", err.message);
    free(result);
    free(bad.data);
}

/* Sound bytes of another chunk, kind, format, grid or criterion. */
static void misplaced(cut_image *c, int64_t chunk)
{
    qfz_error err = {.status = QFZ_OK};
    void *result;
    const int64_t other = (chunk + 1) % c->n;
    if (other != chunk) {
        CHECK(stitch_with(c, chunk, &c->summaries[other], c->exteriors, &err) == QFZ_EARG &&
                  strstr(err.message, "of the chunk"),
              "a summary of another chunk: %s", err.message);
        CHECK(cut_resolve(c, chunk, &c->exteriors[other], false, &result, &err) == QFZ_EARG,
              "an exterior of another chunk");
        free(result);
    }
    CHECK(cut_resolve(c, chunk, &c->summaries[chunk], false, &result, &err) == QFZ_EARG &&
              strstr(err.message, "its summary"),
          "a summary for an exterior: %s", err.message);
    free(result);
    qfz_bytes later = copy_of(&c->exteriors[chunk]);
    ((uint8_t *)later.data)[8]++;
    CHECK(cut_resolve(c, chunk, &later, false, &result, &err) == QFZ_EARG &&
              strstr(err.message, "format 3"),
          "a later format: %s", err.message);
    free(result);
    free(later.data);
    c->chunks.criterion.connectivity ^= 12;
    CHECK(stitch_with(c, chunk, &c->summaries[chunk], c->exteriors, &err) == QFZ_EARG &&
              strstr(err.message, "connectivity"),
          "another connectivity: %s", err.message);
    c->chunks.criterion.connectivity ^= 12;
}

/* Pixels that differ from those of the first step. */
static void other_pixels(cut_image *c, int64_t chunk)
{
    qfz_error err = {.status = QFZ_OK};
    void *result;
    qfz_image *const image = &c->images[chunk];
    uint8_t *const valid = raster_room(image->h * image->w, 1);
    const uint8_t *const kept = image->valid;
    for (int64_t i = 0; i < image->h * image->w; i++)
        valid[i] = (uint8_t)check_pick(2);
    image->valid = valid;
    const qfz_status st = cut_resolve(c, chunk, &c->exteriors[chunk], false, &result, &err);
    CHECK(st == QFZ_OK || st == QFZ_EARG, "other pixels: %s", err.message);
    image->valid = kept;
    free(result);
    free(valid);
}

static void hostile_case(int64_t number)
{
    problem p;
    qfz_error err = {.status = QFZ_OK};
    check_case(number + 1000000, "hostile bytes");
    make(&p, 14);
    static const qfz_part parts[] = {QFZ_PART_LABEL, QFZ_PART_SALIENCY, QFZ_PART_ALPHA_OMEGA};
    const qfz_part part = parts[check_pick(3)];
    const qfz_criterion omega = with_omega(&p);
    cut_image c = cut_make(&p.r.image, part == QFZ_PART_ALPHA_OMEGA ? &omega : &p.criterion, part,
                           p.chunk_h, p.chunk_w, p.n_threads);
    if (CHECK(cut_stitch(&c, &err) == QFZ_OK, "%s", err.message)) {
        const int64_t chunk = check_pick(c.n);
        damaged(&c, chunk);
        misplaced(&c, chunk);
        other_pixels(&c, chunk);
        for (int i = 0; i < 10; i++) {
            forged_summary(&c, chunk);
            forged_exterior(&c, chunk);
        }
    }
    cut_free(&c);
    problem_free(&p);
}

/* --------------------------------------------------------------------------------- arguments */
static void refused(qfz_chunks chunks, const char *word)
{
    static const uint8_t pixels[12] = {0};
    qfz_error err = {.status = QFZ_OK};
    qfz_bytes summary = {0};
    qfz_image image = qfz_image_default();
    image.h = 3;
    image.w = 4;
    image.n_bands = 1;
    image.pixels = pixels;
    const qfz_status st = qfz_chunk_summarise(&chunks, 0, 0, &image, &summary, &err);
    CHECK(st == QFZ_EARG && strstr(err.message, word), "'%s' in: %s", word, err.message);
    qfz_bytes_release(&summary);
}

static void arguments(void)
{
    qfz_chunks good = qfz_chunks_default(), bad;
    const double omega = 1;
    qfz_error err = {.status = QFZ_OK};
    const qfz_bytes none = {0};
    qfz_bytes made;
    check_case(0, "arguments");
    good.criterion.distance = QFZ_LINF;
    good.h = good.chunk_h = 3;
    good.w = good.chunk_w = 4;
    good.n_bands = 1;
#define REFUSED(member, value, word)                                                               \
    do {                                                                                           \
        bad = good;                                                                                \
        bad.member = (value);                                                                      \
        refused(bad, word);                                                                        \
    } while (0)
    REFUSED(struct_size, 0, "struct_size");
    REFUSED(part, QFZ_PART_TREE, "part");
    REFUSED(type, (qfz_type)9, "type");
    REFUSED(criterion.connectivity, 6, "connectivity");
    REFUSED(criterion.omega, &omega, "omega");
    REFUSED(h, 0, "0 pixels");
    REFUSED(w, INT64_MAX, "2^31");
    REFUSED(chunk_h, 4, "4 x 4");
    REFUSED(chunk_w, 0, "0 x 3");
    REFUSED(chunk_w, 2, "4 columns");
    REFUSED(n_bands, 0, "bands");
    REFUSED(has_edges, 2, "has_edges");
    REFUSED(edges_are_float, 1, "edges_are_float");
#undef REFUSED
    CHECK(qfz_chunks_stitch(&good, &none, &made, NULL, &err) == QFZ_EARG &&
              strstr(err.message, "0 bytes"),
          "no summary: %s", err.message);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 600);
    arguments();
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    for (int64_t c = check_.first; c < check_.cases / 3; c++)
        hostile_case(c);
    return check_end();
}
