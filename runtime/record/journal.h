/* journal.h - what a run has done, on the disk, so that another run can go on with it whatever happens to this one.
 *
 * Words:    A wave is *done* if all that it wrote is on the disk, and the same holds for the waves before it. An *epoch* is one process that
 *           writes the journal; each has a number, from 1.
 * File:     Lines of text. Each ends with " #" and a check number of 16 digits over what stands before it in the line.
 *
 *     - `dfc journal 3 program HASH`: the program hash (digest.h) without the inputs. Versions 1 and 2 are read, too: 1 has no lines `fact`, and
 *       neither has lines `file` and `back`.
 *     - `fact KIND NAME VALUE`: what the hash is made of, as far as it has names (facts.h).
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
 * Rule:     Outputs are synced before their lines are written, and the lines are synced before dfr_journal_done() returns. An incomplete record at the
 *           end, which a crash leaves, is cut off. A wrong line before that is damage, and the journal is refused.
 * Whole:    A run that resumes checks the whole files of completed waves: size and modification time, and the digest if the time differs. If one is
 *           missing or has changed, the run goes back to the last record before its wave. Files that several waves have written are not checked, and
 *           nothing is checked after `end`. The header of a .npy is not part of its digest, because the number of tokens is written there at the end.
 * Fence:    The file is locked (flock) while a process has it open. If the file system has no locks, a second process may open it; then the next
 *           record of the first process fails.
 * Threads:  one at a time.
 * Errors:   DF_E_REFUSED: the journal belongs to another program, is damaged, or is in use by another process. DF_E_IO: it cannot be read or written.
 *           *error has a sentence for the user.
 */
#ifndef DFR_JOURNAL_H
#define DFR_JOURNAL_H

#include "runtime/record/digest.h"
#include "runtime/record/facts.h"
#include "runtime/record/written.h"

struct dfr_journal {
    int fd;
    char *path;
    int64_t size;                       /* of the file, as this process knows it */
    int64_t epoch, done;
    bool all, ended;                    /* there was a line `all`, `end` */
    uint64_t inputs_digest;             /* of the inputs with which the journal began; checkpoints of accs carry it */
    char *accepted;                     /* the accepted differences of the inputs, one per line; NULL: none */
    char *redone;                       /* why waves are computed again: the file that is missing or has changed; NULL: none are */
    struct dfr_written_list files;      /* those that are appended to, after the waves that are done */
};

struct dfr_journal_run {                /* who opens it; what it points to is borrowed */
    bool resume;                        /* continue an existing journal, or create one. Without it the journal is created, and the run of an existing one must
                                         * have ended or have completed no wave */
    bool accept;                        /* inputs, and whole files of completed waves, may have been changed, removed or added */
    uint64_t program;
    const struct dfr_inputs *inputs;
    const struct dfr_facts *facts;
    double lock_s;                      /* another process may have the journal for so long, until it ends */
};
int dfr_journal_open(struct dfr_journal *journal, const char *path, const struct dfr_journal_run *run, struct df_error *error);
void dfr_journal_close(struct dfr_journal *journal);

/* Appends a record: the first `waves` waves are done, and the files have been synced: all that are appended to, with these lengths, and the whole ones since
 * the last record. For their digests it reads the bytes that were appended since, and the whole files. */
int dfr_journal_done(struct dfr_journal *journal, int64_t waves, const struct dfr_written_list *files, struct df_error *error);
int dfr_journal_all(struct dfr_journal *journal, struct df_error *error);
int dfr_journal_end(struct dfr_journal *journal, struct df_error *error);

/* Returns the path of the journal's input with this base name, malloc'ed; NULL if it has none, or without memory. */
char *dfr_journal_input(const char *path, const char *name);

/* Checks the appended files against the last record. They may be longer. */
int dfr_journal_check_files(const struct dfr_journal *journal, struct df_error *error);

#endif
