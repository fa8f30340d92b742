# DF_SKIP and select, in the shape of NBIA: tiles that are not sure at one resolution go on to the next finer one. The counts of each level
# are exact, and results come in order, in every loop and under every policy.
cp "$programs"/nbia.* .
: >none.cu
check compile "$DFC" nbia.df -o nbia --nvcc=none
./nbia --device=none --waves=2000 --workers=1 --print=1 >want
[ "$(tail -n 1 want)" = '1675 266 59 right' ] && pass counts || fail counts "$(tail -n 1 want)"
for set in --workers=1 '--workers=1 --inflight=1' --workers=3 '--workers=3 --policy=ws' '--workers=2 --inflight=1' --serial --poison '--workers=2 --trace=t.json'; do
    # shellcheck disable=SC2086
    timeout 60 ./nbia --device=none --waves=2000 --print=1 $set >got 2>err
    same "$set" got want
done

# The example of docs/language.md.
awk '/^```skip$/ { on = 1; next } /^```/ { on = 0 } on' "$DF_SOURCE/docs/language.md" >example.df
check example "$DFC" example.df -o example
./example --waves=8 --workers=2 >got
printf '%s\n' '0: 1' '1: 1' '2: 1' '3: 103' '4: 1' '5: 1' '6: 1' '7: 107' >want
same example-prints got want
