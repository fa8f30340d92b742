/* emu_fault.c - the SIGSEGV handler of the emulated GPUs (emu_fault.h). The handler only determines the faulting pool and call, and jumps out; emu_check.c,
 * which called the kernel, formats the message. */
#include "runtime/base/status_line.h"
#include "runtime/emu/emu_fault.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "runtime/base/pages.h"
#include "runtime/engine/log.h"
#include "runtime/base/process_lock.h"

#define MAX_POOLS 16

struct frame {                          /* of one guarded call, on the stack of its thread */
    sigjmp_buf back;
    struct dfr_emu_fault *fault;
};

static _Thread_local struct frame *running;
static _Atomic(const struct dfr_emu_pool *) pools[MAX_POOLS]; /* the handler may read them at any moment */

DFR_PROCESS_LOCK(lock);
static unsigned n_watched;
static bool handler_present;
static struct sigaction handler_before; /* written before our handler is put in place */

/* ---- in the handler ---- */

static enum dfr_emu_access access_of(const void *context)
{
#if defined(__x86_64__) && defined(__linux__)
    const ucontext_t *c = context;

    return c->uc_mcontext.gregs[REG_ERR] & 2 ? DFR_EMU_WROTE : DFR_EMU_READ; /* bit 1 of the page fault's error code */
#else
    (void)context;
    return DFR_EMU_TOUCHED;
#endif
}

static const struct dfr_emu_pool *pool_at(uintptr_t address)
{
    for (int i = 0; i < MAX_POOLS; i++) {
        const struct dfr_emu_pool *pool = atomic_load_explicit(&pools[i], memory_order_acquire);

        if (pool != NULL && address - (uintptr_t)pool->base < pool->bytes)
            return pool;
    }
    return NULL;
}

static void report(const struct dfr_emu_pool *pool, uintptr_t address)
{
    char line[512];                     /* room for the longest name of a program */
    int length = snprintf(line, sizeof line,
                          "%s: error: code on the CPU touched memory of the emulated GPU %s, byte %lld\n",
                          dfr_program_name(), pool->device_name, (long long)(address - (uintptr_t)pool->base - DFR_GUARD_BYTES));

    dfr_status_clear_in_signal();
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        return; /* there is nobody to tell */
}

static void previous_handler(int signal_number, siginfo_t *info, void *context)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};

    if (handler_before.sa_flags & SA_SIGINFO) {
        handler_before.sa_sigaction(signal_number, info, context);
    } else if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN) {
        handler_before.sa_handler(signal_number);
    } else {
        /* When the handler returns, the access is repeated. It then ends the process as it would have without us. */
        sigaction(signal_number, &standard, NULL);
        if (info->si_code <= 0)
            raise(signal_number); /* somebody sent the signal: there is no access to repeat */
    }
}

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    uintptr_t address = (uintptr_t)info->si_addr;
    const struct dfr_emu_pool *pool = info->si_code > 0 ? pool_at(address) : NULL;

    if (pool != NULL && running != NULL) {
        *running->fault = (struct dfr_emu_fault){pool, address, access_of(context)};
        siglongjmp(running->back, 1);
    }
    if (pool != NULL)
        report(pool, address);
    previous_handler(signal_number, info, context);
}

/* ---- watching ---- */

static bool handler_is_ours(void)
{
    struct sigaction now;

    return sigaction(SIGSEGV, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault;
}

static void handler_put(void)
{
    struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    if (handler_present)
        return;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGSEGV, NULL, &handler_before);
    sigaction(SIGSEGV, &ours, NULL);
    handler_present = true;
}

/* If somebody put a handler over ours, that one may call ours. Then ours stays. */
static void handler_take_away(void)
{
    if (!handler_is_ours())
        return;
    sigaction(SIGSEGV, &handler_before, NULL);
    handler_present = false;
}

bool dfr_emu_watch(const struct dfr_emu_pool *pool)
{
    bool added = false;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_POOLS && !added; i++) {
        const struct dfr_emu_pool *none = NULL;

        added = atomic_compare_exchange_strong(&pools[i], &none, pool);
    }
    if (added && n_watched++ == 0)
        handler_put();
    pthread_mutex_unlock(&lock);
    return added;
}

void dfr_emu_unwatch(const struct dfr_emu_pool *pool)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_POOLS; i++) {
        const struct dfr_emu_pool *expected = pool;

        if (atomic_compare_exchange_strong(&pools[i], &expected, NULL) && --n_watched == 0)
            handler_take_away();
    }
    pthread_mutex_unlock(&lock);
}

/* ---- guarded calls ---- */

/* After the jump nothing local is read, only what the caller's pointers lead to: locals may have lost their values. */
bool dfr_emu_call_guarded(const struct dfr_launch *launch, void *stream, int *result, struct dfr_emu_fault *fault)
{
    struct frame frame = {.fault = fault};

    if (sigsetjmp(frame.back, 1) != 0) {
        running = NULL;
        return false;
    }
    running = &frame;
    *result = launch->fn(launch->call, stream, launch->dims, launch->ports, launch->scalars);
    running = NULL;
    return true;
}

void dfr_emu_call_abandon(void)
{
    running = NULL;
}
