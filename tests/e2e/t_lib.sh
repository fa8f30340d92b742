# dfc --lib: graphs as functions of a library, called from C and C++, found by pkg-config and CMake; the same bits as the program; wrong calls
# answered in words; several libraries and several threads in one process; repeated calls allocate nothing.
sanitize=$(grep -oE -- '-fsanitize=[a-z]+' "$DF_BUILD/obj/flags" | head -n 1)
export PKG_CONFIG_PATH=$PWD
formulas_for none
cp "$programs"/* .
c() { # OUTPUT SOURCE ARGS…: as strict as people's compilers may be
    # shellcheck disable=SC2086
    cc -std=c11 -Wall -Wextra -Werror $sanitize -pthread "$2" -o "$1" "${@:3}"
}
flags() { pkg-config --cflags --libs "$@"; } # of a library in this folder, or in that of PKG_CONFIG_PATH

own=(env -u COMPILER_PATH)               # the linker of users: a library, archives, and programs of both
check make-shared "${own[@]}" "$DFC" edges.df --lib -o libedges.so
check make-program "$DFC" edges.df -o edges
# shellcheck disable=SC2046
check call-compiles c call call.c -Wl,-rpath,"$PWD" $(flags edges)
for w in $(! long || echo 1) 3; do
    ./edges --waves=$w >want
    for set in --workers=1 '--workers=2 --policy=gp' '--device=emu --emu-all --policy=all-gpu' '--policy=dmda --device=emu --emu-all'; do
        ./call "$set" $w >got; same "bits-$w $set" got want
    done
done
./edges --scale=-2 >want; ./call '--scale=-2' >got; same bits-arg got want

# What can be seen of it from outside.
exported=$(nm -D --defined-only libedges.so | sed 's/.* //' | sort | tr '\n' ' ')
[ "$exported" = "$(printf '%s\n' {edges,sizes}_{close,empty,error,extents,open,progress,run,run_waves,shape,signature,stats,stop} | sort | tr '\n' ' ')" ] &&
    pass exports || fail exports "$exported"
cat >describe.c <<'END'
#include "edges.h"
#include <stdio.h>
int main(void) { return puts(edges_signature()) < 0; }
END
# shellcheck disable=SC2046
c describe describe.c -Wl,-rpath,"$PWD" $(flags edges) && ./describe >signature
check signature python3 - <<'END'
import json
s = json.load(open("signature"))
assert s["name"] == "edges" and s["dims"] == ["h", "w"], s
assert s["ports"] == [{"name": "image", "mode": "in", "type": "u8", "dims": ["h", "w"]}, {"name": "e", "mode": "out", "type": "u8",
    "dims": ["h - 1", "w"]}, {"name": "d", "mode": "out", "type": "i32", "dims": ["h - 1", "w"]}], s["ports"]
assert s["scalars"] == [{"name": "t", "type": "f32"}], s
assert s["options"] == [{"name": "scale", "type": "i32", "default": 1,
    "help": 'what each difference is multiplied by; */ ends no comment, and "??/" is no backslash'}], s["options"]
END

grep -qxF ' *     --scale=i32  what each difference is multiplied by; * / ends no comment, and "??/" is no backslash (default 1)' edges.h &&
    pass described || fail described "$(grep scale edges.h)"

# NULL for each pointer of each function that a library exports: a sentence, or nothing happens.
cat > nulls.df <<'X'
kernel add(in v: i32[n], in w: f64[m], out o: i32[n], acc t: f64[m]; name: str, by: f32) cpu {{
    for (size_t i = 0; i < n; i++) o[i] = v[i] + (int32_t)by + (int32_t)strlen(name);
    for (size_t i = 0; i < m; i++) t[i] += w[i];
}};
graph some(in v: i32[n <= 7], in w: f64[m], out o: i32[n], out t: f64[m]; name: str, by: f32) { (o, t) = add(v, w, name, by); }
kernel double(in v: u8[n], out o: u8[n]) { o[x] = wrap_u8(2 * v[x]); }
graph twice(in v: u8[n], out o: u8[n]) { o = double(v); }
X
check nulls-compile "$DFC" nulls.df --lib -o libnulls.so --nvcc=none
expect nulls 0 '^39 calls, 0 wrong$' python3 "$programs/nulls.py" libnulls.so nulls.h

