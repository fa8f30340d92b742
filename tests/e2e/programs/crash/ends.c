/* ends.c - kernels that end the thread or the process in the ways that `how` names: 0 to 5 in `middle` at wave 3, 10 in
 * `gang` at wave 3, 20 in `middle` at once, 21 in `middle` on any thread but main(). */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

static pthread_t main_thread;

static __attribute__((constructor)) void know_main(void)
{
    main_thread = pthread_self();
}

static void end(int how)
{
    if (how == 0)
        pthread_exit(NULL);
    if (how == 1)
        thrd_exit(0);
    if (how == 2)
        pthread_cancel(pthread_self());
    if (how == 2)
        pthread_testcancel();
    if (how == 3)
        quick_exit(0);
    if (how == 4)
        syscall(SYS_exit, 0);
    if (how == 5)
        pthread_cancel(main_thread);
    while (how == 5)
        pause();
}

int middle_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t *b, int32_t how)
{
    if (df_wave(call) == 3 && how < 10)
        end(how);
    if (how == 20 || (how == 21 && !pthread_equal(pthread_self(), main_thread)))
        end(0);
    memcpy(b, a, k * sizeof *b);
    return DF_OK;
}

int gang_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t *b, int32_t how)
{
    if (df_wave(call) == 3 && how == 10)
        end(0);
    memcpy(b, a, k * sizeof *b);
    return DF_OK;
}
