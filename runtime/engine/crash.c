/* crash.c - handlers for fatal signals, for exit(), and for threads that a kernel terminates (crash.h). df_main() and
 * generated libraries install them; workers, back ends and measure/ call kernels through dfr_crash_call(). The signal
 * handler is async-signal-safe: it takes no lock, allocates nothing, and calls only snprintf with integers and strings,
 * and write.
 */
#include "runtime/engine/crash.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/output.h"
#include "runtime/base/process_lock.h"
#include "runtime/base/status_line.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/log.h"

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

enum { N_SIGNALS = sizeof signals / sizeof signals[0] };

static struct sigaction before[N_SIGNALS]; /* written before the handler is there */
static bool watching;
static atomic_bool runs;
static atomic_flag told = ATOMIC_FLAG_INIT;
static _Thread_local volatile sig_atomic_t telling;

static _Thread_local struct dfr_crash_frame *here;
static _Thread_local const struct df_call *running;

/* ---- in the handler ---- */

/* Is the address just below the stack? A stack that overflows touches the guard page, or skips it by one large
 * array. */
static bool overflows_stack(uintptr_t address)
{
    enum { BELOW = 64 << 20 };
    return here && here->stack_low && address < here->stack_low + 4096 &&
           (here->stack_low < BELOW || address >= here->stack_low - BELOW);
}

static void describe(const siginfo_t *info, char *text, size_t size)
{
    uintptr_t address = (uintptr_t)info->si_addr;
    bool sent = info->si_code <= 0;     /* by a process, not by a fault */

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

/* The job that the calling thread runs, if any: "node 'main/blur', wave 3: the kernel ". */
static void name_job(char *text, size_t size)
{
    const struct df_graph *g = running ? running->run->graph : NULL;
    char node[256];

    text[0] = '\0';
    if (!g || dfr_job_node(running->job) >= g->n_nodes)
        return;
    df_node_name(g, dfr_job_node(running->job), node, sizeof node);
    snprintf(text, size, "node '%s', wave %lld: the kernel ", node,
             (long long)dfr_told_wave(running->run, running->job, running->wave));
}

static void tell(const siginfo_t *info)
{
    char why[128], job[320], line[512];
    int length;

    name_job(job, sizeof job);
    if (!job[0])
        return;                         /* this thread has had no job yet */
    describe(info, why, sizeof why);
    length = snprintf(line, sizeof line, "%s: error: %scrashed: %s\n", dfr_program_name(), job, why);
    if (length >= (int)sizeof line)
        length = (int)sizeof line - 1;
    dfr_status_clear_in_signal();
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        return;                         /* nobody can be told */
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (running && !telling) {          /* if not: no kernel's fault, or a fault of tell() itself; it is passed on */
        while (atomic_flag_test_and_set(&told))
            pause();                    /* another thread reports its own crash, and then ends the process */
        telling = 1;
        tell(info);
    }
    for (int i = 0; i < N_SIGNALS; i++)
        if (signals[i] == number)
            sigaction(number, &before[i], NULL);
    if (number != SIGABRT && info->si_code <= 0)
        raise(number);                  /* no fault comes again; abort() raises its signal again by itself */
}

/* ---- in a host process ---- */

DFR_PROCESS_LOCK(guests_lock);
static unsigned n_guests;               /* libraries' sessions that are open */
static volatile sig_atomic_t installed[N_SIGNALS]; /* the guest's handler is somewhere in the chain, and before[] is what it was put on */

/* Not a kernel's fault: it goes to the handler that was there before, which may well live with it. */
static void pass_on(int number, int i, siginfo_t *info, void *context)
{
    const struct sigaction *next = &before[i];

    if (next->sa_handler == SIG_DFL || next->sa_handler == SIG_IGN || (next->sa_flags & (int)SA_RESETHAND)) {
        installed[i] = 0;
        sigaction(number, next, NULL);  /* the fault comes again */
        if (info->si_code <= 0)
            raise(number);
        return;
    }
    pthread_sigmask(SIG_BLOCK, &next->sa_mask, NULL); /* as the system does; the end of this handler takes it back */
    if (next->sa_flags & SA_SIGINFO)
        next->sa_sigaction(number, info, context);
    else
        next->sa_handler(number);
}

static void on_guest_crash(int number, siginfo_t *info, void *context)
{
    int i = 0;

    while (signals[i] != number)
        i++;
    if (running && !telling) {
        telling = 1;
        tell(info);
        telling = 0;
        running = NULL;                 /* the host's handler may leave the call by a jump */
        installed[i] = 0;
        sigaction(number, &before[i], NULL); /* where the fault comes again, with the kernel's own context */
        if (info->si_code <= 0)
            raise(number);              /* of abort(), too: before it raises its signal again, it takes the host's handler away */
        return;
    }
    pass_on(number, i, info, context);
}

static void install(int i)
{
    struct sigaction ours = { .sa_sigaction = on_guest_crash };

    if (installed[i] || sigaction(signals[i], NULL, &before[i]) != 0 || before[i].sa_handler == SIG_IGN)
        return;
    sigemptyset(&ours.sa_mask);
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (before[i].sa_flags & (int)(SA_NODEFER | SA_RESTART));
    installed[i] = 1;
    sigaction(signals[i], &ours, NULL);
}

/* A handler that the host has put above ours stays, and may call ours. */
static void uninstall(int i)
{
    struct sigaction now;

    if (!installed[i] || sigaction(signals[i], NULL, &now) != 0)
        return;
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_guest_crash)
        sigaction(signals[i], &before[i], NULL);
    else if (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN)
        return;
    installed[i] = 0;                   /* the host that has set no handler in place of ours does not call it either */
}

