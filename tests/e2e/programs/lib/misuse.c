/* misuse.c - wrong calls, each answered by a sentence, and right ones between them. Prints the sentences. */
#include "edges.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static uint8_t image[12] = { 1, 2, 9, 4, 5, 6, 7, 80, 9, 10, 11, 12 }, e[30];
static int32_t d[40];

static void say(const char *what, int rc)
{
    printf("%s: %d %s\n", what, rc, rc ? edges_error() : "");
}

static void *call_too(void *session)
{
    say("thread", edges_run(session, image, 3, 4, e, d, 1));
    return NULL;
}

/* Two threads in one session: one of them is refused, or they happened not to meet. */
static int meet(struct edges_session *session)
{
    static uint8_t large[600 * 600], out[599 * 600];
    static int32_t differences[599 * 600];
    pthread_t thread;
    pthread_create(&thread, NULL, call_too, session);
    int rc = edges_run(session, large, 600, 600, out, differences, 1);
    pthread_join(thread, NULL);
    return rc;
}

int main(void)
{
    struct edges_session *s = NULL;
    say("option", edges_open("--polcy=gp", &s));
    say("value", edges_open("--scale=x", &s));
    say("quote", edges_open("--policy='gp", &s));
    say("waves option", edges_open("--waves=3", &s));
    say("trace option", edges_open("--trace=t.json", &s));
    say("no place", edges_open(NULL, NULL));
    say("no session", edges_run(NULL, image, 3, 4, e, d, 1));
    say("open", edges_open("--workers=2\t--scale='1' ", &s));
    say("NULL", edges_run(s, image, 3, 4, NULL, d, 1));
    say("zero", edges_run(s, image, 3, 0, e, d, 1));
    say("extent", edges_run(s, image, 1, 4, e, d, 1));
    say("large", edges_run(s, image, (size_t)1 << 40, (size_t)1 << 40, e, d, 1));
    say("too large", edges_run(s, image, SIZE_MAX, 4, e, d, 1));
    say("waves", edges_run_waves(s, 0, image, 3, 4, e, d, 1));
    say("many waves", edges_run_waves(s, INT64_MAX, image, 3, 4, e, d, 1));
    say("unaligned", edges_run(s, image, 3, 4, e, (int32_t *)((char *)d + 1), 1));
    say("overlap", edges_run(s, image, 3, 4, (uint8_t *)d + 31, d, 1));
    say("in place", edges_run(s, image, 3, 4, image, d, 1));
    say("overlap of waves", edges_run_waves(s, 3, image, 2, 2, (uint8_t *)d + 20, d, 1));
    say("side by side", edges_run_waves(s, 3, image, 2, 2, (uint8_t *)d + 24, d, 1));
    say("port", edges_shape(s, 3, 4, 3, &(size_t[4]){ 0 }[0]));
    say("kernel", edges_run(s, image, 3, 4, e, d, -1));
    say("after it", edges_run(s, image, 3, 4, e, d, 1));
    printf("%d %d %d\n", e[0], e[3], d[3]);
    for (int rc = 0, i = 0; i < 50 && !rc; i++)
        rc = meet(s);
    say("met", edges_run(s, image, 3, 4, e, d, 1));
    struct sizes_session *other;
    say("other", sizes_open("", &other));
    say("wrong kind", edges_run((struct edges_session *)other, image, 3, 4, e, d, 1));
    say("close", edges_close(s));
    say("close twice", edges_close(s));
    say("closed", edges_run(s, image, 3, 4, e, d, 1));
    printf("closed stats: %s %s\n", edges_stats(s) ? "some" : "none", edges_error());
    say("close nothing", edges_close(NULL));
    return sizes_close(other);
}
