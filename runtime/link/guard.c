/* guard.c - ends the process if a call into MPI does not return in time (guard.h); link.c puts it around the plug-in's calls. */
#include "runtime/link/guard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/output.h"
#include "runtime/engine/log.h"

#define LOOKS 20                        /* within the limit */

static struct {
    _Atomic uint64_t n;                 /* odd: inside. It changes at each enter and leave */
    _Atomic(const char *) what;
    _Atomic int64_t limit_ns;
    bool begun;                         /* of the communication thread */
} guard;

static void end_process(const char *what, double limit_s)
{
    char text[400];
    const int n = snprintf(text, sizeof text, "%s: error: %s has not returned for %g s: a rank has died, cannot be reached, or runs without --cluster. This "
                           "rank ends; with --journal, --resume goes on where the journal ends (DF_MPI_TIMEOUT=SECONDS sets the limit)\n",
                           dfr_program_name(), what, limit_s);

    if (write(STDERR_FILENO, text, (size_t)n) < 0) /* the stream's lock may be held */
        _exit(1);
    dfr_output_leave(1);
}

static void *look(void *unused)
{
    uint64_t seen = 0;
    int n_looks = 0;

    (void)unused;
    for (;;) {
        const int64_t limit_ns = atomic_load_explicit(&guard.limit_ns, memory_order_relaxed), each_ns = limit_ns / LOOKS;
        nanosleep(&(struct timespec){ each_ns / 1000000000, each_ns % 1000000000 }, NULL);
        const uint64_t n = atomic_load_explicit(&guard.n, memory_order_acquire); /* pairs with enter: `what` is of this call or a later one */
        n_looks = n == seen ? n_looks + 1 : 0;
        seen = n;
        if (n % 2 && n_looks >= LOOKS)
            end_process(atomic_load_explicit(&guard.what, memory_order_relaxed), 1e-9 * (double)limit_ns);
    }
    return NULL;
}

int dfr_guard_begin(double limit_s, struct df_error *error)
{
    sigset_t all, mask;
    pthread_attr_t attributes;
    pthread_t thread;

    atomic_store_explicit(&guard.limit_ns, (int64_t)(1e9 * limit_s), memory_order_relaxed);
    if (guard.begun)
        return DF_OK;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    guard.begun = pthread_create(&thread, &attributes, look, NULL) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return guard.begun ? DF_OK : dfr_error_memory(error);
}

struct dfr_guarded dfr_guard_enter(const char *what)
{
    struct dfr_guarded guarded;
    sigset_t pipe;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &guarded.mask);
    guarded.pipe_was_blocked = sigismember(&guarded.mask, SIGPIPE);
    atomic_store_explicit(&guard.what, what, memory_order_relaxed);
    atomic_fetch_add_explicit(&guard.n, 1, memory_order_release);
    return guarded;
}

void dfr_guard_leave(const struct dfr_guarded *guarded)
{
    sigset_t pipe;

    atomic_fetch_add_explicit(&guard.n, 1, memory_order_release);
    if (guarded->pipe_was_blocked)
        return;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    while (sigtimedwait(&pipe, NULL, &(struct timespec){ 0, 0 }) == SIGPIPE)
        continue;
    pthread_sigmask(SIG_SETMASK, &guarded->mask, NULL);
}
