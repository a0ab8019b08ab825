/* SPDX-License-Identifier: MIT */
/* test_faults.c - a full disk or a missing folder gives one message and leaves no file. */
#define _GNU_SOURCE
#include "scene.h"

#include <errno.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/qfz_faults_XXXXXX";

static int make_folder(void **state)
{
    return mkdtemp(folder) ? set_up(state) : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return VSIRmdirRecursive(folder);
}

static qfz_source *scene(const char *dst, qfz_sink_spec *spec, int64_t side)
{
    const int px = (int)side;
    GDALClose(make("/vsimem/source.tif", px, px, 1, GDT_Byte, NULL));
    const qfz_source_options input = source_of("/vsimem/source.tif");
    const qfz_sink_spec s = {.path = dst,
                             .w = side,
                             .h = side,
                             .n_bands = 1,
                             .type = QFZ_OUT_U32,
                             .max_value = 1e9,
                             .has_nodata = true};
    *spec = s;
    return open_it(&input);
}

static void folders_are_tried_before_the_work(void **state)
{
    (void)state;
    char missing[128], file[128];
    qfz_sink_options output = {.n_threads = 1};
    qfz_sink_spec spec;
    (void)snprintf(missing, sizeof missing, "%s/none/a.tif", folder);
    qfz_source *source = scene(missing, &spec, 8);
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EIO, "No such file or directory");
    qfz_source_close(source);
    source = scene(folder, &spec, 8);
    output.format = "GTiff";
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "folder has this name");
    qfz_source_close(source);
    output.format = NULL;
    source = scene("/proc/a.tif", &spec, 8);
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EIO, "/proc/a.tif");
    qfz_source_close(source);
    (void)snprintf(file, sizeof file, "%s/a.tif", folder);
    source = scene(file, &spec, 8);
    output.output.names[0] = output.output.names[1] = file;
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "two outputs");
    qfz_source_close(source);
    assert_int_equal(count_files(folder), 0);
}

static void links_to_an_input_are_seen(void **state)
{
    (void)state;
    char file[128], link_name[128];
    qfz_sink_options output = {.n_threads = 1};
    qfz_sink_spec spec;
    (void)snprintf(file, sizeof file, "%s/in.tif", folder);
    (void)snprintf(link_name, sizeof link_name, "%s/link.tif", folder);
    qfz_source_close(scene(link_name, &spec, 8));
    GDALClose(make(file, 8, 8, 1, GDT_Byte, NULL));
    assert_int_equal(symlink(file, link_name), 0);
    output.output.overwrite = true;
    const qfz_source_options input = source_of(file);
    qfz_source *const source = open_it(&input);
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EARG, "replace an input");
    qfz_source_close(source);
    unlink(link_name);
    unlink(file);
}

/* Noise does not compress: 16 MiB of it do not fit on the small disk. */
static qfz_status write_noise(const qfz_source *source, const qfz_sink_options *output,
                              const qfz_sink_spec *spec, qfz_error *err)
{
    qfz_sink *sink = NULL;
    qfz_status st = qfz_sink_create(&sink, source, output, spec, err);
    uint32_t *const px = malloc((size_t)(spec->w * 256) * sizeof *px);
    uint32_t noise = 1;
    for (int64_t y = 0; y < spec->h && st == QFZ_OK; y += 256) {
        const qfz_box box = {y, 0, y + 256, spec->w};
        for (int64_t i = 0; i < spec->w * 256; i++)
            px[i] = noise = noise * 1664525u + 1013904223u;
        st = qfz_sink_write(sink, box, px, NULL, err);
    }
    if (st == QFZ_OK) st = qfz_sink_commit(sink, err);
    qfz_sink_close(sink);
    free(px);
    return st;
}

static void mount_small(const char *path)
{
    (void)mkdir(path, 0700);
    if (mount("qfz", path, "tmpfs", 0, "size=2m") == 0) return;
    const int why = errno;
    (void)rmdir(path);
    leave_out("a small file system", strerror(why));
}

static void a_full_disk_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    char small[128], file[160];
    qfz_sink_spec spec;
    (void)snprintf(small, sizeof small, "%s/small", folder);
    mount_small(small);
    for (int i = 0; i < 4; i++) {
        static const int64_t sides[] = {2048, 768, 768, 2048};
        static const char *const names[] = {"a.tif", "b.tif", "c.img", "d.tif"};
        const char *const plain[] = {"COMPRESS=NONE", NULL};
        (void)snprintf(file, sizeof file, "%s/%s", small, names[i]);
        qfz_sink_options output = {.n_threads = 1};
        qfz_source *const source = scene(file, &spec, sides[i]);
        if (i == 1) output.creation_options = plain;
        if (i == 3) output.format = "COG";
        FAILS(write_noise(source, &output, &spec, &err), QFZ_EIO, file);
        assert_int_equal(count_files(small), 0);
        qfz_source_close(source);
    }
    assert_int_equal(umount(small), 0);
}

static void a_device_that_is_always_full_is_an_error(void **state)
{
    (void)state;
    qfz_sink_options output = {.n_threads = 1};
    qfz_sink_spec spec;
    qfz_sink *sink = NULL;
    if (access("/dev/full", W_OK) != 0) leave_out("/dev/full", strerror(errno));
    qfz_source *const source = scene("/dev/full/a.tif", &spec, 64);
    FAILS(qfz_sink_check(source, &output, &spec, &err), QFZ_EIO, "/dev/full");
    FAILS(qfz_sink_create(&sink, source, &output, &spec, &err), QFZ_EIO, "/dev/full");
    qfz_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_are_tried_before_the_work),
        cmocka_unit_test(links_to_an_input_are_seen),
        cmocka_unit_test(a_full_disk_is_an_error_and_leaves_nothing),
        cmocka_unit_test(a_device_that_is_always_full_is_an_error),
    };
    return status_of(cmocka_run_group_tests(tests, make_folder, remove_folder));
}
