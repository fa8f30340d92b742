#include <stdio.h>
#include "common.h"
int omp_num_threads = 2;
void lud_omp(float *a, int size);
int main(void)
{
    float *m;
    create_matrix(&m, 256);
    lud_omp(m, 256);
    FILE *f = fopen("lud.ref", "wb");
    fwrite(m, sizeof *m, 256 * 256, f);
    return fclose(f);
}
