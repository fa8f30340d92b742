# The fuzz targets (make fuzz) on a part of what they begin with: none of it fails, and the dictionary knows the language. `make check-long` has all of it.
if [ ! -d "$DF_SOURCE/compiler" ]; then skip fuzz 'not a source tree'; exit 0; fi
check corpus "$DF_SOURCE/tests/fuzz/corpus.sh" "$DF_BUILD" "$PWD/corpus" $(long || echo 4)
for target in parse program files; do
    check "replay-$target" "$DF_BUILD/tests/fuzz_$target" corpus/$target/*
done

# Every word for which the lexer has a token of its own.
missing=''
for word in $(sed -n '/words\[\] = {/,/};/p' "$DF_SOURCE/dsl/lexer.l" | grep -oE 'DFL_T_[A-Z_]+' | sed 's/DFL_T_//' | tr A-Z a-z); do
    grep -qxF "\"$word\"" corpus/dictionary || missing="$missing $word"
done
if [ -z "$missing" ]; then pass dictionary; else fail dictionary "has no$missing"; fi

# Without clang, or without its libFuzzer, one line says what to type.
mkdir bin; printf '#!/bin/sh\nexit 1\n' >bin/clang; chmod +x bin/clang
PATH=$PWD/bin:$PATH MAKEFLAGS='' make --no-print-directory -C "$DF_SOURCE" fuzz CUDA=0 >said 2>&1; rc=$?
if [ $rc = 2 ] && [ "$(grep -cv '^make' said)" = 1 ] && grep -q '^fuzz: .* sudo apt-get install -y clang libclang-rt-dev$' said; then
    pass says-what-to-type; else fail says-what-to-type "$rc: $(cat said)"; fi
