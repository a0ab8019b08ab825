/* SPDX-License-Identifier: MIT */
/* failing_calls.c - a library for LD_PRELOAD: the n-th call of one kind fails, once, or every call
 * from the n-th on.
 *
 * QFZ_FAIL_CALL: the kind (the name of a function below).  QFZ_FAIL_AT: n, from 1. QFZ_FAIL_ALWAYS:
 * set if every later call fails as well.  QFZ_FAIL_ERRNO: the error.  QFZ_FAIL_FOLDER: calls on
 * other files do not count.  QFZ_FAIL_MARK: a file that is made by the first failure.
 * QFZ_FAIL_COUNT: a file that gets the number of calls at exit.  QFZ_FAIL_RANK: calls of other
 * ranks do not count.
 *
 * Of the kind "thread", n is the number of threads that are there at a time.
 *
 * Allocations count if the program itself makes them, not a library that it uses. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MPI_FAILURE = 16 }; /* MPI_ERR_OTHER of Open MPI */

static const char *which, *folder;
static long fail_at;
static int error_number;
static bool always;
static atomic_long n_calls;
static uintptr_t program_low, program_high; /* where the program's own code lies */

static int note_program(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD) continue;
        const uintptr_t low = info->dlpi_addr + part->p_vaddr, high = low + part->p_memsz;
        if (!program_low || low < program_low) program_low = low;
        if (high > program_high) program_high = high;
    }
    return 1; /* the program comes first */
}

static bool of_this_rank(void)
{
    const char *const wanted = getenv("QFZ_FAIL_RANK");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank) rank = getenv("PMI_RANK");
    return !wanted || (rank && strcmp(wanted, rank) == 0);
}

__attribute__((constructor)) static void begin(void)
{
    const char *const at = getenv("QFZ_FAIL_AT"), *const number = getenv("QFZ_FAIL_ERRNO");
    fail_at = at ? atol(at) : 0;
    error_number = number ? atoi(number) : EIO;
    always = getenv("QFZ_FAIL_ALWAYS") != NULL;
    folder = getenv("QFZ_FAIL_FOLDER");
    (void)dl_iterate_phdr(note_program, NULL);
}

static int (*program_main)(int, char **, char **);

static int begin_main(int argc, char **argv, char **env)
{
    if (of_this_rank()) which = getenv("QFZ_FAIL_CALL");
    return program_main(argc, argv, env);
}

/* Calls are counted from main() on: before it, constructors of libraries that are linked into the
 * program run, as that of CUDA, which crashes without memory. */
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    typedef int start(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
                      void (*)(void), void *);
    start *real;
    *(void **)&real = dlsym(RTLD_NEXT, "__libc_start_main");
    program_main = main;
    return real(begin_main, argc, argv, init, fini, rtld_fini, stack_end);
}

static void write_file(const char *path, const char *text, size_t n)
{
    const long file =
        path ? syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
    if (file < 0) return;
    (void)syscall(SYS_write, file, text, n);
    (void)syscall(SYS_close, file);
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    const int n = snprintf(text, sizeof text, "%ld", atomic_load(&n_calls));
    if (which) write_file(getenv("QFZ_FAIL_COUNT"), text, (size_t)n);
    which = NULL;
}

/* True if this call fails. */
static bool fails(const char *call)
{
    if (!which || strcmp(which, call) != 0) return false;
    const long n = atomic_fetch_add(&n_calls, 1) + 1;
    if (fail_at == 0 || (n != fail_at && !(always && n > fail_at))) return false;
    if (n == fail_at) write_file(getenv("QFZ_FAIL_MARK"), "", 0);
    errno = error_number;
    return true;
}

/* True for files below the folder. */
static bool is_ours(int file)
{
    char link_name[64], path[4096];
    if (!which || !folder || file <= 2) return false;
    (void)snprintf(link_name, sizeof link_name, "/proc/self/fd/%d", file);
    const ssize_t n = readlink(link_name, path, sizeof path - 1);
    if (n <= 0) return false;
    path[n] = '\0';
    return strncmp(path, folder, strlen(folder)) == 0;
}

/* Not the files that GDAL is writing: libtiff 4.5 crashes when it closes one that it cannot read.
 */
