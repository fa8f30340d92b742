/* object_cache.h - objects that were compiled before, and what compilers were asked (cache_store.h). A file whose text, includes, flags and compiler are the same is not compiled again.
 *
 * Key:      the compiler's command, the files of the compilers, variables that they obey, and the generated text; with debug information the working
 *           folder, which is in that.
 * Not seen: a new header in a folder that is searched before the one where an old header was found.
 * Kept out: units for which the compiler had something to say, so that warnings are printed each time; files that name __DATE__ or the like, or
 *           .incbin, and what includes such a header of the user's; and flags by which a compiler reads or writes more than it lists (-fprofile-use, -flto, plug-ins, …).
 */
#ifndef DFC_OBJECT_CACHE_H
#define DFC_OBJECT_CACHE_H

#include "compiler/build/build_program.h"

/* The entry of a unit that argv compiles to unit->object; argv makes a list of prerequisites in unit->deps. NULL: it is
 * not cached. The caller frees the name. */
char *dfc_object_entry(const struct dfc_program *p, const struct dfc_build_unit *unit, const struct dfc_list *argv);
/* Copies the entry's object to unit->object and writes unit->deps. Returns false if there is none, or it is out of date. */
bool dfc_object_get(const struct dfc_program *p, const struct dfc_build_unit *unit, const char *entry);
/* Keeps unit->object, which was compiled just now. */
void dfc_object_put(const struct dfc_program *p, const struct dfc_build_unit *unit, const char *entry);
/* Runs a compiler's command that says whether it takes some flags. Returns true if it does. The answer is kept. */
bool dfc_compiler_takes(const struct dfc_program *p, const struct dfc_list *argv);
/* Does a word of a command make a compiler or linker read files that it does not list, or write others than its product? */
bool dfc_is_beyond_cache(const char *word);

#endif
