/* check_kernel.c - checks the parts of a kernel declaration that follow its signature: traits, variants and costs.
 * decl.c calls it for every kernel, used or not; but formulas that come with dfc are checked by check_graph.c when a graph calls the kernel.
 * During elaboration elab/to_builder.c checks each cost with it.
 */
#include <float.h>
#include <string.h>
#include <strings.h>

#include "compiler/declare/declare.h"
#include "compiler/proof/proof.h"
#include "compiler/types/argument.h"
#include "compiler/types/launch.h"
#include "compiler/types/paths.h"
#include "runtime/graph/builder.h"
#include "runtime/graph/platform.h"

/* ---- traits ---- */

static struct dfl_loc trait_loc(const struct dfl_kernel *kernel, unsigned trait)
{
    return kernel->trait_loc[__builtin_ctz(trait)];
}

/* A job with an input of no elements runs on the host, and gives none on. */
static bool check_zero_extents(struct dfc_unit *u, const struct dfc_callee *callee, uint32_t classes)
{
    const struct dfl_kernel *kernel = callee->kernel;
    const char *why = callee->sig.n_out ? "has outputs" : kernel->traits & DFL_ONCE ? "is 'once'" : classes != 1u << DF_CLASS_CPU ? "has a variant that is not cpu" : NULL;
    if (!(kernel->traits & DFL_ZERO_EXTENTS) || kernel->has_formulas || !classes || !why)
        return true;
    dfl_error(u->sink, trait_loc(kernel, DFL_ZERO_EXTENTS), "kernel '%s' is 'zero_extents' and %s", callee->name, why);
    dfl_hint(u->sink, callee->sig.n_out ? "leave it out: a kernel with outputs is left out if an extent of its inputs is 0, and its outputs are empty"
                      : kernel->traits & DFL_ONCE ? "leave it out: what fires once reads no token with an extent of 0"
                                                  : "a sink with cpu code alone can be called for tokens without elements");
    return false;
}

static bool check_traits(struct dfc_unit *u, const struct dfc_callee *callee)
{
    const struct dfl_kernel *kernel = callee->kernel;
    bool ok = true;
    if ((kernel->traits & DFL_STREAM) && callee->sig.n_in) {
        dfl_error(u->sink, trait_loc(kernel, DFL_STREAM), "kernel '%s' is a 'stream' and has inputs", callee->name);
        dfl_hint(u->sink, "a stream is a source: what it gives depends on no other kernel");
        ok = false;
    }
    if ((kernel->traits & DFL_STREAM) && (kernel->traits & DFL_ONCE)) {
        dfl_error(u->sink, trait_loc(kernel, DFL_ONCE), "kernel '%s' is both 'stream' and 'once'", callee->name);
        ok = false;
    }
    if ((kernel->traits & DFL_RESTART) && callee->sig.n_in && !kernel->has_formulas) { /* formulas take no 'restart' at all */
        dfl_error(u->sink, trait_loc(kernel, DFL_RESTART), "kernel '%s' is 'restart' and has inputs", callee->name);
        dfl_hint(u->sink, "leave it out: a source has it. What reads that source is called again without it, unless it is 'ordered' or has an acc");
        ok = false;
    }
    if ((kernel->traits & DFL_RESTART) && (kernel->traits & DFL_ONCE)) {
        dfl_error(u->sink, trait_loc(kernel, DFL_RESTART), "kernel '%s' is both 'restart' and 'once'", callee->name);
        dfl_hint(u->sink, "what fires once is there in all passes, and is not called again");
        ok = false;
    }
    if ((kernel->traits & DFL_RESUME) && !(kernel->traits & (DFL_STREAM | DFL_ORDERED)) && !kernel->has_formulas) {
        dfl_error(u->sink, trait_loc(kernel, DFL_RESUME), "kernel '%s' is 'resume', and neither 'stream' nor 'ordered'", callee->name);
        dfl_hint(u->sink, "leave it out: a kernel that keeps nothing from wave to wave can begin at any wave");
        ok = false;
    }
    uint32_t classes = callee->code_classes | callee->cost_classes;
    ok &= check_zero_extents(u, callee, classes);
    if ((kernel->traits & DFL_SYNC) && !(classes & 1u << DF_CLASS_GPU))
        dfl_warning(u->sink, trait_loc(kernel, DFL_SYNC), "'sync' has no effect: kernel '%s' has no gpu variant",
                    callee->name);
    if ((kernel->traits & DFL_THREADS) && !(classes & 1u << DF_CLASS_CPU))
        dfl_warning(u->sink, trait_loc(kernel, DFL_THREADS), "'threads' has no effect: kernel '%s' has no cpu variant",
                    callee->name);
    return ok;
}

