# Kernels of formulas that become one node: the same bits as the interpreter's, and what is said of it. tests/unit/compiler/fusion has which are joined.
formula=$DF_SOURCE/tests/formula

# Chains with every border, on sizes below the reach and of several strips, in a library that finds its groups when it is opened.
! long || python3 "$formula/compare.py" "$DF_BUILD" --quick --cases "$formula/cases/fused.df" || failures=1
# On GPUs a work-group computes a tile: of any shape, whichever of its items comes first, and whatever local memory held before.
shapes='-O0 --emu-gpu-code --gpu-tile=3x5 --cflags=-DDF_RACES=-1'
if long; then shapes+=';--emu-gpu-code --gpu-tile=12x20 --cflags=-DDF_RACES=1;--emu-gpu-code --gpu-tile=1x64 --cflags=-DDF_RACES=1;--emu-gpu-code'; fi
python3 "$formula/compare.py" "$DF_BUILD" --plain --cpu --modes="$shapes" --cases "$formula/cases/fused.df" || failures=1
python3 "$formula/compare.py" "$DF_BUILD" --plain --modes="$shapes" --cases "$formula/cases/staged.df" || failures=1

cat >chain.df <<'END'
param h = 300 dynamic;
param w = 40 dynamic;
table k5: f32[5] = { 1, 4, 6, 4, 1 };
kernel make(out t: u8[h, w, 3]) cpu {{ for (size_t i = 0; i < h * w * 3; i++) t[i] = (unsigned char)(i * i >> 3); }};
kernel grey(in t: u8[h, w, 3], out g: f32[h, w]) { g[y, x] = 0.299 * t[y, x, 0] + 0.587 * t[y, x, 1] + 0.114 * t[y, x, 2]; }
kernel blur(in g: f32[h, w] border mirror, out b: f32[h, w]) {
    b[y, x] = sum(j in -2..3: k5[j + 2] * sum(i in -2..3: k5[i + 2] * g[y + i, x + j])) / 256;
}
kernel sobel(in b: f32[h, w], out e: u8[h - 2, w - 2]) { e[y, x] = u8(abs(b[y, x] - b[y + 2, x + 1]) + b[y + 1, x]); }
kernel total(in e: u8[h, w], out s: f64[h]) { s[y] = sum(x in 0..w: f64(e[y, x])); }
kernel show(in e: u8[h, w], in s: f64[h]) ordered cpu {{
    unsigned long sum = 5;
    for (size_t i = 0; i < h * w; i++) sum = sum * 31 + e[i];
    printf("%zu %zu %lx %g\n", h, w, sum, s[h - 1]);
}};
graph main {
    t: u8[h, w, 3] = make();
    g = grey(t);
    b = blur(g);
    e = sobel(b);
    s = total(e);
    show(e, s);
}
END
formulas_for "" $(quicker)
check compile "$DFC" chain.df -o fused --nvcc=none --no-opencl
formulas_for none
check compile-unfused "$DFC" chain.df -o apart --nvcc=none --no-opencl --no-fuse
for size in "--h=300 --w=40" "--h=3 --w=3" "--h=4 --w=1000" "--h=1031 --w=3" "--h=64 --w=31" "--h=65 --w=31"; do
    ./apart $size >want && ./fused $size >got && same "program-at-start-${size//[^0-9]/}" got want
done
[ "$(./fused)" = "$(sed 's/blur(g)/blur(g) @nofuse/' chain.df >hint.df && "$DFC" run hint.df --nvcc=none --no-opencl)" ] && pass nofuse-same ||
    fail nofuse-same "the result is another"

