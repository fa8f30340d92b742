/* link.c - loads MPI's plug-in and chooses between MPI and TCP for the messages (link.h), for df_main(). `dfc doctor` has it look for an RDMA device. */
#include "runtime/link/link.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/link/guard.h"
#include "runtime/link/link_tcp.h"
#include "runtime/engine/log.h"

#define TIMEOUT_S 60.0                  /* of a call of MPI */

/* The folder of this program's file, without a slash at its end. */
static bool find_program_folder(char *folder, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", folder, size - 1);

    if (n <= 0)
        return false;
    folder[n] = 0;
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
    return slash != NULL;
}

/* Loads folder/DFR_MPI_FILE if there is such a file. A file that is there and does not load is an error: *why. */
static void *load_from(const char *folder, const char *below, char *why, size_t size)
{
    char path[PATH_MAX + 32];
    void *plugin;

    if (snprintf(path, sizeof path, "%s%s/" DFR_MPI_FILE, folder, below) >= (int)sizeof path || access(path, F_OK) != 0)
        return NULL;
    plugin = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!plugin && !why[0])
        snprintf(why, size, "%s", dlerror());
    return plugin;
}

static void *load(const char *folder, char *why, size_t size)
{
    const char *named = getenv("DF_MPI");
    char here[PATH_MAX];
    void *plugin = NULL;

    why[0] = 0;
    if (named && named[0]) {
        plugin = dlopen(named, RTLD_NOW | RTLD_GLOBAL);
    } else {
        if (folder)
            plugin = load_from(folder, "", why, size);
        if (!plugin && !why[0] && find_program_folder(here, sizeof here)) {
            plugin = load_from(here, "", why, size);
            if (!plugin && !why[0])
                plugin = load_from(here, "/../lib", why, size);
        }
        if (!plugin && !why[0])
            plugin = dlopen(DFR_MPI_FILE, RTLD_NOW | RTLD_GLOBAL);
    }
    if (!plugin && !why[0])
        snprintf(why, size, "%s", dlerror());
    return plugin;
}

static int load_plugin(const char *folder, const struct dfr_mpi_plugin **plugin, struct df_error *error)
{
    char why[512];
    void *file = load(folder, why, sizeof why);

    if (!file)
        return dfr_error(error, DF_E_DEVICE, "cannot load MPI's plug-in: %s", why);
    /* It stays loaded: MPI cannot be started twice in a process. */
    *plugin = dlsym(file, "dfr_mpi_plugin");
    if (!*plugin || (*plugin)->version != DFR_MPI_VERSION)
        return dfr_error(error, DF_E_DEVICE, "MPI's plug-in is of another version of dfc: make it anew, and install it");
    return DF_OK;
}

/* ---- MPI's link, guarded ---- */

/* MPI's link, and the TCP link if that carries the messages; MPI's is then used only to close. */
struct guarded {
    struct dfr_link link;               /* first member */
    struct dfr_link *mpi, *tcp;         /* tcp: NULL if MPI carries them */
};

static int guarded_send(struct dfr_link *link, int to, const void *bytes, size_t size, bool urgent, void *cookie, struct df_error *error)
{
    struct guarded *g = (struct guarded *)link;

    if (g->tcp)
        return g->tcp->send(g->tcp, to, bytes, size, urgent, cookie, error);
    const struct dfr_guarded inside = dfr_guard_enter("a call of MPI");
    const int code = g->mpi->send(g->mpi, to, bytes, size, urgent, cookie, error);
    dfr_guard_leave(&inside);
    return code;
}

static int guarded_poll(struct dfr_link *link, struct dfr_link_event *event, struct df_error *error)
{
    struct guarded *g = (struct guarded *)link;

    if (g->tcp)
        return g->tcp->poll(g->tcp, event, error);
    const struct dfr_guarded inside = dfr_guard_enter("a call of MPI");
    const int code = g->mpi->poll(g->mpi, event, error);
    dfr_guard_leave(&inside);
    return code;
}

static void guarded_close(struct dfr_link *link, bool whole)
{
    struct guarded *g = (struct guarded *)link;

    if (g->tcp)
        g->tcp->close(g->tcp, whole);
    const struct dfr_guarded inside = dfr_guard_enter("MPI_Finalize");
    g->mpi->close(g->mpi, whole);
    dfr_guard_leave(&inside);
    free(g);
}

/* ---- what carries the messages ---- */

/* What ranks exchange at the start. */
struct card {
    char host[64], boot[64];            /* both equal: the same machine */
    char carrier[16];                   /* DF_LINK; only rank 0's is used */
    bool is_fast;
    struct dfr_tcp_card tcp;
};

static bool first_entry(const char *folder, char *name, size_t size)
{
    DIR *entries = opendir(folder);
    bool found = false;

    for (struct dirent *entry; entries && !found && (entry = readdir(entries)) != NULL;)
        if (entry->d_name[0] != '.') {
            snprintf(name, size, "%s", entry->d_name);
            found = true;
        }
    if (entries)
        closedir(entries);
    return found;
}

bool dfr_link_fast_device(char *name, size_t size)
{
    return first_entry("/sys/class/infiniband", name, size) || first_entry("/sys/class/cxi", name, size);
}

