/* SPDX-License-Identifier: MIT */
/* test_device_io.cu - sessions whose image and buffers lie in device memory: results equal those of
 * the CPU engine.  On a GPU, a host access to an image or buffer ends the test. */
#include <cstring>

#include "check.h"
#include "device_test.h"
#include "qfz.h"

namespace
{
typedef struct scene {
    qfz_image host, device;
    std::vector<char> pixels;
    std::vector<uint8_t> valid;
    std::vector<uint32_t> edges;
    char *d_pixels;
    uint8_t *d_valid;
    uint32_t *d_edges;
    qfz_criterion criterion;
    double omega;
    cudaStream_t stream; /* NULL: the default one */
    const char *method;
} scene;

size_t bytes_of(qfz_type type)
{
    static const size_t bytes[] = {1, 1, 2, 2, 4, 4, 4};
    return bytes[type];
}

int64_t n_px(const scene *s)
{
    return s->host.h * s->host.w;
}

/* Mostly small differences, and some as large as the type has. */
void put(void *px, int64_t i, qfz_type type, int value, bool largest)
{
    switch (bytes_of(type)) {
    case 1: ((uint8_t *)px)[i] = largest ? 255 : (uint8_t)value; break;
    case 2: ((uint16_t *)px)[i] = largest ? 65535 : (uint16_t)value; break;
    default:
        if (type == QFZ_F32)
            ((float *)px)[i] = largest ? 1e30f : (float)value / 4;
        else
            ((uint32_t *)px)[i] = largest ? 4000000000u : (uint32_t)value;
    }
}

void make(scene *s, int64_t h, int64_t w, qfz_type type, int n_bands, bool has_valid)
{
    const int64_t n = h * w * n_bands;
    s->pixels.resize((size_t)n * bytes_of(type));
    s->valid.resize((size_t)(h * w));
    for (int64_t i = 0; i < n; i++)
        put(s->pixels.data(), i, type, (int)check_pick(7), check_chance(4));
    for (uint8_t &valid : s->valid)
        valid = !has_valid || check_chance(85);
    s->host = qfz_image_default();
    s->host.h = h;
    s->host.w = w;
    s->host.n_bands = n_bands;
    s->host.type = type;
    s->host.pixels = s->pixels.data();
    s->host.valid = has_valid ? s->valid.data() : NULL;
    s->d_pixels = to_device(s->pixels.data(), (int64_t)s->pixels.size());
    s->d_valid = has_valid ? to_device(s->valid.data(), h * w) : NULL;
    s->device = s->host;
    s->device.pixels = s->d_pixels;
    s->device.valid = s->d_valid;
    s->device.memory = QFZ_MEMORY_DEVICE;
    check_describe("%d x %d pixels, %d bands of type %d, %s, %d-connected, %s, %s stream", (int)h,
                   (int)w, n_bands, (int)type, has_valid ? "some invalid" : "all valid",
                   s->criterion.connectivity, s->method ? s->method : "auto",
                   s->stream ? "own" : "default");
}

/* Levels of edges in the place of those of pixels, some missing. */
void give_edges(scene *s)
{
    s->host.edges_are_float = check_chance(50);
    s->edges.resize((size_t)(s->criterion.connectivity / 2 * n_px(s)));
    for (uint32_t &level : s->edges) {
        const float single = (float)check_pick(7) / 4;
        level = (uint32_t)check_pick(7);
        if (s->host.edges_are_float) memcpy(&level, &single, sizeof single);
        if (check_chance(20)) level = QFZ_NO_EDGE;
    }
    s->d_edges = to_device(s->edges);
    s->host.edges = s->edges.data();
    s->device.edges = s->d_edges;
    s->device.edges_are_float = s->host.edges_are_float;
}

void release(scene *s)
{
    MUST(cudaFree(s->d_edges));
    MUST(cudaFree(s->d_pixels));
    MUST(cudaFree(s->d_valid));
    s->d_pixels = NULL;
    s->d_valid = NULL;
}

qfz_session *open_session(const scene *s, const qfz_image *image, qfz_engine_choice engine)
{
    qfz_session_options options = qfz_session_options_default();
    qfz_session *session = NULL;
    qfz_error err = {};
    options.engine = engine;
    options.cuda_stream = s->stream;
    if (engine == QFZ_ENGINE_CUDA) options.gpu_method = s->method;
    const qfz_status st = qfz_session_open(&session, image, &s->criterion, &options, &err);
    CHECK(st == QFZ_OK, "open: %s", err.message);
    return session;
}

/* Copies what the session left in the order of the caller's stream. */
template <typename T> std::vector<T> fetch(const scene *s, const T *d, int64_t n)
{
    std::vector<T> h((size_t)n);
    MUST(cudaMemcpyAsync(h.data(), d, (size_t)n * sizeof(T), cudaMemcpyDeviceToHost, s->stream));
    MUST(cudaStreamSynchronize(s->stream));
    return h;
}

bool runs(qfz_session *session, qfz_part part, const qfz_buffers *into)
{
    qfz_error err = {};
    return CHECK(qfz_session_run(session, part, into, &err) == QFZ_OK, "part %d: %s", (int)part,
                 err.message);
}

template <typename T> void same(const char *what, const std::vector<T> &got, const T *want)
{
    for (size_t i = 0; i < got.size(); i++)
        if (!CHECK(!memcmp(&got[i], &want[i], sizeof(T)), "%s: element %d differs", what, (int)i))
            return;
}

qfz_buffers on_device(void)
{
    qfz_buffers into = qfz_buffers_default();
    into.memory = QFZ_MEMORY_DEVICE;
    return into;
}

void labels_equal(const scene *s, qfz_session *cpu, qfz_session *cuda, qfz_part part)
{
    qfz_buffers into = on_device();
    into.labels = device_room<uint32_t>(n_px(s));
    if (runs(cpu, part, NULL) && runs(cuda, part, &into)) {
        CHECK(qfz_session_n_regions(cpu) == qfz_session_n_regions(cuda), "%u regions, not %u",
              qfz_session_n_regions(cuda), qfz_session_n_regions(cpu));
        same("labels", fetch(s, into.labels, n_px(s)), qfz_session_labels(cpu, NULL));
    }
    if (runs(cuda, part, NULL)) { /* to the host */
        const uint32_t *const labels = qfz_session_labels(cuda, NULL);
        same("labels on the host", std::vector<uint32_t>(labels, labels + n_px(s)),
             qfz_session_labels(cpu, NULL));
    }
    MUST(cudaFree(into.labels));
}

void features_equal(qfz_session *cpu, qfz_session *cuda)
{
    const uint32_t n = qfz_session_n_regions(cpu);
    std::vector<uint64_t> pixels[2];
    qfz_session *const sessions[2] = {cpu, cuda};
    for (int i = 0; i < 2; i++) {
        qfz_error err = {};
        pixels[i].resize(n);
        qfz_features features = qfz_features_default();
        features.pixels = pixels[i].data();
        CHECK(qfz_session_features(sessions[i], 0, n, &features, &err) == QFZ_OK, "features: %s",
              err.message);
    }
    same("features", pixels[1], pixels[0].data());
}

void paint_equals(const scene *s, qfz_session *cpu, qfz_session *cuda)
{
    const int band = s->host.n_bands - 1;
    const size_t bytes = (size_t)n_px(s) * bytes_of(s->host.type);
    std::vector<char> want(bytes);
    char *const d_out = device_room<char>((int64_t)bytes);
    qfz_error err = {};
    CHECK(qfz_session_paint(cpu, band, NULL, QFZ_MEMORY_HOST, want.data(), &err) == QFZ_OK &&
              qfz_session_paint(cuda, band, NULL, QFZ_MEMORY_DEVICE, d_out, &err) == QFZ_OK,
          "paint: %s", err.message);
    same("painted", fetch(s, d_out, (int64_t)bytes), want.data());
    MUST(cudaFree(d_out));
}

void saliency_equals(const scene *s, qfz_session *cpu, qfz_session *cuda)
{
    const int64_t n = s->criterion.connectivity / 2 * n_px(s);
    qfz_buffers into = on_device();
    into.levels = device_room<uint32_t>(n);
    into.labels = device_room<uint32_t>(n_px(s));
    if (runs(cpu, QFZ_PART_SALIENCY, NULL) && runs(cuda, QFZ_PART_SALIENCY, &into)) {
        same("levels", fetch(s, into.levels, n), qfz_session_saliency(cpu));
        for (double alpha = 0; alpha < 5; alpha += 2) {
            qfz_error err = {};
            CHECK(qfz_session_cut(cpu, alpha, NULL, NULL, &err) == QFZ_OK &&
                      qfz_session_cut(cuda, alpha, into.levels, &into, &err) == QFZ_OK,
                  "cut: %s", err.message);
            same("cut", fetch(s, into.labels, n_px(s)), qfz_session_labels(cpu, NULL));
        }
    }
    if (runs(cuda, QFZ_PART_SALIENCY, NULL)) { /* to the host */
        qfz_error err = {};
        const uint32_t *const levels = qfz_session_saliency(cuda);
        same("levels on the host", std::vector<uint32_t>(levels, levels + n),
             qfz_session_saliency(cpu));
        CHECK(qfz_session_cut(cuda, 4, NULL, NULL, &err) == QFZ_OK, "cut on the host: %s",
              err.message);
        const uint32_t *const labels = qfz_session_labels(cuda, NULL);
        if (labels)
            same("cut on the host", std::vector<uint32_t>(labels, labels + n_px(s)),
                 qfz_session_labels(cpu, NULL));
    }
    MUST(cudaFree(into.levels));
    MUST(cudaFree(into.labels));
}

/* The levels of pixels' parents are canonical; numbers of nodes are not. */
void tree_equals(const scene *s, qfz_session *cpu, qfz_session *cuda)
{
    qfz_buffers into = on_device();
    into.tree_room = qfz_session_tree_room(cuda);
    into.tree_parent = device_room<uint32_t>(into.tree_room);
    into.tree_level = device_room<uint32_t>(into.tree_room);
    if (runs(cpu, QFZ_PART_TREE, NULL) && runs(cuda, QFZ_PART_TREE, &into)) {
        const qfz_tree want = qfz_session_tree(cpu), got = qfz_session_tree(cuda);
        CHECK(!got.parent && got.n_nodes >= n_px(s) && got.n_nodes <= into.tree_room, "%d nodes",
              (int)got.n_nodes);
        const std::vector<uint32_t> parent = fetch(s, into.tree_parent, got.n_nodes);
        const std::vector<uint32_t> level = fetch(s, into.tree_level, got.n_nodes);
        for (int64_t i = 0; i < n_px(s); i++) {
            const bool good = parent[(size_t)i] < got.n_nodes && level[(size_t)i] == 0 &&
                              level[parent[(size_t)i]] == want.level[want.parent[i]];
            if (!CHECK(good, "tree: pixel %d", (int)i)) break;
        }
    }
    MUST(cudaFree(into.tree_parent));
    MUST(cudaFree(into.tree_level));
}

void all_equal(const scene *s)
{
    qfz_session *const cpu = open_session(s, &s->host, QFZ_ENGINE_CPU);
    qfz_session *const cuda = open_session(s, &s->device, QFZ_ENGINE_CUDA);
    if (cpu && cuda) {
        labels_equal(s, cpu, cuda, QFZ_PART_LABEL);
        features_equal(cpu, cuda);
        labels_equal(s, cpu, cuda, QFZ_PART_ALPHA_OMEGA);
        paint_equals(s, cpu, cuda);
        saliency_equals(s, cpu, cuda);
        if (s->criterion.min_area == 0) tree_equals(s, cpu, cuda);
    }
    qfz_session_close(cuda);
    qfz_session_close(cpu);
}

/* A published method gets its pixels from the device, too. */
void labels_by_method(scene *s, const char *method)
{
    const qfz_criterion criterion = s->criterion;
    s->method = method;
    s->criterion.has_alpha = false;
    s->criterion.omega = NULL;
    qfz_session *const cpu = open_session(s, &s->host, QFZ_ENGINE_CPU);
    qfz_session *const cuda = open_session(s, &s->device, QFZ_ENGINE_CUDA);
    if (cpu && cuda) labels_equal(s, cpu, cuda, QFZ_PART_LABEL);
    qfz_session_close(cuda);
    qfz_session_close(cpu);
    s->method = NULL;
    s->criterion = criterion;
}

/* The image of the host, results on the device. */
void from_host(scene *s)
{
    const qfz_image device = s->device;
    s->device = s->host;
    all_equal(s);
    s->device = device;
}

void refuses_cpu(const scene *s)
{
    qfz_session_options options = qfz_session_options_default();
    qfz_session *session = NULL;
    qfz_error err = {};
    options.engine = QFZ_ENGINE_CPU;
    CHECK(qfz_session_open(&session, &s->device, &s->criterion, &options, &err) == QFZ_EARG &&
              strstr(err.message, "device memory"),
          "CPU engine: %s", err.message);
}
} // namespace

