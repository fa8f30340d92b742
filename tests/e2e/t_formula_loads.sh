# How much global memory the GPU code of fused groups uses: the emulated GPU counts each load and store (tests/formula/loads.sh).
formulas_for none                              # the emulated GPU counts the same at any level
"$DF_SOURCE/tests/formula/loads.sh" "$DF_BUILD" >lines 2>&1
# Loads and stores together are at most 1.5 times the elements of the graph's inputs and outputs, operations at most 30 % more than those of whole planes.
is() { expect "$1" 0 "^$1: $2$" cat lines; }
is harris 'launches 1, loads 320032, stores 262144, of inputs and outputs 1.10, operations beyond 2.8 %'
is unsharp 'launches 1, loads 946944, stores 786432, of inputs and outputs 1.09, operations beyond 2.4 %'
is camera 'launches 1, loads 715712, stores 786432, of inputs and outputs 1.42, operations beyond 17.8 %'
is canny 'launches 1, loads 315520, stores 262144, of inputs and outputs 1.10, operations beyond 3.9 %'

# Kernels alone: an element of a sum over 9 is loaded 9 times.
cat >alone.df <<'X'
kernel start(out a: i32[h, w]) { a[y, x] = y * x; }
kernel nine(in a: i32[h, w] border clamp, out s: i32[h, w]) { s[y, x] = sum(j in -1..2: sum(i in -1..2: a[y + j, x + i])); }
kernel hash(in s: i32[h, w]) cpu {{ printf("%d\n", s[h * w - 1]); }};
graph main { a: i32[30, 50] = start(); s = nine(a); hash(s); }
X
check alone-compile "$DFC" alone.df -o alone --emu-gpu-code --nvcc=none --no-opencl --no-fuse -O1 -w --cflags=-DDF_COUNT_LOADS
expect alone 0 '^df_kernel_nine_0: launches 3, loads 40500, stores 4500$' ./alone --waves=3 --device=emu --policy=all-gpu

# Each of 8 tiles of 8 by 8 copies a table of up to 1 KiB; a larger one is read where it is, four times for each of the 595 elements that they compute.
cat >table.df <<'X'
param n = 200 dynamic;
kernel start(out a: i32[h, w]) { a[y, x] = y * w + x; }
kernel levels(out t: i32[n]) { t[i] = 3 * i; }
kernel look(in a: i32[h, w] border clamp, in t: i32[n] border clamp, out b: i32[h, w]) { b[y, x] = t[a[y, x] & 63] + t[a[y, x] & 31] + t[a[y, x + 1] & 127] + t[a[y, x + 2] & 15]; }
kernel steep(in b: i32[h, w] border clamp, out c: i32[h, w]) { c[y, x] = b[y + 1, x] - b[y, x] + b[y, x + 1]; }
kernel hash(in c: i32[h, w]) cpu {{ printf("%d\n", c[h * w / 2]); }};
graph main { a: i32[16, 32] = start(); t: i32[n] = levels(); b = look(a, t); c = steep(b); hash(c); }
X
check table-compile "$DFC" table.df -o table --emu-gpu-code --nvcc=none --no-opencl -O1 -w --gpu-tile=8x8 --cflags=-DDF_COUNT_LOADS
for n in 200:1600 256:2048 257:2380; do
    expect "table-$n" 0 "^df_kernel_df_group0_start_look_steep_0: launches 1, loads ${n#*:}, stores 512$" ./table --n="${n%:*}" --device=emu --policy=all-gpu
done
