# examples/nbia: features and classes against direct loops in double precision, fused and unfused, on the cpu and the emulated GPU, with
# memory for one job. check.sh of the example tries every policy, and code that is optimised.
nbia=$DF_SOURCE/examples/nbia
formulas_for none
tile=64 little=$((64 * 64 * 10 + 20480))
cc -std=c11 -o synthetic "$nbia/synthetic.c" -lpng -ltiff -lm
cc -std=c11 -ffp-contract=off -o oracle "$nbia/check.c" -lpng -lm
./synthetic 320 300 $tile 1 learn.png learn.raw
./synthetic 300 280 $tile 2 slide.png slide.raw
check compile-train "$DFC" "$nbia/train.df" --nvcc=none -D tile=$tile -o train
check compile "$DFC" "$nbia/nbia.df" --nvcc=none -D tile=$tile -o nbia
check compile-unfused "$DFC" "$nbia/nbia.df" --nvcc=none --no-fuse -D tile=$tile -o unfused
check train ./train --input=learn.png --truth=learn.raw
mkdir dumps
check all-resolutions ./unfused --rate=1 --dump='main/analyse*' --dump-dir=dumps --output=unfused.csv
check fused ./nbia --rate=1 --output=fused.csv; same fused-bits fused.csv unfused.csv
check classes ./nbia --sure=0.8
check oracle ./oracle slide.png $tile dumps model.npy classes.csv 0.8
expect looked-again 0 ' [1-9][0-9]*, [0-9]+ and [1-9][0-9]* were last looked at' ./oracle slide.png $tile dumps model.npy classes.csv 0.8
expect oracle-can-fail 1 'FAILED classes' ./oracle slide.png $tile dumps model.npy fused.csv 0.8
for set in '--policy=ws --inflight=1' '--policy=dmda --device=emu' "--policy=all-gpu --device=emu --gpu-mem=$little --inflight=8"; do
    # shellcheck disable=SC2086
    check "run $set" ./nbia --sure=0.8 --output=again.csv $set; same "same $set" again.csv classes.csv
done
expect no-model 1 "cannot open 'none.npy'|none.npy" ./nbia --model=none.npy
