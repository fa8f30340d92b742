# Every element type of runtime/elements.def in a formula, a kernel in C, the readers and writers of std/, a library and Python, on the CPU and on the
# emulated GPU by the GPU code of formulas. values.py says what must come, without NumPy.
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
      [ $e = f16 ] || echo "d_$e: $e[15] = row_$e(c_$e); write_csv_$e(d_$e, \"$e.out.csv\", \"\");"
      case " $(echo $tiff) " in *" $e "*) echo "write_tiff$([ $e = u8 ] || echo _$e)(c_$e, \"$e.tif\");" ;; esac
  done
  echo '}'; } > all.df
{ echo 'import "std/io.df"; graph main {'
  for e in $tiff; do
      s=$([ $e = u8 ] || echo _$e)
      echo "t_$e: $e[3, 5] = load_tiff$s(\"$e.tif\"); write_raw_${e}_2d(t_$e, \"$e.back.raw\");"
  done
  echo '}'; } > back.df
grep -q . <<<"$tiff" && [ "$(wc -w <<<"$tiff")" -ge 7 ] && pass tiff-types || fail tiff-types "$tiff"
outputs() { # NAME
    local e
    for e in $elements; do
        tail -c "$(stat -c %s $e.want.raw)" $e.out.npy > $e.out.data
        grep -qaF "$(grep -aom1 "'descr': '[^']*'" $e.want.npy)" $e.out.npy && same "$1-$e-npy" $e.out.data $e.want.raw || fail "$1-$e-npy" "$(head -n1 $e.out.npy)"
        same "$1-$e-raw" $e.out.raw $e.want.raw
        [ $e = f16 ] || same "$1-$e-csv" $e.out.csv $e.want.csv
    done
    rm -f ./*.out.*
}
check compile "$DFC" all.df --nvcc=none --emu-gpu-code -o all
check cpu ./all && outputs cpu
check gpu ./all --device=emu --policy=all-gpu && outputs gpu
check compile-back "$DFC" back.df --nvcc=none -o back
check back ./back && for e in $tiff; do same "tiff-$e" $e.back.raw $e.want.raw; done

# Signed files of 8 and 16 bits are also read as f32; other combinations are refused by name.
echo 'import "std/io.df"; graph main { t: f32[3, 5] = load_tiff_f32("i16.tif"); write_raw_f32_2d(t, "f.raw"); }' > f.df
check signed-as-f32 "$DFC" run f.df --nvcc=none
expect signed-as-f32-values 0 ' -32767 -32766 32767 ' sh -c 'od -A n -t fF -w60 f.raw | tr -s " "'
echo 'import "std/io.df"; graph main { t: u16[3, 5] = load_tiff_u16("i16.tif"); write_raw_u16_2d(t, "f.raw"); }' > f.df
expect signed-as-u16 1 "'i16.tif' has signed samples of 16 bits: the kernel for it is ..._i16$" "$DFC" run f.df --nvcc=none
echo 'import "std/io.df"; graph main { t: u8[3, 5] = load_tiff("u32.tif"); write_raw_u8_2d(t, "f.raw"); }' > f.df
expect u32-as-u8 1 "'u32.tif' has unsigned samples of 32 bits: the kernel for it is ..._u32$" "$DFC" run f.df --nvcc=none

# A library, and Python.
python=/usr/bin/python3
if "$python" -c 'import numpy' 2>/dev/null; then
    { for e in $elements; do kernels $e; done
      for e in $elements; do echo "graph lib_$e(in a: $e[h, w], out c: $e[h, w]) { b = more_$e(a); c = copy_$e(b); }"; done; } > lib.df
    check library "$DFC" lib.df --lib --python --nvcc=none -o libelements.so
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
