# The same input gives the same bytes on every run and with any number of threads: placements, simulations, pictures. gp plans with as many
# threads as it may use cores, so one run has one core alone. Other builds and compilers: make check-same.
graphs=$(long && echo 'qr coprocessors layered' || echo 'qr layered'); export LAYERED=60
# shellcheck disable=SC2086
if ! bash "$DF_SOURCE/tests/same.sh" "$DFC" first $graphs 2>err; then fail outputs "$(cat err)"; return; fi
n=$(find first -type f | wc -l)
if [ "$n" -ge 15 ] && [ -z "$(find first -type f -empty)" ]; then pass outputs; else fail outputs "$n files, empty: $(find first -empty)"; fi
again() { # NAME FOLDER COMMAND…
    local name=$1 folder=$2; shift 2
    if "$@" bash "$DF_SOURCE/tests/same.sh" "$DFC" "$folder" $graphs 2>err && diff -rq first "$folder" >differ
    then pass "$name"; else fail "$name" "$(head -n 5 differ err 2>/dev/null)"; fi
}
! long || again run-again second env
if command -v taskset >/dev/null; then
    again one-thread third taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')"
else
    skip one-thread "no taskset here"
fi
# What is compared can differ: another seed, another placement.
if cmp -s <(grep ',gp' first/layered.csv) <(grep ',gp' first/seed.csv); then fail differs "seeds make none"; else pass differs; fi
