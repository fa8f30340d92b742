# dfc run: compiles, runs, passes on what the program gets and gives, and leaves nothing behind.
export TMPDIR=$PWD/tmp; mkdir tmp
cp "$DF_SOURCE"/examples/sum/{sum.df,vec.c,vec.cu} .
check build "$DFC" sum.df -o sum --nvcc=none
./sum --seed=3 >want
"$DFC" run sum.df --nvcc=none -- --seed=3 >got 2>err; same output got want
[ ! -s err ] && pass silent || fail silent "$(cat err)"
expect shared 0 '^policy +ws' sh -c '"$DFC" run sum.df --nvcc=none --workers=2 --policy=ws -- --stats 2>&1 >/dev/null'
expect help 0 '^usage: dfc run GRAPH.df' "$DFC" run --help
expect output 2 "^dfc: error: -o: run keeps no program; 'dfc sum.df -o x' makes one$" "$DFC" run sum.df -o x
expect policy 2 "^dfc: error: --policy: unknown policy 'wss'" "$DFC" run sum.df --policy=wss
expect programs-option 2 "^sum: error: unknown option '--sed'; did you mean '--seed'\?$" "$DFC" run sum.df --nvcc=none -- --sed=3
expect taken-option 0 "^dfc: warning: --seed is an option of dfc here; for the arg 'seed' of the graph it stands after '--'$" "$DFC" run sum.df --nvcc=none --seed=3
expect no-file 1 "no such file|No such file" "$DFC" run nofile.df

cat >ends.df <<'END'
arg how: i32 = 0;
kernel a(out v: i32[1]; how: i32) cpu {{
    v[0] = getchar();
    if (how == 1) raise(SIGKILL);
    if (how == 2) { fputs("ready\n", stderr); while (sleep(300) > 0) ; }
    return 0;
}};
kernel b(in v: i32[1]) cpu {{ printf("%c\n", v[0]); }};
graph main { x: i32[1] = a(how); b(x); }
END
flags="--cflags=-include stdio.h -include signal.h -include unistd.h"
[ "$(echo Q | "$DFC" run ends.df "$flags")" = Q ] && pass stdin || fail stdin "$(echo Q | "$DFC" run ends.df "$flags" 2>&1)"
expect signal 137 "" "$DFC" run ends.df "$flags" -- --how=1
# A signal that is passed on ends dfc, too, so that whoever started it sees what has ended it; and not an exit status.
cat >ended.py <<'END'
import subprocess, sys
dfc = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
said = ""
while "ready" not in said and (line := dfc.stderr.readline()):
    said += line
dfc.terminate()
said += dfc.stderr.read()
print(dfc.wait(), said)
END
expect ended 0 '^-15 ready$' timeout 100 python3 ended.py "$DFC" run ends.df "$flags" -- --how=2 --grace=1ms
for _ in $(seq 1000); do [ -z "$(ls tmp)" ] && break; sleep 0.05; done
[ -z "$(ls tmp)" ] && [ ! -e ends ] && pass nothing-left || fail nothing-left "$(ls tmp)"
