# The folder that is carried to a machine with a GPU (make gpu-kit), with a few of its programs: what may be in it, and its steps in an empty root,
# moved elsewhere, on the emulated GPU and on a machine without one. And the bundle's gpu-check without nvcc, on programs made beforehand.
if [ ! -d "$DF_SOURCE/compiler" ]; then skip gpu_kit 'not a source tree'; exit 0; fi
if ! command -v nvcc >/dev/null && [ ! -x /usr/local/cuda/bin/nvcc ]; then skip gpu_kit 'no nvcc here'; exit 0; fi
if [ ! -x "$DF_BUILD/gpu/dfc" ]; then skip gpu_kit 'this dfc was built without CUDA'; exit 0; fi
if ! grep -q -- '-O2 .*-DNDEBUG' "$DF_BUILD/obj/flags" || grep -q -- '-fsanitize\|--coverage' "$DF_BUILD/obj/flags"; then skip gpu_kit 'it is made of a release build'; exit 0; fi
gpu=$DF_SOURCE/tests/gpu

arch=; long || arch=-arch=compute_75          # PTX alone: quicker
# What a bundle has of this, its large libraries left out.
mkdir -p small/{bin,include,lib}
cp "$DFC" small/bin/; cp "$DF_BUILD"/lib/libdf*.a small/lib/; strip -g small/lib/*.a; cp "$DF_BUILD"/include/*.h small/include/
ldd "$DFC" "$DF_BUILD/tests/test_emu" | awk '$2 == "=>" && $3 ~ /^\// && $1 !~ /^lib(c|m|gvc|expat)\./ { print $1, $3 }' | sort -u |
    while read -r name path; do cp -L "$path" "small/lib/$name"; chmod u+w "small/lib/$name"; done
ln -s "$(cd small/lib && ls libhwloc.so.*)" small/lib/libhwloc.so
expect made 0 ' MiB, [0-9]* programs and libraries, for glibc 2.34 or newer$' env KIT_FLOWS='sum random-1' KIT_BENCH=none ${arch:+KIT_ARCH=$arch} bash "$gpu/kit.sh" "$DF_BUILD" small kit
expect no-nvcc 1 '^gpu-kit: error: there is no nvcc' env NVCC=none bash "$gpu/kit.sh" "$DF_BUILD" small none

# What must not be in it.
refused() { # NAME PATTERN, with what is at fault in kit/lib/x
    expect "refused-$1" 1 "^gpu-kit: error: $2" bash "$gpu/kit_check.sh" kit
    rm -f kit/lib/x*
}
echo 'int main(void) { return 0; }' >main.c
cc -s -Wl,-rpath,/opt/lib -o kit/lib/x main.c; refused run-path 'lib/x looks for libraries in /opt/lib'
cc -o kit/lib/x main.c; refused symbols 'lib/x is not stripped'
echo 'int f(void) { return 1; }' >f.c; cc -shared -fPIC -Wl,-soname,libforeign.so.1 -o libforeign.so f.c
cc -s -Wl,--no-as-needed -o kit/lib/x main.c -L. -lforeign; refused foreign 'lib/x needs libforeign.so.1, which is not in lib/'
printf '#include <stdint.h>\nuint32_t arc4random(void);\nint main(void) { return (int)arc4random(); }\n' >new.c
if cc -s -o kit/lib/x new.c 2>/dev/null; then refused new-glibc 'lib/x needs 2.36: arc4random'; else skip refused-new-glibc 'the glibc here has no arc4random'; fi
head -c 41943040 /dev/zero >kit/lib/x; refused large '[0-9]* KiB are more than 40 MiB'
cp "$(ls kit/lib/libcgraph.so.*)" kit/lib/libcublas.so.13
expect refused-cublas 1 '^gpu-kit: error: libcublas.so.13 is in lib/' bash "$gpu/kit_check.sh" kit; rm kit/lib/libcublas.so.13

# Usage.
expect usage 2 '^Runs steps of the kit' kit/run.sh
for word in 0 8 --device=sim nonsense; do expect "usage-$word" 2 "error: '$word' is no step and no option" kit/run.sh "$word"; done

# Its steps in an empty root: nothing is there but glibc, a shell and the tools that they call.
mv kit elsewhere; export POLICIES=all-gpu; ! long || POLICIES='gp heft all-gpu' # gp has cases of its own
in_root() { bash "$gpu/chroot.sh" elsewhere "$@"; }
in_root --device=emu 1-3 7 >emulated 2>&1; rc=$?
if [ $rc = 125 ]; then
    skip empty-root "$(tail -n 1 emulated)"
    in_root() { elsewhere/run.sh "$@"; }
    in_root --device=emu 1-3 7 >emulated 2>&1; rc=$?
else expect empty-root 0 '^# nvcc: none$' cat emulated; fi
if [ $rc = 0 ]; then pass emulated; else fail emulated "exit $rc: $(grep -v '^ok' emulated | tail -n 5)"; fi
in_root --device=cuda 1-3 7 >without 2>&1; rc=$?
if [ $rc = 0 ]; then pass without-a-gpu; else fail without-a-gpu "exit $rc: $(grep -v '^skip' without | tail -n 5)"; fi
for step in 1 2 3 7; do
    expect "step$step-emulated" 0 '^[1-9][0-9]* passed, 0 failed, [01] skipped$' tail -n 1 elsewhere/out-emu/step$step.txt
    expect "step$step-without-a-gpu" 0 '^[0-9]+ passed, 0 failed, [1-9][0-9]* skipped$' tail -n 1 elsewhere/out-cuda/step$step.txt
    n=$(ls elsewhere/out-emu | grep -c "^step$step")
    if [ "$n" -ge 1 ] && [ "$n" -le 4 ]; then pass "step$step-files"; else fail "step$step-files" "$n files"; fi
done
if grep -q '^skip sum-memcheck-graphs-on: no cuda device' elsewhere/out-cuda/step2.txt; then pass says-why; else fail says-why "$(head -n 3 elsewhere/out-cuda/step2.txt)"; fi
[ "$(ls elsewhere/out-emu | wc -l)" = 4 ] && pass nothing-else || fail nothing-else "$(ls elsewhere/out-emu)"

# What is done is not done again; what was ended goes on; what time was not left for is counted.
for p in sum random-1; do mv elsewhere/programs/$p/app elsewhere/programs/$p/app.good; printf '#!/bin/sh\nexit 3\n' >elsewhere/programs/$p/app; chmod +x elsewhere/programs/$p/app; done
cp elsewhere/out-emu/step7.txt before
expect not-again 0 '^20 cases were done before$' elsewhere/run.sh --device=emu 7
same not-again-file elsewhere/out-emu/step7.txt before
sed -n '1,8p' before >elsewhere/out-emu/step7.txt; expect no-time 0 '^7 passed, 0 failed, 13 skipped$' env BUDGET_S=0 elsewhere/run.sh --device=emu 7
expect goes-on 1 '^7 passed, 13 failed, 0 skipped$' elsewhere/run.sh --device=emu 7
long || printf '#!/bin/sh\necho ok 1\n' >elsewhere/bin/test_emu      # it has run
expect not-ok 1 '^not ok kernel: ' env NVCC=none elsewhere/run.sh --device=emu 1-1 --out=broken
echo 'other' >elsewhere/version; expect another-kit 1 '^0 passed, 20 failed, 0 skipped$' elsewhere/run.sh --device=emu 7
for p in sum random-1; do mv elsewhere/programs/$p/app.good elsewhere/programs/$p/app; done
mkdir taken && expect out 0 '^4 passed, 0 failed, 0 skipped$' elsewhere/run.sh --device=emu --out=taken/here 2
[ "$(ls taken/here)" = step2.txt ] && pass out-alone || fail out-alone "$(ls taken/here)"

# The kit's dfc compiles where there is an nvcc.
! long || expect compiles 0 '^ok compile$' elsewhere/run.sh --device=emu --out=taken/first 1

# A pretended GPU, which is the emulated one, and a pretended compute-sanitizer, which says what the file `report` has for the tool: how the steps
# read what they are told.
for p in sum random-1; do
    mv elsewhere/programs/$p/app elsewhere/programs/$p/app.good
    printf '#!/bin/bash\nexec "$0.good" "${@/--device=cuda/--device=emu}"\n' >elsewhere/programs/$p/app; chmod +x elsewhere/programs/$p/app
done
cp -r elsewhere/programs/sum elsewhere/programs/broken
mkdir tools; printf '#!/bin/sh\necho "plain h2d,50.0,GB/s"\n' >elsewhere/bench/plain
cat >tools/compute-sanitizer <<'X'
#!/bin/bash
while [ "$1" != --log-file ]; do [ "$1" != --tool ] || tool=$2; shift; done
case $3 in */broken/app) tool=broken ;; */plain) tool=memcheck ;; esac
sed -n "s/^$tool: /========= /p" "$REPORT" >"$2"
shift 2; exec "$@"
X
chmod +x tools/compute-sanitizer elsewhere/bench/plain; export REPORT=$PWD/report
cat >good <<'X'
memcheck: COMPUTE-SANITIZER
memcheck: Program hit cudaErrorNotReady (error 600) due to "device not ready" on CUDA API call to cudaEventQuery.
memcheck: LEAK SUMMARY: 0 bytes leaked in 0 allocations
memcheck: ERROR SUMMARY: 1 error
racecheck: RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)
initcheck: ERROR SUMMARY: 0 errors
broken: Invalid __global__ write of size 4 bytes
broken:     at crash(int *)+0x50
broken: ERROR SUMMARY: 1 error
X
checked() { PATH=$PWD/tools:$PATH CUDA_VISIBLE_DEVICES=0 timeout 120 elsewhere/run.sh --out=taken/"$1" 2; }
cp good report; expect sanitizer 0 '^13 passed, 0 failed, 6 skipped$' checked good # ways is not there
if long; then
sed 's/^memcheck: LEAK SUMMARY: 0/memcheck: LEAK SUMMARY: 64/; s/^racecheck: RACECHECK SUMMARY: 0/racecheck: RACECHECK SUMMARY: 2/; /^initcheck/d; /^broken/d' good >report
expect sanitizer-faults 1 '^0 passed, 13 failed, 6 skipped$' checked faults
for line in 'sum-memcheck-graphs-on: 64 errors' 'random-1-racecheck-graphs-off: 2 errors' 'sum-initcheck-graphs-on: no summary' 'finds-planted'; do
    expect "sanitizer: $line" 0 "^not ok $line" cat taken/faults/step2.txt
