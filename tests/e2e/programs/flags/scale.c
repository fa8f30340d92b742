/* A benchmark as they are found: a function, and a main() that ends without a return and calls what is not here. */
#include "factor.h"
#include <stdio.h>

void start_timer(void);

void scale(float *out, const float *in, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = FACTOR * in[i] + ADDED;
}

int main(void)
{
    start_timer();
    printf("the benchmark's own main\n");
}
