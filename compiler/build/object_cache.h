/* object_cache.h - objects that were compiled before. A file whose text, includes, flags and compiler are the same is not compiled again.
 *
 * Place:    $DFC_CACHE, else $XDG_CACHE_HOME/dfc, else ~/.cache/dfc. DFC_CACHE=none, and a user without a home folder,
 *           have no cache. The folder must be the user's own.
 * Entry:    KEY.o and KEY.record. The key is a hash of what is known before the compiler runs: its command, the files of
 *           the compilers, variables that they obey, and the generated text; with debug information the working folder, which is in that. The record
 *           lists each file that the compiler read, with size and hash, and the object with its own. An entry is used if all of them still agree.
 * Not seen: a new header in a folder that is searched before the one where an old header was found.
 * Kept out: units for which the compiler had something to say, so that warnings are printed each time; files that name __DATE__ or the like, or
 *           .incbin; and flags by which a compiler reads or writes more than it lists (-fprofile-use, plug-ins, …).
 * Bounds:   beyond DFC_CACHE_MOST_BYTES the entries that were used longest ago are removed.
 * Errors:   none are told. What cannot be read is compiled, what cannot be written is not kept. Each file appears whole
 *           or not at all, so several dfc may run at once.
 */
#ifndef DFC_OBJECT_CACHE_H
#define DFC_OBJECT_CACHE_H

#include "compiler/build/build_program.h"

#define DFC_CACHE_MOST_BYTES (UINT64_C(512) << 20)

/* The entry of a unit that argv compiles to unit->object; argv makes a list of prerequisites in unit->deps. NULL: it is
 * not cached. The caller frees the name. */
char *dfc_cache_entry(const struct dfc_program *p, const struct dfc_build_unit *unit, const struct dfc_list *argv);
/* Puts the entry's object to unit->object. false: there is none, or it is out of date. */
bool dfc_cache_get(const struct dfc_program *p, const struct dfc_build_unit *unit, const char *entry);
/* Keeps unit->object, which was compiled just now. */
void dfc_cache_put(const struct dfc_program *p, const struct dfc_build_unit *unit, const char *entry);
/* Keeps the bound of the folder that this entry is in, after one or more were put. */
void dfc_cache_trim(const char *entry);

#endif