static bool check_threads(struct dfc_unit *u, const struct dfc_callee *callee)
{
    const struct dfc_names names = { .use = DFC_USE_THREADS, .callee = callee };
    const struct dfl_expr *e = callee->kernel->threads;
    int64_t n;
    bool known;
    if (!e)
        return true;
    if (!dfc_fold_int(u, &names, e, &n, &known))
        return false;
    if (known && n < 1) {
        dfl_error(u->sink, e->loc, "a kernel needs at least one thread, but this is %lld", (long long)n);
        return false;
    }
    return true;
}

/* One number of `tolerance(relative, absolute)`. Dimensions have no value here, because the tolerance is the kernel's
 * and not a node's. */
static bool check_bound(struct dfc_unit *u, const struct dfl_expr *e, double *bound)
{
    const struct dfc_names names = { .use = DFC_USE_TOLERANCE };
    struct dfc_value value;
    if (!dfc_fold(u, &names, e, &value))
        return false;
    if (value.n.kind == DF_KIND_STR) {
        dfl_error(u->sink, e->loc, "a tolerance must be a number");
        return false;
    }
    *bound = value.n.kind == DF_KIND_I64 ? (double)value.n.i : value.n.f;
    if (!value.known || (*bound >= 0 && *bound <= DBL_MAX))
        return true;
    dfl_error(u->sink, e->loc, "a tolerance must be 0 or more, but this is %g", *bound);
    return false;
}

static bool check_tolerance(struct dfc_unit *u, struct dfc_callee *callee)
{
    const struct dfl_kernel *kernel = callee->kernel;
    const struct dfl_expr *relative = kernel->tolerance, *absolute = relative ? relative->next : NULL;
    const uint32_t both = 1u << DF_CLASS_CPU | 1u << DF_CLASS_GPU;
    struct df_tolerance *t = &callee->tolerance;
    if (!relative)
        return true;
    if (absolute && absolute->next) {
        dfl_error(u->sink, absolute->next->loc, "a tolerance has at most two numbers");
        dfl_hint(u->sink, "write 'tolerance(relative)' or 'tolerance(relative, absolute)'");
        return false;
    }
    if (callee->code_classes && (callee->code_classes & both) != both)
        dfl_warning(u->sink, trait_loc(kernel, DFL_TOLERANCE),
                    "'tolerance' has no effect: kernel '%s' has no %s variant to compare", callee->name,
                    callee->code_classes & 1u << DF_CLASS_CPU ? "gpu" : "cpu");
    t->given = DF_RELATIVE | (absolute ? DF_ABSOLUTE : 0);
    return check_bound(u, relative, &t->relative) && (!absolute || check_bound(u, absolute, &t->absolute));
}

static bool check_uses(struct dfc_unit *u, struct dfc_callee *callee)
{
    bool ok = true;
    for (const struct dfl_expr *e = callee->kernel->uses; e; e = e->next) {
        uint32_t id;
        if (e->kind != DFL_EXPR_NAME) {
            dfl_error(u->sink, e->loc, "'uses' takes names of resources");
            dfl_hint(u->sink, "how many jobs may use one at a time is in its declaration: 'resource hdf5 = 1;'");
        } else if (!dfc_index_find(&u->resources, e->s, &id)) {
            dfl_error(u->sink, e->loc, "unknown resource '%s'", e->s);
            if (!dfc_hint_name(u, e->s, dfc_index_names(&u->resources), u->resource_items.n))
                dfl_hint(u->sink, "declare it: 'resource %s = 1;'", e->s);
        } else if (id < DF_MAX_RESOURCES && callee->uses >> id & 1) {
            dfl_error(u->sink, e->loc, "kernel '%s' uses '%s' twice", callee->name, e->s);
        } else if (id < DF_MAX_RESOURCES) { /* else there are too many, which was reported */
            callee->uses |= UINT64_C(1) << id;
            continue;
        }
        ok = false;
    }
    return ok;
}

/* ---- variants ---- */

