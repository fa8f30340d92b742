/* launcher.h - detects that the process that started this rank has ended. Both links (link_tcp.c, mpi/link_mpi.c) check it every
 * DFR_LAUNCHER_POLLS polls. */
#ifndef DFR_LAUNCHER_H
#define DFR_LAUNCHER_H

#include <stdbool.h>
#include <unistd.h>

struct dfr_launcher {
    int pid;
    unsigned polls;
};

#define DFR_LAUNCHER_POLLS 64           /* polls that return no event */

static inline struct dfr_launcher dfr_launcher_of(int n_ranks)
{
    return (struct dfr_launcher){ .pid = n_ranks > 1 ? (int)getppid() : 0 };
}

static inline bool dfr_launcher_is_gone(struct dfr_launcher *launcher)
{
    return launcher->pid > 1 && ++launcher->polls % DFR_LAUNCHER_POLLS == 0 && getppid() != launcher->pid;
}

#endif
