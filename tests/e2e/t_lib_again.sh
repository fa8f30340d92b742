# What one wave, pass or call of a session leaves for the next: empty tokens in a place in flight, calls that fail, waves that go by several times.
sanitize=$(grep -oE -- '-fsanitize=[a-z]+' "$DF_BUILD/obj/flags" | head -n 1)
formulas_for none
cp "$programs"/* .
check library "$DFC" again.df --nvcc=none --lib -o libagain.so
# shellcheck disable=SC2046,SC2086
check compiles cc -std=c11 -Wall -Wextra -Werror $sanitize again.c -o again -Wl,-rpath,"$PWD" $(PKG_CONFIG_PATH=$PWD pkg-config --cflags --libs again)
quiet() { expect "$1 $2" 0 '^$' timeout 150 ./again "$1" "$2"; }
for o in '--device=none --policy=eager --workers=2' '--device=none --policy=heft --workers=2 --inflight=3' '--device=none --workers=1' \
    '--device=none --workers=2 --poison' '--device=emu --emu-all --policy=dmda' '--device=emu --emu-all --policy=gp --inflight=2'; do
    quiet lost "$o"
done
for o in '--device=none --workers=1' '--device=none --workers=2 --policy=eager' '--device=emu' '--device=emu --emu-all --pin=on' '--device=emu --emu-all --pin=off'; do
    quiet fails "$o"
done
for o in '--device=none --workers=2 --passes=2' '--device=none --workers=1 --passes=3' '--device=none --workers=2 --passes=2 --policy=eager' \
    '--device=emu --emu-all --passes=2'; do
    quiet bounded "$o"
    quiet several "$o"
done
quiet several '--device=emu --emu-all --gpu-mem=8KiB'
# What fails in a later pass is named with its wave.
for n in 9:0 24:1 25:2; do
    expect "wave ${n#*:} of a later pass" 0 "^-5 several: node 'main/several/add.part\[2\]', wave ${n#*:}: emu0: launch ${n%:*} failed" \
        env "DF_EMU_TRIAL=fail=launch:${n%:*}" timeout 150 ./again several '--device=emu --emu-all --passes=2 --policy=all-gpu --inflight=1'
done

# A unified device has no copies to end, and the call of a session waits until it has none.
echo 'platform unified { cpu host { workers = 2; } gpu a { unified = 1; } }' >unified.df
for g in lost fails bounded several; do quiet $g '--device=emu --emu-all --platform=unified.df --policy=all-gpu'; done

# --poison finds results that nothing has written.
for w in 0 1 2 3 4; do echo "-6 forgets_it: node 'main/forgets_it/forgets', wave $w: nothing has written output 'b': it has only what --poison fills memory with"; done >want
sed -i "1i -6 forgets_it: node 'main/forgets_it/last', wave 5: nothing has written output 'u': it has only what --poison fills memory with" want
for o in '--device=none --workers=1' '--device=none --workers=2 --policy=eager' '--device=emu --emu-all --policy=all-gpu' '--device=emu --emu-all --policy=dmda --inflight=1'; do
    ./again forgets "$o --poison" >got; same "unwritten $o" got want
    quiet forgets "$o"
    quiet lost "$o --poison"
    quiet fails "$o --poison"
done
