/* SPDX-License-Identifier: MIT */
/* altered_messages.c - a library for LD_PRELOAD: a message that a rank receives is altered.
 *
 * QFZ_ALTER_AT: the number of the message, from 1; 0: none.  QFZ_ALTER_RANK: the rank that receives
 * it.  QFZ_ALTER_SEED: of the random changes.  QFZ_ALTER_FORGES: set if only records are altered
 * (summaries, exteriors, maps, histograms), and their checksums are made to fit.  QFZ_ALTER_COUNT:
 * a file that gets the number of messages that the rank has received. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { HEAD_BYTES = 24, CRC_OF_BODY = 16 }; /* of transport_mpi.c */

static long n_received;
static char *head; /* of the message whose body comes next */

static bool of_this_rank(void)
{
    const char *const wanted = getenv("QFZ_ALTER_RANK"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank) rank = getenv("PMI_RANK");
    return wanted && rank && strcmp(wanted, rank) == 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *const path = getenv("QFZ_ALTER_COUNT");
    FILE *const file = path && of_this_rank() ? fopen(path, "w") : NULL;
    if (!file) return;
    (void)fprintf(file, "%ld", n_received);
    (void)fclose(file);
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* True if this is the message to be altered. */
static bool is_next(void)
{
    const char *const at = getenv("QFZ_ALTER_AT");
    return of_this_rank() && at && ++n_received == atol(at);
}

static bool forges(void)
{
    return getenv("QFZ_ALTER_FORGES") != NULL;
}

static void set_word(unsigned char *bytes, size_t n, uint64_t *random)
{
    static const uint32_t words[] = {0, 1, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff};
    const uint32_t word = words[next_random(random) % (sizeof words / sizeof words[0])];
    if (n >= sizeof word) memcpy(bytes + next_random(random) % (n / 4) * 4, &word, sizeof word);
}

/* A few bytes, or whole words that are the least and the largest numbers. */
static void alter(void *message, size_t n)
{
    unsigned char *const bytes = message;
    const char *const seed = getenv("QFZ_ALTER_SEED");
    uint64_t random = seed ? strtoull(seed, NULL, 10) : 1;
    (void)next_random(&random);
    const uint32_t times = 1 + next_random(&random) % 4;
    const bool in_words = next_random(&random) % 2;
    bytes[next_random(&random) % n] ^= (unsigned char)(1 + next_random(&random) % 255);
    for (uint32_t i = 1; i < times; i++)
        if (in_words)
            set_word(bytes, n, &random);
        else
            bytes[next_random(&random) % n] ^= (unsigned char)(1 + next_random(&random) % 255);
}

static size_t bytes_of(int count, MPI_Datatype type)
{
    int size = 0;
    (void)MPI_Type_size(type, &size);
    return (size_t)count * (size_t)size;
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm all,
             MPI_Status *status)
{
    int (*real)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
    *(void **)&real = dlsym(RTLD_NEXT, "MPI_Recv");
    const int code = real(buffer, count, type, from, tag, all, status);
    const size_t n = bytes_of(count, type);
    const bool is_head = n == HEAD_BYTES && tag % 2 == 0;
    if (n > 0 && !(is_head && forges()) && is_next()) {
        alter(buffer, n);
        const uint32_t crc = (uint32_t)crc32_z(0, buffer, n);
        if (forges() && head) memcpy(head + CRC_OF_BODY, &crc, sizeof crc);
    }
    head = is_head ? buffer : NULL;
    return code;
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm all)
{
    int (*real)(void *, int, MPI_Datatype, int, MPI_Comm), rank = root;
    *(void **)&real = dlsym(RTLD_NEXT, "MPI_Bcast");
    const int code = real(buffer, count, type, root, all);
    const size_t n = bytes_of(count, type);
    (void)MPI_Comm_rank(all, &rank);
    if (rank == root || n == 0) return code;
    if (!forges() && is_next()) alter(buffer, n);
    return code;
}

int MPI_Allgather(const void *own, int n_own, MPI_Datatype type, void *buffer, int count,
                  MPI_Datatype to, MPI_Comm all)
{
    int (*real)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm), n_ranks = 1;
    *(void **)&real = dlsym(RTLD_NEXT, "MPI_Allgather");
    const int code = real(own, n_own, type, buffer, count, to, all);
    (void)MPI_Comm_size(all, &n_ranks);
    if (!forges() && is_next()) alter(buffer, (size_t)n_ranks * bytes_of(count, to));
    return code;
}
