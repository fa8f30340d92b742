/* emit_library.c - prints what a library has besides its kernels: for emit_c.c the functions of its graphs; for
 * build/build_library.c its self-contained header for programs in C or C++, the list of its exported symbols, and the
 * pkg-config and CMake files.
 *
 * Arguments: the ports in order, each dimension variable directly after the first port in which it is an extent by
 *            itself, then the scalars. Names in the header are comments, where no macro can change them. In calls of
 *            several waves, a variable with a bound is an array with one number per wave.
 */
#include "compiler/emit/emit.h"

#include <ctype.h>
#include <string.h>

#include "compiler/types/frontend.h"

#ifndef DFC_VERSION
#define DFC_VERSION "0"
#endif

/* ---- names ---- */

static void emit_identifier(FILE *out, const char *text, bool capitals)
{
    if (isdigit((unsigned char)*text))
        fputc('_', out);
    for (; *text; text++)
        fputc(!isalnum((unsigned char)*text) ? '_' : capitals ? toupper((unsigned char)*text) : *text, out);
}

/* The element types of a header that knows no df.h. */
static const char *elem_type(enum df_elem elem)
{
    return elem == DF_F16 ? "uint16_t" : df_elem_c_type(elem);
}

static bool is_input(const struct dfc_port *port)
{
    return port->in_slot >= 0;
}

/* ---- arguments ---- */

/* A dimension variable that is the same in all waves of a call. */
static bool is_size(const struct dfc_variable *variable)
{
    return !variable->bound;
}

/* One that the caller gives for each wave. Other variables with a bound are decided inside. */
static bool is_given(const struct dfc_variable *variable)
{
    return variable->bound && variable->from_input;
}

static void emit_dim(FILE *out, const struct dfc_sig *sig, unsigned v, bool many, bool named)
{
    const char *type = many && is_given(&sig->variables[v]) ? "const size_t *" : "size_t ";
    if (named)
        fprintf(out, ", %s/* %s */", type, sig->variables[v].name.text);
    else
        fprintf(out, ", %sd%u", type, v);
}

/* Prints the arguments of a call. many: it is for several waves. named: as in a header, names in comments; else as in a
 * definition, p0 h0 and the like. */
static void emit_arguments(FILE *out, const struct dfc_sig *sig, bool many, bool named)
{
    unsigned next = 0;                  /* variables are numbered in this order */
    for (unsigned p = 0; p < sig->n_ports; p++) {
        const struct dfc_port *port = &sig->ports[p];
        fprintf(out, ", %s%s *", is_input(port) ? "const " : "", elem_type(port->elem));
        if (named)
            fprintf(out, "/* %s */", port->ast->name.text);
        else
            fprintf(out, "p%u", p);
        for (unsigned i = 0; i < port->rank; i++)
            if (port->dims[i].kind == DFC_DIM_VARIABLE && port->dims[i].variable == next) {
                if (is_size(&sig->variables[next]) || is_given(&sig->variables[next]))
                    emit_dim(out, sig, next, many, named);
                next++;
            }
    }
    for (unsigned s = 0; s < sig->n_scalars; s++) {
        fprintf(out, ", %s", df_scalar_c_type(dfc_scalar_type(sig->scalars[s]->type)));
        if (named)
            fprintf(out, "/* %s */", sig->scalars[s]->name.text);
        else
            fprintf(out, "s%u", s);
    }
}

static void emit_dims(FILE *out, const struct dfc_sig *sig, bool named)
{
    for (unsigned v = 0; v < sig->n_variables; v++)
        if (is_size(&sig->variables[v]))
            emit_dim(out, sig, v, false, named);
}

/* How many of the first n variables are of that kind. */
static unsigned count_dims(const struct dfc_sig *sig, unsigned n, bool (*kind)(const struct dfc_variable *))
{
    unsigned count = 0;
    for (unsigned v = 0; v < n; v++)
        count += kind(&sig->variables[v]);
    return count;
}

/* The sizes of a call, in a table of C that is not empty. */
static void emit_sizes(FILE *out, const struct dfc_sig *sig)
{
    fputs("    const size_t df_sizes[] = { ", out);
    for (unsigned v = 0; v < sig->n_variables; v++)
        if (is_size(&sig->variables[v]))
            fprintf(out, "d%u, ", v);
    fputs("0 };\n", out);
}

