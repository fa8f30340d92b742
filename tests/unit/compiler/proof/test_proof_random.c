/* test_proof_random.c - random reads over boxes: what is proved against brute force. Affine reads are decided exactly, for
 * sizes that are numbers and for sizes that are dimensions. Where `/`, `%`, `?:`, min, max or ranges that depend on each
 * other come in, no read that can be outside is accepted, and at most 2 % of those that cannot are refused. The counts
 * are printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formula_rig.h"

#define N_AFFINE 700
#define N_SYMBOLIC 300
#define N_RIGHT 800                     /* of the others, and as many wrong ones as come with them */
#define MOST_POINTS 30000
#define MOST_SIZE 200                   /* of dimensions by number, tried one by one where they are symbolic */

static struct formula_rig rig;
static uint64_t state_of_random;

static int64_t between(int64_t low, int64_t high)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return low + (int64_t)(state_of_random % (uint64_t)(high - low + 1));
}

#define N(value) node_number(&rig, value)
#define I(slot) node_index(&rig, slot)
#define OP(name, a, b) node_op(&rig, DFF_##name, a, b, NULL)

/* ---- a read, by brute force ---- */

struct job {                            /* o[y, x] = [sum(j in from..to if condition:] condition ? v[index] : 0 */
    unsigned rank;
    int64_t size[2];
    const struct dff_node *from, *to;   /* NULL: no sum */
    const struct dff_node *condition;   /* NULL: none */
    bool choose;                        /* the condition stands in ?:, not in the sum */
    const struct dff_node *index;
};

static int64_t value(const struct dff_node *n, const int64_t *slots)
{
    int64_t a, b;
    if (n->kind == DFF_CONST)
        return n->i;
    if (n->kind == DFF_INDEX)
        return slots[n->number];
    a = value(n->args[0], slots);
    if (n->op == DFF_CHOOSE)
        return value(n->args[a ? 1 : 2], slots);
    b = n->n_args > 1 ? value(n->args[1], slots) : 0;
    switch (n->op) {
    case DFF_ADD: return a + b;
    case DFF_SUB: return a - b;
    case DFF_MUL: return a * b;
    case DFF_DIV: return b ? a / b : 0;
    case DFF_MOD: return b ? a % b : 0;
    case DFF_MIN: return a < b ? a : b;
    case DFF_MAX: return a > b ? a : b;
    case DFF_ABS: return a < 0 ? -a : a;
    case DFF_LT: return a < b;
    case DFF_LE: return a <= b;
    case DFF_GT: return a > b;
    case DFF_GE: return a >= b;
    case DFF_EQ: return a == b;
    case DFF_NE: return a != b;
    case DFF_AND: return a && b;
    case DFF_OR: return a || b;
    case DFF_NOT: return !a;
    default: fail(); return 0;
    }
}

/* The least and the largest index that is read. false: none is. */
static bool extremes(const struct job *job, int64_t *least, int64_t *most)
{
    int64_t at[3] = { 0 };
    bool any = false;
    for (at[0] = 0; at[0] < job->size[0]; at[0]++)
        for (at[1] = 0; at[1] < (job->rank > 1 ? job->size[1] : 1); at[1]++) {
            const int64_t from = job->from ? value(job->from, at) : 0, to = job->from ? value(job->to, at) : 1;
            for (at[2] = from; at[2] < to; at[2]++) {
                if (job->condition && !value(job->condition, at))
                    continue;
                const int64_t index = value(job->index, at);
                *least = !any || index < *least ? index : *least;
                *most = !any || index > *most ? index : *most;
                any = true;
            }
        }
    return any;
}

static bool accepted(const struct job *job, int64_t extent)
{
    formula_port(&rig, "v", DF_U8, N(extent), NULL, DFF_NONE);
    formula_port(&rig, "o", DF_U8, N(job->size[0]), job->rank > 1 ? N(job->size[1]) : NULL, DFF_NONE);
    const struct dff_node *read = node_read(&rig, 0, job->index, NULL);
    if (job->condition && (job->choose || !job->from))
        read = node_op(&rig, DFF_CHOOSE, job->condition, read, N(0));
    if (job->from)
        read = node_sum(&rig, 2, "j", job->from, job->to, job->choose ? NULL : job->condition, read);
    formula_set(&rig, job->rank > 1 ? "yx" : "y", read);
    return formula_prove(&rig) != NULL;
}

