/* cuda_blas.c - loads cuBLAS with dlopen(), and calls four of its functions (cuda_blas.h). cuda_work.c uses it for
 * kernels that ask for cuBLAS, and cuda.c frees it.
 *
 * Python packages: NVIDIA's have their libraries in site-packages, in nvidia/cu13/lib or, up to CUDA 12, in
 * nvidia/cublas/lib. libcublas needs libcublasLt, which is in the same folder and is loaded first, because a package
 * that was moved or repacked may lack the right search path.
 */
#include "runtime/cuda/cuda_blas.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

/* ---- places ---- */

/* The library and, before it, what it needs, from one folder. `name` ends with the version. */
static void *open_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *version = strrchr(path, '.');
    char needed[PATH_MAX];
    void *library, *lt;

    snprintf(needed, sizeof needed, "%.*s/libcublasLt.so%s", (int)(slash - path), path, version);
    lt = dlopen(needed, RTLD_NOW | RTLD_LOCAL);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (lt != NULL)
        dlclose(lt);                    /* the library holds it, if it needs it */
    return library;
}

/* The first library that can be loaded, in the order of names, of those that a pattern means. */
static void *open_matching(const char *pattern)
{
    void *library = NULL;
    glob_t files;

    if (glob(pattern, GLOB_BRACE, NULL, &files) != 0)
        return NULL;
    for (size_t i = 0; i < files.gl_pathc && library == NULL; i++)
        library = open_file(files.gl_pathv[i]);
    globfree(&files);
    return library;
}

/* For each folder that a variable of the environment names, tries what `below` means there. */
static void *open_below(const char *variable, const char *below, int major)
{
    const char *folders = getenv(variable);
    void *library = NULL;

    for (size_t n; folders != NULL && *folders && library == NULL; folders += n + (folders[n] == ':')) {
        char pattern[PATH_MAX];

        n = strcspn(folders, ":");
        if (n > 0 && (size_t)snprintf(pattern, sizeof pattern, "%.*s/%s/libcublas.so.%d", (int)n, folders, below,
                                      major) < sizeof pattern)
            library = open_matching(pattern);
    }
    return library;
}

#define OF_TOOLKIT "{lib64,lib,targets/*/lib}"
#define OF_PYTHON "nvidia/{cu[0-9]*,cublas}/lib"
#define SITES "lib/python3*/{site,dist}-packages"

static void *open_version(int major)
{
    static const struct {
        const char *variable, *below;
    } places[] = {
        { "CUDA_HOME", OF_TOOLKIT },
        { "CUDA_PATH", OF_TOOLKIT },
        { "VIRTUAL_ENV", SITES "/" OF_PYTHON },
        { "PYTHONPATH", OF_PYTHON },
        { "PATH", "../" OF_TOOLKIT },   /* nvcc's folder and conda's */
        { "PATH", "../{.,versions/*}/" SITES "/" OF_PYTHON }, /* python3's folder, and that of pyenv's shims */
        { "HOME", ".local/" SITES "/" OF_PYTHON },
    };
    char name[PATH_MAX];
    void *library;

    snprintf(name, sizeof name, "libcublas.so.%d", major);
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof places / sizeof places[0] && library == NULL; i++)
        library = open_below(places[i].variable, places[i].below, major);
    if (library == NULL) {
        snprintf(name, sizeof name, "/usr/local/cuda/" OF_TOOLKIT "/libcublas.so.%d", major);
        library = open_matching(name);
    }
    return library;
}

/* ---- finding it ---- */

/* The program's own cuBLAS if it is linked with one, so that the handle and the kernels' calls are of one version. */
static void *find_library(int major)
{
    static const int majors[] = { 13, 12, 11 };
    void *library;

    if (dlsym(RTLD_DEFAULT, "cublasCreate_v2") != NULL)
        return dlopen(NULL, RTLD_NOW);
    library = open_version(major);
    for (size_t i = 0; i < sizeof majors / sizeof majors[0] && library == NULL; i++)
        library = open_version(majors[i]);
    return library != NULL ? library : dlopen("libcublas.so", RTLD_NOW | RTLD_LOCAL);
}

int dfr_cublas_find(struct dfr_cublas *blas, int major, struct df_error *error)
{
    if (blas->set_workspace != NULL)
        return DF_OK;
    if (!blas->searched)
        blas->library = find_library(major);
    blas->searched = true;
    if (blas->library == NULL)
        return dfr_error(error, DF_E_DEVICE, "no cuBLAS found (libcublas.so.%d): neither by the loader, nor in a "
                         "toolkit, nor among Python's packages", major);
    *(void **)&blas->create = dfr_cublas_function(blas, "cublasCreate_v2");
    *(void **)&blas->destroy = dfr_cublas_function(blas, "cublasDestroy_v2");
    *(void **)&blas->set_stream = dfr_cublas_function(blas, "cublasSetStream_v2");
    *(void **)&blas->set_workspace = dfr_cublas_function(blas, "cublasSetWorkspace_v2");
    if (blas->create == NULL || blas->destroy == NULL || blas->set_stream == NULL || blas->set_workspace == NULL)
        return dfr_error(error, DF_E_DEVICE, "the cuBLAS found lacks cublasCreate_v2 or its like");
    return DF_OK;
}

void *dfr_cublas_function(const struct dfr_cublas *blas, const char *name)
{
    return blas->library != NULL ? dlsym(blas->library, name) : NULL;
}

/* ---- the handle ---- */

static int refused(const char *call, int status, struct df_error *error)
{
    return dfr_error(error, DF_E_DEVICE, "cuBLAS could not be begun: %s gave status %d", call, status);
}

/* The workspace comes after the stream, which takes an older one off the handle. */
int dfr_cublas_bind(struct dfr_cublas *blas, cudaStream_t stream, void *workspace, size_t bytes,
                    struct df_error *error)
{
    int status = blas->handle == NULL ? blas->create(&blas->handle) : 0;

    if (status != 0) {
        blas->handle = NULL;
        return refused("cublasCreate", status, error);
    }
    status = blas->set_stream(blas->handle, stream);
    if (status != 0)
        return refused("cublasSetStream", status, error);
    status = blas->set_workspace(blas->handle, workspace, bytes);
    return status == 0 ? DF_OK : refused("cublasSetWorkspace", status, error);
}

void dfr_cublas_end(struct dfr_cublas *blas)
{
    if (blas->handle != NULL)
        blas->destroy(blas->handle);
    blas->handle = NULL;
}
