/* fail_malloc.c - preloaded into a program: its own n-th allocation fails, n given by FAIL_MALLOC, and once it did, a line
 * says so in the file FAIL_MALLOC_SAYS. Allocations by other libraries, the C library's own included, are left alone: who
 * called is seen by the return address, which lies in the program's own text.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static uintptr_t text_begin, text_end;
static long n_failing;                  /* 0: none */
static _Atomic long n_calls;

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

static int fails(void *caller)
{
    const char *path;
    int file;
    if (n_failing == 0 || (uintptr_t)caller < text_begin || (uintptr_t)caller >= text_end ||
        atomic_fetch_add(&n_calls, 1) + 1 != n_failing)
        return 0;
    path = getenv("FAIL_MALLOC_SAYS");
    file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (file >= 0) {
        if (write(file, "failed\n", 7) != 7)
            abort();
        close(file);
    }
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}
