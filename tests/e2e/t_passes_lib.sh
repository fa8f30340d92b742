# A library whose results are parts of an acc: calls of several lengths, in passes that read the caller's arrays again; and in one pass what has to be kept.
python=/usr/bin/python3
if ! has_modules numpy; then skip python "$python has no NumPy (python3-numpy)"; exit 0; fi
# Python is not linked with a sanitizer, but that for threads works if its library is loaded before all else.
case $(grep -oE 'fsanitize=[a-z]+' "$DF_BUILD/obj/flags" | head -n 1) in
    '') run=(timeout 150 "$python"); slowed= ;;
    *thread) slowed=yes; run=(timeout 250 env LD_PRELOAD="$(cc -print-file-name=libtsan.so)" "$python") ;;
    *) skip python "Python is not linked with the sanitizer"; exit 0 ;;
esac
formulas_for none
export NVCC=none
programs=$DF_SOURCE/tests/e2e/programs/volume
cp "$programs/called.py" .
"$DFC" "$programs/called.df" --lib --python --parts=8 -o libvolume.so
# called NAME OPTIONS…: calls with each text of options, in four passes
called() {
    local name=$1 options; shift
    "${run[@]}" called.py 4 "$@" >said 2>err
    for options; do expect "$name $options" 0 "^$options: 4 99 " cat said err; done
}
little='--device=emu --emu-all --gpu-mem=272KiB' bytes=()
[ "$slowed" ] || bytes=("$little --policy=gp --guard=off")
called calls "--device=none --workers=1 --passes=4" "--device=none --workers=2 --policy=eager --passes=4" "$little" "$little --policy=eager --inflight=2" "${bytes[@]}"
# 33 of 37 projections of 4 KiB go there in each pass, and the volume comes back once. (gp's monitor, which is off here, gives jobs
# of a slowed program away.)
[ "$slowed" ] || expect bytes 0 'guard=off: 4 99 \[\(540672, 1048576\)\]$' cat said
# What a kernel in order makes is kept in memory of the session, in calls of several lengths. It is made there, so it is not copied.
"$DFC" "$programs/called.df" --lib --python --parts=8 -D ordered=1 -o libvolume.so
one=(); ! long || one=("--device=none --workers=1 --passes=4" "$little")
called kept "${one[@]}" "--device=none --workers=2 --policy=eager --passes=4" "$little --policy=gp --inflight=3"
expect kept-quiet 1 '^$' grep 'in each wave' said err
