/* Calls a graph whose results have extents that differ from wave to wave. The first argument has the options. */
#include "marks.h"

#include <stdio.h>
#include <stdlib.h>

enum { K = 10, WAVES = 4 };

static struct marks_session *session;

/* "at[3]: 1 4 6"; "-": the token is empty. */
static void show(const char *name, unsigned port, const int32_t *room, size_t wave)
{
    const size_t *e = marks_extents(session, port);
    const unsigned char *empty = marks_empty(session, port);
    size_t bounds[4];
    if (!e || marks_shape(session, K, port, bounds) != MARKS_OK)
        exit(2);
    e += 4 * wave;
    room += wave * bounds[0] * bounds[1];
    printf("%s[%zu, %zu]:%s", name, e[0], e[1], empty && empty[wave] ? " -" : "");
    for (size_t i = 0; i < e[0] * e[1]; i++)
        printf(" %d", (int)room[i]);
    puts("");
}

int main(int argc, char **argv)
{
    static int32_t v[WAVES][K], at[WAVES][100], rows[WAVES][8][2], gap[WAVES][99], kinds[100];
    if (argc != 2 || marks_open(argv[1], &session) != MARKS_OK)
        return 1;
    if (marks_extents(session, 1))      /* there was no call */
        return 2;
    for (int w = 0; w < WAVES; w++)
        for (int i = 0; i < K; i++)
            v[w][i] = i * 7 % (w + 3);
    for (int32_t t = 0; t < 5; t += 2) {
        if (marks_run(session, v[1], K, at[0], rows[0][0], gap[0], kinds, t) != MARKS_OK)
            return printf("%s\n", marks_error()), 1;
        show("at", 1, at[0], 0);
        show("rows", 2, rows[0][0], 0);
        show("gap", 3, gap[0], 0);
        show("kinds", 4, kinds, 0);
    }
    if (marks_extents(session, 0) || marks_extents(session, 5)) /* an input; no port */
        return 2;
    if (marks_run_waves(session, WAVES, v[0], K, at[0], rows[0][0], gap[0], kinds, 3) != MARKS_OK)
        return printf("%s\n", marks_error()), 1;
    for (unsigned w = 0; w < WAVES; w++) {
        show("at", 1, at[0], w);
        show("rows", 2, rows[0][0], w);
        show("gap", 3, gap[0], w);
    }
    show("kinds", 4, kinds, 0);
    return marks_close(session);
}
