/* launch.c - checks the launch configuration of a bare __global__ function, `gpu "file.cu": f<<<grid, block>>>(…)`, or of a kernel of OpenCL in a .cl file, for
 * declare/check_kernel.c and elab/to_builder.c, and prints it for compiler/emit.
 *
 * Extents:  2 expressions are grid and block; 4 are x and y of each; 6 are x, y and z of each. One further expression
 *           is the size of dynamic shared memory in bytes. The stream is the job's own.
 * Names:    the expressions may use dimensions and integer scalars of the kernel, and params. What does not depend on
 *           scalars is checked for each use at compile time; the generated launcher checks the rest when a job is
 *           launched (emit/emit_launch.c).
 * Limits:   those that every GPU supported by CUDA 12 and later has.
 */
#include "compiler/types/launch.h"
#include "compiler/types/argument.h"
#include "compiler/types/paths.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    const char *name;
    int64_t least, most;
} limits[] = {
    [DFC_GRID_X] = { "grid x", 1, 2147483647 }, [DFC_GRID_Y] = { "grid y", 1, 65535 },
    [DFC_GRID_Z] = { "grid z", 1, 65535 },      [DFC_BLOCK_X] = { "block x", 1, DFC_MAX_BLOCK },
    [DFC_BLOCK_Y] = { "block y", 1, 1024 },     [DFC_BLOCK_Z] = { "block z", 1, 64 },
    [DFC_SHARED] = { "dynamic shared memory", 0, 1 << 20 },
};

static unsigned count(const struct dfl_expr *list)
{
    unsigned n = 0;
    for (; list; list = list->next)
        n++;
    return n;
}

enum dfc_extent dfc_launch_extent(unsigned n, unsigned i)
{
    unsigned rank = n / 2;
    return i == 2 * rank ? DFC_SHARED : i < rank ? (enum dfc_extent)i : (enum dfc_extent)(DFC_BLOCK_X + i - rank);
}

const char *dfc_launch_limit(enum dfc_extent extent, int64_t *least, int64_t *most)
{
    *least = limits[extent].least;
    *most = limits[extent].most;
    return limits[extent].name;
}

/* ---- values ---- */

static bool check_extents(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_variant *variant)
{
    unsigned n = count(variant->launch), i = 0;
    int64_t threads = 1, value;
    bool all = true, known;
    for (const struct dfl_expr *e = variant->launch; e; e = e->next, i++) {
        enum dfc_extent extent = dfc_launch_extent(n, i);
        if (!dfc_fold_int(u, names, e, &value, &known))
            return false;
        if (known && (value < limits[extent].least || value > limits[extent].most)) {
            dfl_error(u->sink, e->loc, "%s is %" PRId64 ": it must be from %" PRId64 " to %" PRId64,
                      limits[extent].name, value, limits[extent].least, limits[extent].most);
            return false;
        }
        if (extent < DFC_BLOCK_X || extent == DFC_SHARED)
            continue;
        all &= known;
        threads *= known ? value : 1;
    }
    if (all && threads > DFC_MAX_BLOCK) {
        dfl_error(u->sink, variant->launch_loc, "a block has at most %d threads, but this one has %" PRId64,
                  DFC_MAX_BLOCK, threads);
        return false;
    }
    return true;
}

bool dfc_launch_check_use(struct dfc_unit *u, const struct dfl_stmt *stmt, const struct dfc_callee *callee,
                          const uint64_t *dims)
{
    const struct dfc_names names = { .use = DFC_USE_LAUNCH, .callee = callee, .dims = dims };
    if ((!callee->launch[0] || check_extents(u, &names, callee->launch[0])) && (!callee->launch[1] || check_extents(u, &names, callee->launch[1])))
        return true;
    dfl_note(u->sink, stmt->call_loc, "in this use of '%s'", callee->name);
    return false;
}

/* ---- the declaration ---- */

static bool check_file(struct dfc_unit *u, const struct dfl_variant *variant, bool gpu)
{
    const char *dot = strrchr(variant->path, '.');
    if (!gpu) {
        dfl_error(u->sink, variant->launch_loc, "a cpu variant is called, not launched: '<<< >>>' is for gpu variants");
        return false;
    }
    if (dot && (strcmp(dot, ".cu") == 0 || strcmp(dot, ".cl") == 0))
        return true;
    dfl_error(u->sink, variant->path_loc, "'%s' is neither CUDA nor OpenCL source: '<<< >>>' launches functions of a .cu or .cl file",
              variant->path);
    return false;
}

static bool check_count(struct dfc_unit *u, const struct dfl_variant *variant)
{
    unsigned n = count(variant->launch);
    for (const struct dfl_expr *e = variant->launch; e; e = e->next)
        if (e->kind == DFL_EXPR_NAME && strcmp(e->s, "stream") == 0) {
            dfl_error(u->sink, e->loc, "a launch is always on the stream of its job: leave 'stream' out");
            return false;
        }
    if (n >= 2 && n <= 7)
        return true;
    dfl_error(u->sink, variant->launch_loc, "a launch has a grid and a block, but this one has %u value%s", n,
              n == 1 ? "" : "s");
    dfl_hint(u->sink, "write '<<<grid, block>>>', for two dimensions '<<<grid_x, grid_y, block_x, block_y>>>', for "
                      "three likewise; one more value is the bytes of shared memory");
    return false;
}

