/* A host whose library's kernel crashes: guest HANDLER OPTIONS HOW. HANDLER: none, plain, info, jump (out of the call), late (installed after the library was opened). */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

static sigjmp_buf back;
static int jumps;

static void say(const char *text)
{
    if (write(1, text, strlen(text)) < 0)
        _exit(9);
}

static void on_info(int number, siginfo_t *info, void *context)
{
    (void)context;
    say(number != SIGSEGV ? "host: another signal\n" : info->si_addr == (void *)8 ? "host: at 8\n" : info->si_code <= 0 ? "host: sent\n" : "host: elsewhere\n");
    if (jumps)
        siglongjmp(back, 1);
    if (info->si_code > 0 || number != SIGSEGV)
        _exit(7);
}

static void on_plain(int number)
{
    (void)number;
    say("host: plain\n");
    _exit(8);
}

static void put(const char *handler)
{
    struct sigaction action = { .sa_sigaction = on_info, .sa_flags = SA_SIGINFO };
    sigemptyset(&action.sa_mask);
    if (strcmp(handler, "plain") == 0)
        action = (struct sigaction){ .sa_handler = on_plain };
    jumps = strcmp(handler, "jump") == 0;
    if (strcmp(handler, "none") == 0)
        return;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGABRT, &action, NULL);
}

int main(int argc, char **argv)
{
    struct guest_session *s;
    struct sigaction now, after;
    float a[64], b[64];
    const char *handler = argv[1];
    int how = argc > 3 ? atoi(argv[3]) : 0;
    memset(a, 0, sizeof a);
    if (strcmp(handler, "late") != 0)
        put(handler);
    sigaction(SIGSEGV, NULL, &now);
    if (guest_open(argv[2], &s) != GUEST_OK || guest_run(s, a, 64, b, 0) != GUEST_OK)
        return printf("%s\n", guest_error()), 1;
    if (strcmp(handler, "late") == 0)
        put(handler);
    if (how == 9) {                     /* signals that are no kernel's go to the host, as often as they come */
        raise(SIGSEGV);
        raise(SIGSEGV);
        guest_close(s);
        sigaction(SIGSEGV, NULL, &after);
        puts(after.sa_sigaction == now.sa_sigaction && after.sa_flags == now.sa_flags ? "as before" : "changed");
        return 0;
    }
    if (how == 8)
        *(volatile int *)8 = 1;
    if (jumps && sigsetjmp(back, 1) != 0) {
        raise(SIGABRT == 6 ? SIGUSR2 : SIGUSR1);
        return 3;
    }
    if (jumps)
        signal(SIGUSR2, on_plain);
    guest_run(s, a, 64, b, how);
    return 2;
}
