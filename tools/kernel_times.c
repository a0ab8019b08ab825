/* SPDX-License-Identifier: MIT */
/* kernel_times.c - prints every kernel that a CUDA program launches, in order: its name without
 * arguments, nanoseconds, and the number of blocks, separated by tabs.  CUDA loads it:
 *
 *   cc -shared -fPIC -o kernel_times.so tools/kernel_times.c -I CUDA/include -L CUDA/lib64 -lcupti
 *   CUDA_INJECTION64_PATH=./kernel_times.so KERNEL_TIMES=times.tsv qfz-bench label ...
 *
 * tools/kernel_times.py adds up the launches of each kernel. */
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 8 << 20 };

static FILE *out;

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
    *buffer = aligned_alloc(8, BUFFER);
    *size = *buffer ? BUFFER : 0;
    *most_records = 0;
}

static void print_kernel(const CUpti_ActivityKernel10 *kernel)
{
    const unsigned long long ns = kernel->end - kernel->start;
    fprintf(out, "%s\t%llu\t%lld\n", kernel->name, ns, (long long)kernel->gridX * kernel->gridY);
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t used)
{
    CUpti_Activity *record = NULL;
    (void)context, (void)stream, (void)size;
    while (cuptiActivityGetNextRecord(buffer, used, &record) == CUPTI_SUCCESS)
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            print_kernel((const CUpti_ActivityKernel10 *)record);
    free(buffer);
}

static void finish(void)
{
    (void)cuptiActivityFlushAll(1);
    if (out) (void)fclose(out);
    out = NULL;
}

int InitializeInjection(void);

int InitializeInjection(void)
{
    const char *const path = getenv("KERNEL_TIMES");
    out = fopen(path ? path : "kernel_times.tsv", "w");
    if (!out || atexit(finish) != 0) return 0;
    return cuptiActivityRegisterCallbacks(give_buffer, take_buffer) == CUPTI_SUCCESS &&
           cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS;
}