/* Where the extents lie that the caller gives for each wave. */
static void emit_given(FILE *out, const struct dfc_sig *sig, bool many)
{
    fputs("    const size_t *const df_given[] = { ", out);
    for (unsigned v = 0; v < sig->n_variables; v++)
        if (is_given(&sig->variables[v]))
            fprintf(out, "%sd%u, ", many ? "" : "&", v);
    fputs("NULL };\n", out);
}

static void emit_prototype(FILE *out, const struct dfc_callee *graph, const char *verb, bool named)
{
    const char *name = graph->name;
    fprintf(out, "int %s_%s(struct %s_session *session", name, verb, name);
    if (verb[3])
        fputs(", int64_t waves", out);
    emit_arguments(out, &graph->sig, verb[3] != '\0', named);
    fputc(')', out);
}

/* 'n', or 'n <= 100' where the bound stands. */
static void emit_extent(FILE *out, const struct dfc_sig *sig, const struct dfc_dim *dim)
{
    dfl_print_expr(out, dim->expr);
    if (dim->own)
        fprintf(out, " <= %llu", (unsigned long long)sig->variables[dim->variable].most);
}

static void emit_format(FILE *out, const struct dfc_sig *sig, const struct dfc_port *port)
{
    fputs(df_elem_name(port->elem), out);
    for (unsigned i = 0; i < port->rank; i++) {
        fputs(i ? ", " : "[", out);
        if (port->dims[i].kind == DFC_DIM_NUMBER)
            fprintf(out, "%llu", (unsigned long long)port->dims[i].number);
        else
            emit_extent(out, sig, &port->dims[i]);
    }
    if (port->rank)
        fputc(']', out);
}

/* ---- the header ---- */

static void emit_declarations(FILE *out, const struct dfc_callee *graph)
{
    const struct dfc_sig *sig = &graph->sig;
    const char *name = graph->name;
    fprintf(out, "/* graph %s:\n", name);
    for (unsigned p = 0; p < sig->n_ports; p++) {
        fprintf(out, " *     port %u, %s  %s: ", p, is_input(&sig->ports[p]) ? "in " : "out",
                sig->ports[p].ast->name.text);
        emit_format(out, sig, &sig->ports[p]);
        fputs(sig->ports[p].final ? ", one token a call\n" : "\n", out);
    }
    for (unsigned s = 0; s < sig->n_scalars; s++)
        fprintf(out, " *     scalar       %s: %s\n", sig->scalars[s]->name.text,
                dfl_scalar_name(sig->scalars[s]->type));
    fprintf(out, " */\nstruct %s_session;\n\nint %s_open(const char *options, struct %s_session **session);\n", name, name,
            name);
    emit_prototype(out, graph, "run", true);
    fputs(";\n", out);
    emit_prototype(out, graph, "run_waves", true);
    fprintf(out, ";\nint %s_shape(struct %s_session *session", name, name);
    emit_dims(out, sig, true);
    fprintf(out, ", unsigned port, size_t extents[4]);\nconst unsigned char *%s_empty(struct %s_session *session, unsigned port);\n"
                 "const size_t *%s_extents(struct %s_session *session, unsigned port);\nconst char *%s_stats(struct %s_session *session);\n"
                 "int %s_close(struct %s_session *session);\nconst char *%s_error(void);\n"
                 "void %s_stop(struct %s_session *session);\nint64_t %s_progress(struct %s_session *session);\n"
                 "const char *%s_signature(void);\n\n", name, name, name, name, name, name, name, name, name, name, name, name, name, name);
}

