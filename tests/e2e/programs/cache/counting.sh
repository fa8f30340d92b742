#!/bin/sh
# nvcc, with a line in $CALLS for each file that it compiles. The first is compiled by $REAL_NVCC; later ones get the same object and the same
# list of includes, which takes no time. With $CALLS.warn there it has something to say each time.
case " $* " in *" -c "*) ;; *) exec "$REAL_NVCC" "$@" ;; esac
echo "$*" >>"$CALLS"
[ ! -e "$CALLS.warn" ] || echo "vec.cu(1): warning: as was asked for" >&2
last=
for word; do
    case $last in -o) object=$word ;; -MF) list=$word ;; esac
    last=$word
done
work=$(dirname "$object")
if [ ! -e "$CALLS.o" ]; then
    "$REAL_NVCC" "$@" || exit
    cp "$object" "$CALLS.o" && sed "s|$work/|@/|g" "$list" >"$CALLS.list"
    exit
fi
cp "$CALLS.o" "$object"
[ -z "$list" ] || sed "s|@/|$work/|g" "$CALLS.list" >"$list"