/* ---- affine ---- */

static struct job box(int64_t most_size)
{
    struct job job = { .rank = (unsigned)between(1, 2), .size = { between(1, most_size), between(1, most_size) } };
    if (between(0, 2) == 0) {
        job.from = N(between(-8, 4));
        job.to = N(job.from->i + between(1, 9));
    }
    return job;
}

/* c * s, or a flip: c * (size - 1 - s) */
static const struct dff_node *term(const struct job *job, unsigned slot, int64_t c)
{
    const bool flip = slot < 2 && between(0, 2) == 0;
    const struct dff_node *s = flip ? OP(SUB, N(job->size[slot] - 1), I(slot)) : I(slot);
    return c == 1 ? s : OP(MUL, N(c), s);
}

static const struct dff_node *affine(const struct job *job, int64_t least_c)
{
    const struct dff_node *sum = N(between(-8, 8));
    for (unsigned slot = 0; slot < 3; slot++)
        if (slot < job->rank || (slot == 2 && job->from))
            sum = OP(ADD, sum, term(job, slot, between(least_c, 4)));
    return sum;
}

struct counts {
    unsigned right, wrong, refused_right, accepted_wrong;
};

static void count(struct counts *counts, bool right, bool was_accepted)
{
    counts->right += right;
    counts->wrong += !right;
    counts->refused_right += right && !was_accepted;
    counts->accepted_wrong += !right && was_accepted;
}

static void print_counts(const char *what, const struct counts *counts)
{
    print_message("%s: %u right reads, %u refused; %u wrong reads, %u accepted\n", what, counts->right,
                  counts->refused_right, counts->wrong, counts->accepted_wrong);
}

/* Corners are enough for an affine index; brute force over small boxes says so, too. */
static bool corners(const struct job *job, int64_t *least, int64_t *most)
{
    bool any = false;
    for (unsigned corner = 0; corner < 8; corner++) {
        const int64_t at[] = { corner & 1 ? job->size[0] - 1 : 0, corner & 2 && job->rank > 1 ? job->size[1] - 1 : 0,
                               !job->from ? 0 : corner & 4 ? job->to->i - 1 : job->from->i };
        const int64_t index = value(job->index, at);
        *least = !any || index < *least ? index : *least;
        *most = !any || index > *most ? index : *most;
        any = true;
    }
    return any;
}

static void affine_reads(void **state)
{
    struct counts counts = { 0 };
    (void)state;
    for (unsigned i = 0; i < N_AFFINE; i++) {
        formula_begin(&rig, "");
        struct job job = box(MOST_SIZE);
        int64_t least, most, least_point, most_point;
        job.index = affine(&job, between(0, 1) ? -4 : 0);
        corners(&job, &least, &most);
        if (job.size[0] * job.size[1] < 2000) {
            extremes(&job, &least_point, &most_point);
            assert_int_equal(least, least_point);
            assert_int_equal(most, most_point);
        }
        if (between(0, 3) && (least < 0 || least > 8)) {
            job.index = OP(SUB, job.index, N(least));
            most -= least;
            least = 0;
        }
        const int64_t extent = most + 1 + between(-2, 2);
        const bool right = least >= 0 && most < extent && extent > 0;
        count(&counts, right, accepted(&job, extent > 0 ? extent : 1) && extent > 0);
    }
    print_counts("affine", &counts);
    assert_true(counts.right >= N_AFFINE / 5 && counts.wrong >= N_AFFINE / 5);
    assert_int_equal(counts.refused_right, 0);
    assert_int_equal(counts.accepted_wrong, 0);
}

/* ---- affine, for all sizes ---- */

struct line {                           /* c[0] * h + c[1] * w + k */
    int64_t c[2], k;
};

static int64_t at_sizes(const struct line *line, int64_t h, int64_t w)
{
    return line->c[0] * h + line->c[1] * w + line->k;
}

