/* SPDX-License-Identifier: MIT */
/* What the program lets CUDA see. */
#include "gpus.h"

#include "check.h"

#include <string.h>

static const char variable[] = "CUDA_VISIBLE_DEVICES";

/* What the variable is afterwards. */
static const char *after(const char *before, request *r)
{
    r->job.gpus_shown = NULL;
    (void)setenv(variable, before, 1);
    gpus_hide_others(r);
    return getenv(variable);
}

static void shows_what_is_asked_for(void)
{
    static const int two[] = {2, 0}, far[] = {0, 3};
    request r = {.job = {.gpus = two, .n_gpus = 2}};
    check_case(0, "GPUs by number");
    const char *now = after("5,GPU-f00,GPU-ba7", &r);
    CHECK(!strcmp(now, "GPU-ba7,5"), "%s", now);
    CHECK(r.job.n_gpus_shown == 2 && r.job.gpus_shown[0] == 2 && r.job.gpus_shown[1] == 0,
          "%d GPUs", r.job.n_gpus_shown);
    r.job.gpus = far;
    now = after("5,6,7", &r);
    CHECK(!strcmp(now, "5,6,7") && !r.job.gpus_shown, "%s", now);
    r.job.gpus = NULL;
    r.job.n_gpus = 0;
    now = after("5,6,7", &r);
    CHECK(!strcmp(now, "5,6,7") && !r.job.gpus_shown, "%s", now);
}

static void shows_a_rank_its_share(void)
{
    const qfz_ranks ranks = {.rank = 1, .n = 2, .local_rank = 1, .n_local = 2};
    request r = {.job = {.ranks = &ranks}};
    check_case(1, "GPUs of a rank");
    const char *now = after("0,1,2,3", &r);
    CHECK(!strcmp(now, "1,3"), "%s", now);
    now = after("4,5,-1,7", &r);
    CHECK(!strcmp(now, "5"), "%s", now);
    now = after("6", &r);
    CHECK(!strcmp(now, "6") && !r.job.gpus_shown, "%s", now);
    now = after("", &r);
    CHECK(!strcmp(now, "") && !r.job.gpus_shown, "%s", now);
    r.job.engine = QFZ_ENGINE_CPU;
    now = after("0,1,2,3", &r);
    CHECK(!strcmp(now, "0,1,2,3") && !r.job.gpus_shown, "%s", now);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 1);
    shows_what_is_asked_for();
    shows_a_rank_its_share();
    return check_end();
}
