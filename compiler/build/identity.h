/* identity.h - what decides the bits that a program computes, beside its graph and its arguments: dfc, compilers, flags, every file that is compiled or
 * included, and the libraries that `link` names.
 *
 * Form:     facts as io/facts.h has them, one a line. The linked program carries them as the text `df_identity`. The hash of a run covers the
 *           text, so --resume, `dfc merge` and ranks refuse a mixture of programs, and name the fact in which they differ.
 * Kinds:    `dfc` (version and build ID), `compiler` (by language: the file of its command, its content, and what the compiler itself writes into
 *           objects), `flags` (by language, and by file where the .df gives some), `file` (content; the system's headers are one fact), `library` (content).
 * Left out: folders in which files are looked for, because the files found there count; debug information's names; what the run decides
 *           (placement, device); flags of units of formulas, whose results are the same under all flags that they get.
 * Objects:  dfc_identify() of one unit says what decides the bits of its object, so a cache of objects may ask it.
 */
#ifndef DFC_IDENTITY_H
#define DFC_IDENTITY_H

#include "compiler/build/build_program.h"
#include "runtime/io/facts.h"

struct dfc_content {
    uint64_t bytes, hash;
};
/* Hashes a file's content. Returns false if it is no regular file that can be read whole. */
bool dfc_content_of(const char *path, struct dfc_content *content);

/* Hashes the files behind the words of a compiler's command: path and content of each word that names a program, other words as they are. Writes
 * them into `text`, as a person reads them. */
uint64_t dfc_compiler_hash(const struct dfc_list *command, char *text, size_t size);

/* Adds the facts of these units, which are compiled: their compilers, flags and files. false: reported. */
bool dfc_identify(const struct dfc_program *p, const struct dfc_build_unit *units, size_t n, struct dfr_facts *facts);

/* The identity of the program, whose units are compiled. malloc'ed; NULL: reported. */
char *dfc_identity_text(const struct dfc_program *p);

#endif
