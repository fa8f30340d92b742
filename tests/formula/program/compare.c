/* compare.c - runs graphs of formulas by the oracle, and by each way of a library that dfc made, and compares to the bit.
 *
 * compare FILE.df OPTIONS < LINES: a line is `GRAPH SEED EXTENT… WAVES`, one extent for each dimension of the graph, and how many waves a call has;
 * without that it is 1. OPTIONS are for opening sessions.
 * For each line it prints `same GRAPH …`, `differs GRAPH …: PORT[…] is A and not B`, or `fails GRAPH …: why`; of several ways, the first that
 * differs or fails. NaNs are equal whatever their sign and payload. Without a library (n_calls 0) it prints what the oracle gives. Exit status 0 if it came to the end, else 2.
 */
#include "compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/formula/oracle.h"

/* ---- data that shows the order of sums, and all special values ---- */

static uint64_t next(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static double special(uint64_t bits)
{
    static const double values[] = { 0.0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-149, -0x1p-140, 0x1p-1074, 0x1p-24, 65504, 0x1p31, -0x1p31, 0x1p63, 0.5, 1.5, 2.5 };
    return values[bits % (sizeof values / sizeof *values)];
}

/* How the numbers of an array look. TIES are halfway between two numbers of a narrower type, or a little beside. */
enum style { SMALL, MAGNITUDES, SPECIAL, ANY, TIES, ZEROS, N_STYLES };

static double real_of(uint64_t bits, enum style style)
{
    double unit = (double)(int64_t)(bits >> 12) * 0x1p-51 - 1;   /* in [-1, 1) */
    int choice = bits & 4095;
    switch (style) {
    case SMALL: return floor(unit * 64) / 2;
    case SPECIAL: return choice < 800 ? special(bits >> 40) : ldexp(unit, choice % 8);
    case ANY: return choice % 3 == 0 ? special(bits >> 40) : ldexp(unit, choice % 600 - 300);
    case TIES: return ldexp(1024 + floor(unit * 512) + 0.5 + choice % 3 * 0x1p-40, choice % 40 - 25);
    case ZEROS: return choice % 2 ? 0.0 : -0.0;
    default: return ldexp(unit, choice % 60 - 30);
    }
}

static int64_t integer_of(uint64_t bits, enum style style)
{
    static const int64_t values[] = { 0, 1, -1, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 255, 256, 65535, 65536, 1LL << 31, -5 };
    switch (style) {
    case SMALL: return (int64_t)(bits >> 40) % 100 - 30;
    case MAGNITUDES: return (int64_t)bits >> 48;
    case SPECIAL: return bits % 4 == 0 ? values[(bits >> 8) % (sizeof values / sizeof *values)] : (int64_t)bits >> (bits >> 2) % 64;
    case TIES: return ((int64_t)(bits >> 40) | 1 << 24 | 1) << bits % 38 | (int64_t)(bits >> 6 & 1);
    case ZEROS: return 0;
    default: return (int64_t)bits;
    }
}

static struct number value_of(enum element element, uint64_t bits, enum style style)
{
    enum type type = element_type(element);
    if (type_is_real(type))
        return element_convert(element, number_of_real(F64, real_of(bits, style)));
    int64_t i = integer_of(bits, style);
    return element == E_I64 ? number_of_int(I64, i) : element_wrap(element, number_of_int(I64, i));
}

static enum style next_style(uint64_t *state) /* zeros are rare */
{
    unsigned choice = next(state) % 16;
    return choice == 0 ? ZEROS : (enum style)(choice % ZEROS);
}

static void fill(const struct oracle_array *array, size_t n, uint64_t *state)
{
    enum style style = SMALL;
    for (size_t i = 0; i < n; i++) {
        if (i % 400 == 0)
            style = next_style(state);
        element_store(array->element, array->data, (int64_t)i, value_of(array->element, next(state), style));
    }
}

/* ---- one run ---- */

#define MAX_PORTS 64

struct turn {
    struct oracle *o;
    const char *graph;
    const struct dfl_sig *sig;
    struct oracle_array ports[MAX_PORTS];
    unsigned waves, tokens[MAX_PORTS];
    size_t n[MAX_PORTS];           /* elements of all waves */
    void *expected[MAX_PORTS], *got[MAX_PORTS];
    struct number numbers[MAX_PORTS];
    struct scalar scalars[MAX_PORTS];
    int64_t dims[ORACLE_MAX_DIMS];
    char sizes[200];
};

static void *memory(size_t bytes)
{
    void *made = malloc(bytes + 1);
    if (!made)
        abort();
    memset(made, 0xa5, bytes);
    return made;
}

static bool prepare(struct turn *t, uint64_t seed)
{
    uint64_t state = seed;
    unsigned port = 0, number = 0;
    if (!oracle_shapes(t->o, t->sig, t->dims, t->ports))
        return false;
    for (const struct dfl_port *p = t->sig->ports; p; p = p->next, port++) {
        struct oracle_array *array = &t->ports[port];
        t->n[port] = t->waves;
        for (unsigned d = 0; d < array->rank; d++)
            t->n[port] *= (size_t)array->extents[d];
        t->expected[port] = array->data = memory(t->n[port] * element_bytes(array->element));
        t->got[port] = p->mode == DFL_IN ? t->expected[port] : NULL;
        if (p->mode == DFL_IN)
            fill(array, t->n[port], &state);
    }
    for (const struct dfl_scalar_decl *s = t->sig->scalars; s; s = s->next, number++) {
        static const enum element elements[] = { E_I32, E_I64, E_F32, E_F64 };
        t->numbers[number] = value_of(elements[s->type], next(&state), next_style(&state));
        t->scalars[number] = (struct scalar){ t->numbers[number].i, t->numbers[number].f };
    }
    return true;
}

static void release(struct turn *t)
{
    unsigned port = 0;
    for (const struct dfl_port *p = t->sig->ports; p; p = p->next, port++) {
        if (p->mode != DFL_IN)
            free(t->got[port]);
        free(t->expected[port]);
    }
}

static void print_number(struct number a)
{
    if (type_is_real(a.type))
        printf("%.17g (%a)", a.f, a.f);
    else
        printf("%" PRId64, a.i);
}

static void print_place(const struct turn *t, const struct dfl_port *port, const struct oracle_array *array, size_t at)
{
    int64_t index[DFL_MAX_RANK], rest = (int64_t)at;
    for (unsigned d = array->rank; d-- > 0; rest /= array->extents[d])
        index[d] = rest % array->extents[d];
    printf("%s", port->name.text);
    for (unsigned d = 0; d < array->rank; d++)
        printf("%s%" PRId64 "%s", d ? ", " : "[", index[d], d + 1 == array->rank ? "]" : "");
    if (t->waves > 1)
        printf(" of token %" PRId64, rest);
}

static bool is_same(struct number a, struct number b)
{
    if (!type_is_real(a.type))
        return a.i == b.i;
    return (isnan(a.f) && isnan(b.f)) || (a.f == b.f && signbit(a.f) == signbit(b.f));
}

/* Prints the first difference. Where a result has one token, the room of more is as it was in both. */
static bool is_same_as_expected(const struct turn *t, const char *way)
{
    unsigned port = 0;
    for (const struct dfl_port *p = t->sig->ports; p; p = p->next, port++) {
        const struct oracle_array *array = &t->ports[port];
        for (size_t i = 0; i < t->n[port] && p->mode != DFL_IN; i++) {
            struct number got = element_load(array->element, t->got[port], (int64_t)i);
            struct number expected = element_load(array->element, t->expected[port], (int64_t)i);
            if (is_same(got, expected))
                continue;
            printf("differs %s%s%s: ", t->graph, t->sizes, way);
            print_place(t, p, array, i);
            printf(" is ");
            print_number(got);
            printf(" and not ");
            print_number(expected);
            putchar('\n');
            return false;
        }
    }
    return true;
}

static void print_outputs(const struct turn *t)
{
    unsigned port = 0;
    for (const struct dfl_port *p = t->sig->ports; p; p = p->next, port++)
        for (size_t i = 0; i < t->n[port] / t->waves * t->tokens[port]; i++) {
            print_place(t, p, &t->ports[port], i);
            printf(" = ");
            print_number(element_load(t->ports[port].element, t->expected[port], (int64_t)i));
            putchar('\n');
        }
}

/* Room for what a way writes; what an earlier one wrote counts no more. If extents have bounds, it is the room of the largest. */
static bool make_room(struct turn *t, const struct call *way, void *session)
{
    unsigned port = 0;
    for (const struct dfl_port *p = t->sig->ports; p; p = p->next, port++) {
        size_t extents[4], n = t->waves;
        if (p->mode == DFL_IN)
            continue;
        if (way->shape(session, t->dims, port, extents) != 0)
            return false;
        for (unsigned d = 0; d < 4; d++)
            n *= extents[d];
        free(t->got[port]);
        t->got[port] = memory(n * element_bytes(t->ports[port].element));
    }
    return true;
}

/* ---- the ways of a graph ---- */

#define MAX_WAYS 4

struct session {                  /* of the graph that had a turn last */
    const struct call *ways[MAX_WAYS];
    void *handles[MAX_WAYS];
    unsigned n;
};

static void close_all(struct session *s)
{
    while (s->n > 0) {
        s->n--;
        s->ways[s->n]->close(s->handles[s->n]);
    }
}

static bool open_for(struct session *s, const char *graph, const char *options)
{
    if (s->n && strcmp(s->ways[0]->graph, graph) == 0)
        return true;
    close_all(s);
    for (unsigned c = 0; c < n_calls; c++) {
        if (strcmp(calls[c].graph, graph) != 0)
            continue;
        if (s->n == MAX_WAYS || calls[c].open(options, &s->handles[s->n]) != 0) {
            close_all(s);
            return false;
        }
        s->ways[s->n++] = &calls[c];
    }
    return s->n > 0 || n_calls == 0;
}

static void run_turn(struct turn *t, const struct session *s)
{
    if (!oracle_run(t->o, t->graph, t->waves, t->dims, t->numbers, t->expected, t->tokens)) {
        printf("fails %s%s: oracle: %s\n", t->graph, t->sizes, oracle_error(t->o));
        return;
    }
    for (unsigned w = 0; w < s->n; w++) {
        if (!make_room(t, s->ways[w], s->handles[w]) ||
            s->ways[w]->run(s->handles[w], t->waves, t->got, t->dims, t->scalars) != 0) {
            printf("fails %s%s%s: %s\n", t->graph, t->sizes, s->ways[w]->way, s->ways[w]->error());
            return;
        }
        if (!is_same_as_expected(t, s->ways[w]->way))
            return;
    }
    if (s->n)
        printf("same %s%s\n", t->graph, t->sizes);
    else
        print_outputs(t);
}

/* ---- the list ---- */

static void do_line(struct oracle *o, char *line, const char *options, struct session *session)
{
    const char *names[ORACLE_MAX_DIMS];
    struct turn t = { .o = o, .graph = strtok(line, " \n") };
    const char *seed = strtok(NULL, " \n"), *extent;
    t.sig = t.graph ? oracle_signature(o, t.graph) : NULL;
    if (!t.sig || !seed || t.sig->n_ports > MAX_PORTS || !open_for(session, t.graph, options)) {
        printf("fails %s: it cannot be opened\n", t.graph ? t.graph : "");
        return;
    }
    unsigned n_dims = oracle_dims(t.sig, names), d = 0;
    size_t said = (size_t)snprintf(t.sizes, sizeof t.sizes, " seed=%s", seed);
    for (; d < n_dims && (extent = strtok(NULL, " \n")); d++) {
        t.dims[d] = strtoll(extent, NULL, 10);
        said += (size_t)snprintf(t.sizes + said, sizeof t.sizes - said, " %s=%s", names[d], extent);
    }
    const char *waves = strtok(NULL, " \n");
    t.waves = waves ? (unsigned)strtoul(waves, NULL, 10) : 1;
    if (t.waves != 1)
        snprintf(t.sizes + said, sizeof t.sizes - said, " waves=%u", t.waves);
    if (d < n_dims || t.waves < 1 || !prepare(&t, strtoull(seed, NULL, 10))) {
        printf("fails %s%s: %s\n", t.graph, t.sizes, d < n_dims ? "an extent is missing" : t.waves < 1 ? "it has no waves" : oracle_error(o));
        return;
    }
    run_turn(&t, session);
    release(&t);
    fflush(stdout);
}

static char *read_all(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    if (file && getdelim(&text, n, '\0', file) >= 0)
        *n = strlen(text);
    else
        text = NULL;
    if (file)
        fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    size_t n = 0, room = 0;
    char *text = argc > 1 ? read_all(argv[1], &n) : NULL, *line = NULL;
    struct oracle *o = text ? oracle_open(argv[1], text, n) : NULL;
    struct session session = { 0 };
    if (!o) {
        fprintf(stderr, "compare FILE.df [OPTIONS] < LINES, with GRAPH SEED EXTENT... in each\n");
        return 2;
    }
    while (getline(&line, &room, stdin) > 0)
        do_line(o, line, argc > 2 ? argv[2] : "", &session);
    close_all(&session);
    oracle_close(o);
    free(line);
    free(text);
    return 0;
}
