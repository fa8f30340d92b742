# An unchanged file is not compiled again; for which architectures CUDA files are compiled.
export DFC_CACHE=$PWD/cache                     # all that is in it is damaged, and others may write there: not the one that tests share

# ---- C and C++ ----
mkdir count && for tool in cc c++; do
    cat >count/$tool <<'EOF'
#!/bin/sh
case " $* " in *" -c "*) for word; do source=$word; done; echo "${source##*/}" >>"$CALLS" ;; *" -E "*) echo "$*" >>"$CALLS.asked" ;; *" -o "*) echo link >>"$CALLS" ;; esac
case $0 in *++) exec c++ "$@" ;; *) exec cc "$@" ;; esac
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
cat >c-files/small.df <<'EOF'
kernel make(out v: i32[1]) cpu {{ v[0] = 213; }};
kernel show(in v: i32[1]) ordered cpu {{ extern int printf(const char *, ...); printf("%d\n", v[0]); }};
graph main { v = make(); show(v); }
EOF
touch -d '1 minute ago' c-files/*
count=$PWD/count source=$PWD/c-files/three.df
called() { # NAME "UNIT…": what was compiled, and whether it was linked
    local got=; [ ! -s "$CALLS" ] || got=$(sort "$CALLS"); got=${got//$'\n'/ }
    if [ "$got" = "$2" ]; then pass "$1"; else fail "$1" "'$got' was compiled or linked, and not '$2'"; fi
}
compiled() { # NAME "UNIT…" RESULT ARG…: the same, and what the program prints
    local name=$1 want=$2 result=$3; shift 3; : >"$CALLS"
    if ! "$DFC" "$source" -o three --nvcc=none --here -O0 --cc="$count/cc" "$@" >said 2>&1; then fail "$name" "$(tail -n 3 said)"; return; fi
    called "$name" "$want"; expect "$name-result" 0 "^$result$" ./three
}
opencl=' three_formulas_opencl.c'; if "$DFC" doctor --quick | grep -q 'built without OpenCL'; then opencl=; fi
compiled c-first "2_show.c 3_more.cpp link three.c three_formulas.c$opencl" 107
: >"$CALLS.asked"; compiled c-unchanged '' 107
[ ! -s "$CALLS.asked" ] && pass c-unchanged-asks-nothing || fail c-unchanged-asks-nothing "$(cat "$CALLS.asked")"
mkdir c-other && cd c-other && compiled c-other-folder '' 107; cd ..
all='2_show.c 3_more.cpp link three.c three_formulas.c'
compiled c-flags "$all" 107 -O1 --no-opencl
sed -i 's/100/200/' c-files/step.h; touch -d '1 minute ago' c-files/step.h
compiled c-header '2_show.c link' 207
sed -i 's/w\[i\] = 2 \*/w[i] = 3 */' c-files/three.df; compiled c-formula "link three_formulas.c$opencl" 210
sed -i 's/n = 4/n = 5/' c-files/three.df; compiled c-size link 213
source=$PWD/c-files/small.df; compiled c-keep 'link small.c' 213 --keep; source=$PWD/c-files/three.df; compiled c-no-cache "$all" 213 --no-opencl --no-cache
if [ "$(uname -m)" = x86_64 ]; then expect c-no-cache-asks 0 '-march=x86-64-v.* -E ' cat "$CALLS.asked"; else skip c-no-cache-asks 'no levels here'; fi
compiled c-debug "$all" 213 -g --no-opencl; compiled c-debug-again '' 213 -g --no-opencl
cd c-other && compiled c-debug-elsewhere "$all" 213 -g --no-opencl; cd ..
echo 1 >c-files/data; sed -i '$a#define EMBED(name, file) __asm__(".pushsection .rodata\\n" #name ": .incbin \\"" file "\\"\\n.popsection")' c-files/step.h
printf '%s\n' 'extern const char data[];' "EMBED(data, \"$PWD/c-files/data\");" >>c-files/show.c; sed -i 's/+ STEP/+ STEP + *data - 48/; 1iextern const char data[];' c-files/show.c; touch -d '1 minute ago' c-files/*
compiled c-embed '2_show.c link' 214; echo 2 >c-files/data; compiled c-embed-again '2_show.c link' 215
sed -i '/data\[\]/d; /^EMBED/d; s/ + \*data - 48//' c-files/show.c; sed -i '$d' c-files/step.h; touch -d '1 minute ago' c-files/*; compiled c-embed-gone '' 213
mkdir 'c-$x #:y' && cp -p c-files/* 'c-$x #:y' && source="$PWD/c-\$x #:y/three.df" # names that compilers escape in their lists
compiled c-name "$all" 213 --no-opencl; compiled c-name-again '' 213 --no-opencl
sed -i 's/200/300/' 'c-$x #:y/step.h'; touch -d '1 minute ago' 'c-$x #:y/step.h'
compiled c-name-header '2_show.c link' 313 --no-opencl
mkdir c-date && sed 's/ {{ extern.*/ "show.c";/' c-files/small.df >c-date/dated.df; source=$PWD/c-date/dated.df
printf '%s\n' '#include <stdio.h>' 'int show_cpu(struct df_call *call, const int32_t *v) { (void)call; printf("%d %zu\n", v[0], sizeof __DATE__); return DF_OK; }' >c-date/show.c
touch -d '1 minute ago' c-date/show.c
compiled c-date '1_show.c dated.c link' '213 12'; compiled c-date-again 1_show.c '213 12'
profile=-fprofile-use; ! is_clang || profile=-fprofile-generate # clang refuses to use a profile that is not there
source=$PWD/c-files/small.df
compiled c-profile 'link small.c' 213 --cflags=$profile; compiled c-profile-again 'link small.c' 213 --cflags=$profile