void dfr_crash_guest(bool begins)
{
    pthread_mutex_lock(&guests_lock);
    bool changes = begins ? n_guests++ == 0 : --n_guests == 0;
    for (int i = 0; i < N_SIGNALS && changes && !watching; i++)
        (begins ? install : uninstall)(i);
    pthread_mutex_unlock(&guests_lock);
}

/* The library is unloaded, or the process ends. */
__attribute__((destructor)) static void leave_chain(void)
{
    for (int i = 0; i < N_SIGNALS; i++)
        uninstall(i);
}

/* ---- in exit(), and at the end of a thread ---- */

#define HOW_TO_END "a run is ended by df_fail(call, \"why\"), or by DF_END of a stream"

const char dfr_crash_ended[] = "the kernel ended its thread, by pthread_exit() or the like; " HOW_TO_END;

/* Several threads may come here at a time. The first one tells, and the others wait for the end of the process. */
static _Noreturn void leave(const char *what)
{
    char job[320];

    while (atomic_flag_test_and_set(&told))
        pause();
    name_job(job, sizeof job);
    dfr_status_clear();
    fprintf(stderr, "%s: error: %s%s; " HOW_TO_END "\n", dfr_program_name(), job[0] ? job : "a kernel's code ", what);
    dfr_output_leave(1);
}

static void on_exit_call(int status, void *arg)
{
    char what[32];

    (void)arg;
    if (!atomic_load(&runs))
        return;
    snprintf(what, sizeof what, "called exit(%d)", status);
    leave(what);
}

static void on_quick_exit(void)
{
    if (atomic_load(&runs))
        leave("called quick_exit()");
}

/* Several threads may call exit() at a time. Each call of exit() takes handlers off one common list. The process ends
 * with the first thread that finds the list empty. So each thread that may call exit() adds a handler, and waits in it
 * for the first thread. The same holds for quick_exit(). */
static void add_handlers(void)
{
    on_exit(on_exit_call, NULL);
    at_quick_exit(on_quick_exit);
}

const struct df_call *dfr_crash_thread_ends(void)
{
    if (atomic_load(&runs))
        leave("ended its thread, by pthread_exit() or the like");
    return running;
}

/* ---- from outside ---- */

void dfr_crash_run(bool on)
{
    atomic_store(&runs, on);
}

void dfr_crash_watch(void)
{
    struct sigaction ours = { .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK };

    if (watching)
        return;
    watching = true;
    add_handlers();
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
    /* a sanitizer may have given the thread a second stack already */
    if (sigaltstack(NULL, &frame->stack_before) == 0 && (frame->stack_before.ss_flags & SS_DISABLE))
        sigaltstack(&ours, NULL);
    if (watching)
        add_handlers();
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

const struct df_call *dfr_crash_call(const struct df_call *call)
{
    const struct df_call *before_it = running;

    running = call;
    return before_it;
}
