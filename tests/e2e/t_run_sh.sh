# tests/run.sh itself, on tests that pass, fail, skip and end in other ways: what it counts, and what it says again behind the table.
if [ ! -d "$DF_SOURCE/compiler" ]; then skip run_sh 'not a source tree'; return 0; fi
mkdir -p fake/tests fake/bin && cp "$DFC" fake/bin/
made() { printf '#!/bin/sh\n%s\n' "$2" >"fake/tests/test_$1"; chmod +x "fake/tests/test_$1"; }
made fake_good 'echo "ok one"; echo "ok two"; echo "skip three: not here"; echo "figure 3 apples"'
made fake_bad 'echo "ok one"; echo "not ok two: it is 3, not 4"; echo "ok three"; exit 1'
made fake_ends 'echo "ok one"; echo "Killed" >&2; exit 137'
made fake_mute 'exit 0'
made fake_tap 'echo "not ok 1 # SKIP test_gone"; echo "not ok 2 - test_wrong"; echo "# 0x3 != 0x4"; echo "# test.c:7: error: Failure!"; echo "ok 3 - right"; exit 1'
made fake_slow 'echo "ok one"; sleep 60'
run() { env -u DF_TEST_LOGS -u DF_TEST_JOBS DF_TEST_LIMIT_S="${limit:-300}" "$DF_SOURCE/tests/run.sh" "$PWD/fake" "$1" >said 2>&1; status=$?; sed -n '/^failed: /,$p' said >again; }

run unit-fake_good
[ $status = 0 ] && [ "$(tail -n 1 said)" = '2 passed, 0 failed, 1 skipped' ] && pass good || fail good "exit $status: $(cat said)"
expect figure 0 '^    3 apples$' cat said
expect skipped 0 '^    skip three: not here$' cat said
[ ! -s again ] && pass nothing-again || fail nothing-again "$(cat again)"

limit=4 run unit-fake
[ $status = 1 ] && [ "$(tail -n 1 said)" = '7 passed, 5 failed, 2 skipped' ] && pass counted || fail counted "exit $status: $(tail -n 1 said)"
cat >want <<'END'
failed: unit-fake_bad, exit status 1
    not ok two: it is 3, not 4
failed: unit-fake_ends, exit status 137
failed: unit-fake_mute, exit status 0
failed: unit-fake_slow, exit status 124, ended after 4 s
failed: unit-fake_tap, exit status 1
    not ok 2 - test_wrong
    # 0x3 != 0x4
    # test.c:7: error: Failure!
END
head -n -2 again >got; same again got want
expect logs 0 '^logs: ' tail -n 2 said
run =unit-fake
[ $status = 2 ] && grep -q "^no test has '=unit-fake' in its name$" said && pass exact || fail exact "exit $status: $(cat said)"
run '=unit-fake_good unit-fake_mute =unit-fake_good'
[ $status = 1 ] && [ "$(tail -n 1 said)" = '2 passed, 1 failed, 1 skipped' ] && pass several || fail several "exit $status: $(tail -n 1 said)"
run '=unit-fake_good nothing'
[ $status = 2 ] && grep -q "^no test has 'nothing' in its name$" said && pass several-wrong || fail several-wrong "exit $status: $(cat said)"
run --list
[ "$(grep -c '^unit-fake' said)" = 6 ] && pass list || fail list "$(head -n 8 said)"

# What stands first in PATH stays there, although the interpreter's folder has a program of that name, too.
mkdir mine beside && ln -s "$(python3 -c 'import sys; print(sys.executable)')" beside/python3
for folder in mine beside; do printf '#!/bin/sh\necho ok from %s\n' $folder >$folder/which_one; chmod +x $folder/which_one; done
made path which_one
PATH=$PWD/mine:$PWD/beside:$PATH run unit-path
[ $status = 0 ] && grep -q '^ok from mine' fake/test-logs/unit-path && pass path || fail path "exit $status: $(cat said fake/test-logs/unit-path)"
# Several runs may share a build folder: the tools that one of them uses are not written again by the next, and one that must change is replaced whole.
tools() { ls -iL fake/test-tools/ld fake/test-tools/bin/cc; }
compilers() { CC="env $1" CXX="env c++" run =unit-fake_good; }
if command -v ld.gold >/dev/null; then
    compilers gcc; tools >tools.before; compilers gcc; tools >tools.after; same tools-stay tools.after tools.before
    exec 5<fake/test-tools/bin/cc; echo cut >fake/test-tools/ld; compilers clang; cat <&5 >open; exec 5<&-
    expect tool-replaced 0 '^exec .*env clang "\$@"$' cat fake/test-tools/bin/cc
    expect tool-open 0 '^exec .*env gcc "\$@"$' cat open
    expect tool-written 0 '^exec .*ld\.gold ' cat fake/test-tools/ld
    [ "$(cd fake/test-tools && echo * bin/*)" = "bin ld python bin/c++ bin/cc" ] && pass tools-alone || fail tools-alone "$(ls -R fake/test-tools)"
else skip tools 'no ld.gold'; fi
expect python-without-packages 0 '^\[\]$' fake/test-tools/python/bin/python3 -c 'import csv, json, sqlite3, sys; print([p for p in sys.path if "-packages" in p])'
# Scripts that no test runs, as bench.sh of the applications, are at least scripts.
wrong=$(find "$DF_SOURCE" -path "$DF_SOURCE/build" -prune -o -name '*.sh' -print | while read -r script; do bash -n "$script" 2>&1; done)
[ -z "$wrong" ] && pass scripts || fail scripts "$wrong"