static const char *what_is_launched(const struct dfl_variant *variant)
{
    return dfc_code_kind_of(variant->path) == DFC_CODE_OPENCL ? "kernel of OpenCL" : "__global__ function";
}

static bool check_device_argument(struct dfc_unit *u, const struct dfc_callee *callee, const struct dfl_variant *variant, const char *name,
                                  struct dfl_loc loc)
{
    if (strcmp(name, "call") == 0 || strcmp(name, "stream") == 0) {
        dfl_error(u->sink, loc, "'%s' exists on the host only: a %s cannot be given it", name, what_is_launched(variant));
        return false;
    }
    for (unsigned i = 0; i < callee->sig.n_scalars; i++)
        if (strcmp(callee->sig.scalars[i]->name.text, name) == 0 && callee->sig.scalars[i]->type == DFL_STRING) {
            dfl_error(u->sink, loc, "string '%s' is in the host's memory: a %s cannot be given it",
                      name, what_is_launched(variant));
            return false;
        }
    return true;
}

static bool check_arguments(struct dfc_unit *u, const struct dfc_callee *callee, const struct dfl_variant *variant)
{
    bool ok = true;
    for (const struct dfl_expr *arg = variant->args; arg; arg = arg->next)
        if (dfc_argument_is_name(&callee->sig, arg)) {
            ok &= check_device_argument(u, callee, variant, arg->s, arg->loc);
        } else if (arg->kind == DFL_EXPR_STR) {
            dfl_error(u->sink, arg->loc, "a string is in the host's memory: a %s cannot be given it", what_is_launched(variant));
            ok = false;
        }
    for (unsigned i = 0; !variant->has_args && i < callee->sig.n_scalars; i++)
        ok &= check_device_argument(u, callee, variant, callee->sig.scalars[i]->name.text, variant->target.loc);
    return ok;
}

bool dfc_launch_check(struct dfc_unit *u, struct dfc_callee *callee, const struct dfl_variant *variant, bool gpu)
{
    const struct dfc_names names = { .use = DFC_USE_LAUNCH, .callee = callee };
    if (!variant->has_launch)
        return true;
    if (!check_file(u, variant, gpu) || !check_count(u, variant) || !check_arguments(u, callee, variant) ||
        !check_extents(u, &names, variant))
        return false;
    callee->launch[dfc_code_kind_of(variant->path) == DFC_CODE_OPENCL] = variant;
    return true;
}

/* ---- as C++ ---- */

static const char *operator_text(enum dfl_op op)
{
    static const char *const texts[] = {
        [DFL_OP_NEG] = "-",   [DFL_OP_NOT] = "!",  [DFL_OP_MUL] = " * ",  [DFL_OP_DIV] = " / ", [DFL_OP_MOD] = " % ",
        [DFL_OP_ADD] = " + ", [DFL_OP_SUB] = " - ", [DFL_OP_LT] = " < ",  [DFL_OP_LE] = " <= ", [DFL_OP_GT] = " > ",
        [DFL_OP_GE] = " >= ", [DFL_OP_EQ] = " == ", [DFL_OP_NE] = " != ", [DFL_OP_AND] = " && ", [DFL_OP_OR] = " || ",
    };
    return texts[op];
}

/* Prints an expression that has been checked: a part that is known is a number, the others are made of names of the
 * signature. */
static void print(FILE *out, struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e)
{
    int64_t value;
    bool known;
    if (dfc_fold_int(u, names, e, &value, &known) && known) {
        fprintf(out, "df_generated::number(%" PRId64 "LL)", value);
        return;
    }
    switch (e->kind) {
    case DFL_EXPR_NAME:
        fprintf(out, "df_generated::number((long long)%s)", e->s);
        break;
    case DFL_EXPR_UNARY:
        fputs(operator_text(e->op), out);
        print(out, u, names, e->a);
        break;
    case DFL_EXPR_BINARY:
        fputc('(', out);
        print(out, u, names, e->a);
        fputs(operator_text(e->op), out);
        print(out, u, names, e->b);
        fputc(')', out);
        break;
    case DFL_EXPR_CALL:
        for (const struct dfl_expr *arg = e->args; arg->next; arg = arg->next)
            fprintf(out, "df_generated::%s(", strcmp(e->s, "min") == 0 ? "least" : "most");
        for (const struct dfl_expr *arg = e->args; arg; arg = arg->next) {
            print(out, u, names, arg);
            fputs(arg == e->args ? "" : ")", out);
            fputs(arg->next ? ", " : "", out);
        }
        break;
    default: /* literals are known */
        break;
    }
}

unsigned dfc_launch_print(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                          const struct dfl_variant *variant)
{
    const struct dfc_names names = { .use = DFC_USE_LAUNCH, .callee = dfc_callee_of(front, code) };
    for (const struct dfl_expr *e = variant->launch; e; e = e->next) {
        print(out, front->owner, &names, e);
        fputs(e->next ? ", " : "", out);
    }
    return count(variant->launch);
}
