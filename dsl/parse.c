/* parse.c - parses one file: registers its text with the diagnostic sink, runs scanner and parser, and returns the
 * syntax tree. The front end calls it for programs and platforms, format.c for the tokens.
 */
#include "dsl/parse.h"

#include <stdlib.h>
#include <string.h>

#include "dsl/reader.h"

#include "parser.h"

#include "lexer.h"

static const char byte_order_mark[] = "\xEF\xBB\xBF";

/* Runs the parser over r->text. False: memory ran out. */
static bool read_text(struct dfl_reader *r)
{
    bool done = false;
    r->buffer = malloc(r->length + 2);
    if (!r->buffer)
        return false;
    for (size_t i = 0; i < r->length; i++)
        r->buffer[i] = r->text[i] ? r->text[i] : '\1'; /* lexer.l says why */
    memset(r->buffer + r->length, 0, 2); /* flex wants two NULs after the text */
    if (dfl_flex_lex_init_extra(r, &r->scanner) == 0) {
        dfl_flex__scan_buffer(r->buffer, r->length + 2, r->scanner);
        dfl_yyparse(r);
        dfl_flex_lex_destroy(r->scanner);
        done = !r->no_memory && !dfl_arena_failed(r->arena);
    }
    free(r->buffer);
    return done;
}

struct dfl_file *dfl_parse(struct dfl_sink *sink, const char *name, const char *text, size_t length)
{
    return dfl_parse_tokens(sink, name, text, length, NULL);
}

struct dfl_file *dfl_parse_tokens(struct dfl_sink *sink, const char *name, const char *text, size_t length,
                                  struct dfl_tokens *tokens)
{
    struct dfl_arena *arena = dfl_arena_new();
    if (!arena)
        return NULL;
    struct dfl_file *file = dfl_arena_alloc(arena, sizeof *file);
    file->arena = arena;
    file->file = dfl_sink_file(sink, name, text, length);
    if (length > DFL_MAX_FILE) {
        dfl_error(sink, (struct dfl_loc){file->file, 0, 0, 0}, "file is too large: %zu bytes, at most %u", length,
                  DFL_MAX_FILE);
        return file;
    }

    if (length >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
        text += 3;
        length -= 3;
    }
    if (dfl_foreign(sink, file->file, text, length))
        return file;

    struct dfl_reader *r = calloc(1, sizeof *r);
    if (!r)
        goto no_reader;
    *r = (struct dfl_reader){.sink = sink, .arena = arena, .file = file->file, .text = text, .length = length,
                             .line = 1, .col = 1, .tokens = tokens};
    if (!read_text(r))
        goto no_memory;
    DFL_FIRST(file->decls, r->decls);
    free(r);
    return file;

no_memory:
    free(r);
no_reader:
    dfl_arena_free(arena);
    return NULL;
}

void dfl_file_free(struct dfl_file *file)
{
    if (file)
        dfl_arena_free(file->arena); /* the file itself is in it */
}
