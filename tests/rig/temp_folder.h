/* temp_folder.h - a folder of a test's own, for databases and the files beside them. */
#ifndef TEMP_FOLDER_H
#define TEMP_FOLDER_H

/* cmocka's setup and teardown functions. They give 0 if they succeed. A program has one such folder at a time. */
int temp_folder_make(void **state);
int temp_folder_remove(void **state);

extern char temp_folder[64];            /* its path */
extern char temp_file[80];              /* the path of a file in it, which does not exist yet */

#endif
