# An unchanged file is not compiled again; for which architectures CUDA files are compiled.

# ---- C and C++ ----
mkdir count && for tool in cc c++; do
    cat >count/$tool <<'EOF'
#!/bin/sh
case " $* " in *" -c "*) for word; do source=$word; done; basename "$source" >>"$CALLS" ;; esac
case $0 in *++) exec g++ "$@" ;; *) exec gcc "$@" ;; esac
EOF
done
chmod +x count/*; touch -d '1 minute ago' count/*
export CALLS=$PWD/calls
mkdir c-files && cat >c-files/three.df <<'EOF'
param n = 4;
kernel make(out v: i32[n]) cpu {{ for (size_t i = 0; i < n; i++) v[i] = (int)i; }};
kernel twice(in v: i32[n], out w: i32[n]) { w[i] = 2 * v[i]; }
kernel show(in w: i32[n]) ordered cpu "show.c" "more.cpp";
graph main { v: i32[n] = make(); w = twice(v); show(w); }
EOF
cat >c-files/show.c <<'EOF'
#include <stdio.h>
#include "step.h"
int more(int x);
int show_cpu(struct df_call *call, size_t n, const int32_t *w) { (void)call; printf("%d\n", more(w[n - 1]) + STEP); return DF_OK; }
EOF
echo 'extern "C" int more(int x); int more(int x) { return x + 1; }' >c-files/more.cpp; echo '#define STEP 100' >c-files/step.h
touch -d '1 minute ago' c-files/*
count=$PWD/count source=$PWD/c-files/three.df
compiled() { # NAME "UNIT…" RESULT ARG…: which files are compiled, and what the program prints
    local name=$1 want=$2 result=$3; shift 3; : >"$CALLS"
    if ! "$DFC" "$source" -o three --nvcc=none --here --cc="$count/cc" "$@" >said 2>&1; then fail "$name" "$(tail -n 3 said)"; return; fi
    expect "$name" 0 "^$want$" eval 'sort "$CALLS" | tr "\n" " " | sed "s/ $//"'; expect "$name-result" 0 "^$result$" ./three
}
all='2_show.c 3_more.cpp three.c three_formulas.c'
compiled c-first "$all" 107
compiled c-unchanged '' 107
mkdir c-other && cd c-other && compiled c-other-folder '' 107; cd ..
compiled c-flags "$all" 107 -O1
sed -i 's/100/200/' c-files/step.h; touch -d '1 minute ago' c-files/step.h
compiled c-header 2_show.c 207
sed -i 's/w\[i\] = 2 \*/w[i] = 3 */' c-files/three.df; compiled c-formula 'three.c three_formulas.c' 210
sed -i 's/n = 4/n = 5/' c-files/three.df; compiled c-size 'three.c' 213
compiled c-keep "$all" 213 --keep; compiled c-no-cache "$all" 213 --no-cache
compiled c-debug "$all" 213 -g; compiled c-debug-again '' 213 -g
cd c-other && compiled c-debug-elsewhere "$all" 213 -g; cd ..
sed -i 's/^#include "step.h"/&\nstatic const char *day = __DATE__;/; s/(void)call;/& (void)day;/' c-files/show.c; touch -d '1 minute ago' c-files/show.c
compiled c-date "2_show.c three.c" 213; compiled c-date-again 2_show.c 213
sed -i 's/__DATE__/"today"/; s/^int more/int unused; &/' c-files/show.c; touch -d '1 minute ago' c-files/show.c
compiled c-profile "$all" 213 --cflags=-fprofile-use; compiled c-profile-again "$all" 213 --cflags=-fprofile-use