static const struct dff_node *node_line(const struct line *line)
{
    const struct dff_node *sum = OP(MUL, N(line->c[0]), node_dim(&rig, 0));
    sum = OP(ADD, sum, OP(MUL, N(line->c[1]), node_dim(&rig, 1)));
    return OP(ADD, sum, N(line->k));
}

/* o[y, x] = v[a * y + b * x + first] for all h, w from 1 on for which all extents are. */
static bool right_for_all(const struct line *v, const struct line out[2], int64_t a, int64_t b, const struct line *first)
{
    for (int64_t h = 1; h <= MOST_SIZE; h++)
        for (int64_t w = 1; w <= MOST_SIZE; w++) {
            const int64_t extent = at_sizes(v, h, w), rows = at_sizes(&out[0], h, w), columns = at_sizes(&out[1], h, w);
            if (extent < 1 || rows < 1 || columns < 1)
                continue;
            const int64_t base = at_sizes(first, h, w), last_y = a * (rows - 1), last_x = b * (columns - 1);
            const int64_t least = base + (last_y < 0 ? last_y : 0) + (last_x < 0 ? last_x : 0);
            const int64_t most = base + (last_y > 0 ? last_y : 0) + (last_x > 0 ? last_x : 0);
            if (least < 0 || most >= extent)
                return false;
        }
    return true;
}

/* A read of a whole line: the port is as long as the index needs, or a little longer or shorter. */
static void symbolic_reads(void **state)
{
    struct counts counts = { 0 };
    (void)state;
    for (unsigned i = 0; i < N_SYMBOLIC; i++) {
        formula_begin(&rig, "hw");
        const int64_t a = between(-4, 4), b = between(-4, 4);
        const struct line out[] = { { { 1, between(0, 3) == 0 }, between(-3, 1) }, { { 0, 1 }, between(-3, 1) } };
        struct line first = { { 0, 0 }, between(-1, 4) }, v = { { 0, 0 }, between(-1, 6) };
        const int64_t by[] = { a, b };
        for (unsigned s = 0; s < 2; s++)
            for (unsigned d = 0; d < 3; d++) {
                int64_t *of_first = d < 2 ? &first.c[d] : &first.k, *of_v = d < 2 ? &v.c[d] : &v.k;
                const int64_t more = d < 2 ? out[s].c[d] : out[s].k - 1;
                *of_first -= by[s] < 0 ? by[s] * more : 0;
                *of_v += llabs(by[s]) * more;
            }
        if (between(0, 3) == 0)
            v.c[between(0, 1)] += between(-1, 1);
        v.k += first.k > 4 ? 4 : first.k;
        formula_port(&rig, "v", DF_U8, node_line(&v), NULL, DFF_NONE);
        formula_port(&rig, "o", DF_U8, node_line(&out[0]), node_line(&out[1]), DFF_NONE);
        const struct dff_node *index = OP(ADD, OP(ADD, OP(MUL, N(a), I(0)), OP(MUL, N(b), I(1))), node_line(&first));
        formula_set(&rig, "yx", node_read(&rig, 0, index, NULL));
        count(&counts, right_for_all(&v, out, a, b, &first), formula_prove(&rig) != NULL);
    }
    print_counts("affine, for all sizes", &counts);
    assert_true(counts.right >= N_SYMBOLIC / 5 && counts.wrong >= N_SYMBOLIC / 5);
    assert_int_equal(counts.refused_right, 0);
    assert_int_equal(counts.accepted_wrong, 0);
}

/* ---- others ---- */

static const struct dff_node *condition(const struct job *job, unsigned depth)
{
    static const enum dff_op compare[] = { DFF_LT, DFF_LE, DFF_GT, DFF_GE, DFF_EQ, DFF_NE };
    const int64_t kind = between(0, depth ? 8 : 5);
    if (kind == 8)
        return OP(NOT, condition(job, depth - 1), NULL);
    if (kind > 5)
        return node_op(&rig, kind == 6 ? DFF_AND : DFF_OR, condition(job, depth - 1), condition(job, depth - 1), NULL);
    const struct dff_node *a = affine(job, -4);
    if (between(0, 3) == 0)             /* a parity */
        return node_op(&rig, DFF_EQ, OP(MOD, I(0), N(between(2, 4))), N(between(0, 1)), NULL);
    return node_op(&rig, compare[kind], a, between(0, 1) ? N(between(-8, 80)) : affine(job, 0), NULL);
}

