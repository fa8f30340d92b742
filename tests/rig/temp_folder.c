/* temp_folder.c - makes and removes the folder of a test (temp_folder.h). */
#include "temp_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char temp_folder[64], temp_file[80];

int temp_folder_make(void **state)
{
    (void)state;
    strcpy(temp_folder, "/tmp/dfc-test-XXXXXX");
    if (!mkdtemp(temp_folder))
        return -1;
    snprintf(temp_file, sizeof temp_file, "%s/p.db", temp_folder);
    return 0;
}

int temp_folder_remove(void **state)
{
    char command[80];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", temp_folder);
    return system(command);
}
