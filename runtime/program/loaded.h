/* loaded.h - adds the shared libraries that this process has actually loaded to the program's identity, since they may
 * differ from those that dfc found. program_main.c calls it.
 */
#ifndef DFR_LOADED_H
#define DFR_LOADED_H

/* Returns the identity (record/facts.h) with a fact `loaded NAME CONTENT` for each of its facts `library` that is a loaded shared library. malloc'ed; NULL: no
 * memory. */
char *dfr_loaded_identity(const char *identity);

#endif
