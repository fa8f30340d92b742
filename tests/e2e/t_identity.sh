# What decides a program's bits is part of its identity: if a header, a flag, a compiler, a library or a kernel of std/ has changed, --resume, `dfc merge` and ranks
# refuse the mixture and name the difference. What changes no bits is not part of it.
. "$DF_SOURCE/tests/e2e/ranks.sh"
formulas_for none
cp "$programs"/* .; mkdir one; cp -r "$(dirname "$DFC")/../share/dfc/std" std
library() { # KIND NAME TEXT
    echo "float $2(float x) { return $3; }" >$2.c
    if [ $1 = so ]; then cc -O0 -shared -fPIC $2.c -o lib$2.so; else cc -O0 -c $2.c && rm -f lib$2.a && ar rc lib$2.a $2.o; fi
}
library a grow 'x + 1'; library so shrink 'x / 2'
export LD_LIBRARY_PATH=$PWD
script_cc=$CC; printf '#!/bin/sh\nexec %s "$@"\n' "$CC" >cc1; printf '#!/bin/sh\nexec %s "$@" -O0\n' "$CC" >cc2; chmod +x cc1 cc2
own=(-L . -I "$PWD" --nvcc=none)
export CC=$PWD/cc1
# make NAME [OPTION…]: compiles the variant.
make_one() { "$DFC" app.df "${own[@]}" -o "$1" "${@:2}" >"$1.said" 2>&1 || fail "compile-$1" "$(cat "$1.said")"; }
make_one base
names=() wants=()
# variant NAME WHAT FILE SED [OPTION…]: as base, but that this changes the file (- for none); WHAT is named.
variant() {
    local name=$1 want=$2 file=$3 how=$4; shift 4
    names+=("$name") wants+=("$want")
    [ "$file" = - ] || { cp -p "$file" kept; sed -i "$how" "$file"; cmp -s kept "$file" && fail "change-$name" "nothing in $file"; }
    make_one "$name" "$@"
    [ "$file" = - ] || mv kept "$file"
}
variant header "file 'inner.h'" inner.h 's/2/3/'
variant inline "file 'inline.h'" inline.h 's/1/2/'
variant cxx-header "file 'more.hpp'" more.hpp 's/1/2/'
variant cflags "flags 'c'" - '' --cflags=-DGAIN=3
variant optimise "flags 'c'" - '' -O1
variant file-flags "flags 'work.c'" app.df 's/TWICE=2/TWICE=3/'
variant source "the code of kernel 'work'" work.c 's/GAIN \*/GAIN + 1 */'
export CC=$PWD/cc2; variant compiler "compiler 'c'" - ''; export CC=$PWD/cc1
# gcc and clang behind one wrapper: each writes its name into the objects.
if is_clang; then other=gcc; else other=clang; fi
if command -v $other >other.path; then mine=$FORMULA_CC FORMULA_CC=$other; variant $other "compiler 'c'" - '' --no-cache; FORMULA_CC=$mine
else skip other-compiler "no $other here"; fi
variant std-header "file 'arrays.h'" std/arrays.h '$a/* changed */'
variant std-kernel "the code of kernel 'write_raw_f32'" std/raw.c '$a/* changed */'
library a grow 'x + 2'; variant archive "library 'grow'" - ''; library a grow 'x + 1'
library so shrink 'x / 4'; variant shared "library 'shrink'" - ''; library so shrink 'x / 2'

