/* reads.c - to be loaded first: counts the calls of read() and pread() of a process, and prints their number at its end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/types.h>

static atomic_long n;

ssize_t read(int fd, void *to, size_t bytes)
{
    ssize_t (*next)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    n++;
    return next(fd, to, bytes);
}

ssize_t pread(int fd, void *to, size_t bytes, off_t at)
{
    ssize_t (*next)(int, void *, size_t, off_t) = (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
    n++;
    return next(fd, to, bytes, at);
}

__attribute__((destructor)) static void tell(void)
{
    printf("reads %ld\n", (long)n);
}
