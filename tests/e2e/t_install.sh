# make install: dfc works from a prefix, and a program that builds its graph by hand compiles by what pkg-config says.
if [ ! -f "$DF_SOURCE/Makefile" ] || [ ! -d "$DF_BUILD/obj" ]; then skip install 'not a source tree'; return 0 2>/dev/null || exit 0; fi
# The kind of this build, whatever its folder is called: so that nothing is compiled again.
case $(cat "$DF_BUILD/obj/flags") in
    *--coverage*) kind=coverage ;; *-fsanitize=address*) kind=asan ;; *-fsanitize=undefined*) kind=ubsan ;; *-fsanitize=thread*) kind=tsan ;;
    *-DNDEBUG*) kind=release ;; *) kind=debug ;;
esac
dir=${DF_BUILD#"$DF_SOURCE"/}             # as `make check` names it: paths are among the flags
like=(-o "$dir/obj/flags" BUILD="$kind" BUILDDIR="$dir" PREFIX="$PWD/usr" MAKEFLAGS=)
[ -e "$DF_BUILD/lib/libdf-cuda.a" ] || like+=(CUDA=0)
check make-install make --no-print-directory -C "$DF_SOURCE" install "${like[@]}"
cp "$DF_SOURCE"/examples/sum/{sum.df,vec.c,vec.cu,check.py} .
check compile usr/bin/dfc sum.df -o sum --nvcc=none
./sum --seed=3 >out; check run python3 check.py 3 1024 <out

cat >by_hand.c <<'EOT'
#include <df.h>
#include <stdio.h>
static int one(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    (void)stream, (void)scalars;
    for (size_t i = 0; i < dims[0]; i++)
        ((int32_t *)ports[0])[i] = (int32_t)(i + (size_t)df_wave(call));
    return DF_OK;
}
static int print(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    (void)stream, (void)scalars;
    long sum = 0;
    for (size_t i = 0; i < dims[0]; i++)
        sum += ((const int32_t *)ports[0])[i];
    printf("%lld %ld\n", (long long)df_wave(call), sum);
    return DF_OK;
}
int main(void)
{
    static const char *const dims[] = {"k"};
    static const struct df_port_desc out = {"v", DF_OUT, DF_I32, 1}, in = {"v", DF_IN, DF_I32, 1};
    static const uint64_t k[] = {100}, extents[1][DF_MAX_RANK] = {{100}};
    struct df_kernel_desc a = {.name = "one", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = &out, .functions = {.cpu = one}};
    struct df_kernel_desc b = {.name = "print", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = &in, .traits = DF_ORDERED, .functions = {.cpu = print}};
    struct df_builder *builder = df_builder_new("by_hand");
    struct df_error error;
    struct df_graph *graph;
    struct df_options options;
    struct df_run *run;
    uint32_t ka, kb, na, nb;
    df_options_default(&options);
    options.waves = 3;
    int status = !builder || df_builder_kernel(builder, &a, &ka, &error) || df_builder_kernel(builder, &b, &kb, &error) ||
                 df_builder_node(builder, ka, k, extents, NULL, &na, &error) || df_builder_node(builder, kb, k, extents, NULL, &nb, &error) ||
                 df_builder_connect(builder, na, 0, nb, 0, &error) || df_builder_finish(builder, &graph, &error) ||
                 df_run_start(graph, &options, &run, &error) || df_run_wait(run, NULL, &error);
    if (status)
        fprintf(stderr, "%s\n", error.text);
    else
        df_graph_free(graph);
    df_builder_free(builder);
    return status != 0;
}
EOT
export PKG_CONFIG_PATH=$PWD/usr/lib/pkgconfig
sanitize=$(grep -oE -- '-fsanitize=[a-z]+' "$DF_BUILD/obj/flags" | head -n 1)
# shellcheck disable=SC2046
check by-hand-compiles cc -std=c11 -Wall -Wextra -Werror $sanitize by_hand.c -o by_hand $(pkg-config --cflags --libs libdf)
printf '0 4950\n1 5050\n2 5150\n' >want
./by_hand >got; same by-hand-runs got want
# The example of a program that lends its own arrays, on the host and on the emulated GPU.
# shellcheck disable=SC2046
check embed-compiles cc -std=c11 -Wall -Wextra -Werror $sanitize "$DF_SOURCE/examples/embed/embed.c" -o embed \
    $(pkg-config --cflags --libs libdf)
for w in 0 1 2 3; do echo "$w: y[999] = $((1998 + w)), sum $((999000 + 1000 * w))"; done >want
./embed >got; same embed-runs got want
./embed emu >got; same embed-runs-emulated got want
check make-uninstall make --no-print-directory -C "$DF_SOURCE" uninstall "${like[@]}"
[ -z "$(find usr -type f)" ] && pass uninstall-leaves-nothing || fail uninstall-leaves-nothing "$(find usr -type f | head -n 3)"
