/* help_std.h - `dfc help std/NAME`: lists what a file that comes with dfc declares. For main.c. */
#ifndef DFC_HELP_STD_H
#define DFC_HELP_STD_H

/* Prints the comments and signatures of std/NAME (with or without ".df") and of what it imports. Returns the exit status; 2: there is no such file, which is
 * reported. */
int dfc_help_std(const char *name);

#endif
