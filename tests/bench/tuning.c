/* tuning.c - pipelines that drift at random: a run that is tuned beside the best fixed mapping, as a table in Markdown.
 *
 *   tuning SAMPLES [FIRST [WAVES]]
 *
 * Samples from number FIRST on, of tests/rig/pipelines/drift_rig.h. All figures are the same on every machine. As many processes share them as there are cores.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pipelines/drift_rig.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_row(const char *name, double *values, unsigned n)
{
    double sum = 0;
    unsigned below = 0;
    qsort(values, n, sizeof *values, ascending);
    for (unsigned i = 0; i < n; i++) {
        sum += values[i];
        below += values[i] < 0.95;
    }
    printf("| %s | %.3f | %.3f | %.3f | %.3f | %u |\n", name, values[0], values[n / 100], values[n / 2], sum / n, below);
}

/* The outcomes of all samples, in memory that is never unmapped. */
static const struct drift_outcome *try_all(unsigned samples, unsigned first, int64_t waves)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    int status;
    struct drift_outcome *outcomes = mmap(NULL, samples * sizeof *outcomes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcomes == MAP_FAILED)
        abort();
    for (long process = 0; process < n; process++) {
        pid_t pid = fork();
        if (pid < 0)
            abort();
        if (pid)
            continue;
        for (unsigned i = (unsigned)process; i < samples; i += (unsigned)n)
            outcomes[i] = try_random_drift(first + i, waves);
        _exit(0);
    }
    while (wait(&status) > 0)
        if (status)
            abort();
    return outcomes;
}

int main(int argc, char **argv)
{
    unsigned samples = argc > 1 ? (unsigned)atoi(argv[1]) : 0, first = argc > 2 ? (unsigned)atoi(argv[2]) : 1, changes = 0, questions = 0, most = 0;
    long long waves = argc > 3 ? atoll(argv[3]) : 3000;
    double *values[3];
    if (!samples || !first || waves < 300)
        return fprintf(stderr, "usage: tuning SAMPLES [FIRST [WAVES]]\n"), 2;
    const struct drift_outcome *outcomes = try_all(samples, first, waves);
    for (int i = 0; i < 3; i++)
        if (!(values[i] = calloc(samples, sizeof **values)))
            abort();
    for (unsigned i = 0; i < samples; i++) {
        const struct drift_outcome *outcome = &outcomes[i];
        values[0][i] = outcome->late;
        values[1][i] = outcome->whole;
        values[2][i] = outcome->untuned;
        changes += outcome->changes;
        questions += outcome->questions;
        most = outcome->changes > most ? outcome->changes : most;
        if (outcome->late < 0.95 || outcome->whole < 0.95)
            fprintf(stderr, "sample %u: %.3f in the last third, %.3f from the first drift on\n", first + i, outcome->late, outcome->whole);
    }
    printf("| %u random drifts, %lld waves: rate over that of the best fixed mapping | least | 1 of 100 below | median | mean | below 0.95 |\n"
           "|---|---|---|---|---|---|\n", samples, waves);
    print_row("tuned, last third of the waves", values[0], samples);
    print_row("tuned, from the first drift to the end", values[1], samples);
    print_row("not tuned, last third of the waves", values[2], samples);
    printf("\n%u answers, %u changes, at most %u in a run\n", questions, changes, most);
    return 0;
}
