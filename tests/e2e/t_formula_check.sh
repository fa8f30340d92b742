# Formulas as the front end takes them: values that come when the program starts, and the examples of docs/language.md.
cp "$programs"/hidden.df .
check hidden-compile "$DFC" hidden.df --nvcc-flags=-arch=compute_80 -o hidden
./hidden --gain=5 --later=1 > hidden.out 2>&1
printf '%s\n' 51 52 53 54 51 > expected
same hidden-values hidden.out expected
expect hidden-no-extent 1 '^hidden.df:6:37: error: dimension is -1: it must be at least 1' ./hidden --later=-5
expect hidden-too-large 1 "^hidden.df:6:41: error: param 'later' is 3000000000, but a dynamic param in a formula is i32" ./hidden --later=3000000000

# The examples of the section "Formulas" are right: each block of code there, with what the blocks before it declare.
awk '/^## /{ on = $0 == "## Formulas" } /^```/{ code = !code; next } on && code' "$DF_SOURCE/docs/language.md" > examples.df
echo 'kernel src(out v: u8[n]) cost cpu 1us; graph main { v: u8[4] = src() @quiet; }' >> examples.df
check docs-examples "$DFC" -w --emit=graph examples.df
found=$(grep -c '^kernel' examples.df)
if [ "$found" -ge 7 ]; then pass docs-examples-found; else fail docs-examples-found "$found kernels"; fi
