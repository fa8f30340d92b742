/* cmd_doctor.c - `dfc doctor`: reports which of dfc's requirements this machine meets, what is missing, and what does
 * not work without it.
 */
#include "compiler/commands/command.h"

#include <string.h>
#include <unistd.h>

#include "compiler/doctor/doctor.h"

#ifndef DFC_VERSION
#define DFC_VERSION "unknown"
#endif

static const char usage[] =
    "usage: dfc doctor [options]\n\n"
    "Says what is found on this machine, what is missing, and what that means: cores, memory, GPUs and their driver; the\n"
    "compilers, nvcc and its toolkit, each tried on a small graph; libraries that some graphs need; MPI, its option for\n"
    "faults, dfc's plug-in for it, Slurm; and dfc's own files. It takes a few seconds and changes nothing.\n"
    "Exit status: 0 if nothing is broken, 1 if something is. What is absent breaks nothing.\n";

struct request {
    const char *output;
    bool json, quick;
};

static const struct dfr_option own_options[] = {
    DFR_HEADING("options"),
    { "-o", "FILE", "the file for what is found; else it goes to standard output", DFR_FIELD(NAME, struct request, output) },
    DFC_OPTION_FORMAT("text|json", struct request, json, "form of the output (text)"),
    { "--quick", NULL, "compile and run nothing", DFR_FIELD(FLAG, struct request, quick) },
    { 0 }
};

static bool refuse_word(void *request, const char *word)
{
    (void)request;
    dfc_error("doctor: '%s' is one argument too many: it looks at the machine and reads no graph", word);
    return false;
}

static void look(struct dfc_findings *list, bool quick)
{
    bool told = isatty(STDERR_FILENO) && !quick;
    if (told)
        fputs("looking; a small graph is compiled and run …", stderr);
    dfc_look_machine(list);
    dfc_look_build(list, quick);
    dfc_look_libraries(list);
    dfc_look_cluster(list);
    dfc_look_places(list);
    if (told)
        fputs("\r\033[K", stderr);
}

static bool any_broken(const struct dfc_findings *list)
{
    for (uint32_t i = 0; i < list->items.n; i++)
        if (dfc_finding_at(list, i)->look.health == DFC_BROKEN)
            return true;
    return false;
}

static int run(int argc, char **argv)
{
    struct request r = { 0 };
    struct dfc_output output;
    struct dfc_findings list = { 0 };
    if (!dfc_options_read(&dfc_command_doctor, argc, argv, &r, refuse_word))
        return 2;
    if (!dfc_output_open(&output, r.output))
        return 1;
    look(&list, r.quick);
    bool good = !list.failed;
    if (!good)
        dfc_error("out of memory");
    else if (r.json)
        dfc_findings_json(output.file, &list, DFC_VERSION);
    else
        dfc_findings_text(output.file, &list, DFC_VERSION);
    good = dfc_output_close(&output, good) && good && !any_broken(&list);
    dfc_findings_free(&list);
    return good ? 0 : 1;
}

const struct dfc_command dfc_command_doctor = { "doctor", "what is on this machine, what is missing, and what that means", usage,
                                                run, DFC_OPTIONS({ own_options, 0 }) };