# pkg-config gives the files themselves.
mkdir pc; for f in libgrow.a libshrink.so; do n=${f#lib}; n=${n%.*}; printf 'Name: %s\nDescription: it\nVersion: 1\nLibs: %s\n' $n "$PWD/$f" >pc/$n.pc; done; export PKG_CONFIG_PATH=$PWD/pc
make_one file1; library a grow 'x + 2'; make_one file2; library a grow 'x + 1'; unset PKG_CONFIG_PATH

# The journal of a run that was killed, and the first chunk, are base's.
nap 0
cd one || exit 1
touch hold; ../base --journal=j & until_line '^done [1-9]' j; kill -9 $!; wait $! 2>/dev/null; rm hold; cp j j.kept
check chunk ../base --waves=0:6 --out=c0
for i in "${!names[@]}"; do
    n=${names[i]} w=${wants[i]}
    expect "resume-$n" 1 "^$n: error: the journal 'j' is of another run: $w (has changed|was '.*', and is '.*' now)(; .*)?; if it is removed, the run begins anew$" ../$n --resume --journal=j
    check "chunk-$n" ../$n --waves=6:20 --out=c1
    expect "merge-$n" 1 "^dfc: error: 'c0' and 'c1' are of two programs, or of other arguments, sizes or inputs: $w (differs|is '.*' in one, and '.*' in the other)(; .*)?$" "$DFC" merge c0 c1
    rm -f c1
done
check chunk-file1 ../file1 --waves=0:6 --out=c2; check chunk-file2 ../file2 --waves=6:20 --out=c3
expect merge-file 1 "inputs: library 'libgrow.a' differs$" "$DFC" merge c2 c3; rm -f c3
# A shared library is exchanged, and nothing is compiled.
(cd ..; library so shrink 'x / 8')
expect resume-loaded 1 "^base: error: the journal 'j' is of another run: the shared library 'shrink' has changed; if" ../base --resume --journal=j
check chunk-loaded ../base --waves=6:20 --out=c1
expect merge-loaded 1 "inputs: the shared library 'shrink' differs$" "$DFC" merge c0 c1; rm -f c1
check chunk-loaded-file ../file1 --waves=6:20 --out=c3
expect merge-loaded-file 1 "inputs: the shared library 'libshrink.so' differs$" "$DFC" merge c2 c3; rm -f c2 c3
(cd ..; library so shrink 'x / 2')
[ ! -e out.raw ] && pass nothing-merged || fail nothing-merged "$(ls -l)"
cmp -s j j.kept && pass journal-kept || fail journal-kept "$(diff j j.kept | head -n 3)"

# All of them are refused by one rank 0; two ranks are its own.
if command -v mpirun >/dev/null; then
    all=(-n 2 ../base --cluster --workers=1); for n in "${names[@]}"; do all+=(: -n 1 ../$n --cluster --workers=1); done
    timeout 100 mpirun $root --oversubscribe --bind-to none "${all[@]}" >said 2>&1
    for i in "${!names[@]}"; do
        if grep -qE "^base: warning: rank $((i + 2)) on .* is refused: it runs another program than rank 0, or with other arguments or sizes: ${wants[i]} (differs from rank 0's|is '.*' on rank 0, and '.*' there)" said; then
            pass "rank-${names[i]}"; else fail "rank-${names[i]}" "$(grep "rank $((i + 2)) " said | head -n 3)"; fi
    done
else skip ranks 'no mpirun'; fi

# What changes no bits: where the program is made and by which name, debug information, lists of dependencies, and libraries and headers that are there twice.
cd ..; mkdir elsewhere; cp app.df ./*.c ./*.cpp ./*.h ./*.hpp elsewhere
(cd elsewhere && "$DFC" app.df -L .. -I .. --nvcc=none -o again -MD -g) >said 2>&1 || fail compile-again "$(cat said)"
cd one || exit 1; rm -f out.raw c1
check again-merges sh -c '../elsewhere/again --waves=6:20 --out=c1 && "$DFC" merge c0 c1'
mv out.raw merged.raw
check again-resumes ../elsewhere/again --resume --journal=j
same again-bytes out.raw merged.raw; rm -f out.raw; ../base
same base-bytes out.raw merged.raw

# A compiler that does not list its files: the program is made, and a line says what is not noticed.
cd ..; printf '#!/bin/bash\nwords=(); while [ $# -gt 0 ]; do case $1 in -MD) ;; -MF) shift ;; *) words+=("$1") ;; esac; shift; done\nexec %s "${words[@]}"\n' "$script_cc" >mute; chmod +x mute
expect no-list 0 "^dfc: warning: the compiler does not list the files that it reads [(]-MD -MF FILE[)], so --resume will not notice a changed header$" env CC="$PWD/mute" "$DFC" app.df -L . --nvcc=none -o mute.out
