/* cache_store.h - files that a command of the build made before, kept by the hash of what decides them. object_cache.c and program_cache.c make the keys.
 *
 * Place:    $DFC_CACHE, else $XDG_CACHE_HOME/dfc, else ~/.cache/dfc. DFC_CACHE=none, and a user without a home folder,
 *           have no cache. The folder must be the user's own.
 * Entry:    KEY and an ending for the file itself, and KEY.record. The key is a hash of what is known before the command runs. The record lists
 *           each file that the command read, with its state, and the file itself with its own. An entry is used if all of them still agree.
 * State:    of a file is size and hash of its content. Libraries may have hundreds of megabytes: of a file above DFC_CACHE_HASHED_BYTES the state is
 *           size, device, inode, and the times of its last changes.
 * Paths:    of files in the work folder, whose name is new in every build, are written with "@" in its place.
 * Bounds:   DFC_CACHE_MOST_BYTES for each kind of file. A program is a hundred times as large as an object and costs less to make again; so it has a
 *           bound of its own, and never takes an object's place. A counter file holds how much was added since the last trim. Only when that reaches an
 *           eighth of the bound is the folder scanned and the least recently used files removed, down to seven eighths.
 * Errors:   none are reported. What cannot be read is made again, what cannot be written is not kept. Each file appears whole
 *           or not at all, so several dfc may run at once, and may be killed.
 */
#ifndef DFC_CACHE_STORE_H
#define DFC_CACHE_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "compiler/tools/spawn.h"

#define DFC_CACHE_HASHED_BYTES (UINT64_C(1) << 20)

enum dfc_cache_kind { DFC_CACHE_OBJECTS, DFC_CACHE_PROGRAMS, DFC_CACHE_KINDS };
extern const uint64_t DFC_CACHE_MOST_BYTES[DFC_CACHE_KINDS];

/* The path of the cache's folder, which is made if it is not there; malloc'ed. NULL: there is no cache. */
char *dfc_cache_folder(void);

/* ---- keys: a hash that goes on, from 0 ---- */

uint64_t dfc_key_text(uint64_t hash, const char *text);
/* A word of a command, with "@" in place of the work folder. */
uint64_t dfc_key_word(uint64_t hash, const char *word, const char *work);
/* The values of environment variables, up to a NULL. */
uint64_t dfc_key_variables(uint64_t hash, const char *const *names);
/* The state of a file, or that there is none. */
uint64_t dfc_key_file(uint64_t hash, const char *path);

/* ---- entries ---- */

/* A file that a command makes. */
struct dfc_cache_file {
    enum dfc_cache_kind kind;
    const char *entry;                  /* FOLDER/KEY, as dfc_cache_entry() makes it */
    const char *work, *path;            /* the work folder; the file */
    bool executable;
};

/* FOLDER/KEY. Takes the folder; malloc'ed. NULL: no memory. */
char *dfc_cache_entry(char *folder, uint64_t key);
/* Copies the entry's file to file->path, and adds what the command had read to `files`. Returns false if there is no entry, or it is out of date. */
bool dfc_cache_get(const struct dfc_cache_file *file, struct dfc_list *files);
/* Keeps file->path, which a command made just now of `files` and of what the key covers. The command began at `began`, by the clock of files: nothing is
 * kept if one of them was changed since then, because the command may have read either version. */
void dfc_cache_put(const struct dfc_cache_file *file, const struct dfc_list *files, struct timespec began);
/* Keeps the bounds of the folder that this entry is in, after one or more were put. Scans the folder only if they may be exceeded. */
void dfc_cache_trim(const char *entry);

#endif
