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
dyn: error: the program cannot be made for these sizes: --reach=3" ./dyn --reach=3
says reads-before-at-start 1 "dyn.df:4:56: error: v[i + reach] reads from place -1 on, but the places of 'v' begin at 0, with reach = -1" \
    ./dyn --reach=-1
cat > both.df <<'END'
param n = 4 dynamic;
kernel source(out v: f32[k]) cpu {{ v[0] = (float)k; }};
kernel show(in v: f32[k], in w: f32[l]) cpu {{ printf("%g %g\n", v[0], w[0]); }};
graph main { v: f32[n] = source(); w: f32[n + 1] = source(); show(v, w); }
END
check both-compile "$DFC" both.df -o both --nvcc=none
says both-are-good 0 '4 5' ./both
says one-error-at-start 1 "both.df:4:21: error: dimension is -5: it must be at least 1
    graph main { v: f32[n] = source(); w: f32[n + 1] = source(); show(v, w); }
                        ^
both: error: the program cannot be made for these sizes: --n=-5" ./both --n=-5
says no-extent-at-start 1 "dyn.df:4:39: error: dimension is 0: it must be at least 1" ./dyn --n=2
says reads-too-far-compiled 1 "dyn.df:4:56: error: v[i + reach] reads up to place k, but" "$DFC" dyn.df -o refused --nvcc=none -Dreach=3
[ -e refused ] && fail reads-refused-is-not-made "there is a program" || pass reads-refused-is-not-made
