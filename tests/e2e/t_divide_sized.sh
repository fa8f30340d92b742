# Programs with dynamic params and libraries divide nodes when they know their sizes, as dfc does for the same sizes: for the machine of the run.
formulas_for none
export NVCC=none DFC_PROFILE=$PWD/profile.db
programs=$DF_SOURCE/tests/e2e/programs
check compiles "$DFC" "$programs/divide/sized.df" -o sized
check compiles-whole "$DFC" "$programs/divide/sized.df" --parts=1 -o whole
for n in 1 200 2000; do ./whole --rows=$n --waves=3 --device=none --workers=1 >want-$n; done

divided() { # NAME LINE ROWS [OPTION…]: what the program says of it, and the bits of the undivided one
    local name=$1 line=$2 n=$3; shift 3
    ./sized --rows="$n" --log=info "$@" >got 2>said || fail "$name-runs" "$(head -2 said)"
    if [ "$line" = none ]; then expect "$name" 1 '^$' grep divided: said
    else expect "$name" 0 "^sized: divided: main/near in $line" cat said; fi
    ./sized --rows="$n" --waves=3 "$@" >got 2>said
    same "$name-bits" got want-"$n"
}
workers=", for the CPU workers: a wave takes "
divided as-made none 1 --device=none --workers=2
divided workers-2 "2 parts${workers}10.003 ms in place of 20.003 ms" 200 --device=none --workers=2
divided workers-3 "3 parts${workers}6.703 ms in place of 20.003 ms" 200 --device=none --workers=3
divided worker none 200 --device=none --workers=1
divided shared "3 parts, by the speeds of the units \(66.6 : 16.7 : 16.7 %\): " 200 --device=emu --emu-all --workers=2
divided memory "[0-9]* parts, because a job does not fit in a device's memory: " 2000 --device=emu --emu-all --gpu-mem=128KiB --workers=1
# Which nodes are divided is decided by who makes the program, if he says it.
expect said-one 1 '^$' bash -c './whole --rows=200 --device=none --workers=2 --log=info 2>&1 >got | grep divided:'
# Several processes, and runs that another one goes on with, need the same graph on every machine.
expect resumed 1 '^$' bash -c './sized --rows=200 --device=none --workers=2 --log=info --journal=j --waves=3 2>&1 >got | grep divided:'
same resumed-bits got want-200
# For the sizes that it is made with, dfc decides: the program has the parts, whatever machine it runs on.
check made-large "$DFC" "$programs/divide/sized.df" -D rows=200 --device=none -o large
expect large 0 'near *cpu *2 ' bash -c './large --device=none --workers=1 --stats 2>&1 >got'
./large --device=none --waves=3 >got
same large-bits got want-200
./large --rows=2000 --device=none --waves=3 >got
same large-again got want-2000
# The same line from dfc.
expect dfc-says 0 "^divided: main/near in 2 parts${workers}10.003 ms in place of 20.003 ms" "$DFC" explain "$programs/divide/sized.df" -D rows=200 --device=none
expect dfc-says-call 0 "^divided: main/nears/near in 2 parts${workers}10 ms in place of 20 ms" \
    "$DFC" explain "$programs/divide/sized.df" --graph=nears:y=200,x=16 --device=none

# An acc whose parts leave the device while others are changed. It depends on the number of waves, which the run knows.
sed 's/param size = 256/param size = 64 dynamic/
     s/^kernel load.*/kernel load(out p: f32[v, u]) cpu {{ for (size_t i = 0; i < v * u; i++) p[i] = (float)(i % 9); }} cost cpu 1us;/
     s/^kernel back.*/kernel back(in p: f32[v, u], acc vol: f32[z, y, x] split z) cpu {{ for (size_t i = 0; i < z * y * x; i++) vol[i] += p[0]; }} cost cpu 100ms gpu (1ms * z \/ 256);/
     s/^kernel save.*/kernel save(in vol: f32[z, y, x]) cpu {{ printf("%g\\n", vol[0]); }} cost cpu 1us;/' "$programs/volume/overlap.df" >acc.df
check acc-compiles "$DFC" -w acc.df -o acc
expect acc-waves 0 '^acc: divided: main/back in [0-9]* parts, because a part leaves its device while the next one is changed: 40 waves in 8 passes take 44.0238 ms in place of 51.5705 ms' \
    ./acc --size=256 --waves=40 --device=sim --log=info --stats
expect acc-wave 1 '^$' bash -c './acc --size=256 --waves=1 --device=sim --log=info --stats 2>&1 | grep divided:'

# A library: calls of one wave share a node; if it fits nowhere, the parts of an acc go by in passes.
python=/usr/bin/python3
if ! has_modules numpy; then skip python "$python has no NumPy (python3-numpy)"; exit 0; fi
if grep -qE 'fsanitize=' "$DF_BUILD/obj/flags"; then skip python "Python is not linked with the sanitizer"; exit 0; fi
cp "$programs/divide/sized_calls.py" "$programs/volume/called.py" .
check lib-compiles "$DFC" "$programs/divide/sized.df" --lib --python -o libsized.so
for options in "--device=emu --emu-all --workers=2" "--device=emu --emu-all --gpu-mem=32KiB --policy=eager"; do
    check "lib $options" timeout 150 "$python" sized_calls.py "$options"
done
expect lib-says 0 "divided: main/nears/near in 2 parts${workers}10 ms in place of 20 ms" timeout 150 "$python" sized_calls.py "--device=none --workers=2 --log=info"
check lib-acc-compiles "$DFC" "$programs/volume/called.df" --lib --python -o libvolume.so
timeout 150 "$python" called.py 5 "--device=emu --emu-all --gpu-mem=272KiB --log=info" >got 2>&1; rc=$?
said() { cat got; return $rc; }
expect lib-acc 0 ': 5 99 ' said
expect lib-acc-says 0 "divided: main/volume/back in 10 parts, because a job does not fit in a device's memory: .*; undivided it fits nowhere" said
