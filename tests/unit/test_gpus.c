/* SPDX-License-Identifier: MIT */
/* What the program lets CUDA see. */
#include "gpus.h"

#include "check.h"

#include <string.h>

static const char variable[] = "CUDA_VISIBLE_DEVICES";

/* What the variable lists is known, and shown afterwards is what those are named there. */
static void shows(const char *before, int n_there, const int *gpus, int n, const char *after)
{
    gpu_list list = {0};
    const qfz_gpu_view view = gpus_view(&list);
    (void)setenv(variable, before, 1);
    check_describe("%d GPUs of \"%s\"", n, before);
    const int counted = view.count(view.arg);
    CHECK(counted == n_there, "%d GPUs", counted);
    if (n > 0) CHECK(view.show(gpus, n, view.arg), "not shown");
    CHECK(view.count(view.arg) == n_there, "another number, after some were shown");
    CHECK(!strcmp(getenv(variable), after), "%s", getenv(variable));
    gpus_close(&list);
}

static void shows_what_is_asked_for(void)
{
    static const int two[] = {2, 0};
    shows("5,GPU-f00,GPU-ba7", 3, two, 2, "GPU-ba7,5");
    shows("5,6,7", 3, two, 1, "7");
    shows("4,5,-1,7", 2, NULL, 0, "4,5,-1,7");
    shows("", 0, NULL, 0, "");
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 1);
    check_case(0, "GPUs by number or by name");
    shows_what_is_asked_for();
    return check_end();
}
