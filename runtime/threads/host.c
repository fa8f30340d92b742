/* host.c - creates threads, sets the locale and floating-point environment of a thread, runs a function on a stack of its own, and counts forks (host.h): for
 * the public entry points of runs, sessions, libraries and simulations, and for all code that creates a thread. */
#include "runtime/threads/host.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/df_formula.h"

/* ---- the state of a thread ---- */

#if defined __x86_64__ || defined __i386__
/* long double is computed by the x87 unit, whose control word is another one. It is changed only if it differs, because loading it
 * is slow. Exceptions that are pending must go before they are unmasked again: else the host's next operation would trap. */
enum { X87_DEFAULT = 0x37f, X87_BITS = 0xf3f };

static unsigned short x87_begin(void)
{
    unsigned short before, ours = X87_DEFAULT;
    __asm__ volatile("fnstcw %0" : "=m"(before));
    if ((before & X87_BITS) != (X87_DEFAULT & X87_BITS))
        __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(ours));
    return before;
}

static void x87_end(unsigned short before)
{
    if ((before & X87_BITS) != (X87_DEFAULT & X87_BITS))
        __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(before));
}
#else
static unsigned short x87_begin(void)
{
    return 0;
}

static void x87_end(unsigned short before)
{
    (void)before;
}
#endif

/* glibc gives one constant object for it, each time, so two threads may make it at once and nothing is freed. */
static locale_t c_locale(void)
{
    static _Atomic(locale_t) made;
    locale_t c = atomic_load_explicit(&made, memory_order_relaxed);
    if (!c) {
        c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        atomic_store_explicit(&made, c, memory_order_relaxed);
    }
    return c;
}

void dfr_host_enter(struct dfr_host *host)
{
    locale_t c = c_locale();
    host->locale = c ? uselocale(c) : (locale_t)0;
    host->floats = df_float_begin();
    host->x87 = x87_begin();
}

void dfr_host_leave(const struct dfr_host *host)
{
    x87_end(host->x87);
    df_float_end(host->floats);
    if (host->locale)
        uselocale(host->locale);
}

/* ---- forks ---- */

static atomic_uint forks;

static void count_fork(void)
{
    atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

unsigned dfr_forks(void)
{
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

/* ---- threads ---- */

struct start {
    void *(*function)(void *);
    void *arg;
};

static void *main_of_thread(void *arg)
{
    struct start start = *(struct start *)arg;
    struct dfr_host host;
    free(arg);
    dfr_host_enter(&host);
    return start.function(start.arg);
}

static void set_signals(bool deaf, sigset_t *before)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, before);
    set = *before;
    if (deaf)
        sigfillset(&set);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&set, faults[i]);
    pthread_sigmask(SIG_SETMASK, &set, NULL);
}

static int set_stack(pthread_attr_t *attributes, size_t bytes)
{
    size_t usual = 0;
    int code = pthread_attr_getstacksize(attributes, &usual);
    if (bytes == 0)
        bytes = usual < DFR_STACK_BYTES ? DFR_STACK_BYTES : usual;
    return code == 0 && bytes != usual ? pthread_attr_setstacksize(attributes, bytes) : code;
}

int dfr_thread_create(pthread_t *thread, size_t stack_bytes, bool deaf, void *(*function)(void *), void *arg)
{
    struct start *start = malloc(sizeof *start);
    pthread_attr_t attributes;
    sigset_t before;
    int code = start ? pthread_attr_init(&attributes) : ENOMEM;
    if (code != 0) {
        free(start);
        return code;
    }
    *start = (struct start){ function, arg };
    code = set_stack(&attributes, stack_bytes);
    if (code == 0) {
        set_signals(deaf, &before);     /* a thread starts with the signals of the one that makes it */
        code = pthread_create(thread, &attributes, main_of_thread, start);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    if (code != 0)
        free(start);
    return code;
}

int dfr_helper_create(pthread_t *thread, void *(*function)(void *), void *arg)
{
    return dfr_thread_create(thread, 0, true, function, arg);
}

struct errand {
    void (*function)(void *);
    void *arg;
};

static void *run_errand(void *arg)
{
    const struct errand *errand = arg;
    errand->function(errand->arg);
    return NULL;
}

void dfr_on_own_stack(void (*function)(void *), void *arg)
{
    struct errand errand = { function, arg };
    struct dfr_host host;
    pthread_t thread;
    if (dfr_helper_create(&thread, run_errand, &errand) == 0) {
        pthread_join(thread, NULL);
        return;
    }
    dfr_host_enter(&host);
    function(arg);
    dfr_host_leave(&host);
}
