#!/usr/bin/env bash
# Makes the programs of the GPU's flows: programs.sh HOME PROGRAMS NAME… [-- OPTION…]. HOME holds bin/dfc, include/ and lib/ (a build tree, a
# bundle). Each NAME becomes PROGRAMS/NAME/ with the sources, the program `app` and what it reads; OPTIONs are dfc's.
#   sum, photo                 the examples
#   matrix-mm, -ma, -mixed     38 kernels on matrices; with PLAIN_BLAS=1 the cpu variant is a plain loop (blas/cblas.h), not OpenBLAS
#   ways, planted              flows/: every way to give a gpu variant; one that is wrong
#   broken                     ways with a kernel that writes where it must not
#   random-SEED                a random graph, and what it must print (expected); its largest job's bytes (largest)
# RUN_PATH=PATH is where programs look for libraries, if not in HOME/lib. Prints a line for each: `ok NAME-compiles`, or `not ok …: why`.
set -u
here=$(cd "$(dirname "$0")" && pwd); source=$(cd "$here/../.." && pwd)
home=$(realpath "$1"); mkdir -p "$2"; programs=$(realpath "$2"); shift 2
names=(); while [ $# -gt 0 ] && [ "$1" != -- ]; do names+=("$1"); shift; done
[ $# = 0 ] || shift
flags=() cflags=''; for o; do case $o in --cflags=*) cflags+=" ${o#--cflags=}" ;; *) flags+=("$o") ;; esac; done
bad=0
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export DFC_PROFILE=$work/profile.db
run_path=-Wl,-rpath,$home/lib
if [ -n "${RUN_PATH:-}" ]; then run_path=-Wl,--disable-new-dtags,-rpath,$RUN_PATH; cflags+=" $run_path"; fi
read -ra cc <<<"${CC:-cc}"

made() { # NAME COMMAND…
    local name=$1; shift
    if "$@" >"$work/log" 2>&1; then echo "ok $name-compiles"; else echo "not ok $name-compiles: $(tail -n 5 "$work/log" | tr '\n' ' ')"; bad=1; return 1; fi
}
program() { # NAME FILE.df [OPTION…], in the program's folder
    local name=$1 df=$2; shift 2
    made "$name" "$home/bin/dfc" "$df" -o app "${flags[@]}" ${cflags:+--cflags="$cflags"} "$@"
}
with_libraries() { # FILE.c PROGRAM: a helper program that needs libpng
    "${cc[@]}" -D_GNU_SOURCE -O2 -s -I"$home/include" -L"$home/lib" "$run_path" -o "$2" "$1" -lpng -lm
}
matrix() { # KIND: a graph of permutation matrices, whose result on the CPU is compared with Python's if that is here
    cp "$source"/examples/matrix/matrix.c* .
    made matrix-generate "${cc[@]}" -std=c11 -O2 -o "$work/generate" "$source/examples/matrix/generate.c" >"$work/said" || { cat "$work/said"; return; }
    "$work/generate" --kind="$1" --n=192 >g.df
    if [ -n "${PLAIN_BLAS:-}" ]; then cp "$here/blas/cblas.h" .; sed -i '/^link "openblas"/d' g.df; sed -i 's/<cblas.h>/"cblas.h"/' matrix.c; fi
    program "matrix-$1" g.df && command -v python3 >/dev/null || return
    ./app --device=none >"$work/got" 2>"$work/log" && made "matrix-$1-on-cpu" python3 "$source/examples/matrix/check.py" g.df "$work/got" | sed 's/-compiles//'
}
random() { # SEED
    cp "$source"/tests/random/kernels.{c,cu} .
    made "random-$1" python3 "$source/tests/random/generate.py" "$1" kernels.c kernels.cu 4 g.df lines >"$work/said" || { cat "$work/said"; return; }
    sed -n 's/^# //p' lines >largest; tail -n +2 lines >expected; rm lines
    program "random-$1" g.df
}
for name in "${names[@]}"; do
    mkdir -p "$programs/$name" && cd "$programs/$name" || exit 1
    case $name in
        sum) cp "$source"/examples/sum/{sum.df,vec.c,vec.cu} . && program sum sum.df ;;
        ways | planted) cp "$here/flows/$name".* . && program "$name" "$name.df" ;;
        broken) cp "$here/flows/ways.cu" . && sed 's/spoils(in/breaks(in/; s/spoils(w)/breaks(w)/' "$here/flows/ways.df" >broken.df && program broken broken.df ;;
        matrix-*) matrix "${name#matrix-}" ;;
        random-*) random "${name#random-}" ;;
        photo) cp "$source"/examples/photo/photo.df . && program photo photo.df &&
            made photo-synthetic with_libraries "$source/examples/photo/synthetic.c" synthetic && made photo-check with_libraries "$source/examples/photo/check.c" check &&
            ./synthetic 700 500 1 in.png ;;
        *) echo "not ok $name-compiles: there is no such flow"; bad=1 ;;
    esac
done
exit $bad