static void hint_argument(struct dfc_unit *u, const struct dfc_sig *sig, const char *name)
{
    struct dfr_array list = { 0 };
    const char **item;
    for (unsigned i = 0; i < sig->n_ports; i++)
        if ((item = dfr_array_add(&list, sizeof *item, 1)))
            *item = sig->ports[i].ast->name.text;
    for (unsigned i = 0; i < sig->n_variables; i++)
        if ((item = dfr_array_add(&list, sizeof *item, 1)))
            *item = sig->variables[i].name.text;
    for (unsigned i = 0; i < sig->n_scalars; i++)
        if ((item = dfr_array_add(&list, sizeof *item, 1)))
            *item = sig->scalars[i]->name.text;
    const char *close = list.n ? dfl_suggest(name, list.items, list.n) : NULL;
    if (close)
        dfl_hint(u->sink, "did you mean '%s'?", close);
    else
        dfl_hint(u->sink, "a function may be given ports, dimensions, scalars, 'call' and, in a gpu variant, 'stream'");
    dfr_array_free(&list);
}

/* The arguments with which an existing function is called: names of the signature, or expressions. */
static bool check_target(struct dfc_unit *u, const struct dfc_callee *callee, const struct dfl_variant *variant,
                         bool gpu)
{
    bool ok = true;
    uint32_t param;
    for (const struct dfl_expr *arg = variant->args; arg; arg = arg->next) {
        bool name = dfc_argument_is_name(&callee->sig, arg);
        if (name && (gpu || strcmp(arg->s, "stream") != 0))
            continue;
        if (name) {
            dfl_error(u->sink, arg->loc, "a cpu variant has no 'stream'");
        } else if (arg->kind != DFL_EXPR_NAME || dfc_index_find(&u->params, arg->s, &param)) {
            ok &= dfc_argument_check(u, callee, arg);
            continue;
        } else {
            dfl_error(u->sink, arg->loc, "'%s' is not a port, dimension or scalar of kernel '%s'", arg->s,
                      callee->name);
            hint_argument(u, &callee->sig, arg->s);
        }
        ok = false;
    }
    return ok;
}

/* What is written after '->': that the function's value is no status. */
static bool check_result(struct dfc_unit *u, const struct dfl_variant *variant)
{
    const struct dfl_name *result = &variant->result;
    if (!result->text)
        return true;
    if (strcmp(result->text, "void") != 0) {
        dfl_error(u->sink, result->loc, "only 'void' can follow '->', but this is '%s'", result->text);
        dfl_hint(u->sink, "'-> void' says that the value of '%s' is no status; without it, an int is the status",
                 variant->target.text);
        return false;
    }
    if (variant->has_launch) {
        dfl_error(u->sink, result->loc, "a __global__ function gives no value, so '-> void' says nothing");
        return false;
    }
    return true;
}

/* What the function decides has no value before it is called. */
static bool check_decides(struct dfc_unit *u, const struct dfc_callee *callee, const struct dfl_variant *variant)
{
    bool *decides = dfc_alloc(u, (callee->sig.n_variables + 1) * sizeof *decides), any = false;
    if (!decides)
        return false;
    for (unsigned v = 0; v < callee->sig.n_variables; v++)
        any |= decides[v] = callee->sig.variables[v].bound != NULL;
    if (any && variant->has_launch) {
        dfl_error(u->sink, variant->launch_loc, "'%s' decides an extent in each wave, which a __global__ function cannot: "
                  "its host code does", callee->name);
        dfl_hint(u->sink, "write host code that decides, and launches: 'gpu \"%s.cu\"'", callee->name);
        return false;
    }
    for (const struct dfl_expr *arg = any ? variant->args : NULL; arg; arg = arg->next)
        if (arg->kind != DFL_EXPR_NAME && dfc_extent_is_bounded(&callee->sig, arg, decides)) {
            dfl_error(u->sink, arg->loc, "an extent that '%s' decides has no value here: alone, its name is a pointer",
                      callee->name);
            return false;
        }
    return true;
}

/* The class may be what other systems call the cpu or the gpu, or a word misspelt. */
static void hint_class(struct dfc_unit *u, const char *cls)
{
    static const char *const others[][2] = {
        { "host", "cpu" }, { "c", "cpu" },    { "cpp", "cpu" },    { "cpu", "cpu" },
        { "gpu", "gpu" },  { "cuda", "gpu" }, { "device", "gpu" }, { "cu", "gpu" },
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcasecmp(others[i][0], cls) == 0) {
            dfl_hint(u->sink, "did you mean '%s'?", others[i][1]);
            return;
        }
    static const char *const words[] = { "cpu", "gpu", "flags" };
    dfc_hint_name(u, cls, words, sizeof words / sizeof words[0]);
}

