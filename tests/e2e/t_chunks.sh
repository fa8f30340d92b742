# --waves=A:B --out=CHUNK and dfc merge: the same bytes as one process, made in any order and again; what is refused, in words.
programs_resume=$DF_SOURCE/tests/e2e/programs/resume; cp "$programs_resume"/*.df "$programs_resume"/kernels.c .
formulas_for none
for p in plain keeps counts once; do check "compile-$p" "$DFC" $p.df --nvcc=none -o $p; done
head -c 800 "$DFC" >in.raw                      # 100 waves
mkdir want work; (cd want && ../plain --input=../in.raw)
cd work || exit 1
run() { ../plain --input=../in.raw --waves=$1 --out=$2 "${@:3}"; }
merged() { # NAME CHUNK…
    local name=$1 got; shift
    got=$("$DFC" merge "$@" 2>&1) || fail "$name" "$got"
    got=$(diff -rq -x 'c[0-9]*' ../want . 2>&1)
    [ -z "$got" ] && pass "$name" || fail "$name" "$(head -n 4 <<<"$got" | tr '\n' ' ')"
    rm -f each* rows.csv all.npy out.raw
}
check one run 0:100 c0
ls | grep -qv '^c0$' && fail files "$(ls)" || pass files
merged whole c0
check cut run 0:33 c1 --workers=2
check single run 33:34 c2
check rest run 34:250 c3 --device=emu
check behind run 250:260 c4
merged parts c4 c2 c1 c3
expect told 0 '^dfc: 100 waves in 70 files, up to the end of the stream$' "$DFC" merge c1 c2 c3
merged told-bytes c1 c2 c3
# The last chunk says nothing of an end here: the source knows how many waves there are.
check cut-at-end run 34:100 c11
expect cut-told 0 '^dfc: 100 waves in 70 files, up to the end of the stream$' "$DFC" merge c1 c2 c11
merged cut-bytes c11 c1 c2
check prefix "$DFC" merge c1 c2 --waves=34
mkdir ../want-34 && (cd ../want-34 && ../plain --input=../in.raw --waves=34)
got=$(diff -rq -x 'c[0-9]*' ../want-34 . 2>&1); [ -z "$got" ] && pass prefix-bytes || fail prefix-bytes "$(head -n 4 <<<"$got")"
rm -f each* rows.csv all.npy out.raw

# A chunk that is there is not made again; made again, it has the same bytes. One that a kill has left does not stay.
expect there 0 "^plain: 'c1' is there already, and complete$" run 0:33 c1
cp c1 c1.copy; rm c1; check again run 0:33 c1 --workers=1
same idempotent c1 c1.copy
printf x | dd of=c1 bs=1 seek=200 conv=notrunc 2>/dev/null
expect damaged 1 "^dfc: error: 'c1' is damaged: what is in it is not what was written$" "$DFC" merge c1 c2 c3
check made-anew run 0:33 c1
same made-anew-bytes c1 c1.copy; rm c1.copy
touch hold; ../plain --input=../in.raw --waves=0:100 --out=c9 & sleep 0.2; kill -9 $!; wait $! 2>/dev/null; rm hold # waves from 60 on wait (kernels.c)
[ ! -e c9 ] && pass killed || fail killed "$(ls -l c9)"
full() { (ulimit -f 1; run 0:100 c9); }
expect full 1 'error: .*File too large' full
[ ! -e c9 ] && pass full-leaves-nothing || fail full-leaves-nothing "$(ls -l c9)"

# A source and a filter of its own run from wave 0 on.
../counts --many=60 >/dev/null; mv out.raw ../counts.raw
expect printer 1 "^counts: error: no chunk can be made: node 'main/print' gets the waves in order, and its kernel is not 'resume'$" ../counts --many=60 --waves=0:10 --out=c5
sed '/print(b)/d' ../counts.df >../silent.df; check compile-silent "$DFC" ../silent.df --nvcc=none -o ../silent
for r in 0:20 20:59 59:80; do check "own-$r" ../silent --many=60 --waves=$r --out=c5${r%:*}; done
check own-merge "$DFC" merge c50 c520 c559
same own out.raw ../counts.raw; rm out.raw
expect own-unknown 1 "^dfc: error: no chunk says that wave 58 is the last one, so chunks behind it may be missing; --waves=59 says that the run has so many$" \
    "$DFC" merge c50 c520
[ ! -e out.raw ] && pass own-unknown-nothing || fail own-unknown-nothing "$(ls -l out.raw)"
expect own-wanted 0 '^dfc: 59 waves in 1 file$' "$DFC" merge c50 --waves 59 c520
head -c 472 ../counts.raw >../counts-59.raw; same own-wanted-bytes out.raw ../counts-59.raw; rm out.raw

# What is made once is written once.
head -c 8 "$DFC" >once.raw; mkdir ../want-once; (cd ../want-once && ln ../work/once.raw && ../once --input=../in.raw)
for r in 0:40 40:41 41:200; do check "once-$r" ../once --input=../in.raw --waves=$r --out=c5${r%:*}; done
expect once-merge 0 '^dfc: 100 waves in 4 files, up to the end of the stream$' "$DFC" merge c541 c50 c540
for f in y.raw y.csv y.npy out.raw; do same "once-$f" $f ../want-once/$f; done
rm once.raw y.raw y.csv y.npy out.raw
expect acc 1 "^keeps: error: no chunk can be made: node 'main/total' has an acc, which all waves change one after the other$" ../keeps --input=../in.raw --waves=0:10 --out=c6
# A kernel that writes one file anew in each wave: the last wave counts, in a chunk and in all.
cat >../latest.df <<'X'
import "std/raw.df";
kernel latest(in a: u8[n]; to: str) cpu {{
#include <df_io.h>
    struct df_output *o;
    if (df_output_open(call, to, &o) != DF_OK) return DF_FAILED;
    fwrite(a, 1, n, df_output_resume(o));
    return df_output_close_job(call, o, 1); }};
arg input: str;
graph main { a: u8[8] = read_raw_u8(input); latest(a, "latest.raw"); }
X
check compile-latest "$DFC" ../latest.df --nvcc=none -o ../latest
for r in 0:50 50:120; do check "latest-$r" ../latest --input=../in.raw --waves=$r --out=c5${r%:*}; done
expect latest-merge 0 '^dfc: 100 waves in 2 files, up to the end of the stream$' "$DFC" merge c550 c50
tail -c 8 ../in.raw >../latest.want; same latest-bytes latest.raw ../latest.want; rm -f latest.raw
cat >../tiles.df <<'X'
import "std/png.df";
graph main { (t: u8[8, 8], at: i64[4]) = read_png_tiles("../p.png", 0); write_png_tiles(t, at, "q.png"); }
X
if "$DFC" ../tiles.df --nvcc=none -o ../tiles 2>/dev/null; then
    expect tiles 1 "error: no chunk can be made: node 'main/write_png_tiles' gets the waves in order" ../tiles --waves=0:2 --out=c6
else skip tiles "no libpng"; fi

# What does not go together
expect gap 1 "^dfc: error: wave 33 is missing: no chunk has it$" "$DFC" merge c1 c3
expect gaps 1 "^dfc: error: the waves 0 to 32 are missing: no chunk has them$" "$DFC" merge c2 c3
expect last-chunks 1 "^dfc: error: the waves 34 to 99 are missing: no chunk has them, and the stream has 100 waves$" "$DFC" merge c1 c2
check but-one run 34:99 c12
expect last-wave 1 "^dfc: error: wave 99 is missing: no chunk has it, and the stream has 100 waves$" "$DFC" merge c1 c2 c12
expect wanted-more 1 "^dfc: error: the waves 34 to 49 are missing: no chunk has them$" "$DFC" merge c1 c2 --waves=50
expect wanted-fewer 1 "^dfc: error: the chunks have 34 waves, and --waves=20 says that the run has fewer$" "$DFC" merge --waves=20 c1 c2
expect wanted-wrong 2 "error: --waves" "$DFC" merge --waves=many c1 c2
expect twice 1 "^dfc: error: 'c1' and 'c1' both have wave 0$" "$DFC" merge c1 c1 c2
check lap run 30:40 c7
check first run 0:1 c10 --each=x
expect one-wave 0 "^dfc: 1 wave in 4 files$" "$DFC" merge c10 --waves=1; rm -f x rows.csv all.npy out.raw
expect overlap 1 "^dfc: error: 'c1' and 'c7' both have wave 30$" "$DFC" merge c1 c7
# A chunk that was changed on purpose: files outside the folder, of waves that it does not have, twice, of two nodes, and what else merging should not follow.
forged() { # NAME STATUS PATTERN OLD NEW [OPTION…]
    cp c1 forged; check "forge-$1" python3 "$programs_resume/forge.py" forged "$4" "$5"
    expect "forged-$1" "$2" "$3" "$DFC" merge forged c2 c3 "${@:6}"; rm -f forged
}
forged same 0 '^dfc: 100 waves in 70 files' ' each003.npy' ' each003.npy'; rm -f each* rows.csv all.npy out.raw
forged up 1 "^dfc: error: 'forged' has a file '../../outside', outside the folder that dfc runs in; --outside writes it$" ' each003.npy' ' ../../outside'
forged round 1 "'forged' has a file 'x/./../../outside', outside the folder" ' each003.npy' ' x/./../../outside'
forged root 1 "'forged' has a file '$PWD/each003.npy', outside the folder" ' each003.npy' " $PWD/each003.npy"
forged appended 1 "'forged' has a file '../out.raw', outside the folder" "$(grep -ao 'entry append [0-9 -]* out.raw' c1)" "$(grep -ao 'entry append [0-9 -]* out.raw' c1 | sed 's| out.raw| ../out.raw|')"
forged asked 0 '^dfc: 100 waves in 70 files' ' each003.npy' ' ../outside' --outside
[ -e ../outside ] && pass outside || fail outside "$(ls ..)"; rm -f ../outside each* rows.csv all.npy out.raw
mkdir x; forged below 0 '^dfc: 100 waves in 70 files' ' each003.npy' ' ./x/../each003.npy'; rmdir x; rm -f each* rows.csv all.npy out.raw
forged foreign 1 "^dfc: error: 'forged' has a file of wave 77, 'each003.npy', and is of the waves 0 to 32$" "$(grep -ao 'entry whole [0-9]* 3 ' c1)" "$(grep -ao 'entry whole [0-9]* 3 ' c1 | sed 's/ 3 $/ 77 /')"
forged twice 1 "^dfc: error: 'forged' has 'each002.npy' twice, of the waves [0-9]* and [0-9]*$" ' each003.npy' ' each002.npy'
forged nodes 1 "^dfc: error: 'forged' and '(forged|c2|c3)' both have 'out.raw', of two nodes$" ' rows.csv' ' out.raw'
last=$(grep -ao 'entry [a-z]* [0-9 ]* [a-z0-9.]*$' c1 | tail -n 1)
forged cut 1 "^dfc: error: 'forged' is damaged$" "$last" "$(sed -E 's/ ([0-9]+) ([^ ]*)$/ 1\1 \2/' <<<"$last")"
[ -e each000.npy ] && fail forged-cut-writes "$(ls)" || pass forged-cut-writes
forged newer 1 "^dfc: error: 'forged' is a chunk of version 4, made by a newer dfc: make it again$" 'dfc chunk 3' 'dfc chunk 4'
forged older 1 "^dfc: error: 'forged' is a chunk of version 2, made by an older dfc: make it again$" 'dfc chunk 3' 'dfc chunk 2'
touch ../in.raw; check touched run 33:34 c8
expect inputs 1 "^dfc: error: 'c1' and 'c8' are of two programs, or of other arguments, sizes or inputs: they read other inputs, or the nodes of their programs differ$" "$DFC" merge c1 c8
check remade run 0:33 c1
expect no-chunk 1 "^dfc: error: '../in.raw' is no chunk, as --waves=A:B --out=FILE writes it$" "$DFC" merge ../in.raw
expect no-file 1 "^dfc: error: cannot read 'nothing': No such file or directory$" "$DFC" merge nothing
expect none 2 "^dfc: error: chunks are expected" "$DFC" merge
expect option 2 "unknown option|no option" "$DFC" merge --fast c1
left=$(ls -A | grep -v '^c[0-9]*$'); [ -z "$left" ] && pass nothing-written || fail nothing-written "$left"
expect range 2 "^plain: error: --waves=5:5: the first wave is 0 or more, and less than the second number$" run 5:5 c8
expect words 2 "error: --waves=x: a whole number from 0" run x:5 c8
for r in 2: :2 : 0:1:2; do expect "range-$r" 2 "^plain: error: --waves=$r: write two wave numbers, as in 100:200$" run $r c8; done
expect out-alone 2 "^plain: error: --out: --waves=A:B says which waves the chunk has$" ../plain --input=../in.raw --out=c8
expect range-alone 2 "^plain: error: --waves=A:B makes a chunk: --out=FILE says where$" ../plain --input=../in.raw --waves=1:2
expect journal-too 2 "^plain: error: --out: a chunk has no journal; if it was not made to its end, it is made again$" run 0:5 c8 --journal
expect replaces 2 "^plain: error: --out=../plain: it would replace this program$" run 0:5 ../plain
expect replaces-input 2 "^plain: error: --out=../in.raw: it would replace '../in.raw', which the run reads: name another file$" run 0:5 ../in.raw
for path in /dev/null /dev/stdout .; do expect "regular-$path" 1 "^plain: error: --out=$path: a chunk is a regular file$" bash -o pipefail -c 'timeout 150 ../plain --input=../in.raw --waves=0:5 --out=$1 | cat' bash $path; done
expect folder 1 "cannot write 'no/c8': No such file or directory$" run 0:5 no/c8
expect merge-help 0 '^usage: dfc merge \[OPTION\]... CHUNK' "$DFC" merge --help
