# Signals: what dfc started ends with it, whatever that started in turn; nothing half-written stays, neither dfc's nor a program's.
mkdir tmp && export TMPDIR=$PWD/tmp
echo 'kernel one(out v: u8[k]) cpu {{ v[0] = 1; }}; kernel say(in v: u8[k]) cpu {{ printf("%d\n", v[0]); }};
graph main { for i in 0..400 { v[i]: u8[99] = one(); say(v[i]); } }' > app.df
check app "$DFC" app.df -o app && cp app app.copy
left() { ls -A tmp . | grep -e '^dfc-' -e '^\.dfc-' -e '\.part$'; }
within() { # within COMMAND…: it succeeds, within 100 s on a slow machine
    for _ in $(seq 2000); do "$@" && return; sleep 0.05; done
    return 1
}
# A compiler that starts another program, as gcc starts cc1, and one that pkg-config's answer needs. Each writes who it is.
printf '#!/bin/sh\nsleep 300 & echo $$ $! > pids.new; mv pids.new pids; wait\n' > tree && chmod +x tree
mkdir bin && cp tree bin/pkg-config && { echo 'link "some";'; cat app.df; } > linked.df
ended() { local pid; for pid in $(cat pids); do ! kill -0 "$pid" 2>/dev/null || return 1; done; }
# stops NAME SIGNAL STATUS COMMAND…
stops() {
    local name=$1 signal=$2 status=$3 got; shift 3
    rm -f pids
    (ulimit -c 0; exec env --default-signal=$signal "$@" > out 2>&1) & local victim=$!
    within test -e pids || fail "$name" "it did not start: $(cat out)"
    kill -$signal $victim; wait $victim 2>/dev/null; got=$?
    [ "$got" = "$status" ] && pass "$name" || fail "$name" "exit $got: $(cat out)"
    within ended && pass "$name-ends-all" || fail "$name-ends-all" "still there: $(ps -o pid,args -p "$(tr ' ' , < pids)" | tail -n 2)"
    [ -z "$(left)" ] && pass "$name-leaves-nothing" || fail "$name-leaves-nothing" "$(left)"
    kill $(cat pids) 2>/dev/null
}
stops compiler-term TERM 143 "$DFC" app.df -o app --cc=./tree
stops compiler-int INT 130 "$DFC" app.df -o app --cc=./tree
stops compiler-hup HUP 129 "$DFC" app.df -o app --cc=./tree
stops compiler-quit QUIT 131 "$DFC" app.df -o app --cc=./tree
stops pkg-config TERM 143 env PATH="$PWD/bin:$PATH" "$DFC" linked.df -o app
printf '#!/bin/sh\nfor word; do [ "$word" = -c ] && exec cc "$@"; done\nexec ./tree\n' > link-tree && chmod +x link-tree
stops linker QUIT 131 "$DFC" app.df -o app --cc=./link-tree
same keeps-the-program app app.copy
# A tool does not read dfc's input.
printf '#!/bin/sh\ncat > read.txt\nexec cc "$@"\n' > reads && chmod +x reads
echo typed | "$DFC" app.df -o app --cc=./reads 2>/dev/null
[ -e read.txt ] && [ ! -s read.txt ] && pass tool-has-no-input || fail tool-has-no-input "$(cat read.txt)"

# SIGQUIT while dfc itself writes.
(ulimit -c 0; exec env --default-signal=QUIT "$DFC" /dev/stdin --emit=ast -o never.out 2>/dev/null < <(exec sleep 100)) & victim=$!
within eval 'ls -A | grep -q "^\.dfc-"'; kill -QUIT $victim; wait $victim 2>/dev/null; got=$?
[ "$got" = 131 ] && [ -z "$(left)" ] && pass quit-emit || fail quit-emit "exit $got: $(left)"

# A file that may not grow: a program says so, and neither a trace, a dump nor samples stay half-written.
export DFC_PROFILE=$PWD/samples/profile.db
limit() { (ulimit -f 4; ulimit -c 0; exec "$@" 2>&1 >/dev/null); }
echo old > trace.json
expect limit-trace 1 "^app: error: cannot write '.*/trace.json': File too large$" limit ./app --trace=trace.json
[ "$(cat trace.json)" = old ] && pass limit-trace-keeps-the-old || fail limit-trace-keeps-the-old "$(head -c 100 trace.json)"
{ echo 'kernel big(out v: u8[k]) cpu {{ v[0] = 1; }}; graph main {'; for i in $(seq 40); do echo "_: u8[$((9000 + i))] = big();"; done; echo '}'; } > many.df
check many "$DFC" many.df -o many
expect limit-learn 1 "^many: error: cannot write '.*/samples/profile.db.learned/many-.*.jsonl': File too large$" limit ./many --learn
mkdir dumped && expect limit-dump 1 "^many: error: .*cannot write 'dumped/main.big#7.v.0.npy': " limit ./many --dump=main/big#7 --dump-dir=dumped
[ -z "$(find . -name '.dfc-*' -o -name '*.part' -o -name '*.npy' -size +0)$(ls -A samples/profile.db.learned)" ] &&
    pass limit-leaves-nothing || fail limit-leaves-nothing "$(find . -name '.dfc-*' -o -name '*.part' -o -name '*.npy')"
# Its own files are the kernel's affair: there the signal still comes.
echo 'kernel own() cpu {{ FILE *f = fopen("own.txt", "w"); for (int i = 0; i < 9999; i++) fprintf(f, "%d\n", i); fclose(f); }};
graph main { own(); }' > own.df
check own "$DFC" own.df -o own && expect limit-own-file 153 '' limit ./own

# A signal while a program writes its trace. If the test got no core in that time, the program ends by itself: then it runs again.
for signal in TERM QUIT; do
    for try in 1 2 3 4 5 6 7 8; do
        (ulimit -c 0; exec env --default-signal=$signal ./app --waves=500 --trace=long.json --learn > /dev/null 2>&1) & victim=$!
        while kill -0 $victim 2>/dev/null && [ -z "$(find . -maxdepth 1 -name '.dfc-*' -size +0)" ]; do sleep 0.01; done
        kill -$signal $victim 2>/dev/null; wait $victim 2>/dev/null; got=$?
        [ "$got" = 0 ] || break
        rm -f long.json samples/profile.db.learned/*
    done
    [ "$got" -gt 128 ] && [ -z "$(left)" ] && pass "trace-$signal-leaves-nothing" || fail "trace-$signal-leaves-nothing" "exit $got: $(left)"
done
[ -z "$(find samples -name '.dfc-*' -o -name '*.part')" ] && pass learn-leaves-nothing || fail learn-leaves-nothing "$(find samples)"
