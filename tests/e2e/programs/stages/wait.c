// Takes a time that is given, on the CPU and on the emulated GPU.
#include <stddef.h>
#include <stdint.h>
#include <time.h>

void wait_for(const int64_t *in, int64_t *out, size_t n, int64_t us)
{
    nanosleep(&(struct timespec){ .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 }, NULL);
    for (size_t i = 0; i < n; i++)
        out[i] = in[i] * 3;
}
