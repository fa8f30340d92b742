# Less GPU memory than is needed, down to one job's and one byte below: tests/random/room.py on DF_ROOM_GRAPHS (default 3) random graphs.
# make check-long has 1,000, and the examples.
cc -c -I "$DF_BUILD/include" -o kernels.o "$DF_SOURCE/tests/random/kernels.c"
python3 "$DF_SOURCE/tests/random/room.py" "$DFC" kernels.o "$DF_SOURCE/tests/random/kernels.cu" --graphs="${DF_ROOM_GRAPHS:-3}" \
    --keep="$PWD/failed" || failures=1