# ---- CUDA ----
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -z "$nvcc" ]; then skip nvcc "no nvcc here"; exit 0; fi
if [ ! -e "$DF_BUILD/lib/libdf-cuda.a" ]; then skip nvcc "this dfc was built without CUDA"; exit 0; fi
cp "$DF_SOURCE"/examples/sum/{sum.df,vec.c} .
{ echo '#include "more.h"'; cat "$DF_SOURCE/examples/sum/vec.cu"; } >vec.cu; echo '#define MORE 1' >more.h
cp "$programs/counting.sh" counting
export REAL_NVCC=$nvcc
touch -d '1 minute ago' vec.cu more.h vec.c sum.df counting
made() { # NAME COUNT ARG…: a compilation calls nvcc so often for a file
    local name=$1 want=$2; shift 2
    : >calls
    if ! "$DFC" sum.df -o sum --nvcc="$PWD/counting" --gpu-arch=sm_80 "$@" >said 2>&1; then fail "$name" "$(tail -n 3 said)"
    elif [ "$(wc -l <calls)" != "$want" ]; then fail "$name" "$(wc -l <calls) calls: $(ls -l "$DFC_CACHE" | head -n 4)"
    else pass "$name"; fi
}
made first 1
cp sum first
made unchanged 0
same unchanged-same-bytes sum first
made other-flags 1 -O3
made other-define 1 --nvcc-flags=-DMINE
made known-again 0
echo '#define MORE 2' >more.h; touch -d '1 minute ago' more.h
made header 1
made header-again 0
sed -i 's/MORE 2/MORE 3/' more.h; touch -d 'next minute' more.h
made being-written 1
made being-written-again 1
touch -d '1 minute ago' more.h
made written 1
sed -i 's/^#include "more.h"/&\n/' vec.cu; touch -d '1 minute ago' vec.cu
made source 1
for o in "$DFC_CACHE"/*.o; do printf x | dd of="$o" bs=1 seek=100 conv=notrunc 2>/dev/null; done
made damaged-object 1
for r in "$DFC_CACHE"/*.record; do : >"$r"; done
made damaged-record 1
for r in "$DFC_CACHE"/*.record; do head -c 700 /dev/urandom >"$r"; done
made damaged-record-bytes 1
made no-cache 1 --no-cache
DFC_CACHE=none made none 1
chmod g+w "$DFC_CACHE"; made others-may-write 1; chmod g-w "$DFC_CACHE"; made own-again 0
: >full && DFC_CACHE=$PWD/full made no-folder 1
echo '# another version' >>counting
made other-compiler 1
sed -i '1s/^/\n/' vec.cu; touch -d '1 minute ago' vec.cu; touch calls.warn
made warned 1; grep -q warning said && pass warned-words || fail warned-words "$(cat said)"
made warned-again 1; grep -q warning said && pass warned-again-words || fail warned-again-words "$(cat said)"

# Architectures, by a driver that says what this machine has.
mkdir driver && cc -shared -fPIC -o driver/libcuda.so.1 "$programs/libcuda.c" || fail driver "it does not compile"
arch() { # NAME STATUS WORDS FLAGS ARG…: what nvcc is asked for
    local name=$1 status=$2 words=$3 flags=$4; shift 4
    : >calls
    expect "$name" "$status" "$words" env LD_LIBRARY_PATH="$PWD/driver" "$DFC" sum.df -o sum --no-cache --nvcc="$PWD/counting" "$@"
    [ "$status" != 0 ] || grep -qE -- "$flags" calls && pass "$name-flags" || fail "$name-flags" "$(cat calls)"
}
GPUS=80 arch native 0 "note: CUDA code is made for the GPUs of this machine \(sm_80\); --gpu-arch=all makes it for others, too" \
    '-gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_80,code=compute_80 '
GPUS='90 80 90' arch natives 0 '\(sm_90,sm_80\)' '-gencode=arch=compute_90,code=sm_90 -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_80,code=compute_80 '
GPUS=35 arch unknown 0 "note: this nvcc does not know the architecture of this machine's GPUs \(sm_35\)" '-arch=all-major'
GPUS=35 arch unknown-asked 1 "error: --gpu-arch=native: this nvcc cannot make code for this machine's GPUs \(sm_35\)" '' --gpu-arch=native
lowest=$("$nvcc" --list-gpu-arch | head -n 1)
GPUS= arch none-here 0 "note: there is no GPU here, so CUDA code is kept as PTX of $lowest, for any GPU; --gpu-arch=sm_90, say, makes code that starts at once" \
    "-gencode=arch=$lowest,code=$lowest "
GPUS= arch none-asked 1 'error: --gpu-arch=native: there is no GPU here; name the architecture, such as sm_90, or all' '' --gpu-arch=native
expect arch-wrong 2 "error: --gpu-arch=sm_x: native, all, or architectures such as sm_90 or sm_80,sm_90 are expected" "$DFC" sum.df --gpu-arch=sm_x
expect arch-comma 2 "error: --gpu-arch=sm_80,: native, all" "$DFC" sum.df --gpu-arch=sm_80,
expect arch-twice 1 "error: --gpu-arch=sm_80: --nvcc-flags names architectures already" "$DFC" sum.df -o sum --gpu-arch=sm_80 --nvcc-flags=-arch=sm_90
