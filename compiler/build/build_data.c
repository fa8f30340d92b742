/* build_data.c - writes data.s for build_program.c: the data that a program carries besides its code, which are the
 * image of its graph, times and plan, and its identity. build_link.c adds it to the link command, which assembles it,
 * so it needs no compiler process and no user flag affects it. As C code it would be lost to link-time optimisation
 * with clang.
 */
#include "compiler/build/build_program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/build/identity.h"

static void print_character(FILE *out, char c)
{
    if (strchr("\"\\", c) || c < ' ' || c > '~')
        fprintf(out, "\\%03o", (unsigned char)c);
    else
        fputc(c, out);
}

/* Prints the text between quotes. */
static void print_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        print_character(out, *text);
    fputc('"', out);
}

/* Prints the lines of the text, each as a directive. */
static void print_lines(FILE *out, const char *text)
{
    fputs("    .ascii \"", out);
    for (; *text; text++) {
        print_character(out, *text);
        if (*text == '\n')
            fputs("\"\n    .ascii \"", out);
    }
    fputs("\"\n", out);
}

/* The text has the image's hash, so that a program is found in the cache by the content of data.s, and no name of the work folder. */
static void print_data(FILE *out, const char *image, const struct dfc_content *content, const char *identity)
{
    fprintf(out, "/* image: %" PRIu64 " bytes, %016" PRIx64 " */\n", content->bytes, content->hash);
    fputs("    .file 1 \"data.s\"\n" /* so that with -g clang makes no lines of this file, whose folder has another name in every build */
          "    .section .rodata\n    .globl df_image, df_image_end, df_identity\n    .balign 64\ndf_image:\n    .incbin ", out);
    print_string(out, image);
    fputs("\ndf_image_end:\n    .byte 0\n    .type df_identity, %object\ndf_identity:\n", out);
    print_lines(out, identity);
    fputs("    .byte 0\n    .size df_identity, . - df_identity\n    .section .note.GNU-stack, \"\", %progbits\n", out);
}

static bool write_data(const char *path, const char *image, const struct dfc_content *content, const char *identity)
{
    FILE *out = fopen(path, "w");
    if (out)
        print_data(out, image, content, identity);
    const bool good = out && !ferror(out);
    if (out && fclose(out) == 0 && good)
        return true;
    dfc_error("cannot write '%s': %s", path, strerror(errno));
    return false;
}

bool dfc_data_write(struct dfc_program *p)
{
    char *identity = dfc_identity_text(p), *image = NULL;
    struct dfc_content content;
    bool good = identity != NULL;
    if (good && (asprintf(&image, "%s/%s.image", p->work, p->stem) < 0 || asprintf(&p->data, "%s/data.s", p->work) < 0)) {
        dfc_error("out of memory");
        good = false;
    }
    if (good && !dfc_content_of(image, &content)) {
        dfc_error("cannot read '%s'", image);
        good = false;
    }
    good = good && write_data(p->data, strrchr(image, '/') + 1, &content, identity);
    free(identity);
    free(image);
    return good;
}

void dfc_data_add(const struct dfc_program *p, struct dfc_list *argv)
{
    dfc_list_add(argv, "%s", p->data);
    dfc_list_add(argv, "-Xassembler"); /* the folder in which .incbin finds the image; -Wa would split it at commas */
    dfc_list_add(argv, "-I");
    dfc_list_add(argv, "-Xassembler");
    dfc_list_add(argv, "%s", p->work);
}
