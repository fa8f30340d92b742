# The build itself: the same bytes twice, -MD, --keep, options, other compilers, without nvcc.
instruments=$(nm "$DF_BUILD/lib/libdf.a" 2>/dev/null | grep -oE '__(asan|tsan|ubsan)_' | sort -u)
instrumented() { [[ $instruments =~ __($1)_ ]]; }
same_bytes() {
    if instrumented asan; then skip "$1" "the address sanitizer puts the unit's path into the object"; else same "$@"; fi
}
mkdir src && cp "$DF_SOURCE"/examples/sum/sum.df "$DF_SOURCE"/examples/sum/vec.* src/
sed -i 's/#include <stdint.h>/#include <stdint.h>\n#include "own.h"/' src/vec.c && echo '/* own */' > src/own.h

check first "$DFC" src/sum.df -o one --nvcc=none
TMPDIR=$PWD check second "$DFC" src/sum.df -o two --nvcc=none
same_bytes same-bytes one two
own=(env -u COMPILER_PATH)               # the linker of users, which keeps debug information
check first-g "${own[@]}" "$DFC" src/sum.df -o one-g -g -O0 --nvcc=none
TMPDIR=$PWD check second-g "${own[@]}" "$DFC" src/sum.df -o two-g -g -O0 --nvcc=none
same_bytes same-bytes-g one-g two-g
# Debug information, dfc's own too, is in the program if a flag asks for it.
lines_of() { readelf -SW "$1" | grep -q ' \.debug_info ' && echo lines || echo none; }
if instrumented 'asan|tsan|ubsan'; then skip no-lines "a sanitizer's reports name lines"; else expect no-lines 0 '^none$' lines_of one; fi
expect lines 0 '^lines$' lines_of one-g
check lines-cflags-compile "${own[@]}" "$DFC" src/sum.df -o lines --nvcc=none --cflags=-ggdb && expect lines-cflags 0 '^lines$' lines_of lines
check no-symbols-compile "$DFC" src/sum.df -o stripped --nvcc=none --cflags=-s && expect no-symbols 1 '^$' grep -q symtab <(readelf -SW stripped)
sed 's/vec.c"/& flags "-g1"/' src/sum.df >src/lines.df
check lines-file-compile "${own[@]}" "$DFC" src/lines.df -o lines --nvcc=none && expect lines-file 0 '^lines$' lines_of lines
if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
    if [ -e "$DF_BUILD/lib/libdf-cuda.a" ]; then
        one=--nvcc-flags=-arch=compute_80    # one architecture: quicker; tests/e2e/t_sum.sh has them all
        check first-cuda "$DFC" src/sum.df -o one-cuda $one
        TMPDIR=$PWD check second-cuda "$DFC" src/sum.df -o two-cuda $one
        same_bytes same-bytes-cuda one-cuda two-cuda
        expect cuda-runs 0 . ./one-cuda --device=none
        mkdir wrapped && printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)" > wrapped/nvcc
        chmod +x wrapped/nvcc                # a wrapper in a folder that has no toolkit around it
        ! long || check wrapped-nvcc "$DFC" src/sum.df -o wrapped/one --nvcc=wrapped/nvcc $one
        ! long || expect wrapped-nvcc-runs 0 . wrapped/one --device=none
        expect cuda-or-says-why 0 . bash -c './one-cuda --device=cuda || [ $? = 1 ]'
    else
        skip cuda "this dfc was built without CUDA"
    fi
else
    skip cuda "no nvcc here"
fi

