/* prompt.c - sets a thread's timer slack and scheduling slice (prompt.h), for the worker of a GPU and the engines of
 * the emulated one. */
#include "runtime/threads/prompt.h"

#include <sched.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLACK_NS 1000UL
#define SLICE_NS 100000u                /* the shortest that the system gives */

/* The kernel's struct sched_attr in its first version. Not every libc has it, and the kernel's header cannot be included
 * beside <sched.h>. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice_ns, deadline_ns, period_ns;
};

void dfr_prompt(bool first)
{
    struct attributes a;

    prctl(PR_SET_TIMERSLACK, SLACK_NS, 0UL, 0UL, 0UL);
    /* Reads all attributes and changes one: the niceness stays. */
    if (!first || syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) != 0 || a.policy != SCHED_OTHER)
        return;
    a.slice_ns = SLICE_NS;
    syscall(SYS_sched_setattr, 0, &a, 0);
}
