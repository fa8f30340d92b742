/* cache_folder.h - the user's folder of what can be made again: dfc's objects and programs, and what OpenCL's drivers have compiled.
 *
 * Place:    $DFC_CACHE, else $XDG_CACHE_HOME/dfc, else ~/.cache/dfc. With DFC_CACHE=none, or without a home folder, there is none. The folder must be owned by
 *           the user.
 */
#ifndef DFR_CACHE_FOLDER_H
#define DFR_CACHE_FOLDER_H

/* The path of the folder, which is made if it is not there; malloc'ed. NULL: there is no cache. */
char *dfr_cache_folder(void);

#endif
