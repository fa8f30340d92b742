/* cache_folder.h - the user's folder of what can be made again: dfc's objects and programs (compiler/build/), and what OpenCL's drivers have compiled
 * (opencl/opencl_cache.c). Who keeps files there bounds them.
 *
 * Place:    $DFC_CACHE, else $XDG_CACHE_HOME/dfc, else ~/.cache/dfc. With DFC_CACHE=none, or without a home folder, there is none. The folder must be owned by
 *           the user.
 * Entry:    FOLDER/KEY plus an ending. The key is 16 hexadecimal digits. An entry was used last when its file was modified.
 */
#ifndef DFR_CACHE_FOLDER_H
#define DFR_CACHE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#define DFR_CACHE_KEY_LETTERS 16

/* The path of the folder, which is made if it is not there; malloc'ed. NULL: there is no cache. */
char *dfr_cache_folder(void);
/* Opens the folder of an entry. -1: that failed. */
int dfr_cache_open(const char *entry);
/* Is it the name of an entry with this ending? */
bool dfr_cache_is_entry(const char *name, const char *ending);
/* Removes entries with this ending that were used longest ago, until all others have at most so many bytes. `beside` is the ending of a file that belongs to each, and
 * goes with it; NULL: there is none. */
void dfr_cache_trim(int folder, const char *ending, const char *beside, uint64_t most_bytes);

#endif
