# Programs that are too large are told so in little time and memory; a program that is too large for this machine is told where memory ran out.
kernels='kernel src(out a: u8[4]) cost cpu 1us;
kernel f(in a: u8[4], out b: u8[4]) cost cpu 1us;
kernel sink(in a: u8[4]) cost cpu 1us;'
graph() { printf '%s\ngraph main {\n%s\n}\n' "$kernels" "$2" > "$1.df"; }
# limited KIB SECONDS COMMAND…: with so much address space and processor time.
limited() {
    local kib=$1 seconds=$2; shift 2
    (ulimit -v "$kib" -t "$seconds" && exec "$@")
}
if grep -qE 'fsanitize=(address|thread)' "$DF_BUILD/obj/flags" 2>/dev/null; then
    skip limits "this sanitizer needs all address space"
    return
fi
many='5:(1|23): error: the program has more than 20000000 nodes$'
graph product 'for i in 0..1000000 { for j in 0..100000 { for k in 0..100000 { a[i, j, k] = src(); } } }'
graph triangle 'for i in 0..100000 { for j in 0..i { for k in 0..10000 { a[i, j, k] = src(); } } }'
graph condition 'for i in 0..2000000 { if i % 2 == 0 { for j in 0..100 { a[i, j] = src(); } } }'
graph half 'for i in 0..100000000 { if i % 2 == 0 { for j in 0..i { a[i, j] = src(); } } else if i < 100 { b[i] = src(); } }'
for name in product triangle condition half; do
    expect "$name" 1 "^$name.df:$many" limited 200000 5 "$DFC" --emit=graph $name.df
done
graph empty 'a = src(); sink(a); for i in 0..200000000 { if i < 0 { sink(a); } }'
expect empty 1 '^empty.df:5:21: error: elaborating the program takes more than 200000000 statements' limited 200000 5 "$DFC" --emit=graph empty.df
# Twenty graphs, each of which calls the next one five times.
{ echo "$kernels"; for i in {0..19}; do echo "graph g$i(in a: u8[4]) { for i in 0..5 { g$((i + 1))(a); } }"; done
  echo 'graph g20(in a: u8[4]) { sink(a); } graph main { a = src(); g0(a); }'; } > nested.df
expect nested 1 '^nested.df:[0-9]+:[0-9]+: error: the program has more than 20000000 nodes$' limited 200000 5 "$DFC" --emit=graph nested.df
[ "$("$DFC" --emit=graph nested.df 2>&1 | grep -c error:)" = 1 ] && pass nested-once || fail nested-once "$("$DFC" --emit=graph nested.df 2>&1 | head)"

# Within the limits, but not within the memory: the message names the statement that was worked on.
graph large 'for i in 0..100000 {
    a[i] = src();
    b[i] = f(a[i]);
    sink(b[i]);
}'
for kib in 20000 30000 50000 75000 100000; do
    said=$(limited $kib 20 "$DFC" --emit=graph large.df 2>&1 >/dev/null | head -n 1)
    [[ $said =~ ^large.df:[0-9]+:[0-9]+:\ error:\ out\ of\ memory$ ]] && pass "memory-$kib" || fail "memory-$kib" "$said"
done
check memory-enough "$DFC" --emit=graph large.df
