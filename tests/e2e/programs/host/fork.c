/* Forked children that use their parent's session: fork OPTIONS. Each child says what came, and ends by an alarm if it hangs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fork.h"

enum { N = 1000, WAVES = 8 };

static float in[WAVES * N], want[WAVES * N];

static void call(const char *who, struct forked_session *s)
{
    static float out[WAVES * N];
    memset(out, 0, sizeof out);
    int code = forked_run_waves(s, WAVES, in, N, out, -1);
    printf("%s: %d %s\n", who, code, code ? forked_error() : memcmp(out, want, sizeof out) == 0 ? "right" : "wrong");
}

static void child(struct forked_session *s, int depth)
{
    call("child", s);
    call("child again", s);
    const char *stats = forked_stats(s);
    printf("child stats: %s\n", stats && strstr(stats, "\"waves\": 16") ? "of its own" : stats ? stats : forked_error());
    call("child after stats", s);
    fflush(stdout);
    pid_t pid = depth > 0 ? fork() : -1;
    if (pid == 0) {
        alarm(30);
        child(s, depth - 1);
        _exit(0);
    }
    int status = 0;
    if (pid > 0 && waitpid(pid, &status, 0) == pid)
        printf("grandchild ended: %d\n", status);
    printf("child close: %d\n", forked_close(s));
    fflush(stdout);
}

static void fork_and(const char *what, struct forked_session *s)
{
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(30);
        if (strcmp(what, "calls") == 0)
            child(s, 1);
        else if (strcmp(what, "closes") == 0)
            printf("closes: %d\n", forked_close(s));
        else if (strcmp(what, "looks") == 0)
            printf("looks: %lld\n", (long long)forked_progress(s)), forked_stop(s);
        else if (strcmp(what, "meets") == 0) {
            call("meets", s);
            printf("meets close: %d\n", forked_close(s));
        }
        exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
        printf("%s: ended by %d\n", what, status);
}

static int ends[2];

static void *call_slowly(void *session)
{
    static float out[N];
    int code = forked_run(session, in, N, out, ends[1]);
    return (void *)(size_t)(code != 0 || memcmp(out, want, sizeof out) != 0);
}

int main(int argc, char **argv)
{
    struct forked_session *s;
    pthread_t thread;
    void *wrong;
    char byte;
    for (int i = 0; i < WAVES * N; i++)
        want[i] = (float)((in[i] = (float)i) * 0.3f) + 1;
    if (argc < 2 || forked_open(argv[1], &s) != FORK_OK || forked_run_waves(s, WAVES, in, N, want, -1) != FORK_OK)
        return printf("%s\n", forked_error()), 1;
    call("parent", s);
    fork_and("calls", s);
    fork_and("closes", s);
    fork_and("looks", s);
    fork_and("nothing", s);
    call("parent after", s);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || pthread_create(&thread, NULL, call_slowly, s) != 0)
        return 1;
    if (read(ends[0], &byte, 1) == 1)   /* the call is going on */
        fork_and("meets", s);
    if (write(ends[0], &byte, 1) != 1 || pthread_join(thread, &wrong) != 0)
        return 1;
    printf("slow call: %s\n", wrong ? "wrong" : "right");
    call("parent at last", s);
    printf("parent close: %d\n", forked_close(s));
    return 0;
}
