/* messages.h - what dfc says to its user about anything but the text of a .df file: "dfc: error: …" and a new line, on
 * stderr. Errors in a .df have a place in it and go to the sink of dsl/diag.h. Names in it are escaped and shortened
 * (runtime/base/message.h).
 *
 * Room:     compiler/tools/ holds what a command needs of the system: messages, output files, the folder in which dfc
 *           is installed, programs that are run. It knows runtime/base/ and neither graphs nor options.
 * Threads:  one at a time.
 */
#ifndef DFC_MESSAGES_H
#define DFC_MESSAGES_H

void dfc_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void dfc_no_warnings(void); /* from now on dfc_warning() prints nothing */
void dfc_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void dfc_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
