# Pictures: text stays in its box in every font, whatever this machine has; PNG is PNG; waits only where asked for; a real run's Gantt chart.
graphs=$DF_SOURCE/examples/graphs
picture() { "$DFC" partition "$graphs/cholesky.df" --policy=gp-thesis "$@" >said 2>&1 || fail "drawn $*" "$(cat said)"; }

# ---- text and boxes: the widths are those of the fonts' files ----
picture -D T=2 -o p2.svg --memory=m2.svg
picture -D T=4 -o p4.svg --memory=m4.svg
picture -D T=6 -o p9.svg --memory=m9.svg
"$DFC" partition "$graphs/image.df" --policy=gp-thesis -D strips=31 -o nested.svg >said 2>&1 || fail nested "$(cat said)"
"$DFC" simulate "$graphs/cholesky.df" -D T=4 --policy=dmda --gantt=g4.svg >said 2>&1 || fail gantt "$(cat said)"
pictures="p2.svg m2.svg p4.svg m4.svg p9.svg m9.svg nested.svg g4.svg"
if command -v fc-match >/dev/null && python3 "$programs/check.py" p2.svg | grep -q '^fonts [1-9]'; then
    expect text-in-boxes 0 '^fonts [1-9]' python3 "$programs/check.py" $pictures
    expect names-in-blocks 0 '^m4.svg [1-9][0-9]+ names' python3 "$programs/check.py" m4.svg
    sed 's/font-size="10.00"/font-size="14.00"/' p2.svg >large.svg; sed 's/font-size="11"/font-size="28"/' m4.svg >large-m.svg
    for f in large large-m; do expect "text-that-crosses-$f" 1 'crosses' python3 "$programs/check.py" $f.svg; done
else
    skip text-in-boxes "no fontconfig, or none of the fonts that are measured"
fi

# ---- the same bytes again, and on a machine without fonts ----
mkdir again none
for f in p4.svg p9.svg; do cp $f again/; done
printf '<?xml version="1.0"?><fontconfig><dir>/nonexistent</dir></fontconfig>\n' >none/fonts.conf
FONTCONFIG_FILE=$PWD/none/fonts.conf picture -D T=4 -o p4.svg --memory=again/m4.svg
picture -D T=6 -o p9.svg
same no-fonts p4.svg again/p4.svg; same no-fonts-memory m4.svg again/m4.svg; same again p9.svg again/p9.svg

# ---- waits, and what large graphs leave out ----
arcs() { grep -c 'class="edge"' "$1"; }
dotted() { grep -c 'stroke-dasharray="1,5"' "$1"; }
picture -D T=4 -o waits.svg --waits
if [ "$(dotted p4.svg) $(arcs p4.svg)" = "0 50" ]; then pass no-waits; else fail no-waits "$(dotted p4.svg) dotted of $(arcs p4.svg)"; fi
if [ "$(dotted waits.svg)" -gt 0 ] && [ "$(arcs waits.svg)" = $((50 + $(dotted waits.svg))) ]; then pass waits; else
    fail waits "$(dotted waits.svg) dotted of $(arcs waits.svg)"; fi
expect path 0 'Critical path: [0-9]+ nodes, [0-9.]+ ms of dependencies \(dark red\)<' cat p4.svg
expect chain 0 'Critical path: [0-9]+ nodes \(dark red; dotted: waits for its worker\)<' cat waits.svg
expect small-has-dimensions 0 '>n=960</text>' cat p4.svg
if grep -q 'n=960<\|MiB</text>' p9.svg; then fail large-has-none "$(grep -m 1 'n=960<\|MiB</text>' p9.svg)"; else pass large-has-none; fi
expect by-graph 0 'nested graphs and kernels as one box each' cat nested.svg
picture -D T=10 -o levels.svg
expect by-level 0 'bands of levels as one box each' cat levels.svg
expect summary-told 0 "note: 330 nodes are too many to draw: 'levels.svg' shows groups of them" cat said

# ---- PNG ----
if command -v rsvg-convert >/dev/null; then
    cc -std=c11 -o size "$programs/size.c" -lpng || fail size "cannot compile"
    picture -D T=4 -o p4.png --memory=m4.png
    expect png 0 '^[0-9]{4} [0-9]{4} [0-9]{5,}$' ./size p4.png
    expect png-memory 0 '^1200 [0-9]{3} [0-9]{5,}$' ./size m4.png
    check png-gantt "$DFC" simulate "$graphs/cholesky.df" -D T=4 --policy=dmda --gantt=g4.png
    expect png-gantt-size 0 '^1400 [0-9]{3} [0-9]{5,}$' ./size g4.png
    # A chain of 300 nodes is 300 ranks high: the picture is made smaller, so that a viewer opens it.
    printf 'kernel a(out v: f32[n]) cost cpu 1us;\nkernel b(in v: f32[n], out w: f32[n]) cost cpu 1us;
graph main { x[0]: f32[10] = a(); for i in 1..300 { x[i] = b(x[i - 1]); } }\n' >chain.df
    check png-high "$DFC" partition chain.df -o chain.png --policy=all-cpu
    expect png-bound 0 '^[0-9]+ 8000 [0-9]+$' ./size chain.png
    cp p4.png before.png
    expect png-nowhere 1 "^dfc: error: cannot write 'no/p.png': No such file" "$DFC" partition "$graphs/cholesky.df" -o no/p.png --policy=heft
    printf '#!/bin/sh\necho "bad luck" >&2\nexit 3\n' >none/rsvg-convert; chmod +x none/rsvg-convert
    expect png-refused 1 '^dfc: error: rsvg-convert cannot make the PNG: bad luck$' env PATH="$PWD/none:$PATH" \
        "$DFC" partition "$graphs/cholesky.df" -o p4.png --policy=heft
    same png-kept p4.png before.png
