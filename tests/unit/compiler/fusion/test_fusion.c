/* test_fusion.c - which kernels of formulas are joined, which are not and why, and what is left of the graph.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/front/front.h"
#include "compiler/fusion/fusion.h"

static const char kernels[] =
    "kernel src(out a: f32[6, 9]) cpu {{ a[0] = 1; }};\n"
    "kernel snk(in a: f32[h, w]) ordered cpu {{ (void)a; }};\n"
    "kernel twice(in a: f32[h, w], out b: f32[h, w]) { b[y, x] = 2 * a[y, x]; }\n"
    "kernel root(in a: f32[h, w], out b: f32[h, w]) { b[y, x] = sqrt(a[y, x]) / (1 + a[y, x] / (2 + a[y, x])); }\n"
    "kernel blur(in a: f32[h, w] border clamp, out b: f32[h, w]) { b[y, x] = a[y - 1, x] + a[y + 2, x]; }\n"
    "kernel both(in a: f32[h, w], in c: f32[h, w], out b: f32[h, w]) { b[y, x] = a[y, x] - c[y, x]; }\n"
    "kernel turn(in a: f32[h, w], out b: f32[w, h]) { b[y, x] = a[x, y]; }\n"
    "kernel skip(in a: f32[2 * h, w], out b: f32[h, w]) { b[y, x] = a[2 * y, x]; }\n"
    "kernel deep(in a: f32[h, w], out b: f32[h, w]) { b[y, x] = exp(exp(a[y, x])); }\n"
    "kernel crop(in a: f32[h, w], out b: f32[h - 2, w]) { b[y, x] = a[y, x] + a[y + 2, x]; }\n"
    "kernel half(in a: f32[2 * h, w], out b: f32[h, w]) { b[y, x] = a[2 * y, x] + sqrt(a[2 * y + 1, x]); }\n"
    "kernel wide(in a: f32[h, w] border clamp, out b: f32[2 * h, w]) { b[y, x] = sum(j in -1..2: a[y / 2 + j, x]); }\n"
    "kernel near(in a: f32[h, w] border mirror, out b: f32[2 * h, w]) { b[y, x] = a[(y - 3) / 2 + 3, x] + a[y >> 1, x]; }\n"
    "kernel held(in a: f32[h, w], out b: f32[2 * h, w]) { b[y, x] = a[clamp(y / 2 - 1, 0, h - 1), x]; }\n"
    "kernel flat(in a: f32[h, w] border clamp, out b: f32[h, w]) { b[y, x] = a[2 * y - 3, x] + a[2 * y, x]; }\n"
    "kernel pair(in a: f32[h, w] border clamp, out b: f32[h, w]) { b[y, x] = a[2 * y, x] - a[y, x]; }\n"
    "kernel ends(in a: f32[h, w] border clamp, out b: f32[h, w]) { b[y, x] = a[y / 100, x]; }\n"
    "kernel tall(in a: f32[h, w] border clamp, out b: f32[10 * h, w]) { b[y, x] = a[y / 10, x]; }\n"
    "kernel ring(in a: f32[h, w] border wrap, out b: f32[h, w]) { b[y, x] = a[y + 1, x]; }\n"
    "kernel side(in a: f32[h, w] border clamp, wrap, out b: f32[h, w]) { b[y, x] = a[y - 1, x + 1] + a[y + 1, x]; }\n"
    "kernel mean(in a: f32[h, w], out b: f32[h, w]) { b[y, x] = sum(i in 0..w: a[y, i]); }\n"
    "kernel copy(in a: f32[h, w], out b: f32[h, w]) { b[y, x] = a[y, x]; } cpu {{ memcpy(b, a, 4 * h * w); }};\n"
    "kernel code(in a: f32[h, w], out b: f32[h, w]) cpu {{ memcpy(b, a, 4 * h * w); }};\n"
    "kernel lead(in a: f32[h, w], out b: f32[h, w]) { b[y, x] = a[y, x]; } cost cpu 3us;\n"
    "kernel knot(inout a: f32[h, w]) { a[y, x] = a[y, x] + 1; }\n"
    "kernel fixed(out b: f32[6, 9]) once { b[y, x] = y; }\n"
    "kernel movie(out a: f32[2, 6, 9]) cpu {{ a[0] = 1; }};\n"
    "kernel watch(in a: f32[t, h, w]) ordered cpu {{ (void)a; }};\n"
    "kernel lower(in a: f32[t, h, w] border clamp, out b: f32[t, h, w]) { b[p, y, x] = a[p, y - 1, x] + a[p, y + 2, x]; }\n"
    "kernel later(in a: f32[t, h, w] border clamp, out b: f32[t, h, w]) { b[p, y, x] = a[p - 1, y, x]; }\n"
    "kernel small(in a: f32[t, h, w] border clamp, out b: f32[t, h, 3]) { b[p, y, x] = a[p, y, x]; }\n"
    "kernel thin(in a: f32[t, h, 3] border clamp, out b: f32[t, h, 3]) { b[p, y, x] = a[p, y + 1, x]; }\n";

struct made {
    struct dfl_sink *sink;
    struct dfc_front *front;            /* NULL: refused */
    char *said, *text;
    size_t said_bytes;
    FILE *out;
};