# Kernels that are fused in all calls have no code of their own, unless the program makes its graph again, for sizes with which they may be nodes.
functions_of() { # ARG…: the kernels that have code
    rm -rf some.dfc; "$DFC" "$@" -o some --nvcc=none --no-opencl --keep 2>/dev/null && sed -n 's/^int DF_LEVEL(df_formula_\([a-z0-9_]*\)).*/\1/p' some.dfc/*_formulas.c | sort | tr '\n' ' '
}
sed 's/ dynamic;/;/' chain.df >sized.df
expect code-of-nodes 0 '^df_group0_grey_blur_sobel total $' functions_of sized.df
expect code-unfused 0 '^blur grey sobel total $' functions_of sized.df --no-fuse
expect code-sized-at-start 0 '^blur df_group0_grey_blur_sobel grey sobel total $' functions_of chain.df
./fused >want; ./some >got; same code-sized-at-start-runs got want
check code-of-nodes-compile "$DFC" sized.df -o some --nvcc=none --no-opencl && ./some >got && same code-of-nodes-runs got want

# Rows of a ring stay where they are, unless a stream has no rows but elements.
"$DFC" chain.df --emit=c >chain.c
cat >line.df <<'END'
kernel make(out v: f32[n]) cpu {{ for (size_t i = 0; i < n; i++) v[i] = (float)i; }};
kernel mean(in v: f32[n] border mirror, out b: f32[n]) { b[i] = (v[i - 1] + v[i + 1]) / 2; }
kernel show(in v: f32[n]) cpu {{ printf("%g\n", v[n - 1]); }};
graph main { v: f32[300] = make(); a = mean(v); b = mean(a); c = mean(b); show(c); }
END
"$DFC" line.df --emit=c >line.c
expect rings-turn 0 'df_strip_row\(df_mirror_at' cat chain.c
grep -q df_strip_move chain.c && fail rings-stay 'rows are moved' || pass rings-stay
expect line-moves 0 'df_strip_move\(&df_stages' cat line.c
expect line-runs 0 '^297.5$' "$DFC" run line.df --nvcc=none --no-opencl

# A pyramid, whose levels have half as many rows each, is one node, also on the emulated GPU. cases/rates.df has small ones.
pyramid=("$DF_SOURCE/tests/bench/pyramid.df" -D h=301 -D w=70)
"$DFC" "${pyramid[@]}" --emit=plan >plan.txt
expect pyramid-is-one-node 0 '^fused: main/frame\+(blur\+down\+differ\+?){3}: .*; saves ' cat plan.txt
grep -q 'not fused' plan.txt && fail pyramid-whole "a part of it is not fused" || pass pyramid-whole
check pyramid-compiles-alone "$DFC" "${pyramid[@]}" --no-fuse --nvcc=none --no-opencl -o pyramid && ./pyramid --waves=2 --workers=1 >want
check pyramid-compiles "$DFC" "${pyramid[@]}" --emu-gpu-code --no-opencl -o pyramid && ./pyramid --waves=2 --workers=1 --device=none >got && same pyramid got want
./pyramid --waves=2 --device=emu --policy=all-gpu >got && same pyramid-gpu got want

# What is told.
expect graph-has-one-node 0 '^n1 main/grey\+blur\+sobel w1 ' "$DFC" chain.df --emit=graph
expect graph-unfused 0 '^n3 main/sobel w3 ' "$DFC" chain.df --no-fuse --emit=graph
expect plan-fused 0 '^fused: main/grey\+blur\+sobel: grey, blur, sobel; strips of 64 rows, which keep 20\.9 KiB; saves 72\.8 KiB$' "$DFC" chain.df --emit=plan
expect plan-not-fused 0 '^not fused: sobel and total, line 21: it reduces over data$' "$DFC" chain.df --emit=plan
expect explain-fused 0 '^fused: main/grey\+blur\+sobel: ' "$DFC" explain chain.df
expect explain-nofuse 0 "^not fused: grey and blur, line 19: '@nofuse' keeps it apart$" "$DFC" explain hint.df
"$DFC" chain.df --no-fuse --emit=plan | grep -q fused && fail no-fuse-is-silent "the plan speaks of fusion" || pass no-fuse-is-silent
expect stats-name 0 '^grey\+blur\+sobel +cpu +1 ' ./fused --stats
expect too-wide 0 '^not fused: grey, blur, sobel: the rows that they would keep take [0-9.]+ MiB$' "$DFC" chain.df -Dw=100000 --emit=plan

# A member is no node.
expect dump-of-a-member 1 "^fused: error: --dump: 'main/blur' is inside of 'main/grey\+blur\+sobel'; dfc's option --no-fuse makes it a node$" ./fused --dump=main/blur

# Mistakes.
sed 's/make()/make() @nofuse/' chain.df >wrong.df
expect nofuse-without-formulas 1 "^wrong.df:17:29: error: '@nofuse' on 'make', which has no formulas$" "$DFC" wrong.df -o wrong
sed 's/blur(g)/blur(g) @nofuse(2)/' chain.df >wrong.df
expect nofuse-takes-no-value 1 "^wrong.df:19:17: error: '@nofuse' takes no value$" "$DFC" wrong.df -o wrong
sed 's/blur(g)/blur(g) @nofuse @nofuse/' chain.df >wrong.df
expect nofuse-twice 1 "^wrong.df:19:25: error: '@nofuse' is given twice$" "$DFC" wrong.df -o wrong
sed 's/blur(g)/blur(g) @nofuze/' chain.df >wrong.df
expect nofuse-misspelt 1 "^hint: did you mean '@nofuse'\?$" "$DFC" wrong.df -o wrong

# Reads that all are behind the last row count as reads of that row in a tile, which has room for what it reads in turn.
cat >beyond.df <<'X'
kernel a(in i0: i32[h, 4] border 0, out o0: u16[h, 4]) { o0[z, j] = wrap_u16(i32(-(z))); }
kernel b(in i1: u16[h, 4] border 1, clamp, out o0: u16[h, 4]) { o0[z, y] = i1[z - 4, -1 * z - 1]; }
kernel c(in i0: u16[h, 4] border 0, in i1: u16[h, 4] border 1, reflect, out o0: f32[h, 4]) { o0[v, u] = i0[v, 3 * v + 2] - f32(i1[v + 3, 4 - 1 - u]); }
kernel make(out a: i32[n, 4]) cpu {{ for (size_t i = 0; i < n * 4; i++) a[i] = (int)i; }};
kernel show(in o: f32[n, 4]) cpu {{ float s = 0; for (size_t i = 0; i < n * 4; i++) s = s / 2 + o[i]; printf("%a\n", (double)s); }};
graph main { a0: i32[67, 4] = make(); v1 = a(a0); v2 = b(v1); v3 = c(v1, v2); show(v3); }
X
check beyond-compiles "$DFC" beyond.df -o beyond --nvcc=none --no-opencl -O0 -w --emu-gpu-code --gpu-tile=3x5 --cflags=-DDF_RACES=1
./beyond --device=none >beyond.cpu; ./beyond --device=emu --policy=all-gpu >beyond.gpu 2>&1; same beyond beyond.gpu beyond.cpu