static void describe(struct card *card)
{
    const char *carrier = getenv("DF_LINK");
    char device[64];
    FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "re");

    memcpy(card->host, card->tcp.host, sizeof card->host);
    if (boot && !fgets(card->boot, sizeof card->boot, boot))
        card->boot[0] = 0;
    if (boot)
        fclose(boot);
    snprintf(card->carrier, sizeof card->carrier, "%s", carrier ? carrier : "");
    card->is_fast = dfr_link_fast_device(device, sizeof device);
}

/* All ranks have the same cards, so all return the same. */
static bool goes_by_tcp(const struct card *cards, int rank, int n)
{
    bool one_host = true, all_fast = true;

    for (int i = 0; i < n; i++) {
        one_host &= !strcmp(cards[i].host, cards[0].host) && !strcmp(cards[i].boot, cards[0].boot);
        all_fast &= cards[i].is_fast;
    }
    const bool by_tcp = cards[0].carrier[0] ? !strcmp(cards[0].carrier, "tcp") : !one_host && !all_fast;
    if (rank == 0 && !by_tcp && !one_host && !all_fast)
        dfr_say("warning: DF_LINK=mpi: MPI carries the messages, and no fast network was found on all hosts. If that is Open MPI's TCP transport, rank 0 may "
                "end when another rank dies; --resume goes on then");
    return by_tcp;
}

/* The interfaces that TCP may use: as the user says to this runtime, or to Open MPI. */
static const char *networks(void)
{
    const char *own = getenv("DF_TCP_IF");

    return own && own[0] ? own : getenv("OMPI_MCA_btl_tcp_if_include");
}

/* A rank without an address takes part in the exchange, too: it is collective. */
static int choose(struct guarded *g, const struct dfr_mpi_plugin *plugin, struct df_error *error)
{
    const int rank = g->mpi->rank, size = g->mpi->size;
    struct card own = { .is_fast = false }, *cards = calloc((size_t)size, sizeof *cards);
    struct dfr_tcp_card *tcp = calloc((size_t)size, sizeof *tcp);
    struct dfr_tcp_door *door = NULL;
    struct df_error why = { "" };
    int code = cards && tcp ? DF_OK : dfr_error_memory(error), listens = code == DF_OK ? dfr_tcp_listen(networks(), &door, &own.tcp, &why) : code;

    if (code == DF_OK) {
        describe(&own);
        const struct dfr_guarded inside = dfr_guard_enter("the start of MPI");
        code = plugin->gather(&own, cards, sizeof own, error);
        dfr_guard_leave(&inside);
    }
    const bool by_tcp = code == DF_OK && goes_by_tcp(cards, rank, size);
    for (int i = 0; by_tcp && i < size; i++)
        tcp[i] = cards[i].tcp;
    if (by_tcp && listens != DF_OK)
        code = dfr_error(error, listens, "%s", why.text);
    else if (by_tcp)
        code = dfr_tcp_join(door, rank, size, tcp, DFR_TCP_JOIN_S, &g->tcp, error);
    else if (listens == DF_OK && door)
        dfr_tcp_shut(door);
    free(cards);
    free(tcp);
    return code;
}

/* ---- opening ---- */

/* Reads the environment, and sets DFR_LINK_TCP_FLAGS. */
static int set_up(struct df_error *error)
{
    const char *carrier = getenv("DF_LINK"), *limit = getenv("DF_MPI_TIMEOUT");
    char *end = NULL;
    const double limit_s = limit && limit[0] ? strtod(limit, &end) : TIMEOUT_S;

    if (carrier && carrier[0] && strcmp(carrier, "mpi") && strcmp(carrier, "tcp"))
        return dfr_error(error, DF_E_ARGUMENT, "DF_LINK is '%s', and neither 'mpi' nor 'tcp'", carrier);
    if ((end && *end) || !(limit_s >= 0.1 && limit_s <= 1e6))
        return dfr_error(error, DF_E_ARGUMENT, "DF_MPI_TIMEOUT is '%s', and no number of seconds from 0.1 on", limit);
    setenv("OMPI_MCA_btl_tcp_flags", DFR_LINK_TCP_FLAGS, 0);
    return dfr_guard_begin(limit_s, error);
}

int dfr_link_open_mpi(struct dfr_link **link, const char *folder, struct df_error *error)
{
    const struct dfr_mpi_plugin *plugin = NULL;
    struct guarded *g;
    int code = load_plugin(folder, &plugin, error);

    if (code != DF_OK || (code = set_up(error)) != DF_OK)
        return code;
    if (!(g = calloc(1, sizeof *g)))
        return dfr_error_memory(error);
    const struct dfr_guarded inside = dfr_guard_enter("MPI_Init");
    code = plugin->open(&g->mpi, error);
    dfr_guard_leave(&inside);
    if (code == DF_OK && g->mpi->size > 1)
        code = choose(g, plugin, error);
    if (code != DF_OK) {
        free(g);
        return code;
    }
    g->link = (struct dfr_link){ g->mpi->rank, g->mpi->size, guarded_send, guarded_poll, guarded_close };
    *link = &g->link;
    return DF_OK;
}
