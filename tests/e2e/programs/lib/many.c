/* many.c - four threads with a session each, calls of changing sizes; and what a repeated call allocates. Prints how many
 * calls were wrong, and how many allocations the repeated ones made. */
#include "edges.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 1000, THREADS = 4 };
static _Atomic long n_wrong, n_allocated;
static _Atomic int counting;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *given, size_t size);

void *malloc(size_t size)
{
    n_allocated += counting;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    n_allocated += counting;
    return __libc_calloc(n, size);
}

void *realloc(void *given, size_t size)
{
    n_allocated += counting;
    return __libc_realloc(given, size);
}
#endif

static void *run(void *arg)
{
    uint8_t image[6 * 5], e[5 * 5];
    int32_t d[5 * 5], scale = (int32_t)(size_t)arg;
    char options[40];
    struct edges_session *s;
    snprintf(options, sizeof options, "--workers=%d --scale=%d", scale % 2 + 1, scale);
    if (edges_open(options, &s)) {
        puts(edges_error());
        n_wrong++;
        return NULL;
    }
    for (int c = 0; c < CALLS; c++) {
        size_t h = 2 + (size_t)c % 4, w = 5;
        for (size_t i = 0; i < h * w; i++)
            image[i] = (uint8_t)(i * 37 + (size_t)c * 11);
        int rc = edges_run(s, image, h, w, e, d, (float)(c % 100));
        for (size_t i = 0; i < (h - 1) * w && !rc; i++) {
            int want = scale * (image[i + w] - image[i]);
            rc = d[i] != want || e[i] != (abs(want) > c % 100);
        }
        n_wrong += rc != 0;
    }
    edges_close(s);
    return NULL;
}

/* Four sizes, and calls of several waves in the place of one of them. */
static void count_allocations(void)
{
    static uint8_t image[40], e[40];
    static int32_t d[40];
    struct edges_session *s;
    n_wrong += edges_open("--workers=2", &s) != 0;
    for (int c = 0; c < 20; c++) {
        counting = c > 0;
        for (size_t h = 2; h < 5; h++)
            n_wrong += edges_run(s, image, h, 5, e, d, (float)c) != 0;
        n_wrong += edges_run_waves(s, 4, image, 2, 5, e, d, (float)c) != 0;
        counting = 0;
    }
    long repeated = n_allocated;
    counting = 1;
    n_wrong += edges_run(s, image, 7, 5, e, d, 1) != 0;
    counting = 0;
    printf("repeated %ld, fresh %s\n", repeated, n_allocated > repeated ? "some" : "none");
    edges_close(s);
}

int main(void)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)(i + 1));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("wrong %ld\n", n_wrong);
    count_allocations();
    return n_wrong != 0;
}
