/* journal.h - the journal: a log on disk of which waves are done and which files they have written, from which a killed run is resumed. resumable.c
 * keeps it; spool.c looks up the inputs of an earlier run in it.
 *
 * Words:    A wave is *done* if all that it and the waves before it wrote is on the disk. An *epoch* is one process that writes the journal; epochs are
 *           numbered from 1.
 * File:     Lines of text. Each ends with " #" and a checksum of 16 digits of the line before it.
 *
 *     - `dfc journal 3 program HASH`: the program hash (digest.h) without the inputs. Versions 1 and 2 can be read: 1 has no lines `fact`, and
 *       neither has lines `file` and `back`.
 *     - `fact KIND NAME VALUE`: what the hash covers, as far as it has names (facts.h).
 *     - `input BYTES CHANGED PATH`: one line per input. `begun`: the end of the list.
 *     - `run EPOCH FIRST`: a process continues after FIRST waves.
 *     - `out …`: the state of an appended file (written.h). DIGEST covers its bytes from FROM on.
 *     - `file …`: a file that this wave has written whole.
 *     - `done WAVES EPOCH`: commits a record, together with the lines `out` and `file` before it.
 *     - `back WAVES EPOCH`: the same, and waves that were done are computed again from there on.
 *     - `all WAVES EPOCH`: there are no more waves, and no more lines `out`.
 *     - `end WAVES EPOCH`: the files have their final names.
 *     - `accepted EPOCH`: from here on the inputs are those of the lines `input` just before it.
 *
 * Rule:     Outputs are synced before their lines are written, and the lines are synced before dfr_journal_done() returns. An incomplete record at the
 *           end, left by a crash, is truncated. An invalid line before that is damage, and the journal is refused.
 * Whole:    A resumed run verifies the whole files of completed waves: size and modification time, and the digest if the time differs. If one is
 *           missing or has changed, the run goes back to the last record before its wave. Files written by several waves are not verified, and
 *           nothing is verified after `end`. The header of a .npy is excluded from its digest, because the number of tokens is written there at the end.
 * Fence:    The file is locked (flock) while a process has it open. On a file system without locks a second process may open it; then the next
 *           record of the first process fails.
 * Threads:  one at a time.
 * Errors:   DF_E_REFUSED: the journal belongs to another program, is damaged, or is in use by another process. DF_E_IO: it cannot be read or written.
 *           *error has a message for the user.
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
