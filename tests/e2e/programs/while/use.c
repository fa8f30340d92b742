/* use.c - calls the loop of solve.df at two sizes, in one wave and in three. */
#include <stdio.h>

#include "solve.h"

int main(void)
{
    const float x[8] = { 8, -64, 3, 32, 1, 1, 1, 1 };
    float y[8];
    struct solve_session *s;
    if (solve_open("--device=emu --emu-all --workers=2", &s) || solve_run(s, x, 2, y, 4)) {
        puts(solve_error());
        return 1;
    }
    printf("%g %g\n", (double)y[0], (double)y[1]);
    if (solve_run_waves(s, 2, x, 4, y, 100)) { /* no round takes place */
        puts(solve_error());
        return 1;
    }
    printf("%g %g %g %g, %g\n", (double)y[0], (double)y[1], (double)y[2], (double)y[3], (double)y[4]);
    return solve_close(s);
}
