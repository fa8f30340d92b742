#!/usr/bin/env bash
# loads.sh BUILDDIR [OPTIONS…] - how much global memory the GPU code of four filters of examples/filters/ uses: harris, unsharp, camera, and canny without its
# last kernel, which is no formula. Each graph is compiled as code for GPUs with OPTIONS of dfc, and computes one picture on the emulated GPU, which counts
# (DF_COUNT_LOADS in runtime/df_formula_gpu.h). It fails if the result has other bits than that of the CPU's code.
#
# Prints a line for each: launches per wave; elements that were loaded and stored; these together, by the elements of the graph's inputs and outputs; and in
# per cent the operations beyond those of whole planes.
set -u
filters=$(cd "$(dirname "$0")/../../examples/filters" && pwd)
dfc=$(cd "$1" && pwd)/bin/dfc
shift
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

graphs() { # FILTER: its graphs, without files and main
    sed '/^graph main/,$d; /^import/d; /^arg .*put:/d; /^kernel follow/d; /o = follow(e)/d; s/out o: u8\[n, m\]; low/out e: u8[n, m]; low/' "$filters/$1.df"
}

indices() { # TYPE[a, b]: h, w, or n, h, w
    case $1 in *,*,*) echo 'n, h, w' ;; *) echo 'h, w' ;; esac
}

program() { # FILTER INPUT OUTPUT SCALARS
    local in out
    in=$(indices "$2") out=$(indices "$3")
    graphs "$1"
    echo "kernel start(out i: ${2%%[*}[$in]) cpu {{ for (size_t k = 0; k < ${in//,/ *}; k++) i[k] = (k * 2654435761u >> 7) % 250; }};"
    echo "kernel hash(in r: ${3%%[*}[$out]) cpu {{
    const unsigned char *bytes = (const void *)r;
    uint64_t sum = 0;
    for (size_t k = 0; k < ${out//,/ *} * sizeof *r; k++)
        sum = sum * 31 + bytes[k];
    printf(\"%016llx\\n\", (unsigned long long)sum);
}};"
    echo "graph main { i: $2 = start(); r = $1(i$4); hash(r); }"
}

measure() { # FILTER INPUT OUTPUT SCALARS ELEMENTS-OF-BOTH
    program "$1" "$2" "$3" "$4" >"$1.df"
    "$dfc" "$1.df" -o "$1" --emu-gpu-code --nvcc=none --no-opencl -O1 -w --cflags=-DDF_COUNT_LOADS "${options[@]}" >log 2>&1 || { cat log; exit 1; }
    if ! "./$1" --device=none >want 2>/dev/null || ! "./$1" --device=emu --policy=all-gpu >got 2>counts || ! cmp -s want got; then
        echo "$1: not the bits of the CPU"
        exit 1
    fi
    awk -v name="$1" -v both="$5" '
        /: launches/ && !/^df_kernel_curve/ { gsub(/,/, ""); launches += $3; loads += $5; stores += $7 }
        /: computed/ { sub(/.*: computed/, ""); gsub(/,/, ""); done += $1 * $5; whole += $3 * $5 }
        END { printf "%s: launches %d, loads %d, stores %d, of inputs and outputs %.2f, operations beyond %.1f %%\n", name, launches, loads, stores, (loads + stores) / both, 100 * (done / whole - 1) }' counts
}

options=("$@")
measure harris 'f32[516, 516]' 'f32[512, 512]' '' $((516 * 516 + 512 * 512))
measure unsharp 'f32[3, 516, 516]' 'f32[3, 512, 512]' '' $((3 * (516 * 516 + 512 * 512)))
measure camera 'u16[524, 524]' 'u8[512, 512, 3]' '' $((524 * 524 + 3 * 512 * 512))
measure canny 'u8[512, 512]' 'u8[512, 512]' ', low, high' $((2 * 512 * 512))
