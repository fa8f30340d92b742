/* layered.c - a layered random graph, costs only: the usual test bed of list schedulers. Seeded: the same options give
 * the same bytes.
 *   layered NODES CCR SEED > graph.df
 * Nodes stand in layers of about sqrt(NODES); a node reads 1 to 4 outputs of the layer before (now and then of an
 * earlier one). CPU times are log-uniform from 0.2 to 20 ms, the GPU 1 to 30 times as fast (a tenth of the nodes:
 * slower), sizes such that transfers at 10 GB/s take CCR times as long as computation on average.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static double uniform(void) /* splitmix64 */
{
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static uint32_t below(uint32_t n) { return (uint32_t)(uniform() * n); }

struct node {
    uint32_t n_in, in[4];
    double bytes;
};

/* A kernel of its own for each node: its sizes and times are its alone. */
static void write_node(uint32_t v, const struct node *nodes, double cpu_us, double gpu_us)
{
    const struct node *n = &nodes[v];
    printf("kernel k%u(", v);
    for (uint32_t i = 0; i < n->n_in; i++)
        printf("in x%u: bytes[%.0f], ", i, nodes[n->in[i]].bytes);
    printf("out y: bytes[%.0f]) cost cpu %.6gus", n->bytes, cpu_us);
    if (gpu_us > 0)
        printf(" gpu %.6gus", gpu_us);
    puts(";");
}

int main(int argc, char **argv)
{
    uint32_t n = argc == 4 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    double ccr = argc == 4 ? atof(argv[2]) : 0;
    if (n < 2 || n > 1000000 || !(ccr > 0 && ccr <= 100)) {
        fprintf(stderr, "usage: layered NODES CCR SEED   (2 to 1000000 nodes, transfer over computation up to 100)\n");
        return 2;
    }
    state = strtoull(argv[3], NULL, 10);
    struct node *nodes = calloc(n, sizeof *nodes);
    unsigned char *read = calloc(n, 1);
    if (!nodes || !read) {
        fprintf(stderr, "layered: error: out of memory\n");
        return 1;
    }
    printf("// layered random graph: %u nodes, transfer/computation %g, seed %s: written by layered.c\n"
           "import \"study.df\";\n",
           n, ccr, argv[3]);
    uint32_t width = (uint32_t)ceil(sqrt(n));
    for (uint32_t v = 0; v < n; v++) {
        uint32_t layer = v / width, first = layer ? (layer - 1) * width : 0;
        double cpu_us = 200 * pow(100, uniform()),
               speedup = uniform() < 0.1 ? 0.5 + 0.5 * uniform() : pow(30, uniform());
        nodes[v].bytes = ceil(1 + cpu_us / sqrt(speedup) * 1e-6 * ccr * 10e9 * (0.5 + uniform()));
        nodes[v].n_in = layer ? 1 + below(width < 4 ? width : 4) : 0;
        for (uint32_t i = 0; i < nodes[v].n_in; i++) {
            uint32_t from = layer > 1 && uniform() < 0.1 ? below(first) : first + below(width);
            for (uint32_t j = 0; j < i; j++)
                if (nodes[v].in[j] == from) { /* once is enough: the next one instead */
                    from = first + (from + 1) % width;
                    j = UINT32_MAX;
                }
            nodes[v].in[i] = from;
            read[from] = 1;
        }
        write_node(v, nodes, cpu_us, layer ? cpu_us / speedup : 0);
    }
    for (uint32_t v = 0; v < n; v++)
        if (!read[v])
            printf("kernel f%u(in x: bytes[%.0f]) cost cpu 0us;\n", v, nodes[v].bytes);
    puts("graph main {");
    for (uint32_t v = 0; v < n; v++) {
        printf("    d%u = k%u(", v, v);
        for (uint32_t i = 0; i < nodes[v].n_in; i++)
            printf("%sd%u", i ? ", " : "", nodes[v].in[i]);
        puts(");");
    }
    for (uint32_t v = 0; v < n; v++)
        if (!read[v])
            printf("    f%u(d%u);\n", v, v);
    puts("}");
    free(nodes);
    free(read);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "layered: error: can't write: %s\n", strerror(errno));
        return 1;
    }
    return 0;
}
