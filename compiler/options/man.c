/* man.c - generates the manual pages (troff with the man macros) from the option tables, for commands/main.c. */
#include <ctype.h>
#include <string.h>

#include "compiler/options/option.h"

/* Prints text with troff's special characters escaped: '-' is a minus sign that can be copied from the page, and a line does not start with a request. */
static void print_text(FILE *out, const char *text, size_t n)
{
    bool at_start = true;
    for (size_t i = 0; i < n; i++) {
        if (at_start && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", out);
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else
            fputc(text[i], out);
        at_start = text[i] == '\n';
    }
}

/* Prints a usage text: "usage: …" lines as the synopsis, then paragraphs; indented lines keep their line breaks. */
static void print_usage(FILE *out, const char *usage)
{
    bool synopsis = true, verbatim = true;
    fputs(".SH SYNOPSIS\n.nf\n", out);
    for (const char *line = usage, *end; *line; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        if (strncmp(line, "usage: ", 7) == 0)
            line += 7;
        while (synopsis && *line == ' ')
            line++;
        if (line == end && synopsis) {
            synopsis = verbatim = false;
            fputs(".fi\n.SH DESCRIPTION\n", out);
        } else if (line == end) {
            fputs(end[1] ? ".PP\n" : "", out);
        } else {
            if (!synopsis && (*line == ' ') != verbatim)
                fputs((verbatim = !verbatim) ? ".nf\n" : ".fi\n", out);
            print_text(out, line, (size_t)(end - line));
            fputc('\n', out);
        }
    }
    fputs(verbatim ? ".fi\n" : "", out);
}

static void print_options(FILE *out, const struct dfc_command *command)
{
    const struct dfr_option *option;
    fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; (option = dfr_option_at(command->options, i)); i++) {
        if (!option->name) {
            fprintf(out, ".SS %c%s\n", toupper((unsigned char)option->text[0]), option->text + 1);
        } else if (option->text) {
            fputs(".TP\n.B ", out);
            print_text(out, option->name, strlen(option->name));
            if (option->value) {
                const bool optional = option->value[0] == '[', is_long = option->name[1] == '-';
                fputs(optional && is_long ? "[=" : is_long ? "=" : " ", out);
                print_text(out, option->value + (optional && is_long), strlen(option->value) - (optional && is_long));
            }
            fputc('\n', out);
            print_text(out, option->text, strlen(option->text));
            fputc('\n', out);
        }
    }
}

const char *dfc_man_name(const struct dfc_command *command)
{
    const char *name = dfc_command_name(command);
    return name + strspn(name, "-");
}

void dfc_print_man(FILE *out, const char *version, const struct dfc_command *command)
{
    const char *name = dfc_man_name(command);
    fprintf(out, ".TH dfc\\-%s 1 \"\" \"dfc %s\"\n.SH NAME\ndfc\\-%s \\- ", name, version, name);
    print_text(out, command->about, strlen(command->about));
    fputc('\n', out);
    print_usage(out, command->usage);
    print_options(out, command);
    fputs(".SH EXIT STATUS\n0 on success, 1 if something that was asked for failed, 2 for a wrong command line.\n.SH SEE ALSO\n.BR dfc (1)\n", out);
}

void dfc_print_man_overview(FILE *out, const char *version, const char *about, const char *examples)
{
    fprintf(out, ".TH dfc 1 \"\" \"dfc %s\"\n.SH NAME\ndfc \\- ", version);
    print_text(out, about, strlen(about));
    fputs("\n.SH SYNOPSIS\n.nf\ndfc GRAPH.df [\\-o PROGRAM] [options]\ndfc COMMAND [options]\n.fi\n.SH COMMANDS\n", out);
    for (size_t i = 0; i < dfc_n_commands; i++) {
        fprintf(out, ".TP\n.BR dfc\\-%s (1)\n", dfc_man_name(dfc_commands[i]));
        print_text(out, dfc_commands[i]->about, strlen(dfc_commands[i]->about));
        fputc('\n', out);
    }
    fputs(".SH EXAMPLES\n.nf\n", out);
    print_text(out, examples, strlen(examples));
    fputs(".fi\n.SH SEE ALSO\n", out);
    for (size_t i = 0; i < dfc_n_commands; i++)
        fprintf(out, ".BR dfc\\-%s (1)%s\n", dfc_man_name(dfc_commands[i]), i + 1 < dfc_n_commands ? "," : "");
}
