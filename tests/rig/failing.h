/* failing.h - the program's own allocations fail, one place of the code after the other. It defines malloc and its
 * relatives, so one file of a test includes it.
 *
 * Words:     a *place* is the return address of a call of malloc, calloc, realloc, aligned_alloc or mmap in the
 *            program's own text. Calls by shared libraries never fail.
 * Use:       failing_learn() notes the places, and how often each is reached, while the test does once what it is
 *            about. Then failing_set(place, n) lets the n-th call of one place fail, and the test does it again.
 * Sanitizer: it has a malloc of its own. FAILING is 0 then, and the test is skipped.
 */
#ifndef FAILING_H
#define FAILING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define FAILING 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FAILING 0
#endif
#endif

#ifndef FAILING
#define FAILING 1

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *given);

extern const char __executable_start[], etext[];

enum { FAILING_PLACES = 1024, FAILING_LIVE = 1 << 16 };

static struct failing_place {
    const void *address;
    uint64_t calls;                     /* while the places were learned */
} failing_places[FAILING_PLACES];
static uint32_t failing_n;              /* places */
static bool failing_learns;
static const void *failing_at;          /* the place that fails; NULL: none */
static uint64_t failing_left;           /* its calls until then */
static bool failing_done;               /* it has failed */
static void *failing_live[FAILING_LIVE]; /* the program's allocations: open addressing; see FAILING_GONE */
static long failing_n_live;
static pthread_mutex_t failing_lock = PTHREAD_MUTEX_INITIALIZER;

#define FAILING_GONE ((void *)failing_live) /* it was freed; others may lie behind it */

static uint32_t failing_hash(const void *p)
{
    return (uint32_t)((uintptr_t)p >> 4) * 2654435761u >> 16;
}

/* Any call of the program's. true: it fails. */
static bool failing_call(const void *place)
{
    bool fails = false;
    uint32_t i = 0;

    if ((const char *)place < __executable_start || (const char *)place >= etext)
        return false;
    pthread_mutex_lock(&failing_lock);
    if (failing_learns) {
        while (i < failing_n && failing_places[i].address != place)
            i++;
        if (i == failing_n && failing_n < FAILING_PLACES)
            failing_places[failing_n++].address = place;
        if (i < FAILING_PLACES)
            failing_places[i].calls++;
    } else if (place == failing_at && !failing_done) {
        fails = failing_done = --failing_left == 0;
    }
    pthread_mutex_unlock(&failing_lock);
    return fails;
}

static void *failing_add(void *p, const void *place)
{
    if (!p || (const char *)place < __executable_start || (const char *)place >= etext)
        return p;
    pthread_mutex_lock(&failing_lock);
    for (uint32_t i = failing_hash(p), tries = 0; tries < FAILING_LIVE; i = (i + 1) % FAILING_LIVE, tries++)
        if (!failing_live[i] || failing_live[i] == FAILING_GONE) {
            failing_live[i] = p;
            failing_n_live++;
            break;
        }
    pthread_mutex_unlock(&failing_lock);
    return p;
}

static void failing_drop(const void *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&failing_lock);
    for (uint32_t i = failing_hash(p), tries = 0; failing_live[i] && tries < FAILING_LIVE;
         i = (i + 1) % FAILING_LIVE, tries++)
        if (failing_live[i] == p) {
            failing_live[i] = FAILING_GONE;
            failing_n_live--;
            break;
        }
    pthread_mutex_unlock(&failing_lock);
}

#define FAILING_OR(call) \
    (failing_call(__builtin_return_address(0)) ? NULL : failing_add((call), __builtin_return_address(0)))

void *malloc(size_t size) { return FAILING_OR(__libc_malloc(size)); }
void *calloc(size_t n, size_t size) { return FAILING_OR(__libc_calloc(n, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return FAILING_OR(__libc_memalign(alignment, size)); }

void *realloc(void *old, size_t size)
{
    if (failing_call(__builtin_return_address(0)))
        return NULL;
    failing_drop(old);
    return failing_add(__libc_realloc(old, size), __builtin_return_address(0));
}

void free(void *given)
{
    failing_drop(given);
    __libc_free(given);
}

void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (failing_call(__builtin_return_address(0)))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
}

/* Notes places while `does` does its work. Its first call is not counted, so what is allocated once for the process is
 * no place. */
static inline void failing_learn(void (*does)(void *arg), void *arg)
{
    failing_n = 0;
    for (uint32_t i = 0; i < FAILING_PLACES; i++)
        failing_places[i] = (struct failing_place){ 0 };
    does(arg);
    failing_learns = true;
    does(arg);
    failing_learns = false;
}

/* The n-th call of this place fails from now on; failing_done tells whether it has. */
static inline void failing_set(uint32_t place, uint64_t n)
{
    failing_at = failing_places[place].address;
    failing_left = n;
    failing_done = false;
}

static inline void failing_end(void)
{
    failing_at = NULL;
}

#endif
#endif
