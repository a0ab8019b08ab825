/* SPDX-License-Identifier: MIT */
/* altered_messages.c - a library for LD_PRELOAD: a message that a rank receives is altered.
 *
 * QFZ_ALTER_AT: the number of the message, from 1; 0: none.  QFZ_ALTER_RANK: the rank that receives
 * it, or contributes it to a sum or a broadcast of its own.  QFZ_ALTER_LIST: a file that gets a
 * line for each message: its kind, and its length in bytes.  What is altered is one of these:
 *
 * QFZ_ALTER_SEED: some bytes or words at random.  With QFZ_ALTER_FORGES only records count as
 * messages (summaries, exteriors, maps, histograms), and their checksums are made to fit.
 *
 * QFZ_ALTER_WORD, QFZ_ALTER_VALUE: this word of 32 bits, from 0, gets this value, and the checksum
 * of a head or a record and the second copy of a number are made to fit. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Of transport_mpi.c. */
enum { HEAD_BYTES = 40, CRC_OF_BODY = 32, CRC_OF_HEAD = 36, CHECK = 1 << 20 };
enum { MOST_SENT = 1 << 16 };

static long n_received;
static char *head; /* of the message whose body comes next */

static bool of_this_rank(void)
{
    const char *const wanted = getenv("QFZ_ALTER_RANK"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank) rank = getenv("PMI_RANK");
    return wanted && rank && strcmp(wanted, rank) == 0;
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void list(const char *kind, size_t n)
{
    const char *const path = getenv("QFZ_ALTER_LIST");
    FILE *const file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    (void)fprintf(file, "%s %zu\n", kind, n);
    (void)fclose(file);
}

/* Counts a message of n bytes.  True if it is the one to be altered. */
static bool is_next(const char *kind, size_t n)
{
    const char *const at = getenv("QFZ_ALTER_AT");
    if (!of_this_rank() || !at) return false;
    list(kind, n);
    return ++n_received == atol(at);
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

/* As QFZ_ALTER_WORD says; or at random. */
static void alter_as_asked(void *message, size_t n)
{
    const char *const word = getenv("QFZ_ALTER_WORD"), *value = getenv("QFZ_ALTER_VALUE");
    const uint32_t number = value ? (uint32_t)strtoul(value, NULL, 0) : 0;
    const size_t at = word ? sizeof number * strtoul(word, NULL, 10) : 0;
    if (!word)
        alter(message, n);
    else if (at < n)
        memcpy((char *)message + at, &number, n - at < sizeof number ? n - at : sizeof number);
}

static void fix_crc(char *place, const void *data, size_t n)
{
    const uint32_t crc = (uint32_t)crc32_z(0, data, n);
    memcpy(place, &crc, sizeof crc);
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
    const bool is_head = n == HEAD_BYTES && tag % 2 == 0, in_words = getenv("QFZ_ALTER_WORD");
    const char *const kind = is_head ? "head" : head ? "record" : "stop";
    if (n > 0 && (head || !forges()) && is_next(kind, n)) {
        alter_as_asked(buffer, n);
        if (is_head && in_words) fix_crc((char *)buffer + CRC_OF_HEAD, buffer, CRC_OF_HEAD);
        if (head && (in_words || forges())) fix_crc(head + CRC_OF_BODY, buffer, n);
    }
    head = is_head ? buffer : NULL;
    return code;
}

/* With QFZ_ALTER_WORD what this rank sends counts, too: it sends other bytes than it has. */
int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm all)
{
    int (*real)(void *, int, MPI_Datatype, int, MPI_Comm), rank = root;
    *(void **)&real = dlsym(RTLD_NEXT, "MPI_Bcast");
    const size_t n = bytes_of(count, type);
    (void)MPI_Comm_rank(all, &rank);
    const bool counts = n > 0 && !forges(), in_words = getenv("QFZ_ALTER_WORD");
    char copy[MOST_SENT];
    if (counts && rank == root && in_words && n <= sizeof copy && is_next("sent", n)) {
        memcpy(copy, buffer, n);
        alter_as_asked(copy, n);
        return real(copy, count, type, root, all);
    }
    const int code = real(buffer, count, type, root, all);
    if (counts && rank != root && is_next("shared", n)) alter_as_asked(buffer, n);
    return code;
}

int MPI_Allgather(const void *own, int n_own, MPI_Datatype type, void *buffer, int count,
                  MPI_Datatype to, MPI_Comm all)
{
    int (*real)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm), n_ranks = 1;
    *(void **)&real = dlsym(RTLD_NEXT, "MPI_Allgather");
    const int code = real(own, n_own, type, buffer, count, to, all);
    (void)MPI_Comm_size(all, &n_ranks);
    const size_t n = (size_t)n_ranks * bytes_of(count, to);
    if (!forges() && is_next("numbers", n)) alter_as_asked(buffer, n);
    return code;
}

/* What this rank contributes: two numbers, of which the second follows from the first. */
int MPI_Iallreduce(const void *own, void *least, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm all, MPI_Request *request)
{
    static uint32_t copy[2];
    int (*real)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
    *(void **)&real = dlsym(RTLD_NEXT, "MPI_Iallreduce");
    const size_t n = bytes_of(count, type);
    const bool in_words = getenv("QFZ_ALTER_WORD");
    if (n != sizeof copy || !in_words || !is_next("least", n))
        return real(own, least, count, type, op, all, request);
    memcpy(copy, own, n);
    const uint32_t first = copy[0];
    alter_as_asked(copy, n);
    if (copy[0] != first) copy[1] = type == MPI_INT ? copy[0] + CHECK : ~copy[0];
    return real(copy, least, count, type, op, all, request);
}