static const char about[] =
    " *\n"
    " * GRAPH_open       Opens a session. `options` has the words that a program made by dfc takes, or is NULL:\n"
    " *                  \"--workers=2 --policy=gp --device=emu\". *session is set only if 0 is given.\n"
    " * GRAPH_run        Runs one wave. Inputs are read where they lie, and outputs are written where they are to be; no\n"
    " *                  two arrays may have bytes in common, unless both are inputs. A call with sizes of one of the\n"
    " *                  last 4 calls with other sizes allocates nothing.\n"
    " * GRAPH_run_waves  Runs several. In each array the tokens of the waves lie one behind the other; what is made once,\n"
    " *                  after the last wave, is one token. An extent of an input with a bound ('h <= 480') is an array,\n"
    " *                  with a number from 1 to the bound for each wave. Such tokens lie dense by these at the beginning\n"
    " *                  of their rooms, for which GRAPH_shape gives the bounds.\n"
    " * GRAPH_shape      Gives the extents of a port for these sizes; those past its rank are 1. What the next call with\n"
    " *                  these sizes needs is made then.\n"
    " * GRAPH_empty      Which tokens of an output are empty, because a kernel skipped them: a byte for each wave of the\n"
    " *                  last call, 1 if the token is empty. Its bytes mean nothing then. NULL: none is.\n"
    " * GRAPH_extents    The extents of a port that differ from wave to wave ('n <= 100'): 4 numbers for each wave of the\n"
    " *                  last call, 1 past the rank, 0 if the token is empty. The token lies dense by these at the\n"
    " *                  beginning of its room, for which GRAPH_shape gives the bounds. Good until the next call. NULL: the\n"
    " *                  extents do not differ.\n"
    " * GRAPH_stats      What ran where in the calls with the last call's sizes, since this was asked last: a line of JSON,\n"
    " *                  good until it is asked again or the session is closed. If the session was opened with --stats,\n"
    " *                  it says what each kernel and node took. The next call is slower. NULL: GRAPH_error() says why.\n"
    " * GRAPH_stop       Ends the call of another thread, as soon as the jobs that run now have ended. If no waves run,\n"
    " *                  nothing happens. From any thread, while the session is open. NULL does nothing.\n"
    " * GRAPH_progress   How many waves of another thread's call have ended; -1: there is no call. As GRAPH_stop.\n"
    " * GRAPH_close      Ends the session and its threads. NULL does nothing.\n"
    " * GRAPH_error      Why this thread's last failing call failed, as a sentence.\n"
    " * GRAPH_signature  The ports, scalars and options of this file as JSON, for programs.\n";

static const char rules[] =
    " *\n"
    " * Errors:   0 or one of the codes below. If a kernel fails, the outputs hold anything; the next call begins anew.\n"
    " * Threads:  one thread at a time may use a session. Sessions do not disturb each other.\n"
    " */\n";

static void emit_codes(FILE *out, const char *stem)
{
    static const struct { const char *name; int code; const char *means; } codes[] = {
        { "OK", DF_OK, "" },
        { "E_MEMORY", DF_E_MEMORY, "out of memory" },
        { "E_ARGUMENT", DF_E_ARGUMENT, "the call is wrong, and nothing was run" },
        { "E_CYCLE", DF_E_CYCLE, "a cycle in the graph" },
        { "E_FORMAT", DF_E_FORMAT, "a file that is read, or the library itself, is damaged" },
        { "E_DEVICE", DF_E_DEVICE, "a device failed" },
        { "E_KERNEL", DF_E_KERNEL, "a kernel failed" },
        { "E_IO", DF_E_IO, "a file cannot be read or written" },
        { "E_REFUSED", DF_E_REFUSED, "this machine cannot run it" },
        { "E_STOPPED", DF_E_STOPPED, "another thread stopped the call; the next one begins anew" },
    };
    fputs("enum {\n", out);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        fputs("    ", out);
        emit_identifier(out, stem, true);
        fprintf(out, "_%s = %d,", codes[i].name, codes[i].code);
        fprintf(out, *codes[i].means ? " /* %s */\n" : "%s\n", codes[i].means);
    }
    fputs("};\n\n", out);
}

void dfc_emit_library_header(FILE *out, const struct dfc_front *front, const char *stem, const char *source)
{
    fprintf(out, "/* %s.h - made by dfc of %s: graphs as functions.\n%s", stem, source, about);
    dfc_emit_settings_comment(out, front->graph);
    fprintf(out, "%s#ifndef DF_LIBRARY_", rules);
    emit_identifier(out, stem, true);
    fputs("_H\n#define DF_LIBRARY_", out);
    emit_identifier(out, stem, true);
    fputs("_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n", out);
    emit_codes(out, stem);
    for (size_t i = 0; i < front->n_exports; i++)
        emit_declarations(out, front->exports[i]);
    fputs("#ifdef __cplusplus\n}\n#endif\n\n#endif\n", out);
}

