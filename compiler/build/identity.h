/* identity.h - the identity of a program: everything besides its graph and arguments on which its results depend: dfc, compilers, flags, each file
 * that is compiled or included, and the libraries that `link` names. build_data.c links the text into the program; the caches take hashes of files and
 * of compiler commands from it (cache_store.c, object_cache.c, program_cache.c).
 *
 * Form:     facts (record/facts.h), one per line. The linked program contains them as the string `df_identity`. The hash of a run covers the
 *           string, so --resume, `dfc merge` and ranks refuse to mix programs, and report the fact in which they differ.
 * Kinds:    `dfc` (version and build ID), `compiler` (per language: path and content of the command's files, and the .comment section of an object),
 *           `flags` (per language, and per file whose flags the .df gives), `file` (content; the system's headers are one fact), `library` (content).
 * Left out: search paths, because the files found in them count; paths in debug information; what is decided at run time (placement, device); flags of
 *           formulas' units, whose results do not depend on the flags that they get. The contents of files that .incbin names are not known.
 */
#ifndef DFC_IDENTITY_H
#define DFC_IDENTITY_H

#include "compiler/build/build_program.h"
#include "runtime/record/facts.h"

struct dfc_content {
    uint64_t bytes, hash;
};
/* Hashes a file's content. Returns false if it is no regular file that can be read whole. */
bool dfc_content_of(const char *path, struct dfc_content *content);

/* Returns a hash of a compiler's command: the path and the content of each word that names a program, and the other words. Writes the command
 * to `text`, for messages. */
uint64_t dfc_compiler_hash(const struct dfc_list *command, char *text, size_t size);

/* Adds the facts of these units, which have been compiled: compilers, flags and files. false: reported. */
bool dfc_identify(const struct dfc_program *p, const struct dfc_build_unit *units, size_t n, struct dfr_facts *facts);

/* Returns the identity of the program, whose units have been compiled; malloc'ed. NULL: reported. */
char *dfc_identity_text(const struct dfc_program *p);

#endif
