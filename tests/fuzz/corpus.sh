#!/usr/bin/env bash
# corpus.sh - what the fuzz targets begin with: corpus.sh BUILDDIR FOLDER [N]. With N every N-th of the golden tests.
#
# FOLDER/program and FOLDER/parse get the programs of the examples and the golden tests, seeds/language.df, which uses most of the language,
# and a few random ones. FOLDER/files gets files for each reader (fuzz_files.c names them). FOLDER/dictionary gets the words and operators of
# the language: those of the lexer, and all others that three or more programs use.
set -eu
cd "$(dirname "$0")/../.."
build=$1 to=$2 nth=${3:-1} here=tests/fuzz
mkdir -p "$to"/{parse,program,files}
for seed in {1..12}; do python3 tests/random/generate.py $seed k.c k.cu 2 "$to/random-$seed.df" "$to/expected"; done
golden=(tests/golden/*.df) programs=()
for ((i = 0; i < ${#golden[@]}; i += nth)); do programs+=("${golden[i]}"); done
programs+=(examples/*/*.df $here/seeds/*.df "$to"/random-*.df)

declare -A by_name                      # of files with one name, the last
for f in "${programs[@]}"; do by_name[${f##*/}]=$f; done
cp "${by_name[@]}" "$to/program/"; cp "$to"/program/* "$to/parse/"
(cd "$to/program" && grep -l '^ *platform ' ./*) | while read -r name; do { printf 2; cat "$to/program/$name"; } > "$to/files/2-${name#./}"; done
{ printf 1; cat $here/seeds/rows.sql; } > "$to/files/1-rows"
{ printf 4; cat $here/seeds/learned.jsonl; } > "$to/files/4-learned"
{ printf 5; cat $here/seeds/stats.json; } > "$to/files/5-stats"
{ printf 9; cat $here/seeds/trace.json; } > "$to/files/9-trace"
for names in 0 1 2 3; do { printf ":$names"; cat $here/seeds/mapping.txt; } > "$to/files/:-mapping-$names"; done
{ printf ';'; cat $here/seeds/journal.txt; } > "$to/files/;-journal"
for level in 0 2; do
    ${CC:-cc} -g -O$level -c -o "$to/object.o" $here/seeds/functions.c
    { printf '<'; cat "$to/object.o"; } > "$to/files/<-object-$level"
done
rm "$to/object.o"
printf '8NVIDIA "H200" \\ gpu0job copy 12345678901234567890' > "$to/files/8-trace"
"$build/tests/make_seeds" "$to/files" $here/seeds/rows.sql "${programs[@]}"

{
    sed -n '/words\[\] = {/,/};/p' dsl/lexer.l | grep -o '{"[a-z_]*"' | tr -d '{"'
    grep -oHE '[A-Za-z_][A-Za-z0-9_]+' -- "${programs[@]}" | sort -u | cut -d: -f2 | sort | uniq -c | awk '$1 >= 3 { print $2 }'
    grep -ohE '[A-Za-z_]{2,}' $here/seeds/* | sort -u
} | sort -u | sed 's/.*/"&"/' > "$to/dictionary"
sed -n 's/^"\([^a-z"]*\)" .*return DFL_T_.*/"\1"/p' dsl/lexer.l >> "$to/dictionary"
printf '"%s"\n' '{{' '}}' '<<' '>>' '+=' ' min= ' 'table t: f32[1] = ' 'let ' ' = ' ';\x0a' 0.5 4294967296 9223372036854775807 -9223372036854775808 1e308 1e-320 1.0e-46 nan inf >> "$to/dictionary"
