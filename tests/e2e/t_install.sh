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
[ -e "$DF_BUILD/lib/libdf-mpi.so" ] || like+=(MPICC=)
check make-install make --no-print-directory -C "$DF_SOURCE" install "${like[@]}"
cp "$DF_SOURCE"/examples/sum/{sum.df,vec.c,vec.cu,check.py} .
check compile usr/bin/dfc sum.df -o sum --nvcc=none
./sum --seed=3 >out; check run python3 check.py 3 1024 <out
# The plug-in for MPI: installed if it was built, and left out in words.
if [ -e "$DF_BUILD/lib/libdf-mpi.so" ]; then check mpi cmp usr/lib/libdf-mpi.so "$DF_BUILD/lib/libdf-mpi.so"; else skip mpi 'no mpicc when dfc was built'; fi
expect without-mpi 0 'libdf-mpi.so is left out: it needs mpicc' make --no-print-directory -n -C "$DF_SOURCE" all "${like[@]}" MPICC=

# Pages whose links hold, the licence, examples that compile, completions; all under DESTDIR where that is given.
check docs cmp usr/share/doc/dfc/LICENSE "$DF_SOURCE/LICENSE"
lost=$(cd usr/share/doc/dfc && grep -oE '\]\([^):#]+' README.md docs/*.md | sed 's/\](//' |
    while IFS=: read -r page to; do [ -e "${page%"${page##*/}"}$to" ] || echo "$page: $to"; done)
[ -z "$lost" ] && pass docs-links || fail docs-links "$lost"
check example-compiles bash -c 'usr/bin/dfc usr/share/dfc/examples/sum/sum.df -o example --nvcc=none && ./example --seed=3 | cmp - out'
check completion-bash bash -c '. usr/share/bash-completion/completions/dfc && complete -p dfc'
lost=$(for name in $(usr/bin/dfc --help | sed -n '/^commands:/,/^$/s/^  -*\([a-z]\{1,\}\) .*/\1/p') compile; do grep -q "^\.TH dfc.-$name 1" usr/share/man/man1/dfc-$name.1 || echo "$name"; done 2>&1)
[ -z "$lost" ] && grep -q '^\.TH dfc 1' usr/share/man/man1/dfc.1 && pass manual-pages || fail manual-pages "$lost"
if command -v groff >/dev/null; then check manual-pages-format bash -c 'for page in usr/share/man/man1/*.1; do groff -K utf8 -man -Tutf8 -ww "$page" 2>&1 >/dev/null; done | (! grep .)'; else skip manual-pages-format 'no groff'; fi
expect completion-zsh 0 '^#compdef dfc$' cat usr/share/zsh/site-functions/_dfc
check destdir make --no-print-directory -C "$DF_SOURCE" install "${like[@]}" PREFIX=/opt/df DESTDIR="$PWD/stage"
[ -x stage/opt/df/bin/dfc ] && [ -e stage/opt/df/share/dfc/examples/sum/sum.df ] && [ -e stage/opt/df/share/zsh/site-functions/_dfc ] &&
    pass destdir-files || fail destdir-files "$(find stage -type f | head -n 20)"
printf 'import "std/io.df";\ngraph main { v: u8[4] = read_raw_u8("in"); write_raw_u8(v, "out"); }\n' >io.df; printf abcdefgh >in
check import-compiles usr/bin/dfc io.df -o io --nvcc=none
./io; same import-runs in out

cp "$programs/by_hand.c" .
export PKG_CONFIG_PATH=$PWD/usr/lib/pkgconfig
sanitize=$(grep -oE -- '-fsanitize=[a-z]+' "$DF_BUILD/obj/flags" | head -n 1)
# shellcheck disable=SC2046
check by-hand-compiles cc -std=c11 -Wall -Wextra -Werror $sanitize by_hand.c -o by_hand $(pkg-config --cflags --libs libdf)
printf '0 4950\n1 5050\n2 5150\n' >want
./by_hand >got; same by-hand-runs got want
# The example of a program that lends its own arrays, on the host and on the emulated GPU.
# shellcheck disable=SC2046
check embed-compiles cc -std=c11 -Wall -Wextra -Werror $sanitize "$DF_SOURCE/examples/embed/embed.c" -o embed \
    $(pkg-config --cflags --libs libdfplan)
for w in 0 1 2 3; do echo "$w: y[999] = $((1998 + w)), sum $((999000 + 1000 * w))"; done >want
./embed >got 2>jobs; same embed-runs got want
grep -q '^gp: cpu 0: ' jobs && ! grep -q emu0 jobs && pass embed-planned || fail embed-planned "$(cat jobs)"
./embed emu >got 2>jobs; same embed-runs-emulated got want
expect embed-planned-emulated 0 '^gp: emu0: [1-8] jobs$' cat jobs # 8: axpy and sum of four waves; gp's monitor may move some
# A program that calls a graph as a function.
# shellcheck disable=SC2046
check session-compiles cc -std=c11 -Wall -Wextra -Werror $sanitize "$DF_SOURCE/examples/embed/session.c" -o session $(pkg-config --cflags --libs libdf)
for c in 0 1 2 3 4; do echo "call $c: $(awk -v c=$c 'BEGIN { printf "%g %g %g", 2 * c / 3, 2 * c, 2 * c * (998 + 2 * 999) / 3 }')"; done >want
./session >got; same session-runs got want
./session emu >got; same session-runs-emulated got want
printf '#include <df_plan.h>\n#include <df.h>\nconst struct df_planner *p = &dfp_planner;\n' >plan.cpp
# shellcheck disable=SC2046
check planner-in-c++ c++ -std=c++11 -Wall -Wextra -Werror -c plan.cpp -o plan.o $(pkg-config --cflags libdfplan)
check make-uninstall make --no-print-directory -C "$DF_SOURCE" uninstall "${like[@]}"
[ -z "$(find usr -type f)" ] && pass uninstall-leaves-nothing || fail uninstall-leaves-nothing "$(find usr -type f | head -n 3)"
