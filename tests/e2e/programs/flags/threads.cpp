/* A function in C++ with OpenMP, in a file with a main() and a static initialiser. */
#ifndef _OPENMP
#error OpenMP is needed
#endif
#include <cstdlib>
#include <omp.h>

static int most = omp_get_max_threads();

void shift(float *v, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        v[i] += most > 0;
}

int main(int argc, char **)
{
    std::exit(argc);
}
