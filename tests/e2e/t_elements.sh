# Every element type of runtime/elements.def in a formula, a kernel in C, the readers and writers of std/, a library called from C and from Python, `dfc wrap` and
# CUDA, on the CPU and on the emulated GPU by the GPU code of formulas. values.py says what must come, without NumPy.
cp "$programs"/values.py .
elements=$(sed -n 's/^DF_ELEMENT([A-Z0-9]*, \([a-z0-9]*\),.*/\1/p' "$DF_SOURCE/runtime/elements.def")
tiff=$(sed -n 's/^kernel load_tiff_\([a-z0-9]*\)(.*/\1/p; s/^kernel load_tiff(.*/u8/p' "$DF_BUILD/share/dfc/std/tiff.df" | grep -v rgb | sort -u)
check values python3 values.py $elements
formulas_for none

kernels() { # ELEMENT: b is a + 1, made by a formula; c is b, copied in C
    echo "kernel more_$1(in a: $1[h, w], out b: $1[h, w]) { b[y, x] = $1(a[y, x] + 1); }"
    echo "kernel copy_$1(in b: $1[h, w], out c: $1[h, w]) cpu {{ for (size_t i = 0; i < h * w; i++) c[i] = b[i]; }};"
    echo "kernel row_$1(in c: $1[h, w], out d: $1[h * w]) cpu {{ for (size_t i = 0; i < h * w; i++) d[i] = c[i]; }};"
}
{ echo 'import "std/io.df";'
  for e in $elements; do kernels $e; done
  echo 'graph main {'
  for e in $elements; do
      echo "a_$e: $e[3, 5] = load_npy_${e}_2d(\"$e.npy\"); b_$e = more_$e(a_$e); c_$e = copy_$e(b_$e);"
      echo "write_npy_${e}_2d(c_$e, \"$e.out.npy\"); write_raw_${e}_2d(c_$e, \"$e.out.raw\");"
      echo "d_$e: $e[15] = row_$e(c_$e); write_csv_$e(d_$e, \"$e.out.csv\", \"\");"
      case " $(echo $tiff) " in *" $e "*) echo "write_tiff$([ $e = u8 ] || echo _$e)(c_$e, \"$e.tif\");" ;; esac
  done
  echo '}'; } > all.df
{ echo 'import "std/io.df"; graph main {'
  for e in $tiff; do
      s=$([ $e = u8 ] || echo _$e)
      echo "t_$e: $e[3, 5] = load_tiff$s(\"$e.tif\"); write_raw_${e}_2d(t_$e, \"$e.back.raw\");"
      # The same as five pixels of three channels; with other bytes first and in planes, if libtiff's tools are here, and as tiles.
      echo "c_$e: $e[1, 5, 3] = load_raw_${e}_3d(\"$e.want.raw\"); write_tiff_rgb$s(c_$e, \"$e.rgb.tif\");"
  done
  for e in $elements; do
      echo "(n_$e: i64[2, 1], r_$e: $e[2, 15]) = read_records_i64_$e(\"$e.records\", \"\"); mark_$e(n_$e); write_raw_${e}_2d(r_$e, \"$e.records.raw\");"
      echo "p_$e: $e[7] = load_raw_at_$e(\"$e.want.raw\", $(($(stat -c %s $e.want.raw) / 15 * 8))); write_raw_$e(p_$e, \"$e.part.raw\");"
  done
  echo '}'
  for e in $elements; do echo "kernel mark_$e(in n: i64[k, l]) cpu {{ if (k != 2 || l != 1 || n[0] != 7 || n[1] != 7) return df_fail(call, \"a label\"); }};"; done; } > back.df
for e in $elements; do { printf '\7\0\0\0\0\0\0\0'; cat $e.want.raw; printf '\7\0\0\0\0\0\0\0'; cat $e.want.raw; } > $e.records; cat $e.want.raw $e.want.raw > $e.twice; done
{ echo 'import "std/io.df"; graph main {'
  for e in $tiff; do
      s=$([ $e = u8 ] || echo _$e)
      echo "b_$e: $e[1, 5, 3] = load_tiff_rgb$s(\"$e.planes.tif\"); write_raw_${e}_3d(b_$e, \"$e.planes.raw\");"
      echo "(t_$e: $e[1, 5, 3], at_$e) = read_tiff_tiles_rgb$s(\"$e.planes.tif\", 0); write_tiff_tiles_rgb$s(t_$e, at_$e, \"$e.tiles.tif\");"
  done
  echo '}'; } > planes.df
