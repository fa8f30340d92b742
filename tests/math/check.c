/* check.c - the largest errors of the functions of df_math.h: check [N [NAME [TYPE]]], as many threads as there are cores.
 *
 * f32 functions of one argument: all 2^32 of them; the others: N samples (100,000,000). NAME: that function alone, TYPE (f32, f64): that
 * type. Prints a line for each, and exits with 1 if an error is above 2 ulp. An error that is 0.5 or less is shown as 0.5.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "accuracy.h"

#define MOST_THREADS 64
#define WORST 2.0

struct part {                           /* of the arguments of one function: a thread's */
    const struct function *f;
    bool is_f32;
    uint64_t from, to;                  /* bit patterns of f32, or numbers of samples */
    double error, x, y;                 /* found: the largest, and where */
};

static void note(struct part *p, double error, double x, double y)
{
    if (error <= p->error) return;
    p->error = error;
    p->x = x;
    p->y = y;
}

static void check_all_f32(struct part *p)
{
    for (uint64_t bits = p->from; bits < p->to; bits++) {
        float x = float_of((uint32_t)bits), got = p->f->one_f32(x);
        double want = p->f->reference_f32((double)x);
        if (df_bits_f32(got) != df_bits_f32((float)want)) note(p, error_f32(got, want), (double)x, 0);
    }
}

static void check_samples(struct part *p)
{
    uint64_t seed = p->from;
    for (uint64_t i = p->from; i < p->to; i++) {
        float xf, yf;
        double x, y;
        if (p->is_f32) {
            random_arguments_f32(p->f, &seed, &xf, &yf);
            note(p, error_at_f32(p->f, xf, yf), (double)xf, (double)yf);
        } else {
            random_arguments(p->f, &seed, &x, &y);
            note(p, error_at_f64(p->f, x, y), x, y);
        }
    }
}

static void *check_part(void *given)
{
    struct part *p = given;
    p->error = 0.5;
    if (p->is_f32 && p->f->one_f32) check_all_f32(p);
    else check_samples(p);
    return NULL;
}

/* Returns the largest error. */
static double check(const struct function *f, bool is_f32, uint64_t count)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t n = cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : (uint64_t)cores;
    struct part part[MOST_THREADS];
    pthread_t thread[MOST_THREADS];
    for (uint64_t i = 0; i < n; i++) {
        part[i] = (struct part){ .f = f, .is_f32 = is_f32, .from = count / n * i, .to = i + 1 == n ? count : count / n * (i + 1) };
        if (pthread_create(&thread[i], NULL, check_part, &part[i])) exit(3);
    }
    for (uint64_t i = 0; i < n; i++) {
        pthread_join(thread[i], NULL);
        note(&part[0], part[i].error, part[i].x, part[i].y);
    }
    printf("%-6s %s  %12llu arguments  %.3f ulp  at %a", f->name, is_f32 ? "f32" : "f64", (unsigned long long)count, part[0].error, part[0].x);
    printf(f->two_f32 ? ", %a\n" : "\n", part[0].y);
    fflush(stdout);
    return part[0].error;
}

int main(int argc, char **argv)
{
    uint64_t samples = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000000;
    bool bad = false;
    for (int n = 0; n < N_FUNCTIONS; n++) {
        const struct function *f = &functions[n];
        if (argc > 2 && strcmp(argv[2], f->name)) continue;
        if (argc < 4 || !strcmp(argv[3], "f32")) bad |= check(f, true, f->one_f32 ? (uint64_t)1 << 32 : samples) > WORST;
        if (argc < 4 || !strcmp(argv[3], "f64")) bad |= check(f, false, samples) > WORST;
    }
    return bad;
}
