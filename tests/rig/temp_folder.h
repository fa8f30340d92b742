/* temp_folder.h - a folder of a test's own, for databases and what lies beside them. */
#ifndef TEMP_FOLDER_H
#define TEMP_FOLDER_H

/* For setup and teardown, one at a time in a program: 0 where it went well. */
int temp_folder_make(void **state);
int temp_folder_remove(void **state);

extern char temp_folder[64];            /* its path */
extern char temp_file[80];              /* of a file in it, which is not there yet */

#endif