static bool is_read(int file)
{
    char link_name[64], path[4096];
    (void)snprintf(link_name, sizeof link_name, "/proc/self/fd/%d", file);
    const ssize_t n = readlink(link_name, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return is_ours(file) && strstr(path, "-tmp.") == NULL;
}

static bool is_our_name(const char *path)
{
    char here[4096];
    if (!which || !folder || !path) return false;
    if (path[0] == '/') return strncmp(path, folder, strlen(folder)) == 0;
    return getcwd(here, sizeof here) && strncmp(here, folder, strlen(folder)) == 0;
}

static bool is_program(const void *caller)
{
    return (uintptr_t)caller >= program_low && (uintptr_t)caller < program_high;
}

/* The function that a definition here hides. */
#define REAL(result, name, ...)                                                                    \
    static result (*real)(__VA_ARGS__);                                                            \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name)

/* A function of a descriptor, of a kind of calls. */
#define ON_FILE(result, name, kind, counts, parameters, arguments, ...)                            \
    result name parameters                                                                         \
    {                                                                                              \
        REAL(result, name, __VA_ARGS__);                                                           \
        return counts(file) && fails(#kind) ? -1 : real arguments;                                 \
    }

ON_FILE(ssize_t, read, read, is_read, (int file, void *to, size_t n), (file, to, n), int, void *,
        size_t)
ON_FILE(ssize_t, pread, read, is_read, (int file, void *to, size_t n, off_t at), (file, to, n, at),
        int, void *, size_t, off_t)
ON_FILE(ssize_t, pread64, read, is_read, (int file, void *to, size_t n, off64_t at),
        (file, to, n, at), int, void *, size_t, off64_t)
ON_FILE(ssize_t, write, write, is_ours, (int file, const void *from, size_t n), (file, from, n),
        int, const void *, size_t)
ON_FILE(ssize_t, pwrite, write, is_ours, (int file, const void *from, size_t n, off_t at),
        (file, from, n, at), int, const void *, size_t, off_t)
ON_FILE(ssize_t, pwrite64, write, is_ours, (int file, const void *from, size_t n, off64_t at),
        (file, from, n, at), int, const void *, size_t, off64_t)
ON_FILE(int, fsync, fsync, is_ours, (int file), (file), int)
ON_FILE(int, fdatasync, fsync, is_ours, (int file), (file), int)
ON_FILE(int, ftruncate, ftruncate, is_ours, (int file, off_t n), (file, n), int, off_t)
ON_FILE(int, ftruncate64, ftruncate, is_ours, (int file, off64_t n), (file, n), int, off64_t)

/* The descriptor is closed in any case, as Linux does it. */
int close(int file)
{
    REAL(int, close, int);
    const bool failing = is_ours(file) && fails("close");
    const int result = real(file);
    if (!failing) return result;
    errno = error_number;
    return -1;
}

/* A function of a name. */
#define ON_NAME(name, kind, path, parameters, arguments, ...)                                      \
    int name parameters                                                                            \
    {                                                                                              \
        REAL(int, name, __VA_ARGS__);                                                              \
        return is_our_name(path) && fails(#kind) ? -1 : real arguments;                            \
    }

ON_NAME(rename, rename, to, (const char *from, const char *to), (from, to), const char *,
        const char *)
ON_NAME(renameat2, rename, to,
        (int from_folder, const char *from, int to_folder, const char *to, unsigned flags),
        (from_folder, from, to_folder, to, flags), int, const char *, int, const char *, unsigned)
ON_NAME(link, link, to, (const char *from, const char *to), (from, to), const char *, const char *)
ON_NAME(unlink, unlink, path, (const char *path), (path), const char *)
ON_NAME(mkdir, mkdir, path, (const char *path, mode_t mode), (path, mode), const char *, mode_t)

#define OPENS(name)                                                                                \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        REAL(int, name, const char *, int, ...);                                                   \
        mode_t mode = 0;                                                                           \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                       \
            va_list rest;                                                                          \
            va_start(rest, flags);                                                                 \
            mode = va_arg(rest, mode_t);                                                           \
            va_end(rest);                                                                          \
        }                                                                                          \
        return is_our_name(path) && fails("open") ? -1 : real(path, flags, mode);                  \
    }

OPENS(open)
OPENS(open64)

#define OPENS_STREAM(name)                                                                         \
    FILE *name(const char *path, const char *mode)                                                 \
    {                                                                                              \
        REAL(FILE *, name, const char *, const char *);                                            \
        return is_our_name(path) && fails("open") ? NULL : real(path, mode);                       \
    }

OPENS_STREAM(fopen)
OPENS_STREAM(fopen64)

