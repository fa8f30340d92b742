/* generate.c - generates the source files for a program's formulas, for emit/emit_c.c: tables, then the functions of
 * each kernel. It also lists the levels of instructions for which compiler/build compiles them. Kernels whose code
 * differs only in names share it.
 */
#include "compiler/generate/gen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/text.h"

struct text {                           /* of a kernel; the first with the same `plain`, which is without #line, is `same` */
    char *bytes, *plain;
    size_t size, same, part;            /* part: the number of its file */
    double cpu_s;
    bool math;
};

/* ---- levels ---- */

const struct dfg_level *dfg_level(unsigned number)
{
#ifdef __x86_64__
    static const struct dfg_level levels[] = {
        { "", "", 1 },
        { "v3", "-march=x86-64-v3", 3 },
        /* runtime/base/isa.c says on which processors. The scheduler keeps values in registers (df_formula.h). */
        { "v4", "-march=x86-64-v4 -mprefer-vector-width=512 -fschedule-insns --param=sched-pressure-algorithm=2", 4 },
    };
#else
    static const struct dfg_level levels[] = { { "", "", 1 } };
#endif
    return number < sizeof levels / sizeof *levels ? &levels[number] : NULL;
}

/* ---- names that may be macros ---- */

static void print_undef(FILE *out, const char *name)
{
    fprintf(out, "#undef %s\n", name);
}

