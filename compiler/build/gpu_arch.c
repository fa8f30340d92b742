/* gpu_arch.c - selects the architectures for which CUDA code is compiled, for build_tools.c, and checks --gpu-arch for
 * commands/cmd_compile.c (gpu_arch.h). It queries this machine's GPUs through libcuda, which is loaded with dlopen(), so dfc
 * itself needs no driver.
 */
#include "compiler/build/gpu_arch.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/tools/messages.h"

#define MOST_GPUS 64
#define CAPABILITY_MAJOR 75             /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_… */
#define CAPABILITY_MINOR 76

/* ---- what was asked for ---- */

/* The length of the "sm_90a" that the text begins with; 0: it does not. */
static size_t one_arch(const char *text)
{
    size_t n = strncmp(text, "sm_", 3) == 0 ? 3 : 0, digits;
    digits = n ? strspn(text + n, "0123456789") : 0;
    if (digits < 2 || digits > 3)
        return 0;
    n += digits;
    return n + (islower((unsigned char)text[n]) != 0);
}

bool dfc_gpu_arch_check(const char *text)
{
    const char *at = text;
    size_t n;
    if (strcmp(text, "native") == 0 || strcmp(text, "all") == 0)
        return true;
    while ((n = one_arch(at)) > 0 && at[n] == ',')
        at += n + 1;
    if (n > 0 && !at[n])
        return true;
    dfc_error("--gpu-arch=%s: native, all, or architectures such as sm_90 or sm_80,sm_90 are expected", text);
    return false;
}

static void add_arch(struct dfc_list *flags, const char *arch, int length, bool ptx)
{
    dfc_list_add(flags, "-gencode=arch=compute_%.*s,code=sm_%.*s", length - 3, arch + 3, length - 3, arch + 3);
    if (ptx)
        dfc_list_add(flags, "-gencode=arch=compute_%.*s,code=compute_%.*s", length - 3, arch + 3, length - 3, arch + 3);
}

static void add_archs(struct dfc_list *flags, const char *text)
{
    for (size_t n; (n = one_arch(text)) > 0; text += n + (text[n] == ','))
        add_arch(flags, text, (int)n, !text[n]);
}

/* PTX of the lowest architecture that nvcc knows. Gives its number; 0: nvcc does not say. */
static int add_lowest(struct dfc_list *flags, const char *nvcc)
{
    char *text = NULL;
    int arch = 0;
    if (dfc_run_tool((char *[]){ (char *)nvcc, "--list-gpu-arch", NULL }, &text, &dfc_discard) == 0 && text && sscanf(text, "compute_%d", &arch) == 1) {
        dfc_list_add(flags, "-gencode=arch=compute_%d,code=compute_%d", arch, arch);
        dfc_list_add(flags, "-Wno-deprecated-gpu-targets");
    }
    free(text);
    return arch;
}

/* nvcc warns that its next version will not know some of them; a user who named no architecture need not hear that. */
static void add_all(struct dfc_list *flags)
{
    dfc_list_add_words(flags, "-arch=all-major -Wno-deprecated-gpu-targets --threads=0");
}

/* ---- this machine ---- */

/* The GPUs' architectures, "sm_80,sm_90", each once. Empty: there is no GPU, or no driver. */
static void find_native(char *archs, size_t size)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*init)(unsigned) = NULL, (*count)(int *) = NULL, (*get)(int *, int) = NULL, (*attribute)(int *, int, int) = NULL;
    int n = 0, device, major, minor;
    char one[16];

    *archs = '\0';
    if (!driver)
        return;
    *(void **)&init = dlsym(driver, "cuInit");
    *(void **)&count = dlsym(driver, "cuDeviceGetCount");
    *(void **)&get = dlsym(driver, "cuDeviceGet");
    *(void **)&attribute = dlsym(driver, "cuDeviceGetAttribute");
    if (init && count && get && attribute && init(0) == 0 && count(&n) == 0)
        for (int i = 0; i < n && i < MOST_GPUS; i++) {
            if (get(&device, i) != 0 || attribute(&major, CAPABILITY_MAJOR, device) != 0 ||
                attribute(&minor, CAPABILITY_MINOR, device) != 0)
                continue;
            snprintf(one, sizeof one, "sm_%d%d", major, minor);
            if (!strstr(archs, one) && strlen(archs) + strlen(one) + 2 < size)
                sprintf(archs + strlen(archs), "%s%s", *archs ? "," : "", one);
        }
    dlclose(driver);
}

bool dfc_gpu_is_here(void)
{
    char archs[256];
    find_native(archs, sizeof archs);
    return *archs;
}

/* Can this nvcc make code for all of them? */
static bool knows(const char *nvcc, const char *archs)
{
    char *text = NULL, one[16];
    bool all = dfc_run_tool((char *[]){ (char *)nvcc, "--list-gpu-code", NULL }, &text, &dfc_discard) == 0 && text;
    for (size_t n; all && (n = one_arch(archs)) > 0; archs += n + (archs[n] == ',')) {
        snprintf(one, sizeof one, "%.*s\n", (int)n, archs);
        all = strstr(text, one) != NULL;
    }
    free(text);
    return all;
}

bool dfc_gpu_arch_flags(struct dfc_list *flags, const char *asked, const char *nvcc, bool quiet)
{
    char archs[256] = "";
    int lowest = 0;
    bool native = !asked || strcmp(asked, "native") == 0;
    if (native)
        find_native(archs, sizeof archs);
    if (asked && native && !*archs) {
        dfc_error("--gpu-arch=native: there is no GPU here; name the architecture, such as sm_90, or all");
        return false;
    }
    if (*archs && !knows(nvcc, archs)) {
        if (asked) {
            dfc_error("--gpu-arch=native: this nvcc cannot make code for this machine's GPUs (%s)", archs);
            return false;
        }
        if (!quiet)
            dfc_note("this nvcc does not know the architecture of this machine's GPUs (%s): code is made for all that it "
                     "knows", archs);
        *archs = '\0';
    } else if (!asked && !quiet && *archs) {
        dfc_note("CUDA code is made for the GPUs of this machine (%s); --gpu-arch=all makes it for others, too", archs);
    } else if (!asked && (lowest = add_lowest(flags, nvcc)) > 0) {
        if (!quiet)
            dfc_note("there is no GPU here, so CUDA code is kept as PTX of compute_%d, for any GPU; --gpu-arch=sm_90, say, makes code that starts at once", lowest);
        return true;
    }
    if (native ? *archs != '\0' : strcmp(asked, "all") != 0)
        add_archs(flags, native ? archs : asked);
    else
        add_all(flags);
    return true;
}