expect without-nvcc-note 0 "the nvcc that was named is not there: the gpu variant of 'add' is left out" "$DFC" src/sum.df -o one --nvcc=/nonexistent
printf 'kernel f(out v: i32[n]) { v[i] = i; }\ngraph main { v: i32[4] = f() @quiet; }\n' > formula.df
expect without-nvcc-formulas 0 "^dfc: note: the nvcc that was named is not there: the formulas have no code for GPUs" "$DFC" formula.df -o formula --here -O0 --nvcc=/nonexistent
said=$("$DFC" formula.df -o formula --here -O0 --nvcc=none 2>&1)
[ -z "$said" ] && pass nvcc-none-formulas || fail nvcc-none-formulas "$said"
# a machine without nvcc, or this one where an empty folder hides it
cat > bare <<'END'
#!/bin/sh
export PATH=/usr/bin:/bin
[ ! -e /usr/local/cuda ] || mount -t tmpfs none /usr/local/cuda || exit 77
command -v nvcc >/dev/null && exit 77
[ $# = 0 ] || exec "$@"
END
chmod +x bare
if unshare -rm ./bare 2>/dev/null; then
    expect no-nvcc-note 0 "note: no nvcc: the gpu variant of 'add' is left out" unshare -rm ./bare "$DFC" src/sum.df -o one
    expect empty-nvcc-note 0 "note: no nvcc: the gpu variant of 'add' is left out" unshare -rm ./bare "$DFC" src/sum.df -o one --nvcc=
else
    skip no-nvcc-note "nvcc cannot be hidden here"
fi
expect nvcc-none 0 "nvcc is 'none': the gpu variant of 'add' is left out" "$DFC" src/sum.df -o one --nvcc=none
./one --seed=3 > cpu.out && ./one --seed=3 --device=emu > emu.out
same without-nvcc-emulated cpu.out emu.out

# without -o: the file's name without .df, in this folder; a program there is replaced
check no-name "$DFC" src/sum.df --nvcc=none && check no-name-again "$DFC" src/sum.df --nvcc=none -D n=10
expect no-name-runs 0 . ./sum --seed=3
check dependencies "$DFC" src/sum.df -o one -MD --nvcc=none
printf 'all: one\ninclude one.d\none:\n\ttouch one\n' > check.mk
check dependencies-up-to-date make -q -f check.mk
for f in src/sum.df src/vec.c src/own.h; do
    touch -d '+2 seconds' "$f"
    expect "dependencies-$f" 1 '^' make -q -f check.mk
    touch -d '-1 hour' "$f"
done
grep -q 'dfc-' one.d && fail dependencies-no-temporaries "$(grep dfc- one.d)" || pass dependencies-no-temporaries

expect keep 0 "generated files are in 'kept.dfc/'" "$DFC" src/sum.df -o kept --keep --nvcc=none
for f in sum.df.h sum.c sum.image; do check "keep-$f" test -s kept.dfc/$f; done
expect keep-prototype 0 'int add_gpu\(struct df_call \*call, cudaStream_t stream, size_t /\* k \*/' cat kept.dfc/sum.df.h
same_bytes keep-same-program one kept
echo '#include "sum.df.h"' > h.cpp && expect header-is-cpp 0 '^' c++ -Wall -Werror -I kept.dfc -I "$DF_BUILD/include" -c h.cpp -o h.o
echo '#include "sum.df.h"' > h.c && expect header-is-c 0 '^' cc -Wall -Wextra -Werror -std=c99 -I kept.dfc -I "$DF_BUILD/include" -c h.c -o h.o

for level in -O0 $(! long || echo -O1) -O3; do
    check "level$level" "$DFC" src/sum.df -o lev $level --nvcc=none
    ./lev --seed=3 > lev.out; same "level$level-runs" lev.out cpu.out
done
check cflags "$DFC" src/sum.df -o flagged --nvcc=none --cflags="-DUNUSED='\"two words\"' -fno-math-errno"
# The other compiler, also with link-time optimisation.
if is_clang; then other=gcc; else other=clang; fi
if command -v $other >/dev/null && ! instrumented 'asan|tsan|ubsan'; then
    for flags in $(! long || echo -O2) -flto; do
        check "$other$flags" "$DFC" src/sum.df -o other --nvcc=none --cc=$other --cflags=$flags
        ./other --seed=3 > other.out; same "$other$flags-runs" other.out cpu.out
    done
else
    skip $other "it is not here, or this dfc was built with the sanitizers of the other"
fi
check no-cxx-for-c env CXX=/bin/false "$DFC" src/sum.df -o plain --nvcc=none
check cc-from-environment env CC=cc "$DFC" src/sum.df -o envd --nvcc=none

# An existing program is replaced whole, through a link too; the link stays.
ln -s real linked && echo old > real
check through-link "$DFC" src/sum.df -o linked --nvcc=none
[ -L linked ] && ./real --seed=3 | cmp -s - cpu.out && pass link-kept || fail link-kept "$(ls -l linked real)"

# DFC_HOME.
expect home-wrong 1 "DFC_HOME" env DFC_HOME=/nonexistent "$DFC" src/sum.df -o homeless
check home-right env DFC_HOME="$DF_BUILD" "$DFC" src/sum.df -o housed --nvcc=none

# File names that are something else to a compiler, a linker, make or the C language; and texts with a byte order mark.
echo 'int b_cpu(void *call, unsigned long k, const int *v) { (void)call; return k == 4 && v[0] == 42 ? 0 : 1; }' > b.c
graph_of() { printf 'kernel a(out v: i32[k]) cpu {{ v[0] = 42; }};\nkernel b(in v: i32[k]) cpu "%s";\ngraph main { x: i32[4] = a(); b(x); }\n' "$1"; }
cc -c b.c -o ./-lb.o && cp ./-lb.o ./@b.o
for f in -lb.o @b.o; do graph_of "$f" > k.df && check "object $f" "$DFC" k.df -o k && check "object-runs $f" ./k; done
sed 's/void \*call, unsigned long k, const int \*/struct df_call *call, size_t k, const int32_t */' b.c > c:d.c
graph_of c:d.c > $'new\nline.df' && check name-in-two-lines "$DFC" $'new\nline.df' -o k && check name-in-two-lines-runs ./k
graph_of c:d.c > k.df && check odd-names "$DFC" k.df -o -k --keep -MD && check odd-names-run ./-k
printf 'all: -k\ninclude ./-k.d\n-k:\n\ttouch ./-k\n' > odd.mk && check odd-names-make make -q -f odd.mk
check comma "$DFC" k.df -o a,b --keep && check comma-runs ./a,b
{ printf '\357\273\277#include <stdio.h>\r\n'; cat c:d.c; } > mark.c && graph_of mark.c > mark.df
check mark "$DFC" mark.df -o mark && check mark-runs ./mark
printf 'int b_cpu;\0' > nul.c && graph_of nul.c > nul.df
expect nul 1 "^dfc: error: 'nul.c' holds a NUL byte" "$DFC" nul.df -o nul
# A function that nobody declared would be given a double for a float: in inline code too that is an error.
sed 's/v\[0\] = 42/v[0] = (int)lrintff(41.7f)/' k.df > undeclared.df
expect undeclared 1 '^undeclared.df:1:[0-9]+: error: .*lrintff' "$DFC" undeclared.df -o undeclared

# A file imported by two names is one, also where the program plans again.
mkdir -p parts && ln -s parts others
echo 'param n = 4 dynamic; kernel one(out v: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i] = (int)i; }};' > parts/lib.df
ln parts/lib.df hard.df
printf 'import "parts/lib.df";\nimport "others/lib.df";\nimport "%s/hard.df";\nkernel show(in v: i32[k]) cpu {{ printf("%%d\\n", v[k - 1]); }};
graph main { x: i32[n] = one(); show(x); }\n' "$PWD" > twice.df
check import-twice "$DFC" twice.df -o twice -MD && rm -r parts others hard.df && expect import-twice-runs 0 '^8$' ./twice --n=9
