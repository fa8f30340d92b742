/* Copies. If fd is not negative, says on it that it has begun, and waits until told to go on. */
#include <string.h>
#include <unistd.h>

int wait_cpu(struct df_call *call, size_t n, const float *a, float *b, int32_t fd)
{
    char byte = 'b';
    memcpy(b, a, n * sizeof *b);
    if (fd >= 0 && (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1))
        return df_fail(call, "nobody is there");
    return DF_OK;
}
