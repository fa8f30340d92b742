/* cache_store.h - an on-disk cache of build products, keyed by a hash of everything that determines them.
 * object_cache.c and program_cache.c compute the keys.
 *
 * Place:    the user's folder (runtime/base/cache_folder.h). If there is none, there is no cache.
 * Entry:    two files: KEY plus an extension holds the product, KEY.record its inputs. The key is a hash of what is
 *           known before the command runs. The record lists the state of each file that the command read, and of the
 *           product. An entry is valid if all of them still match.
 * State:    size and content hash of a file. Libraries can have hundreds of megabytes: above DFC_CACHE_HASHED_BYTES the
 *           state is size, device, inode, and the modification and change times.
 * Paths:    in the work folder, whose name is different in each build, are stored with "@" in place of the folder.
 * Bounds:   DFC_CACHE_MOST_BYTES for each kind of product. A program is a hundred times as large as an object but
 *           cheaper to rebuild, so programs have a bound of their own and never displace objects. A counter file
 *           records how much was added since the last trim. Only when it reaches an eighth of the bound is the folder
 *           scanned, and least recently used files are removed down to seven eighths.
 * Errors:   none are reported: what cannot be read is rebuilt, what cannot be written is not cached. Files are replaced
 *           atomically, so several dfc processes may run at once and be killed at any time.
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
