/* Numbers in pairs, and a plan that is made once and written to by each call, as in libraries of transforms. */
#include <complex.h>
#include <stdlib.h>

typedef struct { float re, im; } pair;
struct plan { struct plan *next; int n, calls; };
typedef struct { unsigned char kind; float x; } mixed;

struct plan *plan_make(int n)
{
    struct plan *plan = calloc(1, sizeof *plan);
    if (plan)
        plan->n = n;
    return plan;
}

void plan_run(struct plan *plan, const pair *in, pair *out)
{
    plan->calls++;
    for (int i = 0; i < plan->n; i++)
        out[i] = (pair){ in[i].im, -in[i].re };
}

void swap_pairs(const pair *in, pair *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = (pair){ in[i].im, in[i].re };
}

void turn(double complex *z, int n)
{
    for (int i = 0; i < n; i++)
        z[i] *= I;
}

void mixed_clear(mixed *m) { m->kind = 0; }