done
sed 's/^memcheck:.*/memcheck: Device not supported/' good >report; expect sanitizer-not-here 0 '^skip sum-memcheck-graphs-on: compute-sanitizer does not run here: .*Device not supported' checked refused
fi
expect no-sanitizer 0 '^skip finds-planted: no compute-sanitizer' env PATH=/usr/bin:/bin elsewhere/run.sh --out=taken/none 2
expect first 0 '^figure plain h2d,50.0,GB/s$' env NVCC=none elsewhere/run.sh --out=taken/cuda 1
! long || expect pretended 0 '^[1-9][0-9]* passed, 0 failed, 0 skipped$' elsewhere/run.sh --out=taken/cuda 7
for p in sum random-1; do mv elsewhere/programs/$p/app.good elsewhere/programs/$p/app; done; rm -r elsewhere/programs/broken

# A bundle where there is no nvcc: its own programs are started.
mkdir -p bundle/tests/unit && cp -r "$gpu" "$DF_SOURCE/tests/gpu_check.sh" bundle/tests/ && cp "$DF_BUILD/tests/test_cuda" bundle/tests/unit/ && ln -s ../elsewhere/lib bundle/lib
NVCC=none bash bundle/tests/gpu_check.sh "$PWD/bundle" >said 2>&1; grep -q '^skip programs: no nvcc, and no programs that were made beforehand$' said && pass bundle-without-programs || fail bundle-without-programs "$(cat said)"
tar -czf bundle/programs.tar.gz -C elsewhere programs
NVCC=none CUDA_VISIBLE_DEVICES='' bash bundle/tests/gpu_check.sh "$PWD/bundle" >said 2>&1; rc=$?
for line in 'ok programs-made-beforehand' 'ok sum-says-no-gpu' 'ok random-1-says-no-gpu' 'skip random-1-on-cuda'; do
    grep -q "^$line" said && [ $rc = 0 ] && pass "bundle: $line" || fail "bundle: $line" "exit $rc: $(tail -n 5 said)"
done
