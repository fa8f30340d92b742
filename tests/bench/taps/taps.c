/* taps.c - calls the formulas of taps.df alone, without libdf: taps {NAME,…|all CALLS H W N}… Prints for each kernel its name and the least CPU time of a call in ms.
 * A kernel with an extent for its taps gets N of them, unless kernels.h says how many. Each five arguments are a run.
 */
#include <df.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int formula(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars);

#define KERNEL(name, taps, element) extern formula df_formula_##name;
#include "kernels.h"
#undef KERNEL
#define KERNEL(name, taps, element) { #name, df_formula_##name, taps, element },
static const struct { const char *name; formula *run; int taps; char element; } kernels[] = {
#include "kernels.h"
};

/* ---- what formulas call of libdf ---- */

struct df_part df_part(const struct df_call *call)
{
    (void)call;
    return (struct df_part){ 0 };
}

size_t df_part_row(const struct df_call *call, unsigned port)
{
    (void)call;
    (void)port;
    return 0;
}

int df_fail(struct df_call *call, const char *format, ...)
{
    (void)call;
    fprintf(stderr, "taps: error: %s\n", format);
    exit(1);
}

/* ---- one kernel ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void *filled(char element, size_t n)
{
    unsigned state = 1;
    double *all = malloc(n * sizeof *all + 64);
    for (size_t i = 0; all && i < n; i++) {
        state = state * 1664525u + 1013904223u;
        const double value = (state >> 8) / 16777216.0;
        switch (element) {
        case 'd': all[i] = value; break;
        case 'f': ((float *)all)[i] = (float)value; break;
        case 'i': ((int *)all)[i] = (int)(value * 100); break;
        default: ((unsigned char *)all)[i] = (unsigned char)(value * 255);
        }
    }
    return all;
}

/* Is the kernel one of the names, which have commas between them? */
static int is_chosen(const char *names, const char *name)
{
    const size_t n = strlen(name);
    int is = strcmp(names, "all") == 0;
    for (const char *at = strstr(names, name); at && !is; at = strstr(at + 1, name))
        is = (at == names || at[-1] == ',') && (!at[n] || at[n] == ',');
    return is;
}

static void run(const char *names, int calls, size_t h, size_t w, size_t other)
{
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        if (!is_chosen(names, kernels[k].name))
            continue;
        const size_t n = kernels[k].taps ? (size_t)kernels[k].taps : other, dims[] = { h, w, n };
        const union df_scalar scalars[] = { { .i32 = (int)n / 2 } };
        void *ports[] = { filled(kernels[k].element, 3 * h * w), filled(kernels[k].element == 'u' ? 'i' : kernels[k].element, n * n), malloc(3 * h * w * sizeof(double)) }; /* pixels have three channels */
        double least = INFINITY;
        for (int i = 0; i < calls; i++) {
            const double from = now();
            kernels[k].run(NULL, NULL, dims, ports, scalars);
            const double took = now() - from;
            least = took < least ? took : least;
        }
        printf("%s %.4f\n", kernels[k].name, least);
        for (int p = 0; p < 3; p++)
            free(ports[p]);
    }
}

__attribute__((noinline)) void run_ends(void) /* where callgrind writes what it counted */
{
    __asm__("");
}

int main(int argc, char **argv)
{
    for (; argc >= 6; argc -= 5, argv += 5) {
        run(argv[1], atoi(argv[2]), strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10), strtoul(argv[5], NULL, 10));
        run_ends();
    }
    return argc == 1 ? 0 : 2;
}
