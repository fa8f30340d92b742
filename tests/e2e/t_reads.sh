# Reads of formulas are proved again when a program gets sizes and params at start, by the program itself.
cat > dyn.df <<'END'
param reach = 1 dynamic;
param n = 16 dynamic;
kernel source(out v: f32[k]) cpu {{ for (long i = 0; i < k; i++) v[i] = (float)i; }};
kernel ahead(in v: f32[k], out o: f32[k - 2]) { o[i] = v[i + reach]; }
    cpu {{ for (long i = 0; i < k - 2; i++) o[i] = v[i + reach]; }};
kernel show(in v: f32[k]) cpu {{ printf("%g\n", v[k - 1]); }};
graph main { v: f32[n] = source(); o = ahead(v); show(o); }
END
# says NAME STATUS WORDS COMMAND…: what it prints, on stdout or stderr, begins with these lines.
says() {
    local name=$1 status=$2 want=$3 said got; shift 3
    said=$("$@" 2>&1); got=$?
    [ "$got" = "$status" ] && [ "${said#"$want"}" != "$said" ] && pass "$name" || fail "$name" "exit $got: $said"
}
check reads-compile "$DFC" dyn.df -o dyn --nvcc=none
says reads-inside 0 14 ./dyn
says reads-as-far-as-there-are 0 15 ./dyn --reach=2
says reads-too-far-at-start 1 "dyn.df:4:56: error: v[i + reach] reads up to place k, but the places of 'v' end at k - 1, with reach = 3
    kernel ahead(in v: f32[k], out o: f32[k - 2]) { o[i] = v[i + reach]; }
                                                           ^~~~~~~~~~~~
hint: give 'v' a border, such as 'border clamp', or make the output smaller: 'o: f32[k - 3]'
dyn: error: the program cannot be made for these sizes" ./dyn --reach=3
says reads-before-at-start 1 "dyn.df:4:56: error: v[i + reach] reads from place -1 on, but the places of 'v' begin at 0, with reach = -1" \
    ./dyn --reach=-1
says no-extent-at-start 1 "dyn.df:4:39: error: dimension is 0: it must be at least 1" ./dyn --n=2
says reads-too-far-compiled 1 "dyn.df:4:56: error: v[i + reach] reads up to place k, but" "$DFC" dyn.df -o refused --nvcc=none -Dreach=3
[ -e refused ] && fail reads-refused-is-not-made "there is a program" || pass reads-refused-is-not-made