/* ---- the description as JSON, in a string of C ---- */

static void emit_json_extents(FILE *out, const struct dfc_port *port)
{
    fputs("\\\"dims\\\": [", out);
    for (unsigned i = 0; i < port->rank; i++) {
        fputs(i ? ", " : "", out);
        if (port->dims[i].kind == DFC_DIM_NUMBER) {
            fprintf(out, "%llu", (unsigned long long)port->dims[i].number);
            continue;
        }
        fputs("\\\"", out);
        dfl_print_expr(out, port->dims[i].expr);
        fputs("\\\"", out);
    }
    fputc(']', out);
}

static void emit_json(FILE *out, const struct dfc_callee *graph, const struct df_graph *options)
{
    const struct dfc_sig *sig = &graph->sig;
    fprintf(out, "    return \"{\\\"name\\\": \\\"%s\\\", \\\"dims\\\": [", graph->name);
    for (unsigned v = 0, n = 0; v < sig->n_variables; v++)
        if (is_size(&sig->variables[v]))
            fprintf(out, "%s\\\"%s\\\"", n++ ? ", " : "", sig->variables[v].name.text);
    fputs("], \\\"bounds\\\": {", out);
    for (unsigned v = 0, n = 0; v < sig->n_variables; v++)
        if (!is_size(&sig->variables[v]))
            fprintf(out, "%s\\\"%s\\\": %llu", n++ ? ", " : "", sig->variables[v].name.text,
                    (unsigned long long)sig->variables[v].most);
    fputs("}, \\\"ports\\\": [\"\n", out);
    for (unsigned p = 0; p < sig->n_ports; p++) {
        const struct dfc_port *port = &sig->ports[p];
        fprintf(out, "        \"%s{\\\"name\\\": \\\"%s\\\", \\\"mode\\\": \\\"%s\\\", \\\"type\\\": \\\"%s\\\", ",
                p ? ", " : "", port->ast->name.text, is_input(port) ? "in" : "out", df_elem_name(port->elem));
        emit_json_extents(out, port);
        fputs(dfc_port_varies(sig, port) ? ", \\\"varies\\\": true" : "", out);
        fputs(port->final ? ", \\\"final\\\": true}\"\n" : "}\"\n", out);
    }
    fputs("        \"], \\\"scalars\\\": [", out);
    for (unsigned s = 0; s < sig->n_scalars; s++)
        fprintf(out, "%s{\\\"name\\\": \\\"%s\\\", \\\"type\\\": \\\"%s\\\"}", s ? ", " : "",
                sig->scalars[s]->name.text, dfl_scalar_name(sig->scalars[s]->type));
    fputs("], \\\"options\\\": ", out);
    dfc_emit_settings_json(out, options);
    fputs("}\";\n", out);
}

/* ---- the functions ---- */

/* For each extent of an in port the number of its variable among those that the caller gives for each wave, from 1. */
static void emit_given_extents(FILE *out, const struct dfc_sig *sig, const struct dfc_port *port)
{
    for (unsigned i = 0; i < DF_MAX_RANK; i++) {
        const struct dfc_dim *dim = &port->dims[i];
        const bool given = is_input(port) && i < port->rank && dim->kind == DFC_DIM_VARIABLE &&
                           is_given(&sig->variables[dim->variable]);
        fprintf(out, "%u, ", given ? count_dims(sig, dim->variable, is_given) + 1 : 0);
    }
}

