# DF_SKIP and select, in the shape of NBIA: tiles that are not sure at one resolution go on to the next finer one. The counts of each level
# are exact, and results come in order, in every loop and under every policy.
cp "$programs"/nbia.* .
: >none.cu
check compile "$DFC" nbia.df -o nbia --nvcc=none
./nbia --device=none --waves=300 --workers=1 --print=1 >want
[ "$(tail -n 1 want)" = '253 41 5 right' ] && pass counts || fail counts "$(tail -n 1 want)"
for set in --workers=1 '--workers=1 --inflight=1' --workers=3 '--workers=3 --policy=ws' '--workers=2 --inflight=1' --serial --poison '--workers=2 --trace=t.json'; do
    # shellcheck disable=SC2086
    timeout 60 ./nbia --device=none --waves=300 --print=1 $set >got 2>err
    same "$set" got want
done
# On an emulated device, under every policy: with little memory, launched ahead, replayed, stirred.
tail -n 1 want >counts
for policy in eager ddfcfs ddwrr random ws dmda dmdas dmdar pats padas pams heft peft gp-thesis gp all-cpu all-gpu; do
    for set in '--emu-all --gpu-mem=32KiB' 'DF_EMU_TRIAL=reorder=5 --emu-all --gpu-jobs=3'; do
        # shellcheck disable=SC2086
        timeout 60 env ${set%%--*} ./nbia --device=emu --workers=2 --waves=300 --policy=$policy --${set#*--} >got 2>err
        cmp -s got counts || fail "$policy $set" "$(tail -n 2 got err)"
    done
    pass "$policy on a device"
done
for set in '--serial' '--policy=all-gpu --cuda-graphs=on --inflight=1' '--policy=all-gpu --poison' '--sync-kernels' '--check=variants'; do
    # shellcheck disable=SC2086
    timeout 60 ./nbia --device=emu --waves=300 $set >got 2>err
    same "device $set" got counts
done

# What sinks and ordered nodes got. The tiles of which no level was sure are empty.
./nbia --device=none --waves=300 --stats=json --stats-file=/dev/stderr 2>&1 >/dev/null | grep -o '"sinks": [^]]*]' >got
echo '"sinks": [{"name": "main/report", "waves": 299, "empty": 1}]' >want
same sinks-json got want
./nbia --device=none --waves=300 --stats 2>&1 >/dev/null | grep -A1 '^sink or ordered' | tr -s ' ' >got
printf '%s\n' 'sink or ordered waves empty' 'main/report 299 1' >want
same sinks-text got want

# The example of docs/language.md.
awk '/^```skip$/ { on = 1; next } /^```/ { on = 0 } on' "$DF_SOURCE/docs/language.md" >example.df
check example "$DFC" example.df -o example
./example --waves=8 --workers=2 >got
printf '%s\n' '0: 1' '1: 1' '2: 1' '3: 103' '4: 1' '5: 1' '6: 1' '7: 107' >want
same example-prints got want
