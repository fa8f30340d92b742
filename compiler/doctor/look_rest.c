/* look_rest.c - checks for `dfc doctor` (commands/cmd_doctor.c) the libraries and tools that some graphs and commands need,
 * dfc's own files, and the profile database.
 */
#include "compiler/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "compiler/tools/home.h"
#include "profiles/profiles.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"

/* ---- libraries ---- */

#define LIBRARIES "for some graphs and commands"

static void add_tool(struct dfc_findings *list, const char *what, char *version, const char *means, const char *remedy)
{
    struct dfc_look finding = { LIBRARIES, what, version ? DFC_WELL : DFC_ABSENT, means, remedy };
    dfc_found(list, &finding, "%s", version ? version : "not there");
    free(version);
}

void dfc_look_libraries(struct dfc_findings *list)
{
    static const struct library {
        const char *what, *module, *means, *remedy;
    } libraries[] = {
        { "libpng", "libpng", "graphs that import std/png.df cannot be compiled", "sudo apt-get install -y libpng-dev" },
        { "libjpeg", "libjpeg", "graphs that import std/jpeg.df cannot be compiled", "sudo apt-get install -y libjpeg-dev" },
        { "libtiff", "libtiff-4", "graphs that import std/tiff.df cannot be compiled", "sudo apt-get install -y libtiff-dev" },
        { "OpenBLAS", "openblas", "kernels that say link \"openblas\" cannot be linked", "sudo apt-get install -y libopenblas-dev" },
        { "FFTW", "fftw3f", "kernels that say link \"fftw3f\" cannot be linked", "sudo apt-get install -y libfftw3-dev" },
    };
    char *pkg = dfc_doctor_says((char *[]){ "pkg-config", "--version", NULL }, "");
    bool asks = pkg;
    add_tool(list, "pkg-config", pkg, "flags of libraries are not found: 'link \"NAME\"' becomes -lNAME alone",
             "sudo apt-get install -y pkg-config");
    for (size_t i = 0; asks && i < sizeof libraries / sizeof *libraries; i++) {
        const struct library *l = &libraries[i];
        add_tool(list, l->what, dfc_doctor_says((char *[]){ "pkg-config", "--modversion", (char *)l->module, NULL }, ""), l->means,
                 l->remedy);
    }
    add_tool(list, "rsvg-convert", dfc_doctor_says((char *[]){ "rsvg-convert", "--version", NULL }, ""),
             "pictures are SVG only, not PNG", "sudo apt-get install -y librsvg2-bin");
    add_tool(list, "Python", dfc_doctor_says((char *[]){ "python3", "--version", NULL }, ""), "graphs cannot be called from Python",
             "sudo apt-get install -y python3");
    add_tool(list, "NumPy", dfc_doctor_says((char *[]){ "python3", "-c", "import numpy; print(numpy.__version__)", NULL }, ""),
             "graphs can be called from Python with buffers, not with NumPy's arrays", "sudo apt-get install -y python3-numpy");
}

/* ---- places ---- */

#define PLACES "dfc's own files"

static void look_home(struct dfc_findings *list)
{
    const char *lib = dfc_home_lib(), *include = dfc_home_include(), *share = dfc_home_share();
    struct dfc_look finding = { PLACES, "installation", lib && include && share ? DFC_WELL : DFC_BROKEN,
        !lib || !include ? "no graph can be compiled" : "no graph can import std/io.df",
        "install dfc again, or set DFC_HOME" };
    dfc_found(list, &finding, "libraries in %s, headers in %s, imports in %s", lib ? lib : "(none)", include ? include : "(none)",
              share ? share : "(none)");
}

static void look_database(struct dfc_findings *list)
{
    struct df_error error = { "" };
    struct dfw_db *db = NULL;
    struct df_platform platform;
    bool probed = false;
    struct dfc_look finding = { PLACES, "profiles", DFC_WELL, NULL, NULL };
    if (dfw_db_open(NULL, false, &db, &error) != DF_OK ||
        (db && dfw_platform_load_for(db, false, &platform, &probed, &error) != DF_OK)) {
        finding.health = DFC_BROKEN;
        finding.means = "times that were measured are not used, and none can be stored";
        dfc_found(list, &finding, "%s", error.text);
    } else {
        finding.health = probed ? DFC_WELL : DFC_ABSENT;
        finding.means = "plans use stated defaults in place of this machine's speeds";
        finding.remedy = "dfc probe -o /dev/null";
        dfc_found(list, &finding, "%s: %s", db ? dfw_db_path(db) : "no database yet",
                  probed ? "this machine was measured by dfc probe" : "this machine was not measured");
    }
    dfw_db_close(db);
}

static void look_temporary(struct dfc_findings *list)
{
    const char *named = getenv("TMPDIR"), *place = named && *named ? named : "/tmp";
    struct statvfs fs;
    char text[16];
    bool good = access(place, W_OK | X_OK) == 0 && statvfs(place, &fs) == 0;
    uint64_t room = good ? (uint64_t)fs.f_bavail * fs.f_frsize : 0;
    bool enough = room >= 64u << 20;
    struct dfc_look finding = { PLACES, "temporary files", good && enough ? DFC_WELL : DFC_BROKEN,
        "programs cannot be compiled there",
        "set TMPDIR to a folder with room" };
    const bool noexec = good && fs.f_flag & ST_NOEXEC;
    if (noexec && enough) {
        finding.health = DFC_ABSENT;
        finding.means = "no program may run there (noexec): dfc run, compare and profile make theirs in the cache, /var/tmp or this folder";
        finding.remedy = "set TMPDIR to a folder that is not mounted with noexec";
    }
    dfc_found(list, &finding, "%s: %s%s%s", place, good ? dfr_text_bytes(room, text, sizeof text) : "cannot be written to",
              good ? " free" : "", noexec ? ", noexec" : "");
}

void dfc_look_places(struct dfc_findings *list)
{
    look_home(list);
    look_database(list);
    look_temporary(list);
}
