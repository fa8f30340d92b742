/* ours.c - a graph of examples/filters as a contender, out of the library that `dfc --lib` makes of it: one worker, no
 * device. FILTER is the graph's name, HEADER the library's header, NAME what the contender is called. A graph of planes has
 * PLANES of them; SCALARS, with a comma before it, is what stands behind the ports.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include HEADER

#include "contender.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define CALL(what) JOIN(FILTER, what)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)
#ifndef SCALARS
#define SCALARS
#endif
#ifdef PLANES
#define EXTENTS PLANES, h, w
#else
#define EXTENTS h, w
#endif

static int run(const void *in, size_t h, size_t w, void *out)
{
    static struct CALL(_session) *session;
    if ((!session && CALL(_open)("--workers=1 --device=none", &session) != 0) || CALL(_run)(session, in, EXTENTS, out SCALARS) != 0) {
        fprintf(stderr, "%s\n", CALL(_error)());
        return 1;
    }
    return 0;
}

const struct contender *contenders(const char *filter)
{
    static const struct contender list[] = { { NAME, run }, { NULL, NULL } };
    return strcmp(filter, TEXT(FILTER)) == 0 ? list : list + 1;
}