# Programs share the objects of std/: what else is in them, and which of its kernels they call, does not matter.
mkdir std && cat >std/one.df <<'EOF'
import "std/raw.df";
kernel show(in v: u8[3]) ordered cpu {{ extern int printf(const char *, ...); printf("%d\n", v[2]); }};
graph main { v: u8[3] = read_raw_u8("abc"); show(v); }
EOF
printf abc >abc
sed 's/show(v)/print(v); write_raw_u8(v, "copy")/; s/show/print/; s/v: u8\[3\]) ordered/v: u8[k]) ordered/; s/v\[2\]/v[k - 1]/' std/one.df >std/two.df
source=$PWD/std/one.df; compiled std-first 'link one.c std=raw.c' 99
source=$PWD/std/two.df; compiled std-shared 'link two.c' 99; same std-shared-runs copy abc

# ---- programs and libraries ----
source=$PWD/c-files/three.df

# --timing: which objects were compiled and which were not, the CPU time of each, and of generating each kernel of formulas.
timed() { # NAME OBJECT…: what is said of three_formulas.c
    local name=$1 want=$2; shift 2
    expect "$name" 0 "^three_formulas\\.c +(v[34])? +$want\$" "$DFC" "$source" -o three --nvcc=none --here -O0 --cc="$count/cc" --timing "$@"
}
timed timing-compiled '[1-9][0-9]* ms  compiled' --no-opencl --no-cache
timed timing-cached 'from the cache'
expect timing-linked-cached 0 '^linking +from the cache$' "$DFC" "$source" -o three --nvcc=none --here -O0 --cc="$count/cc" --timing
"$DFC" run "$source" --nvcc=none -O0 --timing --no-cache >said.out 2>said
echo 213 >said.expected; same timing-run-output said.out said.expected
expect timing-kernel 0 '^twice +[1-9][0-9]* +[0-9]+\.[0-9]{2} ms  three_formulas\.c$' cat said
sed -n '/^file /,$s/ .*//p' said >said.files
printf '%s\n' file three.c three_formulas.c 2_show.c 3_more.cpp $opencl linking dfc total >said.expected; same timing-files said.files said.expected
expect timing-linked 0 '^linking +[1-9][0-9]* ms  linked$' cat said
# The parts add up: no time is counted twice, and the linker's and the compilers' are in the total.
awk '/^file /{parts = 1; next} parts && match($0, /[0-9]+ ms/) { if ($1 == "total") { all = substr($0, RSTART, RLENGTH) + 0 } else { sum += substr($0, RSTART, RLENGTH) } }
     END { exit !(all > 0 && sum > 0 && sum <= all + 10) }' said && pass timing-total || fail timing-total "$(cat said)"

