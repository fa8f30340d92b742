/* generate.c - writes the thesis's micro-benchmark as a .df graph: a seeded random DAG of square matrix kernels, each
 * with two inputs and one output (Wu, section 5.1: 38 kernels, 75 dependencies).
 *
 * A dependency is a distinct (matrix, kernel that reads it) pair, the two initial matrices included. K kernels of two
 * inputs have 2K of them at most, so 38 kernels and 75 dependencies mean that one kernel reads the same matrix twice.
 * The same options give the same bytes.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t next_random(void) /* splitmix64 */
{
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint32_t below(uint32_t n) { return (uint32_t)(next_random() % n); }

static const char usage[] =
    "usage: generate [--kind=ma|mm|mixed] [--n=512] [--kernels=38] [--deps=75] [--seed=1] [--window=12] [--std|--costs|--titan]\n"
    "Writes a .df graph to standard output.\n"
    "  --kind     matrix add, matrix multiply, or each kernel one of the two\n"
    "  --n        rows and columns of the matrices (the graph's param: dfc -D n=… changes it later)\n"
    "  --kernels  number of kernels, 1 to 100000\n"
    "  --deps     number of dependencies, from kernels to 2 * kernels\n"
    "  --seed     of the random graph\n"
    "  --window   how far back a kernel may reach for its inputs, in kernels\n"
    "  --std      kernels of kernels.df, with products from std/blas.df, in place of those of matrix.c and matrix.cu\n"
    "  --costs    times as cost clauses in place of code, to study the graph without a compiler or a GPU\n"
    "  --titan    the same with the costs and the platform of titan.df, the thesis's machine\n";

static long number(const char *option, const char *text, long low, long high)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high) {
        fprintf(stderr, "generate: error: %s takes a whole number from %ld to %ld, not '%s'\n", option, low, high,
                text);
        exit(2);
    }
    return value;
}

struct options {
    const char *kind;
    long n, kernels, deps, seed, window;
    bool costs, std, titan;
};

static void parse(int argc, char **argv, struct options *o)
{
    for (int i = 1; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        size_t length = value ? (size_t)(value++ - argv[i]) : strlen(argv[i]);
        if (!strcmp(argv[i], "--help")) {
            fputs(usage, stdout);
            exit(0);
        }
#define IS(name) (value && length == strlen(name) && !strncmp(argv[i], name, length))
        if (!strcmp(argv[i], "--costs"))
            o->costs = true;
        else if (!strcmp(argv[i], "--titan"))
            o->titan = true;
        else if (!strcmp(argv[i], "--std"))
            o->std = true;
        else if (IS("--kind"))
            o->kind = value;
        else if (IS("--n"))
            o->n = number("--n", value, 1, 1 << 20);
        else if (IS("--kernels"))
            o->kernels = number("--kernels", value, 1, 100000);
        else if (IS("--deps"))
            o->deps = number("--deps", value, 1, 200000);
        else if (IS("--seed"))
            o->seed = number("--seed", value, 0, 1L << 40);
        else if (IS("--window"))
            o->window = number("--window", value, 2, 100000);
        else {
            fprintf(stderr, "generate: error: unknown option '%s'\n%s", argv[i], usage);
            exit(2);
        }
#undef IS
    }
    if (o->costs + o->std + o->titan > 1) {
        fprintf(stderr, "generate: error: --costs, --titan and --std exclude each other: two of them leave out the code that the other names\n");
        exit(2);
    }
    if (strcmp(o->kind, "ma") && strcmp(o->kind, "mm") && strcmp(o->kind, "mixed")) {
        fprintf(stderr, "generate: error: --kind is ma, mm or mixed, not '%s'\n", o->kind);
        exit(2);
    }
    if (o->deps == 0)
        o->deps = 2 * o->kernels - (o->kernels > 1);
    if (o->deps < o->kernels || o->deps > 2 * o->kernels) {
        fprintf(stderr, "generate: error: %ld kernels of two inputs have from %ld to %ld dependencies, not %ld\n",
                o->kernels, o->kernels, 2 * o->kernels, o->deps);
        exit(2);
    }
}

