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

# Code whose indices are multiples takes smaller extents. A run with larger ones is refused before it takes memory for them.
cat > multiples.df <<'X'
kernel src(out v: u8[n]) cpu {{ memset(v, 1, n); }};
kernel four(in i: u8[4 * n], in k: u8[n], out o: u8[n]) { o[x] = u8((i[4 * x] + i[4 * x + 3]) / 2 + k[x]); }
kernel show(in o: u8[n]) cpu {{ printf("%d\n", o[n - 1]); }};
param n = 300000000;
graph main { i: u8[4 * n] = src(); k: u8[n] = src(); o = four(i, k); show(o); }
X
check multiples-compile "$DFC" multiples.df -o multiples --nvcc=none
expect multiples 1 "^multiples: error: node 'main/four' .*its dimension n is 300000000, and the code of its formulas takes 268435456 at most$" ./multiples
check few-compile "$DFC" multiples.df -D n=20 -o few --nvcc=none
expect few 0 '^2$' ./few
