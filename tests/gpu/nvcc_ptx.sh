#!/bin/sh
# An nvcc for dfc that writes PTX in place of objects: without machine code, it takes half of the time. What it makes does not link. DF_NVCC is the real one.
case " $* " in *" -c "*) ;; *) exec "$DF_NVCC" "$@" ;; esac
for word; do
    shift
    case $word in -c) word=-ptx ;; -gencode=*,code=sm_*) continue ;; esac
    set -- "$@" "$word"
done
exec "$DF_NVCC" "$@"
