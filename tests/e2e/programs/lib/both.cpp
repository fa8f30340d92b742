// both.cpp - C++ with two libraries that have a kernel and a graph of the same names inside: linked, or opened by dlopen (both A B).
#include "edges.h"
#include "other.h"

#include <cstdio>
#include <dlfcn.h>

template <class function> static function find(void *library, const char *name)
{
    return reinterpret_cast<function>(library ? dlsym(library, name) : dlsym(RTLD_DEFAULT, name));
}

int main(int argc, char **argv)
{
    void *a = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : nullptr;
    void *b = argc > 2 ? dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL) : nullptr;
    if (argc > 1 && !(a && b))
        return std::printf("%s\n", dlerror()), 1;
#ifdef LINKED
    auto edges = sizes_run;
    auto other = other_run;
    auto open_edges = sizes_open;
    auto open_other = other_open;
    auto close_edges = sizes_close;
    auto close_other = other_close;
#else
    auto edges = find<decltype(&sizes_run)>(a, "sizes_run");
    auto other = find<decltype(&other_run)>(b, "other_run");
    auto open_edges = find<decltype(&sizes_open)>(a, "sizes_open");
    auto open_other = find<decltype(&other_open)>(b, "other_open");
    auto close_edges = find<decltype(&sizes_close)>(a, "sizes_close");
    auto close_other = find<decltype(&other_close)>(b, "other_close");
#endif
    sizes_session *s;
    other_session *o;
    int32_t x[] = { -1, 2, -3 }, y[3], z[3];
    if (open_edges("--workers=2", &s) || open_other(nullptr, &o) || edges(s, x, 1, 3, y) || other(o, x, 3, z))
        return 1;
    std::printf("%d %d %d, %d %d %d\n", y[0], y[1], y[2], z[0], z[1], z[2]);
    int rc = close_edges(s) || close_other(o);
    if (a)
        rc |= dlclose(b) | dlclose(a);
    return rc;
}
