/* Put before runtime/cuda/cuda_blas.c: of what it finds only what lies below the folder $HERE counts, so that the cuBLAS of this machine, if it
 * has one, changes nothing. */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
static inline int is_here(const char *path) { return strncmp(path, getenv("HERE"), strlen(getenv("HERE"))) == 0; }
static inline void *open_here(const char *name, int flags)
{
    struct link_map *map;
    if (name && !strchr(name, '/') && !getenv("LD_LIBRARY_PATH"))
        flags |= RTLD_NOLOAD;           /* of what lies here the loader knows what is linked; it takes long to load and drop another */
    void *library = name && name[0] == '/' && !is_here(name) ? NULL : dlopen(name, flags);
    if (library && name && (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || !is_here(map->l_name))) {
        dlclose(library);
        library = NULL;
    }
    return library;
}
#define dlopen open_here
