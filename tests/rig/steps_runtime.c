/* steps_runtime.c - replaces the system's functions for a run that is explored (steps_runtime.h). */
#include "steps_runtime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sys/syscall.h>
#include <time.h>

#include "runtime/engine/crash.h"
#include "runtime/threads/bind.h"
#include "runtime/threads/clock.h"

#define LOOK_S 1e-6

struct steps_runtime_thread steps_runtime_threads[STEPS_THREADS];
unsigned steps_runtime_n_threads;
static double now_s;

void steps_runtime_begin(void)
{
    steps_runtime_n_threads = 0;
    now_s = 0;
}

int steps_runtime_create(pthread_t *thread, size_t stack_bytes, bool deaf, void *(*main)(void *), void *arg)
{
    (void)stack_bytes;
    (void)deaf;
    assert_true(steps_runtime_n_threads < STEPS_THREADS);
    steps_runtime_threads[steps_runtime_n_threads++] = (struct steps_runtime_thread){ main, arg };
    *thread = pthread_self();
    return 0;
}

int steps_runtime_join(pthread_t thread, void **result)
{
    (void)thread;
    (void)result;
    return 0;
}

/* membarrier(2) does nothing here, because each thread sees at once what another has written. */
long steps_runtime_syscall(long number, ...)
{
    const uint32_t *word;
    const struct timespec *limit;
    uint32_t value;
    va_list list;
    int op;

    if (number != SYS_futex)
        return 0;
    va_start(list, number);
    word = va_arg(list, const uint32_t *);
    op = va_arg(list, int);
    value = va_arg(list, uint32_t);
    limit = va_arg(list, const struct timespec *);
    va_end(list);
    return steps_futex(word, op, value, limit == NULL);
}

double dfr_clock_s(void)
{
    return now_s += LOOK_S;
}

/* There are more threads than cores. So a worker that finds no job sleeps at once. */
uint32_t dfr_cores_count(void)
{
    return 1;
}

void dfr_crash_enter(struct dfr_crash_frame *frame, const struct df_call *call)
{
    (void)frame;
    (void)call;
}

void dfr_crash_leave(struct dfr_crash_frame *frame)
{
    (void)frame;
}
