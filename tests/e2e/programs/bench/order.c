#include "shapes.h"
static uint32_t mix(uint32_t n, uint32_t i, const char *how)
{
    return how[0] == 'b' ? n - 1 - i : how[0] == 't' && i == n - 1 ? 0 : i;     /* backwards; the first twice, the last not */
}
int main(int argc, char **argv)
{
    struct shape_check c;
    if (argc != 3 || !shape_check_build(&c, argv[1], 50) || c.n != shape_nodes(argv[1], 50))
        return 2;
    shape_check_begin(&c);
    for (uint32_t i = 0; i + (argv[2][0] == 'l') < c.n; i++)                    /* less: not the last */
        shape_check_run(&c, mix(c.n, i, argv[2]));
    if (argv[2][0] == 'a')                                                      /* again: one too many */
        shape_check_run(&c, 7);
    return !shape_check_holds(&c);
}
