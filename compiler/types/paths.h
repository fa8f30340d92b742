/* paths.h - path handling for the front end, load/, build/ and the commands: joins folders and file names, maps file
 * extensions to kinds of code, and reads whole files.
 */
#ifndef DFC_PATHS_H
#define DFC_PATHS_H

#include <stdio.h>

#include "compiler/types/frontend.h"

/* dir/path, otherwise as written. It is path alone if path is absolute or dir is "" or ".". malloc'ed; NULL: no
 * memory. */
char *dfc_path_join(const char *dir, const char *path);
/* Removes "." and "name/.." from a path, in place. "" becomes ".", so there must be room for 2 bytes. */
void dfc_path_tidy(char *path);
/* Joins and removes as above, in the unit's arena. "": there is no memory (no_memory is set). */
const char *dfc_unit_path(struct dfc_unit *u, const char *dir, const char *path);
/* Puts "_" for each character that C strings, make or a shell may treat specially. */
void dfc_make_plain(char *name);
/* The stem of a path: without folder and ".df", and plain. malloc'ed; NULL: no memory. */
char *dfc_stem(const char *path);

/* Prints `#line N "file"`: compilers take what follows for that line. */
void dfc_emit_line(FILE *out, unsigned line, const char *file);

/* The kind of code in a variant's file, by its ending: .c; .cpp .cc .cxx; .cu; .cl; .o .a. false: it has another ending. */
enum dfc_code_kind { DFC_CODE_C, DFC_CODE_CXX, DFC_CODE_CUDA, DFC_CODE_OPENCL, DFC_CODE_OBJECT };
bool dfc_code_kind(const char *path, enum dfc_code_kind *kind);
/* The same for the file of a variant that the front end has accepted, so its ending is one of these. */
enum dfc_code_kind dfc_code_kind_of(const char *path);

/* The i-th file that a variant names, as written; *loc (may be NULL): its place. NULL: it names no more. */
const char *dfc_variant_file(const struct dfl_variant *variant, unsigned i, struct dfl_loc *loc);
/* The flags that are written with it. NULL: none are. */
const struct dfl_expr *dfc_variant_flags(const struct dfl_variant *variant, unsigned i);

/* Reads a whole file by the options' `read`, or from the file system if that is NULL. The caller frees the text. Of an untrusted program's files
 * only those below its folder, a folder of -I or dfc's own are read. */
bool dfc_read_file(const struct dfc_front_options *options, const char *path, char **text, size_t *length,
                   const char **why);

#endif
