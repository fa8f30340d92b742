/* A host that calls a library after it has changed its own state: host STATE OPTIONS. Writes the results' bits, what the library says, and whether the host's state
 * is as it was, to the file "got"; statistics to "stats", a CSV file to "csv". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rows.h"

enum { N = 5, WAVES = 4 };

static const char *options;
static char csv[4096];                  /* its path */
static int got, stats;
static volatile sig_atomic_t handled;

static void say(const char *text)
{
    if (write(got, text, strlen(text)) < 0)
        _exit(9);
}

static void say_bits(const void *at, size_t bytes)
{
    char text[4];
    for (size_t i = 0; i < bytes; i++) {
        snprintf(text, sizeof text, "%02x", ((const unsigned char *)at)[i]);
        say(text);
    }
    say("\n");
}

static int is(const char *state, const char *name)
{
    return strcmp(state, name) == 0;
}

/* ---- states ---- */

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    handled++;
}

static void change(const char *state)
{
    sigset_t all;
    sigfillset(&all);
    if (is(state, "locale") && !setlocale(LC_NUMERIC, "comma_XX"))
        say("no such locale\n");
    if (is(state, "upward"))
        fesetround(FE_UPWARD);
    if (is(state, "zero"))
        fesetround(FE_TOWARDZERO);
    if (is(state, "traps"))
        feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
#ifdef __SSE2__
    if (is(state, "flush"))
        __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u);
    if (is(state, "x87")) {
        unsigned short single = 0x007f;
        __asm__ volatile("fldcw %0" : : "m"(single));
    }
#endif
    if (is(state, "blocked"))
        pthread_sigmask(SIG_BLOCK, &all, NULL);
    if (is(state, "ignored"))
        for (int i = 1; i < NSIG; i++)
            signal(i, SIG_IGN);
    if (is(state, "handlers"))
        for (int i = 1; i < NSIG; i++)
            sigaction(i, &(struct sigaction){ .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | (i % 2 ? SA_RESTART : SA_NODEFER) }, NULL);
    if (is(state, "umask"))
        umask(077);
    if (is(state, "folder") && chdir("/") != 0)
        say("no other folder\n");
    if (is(state, "closed"))
        for (int fd = 0; fd < 3; fd++)
            close(fd);
    if (is(state, "no stderr"))         /* the next file that is opened would be what kernels write their messages to */
        close(2);
    if (is(state, "environment")) {
        clearenv();
        setenv("TZ", "nowhere", 1);
        setenv("TMPDIR", "/nonexistent", 1);
        setenv("LC_ALL", "comma_XX", 1);
        setenv("LANG", "no such", 1);
        setenv("HOME", "", 1);
    }
}

struct seen {
    char point;
    int rounds, traps;
    unsigned floats;
    sigset_t blocked;
    mode_t mask;
    struct {
        void (*function)(int);
        int flags;
    } handlers[NSIG];
};

static struct seen look(void)
{
    struct seen s;
    struct sigaction action;
    memset(&s, 0, sizeof s);            /* it is compared as bytes */
    s.point = *localeconv()->decimal_point;
    s.rounds = fegetround();
    s.traps = fegetexcept();
    pthread_sigmask(SIG_SETMASK, NULL, &s.blocked);
    for (int i = 1; i < NSIG; i++)
        if (sigaction(i, NULL, &action) == 0) {
            s.handlers[i].function = action.sa_handler;
            s.handlers[i].flags = action.sa_flags & (SA_SIGINFO | SA_RESTART | SA_NODEFER | SA_RESETHAND | SA_ONSTACK);
        }
    s.mask = umask(0);
    umask(s.mask);
#ifdef __SSE2__
    s.floats = __builtin_ia32_stmxcsr() & 0xffc0u;
#endif
    return s;
}

/* ---- the calls ---- */

static void *call(void *arg)
{
    const char *state = arg;
    struct rows_session *session = NULL;
    float in[WAVES * N], f[WAVES * N], c[WAVES * N];
    double d[WAVES * N];
    char want[100];
    for (int i = 0; i < WAVES * N; i++)
        in[i] = (float)(i + 1) / 7.0f;
    change(state);
    struct seen before = look();
    int code = rows_open(options, &session);
    for (int i = 0; i < 3 && code == ROWS_OK; i++) { /* the second call is of another size */
        if (i == 1 && is(state, "late"))
            change("locale");
        code = i != 1 ? rows_run_waves(session, WAVES, in, N, f, c, d, csv) : rows_run(session, in, N, f, c, d, csv);
        say_bits(f, sizeof f);
        say_bits(c, sizeof c);
        say_bits(d, sizeof d);
    }
    const char *text = code == ROWS_OK ? rows_stats(session) : rows_error();
    if (text && write(stats, text, strlen(text)) < 0)
        say("no statistics\n");
    code = code == ROWS_OK ? rows_open("--gain=0,5", &(struct rows_session *){ NULL }) == -2 && strstr(rows_error(), "is not a number") ? 0 : -99 : code;
    if (is(state, "blocked")) {         /* a signal to the process waits: no thread of the library's takes it */
        kill(getpid(), SIGTERM);
        for (int i = 0; i < 20; i++)
            usleep(1000);
    }
    if (rows_close(session) != ROWS_OK)
        say("not closed\n");
    struct seen after = look();
    snprintf(want, sizeof want, "status %d, the host's state %s\n", code, is(state, "late") || memcmp(&before, &after, sizeof before) == 0 ? "stays" : "changed");
    say(want);
    return NULL;
}

static int in_thread(size_t stack_bytes, const char *state)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    return pthread_create(&thread, &attributes, call, (void *)state) || pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    const char *state = argv[1];
    const int high = 20;                /* these stay when the standard ones are closed */
    options = argc > 2 ? argv[2] : "";
    if (!realpath(".", csv))
        return 2;
    strcat(csv, "/csv");
    got = fcntl(open("got", O_WRONLY | O_CREAT | O_TRUNC, 0666), F_DUPFD, high);
    stats = fcntl(open("stats", O_WRONLY | O_CREAT | O_TRUNC, 0666), F_DUPFD, high);
    if (is(state, "stack limit") && argc < 4) { /* it is read when a process starts */
        setrlimit(RLIMIT_STACK, &(struct rlimit){ 256 << 10, 256 << 10 });
        execl("/proc/self/exe", argv[0], state, options, "again", NULL);
    }
    if (is(state, "stack"))
        return in_thread(64 << 10, state);
    if (is(state, "thread"))
        return in_thread(256 << 10, "locale");
    call((void *)state);
    return 0;
}
