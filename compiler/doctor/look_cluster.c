/* look_cluster.c - checks for `dfc doctor` (commands/cmd_doctor.c) what runs on several machines need: MPI, its option for fault
 * tolerance, whether it accepts device pointers, dfc's MPI plug-in, and the batch system.
 */
#include "compiler/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/tools/home.h"
#include "runtime/link/link.h"

#define HEADING "for several machines"

/* The first number in a text such as "mpirun (Open MPI) 4.1.4". 0: there is none. */
static int major_version(const char *text)
{
    text += strcspn(text, "0123456789");
    return atoi(text);
}

/* Does `ompi_info` say this of itself? */
static bool ompi_info_has(const char *line)
{
    char *said = dfc_doctor_says((char *[]){ "ompi_info", "--parsable", "--all", NULL }, line);
    free(said);
    return said;
}

/* Open MPI up to 4 goes on after the death of a rank if mpirun is asked to; from 5 on ULFM does it, where it was built. */
static void look_faults(struct dfc_findings *list, bool open_mpi, int major)
{
    bool ulfm = open_mpi && major >= 5 && (ompi_info_has("ft_enable_mpi") || ompi_info_has("ulfm"));
    struct dfc_look finding = { HEADING, "MPI after a death", open_mpi && (major < 5 || ulfm) ? DFC_WELL : DFC_ABSENT,
        "the death of one rank ends the whole job; --resume goes on with its journal", NULL };
    dfc_found(list, &finding, "%s", !open_mpi  ? "not known for this MPI"
                                    : major < 5 ? "mpirun --enable-recovery goes on without a rank that died"
                                    : ulfm      ? "mpirun --with-ft ulfm goes on without a rank that died"
                                                : "this Open MPI was built without ULFM");
}

static void look_device_pointers(struct dfc_findings *list, bool open_mpi)
{
    bool takes = open_mpi && ompi_info_has("mpi_built_with_cuda_support:value:true");
    struct dfc_look finding = { HEADING, "device pointers", takes ? DFC_WELL : DFC_ABSENT, NULL, NULL };
    dfc_found(list, &finding, takes ? "this MPI takes them" : "this MPI does not say that it takes them: tokens leave from the host's memory");
}

/* What carries messages between hosts like this one, and whether that stands the death of a rank. */
static void look_carrier(struct dfc_findings *list)
{
    char device[64];
    const char *carrier = getenv("DF_LINK"), *flags = getenv("OMPI_MCA_btl_tcp_flags");
    const bool set = carrier && carrier[0], fast = dfr_link_fast_device(device, sizeof device), by_tcp = set ? !strcmp(carrier, "tcp") : !fast;
    const bool wrong = set && strcmp(carrier, "tcp") && strcmp(carrier, "mpi");
    struct dfc_look finding = { HEADING, "messages", wrong ? DFC_BROKEN : by_tcp || fast ? DFC_WELL : DFC_ABSENT,
        wrong ? "DF_LINK is neither mpi nor tcp: --cluster refuses to run"
              : "over TCP, rank 0 may end when another rank dies while tokens move; --resume goes on",
        "unset DF_LINK" };
    if (wrong)
        dfc_found(list, &finding, "DF_LINK=%s", carrier);
    else if (by_tcp)
        dfc_found(list, &finding, "between hosts over TCP connections of the program's own, on one host over MPI%s", set ? " only if DF_LINK is unset" : "");
    else if (fast)
        dfc_found(list, &finding, "over MPI; fast network: %s", device);
    else
        dfc_found(list, &finding, "over MPI, as DF_LINK says, without a fast network; btl_tcp_flags=%s", flags ? flags : DFR_LINK_TCP_FLAGS);
}

static void look_mpi(struct dfc_findings *list)
{
    char *run = dfc_doctor_says((char *[]){ "mpirun", "--version", NULL }, ""), *cc = dfc_doctor_says((char *[]){ "mpicc", "--version", NULL }, "");
    struct dfc_look launcher = { HEADING, "mpirun", run ? DFC_WELL : DFC_ABSENT,
        "--cluster has nobody to start its ranks; ./app --waves=A:B --out=PART and dfc merge need no MPI",
        "sudo apt-get install -y openmpi-bin, or load your site's MPI (module load)" };
    dfc_found(list, &launcher, "%s", run ? run : "not in PATH");

    struct dfc_look compiler = { HEADING, "mpicc", cc ? DFC_WELL : DFC_ABSENT,
        "dfc's plug-in for MPI cannot be built here",
        "sudo apt-get install -y libopenmpi-dev" };
    dfc_found(list, &compiler, "%s", cc ? cc : "not in PATH");

    const char *lib = dfc_home_lib();
    char *path = NULL;
    bool there = lib && asprintf(&path, "%s/libdf-mpi.so", lib) >= 0 && access(path, R_OK) == 0;
    struct dfc_look plugin = { HEADING, "libdf-mpi.so", there ? DFC_WELL : DFC_ABSENT,
        "programs cannot run with --cluster under mpirun",
        "build dfc again where mpicc is" };
    dfc_found(list, &plugin, "%s", there ? path : "this dfc was built without MPI");
    if (run) {
        bool open_mpi = strstr(run, "Open MPI") || strstr(run, "OpenRTE") || strstr(run, "PRRTE");
        look_faults(list, open_mpi, major_version(run));
        look_carrier(list);
        look_device_pointers(list, open_mpi);
    }
    free(path);
    free(cc);
    free(run);
}

static void look_slurm(struct dfc_findings *list)
{
    char *version = dfc_doctor_says((char *[]){ "sbatch", "--version", NULL }, "");
    char *partitions = version ? dfc_doctor_says((char *[]){ "timeout", "5", "sinfo", "-h", "-o", "%P %D nodes, %l", NULL }, "") : NULL;
    struct dfc_look finding = { HEADING, "Slurm", partitions ? DFC_WELL : DFC_ABSENT,
        version ? "sinfo reaches no controller within 5 s: jobs cannot be sent from here"
                : "no batch system of this kind; mpirun takes a --hostfile, and chunks run under any", NULL };
    dfc_found(list, &finding, "%s%s%s", version ? version : "no sbatch", partitions ? "; " : "", partitions ? partitions : "");
    free(partitions);
    free(version);
}

void dfc_look_cluster(struct dfc_findings *list)
{
    look_mpi(list);
    look_slurm(list);
}
