/* stuck.c - a plug-in in place of MPI's: two ranks, of which the other one never speaks, and a call that never returns (STUCK=open, gather, send,
 * poll or close), or sends SIGPIPE to its thread, as writing to a dead rank does (STUCK=pipe).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/link/link.h"

static void stick(const char *where)
{
    while (!strcmp(getenv("STUCK"), where))
        pause();
}

static int stuck_send(struct dfr_link *link, int to, const void *bytes, size_t size, bool urgent, void *cookie, struct df_error *error)
{
    (void)link, (void)to, (void)bytes, (void)size, (void)urgent, (void)cookie, (void)error;
    stick("send");
    return DF_OK;
}

static int stuck_poll(struct dfr_link *link, struct dfr_link_event *event, struct df_error *error)
{
    static int n;

    (void)link;
    *event = (struct dfr_link_event){ .kind = DFR_LINK_NOTHING };
    stick("poll");
    if (!strcmp(getenv("STUCK"), "pipe"))
        raise(SIGPIPE);
    if (++n < 20)
        return DF_OK;
    snprintf(error->text, sizeof error->text, "that is enough");
    return DF_E_STOPPED;
}

static void stuck_close(struct dfr_link *link, bool whole)
{
    (void)link, (void)whole;
    stick("close");
}

static struct dfr_link stuck = { 0, 2, stuck_send, stuck_poll, stuck_close };

static int stuck_open(struct dfr_link **link, struct df_error *error)
{
    (void)error;
    stick("open");
    stuck.rank = getenv("RANK") ? atoi(getenv("RANK")) : 0;
    *link = &stuck;
    return DF_OK;
}

static int stuck_gather(const void *mine, void *all, size_t bytes, struct df_error *error)
{
    (void)error;
    stick("gather");
    memcpy(all, mine, bytes);
    memcpy((char *)all + bytes, mine, bytes);
    return DF_OK;
}

const struct dfr_mpi_plugin dfr_mpi_plugin = { DFR_MPI_VERSION, stuck_open, stuck_gather };