/* Only a .cl file's kernels are launched as they are, and no other file of a variant is one. */
static bool check_opencl(struct dfc_unit *u, const struct dfl_variant *variant, bool gpu, bool opencl)
{
    struct dfl_loc loc;
    const char *file;
    enum dfc_code_kind kind;
    for (unsigned i = 0; (file = dfc_variant_file(variant, i, &loc)); i++)
        if (dfc_code_kind(file, &kind) && (!gpu || i > 0) && (opencl || kind == DFC_CODE_OPENCL)) {
            dfl_error(u->sink, loc, gpu ? "a .cl file is the only file of its variant" : "'%s' is OpenCL source, which no cpu variant is in", file);
            return false;
        }
    if (!opencl || (variant->has_launch && !variant->code && !variant->open.text && !variant->close.text))
        return true;
    dfl_error(u->sink, variant->path_loc, "'%s' has kernels and no host code: this variant says which is launched, and nothing else", variant->path);
    dfl_hint(u->sink, "write 'gpu \"%s\": f<<<grid, block>>>(…)'", variant->path);
    return false;
}

static bool check_variant(struct dfc_unit *u, struct dfc_callee *callee, const struct dfl_variant *variant,
                          struct dfc_kernel_code *code, const char *dir)
{
    const char *cls = variant->cls.text;
    bool gpu = strcmp(cls, "gpu") == 0;
    if (!gpu && strcmp(cls, "cpu") != 0) {
        dfl_error(u->sink, variant->cls.loc,
                  "class '%s' cannot have code: only cpu and gpu can; other classes have costs only", cls);
        hint_class(u, cls);
        return false;
    }
    enum dfc_code_kind kind = DFC_CODE_C;
    bool opencl = gpu && variant->path && dfc_code_kind(variant->path, &kind) && kind == DFC_CODE_OPENCL;
    const struct dfl_variant **slot = opencl ? &code->opencl : gpu ? &code->gpu : &code->cpu;
    if (*slot) {
        dfl_error(u->sink, variant->cls.loc, "kernel '%s' has two %s variants%s", callee->name, cls, opencl ? " in .cl files" : "");
        dfl_note(u->sink, (*slot)->cls.loc, "the first is here");
        return false;
    }
    *slot = variant;
    callee->code_classes = (callee->code_classes & ~(gpu ? u->opencl_classes : 0)) | 1u << (gpu ? DF_CLASS_GPU : DF_CLASS_CPU);
    if (code->opencl)
        callee->code_classes |= u->opencl_classes;
    const bool further = gpu && (opencl ? code->gpu : code->opencl);
    uint64_t hash = 0, *all = &callee->code_hash[gpu];
    bool ok = dfc_code_check(u, variant, dir, &hash) && check_opencl(u, variant, gpu, opencl);
    *all = !further ? hash : hash && *all ? dfr_hash(*all, &hash, sizeof hash) | 1 : 0;
    ok &= check_target(u, callee, variant, gpu);
    ok &= check_result(u, variant);
    ok &= check_decides(u, callee, variant);
    ok &= dfc_state_check(u, callee, variant);
    return dfc_launch_check(u, callee, variant, gpu) && ok;
}

/* ---- formulas ---- */

/* A formula says what one wave's elements are, so there is nothing to put in order, to wait for or to divide by hand. */
static bool check_formula_traits(struct dfc_unit *u, const struct dfc_callee *callee)
{
    const struct dfl_kernel *kernel = callee->kernel;
    const unsigned wrong = kernel->traits & ~(DFL_ONCE | (kernel->variants ? DFL_TOLERANCE : 0u));
    bool ok = true;
    for (unsigned t = 0; t < DFL_N_TRAITS; t++) {
        if (!(wrong >> t & 1))
            continue;
        dfl_error(u->sink, kernel->trait_loc[t], "'%s' is no trait of a kernel with formulas%s", dfl_trait_words[t], t == DFL_TRAIT_TOLERANCE ? " alone" : "");
        if (t == DFL_TRAIT_TOLERANCE)
            dfl_hint(u->sink, "cpu and gpu give the same bits; a variant that is written may differ from them");
        else
            dfl_hint(u->sink, "it takes 'once', and 'tolerance' if it has a variant that is written");
        ok = false;
    }
    return ok;
}