# Wrong calls.
# shellcheck disable=SC2046
check misuse-compiles c misuse misuse.c -Wl,-rpath,"$PWD" $(flags edges)
./misuse >said 2>&1; [ $? = 0 ] && pass misuse-ends || fail misuse-ends "$(tail -n 3 said)"
answer() { if grep -qE -- "^$2$" said; then pass "misuse-$1"; else fail "misuse-$1" "$(grep -- "^$1:" said | head -n 2)"; fi; }
answer option "option: -2 edges: unknown option '--polcy'; did you mean '--policy'\?"
answer value "value: -2 edges: --scale: 'x' is not an integer"
answer quote "quote: -2 edges: options: a quote is not closed: --policy='gp"
answer waves-option 'waves option: -2 edges: --waves is no option of a library: each call says how many it runs'
answer trace-option 'trace option: -2 edges: --trace is no option of a library: a program takes it'
answer no-place 'no place: -2 edges: there is no place to put the session: it is NULL'
answer no-session 'no session: -2 edges: the session is NULL'
answer NULL "NULL: -2 edges: 'e' is NULL"
answer zero 'zero: -2 edges: w is 0: a dimension is at least 1'
answer extent 'extent: -2 edges\(h = 1, w = 4\): edges.df:[0-9]+:[0-9]+: dimension is 0: it must be at least 1'
answer large 'large: -2 edges\(h = 1099511627776, w = 1099511627776\): .* its size does not fit in 63 bits'
answer too-large 'too large: -2 edges: h is 18446744073709551615: it does not fit in 63 bits'
answer waves 'waves: -2 edges: a call of 0 waves: it is at least 1'
answer many-waves "many waves: -2 edges: 9223372036854775807 tokens of 12 bytes in 'image' are more than there are addresses"
answer unaligned "unaligned: -2 edges: 'd' is at 0x[0-9a-f]+, and its elements of 4 bytes begin at multiples of that"
answer overlap "overlap: -2 edges: 'e' and 'd' have bytes in common"
answer in-place "in place: -2 edges: 'image' and 'e' have bytes in common"
answer overlap-of-waves "overlap of waves: -2 edges: 'e' and 'd' have bytes in common"
answer side-by-side 'side by side: 0 '
answer port 'port: -2 edges: there is no port 3: it has 3'
answer kernel "kernel: -6 edges: node 'main/edges/above', wave 0: a threshold of -1"
answer after-it 'after it: 0 '
answer values '1 1 76'
answer met 'met: 0 '
answer wrong-kind "wrong kind: -2 edges: the session was opened for 'sizes'"
answer close-twice 'close twice: -2 edges: the session is closed'
answer closed 'closed: -2 edges: the session is closed'
answer closed-stats 'closed stats: none edges: the session is closed'
answer close-nothing 'close nothing: 0 '
# The other thread was refused whenever the two met, and nothing else happened to it.
[ -z "$(grep '^thread:' said | grep -vE '^thread: (0 |-2 edges: another thread is in a call of this session: each thread opens its own)$')" ] &&
    pass misuse-threads || fail misuse-threads "$(grep '^thread:' said | sort | uniq -c)"

# Four threads, and no allocation in what is repeated.
# shellcheck disable=SC2046
check many-compiles c many many.c -Wl,-rpath,"$PWD" $(flags edges)
./many >got
[ "$(head -n 1 got)" = 'wrong 0' ] && pass threads || fail threads "$(cat got)"
case $sanitize in
    *address* | *thread*) skip allocations "a sanitizer has the allocator" ;;
    *) [ "$(tail -n 1 got)" = 'repeated 0, fresh some' ] && pass allocations || fail allocations "$(cat got)" ;;
esac
if [ -n "$sanitize" ] || ! command -v valgrind >/dev/null; then skip leaks 'a sanitizer looks, or there is no valgrind'; elif long; then
    check leaks valgrind -q --leak-check=full --show-leak-kinds=definite,indirect,possible --errors-for-leak-kinds=definite,indirect,possible \
        --error-exitcode=9 ./misuse
fi

