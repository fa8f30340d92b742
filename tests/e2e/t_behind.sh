# A chain of 300 jobs comes to a GPU in batches, each of which is launched behind the one before: the GPU never waits for the host between two.
: >none.cu
cp "$programs/line300.df" "$programs/step.c" .
check compile "$DFC" line300.df -o line300 --nvcc=none
seq 307 318 >want
for set in --cuda-graphs=on --cuda-graphs=off; do
    ./line300 --device=emu --policy=all-gpu --waves=12 --inflight=1 --gpu-jobs=1 $set --trace=t.json >got
    same "result $set" got want
    check "no-batch-is-late $set" python3 "$DF_SOURCE/tests/gaps.py" t.json
done
