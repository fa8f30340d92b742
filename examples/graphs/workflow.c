/* workflow.c - scientific workflows, costs only. Seeded: the same options give the same bytes.
 *   workflow SHAPE WIDTH SEED > graph.df
 * The shapes are those of Bharathi et al., "Characterization of scientific workflows" (2008), and of 1000genome. WIDTH is how many tasks
 * stand side by side. How long each kind of task takes and how much it gains on a GPU is drawn once for the graph: CPU times log-uniform from
 * 1 to 100 ms, the GPU 1 to 20 times as fast (a quarter of the kinds: they have no GPU code). Tasks of one kind differ by up to
 * 30 % from that. Sizes are such that a transfer at 10 GB/s takes a third of the CPU time at most. None of it was recorded from a run.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TASKS = 4096, MOST_WIDTH = 60, MOST_KINDS = 16 };

struct task {
    uint32_t kind, n_in, in[MOST_WIDTH + 1];
    double bytes, cpu_us;
};

struct kind {
    const char *name;
    double cpu_us, speedup, bytes;      /* speedup 0: no GPU code */
};

static uint64_t state;
static struct task tasks[MOST_TASKS];
static struct kind kinds[MOST_KINDS];
static uint32_t n_tasks, n_kinds;

static double uniform(void) /* splitmix64 */
{
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static uint32_t kind_of(const char *name)
{
    uint32_t k = 0;
    while (k < n_kinds && strcmp(kinds[k].name, name))
        k++;
    if (k == n_kinds) {
        struct kind *kind = &kinds[n_kinds++];
        kind->name = name;
        kind->cpu_us = 1000 * pow(100, uniform());
        kind->speedup = uniform() < 0.25 ? 0 : pow(20, uniform());
        kind->bytes = ceil(kind->cpu_us * 1e-6 * 10e9 * uniform() / 3);
    }
    return k;
}

static uint32_t task(const char *kind)
{
    struct task *t = &tasks[n_tasks];
    double varies = 0.7 + 0.6 * uniform();
    t->kind = kind_of(kind);
    t->cpu_us = kinds[t->kind].cpu_us * varies;
    t->bytes = ceil(1 + kinds[t->kind].bytes * varies);
    return n_tasks++;
}

static void reads(uint32_t reader, uint32_t of)
{
    struct task *t = &tasks[reader];
    t->in[t->n_in++] = of;
}

static uint32_t after(const char *kind, uint32_t of)
{
    uint32_t t = task(kind);
    reads(t, of);
    return t;
}

/* One task that reads `n` others, of which `first` is the first and the others follow at equal distances. */
static uint32_t join(const char *kind, uint32_t first, uint32_t n, uint32_t apart)
{
    uint32_t t = task(kind);
    for (uint32_t i = 0; i < n; i++)
        reads(t, first + i * apart);
    return t;
}

/* ---- shapes ---- */

static void montage(uint32_t n)
{
    uint32_t projects = n_tasks, fits, model, backgrounds, table, sum;
    for (uint32_t i = 0; i < n; i++)
        task("project");
    fits = n_tasks;
    for (uint32_t i = 0; i + 1 < n; i++)
        reads(after("difference", projects + i), projects + i + 1);
    model = after("model", join("concatenate", fits, n - 1, 1));
    backgrounds = n_tasks;
    for (uint32_t i = 0; i < n; i++)
        reads(after("background", projects + i), model);
    table = join("table", backgrounds, n, 1);
    sum = join("add", backgrounds, n, 1);
    reads(sum, table);
    after("picture", after("shrink", sum));
}

static void epigenomics(uint32_t n)
{
    uint32_t split = task("split"), first = n_tasks + 3;
    for (uint32_t i = 0; i < n; i++)
        after("map", after("convert", after("to_sanger", after("filter", split))));
    after("pileup", after("index", join("merge", first, n, 4)));
}

static void cybershake(uint32_t n)
{
    uint32_t extract[2] = { task("extract"), task("extract") }, first = n_tasks;
    for (uint32_t i = 0; i < n; i++)
        after("peak", after("synthesize", extract[i % 2]));
    join("zip_seismograms", first, n, 2);
    join("zip_peaks", first + 1, n, 2);
}

/* Groups of up to five templates: each is inspected, compared within the group, and inspected again. */
static void ligo(uint32_t n)
{
    for (uint32_t done = 0; done < n; done += 5) {
        uint32_t group = n - done < 5 ? n - done : 5, first = n_tasks + 1, coincident;
        for (uint32_t i = 0; i < group; i++)
            after("inspiral", task("template"));
        coincident = join("coincidence", first, group, 2);
        first = n_tasks + 1;
        for (uint32_t i = 0; i < group; i++)
            after("inspiral", after("trigger", coincident));
        join("coincidence", first, group, 2);
    }
}

/* Chromosomes of ten individuals each, merged and sifted; then two analyses for each of five populations. */
static void genome(uint32_t n)
{
    uint32_t population[5];
    for (uint32_t p = 0; p < 5; p++)
        population[p] = task("population");
    for (uint32_t done = 0; done < n; done += 10) {
        uint32_t group = n - done < 10 ? n - done : 10, first = n_tasks, merged, sifted = task("sift");
        for (uint32_t i = 0; i < group; i++)
            task("individual");
        merged = join("merge", first + 1, group, 1);
        for (uint32_t p = 0; p < 5; p++)
            for (uint32_t k = 0; k < 2; k++) {
                uint32_t t = after(k ? "frequency" : "overlap", merged);
                reads(t, sifted);
                reads(t, population[p]);
            }
    }
}

/* ---- writing ---- */

/* A kernel of its own for each task: its sizes and times are its alone. */
static void write_kernel(uint32_t v)
{
    const struct task *t = &tasks[v];
    const struct kind *k = &kinds[t->kind];
    printf("kernel %s%u(", k->name, v);
    for (uint32_t i = 0; i < t->n_in; i++)
        printf("in x%u: bytes[%.0f], ", i, tasks[t->in[i]].bytes);
    printf("out y: bytes[%.0f]) cost cpu %.6gus", t->bytes, t->cpu_us);
    if (k->speedup > 0)
        printf(" gpu %.6gus", t->cpu_us / k->speedup);
    puts(";");
}

static void write_graph(void)
{
    static unsigned char read[MOST_TASKS];
    for (uint32_t v = 0; v < n_tasks; v++) {
        write_kernel(v);
        for (uint32_t i = 0; i < tasks[v].n_in; i++)
            read[tasks[v].in[i]] = 1;
    }
    for (uint32_t v = 0; v < n_tasks; v++)
        if (!read[v])
            printf("kernel f%u(in x: bytes[%.0f]) cost cpu 0us;\n", v, tasks[v].bytes);
    puts("graph main {");
    for (uint32_t v = 0; v < n_tasks; v++) {
        printf("    d%u = %s%u(", v, kinds[tasks[v].kind].name, v);
        for (uint32_t i = 0; i < tasks[v].n_in; i++)
            printf("%sd%u", i ? ", " : "", tasks[v].in[i]);
        puts(");");
    }
    for (uint32_t v = 0; v < n_tasks; v++)
        if (!read[v])
            printf("    f%u(d%u);\n", v, v);
    puts("}");
}

static const struct shape {
    const char *name;
    void (*make)(uint32_t width);
} shapes[] = { { "montage", montage }, { "epigenomics", epigenomics }, { "cybershake", cybershake }, { "ligo", ligo }, { "genome", genome } };

int main(int argc, char **argv)
{
    uint32_t width = argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0, s = 0, n = sizeof shapes / sizeof *shapes;
    while (s < n && (argc != 4 || strcmp(shapes[s].name, argv[1])))
        s++;
    if (s == n || width < 2 || width > MOST_WIDTH) {
        fprintf(stderr, "usage: workflow montage|epigenomics|cybershake|ligo|genome WIDTH SEED   (2 to %d tasks side by side)\n", MOST_WIDTH);
        return 2;
    }
    state = strtoull(argv[3], NULL, 10);
    shapes[s].make(width);
    printf("// workflow %s: %u tasks, width %u, seed %s: written by workflow.c\nimport \"study.df\";\n", argv[1], n_tasks, width, argv[3]);
    write_graph();
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "workflow: error: can't write: %s\n", strerror(errno));
        return 1;
    }
    return 0;
}
