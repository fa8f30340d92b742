#define _GNU_SOURCE
#include <string.h>
#include <stdlib.h>
#include "old.h"
#ifndef __USE_GNU
#error its own feature macro came too late
#endif
void squares(int n, int *out, int *in) { for (int i = 0; i < n; i++) out[i] = in[i] * in[i] + PLUS; }
int squares_status(int *out, const int *in, long n) { squares((int)n, out, (int *)in); return 0; }
int squares_fail(int *out, const int *in, long n) { (void)out; (void)in; return n == 4 ? 3 : 0; }
double squares_double(int n) { return n; }
struct two { int a, b; };
struct two squares_count(int *out, const int *in, long n) { squares((int)n, out, (int *)in); return (struct two){ (int)n, 1 }; }
int squares_sum(int *out, const int *in, long n)
{
    int sum = 0;
    squares((int)n, out, (int *)in);
    for (long i = 0; i < n; i++)
        sum += out[i];
    return sum;
}
