#include "called.h"
#include <stdio.h>

int main(void)
{
    struct add_session *s;
    float v[4] = { 1, 2, 3, 4 }, w[4];
    int rc = CALLED_OK;
    if (add_open("--workers=2", &s) != CALLED_OK)
        return 1;
    for (int i = 0; i < 5 && rc == CALLED_OK; i++)
        rc = add_run(s, v, 4, w, 2);
    printf("%d %g %g\n", rc, (double)w[0], (double)w[3]);
    rc = add_run(s, v, 4, w, 7);
    printf("%d %s\n", rc, add_error());
    rc = add_run(s, v, 4, w, 2);
    printf("%d %g %g\n", rc, (double)w[0], (double)w[3]);
    rc = add_run(s, v, 4, w, 3);
    printf("%d %g %g\n", rc, (double)w[0], (double)w[3]);
    return add_close(s) != CALLED_OK;
}