int main(int argc, char **argv)
{
    static const qfz_type types[] = {QFZ_U8, QFZ_U16, QFZ_F32, QFZ_U32, QFZ_I16, QFZ_U8};
    need_device();
    check_begin(argc, argv, 12);
    for (int64_t c = check_.first; c < check_.cases; c++) {
        const bool own_stream = c % 3 != 0;
        scene s = {};
        check_case(c, "making it");
        if (own_stream) MUST(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
        s.omega = 3;
        s.criterion.connectivity = c / 6 % 2 ? 8 : 4;
        s.criterion.distance = QFZ_LINF;
        s.criterion.has_alpha = true;
        s.criterion.alpha = 1;
        s.criterion.omega = &s.omega;
        s.criterion.n_omega = 1;
        s.criterion.min_area = c % 3 == 1 ? 5 : 0;
        make(&s, 1 + check_pick(90), 1 + check_pick(150), types[c % 6], c % 6 == 5 ? 3 : 1,
             c % 4 != 1);
        all_equal(&s);
        if (c % 4 == 0) from_host(&s);
        refuses_cpu(&s);
        if (c % 6 == 0) labels_by_method(&s, "ha4");
        give_edges(&s);
        all_equal(&s);
        if (c % 4 == 0) from_host(&s);
        release(&s);
        if (own_stream) MUST(cudaStreamDestroy(s.stream));
    }
    return check_end();
}
