/* program_cache.h - the cache of linked programs and libraries (on top of cache_store.h). A program is relinked only if its
 * objects, libraries or flags changed. build_link.c links through it.
 *
 * Key:      the link command without the output's name, the state of each file that it names, the libraries in the -L
 *           folders, the compiler that links, and the environment variables that it and the linker read.
 * Record:   the files that the linker read, as it lists them (--dependency-file: GNU ld and gold from binutils 2.35 on,
 *           lld, mold), and the linker.
 * Not seen: a new library in one of the linker's own folders that is searched before the one where an old library was found.
 * Kept out: products of linkers without that option; links during which the linker printed anything, so that warnings
 *           are printed each time; thin archives, because their members are elsewhere; and options by which a linker
 *           reads or writes other files (-Map, -T, plug-ins, …).
 */
#ifndef DFC_PROGRAM_CACHE_H
#define DFC_PROGRAM_CACHE_H

#include "compiler/build/build_program.h"

#define DFC_LINKER_LISTS "--dependency-file="

/* The entry of what argv links, and of the archive that is made of that if `archive` is set. NULL: it is not cached. The caller frees the name. */
char *dfc_program_entry(const struct dfc_program *p, const struct dfc_list *argv, bool archive);
/* Copies the entry's product to `path`. Returns false if there is none, or it is out of date. */
bool dfc_program_get(const struct dfc_program *p, const char *entry, const char *path);
/* Adds the words by which the linker lists what it reads. */
void dfc_program_list(const struct dfc_program *p, struct dfc_list *argv);
/* The time to give to dfc_program_put(): now, before the linker is run. */
struct timespec dfc_program_clock(void);
/* Keeps the product at `path`. It was linked just now by `argv` with the words of dfc_program_list(). */
void dfc_program_put(const struct dfc_program *p, const char *entry, const char *path, const struct dfc_list *argv, struct timespec began);

#endif