static bool read_text(void *arg, const char *path, char **text, size_t *length, const char **why)
{
    (void)path;
    (void)why;
    *text = strdup(arg);
    *length = strlen(arg);
    return *text != NULL;
}

static void make_tiled(struct made *m, const char *body, const struct dfc_groups *groups, struct dfc_tile tile)
{
    memset(m, 0, sizeof *m);
    assert_true(asprintf(&m->text, "%sgraph main {\n%s\n}\n", kernels, body) > 0);
    const struct dfc_front_options options = { .path = "t.df", .read = read_text, .read_arg = m->text, .groups = groups, .gpu_tile = tile };
    m->out = open_memstream(&m->said, &m->said_bytes);
    assert_non_null(m->out);
    m->sink = dfl_sink_new(m->out);
    assert_non_null(m->sink);
    if (!dfc_front_run(m->sink, &options, &m->front))
        m->front = NULL;
    fflush(m->out);
}

static void make_with(struct made *m, const char *body, const struct dfc_groups *groups)
{
    make_tiled(m, body, groups, (struct dfc_tile){ 0, 0 });
}

static void make(struct made *m, const char *body)
{
    make_with(m, body, NULL);
    if (!m->front)
        fail_msg("%s", m->said);
}

static void unmake(struct made *m)
{
    dfc_front_free(m->front);
    dfl_sink_free(m->sink);
    fclose(m->out);
    free(m->said);
    free(m->text);
}

/* The graph has these groups, divided by '|', and so many nodes. */
static void expect_groups(const char *body, const char *groups, uint32_t nodes)
{
    struct made m;
    char text[1000] = "";
    make(&m, body);
    for (size_t i = 0; i < m.front->n_groups; i++) {
        strcat(text, i ? "|" : "");
        strcat(text, m.front->groups[i]->text);
    }
    assert_string_equal(text, groups);
    assert_int_equal(m.front->graph->n_nodes, nodes);
    unmake(&m);
}

/* Nothing is joined, and why is said of two kernels. */
static void expect_refusal(const char *body, const char *from, const char *to, const char *why)
{
    struct made m;
    bool found = false;
    make(&m, body);
    for (size_t i = 0; i < m.front->n_unfused; i++) {
        const struct dfc_unfused *u = &m.front->unfused[i];
        found |= strcmp(u->from, from) == 0 && strcmp(u->to, to) == 0 && strcmp(u->why, why) == 0;
    }
    if (!found || m.front->n_groups)
        fail_msg("%zu groups; first refusal: %s", m.front->n_groups,
                 m.front->n_unfused ? m.front->unfused[0].why : "none");
    unmake(&m);
}

/* ---- joined ---- */

