/* memory_graphs.c - builds the graphs of memory_graphs.h. */
#include "memory_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sample_graph.h"

void shape_begin(struct shape *s)
{
    *s = (struct shape){ .builder = df_builder_new("shape") };
    assert_non_null(s->builder);
}

static uint32_t kernel_for(struct shape *s, uint32_t n_in, uint32_t n_out, bool inout, bool once)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g" };
    uint32_t *known = &s->kernel[n_in][n_out][inout][once], kernel, n = 0;
    struct df_port_desc ports[8];
    char name[32];
    struct df_error e;

    if (*known)
        return *known - 1;
    for (uint32_t i = 0; i < n_in; i++, n++)
        ports[n] = (struct df_port_desc){ names[n], inout && i == 0 ? DF_INOUT : DF_IN, DF_U8, 1 };
    for (uint32_t i = inout; i < n_out; i++, n++)
        ports[n] = (struct df_port_desc){ names[n], DF_OUT, DF_U8, 1 };
    snprintf(name, sizeof name, "k%u_%u_%d_%d", n_in, n_out, inout, once);
    struct df_kernel_desc desc = { .name = name, .n_ports = n, .ports = ports, .traits = once ? DF_ONCE : 0 };
    if (df_builder_kernel(s->builder, &desc, &kernel, &e) != DF_OK)
        fail_msg("%s", e.text);
    *known = kernel + 1;
    return kernel;
}

uint32_t shape_node(struct shape *s, uint64_t bytes, uint32_t n_out, bool inout, bool once, uint32_t n_in,
                    const struct shape_out *from)
{
    uint64_t dims[8][DF_MAX_RANK] = { { 0 } };
    const double cost_s[1] = { 1e-6 };
    uint32_t node, n = 0;
    struct df_error e;

    if (inout)
        bytes = s->bytes[from[0].node];
    for (uint32_t i = 0; i < n_in; i++)
        dims[n++][0] = s->bytes[from[i].node];
    for (uint32_t i = inout; i < n_out; i++)
        dims[n++][0] = bytes;
    struct df_node_desc desc = { .kernel = kernel_for(s, n_in, n_out, inout, once),
                                 .port_dims = (const uint64_t(*)[DF_MAX_RANK])dims, .cost_s = cost_s, .n_cost = 1,
                                 .hint_class = -1 };
    if (df_builder_node_desc(s->builder, &desc, &node, &e) != DF_OK)
        fail_msg("%s", e.text);
    for (uint32_t i = 0; i < n_in; i++)
        if (df_builder_connect(s->builder, from[i].node, from[i].slot, node, i, &e) != DF_OK)
            fail_msg("%s", e.text);
    if (s->n_nodes == s->capacity) {
        s->capacity = 2 * s->capacity + 64;
        s->bytes = realloc(s->bytes, s->capacity * sizeof *s->bytes);
        assert_non_null(s->bytes);
    }
    s->bytes[s->n_nodes++] = bytes;
    return node;
}

void shape_end(struct shape *s)
{
    struct df_error e;
    if (df_builder_finish(s->builder, &s->graph, &e) != DF_OK || !df_graph_check(s->graph, &e))
        fail_msg("%s", e.text);
}

void shape_free(struct shape *s)
{
    df_graph_free(s->graph);
    df_builder_free(s->builder);
    free(s->bytes);
}

void shape_chain(struct shape *s, uint32_t n, uint64_t bytes)
{
    shape_begin(s);
    for (uint32_t i = 0; i < n; i++)
        shape_node(s, bytes, 1, false, false, i > 0, &(struct shape_out){ i - 1, 0 });
    shape_end(s);
}

void shape_wavefront(struct shape *s, uint32_t side, uint64_t bytes, bool two)
{
    shape_begin(s);
    for (uint32_t i = 0; i < side; i++)
        for (uint32_t j = 0; j < side; j++) {
            struct shape_out from[2];
            uint32_t n = 0;
            if (j > 0)
                from[n++] = (struct shape_out){ i * side + j - 1, 0 };
            if (i > 0)
                from[n++] = (struct shape_out){ (i - 1) * side + j, two };
            shape_node(s, bytes, 1 + two, false, false, n, from);
        }
    shape_end(s);
}

void shape_random(struct shape *s, uint32_t seed, uint32_t n, uint32_t window, uint64_t most_bytes)
{
    uint32_t state = seed * 7919 + 1, *n_out = malloc(n * sizeof *n_out);
    bool *once = malloc(n * sizeof *once);

    assert_true(n_out && once);
    shape_begin(s);
    for (uint32_t i = 0; i < n; i++) {
        struct shape_out from[2];
        uint32_t n_in = i == 0 ? 0 : sample_rand(&state) % 8 == 0 ? 0 : 1 + sample_rand(&state) % 2, n_from = 0;
        bool all_once = true;
        for (uint32_t k = 0; k < n_in; k++) {
            uint32_t before = i - 1 - sample_rand(&state) % (i < window ? i : window);
            if (n_out[before] == 0 || (n_from == 1 && from[0].node == before))
                continue;
            from[n_from++] = (struct shape_out){ before, sample_rand(&state) % n_out[before] };
            all_once = all_once && once[before];
        }
        bool inout = n_from > 0 && sample_rand(&state) % 3 == 0;
        once[i] = n_from == 0 ? sample_rand(&state) % 6 == 0 : all_once;
        n_out[i] = i == 0 ? 1 : inout + sample_rand(&state) % 2 + (!inout && sample_rand(&state) % 8 > 0);
        n_out[i] = n_out[i] > 2 ? 2 : n_out[i];
        shape_node(s, 1 + sample_rand(&state) % most_bytes, n_out[i], inout, n_from == 0 && once[i], n_from, from);
    }
    shape_end(s);
    free(n_out);
    free(once);
}
