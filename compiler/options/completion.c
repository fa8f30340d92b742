/* completion.c - generates the completion scripts for bash and zsh from the option tables, for commands/main.c. */
#include <string.h>

#include "compiler/options/option.h"
#include "compiler/tools/messages.h"
#include "runtime/policy/policy.h"

struct commands {
    const struct dfc_command *const *all;
    size_t n;
};

/* ---- values ---- */

enum completes { NOTHING, FILES, FOLDERS, POLICIES, WORDS };

/* What may stand for a value that --help shows so. */
static enum completes kind_of(const char *value)
{
    if (strncmp(value, "FILE", 4) == 0)
        return FILES;
    if (strcmp(value, "DIR") == 0)
        return FOLDERS;
    if (strncmp(value, "POLICY", 6) == 0)
        return POLICIES;
    return *value >= 'a' && *value <= 'z' && value[strspn(value, "abcdefghijklmnopqrstuvwxyz-|")] == '\0' ? WORDS : NOTHING;
}

/* Prints the words of a value that is one of several, with blanks between. */
static void print_words(FILE *out, const char *value)
{
    if (kind_of(value) == WORDS) {
        for (; *value; value++)
            fputc(*value == '|' ? ' ' : *value, out);
        return;
    }
    for (const char *const *name = dfr_policy_names(); *name; name++)
        fprintf(out, "%s%s", name == dfr_policy_names() ? "" : " ", *name);
    if (strstr(value, "|all"))
        fputs(" all", out);
}

/* ---- bash ---- */

static const char bash_head[] =
    "\n# The options of a command.\n"
    "_dfc_options() {\n"
    "    case $1 in\n";

static const char bash_middle[] =
    "    esac\n"
    "}\n\n"
    "# What may stand for the value of an option of a command: words, or @file or @folder.\n"
    "_dfc_values() {\n"
    "    case \"$1 $2\" in\n";

static const char bash_tail[] =
    "    esac\n"
    "}\n\n"
    "_dfc() {\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} command=compile values word\n"
    "    if [ \"$current\" = = ]; then\n"
    "        current=\n"
    "    elif [ \"$option\" = = ]; then\n"
    "        option=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    fi\n"
    "    for word in $_dfc_commands; do\n"
    "        [ \"$COMP_CWORD\" -gt 1 ] && [ \"${COMP_WORDS[1]}\" = \"$word\" ] && command=$word\n"
    "    done\n"
    "    COMPREPLY=()\n"
    "    values=$(_dfc_values \"$command\" \"$option\")\n"
    "    case $values in\n"
    "        @folder) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- \"$current\") ;;\n"
    "        @file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$current\") ;;\n"
    "        ?*) mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$current\") ;;\n"
    "        *)\n"
    "            if [[ $current == -* ]]; then\n"
    "                mapfile -t COMPREPLY < <(compgen -W \"$(_dfc_options \"$command\")\" -- \"$current\")\n"
    "                [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
    "            else\n"
    "                compopt -o filenames 2>/dev/null\n"
    "                mapfile -t COMPREPLY < <(compgen -f -X '!*.df' -- \"$current\"; compgen -d -- \"$current\"\n"
    "                    [ \"$COMP_CWORD\" = 1 ] && compgen -W \"$_dfc_commands\" -- \"$current\")\n"
    "            fi ;;\n"
    "    esac\n"
    "}\n\n"
    "complete -F _dfc dfc\n";

static void bash_options(FILE *out, const struct dfc_command *command)
{
    const struct dfr_option *option;
    fprintf(out, "        %s) echo '", dfc_command_name(command));
    for (size_t i = 0; (option = dfr_option_at(command->options, i)); i++)
        if (option->name && option->text)
            fprintf(out, "%s%s ", option->name,
                    option->value && *option->value != '[' && option->name[1] == '-' ? "=" : "");
    fputs("' ;;\n", out);
}

static void bash_values(FILE *out, const struct dfc_command *command)
{
    const struct dfr_option *option;
    for (size_t i = 0; (option = dfr_option_at(command->options, i)); i++) {
        enum completes kind = option->name && option->value ? kind_of(option->value) : NOTHING;
        if (kind == NOTHING || !option->text)
            continue;
        fprintf(out, "        '%s %s') echo '", dfc_command_name(command), option->name);
        if (kind == FILES || kind == FOLDERS)
            fputs(kind == FILES ? "@file" : "@folder", out);
        else
            print_words(out, option->value);
        fputs("' ;;\n", out);
    }
}

