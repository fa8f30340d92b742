/* status_line.h - a status line on the terminal, redrawn in place below the program's output on stderr. program/progress.c draws it; engine/, emu/,
 * program/ and record/resumable.c clear it before they print.
 *
 * Others:   Code that prints on stderr first calls dfr_status_clear(), so that its line takes the place of the status line. The next dfr_status_draw()
 *           draws below it.
 * Threads:  any. Drawing and clearing exclude each other. dfr_status_clear_in_signal() may be called in a handler.
 */
#ifndef DFR_STATUS_LINE_H
#define DFR_STATUS_LINE_H

/* Draws the line, in place of the one before, cut to the terminal's width. */
void dfr_status_draw(const char *text);
/* Removes the line, if one is drawn. */
void dfr_status_clear(void);
void dfr_status_clear_in_signal(void);
/* Leaves the line where it is and ends it: what follows stands below. */
void dfr_status_end(void);

#endif
