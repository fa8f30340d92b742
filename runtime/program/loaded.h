/* loaded.h - the shared libraries of `link` that this process has loaded, as a part of the program's identity: they may be others than those that dfc saw. */
#ifndef DFR_LOADED_H
#define DFR_LOADED_H

/* The identity (io/facts.h), and a fact `loaded NAME CONTENT` for each of its facts `library` that is a shared library here. malloc'ed; NULL: no memory. */
char *dfr_loaded_identity(const char *identity);

#endif