static void print_bash(FILE *out, const struct commands *commands)
{
    fputs("# Completion of dfc's command lines for bash. 'dfc --completion=bash' printed it.\n\n_dfc_commands='help", out);
    for (size_t c = 0; c < commands->n; c++)
        fprintf(out, " %s", dfc_command_name(commands->all[c]));
    fputs("'\n", out);
    fputs(bash_head, out);
    for (size_t c = 0; c < commands->n; c++)
        bash_options(out, commands->all[c]);
    fputs(bash_middle, out);
    for (size_t c = 0; c < commands->n; c++)
        bash_values(out, commands->all[c]);
    fputs(bash_tail, out);
}

/* ---- zsh ---- */

static const char zsh_head[] =
    "#compdef dfc\n"
    "# Completion of dfc's command lines for zsh. 'dfc --completion=zsh' printed it.\n\n"
    "_dfc() {\n"
    "    local command=compile\n"
    "    local -a commands options\n";

static const char zsh_middle[] =
    "    if (( CURRENT > 2 && ${commands[(Ie)$words[2]]} )); then\n"
    "        command=$words[2]\n"
    "        shift words\n"
    "        (( CURRENT-- ))\n"
    "    fi\n"
    "    case $command in\n";

static const char zsh_tail[] =
    "    esac\n"
    "    if [[ $CURRENT == 2 && $command == compile && $PREFIX != -* ]]; then\n"
    "        _alternative 'commands:command:compadd -a commands' 'graphs:graph:_files -g \"*.df\"'\n"
    "    else\n"
    "        _arguments $options '*:graph:_files -g \"*.df\"'\n"
    "    fi\n"
    "}\n\n"
    "_dfc \"$@\"\n";

/* What an option is for: its text up to the first sign that ends a thought. */
static void zsh_text(FILE *out, const char *text)
{
    size_t n = strcspn(text, ";:([]");
    while (n && text[n - 1] == ' ')
        n--;
    for (size_t i = 0; i < n; i++)
        fputs(text[i] == '\'' ? "'\\''" : (char[]){ text[i], '\0' }, out);
}

static void zsh_option(FILE *out, const struct dfr_option *option)
{
    const char *value = option->value;
    bool is_long = option->name[1] == '-', optional = value && *value == '[';
    fprintf(out, "            '*%s%s[", option->name, !value ? "" : !is_long ? "+" : optional ? "=-" : "=");
    zsh_text(out, option->text);
    fputc(']', out);
    if (value) {
        enum completes kind = kind_of(value);
        fprintf(out, "%svalue:", optional ? "::" : ":");
        if (kind == FILES || kind == FOLDERS) {
            fputs(kind == FILES ? "_files" : "_files -/", out);
        } else if (kind != NOTHING) {
            fputc('(', out);
            print_words(out, value);
            fputc(')', out);
        }
    }
    fputs("'\n", out);
}

static void print_zsh(FILE *out, const struct commands *commands)
{
    const struct dfr_option *option;
    fputs(zsh_head, out);
    fputs("    commands=(help", out);
    for (size_t c = 0; c < commands->n; c++)
        fprintf(out, " %s", dfc_command_name(commands->all[c]));
    fputs(")\n", out);
    fputs(zsh_middle, out);
    for (size_t c = 0; c < commands->n; c++) {
        fprintf(out, "        %s) options=(\n", dfc_command_name(commands->all[c]));
        for (size_t i = 0; (option = dfr_option_at(commands->all[c]->options, i)); i++)
            if (option->name && option->text)
                zsh_option(out, option);
        fputs("        ) ;;\n", out);
    }
    fputs(zsh_tail, out);
}

/* ---- shells ---- */

bool dfc_print_completion(FILE *out, const char *shell, const struct dfc_command *const *commands, size_t n)
{
    const struct commands these = { commands, n };
    if (strcmp(shell, "bash") == 0)
        print_bash(out, &these);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(out, &these);
    else
        dfc_error("--completion=%s: one of bash, zsh is expected", shell);
    return strcmp(shell, "bash") == 0 || strcmp(shell, "zsh") == 0;
}
