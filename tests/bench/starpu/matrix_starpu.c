/* matrix_starpu.c - the thesis's matrix graph as StarPU tasks, with the kernels of examples/matrix/matrix.c themselves.
 *   matrix_starpu GRAPH N WAVES    the policy in STARPU_SCHED; prints the reports on stdout and {"makespan_s": …} on
 *                                  stderr
 * GRAPH has a line for each task: `start OUT SEED`, `ma OUT A B`, `mm OUT A B` or `report A`. A wave is the whole
 * graph, and ends before the next begins; the clock runs over all waves, over the submission of their tasks too, as
 * StarPU learns the graph while it runs, and not over StarPU's start or the registration of the data.
 */
#include <starpu.h>

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct df_call;
int start_cpu(struct df_call *call, size_t m, float *a, int32_t seed);
int ma_cpu(struct df_call *call, size_t m, const float *a, const float *b, float *c);
int mm_cpu(struct df_call *call, size_t m, const float *a, const float *b, float *c);
int report_cpu(struct df_call *call, size_t m, const float *a, const char *name);
int df_fail(struct df_call *call, const char *format, ...);

enum { MAX_TASKS = 100000 };
enum kind { START, ADD, MULTIPLY, REPORT, KINDS };

struct task {
    enum kind kind;
    unsigned out, a, b;
    char name[24];
};

struct arguments {
    size_t m;
    int32_t seed;
    const char *name;
};

int df_fail(struct df_call *call, const char *format, ...)
{
    va_list list;
    (void)call;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(1);
}

/* ---- the kernels as StarPU calls them ---- */

static float *matrix(void *buffers[], unsigned i) { return (float *)STARPU_VECTOR_GET_PTR(buffers[i]); }

static void run_start(void *buffers[], void *arg)
{
    const struct arguments *a = arg;
    start_cpu(NULL, a->m, matrix(buffers, 0), a->seed);
}

static void run_add(void *buffers[], void *arg)
{
    const struct arguments *a = arg;
    ma_cpu(NULL, a->m, matrix(buffers, 0), matrix(buffers, 1), matrix(buffers, 2));
}

static void run_multiply(void *buffers[], void *arg)
{
    const struct arguments *a = arg;
    mm_cpu(NULL, a->m, matrix(buffers, 0), matrix(buffers, 1), matrix(buffers, 2));
}

static void run_report(void *buffers[], void *arg)
{
    const struct arguments *a = arg;
    report_cpu(NULL, a->m, matrix(buffers, 0), a->name);
}

/* dmda asks for the history of each kind and size, which STARPU_CALIBRATE fills. */
static struct starpu_perfmodel models[KINDS] = {
    { .type = STARPU_HISTORY_BASED, .symbol = "dfc_start" },
    { .type = STARPU_HISTORY_BASED, .symbol = "dfc_ma" },
    { .type = STARPU_HISTORY_BASED, .symbol = "dfc_mm" },
    { .type = STARPU_HISTORY_BASED, .symbol = "dfc_report" },
};

static struct starpu_codelet codelets[KINDS] = {
    { .cpu_funcs = { run_start }, .nbuffers = 1, .modes = { STARPU_W }, .model = &models[START] },
    { .cpu_funcs = { run_add }, .nbuffers = 3, .modes = { STARPU_R, STARPU_R, STARPU_W }, .model = &models[ADD] },
    { .cpu_funcs = { run_multiply }, .nbuffers = 3, .modes = { STARPU_R, STARPU_R, STARPU_W },
      .model = &models[MULTIPLY] },
    { .cpu_funcs = { run_report }, .nbuffers = 1, .modes = { STARPU_R }, .model = &models[REPORT] },
};

/* ---- the graph ---- */

static unsigned read_graph(const char *path, struct task *tasks, unsigned *n_data)
{
    FILE *in = fopen(path, "r");
    char line[128], kind[16];
    unsigned n = 0;
    *n_data = 0;
    if (!in) {
        perror(path);
        exit(1);
    }
    while (fgets(line, sizeof line, in)) {
        struct task *t = &tasks[n];
        int words = sscanf(line, "%15s %u %u %u", kind, &t->out, &t->a, &t->b);
        t->kind = !strcmp(kind, "start") && words == 3  ? START
                  : !strcmp(kind, "ma") && words == 4   ? ADD
                  : !strcmp(kind, "mm") && words == 4   ? MULTIPLY
                  : !strcmp(kind, "report") && words == 2 ? REPORT
                                                          : KINDS;
        if (t->kind == KINDS || n + 1 == MAX_TASKS) {
            fprintf(stderr, "%s: cannot read '%s'\n", path, line);
            exit(1);
        }
        if (t->kind == REPORT)
            snprintf(t->name, sizeof t->name, "d%u", t->out);
        if (t->out >= *n_data)
            *n_data = t->out + 1;
        n++;
    }
    fclose(in);
    return n;
}

static void check(int code, const char *what)
{
    if (code) {
        fprintf(stderr, "%s: %s\n", what, strerror(-code));
        exit(1);
    }
}

static void submit(const struct task *t, const struct arguments *arguments, starpu_data_handle_t *data)
{
    struct starpu_task *task = starpu_task_create();
    task->cl = &codelets[t->kind];
    task->cl_arg = (void *)arguments;
    task->cl_arg_size = sizeof *arguments;
    if (t->kind == ADD || t->kind == MULTIPLY) {
        task->handles[0] = data[t->a];
        task->handles[1] = data[t->b];
        task->handles[2] = data[t->out];
    } else {
        task->handles[0] = data[t->out];
    }
    check(starpu_task_submit(task), "starpu_task_submit");
}

int main(int argc, char **argv)
{
    static struct task tasks[MAX_TASKS];
    static struct arguments arguments[MAX_TASKS];
    size_t m = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
    unsigned waves = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 0, n_data;
    if (!m || !waves) {
        fputs("usage: matrix_starpu GRAPH N WAVES\n", stderr);
        return 2;
    }
    unsigned n = read_graph(argv[1], tasks, &n_data);
    check(starpu_init(NULL), "starpu_init");
    starpu_data_handle_t *data = calloc(n_data, sizeof *data);
    float **memory = calloc(n_data, sizeof *memory);
    for (unsigned d = 0; d < n_data; d++) {
        if (posix_memalign((void **)&memory[d], 4096, m * m * sizeof(float)))
            return 1;
        starpu_vector_data_register(&data[d], STARPU_MAIN_RAM, (uintptr_t)memory[d], (uint32_t)(m * m), sizeof(float));
    }
    for (unsigned i = 0; i < n; i++)
        arguments[i] = (struct arguments){ m, (int32_t)tasks[i].a, tasks[i].name };
    double begin_us = starpu_timing_now();
    for (unsigned w = 0; w < waves; w++) {
        for (unsigned i = 0; i < n; i++)
            submit(&tasks[i], &arguments[i], data);
        check(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
    }
    fprintf(stderr, "{\"makespan_s\": %.9f}\n", (starpu_timing_now() - begin_us) * 1e-6);
    for (unsigned d = 0; d < n_data; d++) {
        starpu_data_unregister(data[d]);
        free(memory[d]);
    }
    free(memory);
    free(data);
    starpu_shutdown();
    return 0;
}