bool dfc_formulas_check(struct dfc_unit *u, struct dfc_callee *callee)
{
    struct dfc_kernel_code *code = &((struct dfc_kernel_code *)u->kernels.items)[callee->id];
    if (!check_formula_traits(u, callee) || !callee->ready || !(callee->formula = dff_check(u, callee)) ||
        !(callee->proof = dff_prove(u, callee->formula)))
        return false;
    code->formula = callee->formula;
    for (unsigned on = 0; on < 2; on++) /* that of a variant that is written may be known already */
        if (!callee->code_hash[on])
            callee->code_hash[on] = dff_hash(callee->formula);
    return true;
}

/* ---- costs ---- */

bool dfc_cost_check(struct dfc_unit *u, const struct dfl_expr *expr, double seconds)
{
    if (seconds >= 0 && seconds < DF_LIMIT_JOB_S)
        return true;
    if (seconds >= DF_LIMIT_JOB_S)
        dfl_error(u->sink, expr->loc, "a cost must be less than %g s, but this is %g s", DF_LIMIT_JOB_S, seconds);
    else
        dfl_error(u->sink, expr->loc, "a cost must be a time of 0 or more, but this is %g s", seconds);
    return false;
}

static bool check_price(struct dfc_unit *u, struct dfc_callee *callee, const struct dfl_price *price)
{
    const struct dfc_names names = { .use = DFC_USE_COST, .callee = callee };
    struct dfc_value value;
    struct df_error error;
    uint32_t cls, same;
    bool fresh;
    if (df_builder_class(u->builder, price->cls.text, &cls, &error) != DF_OK) {
        dfl_error(u->sink, price->cls.loc, "%s", error.text);
        return false;
    }
    if (!dfc_index_add(&u->classes, price->cls.text, &same, &fresh))
        return dfc_no_memory(u);
    if (callee->cost[cls]) {
        dfl_error(u->sink, price->loc, "kernel '%s' has two costs on %s", callee->name, price->cls.text);
        dfl_note(u->sink, callee->cost[cls]->loc, "the first is here");
        return false;
    }
    callee->cost[cls] = price->expr;
    callee->cost_classes |= 1u << cls;
    if (!dfc_fold(u, &names, price->expr, &value))
        return false;
    if (value.seconds != 1) {
        dfl_error(u->sink, price->expr->loc, "a cost needs a unit of time");
        dfl_hint(u->sink, "units of time are s, ms, us and ns: 'cost %s 1.5us', 'cost %s (2us + 0.5ns * n)'",
                 price->cls.text, price->cls.text);
        return false;
    }
    return !value.known || dfc_cost_check(u, price->expr, value.n.f);
}

/* ---- the kernel ---- */

bool dfc_kernel_check(struct dfc_unit *u, struct dfc_callee *callee, const char *dir, bool formulas)
{
    const struct dfl_kernel *kernel = callee->kernel;
    struct dfc_kernel_code *code = dfr_array_add(&u->kernels, sizeof *code, 1);
    bool ok = true;
    if (!code)
        return dfc_no_memory(u);
    callee->id = u->kernels.n - 1;
    *code = (struct dfc_kernel_code){ .ast = kernel, .kernel = callee->id, .dir = dir };
    if (kernel->has_formulas)           /* code for both classes; a variant that is written replaces that of its class (check_variant) */
        callee->code_classes = 1u << DF_CLASS_CPU | 1u << DF_CLASS_GPU | u->opencl_classes;
    if (kernel->has_formulas && formulas)
        ok = dfc_formulas_check(u, callee);
    for (const struct dfl_variant *variant = kernel->variants; variant; variant = variant->next)
        ok &= check_variant(u, callee, variant, code, dir);
    for (const struct dfl_price *price = kernel->prices; price; price = price->next)
        ok &= check_price(u, callee, price);
    if (!kernel->variants && !kernel->prices && !kernel->has_formulas) {
        dfl_error(u->sink, callee->loc, "kernel '%s' has neither code nor a cost", callee->name);
        dfl_hint(u->sink, "give it a variant, 'cpu \"%s.c\"', or a cost, 'cost cpu 1us'", callee->name);
        ok = false;
    }
    ok &= check_traits(u, callee);
    ok &= check_tolerance(u, callee);
    ok &= check_uses(u, callee);
    return check_threads(u, callee) && ok;
}
