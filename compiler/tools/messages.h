/* messages.h - messages to dfc's user that do not concern a place in a .df file: "dfc: error: …" and a newline, on
 * stderr. Errors in a .df go to the diagnostic sink (dsl/diag.h). Names are escaped and shortened
 * (runtime/base/message.h).
 *
 * Room:     compiler/tools/ wraps what commands need from the operating system: messages, output files, the
 *           installation folder, child processes. It knows runtime/base/ and neither graphs nor options.
 * Threads:  one at a time.
 */
#ifndef DFC_MESSAGES_H
#define DFC_MESSAGES_H

void dfc_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void dfc_no_warnings(void); /* from now on dfc_warning() prints nothing */
void dfc_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void dfc_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