static void test_chain_is_one_node(void **state)
{
    (void)state;
    expect_groups("a = src(); b = root(a); c = blur(b); d = root(c); snk(d);", "root:e0:- blur:0.0:- root:1.0:+", 3);
}

static void test_source_of_formulas_is_a_member(void **state)
{
    (void)state;
    expect_groups("a = src(); b = twice(a); c = twice(b); snk(c);", "twice:e0:- twice:0.0:+", 3);
}

static void test_diamond_is_one_node(void **state)
{
    (void)state;
    expect_groups("a = src(); b = root(a); c = blur(b); d = twice(b); e = both(c, d); snk(e);",
                  "root:e0:- blur:0.0:- twice:0.0:- both:1.0,2.0:+", 3);
}

static void test_stream_that_is_read_outside_leaves(void **state)
{
    (void)state;
    expect_groups("a = src(); b = root(a); c = blur(b); snk(b); snk(c);", "root:e0:+ blur:0.0:+", 4);
}

static void test_stream_from_outside_is_one_port(void **state)
{
    struct made m;
    (void)state;
    make(&m, "a = src(); b = blur(a); c = both(b, a); snk(c);");
    assert_int_equal(m.front->n_groups, 1);
    assert_string_equal(m.front->groups[0]->text, "blur:e0:- both:0.0,e0:+");
    assert_int_equal(m.front->groups[0]->callee->sig.n_in, 1);
    /* once with the border, and once without */
    assert_int_equal(m.front->groups[0]->callee->formula->n_ports, m.front->groups[0]->callee->sig.n_ports + 1);
    unmake(&m);
}

static void test_equal_groups_are_one_kernel(void **state)
{
    struct made m;
    (void)state;
    make(&m, "a = src(); b = root(a); c = blur(b); d = code(c); e = root(d); f = blur(e); snk(f);");
    assert_int_equal(m.front->n_groups, 1);
    assert_int_equal(m.front->n_fused, 2);
    assert_int_equal(m.front->graph->n_nodes, 5);
    unmake(&m);
}

static void test_same_members_in_other_wiring_have_another_name(void **state)
{
    struct made m;
    (void)state;
    make(&m, "a = src(); b = root(a); c = blur(b); snk(c); d = src(); e = root(d); f = blur(e); snk(e); snk(f);");
    assert_int_equal(m.front->n_groups, 2);
    assert_string_equal(m.front->groups[0]->callee->name, "root+blur");
    assert_string_equal(m.front->groups[1]->callee->name, "root+blur_2");
    unmake(&m);
}

static void test_written_costs_add_up(void **state)
{
    struct made m;
    (void)state;
    make(&m, "a = src(); b = lead(a); c = lead(b); d = lead(c); snk(d); e = root(a); f = lead(e); snk(f);");
    assert_int_equal(m.front->n_groups, 2);
    for (uint32_t v = 0; v < m.front->graph->n_nodes; v++) {
        const struct df_work *work = &m.front->graph->works[m.front->graph->nodes[v].work];
        const char *name = df_graph_string(m.front->graph, m.front->graph->kernels[work->kernel].name);
        const double cost_s = m.front->graph->cost_s[m.front->graph->nodes[v].work]; /* on cpu, class 0 */
        if (strcmp(name, "lead+lead+lead") == 0)
            assert_true(cost_s > 8.9e-6 && cost_s < 9.1e-6);
        if (strcmp(name, "root+lead") == 0)
            assert_true(cost_s != cost_s);
    }
    unmake(&m);
}

static void test_cheap_streams_are_inlined(void **state)
{
    struct made m;
    (void)state;
    make(&m, "a = src(); b = twice(a); c = root(b); d = blur(c); snk(d);");
    const struct dfu_group *group = m.front->groups[0];
    assert_int_equal(group->n_inlined, 1); /* twice in root; root in blur would be done again, and blur has a border */
    assert_int_equal(group->strips->n_stages, 2);
    assert_int_equal(group->strips->n_reads, 1);
    assert_int_equal(group->strips->reads[0].low, -1);
    assert_int_equal(group->strips->reads[0].high, 2);
    assert_int_equal(group->strips->reads[0].border, DF_STRIP_CLAMP);
    unmake(&m);
}

