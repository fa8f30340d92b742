#!/usr/bin/env bash
# Makes the folder that is carried to a machine with a GPU: kit.sh BUILDDIR BUNDLE KIT. Everything is compiled here, so no compiler, no nvcc, no
# package and no network is needed there: glibc 2.34 or newer, bash and the usual tools, and the GPU's driver are.
#   run.sh         runs the steps            steps/       what they do
#   bin/           dfc and the device's own tests
#   lib/           the shared libraries of all of them, found by $ORIGIN, and what dfc links programs with
#   programs/      a folder for each flow: its program, its sources, what it reads
#   bench/         the programs that measure
# The programs have code for sm_90, and PTX of compute_75 that a driver makes code of for other GPUs. KIT_FLOWS names the flows and KIT_BENCH the
# measuring programs that are wanted, if not all; KIT_ARCH says in nvcc's words for what the code is.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "$1") bundle=$(realpath "$2"); rm -rf "$3"; mkdir -p "$3"/{bin,lib,include,steps,programs,bench}; kit=$(realpath "$3")
nvcc=${NVCC:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)}
[ -n "$nvcc" ] && [ "$nvcc" != none ] || { echo 'gpu-kit: error: there is no nvcc, which compiles its programs' >&2; exit 1; }
export NVCC=$nvcc

cp "$build/gpu/dfc" "$build"/tests/test_{cuda,emu} "$kit/bin/"; strip "$kit"/bin/*
cp "$bundle"/lib/libdf*.a "$kit/lib/"; cp "$bundle"/include/{df,df_cuda,df_plan}.h "$kit/include/"
cp "$here/run.sh" "$kit/"; cp "$here"/{case,flow,step?}.sh "$here"/../bench/gpu/{step,step?}.sh "$kit/steps/"; cp "$here/../../LICENSE" "$kit/"

# Neither exceptions nor guarded statics, so that nothing of the C++ runtime is needed: its unwinder would ask for glibc 2.35.
arch="${KIT_ARCH:--gencode=arch=compute_90,code=sm_90 -gencode=arch=compute_75,code=compute_75} -Xcompiler=-fno-exceptions,-fno-threadsafe-statics"
cflags='-static-libstdc++ -static-libgcc -s -Wl,-z,noseparate-code'
made() { "$@" >"$kit/log" 2>&1 || { grep -v '^ok' "$kit/log" >&2; echo "gpu-kit: error: ${1##*/} failed" >&2; exit 1; }; rm "$kit/log"; }

all='sum ways planted broken matrix-mm matrix-ma matrix-mixed photo random-1 random-2 random-3 random-4 random-5'
# shellcheck disable=SC2086
RUN_PATH='$ORIGIN/../../lib' PLAIN_BLAS=1 made "$here/programs.sh" "$bundle" "$kit/programs" ${KIT_FLOWS-$all} -- --nvcc="$nvcc" --nvcc-flags="$arch" --cflags="$cflags"

# The programs of steps 4 to 6, as those list them: NAME, then a command of nvcc or dfc.
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
made sh "$here/../bench/gpu/sources.sh" "$work"
ln -s ../bin/dfc "$kit/bench/dfc"
for n in 4 5 6; do bash "$kit/steps/step$n.sh" --programs; done | sort -u >"$work/listed"
while read -r name how; do
    case " ${KIT_BENCH-$name} " in *" $name "*) ;; *) continue ;; esac
    how=${how//SOURCES/$work}; read -ra words <<<"${how%%:*}"
    case $how in
        'dfc itself'*) continue ;;
        nvcc*) words[0]=$nvcc; read -ra more <<<"$arch -Xcompiler=-static-libgcc -Xlinker=-s"; words+=("${more[@]}") ;;
        *) words[0]=$bundle/bin/dfc; words+=(--nvcc="$nvcc" --nvcc-flags="$arch" --cflags="$cflags -Wl,--disable-new-dtags,-rpath,\$ORIGIN/../lib") ;;
    esac
    (cd "$kit/bench" && DFC_PROFILE=$work/profile.db made "${words[@]}")
done <"$work/listed"

# The shared libraries that anything here needs, and what they need in turn; the linker finds two of them by other names.
while :; do
    missing=$({ objdump -p "$kit"/bin/* "$kit"/programs/*/* "$kit"/bench/* "$kit"/lib/*.so.* 2>/dev/null || true; } | awk '$1 == "NEEDED" { print $2 }' | sort -u |
        while read -r name; do [ -e "$kit/lib/$name" ] || [ ! -e "$bundle/lib/$name" ] || echo "$name"; done)
    [ -n "$missing" ] || break
    for name in $missing; do cp "$bundle/lib/$name" "$kit/lib/"; done
done
for name in libmetis libhwloc; do ln -sf "$(cd "$kit/lib" && echo $name.so.*)" "$kit/lib/$name.so"; done
cat "$kit"/{run.sh,steps/*,bin/*,programs/*/*,bench/*} | sha256sum | cut -c 1-12 >"$kit/version"
"$here/kit_check.sh" "$kit"
