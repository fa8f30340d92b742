#!/usr/bin/env bash
# May this folder be carried? kit_check.sh KIT. It is at most 40 MiB; every program and library in it needs glibc 2.34 at most and nothing but glibc
# that is not in lib/; none names a folder of this machine, CUDA's libraries, OpenBLAS or the C++ runtime.
set -u
kit=$(realpath "$1") bad=0
error() { echo "gpu-kit: error: $1" >&2; bad=1; }
files=$(find "$kit" -type f | while read -r f; do [ "$(head -c 4 "$f" | tail -c 3)" != ELF ] || echo "$f"; done)
[ -n "$files" ] || error "there is no program in $kit"
for f in $files; do
    name=${f#"$kit"/}
    newest=$(objdump -T "$f" 2>/dev/null | grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | tail -n 1)
    [ "$(printf '%s\n' "${newest:-GLIBC_2.2}" GLIBC_2.34 | sort -V | tail -n 1)" = GLIBC_2.34 ] ||
        error "$name needs ${newest#GLIBC_}: $(objdump -T "$f" | awk -v v="($newest)" 'index($0, v) { print $NF }' | head -n 3 | tr '\n' ' ')"
    for needed in $(objdump -p "$f" | awk '$1 == "NEEDED" { print $2 }'); do
        case $needed in libc.so.6 | libm.so.6 | libdl.so.2 | librt.so.1 | libpthread.so.0 | ld-linux-x86-64.so.2) continue ;; esac
        [ -e "$kit/lib/$needed" ] || error "$name needs $needed, which is not in lib/"
    done
    path=$(objdump -p "$f" | awk '$1 == "RPATH" || $1 == "RUNPATH" { print $2 }' | tr ':' '\n' | grep -v '^\$ORIGIN/')
    [ -z "$path" ] || error "$name looks for libraries in $path"
    [ -z "$(readelf -SW "$f" | grep -E ' \.(symtab|debug_info) ')" ] || error "$name is not stripped"
done
for l in "$kit"/lib/*; do case ${l##*/} in libcuda* | libcu[bfrs]* | libopenblas* | libstdc++* | libgcc_s* | libgfortran*) error "${l##*/} is in lib/" ;; esac; done
size=$(du -sk "$kit" | cut -f1)
[ "$size" -le 40960 ] || error "$size KiB are more than 40 MiB"
[ $bad = 0 ] && echo "$kit: $((size / 1024)) MiB, $(wc -w <<<"$files") programs and libraries, for glibc 2.34 or newer"
exit $bad
