/* replay.c - main() of a fuzz target that is linked without libFuzzer: gives the target the files that are its
 * arguments, one after the other. So what was found becomes a test.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

static int replay(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        return 1;
    }
    uint8_t *data = NULL;
    size_t size = 0, room = 0, n;
    do {
        if (room - size < 4096) {
            room = room * 2 + 8192;
            uint8_t *more = realloc(data, room);
            if (!more)
                abort();
            data = more;
        }
        n = fread(data + size, 1, room - size, in);
        size += n;
    } while (n > 0);
    fclose(in);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc; i++)
        status |= replay(argv[i]);
    return status;
}