/* Matrices 0 and 1 are initial; kernel k (from 0) makes matrix k + 2. */
static void write_graph(const struct options *o)
{
    long twice = 2 * o->kernels - o->deps; /* kernels that read one matrix twice */
    unsigned char *read = calloc((size_t)o->kernels + 2, 1);
    if (!read) {
        fprintf(stderr, "generate: error: out of memory\n");
        exit(1);
    }
    for (long k = 0; k < o->kernels; k++) {
        uint32_t made = (uint32_t)k + 2;
        uint32_t reach = made < (uint32_t)o->window ? made : (uint32_t)o->window;
        uint32_t a = made - 1 - below(reach), b = a;
        bool same = (long)below((uint32_t)(o->kernels - k)) < twice; /* exactly `twice` of them, evenly drawn */
        if (same)
            twice--;
        while (!same && b == a)
            b = made - 1 - below(reach);
        bool multiply = !strcmp(o->kind, "mm") || (!strcmp(o->kind, "mixed") && (next_random() & 1));
        printf("    d%u: matrix = %s(d%u, d%u);\n", made, !multiply ? "ma" : o->std ? "multiply_f32" : "mm", a, b);
        read[a] = read[b] = 1;
    }
    for (long m = 0; m < o->kernels + 2; m++)
        if (!read[m])
            printf("    report(d%ld, \"d%ld\");\n", m, m);
    free(read);
}

static void declare_kernels(const struct options *o)
{
    static const char both[] = "cpu \"matrix.c\" gpu \"matrix.cu\"";
    if (!o->costs)
        puts("link \"openblas\";");
    printf("\nkernel start(out a: f32[m, m]; seed: i32)                                %s;\n",
           o->costs ? "cost cpu 0us" : "cpu \"matrix.c\"");
    if (strcmp(o->kind, "mm"))
        printf("kernel ma(in a: f32[m, m], in b: f32[m, m], out c: f32[m, m])            %s;\n",
               o->costs ? "cost cpu (2us + 1.5ns * m * m) gpu (8us + 0.06ns * m * m)" : both);
    if (strcmp(o->kind, "ma"))
        printf("kernel mm(in a: f32[m, m], in b: f32[m, m], out c: f32[m, m])            %s;\n",
               o->costs ? "cost cpu (2us + 0.036ns * m * m * m) gpu (8us + 0.00175ns * m * m * m)" : both);
    printf("kernel report(in a: f32[m, m]; name: str) ordered                        %s;\n",
           o->costs ? "cost cpu 0us" : "cpu \"matrix.c\"");
}

int main(int argc, char **argv)
{
    struct options o = {.kind = "mm", .n = 512, .kernels = 38, .deps = 0, .seed = 1, .window = 12};
    parse(argc, argv, &o);
    state = (uint64_t)o.seed;
    printf("// %s: %ld kernels, %ld dependencies, seed %ld: written by generate --kind=%s --kernels=%ld --deps=%ld "
           "--seed=%ld%s\n",
           o.kind, o.kernels, o.deps, o.seed, o.kind, o.kernels, o.deps, o.seed, o.std ? " --std" : o.titan ? " --titan" : "");
    printf("param n = %ld;\ntype  matrix = f32[n, n];\n", o.n);
    if (o.std || o.titan)
        printf("import \"%s\";\n", o.std ? "kernels.df" : "titan.df");
    else
        declare_kernels(&o);
    puts("\ngraph main {\n"
         "    d0: matrix = start(0);\n"
         "    d1: matrix = start(1);");
    write_graph(&o);
    puts("}");
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "generate: error: can't write: %s\n", strerror(errno));
        return 1;
    }
    return 0;
}