[ "$(wc -w <<<"$tiff")" = "$(wc -w <<<"$elements")" ] && pass tiff-types || fail tiff-types "$tiff"
outputs() { # NAME
    local e
    for e in $elements; do
        tail -c "$(stat -c %s $e.want.raw)" $e.out.npy > $e.out.data
        grep -qaF "$(grep -aom1 "'descr': '[^']*'" $e.want.npy)" $e.out.npy && same "$1-$e-npy" $e.out.data $e.want.raw || fail "$1-$e-npy" "$(head -n1 $e.out.npy)"
        same "$1-$e-raw" $e.out.raw $e.want.raw
        same "$1-$e-csv" $e.out.csv $e.want.csv
    done
    rm -f ./*.out.*
}
check compile "$DFC" all.df --nvcc=none --no-opencl --emu-gpu-code -o all
check cpu ./all && outputs cpu
check gpu ./all --device=emu --policy=all-gpu && outputs gpu
check compile-back "$DFC" back.df --nvcc=none -o back
check back ./back && for e in $elements; do
    same "tiff-$e" $e.back.raw $e.want.raw; same "records-$e" $e.records.raw $e.twice; tail -c "$(stat -c %s $e.part.raw)" $e.want.raw >$e.tail; same "part-$e" $e.part.raw $e.tail
done
for e in $tiff; do tiffcp -B -p separate -c lzw $e.rgb.tif $e.planes.tif 2>said || cp $e.rgb.tif $e.planes.tif; done
check compile-planes "$DFC" planes.df --nvcc=none -o planes
check planes ./planes && for e in $tiff; do same "planes-$e" $e.planes.raw $e.want.raw; same "tiles-$e" $e.tiles.tif $e.rgb.tif; done

# Streams: a kernel that skips a wave, select, and an acc; each variant against the others.
if long; then
    { echo 'import "std/io.df";'
      for e in $elements; do
          kernels $e | head -n 1
          echo "kernel some_$e(in b: $e[h, w], out c: $e[h, w]) ordered cpu {{ static int wave; if (wave++ % 2) return DF_SKIP; memcpy(c, b, h * w * sizeof *b); }};"
          echo "kernel add_$e(in a: $e[h, w], acc s: $e[h, w]) { s[y, x] = $e(s[y, x] + a[y, x]); }"
          printf '%s\n' $e.npy $e.npy $e.npy >$e.txt
      done
      echo 'graph main {'
      for e in $elements; do
          echo "a_$e: $e[3, 5] = read_npy_${e}_2d(\"@$e.txt\"); b_$e = more_$e(a_$e); c_$e = some_$e(b_$e); d_$e = select(c_$e, a_$e); s_$e = add_$e(d_$e);"
          echo "write_raw_${e}_2d(s_$e, \"$e.sum\");"
      done
      echo '}'; } >stream.df
    check compile-stream "$DFC" stream.df --nvcc=none --emu-gpu-code -o stream
    for options in '' '--device=emu --policy=all-gpu --poison' '--workers=2 --policy=dmda'; do
        check "stream $options" ./stream $options && for e in $elements; do same "stream-$e $options" $e.sum $e.acc.raw; done; rm -f ./*.sum
    done
    expect stream-variants 0 'jobs of [0-9]+ kernels agree' ./stream --check=variants --device=emu
fi

# Signed files of 8 and 16 bits are also read as f32; other combinations are refused by name.
echo 'import "std/io.df"; graph main { t: f32[3, 5] = load_tiff_f32("i16.tif"); write_raw_f32_2d(t, "f.raw"); }' > f.df
check signed-as-f32 "$DFC" run f.df --nvcc=none
expect signed-as-f32-values 0 ' -32767 -32766 32767 ' sh -c 'od -A n -t fF -w60 f.raw | tr -s " "'
echo 'import "std/io.df"; graph main { t: u16[3, 5] = load_tiff_u16("i16.tif"); write_raw_u16_2d(t, "f.raw"); }' > f.df
expect signed-as-u16 1 "'i16.tif' has signed samples of 16 bits: the kernel for it is ..._i16$" "$DFC" run f.df --nvcc=none
echo 'import "std/io.df"; graph main { t: u8[3, 5] = load_tiff("u32.tif"); write_raw_u8_2d(t, "f.raw"); }' > f.df
expect u32-as-u8 1 "'u32.tif' has unsigned samples of 32 bits: the kernel for it is ..._u32$" "$DFC" run f.df --nvcc=none

# A library, called from C; and kernels made of C functions by `dfc wrap`, whose types say the elements: of 64 bits without a sign they become i64.
{ for e in $elements; do kernels $e; done
  for e in $elements; do echo "graph lib_$e(in a: $e[h, w], out c: $e[h, w]) { b = more_$e(a); c = copy_$e(b); }"; done; } > lib.df
check library "$DFC" lib.df --lib --python --nvcc=none --emu-gpu-code -o libelements.so
sed -n 's/^DF_ELEMENT([A-Z0-9]*, \([a-z0-9]*\), \([a-z0-9_]*\),.*/\1 \2/p' "$DF_SOURCE/runtime/elements.def" >types
{ echo '#include "elements.h"
#include <stdio.h>
#include <string.h>
static void read_15(const char *name, void *to, size_t bytes)
{
    FILE *f = fopen(name, "rb");
    if (!f || fseek(f, -(long)(15 * bytes), SEEK_END) || fread(to, bytes, 15, f) != 15)
        puts(name);
    fclose(f);
}
int main(int argc, char **argv)
{
    int bad = argc != 2;'
  while read -r e type; do
      echo "    { ${type/df_f16/uint16_t} a[15], c[15], want[15]; struct lib_${e}_session *s = 0; read_15(\"$e.npy\", a, sizeof *a); read_15(\"$e.want.raw\", want, sizeof *want);
      if (lib_${e}_open(argv[1], &s) || lib_${e}_run(s, a, 3, 5, c) || memcmp(c, want, sizeof c)) { bad = 1; printf(\"$e: %s\\n\", lib_${e}_error()); } lib_${e}_close(s); }"
  done <types
  echo '    return bad; }'; } >call.c
check c-compile cc -std=c11 -Wall -Wextra -Werror $(grep -oE -- '-fsanitize=[a-z]+' "$DF_BUILD/obj/flags" | head -n 1) -I"$DF_BUILD/include" call.c -o call ./libelements.so -Wl,-rpath,"$PWD"
check c-cpu ./call --workers=1
check c-gpu ./call '--device=emu --policy=all-gpu'

if "$DFC" wrap call.c 2>&1 | grep -q 'built without libdw'; then
    skip wrap 'dfc was built without libdw'
else
    { echo '#include <stdint.h>'; echo '#include <stddef.h>'
      while read -r e type; do echo "void wrap_$e(const ${type/df_f16/_Float16} *a, ${type/df_f16/_Float16} *c, size_t n) { for (size_t i = 0; i < n; i++) c[i] = a[i]; }"; done <types; } >wrapped.c
    if ! cc -c wrapped.c -o wrapped.o 2>said; then sed -i '/wrap_f16/d' wrapped.c; fi         # a compiler without _Float16
    check wrap sh -c '"$0" wrap wrapped.c -o wrapped.df && sed -i "s/inout? c/out c/" wrapped.df' "$DFC"
    { echo 'import "std/io.df"; import "wrapped.df"; graph main {'
      for e in $elements; do
          grep -q "wrap_$e(" wrapped.c && echo "a_$e: $e[15] = load_raw_$e(\"$e.want.raw\"); c_$e = wrap_$e(a_$e); write_raw_$e(c_$e, \"$e.wrapped.raw\");"
      done
      echo '}'; } >wrap.df
    check wrap-run "$DFC" run wrap.df --nvcc=none
    for e in $elements; do ! grep -q "wrap_$e(" wrapped.c || same "wrap-$e" $e.wrapped.raw $e.want.raw; done
    expect wrap-unsigned-64 0 'in a: i64\[n' sh -c 'echo "void f(const unsigned long *a, unsigned n) { (void)a; (void)n; }" >u64.c && "$0" wrap u64.c' "$DFC"
fi

# The CUDA text, by nvcc.
if long && { command -v nvcc || [ -x /usr/local/cuda/bin/nvcc ]; } >said && [ -e "$DF_BUILD/lib/libdf-cuda.a" ]; then check cuda "$DFC" all.df --gpu-arch=sm_90 -o all-cuda; fi

# Python.
python=/usr/bin/python3
if has_modules numpy; then
    expect numpy 0 '^10 types$' "$python" -c "
import numpy, elements
for e in '$(echo $elements)'.split():
    a, want = numpy.load(e + '.npy'), numpy.load(e + '.want.npy')
    for options in '', '--device=emu --policy=all-gpu':
        c = getattr(elements, 'lib_' + e).copy(options)(a)
        assert c.dtype == want.dtype and (c == want).all(), (e, c, want)
print(len('$(echo $elements)'.split()), 'types')"
else
    skip numpy 'there is no NumPy'
fi
