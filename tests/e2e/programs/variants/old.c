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