# Two libraries with kernels of one name: opened at once, linked, and as archives in one program.
check make-other "${own[@]}" "$DFC" other.df --lib -o libother.so
# shellcheck disable=SC2086
check both-compiles c++ -std=c++11 -Wall -Wextra -Werror $sanitize both.cpp -o both -I. -ldl
echo '1 2 3, 99 102 97' >want
./both ./libedges.so ./libother.so >got; same both-opened got want
# shellcheck disable=SC2046,SC2086
check linked-compiles "${own[@]}" c++ -std=c++11 -Wall -Wextra -Werror $sanitize -DLINKED both.cpp -o linked -Wl,-rpath,"$PWD" $(flags edges other) -ldl
./linked >got; same both-linked got want
check make-openmp "${own[@]}" "$DFC" other.df --lib -o libomp.a --cflags=-fopenmp
expect needs-openmp 0 '^Libs: .*-l:libomp.a -lmetis .* -pthread .*-fopenmp' cat omp.pc
grep -q 'INTERFACE_LINK_LIBRARIES "-lmetis;.*;-fopenmp"' ompConfig.cmake && pass needs-openmp-cmake || fail needs-openmp-cmake "$(cat ompConfig.cmake)"
mkdir ar moved
check make-archives "${own[@]}" "$DFC" edges.df --lib -o ar/libedges.a && "${own[@]}" "$DFC" other.df --lib -o ar/libother.a
mv ar/* moved/                          # all that lies beside a library says where it is by itself
# shellcheck disable=SC2046,SC2086
check archives-compile "${own[@]}" c++ -std=c++11 -Wall -Wextra -Werror $sanitize -DLINKED both.cpp -o archives $(PKG_CONFIG_PATH=moved flags edges other) -ldl
./archives >got; same both-archives got want
[ "$(nm --defined-only moved/libother.a | grep -c ' [A-TV-Z] ')" = 12 ] && pass archive-exports || fail archive-exports "$(nm --defined-only moved/libother.a | grep ' [A-Z] ' | head -n 12)"

# CMake: a shared library in one folder, an archive in another.
if ! command -v cmake >/dev/null; then skip cmake 'there is none'; else
    mkdir project; cp both.cpp project/
    cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.10)
project(both CXX)
find_package(edges REQUIRED)
find_package(other REQUIRED)
add_executable(both both.cpp)
target_compile_definitions(both PRIVATE LINKED)
target_link_libraries(both edges::edges other::other ${CMAKE_DL_LIBS})
END
    check cmake cmake -S project -B built -DCMAKE_PREFIX_PATH="$PWD" -Dother_DIR="$PWD/moved" -DCMAKE_CXX_FLAGS="$sanitize"
    check cmake-builds "${own[@]}" cmake --build built
    built/both >got; same cmake-runs got want
fi

# Kernels for the emulated GPU; sizes of a session: dynamic params, and texts; what fires once; results that are changed afterwards.
cat >more.df <<'END'
import "other.df";
param taps = 3 dynamic;
type four = i32[4];
arg from: i32 = 100;
kernel table(out t: i32[k]; by: i32) once                cpu {{ static int calls; calls++; for (size_t i = 0; i < k; i++) t[i] = by * calls; }};
kernel add(in t: i32[k], in a: i32[n], out b: i32[n])    cpu {{ for (size_t i = 0; i < n; i++) b[i] = a[i] + t[i % k] + (int)k; }};
kernel twice(inout a: i32[n])                            cpu {{ for (size_t i = 0; i < n; i++) a[i] *= 2; }};
kernel fill(out a: i32[n]; word: str, by: i64)           cpu {{ for (size_t i = 0; i < n; i++) a[i] = (int)by + word[i]; }};
kernel on(in a: i32[n], out b: i32[n])                   cpu "on.c" gpu "on.c";
graph tabled(in a: i32[n], out b: i32[n]) { t: i32[taps] = table(from); b = add(t, a); }
graph changed(in a: four, out b: four, out c: four) { b = twice(a); c = twice(b); }
graph filled(out a: i32[n]; word: str, by: i32) { a = fill(word, 12 / by); }
graph where(in a: i32[n], out b: i32[n]) { b = on(a); }
graph nothing { }
END
cat >on.c <<'END'
#include <stddef.h>
int on_cpu(struct df_call *call, size_t n, const int *a, int *b) { (void)call; for (size_t i = 0; i < n; i++) b[i] = a[i]; return 0; }
int on_gpu(struct df_call *call, cudaStream_t stream, size_t n, const int *a, int *b) {
    (void)call; (void)stream; for (size_t i = 0; i < n; i++) b[i] = -a[i]; return 0; }
END
cat >more.c <<'END'
#include "more.h"
#include <stdio.h>
#define DO(graph, call) if (call) printf("%s\n", graph##_error()); else printf("%d %d %d %d | %d %d %d %d\n", b[0], b[1], b[2], b[3], a[0], a[1], c[0], c[1])
int main(void)
{
    int32_t a[] = { 1, 2, 3, 4 }, b[4] = { 0 }, c[4] = { 0 };
    struct tabled_session *t;
    struct changed_session *x;
    struct filled_session *f;
    struct where_session *w;
    if (tabled_open("--taps=2 --from=10", &t) || changed_open(NULL, &x) || filled_open("", &f) ||
        where_open("--device=emu --policy=all-gpu --stats", &w))
        return 1;
    DO(tabled, tabled_run(t, a, 4, b));
    DO(tabled, tabled_run_waves(t, 2, a, 2, b));
    DO(tabled, tabled_run(t, a, 4, b));
    DO(changed, changed_run(x, a, b, c));
    DO(filled, filled_run(f, b, 3, "abc", 0));
    DO(filled, filled_run(f, b, 3, NULL, 1));
    DO(filled, filled_run(f, b, 3, "abc", 4));
    DO(filled, filled_run(f, b, 3, "bcd", 6));
    DO(filled, filled_run(f, b, 3, "bcd", 0));
    DO(filled, filled_run(f, b, 3, "bcd", 6));
    DO(where, where_run(w, a, 4, b));
    const char *stats = where_stats(w);
    printf("%s", stats ? stats : where_error());
    printf("%s\n", where_stats(w) ? "more" : where_error());
    DO(where, where_run(w, a, 4, b));
    return tabled_close(t) || changed_close(x) || filled_close(f) || where_close(w);
}
END
expect make-more 0 "warning: graph 'nothing' has no ports, so it is not in the library" "$DFC" more.df --lib -o libmore.so --emu-gpu-code
grep -q other_open more.h && fail own-graphs 'an imported graph is in the library' || pass own-graphs
# shellcheck disable=SC2046
check more-compiles c more more.c -Wl,-rpath,"$PWD" $(flags more)
cat >want <<'END'
13 14 15 16 | 1 2 0 0
23 24 25 26 | 1 2 0 0
13 14 15 16 | 1 2 0 0
2 4 6 8 | 1 2 4 8
filled: node 'main/filled/fill': scalar 'by': division by zero
filled: scalar number 1, a text, is NULL
100 101 102 8 | 1 2 4 8
100 101 102 8 | 1 2 4 8
filled: node 'main/filled/fill': scalar 'by': division by zero
100 101 102 8 | 1 2 4 8
-1 -2 -3 -4 | 1 2 4 8
where: there was no call of which something could be said
-1 -2 -3 -4 | 1 2 4 8
END
./more >got; grep -v '^{' got >lines; same more-runs lines want
grep '^{' got | python3 -c 'import json, sys; k = json.load(sys.stdin)["kernels"]; assert any(x["name"] == "on" and x["on"] == "gpu" for x in k), k' &&
    pass stats || fail stats "$(grep '^{' got)"

# What dfc says.
usage() { expect "told-$1" 2 "$2" "$DFC" "${@:3}"; }
usage no-name 'error: --lib needs a name for the library: -o libNAME.so or -o libNAME.a' edges.df --lib
usage no-ending "error: --lib: the name 'libedges' does not say what library it is: it ends in .so or in .a" edges.df --lib -o libedges
usage emit 'error: --lib makes a library, and --emit=c writes a step on the way to a program: give one of them' edges.df --lib --emit=c -o x.so
usage graph 'error: --graph chooses the graphs of a library: it goes with --lib' edges.df --graph=edges -o x
expect told-unknown 1 "error: --graph=edge: there is no graph 'edge'" "$DFC" edges.df --lib -o x.so --graph=edge
expect told-unknown-hint 1 "hint: did you mean 'edges'\?" "$DFC" edges.df --lib -o x.so --graph=edge
expect told-kernel 1 "edges.df:[0-9]+:8: error: --graph=size: 'size' is a kernel" "$DFC" edges.df --lib -o x.so --graph=size
expect told-main 1 "error: --graph=main: 'main' is a graph without ports, so nothing could be given to it" "$DFC" edges.df --lib -o x.so --graph=main
check chosen "$DFC" more.df --lib -o libchosen.so --graph=other --graph=other --emu-gpu-code
[ "$(nm -D --defined-only libchosen.so | grep -c ' T other_')" = 12 ] && ! nm -D libchosen.so | grep -q tabled && pass chosen-alone || fail chosen-alone
wrong() { # NAME PATTERN GRAPH…: a file with these graphs cannot become a library, and nothing is left behind
    printf '%s\n' 'kernel neg(in a: f32[n], out b: f32[n]) cpu {{ for (size_t i = 0; i < n; i++) b[i] = -a[i]; }};' \
        'kernel gen(out a: f32[n]) stream cpu {{ (void)a; return DF_END; }};' 'kernel tab(out a: f32[n]; by: f32) once cpu {{ a[0] = by; }};' \
        'kernel priced(in a: f32[n], out b: f32[n]) cost cpu 1us;' 'kernel plus(in a: f32[n], in t: f32[m], out b: f32[n]) cpu "plus.c";' "${@:3}" >wrong.df
    expect "told-$1" 1 "$2" "$DFC" wrong.df --lib -o libwrong.so
    [ -z "$(ls libwrong.so wrong.h wrong.pc wrongConfig.cmake 2>/dev/null)" ] && pass "told-$1-nothing-left" || fail "told-$1-nothing-left"
}
in='in a: f32[n], out b: f32[n]'
echo 'int another(void) { return 0; }' >plus.c
wrong none "^wrong.df:1:1: error: no graph of 'wrong.df' has ports, so a library has nothing to offer" 'graph main { a: f32[4] = gen(); _ = neg(a); }'
wrong stream "^wrong.df:6:[0-9]+: error: 'gen' is a stream, and a graph in a library has none" "graph g($in) { b = neg(a); c: f32[4] = gen(); _ = neg(c); }"
wrong once-result "^wrong.df:6:[0-9]+: error: 'b' is made once, in the first call of 'g', and later calls have other memory for it" \
    'graph g(out b: f32[n]) { b = tab(1.5); }'
wrong once-scalar "error: 'tab' fires once, so its scalar 'by' cannot be another in each call" "graph h($in; v: f32) { t: f32[3] = tab(v + 1.0); b = plus(a, t); }" \
    "graph g($in; u: f32) { b = h(a, u); }"
# No size is known yet, and that this dimension will never be found is: w is half of an extent, and stands alone in no input.
wrong not-found "^wrong.df:8:[0-9]+: error: dimension w of 'half' is found in none of its inputs" 'kernel twice(in a: f32[n], out d: f32[2 * n]) { d[i] = a[i / 2]; }' \
    'kernel half(in d: f32[2 * w], out e: f32[w]) { e[i] = d[2 * i]; }' "graph g($in) { d = twice(a); e = half(d); b = neg(e); }"
wrong priced "^wrong.df:4:8: error: kernel 'priced' has costs and no code, so no library can be made of it" "graph g($in) { b = priced(a); }"
wrong system "^wrong.df:6:7: error: the functions of graph 'sem' would be named as some of C's libraries or of libdf" "graph sem($in) { b = neg(a); }"
# With a sanitizer a shared library has undefined functions anyway: those of the sanitizer.
[ -n "$sanitize" ] && skip told-missing 'a sanitizer' || wrong missing "error: 'plus.c' does not define 'plus_cpu'" "graph g($in) { t: f32[3] = tab(1.5); b = plus(a, t); }"
printf 'int mine;\n' >mine.h
expect told-mine 1 "error: 'mine.h' is there already, and dfc did not make it: give the library another name or folder" "$DFC" other.df --lib -o libmine.so
[ "$(cat mine.h)" = 'int mine;' ] && [ ! -e libmine.so ] && pass mine-stays || fail mine-stays
expect told-cc 1 "made an object file, not a library for this machine" "$DFC" other.df --lib -o libcc.so --cflags=-c