static const struct dff_node *other(const struct job *job, unsigned depth)
{
    const struct dff_node *a = depth ? other(job, depth - 1) : affine(job, between(0, 2) ? 0 : -4);
    if (!depth)
        return a;
    switch (between(0, 6)) {
    case 0: case 1: return OP(DIV, a, N(between(2, 8)));
    case 2: return OP(MOD, a, N(between(2, 8)));
    case 3: return OP(ADD, a, OP(MOD, affine(job, 0), N(between(2, 8))));
    case 4: return node_op(&rig, DFF_CHOOSE, condition(job, 1), a, affine(job, 0));
    case 5: return node_op(&rig, between(0, 1) ? DFF_MIN : DFF_MAX, a, affine(job, 0), NULL);
    default: return node_op(&rig, DFF_CHOOSE, condition(job, 1), a, other(job, depth - 1));
    }
}

/* The range's ends hold indices. */
static void depend(struct job *job)
{
    const struct dff_node *y = I(0), *last = N(job->size[0]);
    job->from = NULL;                   /* so that affine() has no slot 2 */
    switch (between(0, 3)) {
    case 0: job->to = OP(ADD, y, N(between(0, 3))); job->from = N(between(-2, 0)); break;
    case 1: job->to = last; job->from = y; break;
    case 2: job->to = OP(ADD, OP(DIV, y, N(2)), N(1)); job->from = N(0); break;
    default: job->to = OP(MIN, OP(ADD, y, N(3)), last); job->from = OP(MAX, OP(SUB, y, N(2)), N(0));
    }
}

static bool one_other(struct counts *counts)
{
    formula_begin(&rig, "");
    struct job job = box(between(0, 3) ? 40 : MOST_SIZE);
    int64_t least, most;
    while (job.size[0] * (job.rank > 1 ? job.size[1] : 1) * 9 > MOST_POINTS)
        job.size[between(0, 1)] = between(1, 40);
    const int64_t kind = between(0, 3);
    if (kind == 0 && job.size[0] * job.size[0] * (job.rank > 1 ? job.size[1] : 1) < MOST_POINTS)
        depend(&job);
    job.index = kind == 1 || kind == 0 ? affine(&job, -4) : other(&job, (unsigned)between(1, 2));
    if (kind == 1 || between(0, 2) == 0)
        job.condition = condition(&job, 2);
    job.choose = between(0, 1);
    if (!extremes(&job, &least, &most))
        return false;
    const int64_t shift = between(0, 7) ? least - (between(0, 1) ? 0 : between(0, 8)) : between(-8, 8);
    job.index = OP(SUB, job.index, N(shift));
    const int64_t extent = most - shift + 1 + (between(0, 3) ? between(0, 3) : -1);
    if (extent < 1)
        return false;
    const bool right = least >= shift && most - shift < extent;
    count(counts, right, accepted(&job, extent));
    return true;
}

static void other_reads(void **state)
{
    struct counts counts = { 0 };
    (void)state;
    const char *given = getenv("DF_RANDOM_READS");      /* for a longer run */
    const unsigned n = given ? (unsigned)atoi(given) : N_RIGHT;
    while (counts.right < n)
        one_other(&counts);
    print_counts("with /, %, ?:, min, max, if, or ranges that depend", &counts);
    assert_true(counts.wrong >= n / 5);
    assert_int_equal(counts.accepted_wrong, 0);
    assert_true(counts.refused_right * 50 <= counts.right);
}

static int seed(void **state)
{
    (void)state;
    state_of_random = 0x9e3779b97f4a7c15u;
    return 0;
}

static int close_rig(void **state)
{
    (void)state;
    formula_close(&rig);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(affine_reads, seed), cmocka_unit_test_setup(symbolic_reads, seed),
        cmocka_unit_test_setup(other_reads, seed),
    };
    return cmocka_run_group_tests(tests, NULL, close_rig);
}