/* Elements of an array that C does not allow to be empty. */
static void emit_tables(FILE *out, const struct dfc_callee *graph)
{
    static const char *const elems[] = {
#define DF_ELEMENT(ID, ...) "DF_" #ID,
#include "runtime/elements.def"
    };
    static const char *const scalars[] = {
#define DF_SCALAR(ID, ...) "DF_S_" #ID,
#include "runtime/elements.def"
    };
    const struct dfc_sig *sig = &graph->sig;
    fprintf(out, "static const struct df_library_port df_ports_%s[] = {\n", graph->name);
    for (unsigned p = 0; p < sig->n_ports; p++) {
        fprintf(out, "    { \"%s\", %s, %s, %d, %d, { ", sig->ports[p].ast->name.text,
                is_input(&sig->ports[p]) ? "DF_IN" : "DF_OUT", elems[sig->ports[p].elem], sig->ports[p].final,
                dfc_port_varies(sig, &sig->ports[p]) != 0);
        emit_given_extents(out, sig, &sig->ports[p]);
        fputs("} },\n", out);
    }
    fprintf(out, "};\nstatic const char *const df_dims_%s[] = { ", graph->name);
    for (unsigned v = 0; v < sig->n_variables; v++)
        if (is_size(&sig->variables[v]))
            fprintf(out, "\"%s\", ", sig->variables[v].name.text);
    fprintf(out, "NULL };\nstatic const struct df_library_bound df_bounds_%s[] = { ", graph->name);
    for (unsigned v = 0; v < sig->n_variables; v++)
        if (is_given(&sig->variables[v]))
            fprintf(out, "{ \"%s\", %lluu }, ", sig->variables[v].name.text, (unsigned long long)sig->variables[v].most);
    fprintf(out, "{ NULL, 0 } };\nstatic const enum df_scalar_type df_scalars_%s[] = { ", graph->name);
    for (unsigned s = 0; s < sig->n_scalars; s++)
        fprintf(out, "%s, ", scalars[dfc_scalar_type(sig->scalars[s]->type)]);
    fprintf(out, "DF_S_I32 };\nstatic const struct df_library_function df_function_%s = {\n"
                 "    \"%s\", %u, %u, %u, %u, df_ports_%s, df_dims_%s, df_bounds_%s, df_scalars_%s\n};\n\n",
            graph->name, graph->name, sig->n_ports, count_dims(sig, sig->n_variables, is_size),
            count_dims(sig, sig->n_variables, is_given), sig->n_scalars, graph->name, graph->name, graph->name, graph->name);
}

static void emit_run(FILE *out, const struct dfc_callee *graph, bool many)
{
    const struct dfc_sig *sig = &graph->sig;
    emit_prototype(out, graph, many ? "run_waves" : "run", false);
    fputs("\n{\n    void *const df_data[] = { ", out);
    for (unsigned p = 0; p < sig->n_ports; p++)
        fprintf(out, "(void *)p%u, ", p);
    fputs("NULL };\n", out);
    emit_sizes(out, sig);
    emit_given(out, sig, many);
    fputs("    const union df_scalar df_values[] = { ", out);
    for (unsigned s = 0; s < sig->n_scalars; s++)
        fprintf(out, "{ .%s = s%u }, ", dfl_scalar_name(sig->scalars[s]->type), s);
    fprintf(out, "{ .i64 = 0 } };\n    return df_library_run((struct df_library_session *)session, &df_function_%s, %s, "
                 "df_data, df_sizes,\n                          df_given, df_values);\n}\n\n", graph->name, many ? "waves" : "1");
}

static void emit_shape(FILE *out, const struct dfc_callee *graph)
{
    fprintf(out, "int %s_shape(struct %s_session *session", graph->name, graph->name);
    emit_dims(out, &graph->sig, false);
    fputs(", unsigned port, size_t extents[4])\n{\n", out);
    emit_sizes(out, &graph->sig);
    fprintf(out, "    return df_library_shape((struct df_library_session *)session, &df_function_%s, df_sizes, "
                 "port, extents);\n}\n\n", graph->name);
}

