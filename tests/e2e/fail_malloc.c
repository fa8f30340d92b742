/* fail_malloc.c - preloaded into a program: its own n-th allocation fails, n given by FAIL_MALLOC. When the program
 * ends, the file FAIL_MALLOC_SAYS has "failed" or "passed" and how many of its allocations were never freed.
 * Allocations by other libraries, the C library's own included, are left alone: who called is seen by the return
 * address, which lies in the program's own text.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static uintptr_t text_begin, text_end;
static long n_failing;                  /* 0: none */
static _Atomic long n_calls;

#define N_PLACES (1u << 16)
static void *live[N_PLACES];            /* the program's, open addressing; a freed one's place is taken again */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long n_live;

static uint32_t place_of(const void *p) { return (uint32_t)((uintptr_t)p >> 4) * 2654435761u >> 16; }

static void *add(void *p)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = place_of(p), tries = 0; p && tries < N_PLACES; i = (i + 1) % N_PLACES, tries++)
        if (!live[i] || live[i] == &lock) {
            live[i] = p;
            n_live++;
            break;
        }
    pthread_mutex_unlock(&lock);
    return p;
}

static void drop(const void *p)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = place_of(p), tries = 0; p && live[i] && tries < N_PLACES; i = (i + 1) % N_PLACES, tries++)
        if (live[i] == p) {
            live[i] = &lock;            /* not empty: others may lie behind it */
            n_live--;
            break;
        }
    pthread_mutex_unlock(&lock);
}

static int see_program(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size, (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            text_begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            text_end = text_begin + info->dlpi_phdr[i].p_memsz;
        }
    return 1;                           /* the program is the first */
}

__attribute__((constructor)) static void begin(void)
{
    const char *n = getenv("FAIL_MALLOC");
    dl_iterate_phdr(see_program, NULL);
    n_failing = n ? strtol(n, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAIL_MALLOC_SAYS");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (file >= 0)
        dprintf(file, "%s %ld\n", n_failing && n_calls >= n_failing ? "failed" : "passed", n_live);
}

static int is_program(void *caller)
{
    return (uintptr_t)caller >= text_begin && (uintptr_t)caller < text_end;
}

static int fails(void)
{
    if (atomic_fetch_add(&n_calls, 1) + 1 != n_failing)
        return 0;
    errno = ENOMEM;
    return 1;
}

#define ALLOCATE(call) (!is_program(__builtin_return_address(0)) ? (call) : fails() ? NULL : add(call))

void *malloc(size_t size) { return ALLOCATE(__libc_malloc(size)); }
void *calloc(size_t n, size_t size) { return ALLOCATE(__libc_calloc(n, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return ALLOCATE(__libc_memalign(alignment, size)); }
void *realloc(void *old, size_t size)
{
    void *p;
    if (is_program(__builtin_return_address(0)) && fails())
        return NULL;
    drop(old);
    p = __libc_realloc(old, size);
    return is_program(__builtin_return_address(0)) ? add(p) : p;
}
void free(void *p)
{
    drop(p);
    __libc_free(p);
}