/* Words of OpenCL C that may be names in C. There they become macros for other names. */
static bool is_word_of_opencl(const char *name)
{
    static const char *const words[] = {
        "global", "local", "constant", "private", "generic", "kernel", "half", "read_only", "write_only", "read_write", "uniform", "pipe", "vec_step", "bool", "true",
        "false", "image1d_t", "image1d_buffer_t", "image1d_array_t", "image2d_t", "image2d_array_t", "image3d_t", "sampler_t", "event_t", "queue_t", "ndrange_t",
        "clk_event_t", "reserve_id_t", "complex", "imaginary", "quad"
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    return false;
}

static void print_free(FILE *out, const char *name, bool opencl)
{
    print_undef(out, name);
    if (opencl && is_word_of_opencl(name))
        fprintf(out, "#define %s df_word_%s\n", name, name);
}

/* Headers, compilers ("linux", "unix") and -D define macros of any name. Generated code itself uses none but DF_ and df_ ones. */
static void print_undefs(FILE *out, const struct dff_kernel *k, bool opencl)
{
    const struct dfc_sig *sig = &k->callee->sig;
    for (unsigned i = 0; i < sig->n_variables; i++)
        print_free(out, sig->variables[i].name.text, opencl);
    for (unsigned i = 0; i < sig->n_ports; i++)
        print_free(out, sig->ports[i].ast->name.text, opencl);
    for (unsigned i = 0; i < sig->n_scalars; i++)
        print_free(out, sig->scalars[i]->name.text, opencl);
    for (unsigned i = 0; i < k->n_formulas; i++)
        for (unsigned d = 0; d < k->formulas[i].rank; d++)
            if (k->formulas[i].is_index[d])
                print_free(out, k->formulas[i].names[d], opencl);
    for (unsigned i = 0; i < k->n_nodes; i++)
        for (uint32_t r = 0; r < k->nodes[i]->n_ranges; r++)
            print_free(out, k->nodes[i]->ranges[r].name, opencl);
}

/* ---- tables ---- */

static uint64_t n_elements(const struct dff_table *table)
{
    uint64_t n = 1;
    for (unsigned d = 0; d < table->rank; d++)
        n *= table->extents[d];
    return n;
}

static void print_table(FILE *out, struct dfg_gen *g, const struct dff_table *table)
{
    uint64_t n = n_elements(table);
    enum dff_type type = table->f ? (table->elem == DF_F64 ? DFF_F64 : DFF_F32) : dff_promoted(table->elem);
    fprintf(out, "%s %s df_table_%s[%" PRIu64 "] = {", g->gpu ? "DF_DEVICE_DATA" : "static const",
            table->elem == DF_F16 ? "float" : df_elem_c_type(table->elem), table->decl->name.text, n);
    for (uint64_t i = 0; i < n; i++)
        fprintf(out, "%s%s", i == 0 ? " " : i % 12 ? ", " : ",\n    ",
                dfg_number(g, type, table->i ? table->i[i] : 0, table->f ? table->f[i] : 0).c);
    fputs(" };\n", out);
}

static void print_tables(FILE *out, struct dfg_gen *g, const struct dfg_kernel *const *kernels, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (unsigned t = 0; t < kernels[i]->formulas->n_tables; t++) {
            const struct dff_table *table = kernels[i]->formulas->tables[t];
            bool printed = false;
            for (size_t k = 0; k <= i; k++)
                for (unsigned s = 0; s < (k < i ? kernels[k]->formulas->n_tables : t); s++)
                    printed |= kernels[k]->formulas->tables[s]->decl == table->decl;
            if (!printed)
                print_table(out, g, table);
        }
}

/* ---- kernels ---- */

static bool is_line(const char *line)
{
    return strncmp(line, "#line ", 6) == 0 || *line == DFG_OWN_LINE;
}

/* A copy, malloc'ed. NULL: no memory. */
static char *without_lines(const char *text)
{
    char *plain = malloc(strlen(text) + 1), *to = plain;
    for (const char *line = text; plain && *line;) {
        size_t n = strcspn(line, "\n") + 1;
        if (!is_line(line)) {
            memcpy(to, line, n);
            to += n;
        }
        line += n;
    }
    if (plain)
        *to = '\0';
    return plain;
}

static double cpu_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool make_text(struct dfg_gen *g, const struct dfg_kernel *kernel, struct text *text)
{
    const double before = cpu_time();
    FILE *out = open_memstream(&text->bytes, &text->size);
    if (!out)
        return false;
    g->kernel = kernel->formulas;
    g->math = false;
    g->n_temporaries = 0;
    g->block = NULL;
    bool good = (g->gpu ? dfg_gpu_kernel_print : dfg_kernel_print)(out, g);
    text->math = g->math;
    good = fclose(out) == 0 && good && (text->plain = without_lines(text->bytes));
    text->cpu_s = cpu_time() - before;
    return good;
}

static void find_same(struct text *texts, size_t i)
{
    size_t k = 0;
    while (k < i && strcmp(texts[k].plain, texts[i].plain) != 0)
        k++;
    texts[i].same = k;
}

/* What of the texts for GPUs is in a file: all of CUDA's, and of OpenCL's the functions of the GPU or those that launch them. */
enum section { ALL, ON_GPU, LAUNCHES };

static void print_text(FILE *out, const struct text *text, const char *name, enum section section)
{
    bool launches = false;
    for (size_t i = 0; i < text->size; i++) {
        launches |= text->bytes[i] == DFG_LAUNCHES;
        if (text->bytes[i] == DFG_LAUNCHES || (section && (section == LAUNCHES) != launches))
            continue;
        if (text->bytes[i] == DFG_NAME)
            fputs(name, out);
        else
            fputc(text->bytes[i], out);
    }
}

static enum section section_of(const struct dfg_print *how, size_t number) { return !how->opencl ? ALL : number ? ON_GPU : LAUNCHES; }

/* Prints file `number`, with its own lines' numbers where they belong. */
static void print_numbered(FILE *out, const char *text, const struct dfg_print *how, size_t number)
{
    char digits[24] = "";
    const char *end = !how->gpu ? ".c" : !how->opencl ? ".cu" : number ? ".cl" : "_opencl.c";
    unsigned line = 1;
    if (number && !how->opencl)
        snprintf(digits, sizeof digits, "%zu", number);
    for (; *text; line++) {
        size_t n = strcspn(text, "\n") + 1;
        if (*text == DFG_OWN_LINE)
            fprintf(out, "#line %u \"%s_formulas%s%s\"\n", line + 1, how->stem, digits, end);
        else
            fwrite(text, 1, n, out);
        text += n;
    }
}

/* Prints the function that libdf calls, of kernel i: a call of another one's, which may be in another file. */
static void print_same(FILE *out, const char *name, const char *other, const struct dfg_gen *g)
{
    static const char parameters[] = "(struct df_call *call, void *stream, const size_t *df_dims, void *const *df_ports,\n"
                                     "    const union df_scalar *df_scalars)",
                      arguments[] = "(call, stream, df_dims, df_ports, df_scalars); /* the same */";
    if (g->opencl)
        fprintf(out, "extern int df_formula_%s_opencl%s;\nint df_formula_%s_opencl%s\n{\n    return df_formula_%s_opencl%s\n}\n\n", other, parameters, name, parameters, other,
                arguments);
    else if (g->gpu)
        fprintf(out, "extern \"C\" int df_formula_%s_gpu%s;\nextern \"C\" const void *df_device_%s(void);\n"
                     "extern \"C\" int df_formula_%s_gpu%s\n{\n    return df_formula_%s_gpu%s\n}\n\n"
                     "extern \"C\" const void *df_device_%s(void) { return df_device_%s(); }\n\n",
                other, parameters, other, name, parameters, other, arguments, name, other);
    else
        fprintf(out, "extern int DF_LEVEL(df_formula_%s)%s;\nint DF_LEVEL(df_formula_%s)%s\n{\n    return DF_LEVEL(df_formula_%s)%s\n}\n\n", other, parameters, name, parameters,
                other, arguments);
}

static void print_kernel(FILE *out, const struct dfg_gen *g, const struct dfg_kernel *kernels, const struct text *texts, size_t i, enum section section)
{
    if (texts[i].same == i)
        print_text(out, &texts[i], kernels[i].name, section);
    else if (section != ON_GPU)
        print_same(out, kernels[i].name, kernels[texts[i].same].name, g);
}

static void print_head(FILE *out, const char *stem, bool math, bool group, const struct dfg_gen *g, enum section section)
{
    static const char *const ends[] = { [ALL] = ".cu", [ON_GPU] = ".cl", [LAUNCHES] = "_opencl.c" };
    fprintf(out, "/* %s_formulas%s - made by dfc: the formulas of %s.df, for %s. */\n%s#include <df_formula%s.h>\n%s%s\n%s",
            stem, g->gpu ? ends[section] : ".c", stem, g->gpu ? "GPUs" : "CPUs", section == ON_GPU ? "" : "#include <df.h>\n", g->gpu ? "_gpu" : "",
            math && section != LAUNCHES ? "#include <df_math.h>\n" : "", group ? "#include <df_strips.h>\n" : "",
            g->gpu ? "" : "#ifndef DF_LEVEL\n#define DF_LEVEL(name) name\n#endif\n");
}

/* Prints the kernels that are in file `number`. */
static bool print_part(FILE *out, struct dfg_gen *g, const struct dfg_kernel *kernels, const struct text *texts, size_t n, const struct dfg_print *how,
                       size_t number)
{
    const struct dfg_kernel **in = malloc((n + 1) * sizeof *in);
    const enum section section = section_of(how, number);
    bool math = false, group = false;
    size_t n_in = 0;
    if (!in)
        return false;
    for (size_t i = 0; i < n; i++)
        if (section || texts[i].part == number) {
            in[n_in++] = &kernels[i];
            math |= texts[i].math;
            group |= kernels[i].formulas->strips != NULL;
        }
    print_head(out, how->stem, math, group, g, section);
    for (size_t i = 0; i < n_in; i++)
        print_undefs(out, in[i]->formulas, section == ON_GPU);
    fputc('\n', out);
    if (section != LAUNCHES)
        print_tables(out, g, in, n_in);
    fputc('\n', out);
    for (size_t i = 0; i < n; i++)
        if (section || texts[i].part == number)
            print_kernel(out, g, kernels, texts, i, section);
    free(in);
    return true;
}

int64_t dfg_limit(const struct dff_kernel *formulas)
{
    struct dfg_gen g = { .arena = dfl_arena_new(), .kernel = formulas };
    const bool good = g.arena && dfg_kernel_begin(&g) && !dfl_arena_failed(g.arena);
    free(g.all_facts);
    dfl_arena_free(g.arena);
    return good ? g.limit : 0;
}

/* Kernels with more code than this have files of their own. A file costs some 40 ms for its headers, and this code about as much. */
enum { MUCH = 4000 };

/* Gives the number of files. */
static size_t choose_parts(struct text *texts, size_t n, bool split)
{
    size_t parts = 1;
    for (size_t i = 0; i < n; i++)
        texts[i].part = split && texts[i].same == i && texts[i].size > MUCH ? parts++ : 0;
    return parts;
}

static char *part_text(struct dfg_gen *g, const struct dfg_kernel *kernels, const struct text *texts, size_t n, const struct dfg_print *how, size_t number)
{
    char *raw = NULL, *text = NULL;
    size_t size;
    FILE *file = open_memstream(&raw, &size);
    bool good = file && print_part(file, g, kernels, texts, n, how, number);
    good = file && fclose(file) == 0 && good && !dfl_arena_failed(g->arena) && !g->failed;
    file = good ? open_memstream(&text, &size) : NULL;
    if (file)
        print_numbered(file, raw, how, number);
    free(raw);
    return dfr_text_close(file, &text);
}

/* What is kept of the kernels. NULL: no memory. */
static struct dfg_printed *printed_of(const struct text *texts, size_t n)
{
    struct dfg_printed *kernels = calloc(n + 1, sizeof *kernels);
    for (size_t i = 0; kernels && i < n; i++) {
        kernels[i] = (struct dfg_printed){ .part = texts[i].part, .cpu_s = texts[i].cpu_s };
        for (const char *c = texts[i].same == i ? texts[i].plain : ""; *c; c++)
            kernels[i].lines += *c == '\n';
    }
    return kernels;
}

bool dfg_print(const struct dfg_print *how, const struct dfg_kernel *kernels, size_t n, struct dfg_texts *files)
{
    struct dfg_gen g = { .arena = dfl_arena_new(), .sink = how->sink, .gpu = how->gpu, .opencl = how->opencl };
    struct text *texts = calloc(n + 1, sizeof *texts);
    bool good = g.arena && texts;
    *files = (struct dfg_texts){ 0 };
    for (size_t i = 0; good && i < n; i++) {
        good = make_text(&g, &kernels[i], &texts[i]);
        if (good)
            find_same(texts, i);
    }
    const size_t chosen = good ? choose_parts(texts, n, how->split) : 0, parts = chosen && how->opencl ? 2 : chosen;
    good = good && (files->text = calloc(parts, sizeof *files->text)) && (files->kernels = printed_of(texts, n));
    while (good && files->n < parts) {
        files->text[files->n] = part_text(&g, kernels, texts, n, how, files->n);
        good = files->text[files->n++] != NULL;
    }
    for (size_t i = 0; texts && i < n; i++) {
        free(texts[i].bytes);
        free(texts[i].plain);
    }
    free(texts);
    dfl_arena_free(g.arena);
    return good;
}

void dfg_texts_free(struct dfg_texts *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        free(texts->text[i]);
    free(texts->text);
    free(texts->kernels);
    *texts = (struct dfg_texts){ 0 };
}
