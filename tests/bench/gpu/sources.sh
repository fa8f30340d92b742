#!/bin/sh
# sources.sh FOLDER: the sources of all programs that step4.sh, step5.sh and step6.sh run, in FOLDER. Needs a C compiler ($CC, else cc).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 1 ] || { echo "usage: sources.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
cp "$here"/*.df "$here"/*.c "$here"/*.h "$here"/*.cu "$here"/*.cl "$here/../../../examples/matrix/matrix.cu" "$1/"
${CC:-cc} -std=c11 -O2 -o "$1/generate" "$here/../../../examples/matrix/generate.c"
{ cat "$here/matrix.head"; "$1/generate" --kind=mixed | sed -n '/^graph/,$ { s/report(\(d[0-9]*\), .*/look(\1, last, warm_ms);/; p; }'; } >"$1/matrix.df"
sed -e '/_[cg]pu = /d' -e 's/ cost cpu.*/;/' "$1/matrix.df" >"$1/measured.df"                # times from a database instead
sed -e '/kernel m[am]/s/cpu "matrix.c" gpu/gpu/' "$1/times.df" >"$1/times-gpu.df"  # for sizes at which the cpu takes too long
