/* journal.h - what a run has done, on the disk, so that another run can go on with it whatever happens to this one.
 *
 * Words:    A wave is *done* if all that it wrote is on the disk, and the same holds for the waves before it. An *epoch* is one process that
 *           writes the journal; each has a number, from 1.
 * File:     Lines of text. Each ends with " #" and a check number of 16 digits over what stands before it in the line.
 *
 *     - `dfc journal 3 program HASH`: the program hash (io/digest.h) without the inputs. Versions 1 and 2 are read, too: 1 has no lines `fact`, and
 *       neither has lines `file` and `back`.
 *     - `fact KIND NAME VALUE`: what the hash is made of, as far as it has names (io/facts.h).
 *     - `input BYTES CHANGED PATH`: one for each input. `begun`: there are no more.
 *     - `run EPOCH FIRST`: a process goes on after FIRST waves.
 *     - `out NODE HEAD TOKENS BYTES FROM DIGEST PATH`: how a file is that is appended to. DIGEST is of its bytes from FROM on.
 *     - `file WAVE BYTES CHANGED DIGEST PATH`: a file that this wave has written whole.
 *     - `done WAVES EPOCH`: a record, together with the lines `out` and `file` before it.
 *     - `back WAVES EPOCH`: the same, and waves that were done are done again from there on.
 *     - `all WAVES EPOCH`: there are no more waves, and no more lines `out`.
 *     - `end WAVES EPOCH`: the files have their names.
 *     - `accepted EPOCH`: from here on the inputs are those of the lines `input` just before it.
 *
 * Rule:     Outputs are synced before their lines are written, and these are synced before dfr_journal_done() returns. What a crash leaves of
 *           the last record is cut off. A line that is wrong before that is damage, and is refused.
 * Whole:    A run that goes on looks whether the whole files of the waves that are done are there: by size and time of change, and by digest if the time
 *           differs. If one is missing or another, the run goes back to the last record before its wave. A file that several waves have written is
 *           not looked at, and neither is any after `end`. A .npy counts its tokens in its head when it gets its name, so no digest has its head.
 * Fence:    The file is locked (flock) while a process has it open. If the system cannot lock it, a second process may open it;
 *           then the first one is told so at its next record, which is not written.
 * Threads:  one at a time.
 * Errors:   DF_E_REFUSED: the journal is another program's, is damaged, or somebody else has it. DF_E_IO: it cannot be read or written.
 *           A sentence for the user is in *error.
 */
#ifndef DFR_JOURNAL_H
#define DFR_JOURNAL_H

#include "runtime/io/digest.h"
#include "runtime/io/facts.h"
#include "runtime/io/outputs.h"

struct dfr_journal_file {               /* a file that is appended to, after the waves that are done */
    struct dfr_appended file;
    int64_t from;                       /* the digest is of the bytes from here on */
    uint64_t digest;
};

struct dfr_journal {
    int fd;
    char *path;
    int64_t size;                       /* of the file, as this process knows it */
    int64_t epoch, done;
    bool all, ended;                    /* there was a line `all`, `end` */
    uint64_t inputs_digest;             /* of the inputs with which the journal began: accs are known by it */
    char *accepted;                     /* how inputs differ, which was accepted; NULL: they do not */
    char *redone;                       /* why waves are done again: which file is missing or has changed; NULL: none */
    struct dfr_journal_file *files;     /* n of them */
    size_t n;
};

struct dfr_journal_run {                /* who opens it; what it points to is borrowed */
    bool resume;                        /* go on with the file that is there, or make one. Else it is made anew, and the run of a file that is there must have
                                         * ended, or have done no wave */
    bool accept;                        /* inputs may have changed, or be gone or new; so may whole files of waves that are done */
    uint64_t program;
    const struct dfr_inputs *inputs;
    const struct dfr_facts *facts;
};
int dfr_journal_open(struct dfr_journal *journal, const char *path, const struct dfr_journal_run *run, struct df_error *error);
void dfr_journal_close(struct dfr_journal *journal);
/* Waits until no process has the file locked, for so long at most. */
void dfr_journal_wait(const char *path, double seconds);

/* These waves are done, and the files are so long then, which have been synced. It reads what they have grown by, and the whole files. */
int dfr_journal_done(struct dfr_journal *journal, int64_t waves, const struct dfr_synced *files, struct df_error *error);
int dfr_journal_all(struct dfr_journal *journal, struct df_error *error);
int dfr_journal_end(struct dfr_journal *journal, struct df_error *error);

/* The path of the input with this base name, of a journal that is there; malloc'ed. NULL: there is none, or no memory. */
char *dfr_journal_input(const char *path, const char *name);

/* Are the files as the journal says? They may be longer. */
int dfr_journal_check_files(const struct dfr_journal *journal, struct df_error *error);

#endif
