/* crash.c - the handlers of fatal signals (see crash.h). What the handler calls takes no lock and no memory: snprintf
 * with integers and strings, and write. */
#include "runtime/crash.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/engine.h"

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

enum { N_SIGNALS = sizeof signals / sizeof signals[0] };

static struct sigaction before[N_SIGNALS]; /* written before the handler is there */
static atomic_flag told = ATOMIC_FLAG_INIT;
static _Thread_local volatile sig_atomic_t telling;

static _Thread_local struct dfr_crash_frame *here;
static _Thread_local const struct df_call *running;

/* ---- in the handler ---- */

/* Just under the stack: what overflows it touches the guard page, or skips it by one large array. */
static bool overflows_stack(uintptr_t address)
{
    enum { BELOW = 64 << 20 };
    return here && here->stack_low && address < here->stack_low + 4096 &&
           (here->stack_low < BELOW || address >= here->stack_low - BELOW);
}

static void describe(const siginfo_t *info, char *text, size_t size)
{
    uintptr_t address = (uintptr_t)info->si_addr;
    bool sent = info->si_code <= 0;     /* by somebody, not by a fault */

    if (info->si_signo == SIGABRT)
        snprintf(text, size, "abort() was called");
    else if (info->si_signo == SIGSEGV && !sent && overflows_stack(address))
        snprintf(text, size, "its stack overflowed (%llu KiB; 'ulimit -s' makes it larger)",
                 (unsigned long long)here->stack_bytes / 1024);
    else if (info->si_signo == SIGSEGV && !sent)
        snprintf(text, size, "segmentation fault at address 0x%llx", (unsigned long long)address);
    else if (info->si_signo == SIGBUS && !sent)
        snprintf(text, size, "bus error at address 0x%llx", (unsigned long long)address);
    else if (info->si_signo == SIGFPE && info->si_code == FPE_INTDIV)
        snprintf(text, size, "integer division by zero");
    else if (info->si_signo == SIGILL && !sent)
        snprintf(text, size, "illegal instruction");
    else
        snprintf(text, size, "signal %d", info->si_signo);
}

static void tell(const struct df_call *call, const siginfo_t *info)
{
    const struct df_graph *g = call->run->graph;
    char why[128], node[256], line[512];
    int length;

    if (dfr_job_node(call->job) >= g->n_nodes)
        return;                         /* no job yet */
    describe(info, why, sizeof why);
    df_node_name(g, dfr_job_node(call->job), node, sizeof node);
    length = snprintf(line, sizeof line, "%s: error: node '%s', wave %lld: the kernel crashed: %s\n",
                      g->name && *g->name ? g->name : "libdf", node, (long long)call->wave, why);
    if (length >= (int)sizeof line)
        length = (int)sizeof line - 1;
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        return;                         /* nobody left to tell */
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (running && !telling) {          /* else it is passed on: nobody's, or a fault of tell() itself */
        while (atomic_flag_test_and_set(&told))
            pause();                    /* another thread is telling of its own, and then ends the process */
        telling = 1;
        tell(running, info);
    }
    for (int i = 0; i < N_SIGNALS; i++)
        if (signals[i] == number)
            sigaction(number, &before[i], NULL);
    if (number != SIGABRT && info->si_code <= 0)
        raise(number);                  /* there is no fault to come again; abort() raises its own anew */
}

/* ---- from outside ---- */

void dfr_crash_watch(void)
{
    struct sigaction ours = { .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK };

    sigemptyset(&ours.sa_mask);
    for (int i = 0; i < N_SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &ours, NULL);
}

void dfr_crash_enter(struct dfr_crash_frame *frame, const struct df_call *call)
{
    stack_t ours = { .ss_sp = frame->stack, .ss_size = sizeof frame->stack };
    pthread_attr_t attributes;
    void *low;
    size_t bytes;

    frame->stack_low = frame->stack_bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
            frame->stack_low = (uintptr_t)low;
            frame->stack_bytes = bytes;
        }
        pthread_attr_destroy(&attributes);
    }
    /* a sanitizer has given the thread one already */
    if (sigaltstack(NULL, &frame->stack_before) == 0 && (frame->stack_before.ss_flags & SS_DISABLE))
        sigaltstack(&ours, NULL);
    here = frame;
    running = call;
}

void dfr_crash_leave(struct dfr_crash_frame *frame)
{
    here = NULL;
    running = NULL;
    if (frame->stack_before.ss_flags & SS_DISABLE)
        sigaltstack(&frame->stack_before, NULL);
}

void dfr_crash_call(const struct df_call *call)
{
    running = call;
}
