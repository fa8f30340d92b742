# Live sources: @newest and @every. The test feeds the frames through a FIFO and lets each wave go on, so that the order of events is its own; no time counts.
mkfifo in seen gate go
cat >live.df <<'X'
kernel camera(out v: u8[n]) stream cpu {{
    static int in, seen;
    if (!seen) {
        in = open("in", O_RDONLY | O_NONBLOCK);
        seen = open("seen", O_WRONLY);
    }
    if (write(seen, "c", 1) != 1)
        return df_fail(call, "cannot tell the test");
    for (ssize_t k = -1; k < 0; k = read(in, v, n), errno = k == 0 ? ENODATA : errno)
        if (df_file_wait(call, in) != DF_OK)
            return DF_END;
    if (errno == ENODATA)
        return DF_END;
    return v[0] == '!' ? df_fail(call, "the camera broke") : v[0] == '.' ? DF_SKIP : DF_OK;
}};
kernel hold(in v: u8[n], out w: u8[n]) ordered cpu {{
    static int gate, go;
    char c;
    if (!gate) {
        gate = open("gate", O_WRONLY);
        go = open("go", O_RDONLY);
    }
    if (write(gate, "g", 1) != 1 || read(go, &c, 1) != 1)
        return df_fail(call, "cannot tell the test");
    memcpy(w, v, n);
}};
kernel print(in w: u8[n]) ordered cpu {{ printf("%d%c ", (int)df_wave(call), w[0]); fflush(stdout); }};
graph main {
    v: u8[1] = camera() @newest(2);
    w = hold(v);
    print(w);
}
X
check compile "$DFC" live.df --cflags='-include errno.h -include fcntl.h -include unistd.h -include df_io.h' -o live

# begin OPTION…: starts the program. come N: the source's kernel has been called N times more, so the frame before each call waits or was dropped.
exec 3<>in 4<>seen 5<>gate 6<>go
begin() { timeout 60 ./live "$@" >got 2>err 3>&- 4>&- 5>&- 6>&- & }
come() { local k; for ((k = 0; k < $1; k++)); do read -r -N1 -t 60 <&4 || fail come "the source was not called"; done; }
held() { read -r -N1 -t 60 <&5 || fail held "no wave came"; }
frames() { printf %s "$1" >&3; come "${#1}"; }
let_go() { printf x >&6; }
last() { exec 3>&-; wait $!; status=$?; exec 3<>in; }

# Of five frames that come while wave 0 is held, two wait. Nothing of the others is seen.
for set in --workers=1 --workers=2 '--workers=2 --policy=eager' --serial '--device=emu --workers=2' '--device=emu --emu-all --workers=2' '--workers=1 --trace=t.json' '--workers=2 --dump=main/camera'; do
    [[ $set = *--serial* || $set = *inflight* ]] || set="$set --inflight=1"
    [[ $set = *device* ]] || set="--device=none $set"
    # shellcheck disable=SC2086
    begin $set --stats=json,totals --stats-file=stats
    come 1; frames a; held
    frames bcdef; let_go; held
    let_go; held
    frames g; let_go; held; let_go
    last
    [ "$status $(<got)" = '0 0a 1e 2f 3g ' ] && pass "newest $set" || fail "newest $set" "$status: $(cat got err)"
    are "counts $set" '7 3 4' stats frames dropped waves
done

# A run that needs no more frames ends while the source waits for one; so does one that a sink has failed.
begin --device=none --workers=1 --inflight=1 --waves=1
come 1; frames a; held; let_go; wait $!; [ "$? $(<got)" = '0 0a ' ] && pass ends-beside-a-silent-camera || fail ends-beside-a-silent-camera "$(cat got err)"
begin --device=none --workers=2 --inflight=2
come 1; frames a; held; exec 6>&-; wait $!; status=$?; exec 6<>go
[ $status = 1 ] && grep -q "error: node 'main/hold', wave 0: cannot tell the test" err && pass sink-fails-beside-a-silent-camera || fail sink-fails-beside-a-silent-camera "$(cat got err)"
# So does one that a signal ends: a wave that has no frame does not begin.
for set in --workers=1 '--workers=2 --inflight=1'; do
    # shellcheck disable=SC2086
    ./live --device=none $set --record=kept >got 2>err 3>&- 4>&- 5>&- 6>&- &
    come 1; frames a; held; let_go
    frames b; held; let_go
    frames c; held; kill -TERM $!
    until grep -q 'SIGTERM: waiting for the waves in flight' err; do sleep 0.02; done
    let_go; wait $!; status=$?
    [ "$(<got)" = '0a 1b 2c ' ] && grep -q 'stopped by SIGTERM after 3 waves' err && [ "$(stat -c %s kept)" = $((28 + 3 * 9)) ] && pass "signal $set" || fail "signal $set" "$status: $(cat got err)"
