/* object_cache.h - the cache of compiled objects, and of the flags that a compiler accepts (on top of cache_store.h). A
 * unit is recompiled only if its text, includes, flags or compiler changed. build_units.c compiles through it;
 * program_cache.c asks which words of a command rule out caching.
 *
 * Key:      the compiler's command and the files that it consists of, the environment variables that it reads, and the
 *           generated text; with debug information also the working folder.
 * Not seen: a new header in a folder that is searched before the one in which an old header was found.
 * Kept out: units for which the compiler printed anything, so that warnings are printed each time; units that use
 *           __DATE__ and the like or .incbin, directly or in a user's header; and units with flags that make a compiler
 *           read or write files that it does not list (-fprofile-use, plug-ins, …).
 */
#ifndef DFC_OBJECT_CACHE_H
#define DFC_OBJECT_CACHE_H

#include "compiler/build/build_program.h"

/* Returns the entry of a unit that argv compiles to unit->object, with a list of prerequisites in unit->deps. NULL: the unit is
 * not cached. The caller frees the name. */
char *dfc_object_entry(const struct dfc_program *p, const struct dfc_build_unit *unit, const struct dfc_list *argv);
/* Copies the entry's object to unit->object and writes unit->deps. Returns false if there is none, or it is out of date. */
bool dfc_object_get(const struct dfc_program *p, const struct dfc_build_unit *unit, const char *entry);
/* Stores unit->object, which has just been compiled. */
void dfc_object_put(const struct dfc_program *p, const struct dfc_build_unit *unit, const char *entry);
/* Runs a compiler's command that says whether it takes some flags. Returns true if it does. The answer is kept. */
bool dfc_compiler_takes(const struct dfc_program *p, const struct dfc_list *argv);
/* Returns whether this word of a command makes a compiler or linker read files that it does not list, or write other files than its product. */
bool dfc_is_beyond_cache(const char *word);

#endif