compiled linked '' 213
for p in "$DFC_CACHE"/*.program; do printf x | dd of="$p" bs=1 seek=4000 conv=notrunc 2>/dev/null; done
compiled linked-damaged link 213; compiled linked-again '' 213
(umask 077; compiled linked-own '' 213); expect linked-own-mode 0 '^700$' stat -c %a three
: >"$CALLS"; expect linked-run 0 '^213$' "$DFC" run "$source" --nvcc=none -O0 --cc="$count/cc"; called linked-run-calls ''
source=$PWD/c-files/small.df
for linker in bfd gold lld; do
    command -v ld.$linker >/dev/null || { skip "linked-$linker" "there is no ld.$linker"; continue; }
    "$DFC" "$source" -o three --nvcc=none --here -O0 --cc="$count/cc" --cflags=-fuse-ld=$linker >said 2>&1 || fail "linked-$linker-first" "$(tail -n 3 said)"
    compiled "linked-$linker" '' 213 --cflags=-fuse-ld=$linker
done
mkdir wrap && printf '#!/bin/sh\nexec "$@"\n' >wrap/wrap && chmod +x wrap/wrap && mkdir only && cp -p count/cc only/only-cc # as ccache is one; there is no only-c++
: >"$CALLS"; printf 'kernel say(out v: i32[1]) cpu {{ v[0] = 7; }};\ngraph main { v: i32[1] = say() @quiet; }\n' >say.df
for i in 1 2; do check "linked-wrapper-$i" env PATH="$PWD/only:$PATH" "$DFC" say.df -o say --nvcc=none --cc="$PWD/wrap/wrap only-cc"; done; called linked-wrapper-calls 'link say.c'
mkdir old && cat >old/ld <<EOF                     # a linker that lists nothing
#!/bin/sh
case "\$*" in *--dependency-file=*) echo "ld: unrecognized option '--dependency-file=link.d'" >&2; exit 1 ;; esac
exec $(COMPILER_PATH='' gcc -print-prog-name=ld) "\$@"
EOF
chmod +x old/ld; lists_nothing() { COMPILER_PATH=$PWD/old compiled "$@"; }
lists_nothing linked-old 'link link small.c' 213; lists_nothing linked-old-again 'link link' 213
[ ! -s said ] && pass linked-old-says-nothing || fail linked-old-says-nothing "$(cat said)"

# Libraries: mine() is in one that -L and -l find.
mkdir libs "libs 2" && cat >libs/use.df <<'EOF'
kernel put(out v: i32[1]) cpu {{ v[0] = 1; }};
kernel show(in v: i32[1]) ordered cpu {{ extern int mine(int), printf(const char *, ...); printf("%d\n", mine(v[0])); }};
graph main { v = put(); show(v); }
EOF
library() { # FOLDER VALUE [KIND]: makes its libmine
    echo "int mine(int x) { return x + $2; } const char fill[2 << 20] = \"f\";" >mine.c
    case ${3:-a} in
    a) gcc -c mine.c -o mine.o && rm -f "$1/libmine.a" && ar rcs "$1/libmine.a" mine.o ;;
    thin) gcc -c mine.c -o "$1/mine.o" && rm -f "$1/libmine.a" && ar rcsT "$1/libmine.a" "$1/mine.o" ;;
    so) gcc -shared -fPIC mine.c -o "$1/libmine.so" ;;
    esac
    sleep 0.1
}
source=$PWD/libs/use.df
with=(-L "$PWD/libs 2" -L "$PWD/libs" -l mine)
library libs 10; compiled library 'link use.c' 11 "${with[@]}"; compiled library-again '' 11 "${with[@]}"
touch -r libs/libmine.a time; library libs 20; touch -r time libs/libmine.a; sleep 0.1
compiled library-changed link 21 "${with[@]}"; compiled library-changed-again '' 21 "${with[@]}"
library 'libs 2' 30; compiled library-before link 31 "${with[@]}"; compiled library-before-again '' 31 "${with[@]}"
library 'libs 2' 40; compiled library-blank link 41 "${with[@]}"
library 'libs 2' 50 so; LD_LIBRARY_PATH="libs 2" compiled library-shared link 51 "${with[@]}"; rm 'libs 2'/libmine.*
library libs 60 thin; compiled library-thin link 61 "${with[@]}"; library libs 70 thin; compiled library-thin-changed link 71 "${with[@]}"
library libs 80; map="--cflags=-Wl,-Map=$PWD/map"
compiled linker-map "link use.c" 81 "${with[@]}" "$map"; rm -f map; compiled linker-map-again link 81 "${with[@]}" "$map"; check linker-map-there test -s map
echo "-Map=$PWD/map" >words; words="--cflags=-Wl,@$PWD/words" # a file of options may name outputs, too
compiled linker-words "link use.c" 81 "${with[@]}" "$words"; rm -f map; compiled linker-words-again link 81 "${with[@]}" "$words"; check linker-words-there test -s map
# GNU ld warns of tmpnam(), each time.
echo '#include <stdio.h>
int mine(int x) { return x + (tmpnam(0) ? 90 : 0); }' >mine.c; gcc -w -c mine.c && rm libs/libmine.a && ar rcs libs/libmine.a mine.o; sleep 0.1
if command -v ld.bfd >/dev/null; then
    for i in 1 2; do
        compiled linker-warns-$i "$([ $i = 1 ] && echo 'link use.c' || echo link)" 91 "${with[@]}" --cflags=-fuse-ld=bfd
        grep -q "tmpnam' is dangerous" said && pass linker-warns-$i-said || fail linker-warns-$i-said "$(cat said)"
    done
else
    skip linker-warns 'there is no ld.bfd'
fi

echo 'kernel twice(in a: f32[n], out b: f32[n]) { b[i] = 2 * a[i]; } graph double(in a: f32[n], out b: f32[n]) { b = twice(a); }' >twice.df
for ending in so a; do
    for again in '' -again; do
        : >"$CALLS"; rm -f libtwice.*; check "lib-$ending$again" env -u COMPILER_PATH "$DFC" twice.df --lib --here -O0 --nvcc=none --no-opencl --cc="$count/cc" -o libtwice.$ending
        [ -n "$again" ] && called "lib-$ending-calls" '' || mv libtwice.$ending first.$ending
    done
    same "lib-$ending-same" libtwice.$ending first.$ending
done

# ---- several at once, some killed ----
# Four processes compile graphs of some values, and the first and about each fourth compilation are killed. Every program that was made prints its value; what was
# in the cache before, more than it may hold, makes room.
mkdir many many/cache many/tmp && old=$(date -d '1 day ago' '+%Y%m%d%H%M')
for i in {100..139}; do truncate -s 16M many/cache/0000000000000$i.o many/cache/1000000000000$i.program; done; touch -t "$old" many/cache/*
long && each=50 || each=4
for ((value = 1; value <= each / 2 + 3; value++)); do sed "s/213/$value/" c-files/small.df >c-files/many$value.df; done
made_many() { # PROCESS COUNT: prints a line for each compilation
    local i value status pid; RANDOM=$1
    for ((i = 0; i < $2; i++)); do
        value=$((RANDOM % (each / 2 + 3) + 1)); rm -f "many/p$1"
        "$DFC" c-files/many$value.df -o "many/p$1" --nvcc=none --here -O0 >many/said$1 2>&1 & pid=$!
        [ $i -gt 0 ] && [ $((RANDOM % 4)) != 0 ] || { sleep "0.$((i ? RANDOM % 4 : 0))$((RANDOM % 10))"; kill -9 $pid 2>/dev/null; }
        wait $pid 2>/dev/null; status=$?
        if [ $status = 0 ]; then status=$(many/p$1); [ "$status" = $value ] && echo right || echo "wrong: $status for $value"
        elif [ $status = 137 ]; then echo killed; else echo "wrong: status $status, $(tail -n 1 many/said$1)"; fi
    done
}
cpu=$(TIMEFORMAT='%U + %S'; export TMPDIR=$PWD/many/tmp DFC_CACHE=$PWD/many/cache
      { time { for p in 1 2 3 4; do made_many $p $each >many/log$p 2>many/ends$p & done; wait; }; } 2>&1)
sort many/log? | uniq -c >many/counts
grep -q wrong many/counts && fail many "$(cat many/counts)" || pass many
right=$(awk '/right/ { print $1 }' many/counts) killed=$(awk '/killed/ { print $1 }' many/counts)
echo "figure $((4 * each)) compilations of four processes: $right right, ${killed:-0} killed, $cpu CPU s, cache $(ls many/cache | wc -l) files"
[ "${killed:-0}" -gt 0 ] && [ "$right" -gt $((2 * each)) ] && pass many-both || fail many-both "$(cat many/counts)"
bytes() { find many/cache -name "*$1" -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }'; }
[ "$(bytes .o)" -le $((384 << 20)) ] && [ "$(bytes .program)" -le $((128 << 20)) ] && pass many-bounded || fail many-bounded "$(bytes .o) $(bytes .program)"
# The folder is scanned only after an eighth of the bound was added: its last sixteenth is counted in kibibytes, and stays; a scan removes the oldest down to seven eighths.
keeps() { # NAME COUNTED WANT: what is left of 25 objects of 16 MiB, when so many KiB had been counted and another object is put
    rm -rf few; mkdir few; for i in {100..124}; do truncate -s 16M few/0000000000000$i.o; touch -t "$old" few/0000000000000$i.o; done
    truncate -s "$2" few/added-objects; truncate -s 0 few/added-programs
    DFC_CACHE=$PWD/few "$DFC" c-files/small.df -o few/three --nvcc=none --here -O0 >said 2>&1 || fail "$1" "$(tail -n 3 said)"
    local left; left=$(ls few/0000000000000*.o | wc -l)
    [ "$left" = "$3" ] && pass "$1" || fail "$1" "$left are left, and not $3; $(stat -c '%n %s' few/added-*)"
}
keeps counted-few 40000 25; keeps counted-many $((384 * 1024 / 8 - 1)) 20
[ "$(stat -c %s few/added-objects)" = 0 ] && pass counted-again || fail counted-again "$(stat -c %s few/added-objects)"

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
expect tile-wrong 2 "error: --gpu-tile=16: ROWSxCOLUMNS is expected, such as 16x64" "$DFC" sum.df --gpu-tile=16
expect tile-zero 2 "error: --gpu-tile=0x8: ROWSxCOLUMNS is expected" "$DFC" sum.df --gpu-tile=0x8
expect tile-more 2 "error: --gpu-tile=8x8x8: ROWSxCOLUMNS is expected" "$DFC" sum.df --gpu-tile=8x8x8
expect arch-comma 2 "error: --gpu-arch=sm_80,: native, all" "$DFC" sum.df --gpu-arch=sm_80,
expect arch-twice 1 "error: --gpu-arch=sm_80: --nvcc-flags names architectures already" "$DFC" sum.df -o sum --gpu-arch=sm_80 --nvcc-flags=-arch=sm_90