/* GPU code has tiles if the columns that are read are known and a tile fits into local memory. Else each ring has a plane, which is the GPU's scratch:
 * whole, or what a part needs of it. What the CPU keeps is none of it. */
static void test_planes_of_groups_without_tiles(void **state)
{
    static const struct { const char *body; struct dfc_tile tile; bool tiled; uint64_t planes, rows[3]; } cases[] = {
        { "a = src(); b = root(a); c = blur(b); snk(c);", { 0, 0 }, true, 0, { 0 } },
        { "a = src(); b = root(a); c = blur(b); snk(c);", { 40, 60 }, true, 0, { 0 } },
        { "a = src(); b = root(a); c = blur(b); snk(c);", { 400, 60 }, false, 1, { 6 } },
        { "a = src(); b = root(a); c = side(b); snk(c);", { 0, 0 }, false, 1, { 6 } },
        { "a = src(); b = root(a); c = side(b); d = side(c); snk(d);", { 0, 0 }, false, 2, { 6, 6 } },
        { "a = src(); b = root(a); c = side(b) @parts(3); snk(c);", { 0, 0 }, false, 1, { 3, 4, 3 } },
        { "a = movie(); b = lower(a); c = lower(b); watch(c);", { 400, 60 }, false, 1, { 2 } },
        { "a = movie(); b = lower(a); c = lower(b) @parts(2); watch(c);", { 400, 60 }, false, 1, { 1, 1 } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made m;
        make_tiled(&m, cases[i].body, NULL, cases[i].tile);
        assert_int_equal(m.front->n_groups, 1);
        const struct dfu_group *group = m.front->groups[0];
        const struct df_graph *g = m.front->graph;
        assert_int_equal(group->strips->tiled, cases[i].tiled);
        assert_int_equal(group->callee->formula->n_scratch, cases[i].planes);
        for (uint32_t v = 0, part = 0; v < g->n_nodes; v++) {
            const struct df_work *work = &g->works[g->nodes[v].work];
            const struct df_kernel *kernel = &g->kernels[work->kernel];
            if (g->nodes[v].kernel != group->callee->id)
                continue;
            assert_int_equal(kernel->n_ports, group->callee->sig.n_ports + cases[i].planes);
            assert_true(work->tmp_bytes[DF_ON_HOST] > 0);
            assert_true(!work->tmp_bytes[DF_ON_DEVICE] == cases[i].tiled);
            for (unsigned p = group->callee->sig.n_ports; p < kernel->n_ports; p++)
                assert_int_equal(g->port_dims[(work->first_port + p) * (size_t)DF_MAX_RANK], cases[i].rows[cases[i].planes > 1 ? p - group->callee->sig.n_ports : part]);
            part++;
        }
        unmake(&m);
    }
}

/* Strips run behind the dimensions in which all read at their own place, as long as rows are rows of columns. */
static void test_strips_run_inside_planes(void **state)
{
    static const struct { const char *body; unsigned dim; } cases[] = {
        { "a = movie(); b = lower(a); c = lower(b); watch(c);", 1 },
        { "a = movie(); b = later(a); c = lower(b); watch(c);", 1 },
        { "a = movie(); b = lower(a); c = later(b); watch(c);", 0 },
        { "a = movie(); b = small(a); c = thin(b); watch(c);", 0 },
        { "a = src(); b = root(a); c = blur(b); snk(c);", 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made m;
        make(&m, cases[i].body);
        assert_int_equal(m.front->n_groups, 1);
        assert_int_equal(m.front->groups[0]->strips->dim, cases[i].dim);
        unmake(&m);
    }
}

/* ---- rates ---- */

struct read { int times, by, low, high; enum df_strip_border border; };

/* A kernel behind another one, of which it reads such rows. */
static void expect_read(const char *body, struct read wanted)
{
    struct made m;
    make(&m, body);
    assert_int_equal(m.front->n_groups, 1);
    const struct df_strip_read *read = &m.front->groups[0]->strips->reads[0];
    if (m.front->groups[0]->strips->n_reads != 1 || read->times != wanted.times || read->by != wanted.by || read->low != wanted.low ||
        read->high != wanted.high || read->border != (int)wanted.border)
        fail_msg("%s: (%d y + %d) / %d to (%d y + %d) / %d, border %d", body, read->times, read->low, read->by, read->times, read->high,
                 read->by, read->border);
    unmake(&m);
}

static void test_rows_of_other_rates(void **state)
{
    (void)state;
    expect_read("a = src(); b = deep(a); c: f32[3, 9] = half(b); snk(c);", (struct read){ 2, 1, 0, 1, DF_STRIP_NONE });
    expect_read("a = src(); b = deep(a); c: f32[12, 9] = wide(b); snk(c);", (struct read){ 1, 2, -2, 2, DF_STRIP_CLAMP });
    /* (y - 3) / 2 is rounded to 0: at row 1 it is -1, and at row 2 it is 0 */
    expect_read("a = src(); b = deep(a); c: f32[12, 9] = near(b); snk(c);", (struct read){ 1, 2, 0, 4, DF_STRIP_MIRROR });
    expect_read("a = src(); b = deep(a); c: f32[12, 9] = held(b); snk(c);", (struct read){ 1, 2, -2, 0, DF_STRIP_NONE });
    expect_read("a = src(); b = deep(a); c = flat(b); snk(c);", (struct read){ 2, 1, -3, 0, DF_STRIP_CLAMP });
    /* through what is computed where it is read: half of deep, then a row of that for two */
    expect_read("a = src(); b = deep(a); c: f32[3, 9] = half(b); d = crop(c); snk(d);", (struct read){ 2, 1, 0, 5, DF_STRIP_NONE });
}

static void test_pyramid_is_one_node(void **state)
{
    struct made m;
    (void)state;
    make(&m, "a = src(); b: f32[3, 9] = half(a); c = blur(b); d: f32[6, 9] = wide(c); e = both(d, a); snk(e); snk(c);");
    assert_int_equal(m.front->n_groups, 1);
    assert_string_equal(m.front->groups[0]->text, "half:e0:- blur:0.0:+ wide:1.0:- both:2.0,e0:+");
    const struct dff_strips *s = m.front->groups[0]->strips;
    assert_int_equal(s->unit, 2);       /* blur makes a row for two of the picture's */
    assert_int_equal(s->stages[s->n_stages - 1].rate.by, 1);
    assert_int_equal(s->stages[0].rate.times, 1);
    assert_int_equal(s->stages[0].rate.by, 2);
    unmake(&m);
}

static void test_unlike_rates_keep_apart(void **state)
{
    static const char unlike[] = "it reads what both are made of at unlike rates",
                      far[] = "of two of them one makes more than 64 rows for a row of the other";
    struct made m;
    (void)state;
    make(&m, "a = src(); b = root(a); c = flat(b); d = both(b, c); snk(d);");
    assert_string_equal(m.front->groups[0]->text, "root:e0:+ flat:0.0:+");
    assert_string_equal(m.front->unfused[0].to, "both");
    assert_string_equal(m.front->unfused[0].why, unlike);
    unmake(&m);
    make(&m, "a = src(); b = root(a); c: f32[60, 9] = tall(b); d: f32[600, 9] = tall(c); snk(c); snk(d);");
    assert_string_equal(m.front->groups[0]->text, "root:e0:- tall:0.0:+");
    assert_string_equal(m.front->unfused[0].why, far);
    unmake(&m);
}

static void test_sixteen_members_at_most(void **state)
{
    char body[2000] = "s0 = src();";
    (void)state;
    for (int i = 0; i < 20; i++)
        sprintf(body + strlen(body), " s%d = twice(s%d);", i + 1, i);
    strcat(body, " snk(s20);");
    struct made m;
    make(&m, body);
    assert_int_equal(m.front->n_groups, 2);
    assert_int_equal(m.front->groups[0]->wiring.n, 16);
    assert_int_equal(m.front->groups[1]->wiring.n, 4);
    assert_string_equal(m.front->unfused[0].why, "a group has at most 16 members");
    unmake(&m);
}

/* A long chain of other kernels each time: code is made for some groups, and the rest stay nodes. */
static void test_groups_are_limited(void **state)
{
    static const char *const names[] = { "twice", "root", "blur", "lead" };
    char *body = calloc(1, 40000);
    uint32_t random = 5;
    struct made m;
    size_t members = 0;
    (void)state;
    assert_non_null(body);
    strcpy(body, "s0 = src();");
    for (int i = 0; i < 600; i++) {
        random = random * 1664525u + 1013904223u;
        sprintf(body + strlen(body), " s%d = %s(s%d);", i + 1, names[random >> 30], i);
    }
    strcat(body, " snk(s600);");
    make(&m, body);
    free(body);
    for (size_t i = 0; i < m.front->n_groups; i++)
        members += m.front->groups[i]->wiring.n;
    assert_int_equal(members, 96);
    assert_int_equal(m.front->graph->n_nodes, 2 + 600 - 96 + 6);
    assert_string_equal(m.front->unfused[m.front->n_unfused - 1].why,
                        "the program has as many groups as are compiled in short time");
    unmake(&m);
}

/* ---- not joined ---- */

static void test_reads_that_are_no_rows(void **state)
{
    static const char why[] = "it does not read rows at fixed distances";
    (void)state;
    expect_refusal("a = src(); b = root(a); c = turn(b); snk(c);", "root", "turn", why);
    expect_refusal("a = src(); b = root(a); c = pair(b); snk(c);", "root", "pair", why);
    expect_refusal("a = src(); b = root(a); c = ends(b); snk(c);", "root", "ends", why); /* 100 is too many */
    expect_refusal("a = src(); b = root(a); c = ring(b); snk(c);", "root", "ring",
                   "its border is 'wrap', which leads to the other end");
}

static void test_kernels_that_are_no_members(void **state)
{
    (void)state;
    expect_refusal("a = src(); b = root(a); c = mean(b); snk(c);", "root", "mean", "it reduces over data");
    expect_refusal("a = src(); b = root(a); c = copy(b); snk(c);", "root", "copy", "it has a variant that is written");
    expect_refusal("a = src(); b = root(a); c = knot(b); snk(c);", "root", "knot", "it changes its input");
    expect_refusal("a = fixed(); b = src(); c = both(a, b); snk(c);", "fixed", "both", "it fires before the first wave");
}

static void test_hints_keep_apart(void **state)
{
    (void)state;
    expect_refusal("a = src(); b = root(a) @nofuse; c = blur(b); snk(c);", "root", "blur", "'@nofuse' keeps it apart");
    expect_refusal("a = src(); b = root(a) @cpu; c = blur(b); snk(c);", "root", "blur", "their hints name unlike classes");
    expect_groups("a = src(); b = root(a) @gpu; c = blur(b) @gpu; snk(c);", "root:e0:- blur:0.0:+", 3);
    expect_refusal("a = src(); b = root(a) @depth(3); c = blur(b); snk(c);", "root", "blur",
                   "its hint '@depth' or '@rate' is its own");
    expect_groups("a = src(); b = root(a) @cpu; c = blur(b) @cpu; snk(c);", "root:e0:- blur:0.0:+", 3);
}

static void test_what_stands_between_keeps_apart(void **state)
{
    (void)state;
    expect_refusal("a = src(); b = root(a); c = code(b); d = both(b, c); snk(d);", "root", "both",
                   "something that is not joined stands between them");
    /* it is a way through two groups: joined, each would need the other first */
    expect_groups("a = src(); b = root(a); d = root(a); e = both(b, d); f = code(b); g = both(d, f); snk(e); snk(g);",
                  "root:e0:+ root:e0:+ both:0.0,1.0:+", 6);
    /* c may be empty where a is not */
    expect_groups("a = src(); b = root(a); c = code(a); d = root(c); e = both(b, d); f = code(b); g = both(d, f); snk(e); snk(g);", "", 9);
}

static void test_no_fusion_is_asked_for(void **state)
{
    static const struct dfc_groups none;
    struct made m;
    (void)state;
    make_with(&m, "a = src(); b = root(a); c = blur(b); snk(c);", &none);
    assert_non_null(m.front);
    assert_int_equal(m.front->n_groups, 0);
    assert_int_equal(m.front->graph->n_nodes, 4);
    unmake(&m);
}

/* ---- the same groups again ---- */

static void test_groups_are_found_by_their_text(void **state)
{
    static const char *const texts[] = { "twice:e0:- twice:0.0:+", "root:e0:- blur:0.0:+" };
    const struct dfc_groups given = { texts, 2 };
    struct made found, again;
    (void)state;
    make(&found, "a = src(); b = root(a); c = blur(b); snk(c);");
    make_with(&again, "a = src(); b = root(a); c = blur(b); snk(c); d = twice(a); e = root(d); snk(e);", &given);
    assert_non_null(again.front);
    assert_int_equal(again.front->n_groups, 2); /* those given, used or not, and no others */
    assert_int_equal(again.front->n_fused, 1);
    assert_true(again.front->groups[1]->callee->code_hash[0] == found.front->groups[0]->callee->code_hash[0]);
    assert_int_equal(again.front->groups[1]->callee->id, found.front->groups[0]->callee->id + 1);
    unmake(&found);
    unmake(&again);
}

static void test_texts_that_are_no_wiring(void **state)
{
    static const char *const wrong[] = { "", "root", "root:", "root:e0", "root:e0:", "root:e1:+", "root:0.0:+", "root:e0:-+",
                                         "root:e0:+ ", "none:e0:+", "root:e0:+ blur:0.1:+", "root:e0:+ blur:1.0:+",
                                         "src::+", "both:e0:+", "both:e0,e2:+", "root:e0:+;" };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct made m;
        make_with(&m, "a = src(); snk(a);", &(const struct dfc_groups){ &wrong[i], 1 });
        if (m.front)
            fail_msg("'%s' is taken", wrong[i]);
        assert_non_null(strstr(m.said, "cannot be made again"));
        unmake(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain_is_one_node),
        cmocka_unit_test(test_source_of_formulas_is_a_member),
        cmocka_unit_test(test_diamond_is_one_node),
        cmocka_unit_test(test_stream_that_is_read_outside_leaves),
        cmocka_unit_test(test_stream_from_outside_is_one_port),
        cmocka_unit_test(test_equal_groups_are_one_kernel),
        cmocka_unit_test(test_same_members_in_other_wiring_have_another_name),
        cmocka_unit_test(test_written_costs_add_up),
        cmocka_unit_test(test_cheap_streams_are_inlined),
        cmocka_unit_test(test_planes_of_groups_without_tiles),
        cmocka_unit_test(test_strips_run_inside_planes),
        cmocka_unit_test(test_rows_of_other_rates),
        cmocka_unit_test(test_pyramid_is_one_node),
        cmocka_unit_test(test_unlike_rates_keep_apart),
        cmocka_unit_test(test_sixteen_members_at_most),
        cmocka_unit_test(test_groups_are_limited),
        cmocka_unit_test(test_reads_that_are_no_rows),
        cmocka_unit_test(test_kernels_that_are_no_members),
        cmocka_unit_test(test_hints_keep_apart),
        cmocka_unit_test(test_what_stands_between_keeps_apart),
        cmocka_unit_test(test_no_fusion_is_asked_for),
        cmocka_unit_test(test_groups_are_found_by_their_text),
        cmocka_unit_test(test_texts_that_are_no_wiring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