else
    skip png "no rsvg-convert here"
fi
expect png-no-tool 1 '^dfc: error: PNG is made by rsvg-convert, and it is not here: install librsvg2-bin, or write SVG$' env PATH="$PWD/again" \
    "$DFC" partition "$graphs/cholesky.df" -o new.png --policy=heft
if ls -A | grep -q 'new.png'; then fail png-no-half "$(ls -A)"; else pass png-no-half; fi

# ---- a real run ----
if "$DFC" "$DF_SOURCE/tests/pictures/blocks.df" -o blocks --nvcc=none >said 2>&1 &&
   ./blocks --workers=2 --policy=eager --trace=t.json >/dev/null 2>said; then pass blocks; else fail blocks "$(cat said)"; fi
check gantt-of-trace "$DFC" gantt t.json -o t.svg
check gantt-of-trace-is-right python3 "$programs/trace.py" t.json t.svg
expect gantt-on-stdout 0 '^</svg>$' "$DFC" gantt t.json -o -
check gantt-of-devices-runs env -u DISPLAY bash -c './blocks --device=emu --waves=3 --trace=e.json >/dev/null && "$DFC" gantt e.json -o e.svg'
check gantt-of-devices python3 "$programs/trace.py" e.json e.svg
printf '[{"ph":"X","name":"a[3]","ts":5,"dur":2,"pid":1,"tid":7}, {"ph":"i","name":"mark","ts":6}]' >other.json
expect gantt-of-others 0 '>a\[3\]: at 0 s, 2.00 us</title>' "$DFC" gantt other.json -o -

# Wrong traces and command lines.
wrong() { # NAME PATTERN TEXT
    printf '%b' "$3" >wrong.json
    expect "trace-$1" 1 "$2" "$DFC" gantt wrong.json -o w.svg
}
wrong empty '^wrong.json:1:1: error: a list of events, "traceEvents", is expected$' ''
wrong other '^wrong.json:1:1: error: a list of events, "traceEvents", is expected$' 'graph main { }'
wrong no-list '^wrong.json:1:16: error: a list of events, "traceEvents", is expected$' '{"traceEvents":3}'
wrong cut '^wrong.json:2:[0-9]+: error: the list of events does not end$' '{"traceEvents":[\n{"ph":"X","name":"a"'
wrong after-comma '^wrong.json:2:1: error: the list of events does not end$' '{"traceEvents":[{"ph":"M","name":"x"},\n'
wrong no-json '^wrong.json:3:[0-9]+: error: ' '{"traceEvents":[\n{"ph":"M","name":"x"},\n{"ph":X}\n]}'
wrong no-time '^wrong.json:2:1: error: this event has no beginning .ts. and length .dur. in microseconds$' '[\n{"ph":"X","name":"a","ts":"1"}]'
wrong backwards '^wrong.json:1:2: error: this event has no beginning' '[{"ph":"X","name":"a","ts":1,"dur":-1}]'
wrong nothing '^wrong.json:1:2: error: nothing ran: there is no event' '[]'
expect trace-hint 1 'hint: a trace is what a program writes with --trace=FILE' "$DFC" gantt wrong.json -o w.svg
python3 -c 'print("[", ",\n".join("{\"ph\":\"X\",\"name\":\"a\",\"ts\":%d,\"dur\":1,\"pid\":0,\"tid\":%d}" % (i, i) for i in range(1001)), "]")' >many.json
expect trace-threads 1 '^many.json:1001:1: error: this is one thread more than a picture has lines for$' "$DFC" gantt many.json -o w.svg
[ -e w.svg ] && fail trace-nothing-written "w.svg exists" || pass trace-nothing-written
printf '[{"ph":"X","name":"a","ts":1,"dur":1},{"ph":"C","name":"rate","pid":1073741824,"ts":30,"args":{"waves/s":2}},{"ph":"C","name":"window","pid":1073741824,"ts":30,"args":{"waves":4}}]' >far.json
check gantt-far-rank sh -c 'ulimit -t 2; exec "$DFC" gantt --windows far.json -o far.svg'; expect gantt-far-rank-drawn 0 'rank 1073741824: 4 waves from' cat far.svg
expect gantt-no-file 1 "^dfc: error: cannot read 'nowhere.json': No such file or directory$" "$DFC" gantt nowhere.json -o w.svg
expect gantt-own-input 1 "is not written: it would replace 't.json'" "$DFC" gantt t.json -o t.json
expect gantt-no-trace 2 'a trace is expected, as a program writes it with --trace=FILE' "$DFC" gantt -o w.svg
expect gantt-no-output 2 '^dfc: error: -o FILE.svg or -o FILE.png is expected' "$DFC" gantt t.json
expect gantt-two 2 "one trace at a time: 't.json' and 'e.json' are given" "$DFC" gantt t.json e.json -o w.svg
expect gantt-ending 2 '-o w.dot: SVG is written, so a name that ends in .svg or .png is expected' "$DFC" gantt t.json -o w.dot
expect gantt-option 2 "unknown option '--svg=x.svg'" "$DFC" gantt t.json --svg=x.svg
expect gantt-help 0 '^usage: dfc gantt TRACE.json -o FILE.svg\|FILE.png$' "$DFC" gantt --help
