/* paths.h - names of files: folders and names joined, what an ending says, and the bytes of a whole file. */
#ifndef DFC_PATHS_H
#define DFC_PATHS_H

#include "compiler/types/frontend.h"

/* dir/path; or path alone, if it is absolute or dir is "" or ".". As written otherwise. malloc'ed, NULL: no memory. */
char *dfc_path_join(const char *dir, const char *path);
/* Takes "." and "name/.." out of a path, in place; "" becomes ".", for which there must be room. */
void dfc_path_tidy(char *path);
/* Both of it, in the unit's arena; "" if there is no memory (no_memory is set). */
const char *dfc_unit_path(struct dfc_unit *u, const char *dir, const char *path);
/* The stem of a path: no folder, no ".df", and "_" for what is special to C, make or a shell. malloc'ed, NULL: no
 * memory. */
char *dfc_stem(const char *path);

/* What a file with a variant's code holds, by its ending: .c, .cpp, .cu, or .o and .a. false: another ending. */
enum dfc_code_kind { DFC_CODE_C, DFC_CODE_CXX, DFC_CODE_CUDA, DFC_CODE_OBJECT };
bool dfc_code_kind(const char *path, enum dfc_code_kind *kind);
/* The same for a variant that the front end has accepted, whose ending is one of these. */
enum dfc_code_kind dfc_code_kind_of(const char *path);

/* Reads a whole file by the options' `read` or from the file system. The text is the caller's to free. */
bool dfc_read_file(const struct dfc_front_options *options, const char *path, char **text, size_t *length,
                   const char **why);

#endif
