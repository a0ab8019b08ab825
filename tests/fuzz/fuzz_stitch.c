/* SPDX-License-Identifier: MIT */
/* fuzz_stitch.c - rasters in tiles, stitched, against the oracle: the input takes the place of the
 * random numbers of test_stitch.c, so that a fuzzer chooses raster, distance, tiles and threads. */
#include "fuzz.h"

int main_of_test(int argc, char **argv);
#define main main_of_test
#include "stitch/test_stitch.c"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    check_begin(0, *argv, 0);
    (void)argc;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_case(0, "making the case");
    check_feed(data, size);
    test_case();
    FUZZ_MUST(check_.failures == 0);
    return 0;
}