done

./live --device=none --workers=2 --inflight=2 >got 2>err 3>&- 4>&- 5>&- 6>&- & # wave 1 is in flight, and waits
come 1; frames a; held; kill -TERM $!
until grep -q 'SIGTERM: waiting for the waves in flight' err; do sleep 0.02; done
let_go; wait $!; status=$?
[ "$(<got)" = '0a ' ] && grep -q 'stopped by SIGTERM after 1 wave$' err && pass signal-beside-a-silent-camera || fail signal-beside-a-silent-camera "$status: $(cat got err)"

# A frame may be empty, and a failure comes after the frames that wait. Its record has these.
begin --device=none --workers=1 --inflight=1 --record=broken
come 1; frames a; held
frames .b; printf '!' >&3; let_go; held; let_go
last
[ "$status" = 1 ] && grep -q "error: node 'main/camera', wave 3: the camera broke" err && pass failure || fail failure "$status $(cat got err)"
[ "$(stat -c %s broken)" = $((13 + 14 + 1 + 3 * 9)) ] && pass record-of-failure || fail record-of-failure "$(od -c broken)"

# --record keeps the frames that became waves; a run on them has the same bytes, whatever the clock says, and calls no camera.
begin --device=none --workers=1 --inflight=1 --record=kept
come 1; frames a; held; frames bcd; let_go; held; let_go; held; frames .e; let_go; held; let_go
last
[ "$status $(<got)" = '0 0a 1c 2d 4e ' ] && pass recorded || fail recorded "$status: $(cat got err)"
[ "$(head -n 3 kept)" = $'dfc record 1\n1 main/camera' ] && [ "$(stat -c %s kept)" = $((13 + 14 + 1 + 5 * 9)) ] && pass record-file || fail record-file "$(od -c kept)"
cp got want
for set in --workers=1 --workers=3 '--workers=3 --inflight=3 --policy=dmda' --device=emu --serial; do
    for _ in 1 2; do printf xxxx >&6; done
    # shellcheck disable=SC2086
    timeout 60 ./live --play=kept $set >got 2>err 3>&- 4>&- 5>/dev/null 6>&-
    same "played $set" got want
done
exec 3>&- 4>&- 5>&- 6>&-
timeout 60 ./live --play=kept --record=other 2>err; [ $? = 2 ] && grep -q 'error: --record: the frames of --play are recorded already' err && pass record-of-play || fail record-of-play "$(cat err)"
{ head -c 60 kept; } >short
expect play-cut 1 "error: --play: 'short' is cut off within a frame" ./live --play=short
expect play-other 1 "error: --play: 'err' is no file that --record has written" ./live --play=err
sed 's/camera$/lens/' kept >lens
expect play-lens 1 "error: --play: 'lens' has the frames of other sources: it says '1 main/lens', and this program has '1 main/camera'" ./live --play=lens
expect play-missing 1 "error: --play: cannot read 'nothing': No such file" ./live --play=nothing
expect record-input 2 'error: --record=kept: it would replace the play that --play reads|--record: the frames of --play' ./live --play=kept --record=kept
expect record-of-nothing 2 'error: --record: no kernel is called with --device=sim' ./live --record=x --device=sim
expect record-device 1 "error: cannot write '/dev/null': --record needs a file" ./live --record=/dev/null --device=none