size_t fwrite(const void *from, size_t size, size_t n, FILE *stream)
{
    REAL(size_t, fwrite, const void *, size_t, size_t, FILE *);
    return is_ours(fileno(stream)) && fails("write") ? 0 : real(from, size, n, stream);
}

/* ---- Allocations.  dlsym() may allocate, so the functions come from libc by another name. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t n);
extern void *__libc_memalign(size_t alignment, size_t n);
extern void __libc_free(void *p);

void *malloc(size_t n)
{
    return is_program(__builtin_return_address(0)) && fails("malloc") ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return is_program(__builtin_return_address(0)) && fails("malloc") ? NULL
                                                                      : __libc_calloc(n, size);
}

void *realloc(void *old, size_t n)
{
    return is_program(__builtin_return_address(0)) && fails("malloc") ? NULL
                                                                      : __libc_realloc(old, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return is_program(__builtin_return_address(0)) && fails("malloc")
               ? NULL
               : __libc_memalign(alignment, n);
}

int posix_memalign(void **to, size_t alignment, size_t n)
{
    if (is_program(__builtin_return_address(0)) && fails("malloc")) return ENOMEM;
    void *const got = __libc_memalign(alignment, n);
    if (!got) return ENOMEM;
    *to = got;
    return 0;
}

/* ---- Threads: of the kind "thread", no more than QFZ_FAIL_AT - 1 at a time can begin. */
typedef struct start {
    void *(*run)(void *);
    void *arg;
} start;

static atomic_long n_threads;

static void end_thread(void *arg)
{
    (void)arg;
    atomic_fetch_sub(&n_threads, 1);
}

static void *run_thread(void *arg)
{
    const start s = *(const start *)arg;
    void *result;
    __libc_free(arg);
    pthread_cleanup_push(end_thread, NULL);
    result = s.run(s.arg);
    pthread_cleanup_pop(1);
    return result;
}

static bool is_limit_reached(void)
{
    if (!which || strcmp(which, "thread") != 0) return false;
    const long n = atomic_fetch_add(&n_threads, 1) + 1;
    long most = atomic_load(&n_calls);
    while (most < n && !atomic_compare_exchange_weak(&n_calls, &most, n)) {
    }
    if (fail_at == 0 || n < fail_at) return false;
    atomic_fetch_sub(&n_threads, 1);
    write_file(getenv("QFZ_FAIL_MARK"), "", 0);
    return true;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *arg)
{
    REAL(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!which || strcmp(which, "thread") != 0) return real(thread, attributes, run, arg);
    if (is_limit_reached()) return error_number;
    start *const s = __libc_malloc(sizeof *s);
    if (!s) return ENOMEM;
    *s = (start){.run = run, .arg = arg};
    return real(thread, attributes, run_thread, s);
}

/* ---- MPI, as far as its arguments are not looked at: up to eight words.  A process that waits
 * polls any number of times: of the polls of one kind between two other calls, the first counts. */
enum { NO_POLL = 0, POLL_TEST = 1, POLL_PROBE = 2 };

static atomic_int polled; /* kinds, since the last other call */

static bool fails_mpi(int poll)
{
    if (poll == NO_POLL)
        atomic_store(&polled, 0);
    else if (atomic_fetch_or(&polled, poll) & poll)
        return which && strcmp(which, "mpi") == 0 && always && fail_at > 0 &&
               atomic_load(&n_calls) >= fail_at;
    return fails("mpi");
}

#define MPI_CALL(name, poll)                                                                       \
    int name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f,         \
             uintptr_t g, uintptr_t h)                                                             \
    {                                                                                              \
        REAL(int, name, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,          \
             uintptr_t, uintptr_t);                                                                \
        return is_program(__builtin_return_address(0)) && fails_mpi(poll)                          \
                   ? MPI_FAILURE                                                                   \
                   : real(a, b, c, d, e, f, g, h);                                                 \
    }

MPI_CALL(MPI_Isend, NO_POLL)
MPI_CALL(MPI_Probe, NO_POLL)
MPI_CALL(MPI_Recv, NO_POLL)
MPI_CALL(MPI_Test, POLL_TEST)
MPI_CALL(MPI_Iprobe, POLL_PROBE)
MPI_CALL(MPI_Iallreduce, NO_POLL)
MPI_CALL(MPI_Bcast, NO_POLL)
MPI_CALL(MPI_Allgather, NO_POLL)