static void emit_functions(FILE *out, const struct dfc_front *front, const struct dfc_callee *graph,
                           bool emu_gpu_code)
{
    const char *name = graph->name;
    emit_tables(out, graph);
    fprintf(out, "int %s_open(const char *options, struct %s_session **session)\n{\n", name, name);
    dfc_emit_program(out, front, emu_gpu_code);
    fprintf(out, "    return df_library_open(&program, &df_function_%s, options, (struct df_library_session **)session);\n"
                 "}\n\n", name);
    emit_run(out, graph, false);
    emit_run(out, graph, true);
    emit_shape(out, graph);
    fprintf(out, "const unsigned char *%s_empty(struct %s_session *session, unsigned port)\n{\n    return df_library_empty("
                 "(struct df_library_session *)session, &df_function_%s, port);\n}\n\n", name, name, name);
    fprintf(out, "const size_t *%s_extents(struct %s_session *session, unsigned port)\n{\n    return df_library_extents("
                 "(struct df_library_session *)session, &df_function_%s, port);\n}\n\n", name, name, name);
    fprintf(out, "const char *%s_stats(struct %s_session *session)\n{\n    return df_library_stats((struct "
                 "df_library_session *)session, &df_function_%s);\n}\n\n", name, name, name);
    fprintf(out, "int %s_close(struct %s_session *session)\n{\n    return df_library_close((struct df_library_session "
                 "*)session, &df_function_%s);\n}\n\n", name, name, name);
    fprintf(out, "void %s_stop(struct %s_session *session)\n{\n    df_library_stop((struct df_library_session *)session);\n"
                 "}\n\nint64_t %s_progress(struct %s_session *session)\n{\n    return df_library_progress((struct "
                 "df_library_session *)session);\n}\n\n", name, name, name, name);
    fprintf(out, "const char *%s_error(void)\n{\n    return df_library_error();\n}\n\n", name);
    fprintf(out, "const char *%s_signature(void)\n{\n", name);
    emit_json(out, graph, front->graph);
    fputs("}\n\n", out);
}

void dfc_emit_library(FILE *out, const struct dfc_front *front, bool emu_gpu_code)
{
    for (size_t i = 0; i < front->n_exports; i++) {
        fprintf(out, "struct %s_session;\n", front->exports[i]->name);
        emit_functions(out, front, front->exports[i], emu_gpu_code);
    }
}

/* ---- what is exported ---- */

static const char *const suffixes[] = { "open", "run", "run_waves", "shape", "empty", "extents",
                                         "stats", "stop", "progress", "close", "error", "signature" };
enum { N_SUFFIXES = sizeof suffixes / sizeof *suffixes };

void dfc_emit_exports(FILE *out, const struct dfc_front *front, bool script)
{
    fputs(script ? "{ global:\n" : "", out);
    for (size_t i = 0; i < front->n_exports; i++)
        for (unsigned k = 0; k < N_SUFFIXES; k++)
            fprintf(out, "%s_%s%s\n", front->exports[i]->name, suffixes[k], script ? ";" : "");
    fputs(script ? "local: *; };\n" : "", out);
}

/* ---- how other programs find it ---- */

/* Prints the words of the link line that an archive leaves to whoever links it. */
static void emit_words(FILE *out, const char *before, const struct dfc_list *words, const char *between)
{
    for (size_t i = 0; i < words->n; i++)
        fprintf(out, "%s%s", i ? between : before, words->items[i]);
}

void dfc_emit_pkg_config(FILE *out, const char *stem, const char *file, const char *source,
                         const struct dfc_list *needs)
{
    fprintf(out, "# %s.pc - made by dfc of %s\nprefix=${pcfiledir}\n\nName: %s\nDescription: graphs of %s as functions\n"
                 "Version: %s\nCflags: -I${prefix}\nLibs: -L${prefix} -l:%s", stem, source, stem, source, DFC_VERSION,
            file);
    emit_words(out, " ", needs, " ");
    fputc('\n', out);
}

void dfc_emit_cmake(FILE *out, const char *stem, const char *file, const char *source, bool archive,
                    const struct dfc_list *needs)
{
    fprintf(out, "# %sConfig.cmake - made by dfc of %s\nif(NOT TARGET %s::%s)\n"
                 "  add_library(%s::%s %s IMPORTED)\n  set_target_properties(%s::%s PROPERTIES\n"
                 "    IMPORTED_LOCATION \"${CMAKE_CURRENT_LIST_DIR}/%s\"\n",
            stem, source, stem, stem, stem, stem, archive ? "STATIC" : "SHARED", stem, stem, file);
    if (!archive)
        fprintf(out, "    IMPORTED_SONAME \"%s\"\n", file);
    if (needs->n) {
        fputs("    IMPORTED_LINK_INTERFACE_LANGUAGES C\n    INTERFACE_LINK_LIBRARIES \"", out);
        emit_words(out, "", needs, ";");
        fputs("\"\n", out);
    }
    fputs("    INTERFACE_INCLUDE_DIRECTORIES \"${CMAKE_CURRENT_LIST_DIR}\")\nendif()\n", out);
}
