/* option.h - tables of command-line options: each row has an option's name, its help text, the type of its value and the field that receives it. Programs,
 * libraries and dfc's commands are parsed by such tables.
 *
 * Rows:     one for each spelling. A row names the type of its value, and the field that gets it, of the struct that its table fills.
 * Forms:    --name=VALUE, --name VALUE, --flag, -x VALUE, -xVALUE. If an option is given several times, the last one counts.
 * Ends:     a table ends with an empty row, a list of tables with an empty one. If a name stands in several tables of a list, the first row counts. So
 *           a command can say something else about a shared option, or hide one.
 * Errors:   DF_E_ARGUMENT with the message for the user; an empty message if a function of dfc has already reported it.
 */
#ifndef DF_OPTION_H
#define DF_OPTION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/df.h"

struct dfr_option;

/* Parses a value into a row's field; text is NULL if none was given. */
typedef int dfr_set_option(void *field, const struct dfr_option *option, const char *text, struct df_error *error);

enum dfr_option_type {
    DFR_TYPE_NONE,                      /* nothing is set */
    DFR_TYPE_FLAG,                      /* no value; a bool or an int gets 1 */
    DFR_TYPE_SPELLING,                  /* no value; a const char * gets the option's name */
    DFR_TYPE_COUNT,                     /* a whole number from `least` to `most`; or, if `words` is set, this word, for the number `first` */
    DFR_TYPE_BYTES,                     /* as dfr_parse_size() reads it, for a uint64_t */
    DFR_TYPE_SECONDS,                   /* as dfr_parse_seconds() reads it, for a double; first 1: a number without a unit is in seconds, too */
    DFR_TYPE_WORD,                      /* one of `words`, or of `value` if it is NULL, for an int or an enum: `first` for the first of them, and so on */
    DFR_TYPE_ON_OFF,                    /* for a bool or an int */
    DFR_TYPE_ONE_OF,                    /* a word as above, for a const char *, or for `set` if it is not NULL */
    DFR_TYPE_TEXT,                      /* any, for a const char * */
    DFR_TYPE_NAME,                      /* of a file, a folder, …: the same, and never empty */
    DFR_TYPE_NAMES,                     /* several of them, each by an option, for a const char ** from malloc(); their number, a size_t, is at `least` */
    DFR_TYPE_SET                        /* what `set` reads */
};

struct dfr_option {
    const char *name;                   /* "-o", "--policy"; NULL: `text` is the heading of the rows that follow */
    const char *value;                  /* as --help shows it: NULL: none; in brackets: it may be left out. Shells
                                         * complete FILE…, DIR, POLICY…, and words as in "on|off" */
    const char *text;                   /* NULL: the option is taken, and not shown */
    enum dfr_option_type type;
    size_t at, size;                    /* the field */
    uint64_t least, most, first;
    const char *words;                  /* "auto|on|off" */
    const char *hint;                   /* follows the message about a wrong word */
    dfr_set_option *set;
    int (*more)(FILE *out, int at);     /* prints the end of the help, from column `at` on, as dfr_help_words() does; NULL: it is complete */
    const char *program_only;           /* why a library does not take it; NULL: it does */
};

#define DFR_HEADING(words) { .text = (words) }
#define DFR_FIELD(type_, struct_, field) .type = DFR_TYPE_##type_, .at = offsetof(struct_, field), .size = sizeof ((struct_ *)0)->field
#define DFR_COUNT(struct_, field, least_, most_) DFR_FIELD(COUNT, struct_, field), .least = (least_), .most = (most_)
#define DFR_WORD(struct_, field, words_) DFR_FIELD(WORD, struct_, field), .words = (words_)
#define DFR_NAMES(struct_, field, number) DFR_FIELD(NAMES, struct_, field), .least = offsetof(struct_, number)
#define DFR_SET(set_, struct_, field) DFR_FIELD(SET, struct_, field), .set = (set_)
#define DFR_SET_ALL(set_) .type = DFR_TYPE_SET, .set = (set_) /* `set` gets the whole struct */
#define DFR_DEVICES(struct_, field, type_) DFR_FIELD(type_, struct_, field), DFR_DEVICE_WORDS
#define DFR_DEVICE_WORDS .words = "auto|none|emu|cuda|opencl|sim", \
    .hint = "; 'none' uses the CPU alone, 'cuda' a GPU, 'opencl' a device of OpenCL, 'emu' an emulated one"

struct dfr_options {                    /* one table of a list */
    const struct dfr_option *rows;      /* NULL: the end */
    size_t at;                          /* the struct that it fills, in the one of the list */
};

/* Returns the i-th effective row, in the order of --help, headings included; NULL past the last. */
const struct dfr_option *dfr_option_at(const struct dfr_options *tables, size_t i);
/* Returns the row that a command-line word (`--policy=gp`, `-Dn=4`) or a name refers to, or NULL. */
const struct dfr_option *dfr_option_find(const struct dfr_options *tables, const char *word);
/* Parses argv[*i] and its value, advancing *i, if it is one of these options. Sets *known if it is. */
int dfr_option_take(const struct dfr_options *tables, void *record, int argc, char **argv, int *i, bool *known, struct df_error *error);
/* Finds the text among words, "auto|on|off": *number is 0 for the first of them. */
int dfr_option_word(const struct dfr_option *row, const char *words, const char *text, uint64_t *number, struct df_error *error);
/* Parses one of the row's words of --device, or several kinds of devices, as in "emu,opencl": bit n of *kinds is the row's word n. */
int dfr_option_devices(const struct dfr_option *row, const char *text, uint32_t *kinds, struct df_error *error);
/* The `set` of an option --device whose field keeps the text. */
int dfr_option_set_devices(void *field, const struct dfr_option *row, const char *text, struct df_error *error);
/* Returns whether a word is in a list with commas. */
bool dfr_option_lists(const char *list, const char *word);
/* Parses an integer within bounds; messages name the option. */
int dfr_option_count(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *count, struct df_error *error);

/* ---- help: an option's name on the left, its text beside it, wrapped ---- */

void dfr_options_help(FILE *out, const struct dfr_options *tables);
/* Prints one entry. `value` as above. If the name is too long, the text begins below it. Returns the column after the last word; the line is not ended. */
int dfr_help_line(FILE *out, const char *name, const char *value, const char *text);
/* Prints more words from column `at` on, wrapped. Returns the column after the last. */
int dfr_help_words(FILE *out, int at, const char *text);

#endif