# What needs a frame again is refused.
for option in --journal --resume '--waves=0:5 --out=c' --cluster --passes=2; do
    name=${option##* }
    # shellcheck disable=SC2086
    expect "refused $name" 2 "error: ${name%%=*}: the frames of node 'main/camera' depend on the clock \(@newest, @every\), and a run that reads them again would get others" ./live $option
done
cat >still.df <<'X'
kernel one(out x: i32) cpu {{ *x = 1; }};
kernel tell(in x: i32) cpu {{ printf("%d\n", *x); }};
graph main { x = one(); tell(x); }
X
check still "$DFC" still.df -o still
expect record-still 2 'error: --record is for the frames of live sources, and no source of this program has @newest or @every' ./still --record=x
expect play-still 2 'error: --play is for the frames of live sources' ./still --play=x

# @every alone: the frames are all there, one after the other, in each loop and on two live sources.
cat >paced.df <<'X'
kernel count(out x: i32; n: i32) stream cpu {{ if (df_wave(call) == n) return DF_END; *x = (int32_t)df_wave(call); }};
kernel tell(in a: i32, in b: i32) ordered cpu {{ printf("%d ", *a + 10 * *b); }};
graph main { a = count(6) @every(100us); b = count(5) @every(1ms); tell(a, b); }
X
check paced "$DFC" paced.df -o paced
for set in --workers=1 --workers=3 --serial '--workers=2 --policy=dmda' --device=emu; do
    # shellcheck disable=SC2086
    [ "$(timeout 60 ./paced $set --record=paced.rec)" = '0 11 22 33 44 ' ] && pass "paced $set" || fail "paced $set" "$(timeout 60 ./paced $set 2>&1)"
    [ "$(timeout 60 ./paced $set --play=paced.rec)" = '0 11 22 33 44 ' ] && pass "paced, played $set" || fail "paced, played $set" "$(timeout 60 ./paced $set --play=paced.rec 2>&1)"
done

# What a job waited is no time of its kernel.
expect learn 0 'learned the times of 1 works;' ./paced --learn --log=info --workers=1 --device=none

# Raw video from a pipe, a FIFO and a file. A short last frame is an error; the end of the file is the end of the stream.
cat >video.df <<'X'
import "std/video.df";
param h = 2 dynamic;
arg   input: str = "/dev/stdin";
kernel sum(in f: u8[y, x, c]) ordered cpu {{
    int s = 0;
    for (size_t i = 0; i < y * x * c; i++)
        s += f[i];
    printf("%d ", s);
}};
graph main { f: u8[h, 2, 3] = read_video_rgb(input); sum(f); }
X
check video "$DFC" video.df -o video
printf 'aaaaaaaaaaaabbbbbbbbbbbb' >raw
[ "$(./video <raw)" = '1164 1176 ' ] && [ "$(cat raw | ./video)" = '1164 1176 ' ] && [ "$(./video --input=raw --h=1)" = '582 582 588 588 ' ] &&
    pass video-frames || fail video-frames "$(./video <raw 2>&1)"
(cat raw >in &)
[ "$(timeout 60 ./video --input=in)" = '1164 1176 ' ] && pass video-fifo || fail video-fifo
printf aaa >>raw
expect video-short 1 "error: node 'main/read_video_rgb', wave 2: '/dev/stdin' ends within a frame: of u8\[2, 2, 3\] there are 3 of 12 bytes" ./video <raw
expect video-missing 1 "wave 0: cannot read 'nothing': No such file" ./video --input=nothing
sed 's/(input);/(input) @newest(4096);/; s/_rgb//; s/2, 3\]/6]/; s/u8\[y, x, c\]/u8[y, x]/; s/ \* c;/;/' video.df >grey.df
check grey "$DFC" grey.df -o grey
truncate -s 24 raw
[ "$(./grey <raw)" = '1164 1176 ' ] && pass video-newest || fail video-newest "$(./grey <raw 2>&1)"

# In virtual time: 200 frames a second for a chain that makes 60. Without @newest they wait longer and longer; with it a wave is two jobs late at most.
cat >rate.df <<'X'
kernel camera(out f: u8[h, w]) stream cost cpu 5ms;
kernel grey(in f: u8[h, w], out g: u8[h, w]) ordered cost cpu 1ms;
kernel detect(in g: u8[h, w], out m: u8[h, w]) ordered cost cpu (1s / 60);
kernel show(in m: u8[h, w]) ordered cost cpu 100us;
graph main {
    f: u8[480, 640] = camera();
    g = grey(f);
    m = detect(g);
    show(m);
}
X
sed 's/camera()/camera() @newest(1)/' rate.df >newest.df
sed 's/camera()/camera() @every(5ms)/; s/cost cpu 5ms/cost cpu 0s/' rate.df >all.df
sed 's/camera()/camera() @every(5ms) @newest(1)/; s/cost cpu 5ms/cost cpu 0s/' rate.df >paced.df
# Of @every alone, wave k is 11.67 ms later than wave k - 1.
for n in 600 6000; do
    for graph in newest all paced; do
        check "simulate $graph $n" "$DFC" simulate $graph.df --waves=$n --workers=2 --inflight=2 --policy=eager --format=json -o $graph.json
    done
    are "all $n" "$n 0 $([ $n = 600 ] && echo 3.53125 6.9375 || echo 35.5 70)" all.json frames dropped latency_p50_s latency_p99_s
    for graph in newest paced; do
        are "$graph $n" "$([ $n = 600 ] && echo 1994 1394 || echo 19994 13994) 0.0361328125 0.0377666667" $graph.json frames dropped latency_p50_s latency_p99_s
    done
done
check every-policy "$DFC" simulate newest.df --waves=600 --workers=2 --format=json -o policies.json
expect simulated-text 0 '^main/camera +1994 +1394 +600 +36.1 ms +37.8 ms +37.8 ms$' "$DFC" simulate newest.df --waves=600 --workers=2 --inflight=2 --policy=eager
sed 's/ cost/ cpu {{ (void)call; }} cost/' newest.df >program.df
check newest-program "$DFC" program.df -o newest
expect device-sim 0 '^main/camera +1994 +1394 +600 +36.1 ms +37.8 ms +37.8 ms$' ./newest --device=sim --waves=600 --workers=2 --inflight=2 --policy=eager --stats

# That a job waits for its frame is no reason for gp to leave its plan.
cat >guard.df <<'X'
kernel camera(out f: u8[h, w]) stream cost cpu 1ms;
kernel left(in f: u8[h, w], out g: u8[h, w]) cost cpu 6ms gpu 4ms;
kernel right(in f: u8[h, w], out g: u8[h, w]) cost cpu 6ms gpu 4ms;
kernel both(in f: u8[h, w], in g: u8[h, w], out m: u8[h, w]) cost cpu 5ms gpu 3ms;
kernel show(in m: u8[h, w]) ordered cost cpu 100us;
graph main {
    f: u8[480, 640] = camera() @every(40ms);
    g = left(f);
    h = right(f);
    m = both(g, h);
    show(m);
}
X
for guard in on off; do
    check "guard $guard" "$DFC" simulate guard.df --platform="$DF_SOURCE/examples/platforms/laptop.df" --workers=3 --inflight=4 --waves=40 --policy=gp --guard=$guard --schedule=$guard.csv
done
same guard on.csv off.csv

# What frames that wait take, and that the graph runs on no ranks.
expect partition 0 "^live       main/camera has 3 places for frames, 900 KiB of the host's memory; a thread beside the workers fills them$" "$DFC" partition newest.df -w
cat >lab.df <<'X'
platform lab {
    node one { count = 2; net = 1 GB/s, 50 us; cpu host { workers = 1; } }
    network switch { manager = 1 GB/s, 50 us; }
}
X
for command in 'scale --nodes=2' map 'scale --stream-policy=odds --waves=9'; do
    # shellcheck disable=SC2086
    expect "$command" 1 '^newest.df:6:23: error: the frames of a source with @newest or @every depend on the clock, so its graph does not run on ranks$' \
        "$DFC" $command newest.df --platform=lab.df -w
done

# The waves do not go by several times.
cat >passes.df <<'X'
kernel camera(out f: u8[n]) stream cpu {{ f[0] = 1; return df_wave(call) == 9 ? DF_END : DF_OK; }} cost cpu 1ms;
kernel add(in f: u8[n], acc c: i64[n]) { c[i] += i64(f[i]); }
kernel show(in c: i64[n]) cpu {{ printf("%d\n", (int)c[0]); }};
graph main {
    f: u8[8] = camera() @newest(1);
    c = add(f) @parts(2) @passes(2);
    show(c);
}
X
check passes-compile "$DFC" passes.df --nvcc=none --no-opencl -o passes
expect passes 1 "error: node 'main/camera' depends on the clock \(@newest, @every\), and the waves go by 2 times: with --passes=1 they do once" ./passes --device=none
expect passes-1 0 '^[0-9]+$' ./passes --device=none --passes=1
expect passes-simulated 1 'policy eager: the waves go by 2 times, and a source with @newest or @every gives each frame once: --passes=1' "$DFC" simulate passes.df --waves=9 --passes=2 --policy=eager

# A rehearsal has the same frames, as far as its threads are on time.
./newest --rehearse --waves=20 --workers=2 --inflight=2 --policy=eager --stats=json --stats-file=r.json 2>err
read -r frames dropped waves <<<"$(numbers r.json frames dropped waves)"
[ "$waves" = 20 ] && [ "$dropped" -gt 20 ] && [ "$frames" -gt 50 ] && pass rehearsed || fail rehearsed "$(cat r.json err)"
