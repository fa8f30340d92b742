# Platforms whose values are expressions over params: in the graph's file, in a file for --platform, and with -D.
cp "$DF_SOURCE"/tests/golden/platform-params.df own.df
cp "$DF_SOURCE"/tests/golden/lib/params.df .
cat > plain.df <<'X'
param n = 8 dynamic;
kernel make(out a: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) a[i] = (int32_t)i; }};
kernel show(in a: i32[k]) cpu {{ printf("%d\n", a[k - 1]); }};
graph main { a: i32[n] = make(); show(a); }
X
expect own 0 '^u0 cpu host: 1 worker' "$DFC" own.df --emit=plan
expect own-link 0 '^u1 gpu g0: .*h2d 6.5 GB/s after 10 us, d2h 8 GB/s' "$DFC" own.df --emit=plan
expect own-defined 0 '^u0 cpu host: 4 workers' "$DFC" own.df --emit=plan -D W=8
expect own-link-defined 0 '^u1 gpu g0: .*h2d 9 GB/s after 10 us, d2h 9 GB/s' "$DFC" own.df --emit=plan -D rate=9
expect file 0 '^u0 cpu host: 5 workers' "$DFC" plain.df --emit=plan --platform=params.df
expect file-defined 0 '^u0 cpu host: 9 workers' "$DFC" plain.df --emit=plan --platform=params.df -D W=4
expect file-link 0 '^u1 gpu card: .*h2d 2 GB/s after 15 us' "$DFC" plain.df --emit=plan --platform=params.df -D W=4
expect file-both 0 '^u0 cpu host: 9 workers' "$DFC" plain.df --emit=plan --platform=params.df -D W=4 -D n=16
expect file-wrong-kind 1 "-D W=x: the param is an integer, but 'x' is not" "$DFC" plain.df --emit=plan --platform=params.df -D W=x
expect simulate 0 'eager' "$DFC" simulate own.df -D W=8 --policy=eager

# The program keeps its own definitions and not the platform's: it makes its graph again from them.
check program-compile "$DFC" plain.df --platform=params.df -D W=4 -D n=6 --nvcc=none -o plain
expect program 0 '^5$' ./plain
expect program-again 0 '^11$' ./plain --n=12
expect program-reads-file 0 '^11$' ./plain --n=12 --platform=params.df --policy=gp --device=none
expect compare-refuses 2 "-D W: it is a param of 'params.df', which the programs read without it" "$DFC" compare plain.df --platform=params.df -D W=4
