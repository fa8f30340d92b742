# --checkpoint: a resumed run begins its accs with what the last checkpoint has, and computes no wave before it again. It begins with the first wave if
# there is none, or if it is damaged. What is counted is how often a kernel was called.
formulas_for none
cp "$programs"/accs.df . && check compile "$DFC" accs.df --nvcc=none -o accs
[ -e accs ] || return 0
mkdir want && touch want/go-60 want/go-140 && (cd want && ../accs)
cp "$DF_SOURCE"/tests/e2e/programs/resume/{declared.df,keeps.df,kernels.c} . && check compile-keeps "$DFC" keeps.df --nvcc=none -o keeps
nap 0
until_there() { for ((times = 0; times < 3000; times++)); do [ -e "$1" ] && return; nap 0.01; done; fail until-there "$1: $(cat errors)"; }
waves_of() { head -n 1 accs.journal.accs | grep -a -oE 'waves [0-9]+' | cut -d' ' -f2; }
done_of() { grep '^done' accs.journal | tail -n 1 | cut -d' ' -f2; }
# goes_on NAME FIRST OPTION…: the resumed run calls `slow` for the waves from FIRST on, and the result is that of one run.
goes_on() {
    local name=$1 first=$2; shift 2
    rm -f calls; touch go-60 go-140
    check "$name-runs" ./accs --us=2000 --resume "$@"
    if [ "$(sort -n calls | head -n 1)" = "$first" ] && [ "$(wc -l <calls)" = $((200 - first)) ]; then pass "$name-calls"
    else fail "$name-calls" "$(wc -l <calls) from $(sort -n calls | head -n 1) on, not from $first"; fi
    same "$name-result" result.raw want/result.raw
    same "$name-waves" so_far.raw want/so_far.raw
    [ -n "$(ls accs.journal.accs* 2>/dev/null)" ] && fail "$name-removed" "$(ls accs.journal.accs*)" || pass "$name-removed"
    rm -f accs.journal* result.raw so_far.raw go-60 go-140
}
# killed OPTION…: a run that is killed after a checkpoint. It waits in wave 60.
killed() {
    ./accs --us=2000 --resume --checkpoint=1ms "$@" 2>errors & until_there accs.journal.accs
    kill -9 $!; wait $! 2>/dev/null
    [ ! -e result.raw ] || fail killed 'it has ended before'
}
killed; goes_on killed "$(waves_of)"
killed; goes_on killed-again "$(waves_of)" --workers=1 --policy=eager
killed; goes_on device "$(waves_of)" --device=emu --emu-all --policy=all-gpu
# What a device has changed: it is fetched, and the next wave goes on there. Another run goes on anywhere.
killed --device=emu --emu-all --policy=all-gpu; goes_on from-device "$(waves_of)"
killed --device=emu --emu-all --policy=all-gpu; goes_on device-again "$(waves_of)" --device=emu --emu-all --policy=all-gpu
# Accs on the host, on a device with memory of its own, and on one that uses the host's.
echo "platform both { cpu host { workers = 2; } gpu a { unified = 1; } gpu b { h2d = 2 GB/s, 5 us; d2h = 2 GB/s, 5 us; } }" >both.df
killed --device=emu --emu-all --policy=random --platform=both.df; goes_on from-both "$(waves_of)" --device=emu --emu-all --policy=random --platform=both.df
killed; printf 'x' | dd of=accs.journal.accs bs=1 seek=200 conv=notrunc 2>/dev/null; goes_on damaged 0
killed; rm accs.journal.accs; goes_on removed 0
killed; echo half >accs.journal.accs.part; goes_on half-written "$(waves_of)" # killed while it was written, and no other is written
# Twice.
killed; first=$(waves_of); rm -f calls errors; touch go-60
./accs --us=2000 --resume --checkpoint=1ms 2>errors & for _ in $(seq 3000); do [ "$(waves_of)" = "$first" ] || break; sleep 0.01; done
kill -9 $!; wait $! 2>/dev/null
[ "$(waves_of)" -gt "$first" ] && pass later || fail later "$first and $(waves_of) waves: $(cat errors)"
expect told 0 "^accs: the accs are as they were after $first waves$" cat errors
goes_on twice "$(waves_of)"
# A signal: the checkpoint has all that is done.
./accs --us=2000 --resume 2>errors & until_line '^done' accs.journal
kill -TERM $!; touch go-60; wait $!; got=$?
[ $got = 75 ] && [ "$(waves_of)" = "$(done_of)" ] && pass signal || fail signal "exit $got, $(waves_of) and $(done_of) waves: $(cat errors)"
goes_on signalled "$(waves_of)"
# A checkpoint of a run before the journal is not taken.
killed; rm accs.journal; goes_on other-journal 0
# An ordered kernel of its own keeps what nobody can write down.
head -c 40 accs >in.raw && check keeps ./keeps --input=in.raw --journal --checkpoint=1ms
[ ! -e keeps.journal.accs ] && pass none-written || fail none-written "$(ls ./*.accs)"
# A signal, with accs on a device: they are fetched, and the checkpoint has all that is done.
./accs --us=2000 --resume --device=emu --emu-all --policy=all-gpu 2>errors & until_line '^done' accs.journal
kill -TERM $!; touch go-60; wait $!; got=$?
[ $got = 75 ] && [ "$(waves_of)" = "$(done_of)" ] && pass signal-device || fail signal-device "exit $got, $(waves_of) and $(done_of) waves: $(cat errors)"
goes_on signalled-device "$(waves_of)"
expect alone 2 'error: --checkpoint: it is for runs with --journal or --resume' ./accs --checkpoint=5s
expect no-time 2 "error: --checkpoint=now: a time is expected, such as 500ms, 30s or 2min" ./accs --journal --checkpoint=now
# What a node makes that has accs is needed in each wave by one that keeps something: these accs begin with wave 0, and the others behind the checkpoint.
sed -e 's/^import/kernel last(in s: i64[1]) ordered cpu {{ (void)s; }};\n&/' -e 's/^    r = tell/    last(so_far);\n&/' accs.df >needed.df
mkdir needed && check needed-compile "$DFC" needed.df --nvcc=none -o needed/accs
cp needed/accs accs; killed; [ "$(waves_of)" -gt 0 ] && pass needed-written || fail needed-written "$(cat errors)"; rm -f calls; touch go-60 go-140; ./accs --us=2000 --resume 2>needed-errors; same needed-result result.raw want/result.raw; same needed-waves so_far.raw want/so_far.raw
expect needed-told 0 "^accs: the accs are as they were after 0 to [0-9]+ waves$" cat needed-errors
