/* format_impl.h - the tokens and lines of a file that is being formatted, as format.c passes them to format_lines.c.
 * Private to these two.
 *
 * Words:    an *item* is a token or a comment. A *line* is a range of items that belong on one line: a declaration, a
 *           statement, the beginning or end of a block. If it is too long it is printed as several lines of text.
 */
#ifndef DFL_FORMAT_IMPL_H
#define DFL_FORMAT_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct dfl_item {
    const char *text;
    size_t length;
    unsigned newlines;                  /* between the item before and this one */
    size_t match;                       /* of '{': the index of its '}' */
    unsigned depth;                     /* of the brackets around it */
    bool comment;
    bool declares;                      /* it begins a declaration */
    bool list;                          /* '{' and '}' of a table: brackets, and no block */
    bool edges;                         /* the word `border` before a port's edges */
    bool ends_line;                     /* a comment that begins with two slashes */
    bool several_lines;
    bool space;                         /* a blank stands before it, if it does not begin a line */
    bool may_break;                     /* a long line may be broken after it */
};

enum dfl_line_kind { DFL_LINE_PLAIN, DFL_LINE_COMMENT, DFL_LINE_PARAM, DFL_LINE_ARG, DFL_LINE_KERNEL };

struct dfl_line {
    enum dfl_line_kind kind;
    size_t first, end;                  /* items; end is the one after the last */
    size_t comments;                    /* number of trailing comments: items from `end` on */
    size_t tail;                        /* kernel: the first item of its variants and costs; `end`: it has none */
    unsigned indent;                    /* levels */
    unsigned pad;                       /* more blanks after the first word (param, arg) or before the tail (kernel) */
    unsigned pad_type;                  /* arg: more blanks before its type */
    size_t help;                        /* param, arg: the item `help`; `end`: it has none */
    unsigned pad_help;                  /* param, arg: more blanks before it */
    unsigned comment_column;            /* column of the trailing comment, from 0 */
    bool whole;                         /* it is one line of text */
    bool blank;                         /* an empty line stands before it */
};

bool dfl_item_is(const struct dfl_item *item, const char *text);
/* Return whether a token opens or closes a bracket inside which a line may be broken. */
bool dfl_item_opens(const struct dfl_item *item);
bool dfl_item_closes(const struct dfl_item *item);

/* Finds the columns of all lines. */
void dfl_lines_align(const struct dfl_item *items, struct dfl_line *lines, size_t n);
void dfl_line_print(FILE *out, const struct dfl_item *items, const struct dfl_line *line);

/* The width of items [first, end) on one line, in columns. */
unsigned dfl_items_width(const struct dfl_item *items, size_t first, size_t end);
/* Returns whether they cannot be on one line, because of a line comment or a multi-line item. */
bool dfl_items_break(const struct dfl_item *items, size_t first, size_t end);

#endif
