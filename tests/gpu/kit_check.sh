#!/usr/bin/env bash
# May this folder be carried? kit_check.sh KIT. It is at most 40 MiB; every program and library in it needs glibc 2.34 at most and nothing but glibc
# that is not in lib/; none names a folder of this machine, CUDA's libraries, OpenBLAS or the C++ runtime.
set -u
kit=$(realpath "$1") bad=0
error() { echo "gpu-kit: error: $1" >&2; bad=1; }
files=$(find "$kit" -type f | while read -r f; do IFS= LC_ALL=C read -rd '' -n 4 magic <"$f"; [ "$magic" != $'\x7fELF' ] || echo "$f"; done)
[ -n "$files" ] || error "there is no program in $kit"
# Of each file a line: the newest glibc that it needs, what it looks for where, whether it has sections for debuggers, and what it needs.
# shellcheck disable=SC2086
while IFS=$'\t' read -r f newest path stripped all_needed; do
    name=${f#"$kit"/}
    [ "$newest" -le 34 ] ||
        error "$name needs 2.$newest: $(objdump -T "$f" | awk -v v="(GLIBC_2.$newest)" 'index($0, v) { print $NF }' | head -n 3 | tr '\n' ' ')"
    for needed in $all_needed; do
        case $needed in libc.so.6 | libm.so.6 | libdl.so.2 | librt.so.1 | libpthread.so.0 | ld-linux-x86-64.so.2) continue ;; esac
        [ -e "$kit/lib/$needed" ] || error "$name needs $needed, which is not in lib/"
    done
    [ "$path" = - ] || error "$name looks for libraries in $path"
    [ "$stripped" = yes ] || error "$name is not stripped"
done < <(readelf -dSVW $files /dev/null 2>/dev/null | awk '
    function out() { if (f) print f "\t" newest + 0 "\t" (path ? path : "-") "\t" stripped "\t" needed; newest = path = needed = ""; stripped = "yes" }
    /^File: / { out(); f = substr($0, 7); next }
    /Name: GLIBC_2\.[0-9]+/ && match($0, /GLIBC_2\.[0-9]+/) { v = substr($0, RSTART + 8, RLENGTH - 8) + 0; if (v > newest) newest = v }
    / \.(symtab|debug_info) / { stripped = "no" }
    /\((NEEDED|RPATH|RUNPATH)\)/ && match($0, /\[.*\]/) {
        value = substr($0, RSTART + 1, RLENGTH - 2)
        if (/\(NEEDED\)/) needed = needed " " value
        else { n = split(value, folders, ":"); for (i = 1; i <= n; i++) if (folders[i] !~ /^\$ORIGIN\//) path = path (path ? " " : "") folders[i] }
    }
    END { out() }')
for l in "$kit"/lib/*; do case ${l##*/} in libcuda* | libcu[bfrs]* | libopenblas* | libstdc++* | libgcc_s* | libgfortran*) error "${l##*/} is in lib/" ;; esac; done
size=$(du -sk "$kit" | cut -f1)
[ "$size" -le 40960 ] || error "$size KiB are more than 40 MiB"
[ $bad = 0 ] && echo "$kit: $((size / 1024)) MiB, $(wc -w <<<"$files") programs and libraries, for glibc 2.34 or newer"
exit $bad
