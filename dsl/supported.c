/* supported.c - reports for compiler/declare/imports.c syntax that the grammar accepts but this version does not
 * implement, and suggests an alternative where there is one. Each unimplemented feature has one check function here,
 * which is removed when the feature is implemented.
 */
#include <string.h>

#include "dsl/parse.h"

struct check {
    struct dfl_sink *sink;
    const struct dfl_file *file;
    bool has_imports;
};

static bool declared(const struct check *c, const char *name)
{
    for (const struct dfl_decl *decl = c->file->decls; decl; decl = decl->next)
        if ((decl->kind == DFL_KERNEL || decl->kind == DFL_GRAPH) && strcmp(decl->name.text, name) == 0)
            return true;
    return false;
}

/* Calls of what is to be built in later. Kernels may have these names, those of imported files too. */
static void check_call(struct check *c, const struct dfl_stmt *stmt)
{
    static const char *const builtin[] = {"map", "stencil", "reduce"};
    for (size_t i = 0; i < sizeof builtin / sizeof builtin[0]; i++) {
        if (strcmp(stmt->callee.text, builtin[i]) != 0 || c->has_imports || declared(c, builtin[i]))
            continue;
        dfl_error(c->sink, stmt->callee.loc, "'%s' is not yet supported", builtin[i]);
        dfl_hint(c->sink, "declare a kernel that does it, with its code in C");
    }
}

static void check_block(struct check *c, const struct dfl_block *block);

static void check_stmt(struct check *c, const struct dfl_stmt *stmt)
{
    if (stmt->kind == DFL_STMT_CALL) {
        check_call(c, stmt);
        return;
    }
    check_block(c, stmt->body);
    while (stmt->otherwise) { /* an else-if chain may be long, so no recursion along it */
        const struct dfl_stmt *next = stmt->otherwise->stmts;
        if (!next || next->next || next->kind != DFL_STMT_IF) {
            check_block(c, stmt->otherwise);
            break;
        }
        stmt = next;
        check_block(c, stmt->body);
    }
}

static void check_block(struct check *c, const struct dfl_block *block)
{
    for (const struct dfl_stmt *stmt = block->stmts; stmt; stmt = stmt->next)
        check_stmt(c, stmt);
}

void dfl_check_supported(struct dfl_sink *sink, const struct dfl_file *file)
{
    struct check c = {sink, file, false};
    for (const struct dfl_decl *decl = file->decls; decl; decl = decl->next)
        c.has_imports |= decl->kind == DFL_IMPORT;
    for (const struct dfl_decl *decl = file->decls; decl; decl = decl->next)
        if (decl->kind == DFL_GRAPH)
            check_block(&c, decl->graph->body);
}
