/* code_flags.c - checks for code_files.c the compiler flags of one source file, as in `cpu "file.c" flags "-O3"`: they
 * must be plain command-line words, must not change what kind of output the compiler makes, and must be the same
 * wherever the file is named.
 */
#include <string.h>

#include "compiler/declare/declare.h"
#include "compiler/types/words.h"

/* A file's first use: what later ones are compared with. */
struct use {
    struct dfl_loc loc;                 /* of the file's name */
    const struct dfl_expr *flags;       /* NULL: none */
};

static bool is_one_of(const char *word, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(word, *names) == 0)
            return true;
    return false;
}

static bool begins_with_one_of(const char *word, const char *const *names)
{
    for (; *names; names++)
        if (strncmp(word, *names, strlen(*names)) == 0)
            return true;
    return false;
}

/* With these a compiler makes no object of the file, makes it elsewhere, or takes it for another language. */
static bool changes_output(const char *word)
{
    static const char *const whole[] = { "-c", "-S", "-E", "-r", "-h", "-dc", "-dw", "-ptx", "-run", "-lib", "-cubin",
                                         "-fatbin", "-cuda", "-dlink", "-shared", "--shared", "-static", "-dryrun",
                                         "-###", "--preprocess", "--assemble", "--compile", "--device-c", "--device-w",
                                         "--device-link", "--ptx", "--run", "--cubin", "--fatbin", "--cuda",
                                         "--dryrun", "-fsyntax-only", "-clean", "--clean-targets", NULL };
    static const char *const beginnings[] = { "-o", "--output", "-M", "-x", "--language", "--x", "--help", "-help",
                                              "--target-help", "--version", "-dump", "-print", "--print", "-emit-",
                                              "-save-temps", "--save-temps", "-rdc", "--relocatable-device-code",
                                              "-keep", "--keep", "--lib", NULL };
    return is_one_of(word, whole) || begins_with_one_of(word, beginnings);
}

static bool is_for_linker(const char *word)
{
    static const char *const beginnings[] = { "-l", "-L", "-Wl,", "-Xlinker", "--linker-options", "--library", NULL };
    return begins_with_one_of(word, beginnings) && strcmp(word, "-lineinfo") != 0;
}

static bool check_word(struct dfc_unit *u, const struct dfl_expr *flags, const char *word)
{
    if (word[0] != '-' || !word[1]) {
        dfl_error(u->sink, flags->loc, "'%s' is not an option for a compiler: those begin with '-'", word);
        dfl_hint(u->sink, "an option and its value are one word, as in '-Iinclude' and '-includefile.h' (for nvcc "
                          "'-include=file.h')");
    } else if (changes_output(word)) {
        dfl_error(u->sink, flags->loc, "'%s' changes what a compiler makes, and dfc needs an object file", word);
        dfl_hint(u->sink, "flags say how a file is compiled, as in '-O3', '-fopenmp', '-DNAME=4', '-Iinclude'");
    } else if (is_for_linker(word)) {
        dfl_error(u->sink, flags->loc, "'%s' is for the linker, and these flags are for compiling one file", word);
        dfl_hint(u->sink, "a library is linked by 'link \"m\";', or by -l and -L of dfc");
    } else
        return true;
    return false;
}

static bool check_words(struct dfc_unit *u, const struct dfl_expr *flags)
{
    const char *text = flags->s;
    char *word = dfc_alloc(u, strlen(text) + 1);
    bool unclosed, ok = true;
    while (ok && word && dfc_next_word(&text, word, &unclosed)) {
        ok = check_word(u, flags, word);
        if (ok && unclosed) {
            dfl_error(u->sink, flags->loc, "a quote in the flags is not closed");
            ok = false;
        }
    }
    return ok && word;
}

static bool check_same(struct dfc_unit *u, const struct use *first, const char *file, struct dfl_loc loc,
                       const struct dfl_expr *flags)
{
    if (strcmp(first->flags ? first->flags->s : "", flags ? flags->s : "") == 0)
        return true;
    dfl_error(u->sink, flags ? flags->loc : loc, "'%s' is compiled once, and another use of it has other flags", file);
    dfl_note(u->sink, first->flags ? first->flags->loc : first->loc, "the first use is here");
    dfl_hint(u->sink, "write the same flags at each use of the file");
    return false;
}

bool dfc_flags_check(struct dfc_unit *u, uint32_t file_id, const char *file, bool is_object, struct dfl_loc loc,
                     const struct dfl_expr *flags)
{
    if (file_id < u->code_uses.n) {
        if (!check_same(u, (struct use *)u->code_uses.items + file_id, file, loc, flags))
            return false;
    } else {
        struct use *use = dfr_array_add(&u->code_uses, sizeof *use, 1);
        if (!use)
            return dfc_no_memory(u);
        *use = (struct use){ loc, flags };
    }
    if (flags && is_object) {
        dfl_error(u->sink, flags->loc, "'%s' is compiled already, so flags have no effect on it", file);
        return false;
    }
    return !flags || check_words(u, flags);
}
