# examples/ferret on 100 small pictures of unlike sizes: regions, features, distances and the search against the slow oracle, the GPU variants
# (compiled for the host) and two policies against the CPU's bytes, wrong files. `make examples-check T=ferret` has more policies, devices of OpenCL, and SciPy.
if ! printf '#include <png.h>\n' | cc -E - >/dev/null 2>&1; then skip ferret 'libpng is not installed'; else
    formulas_for '' -O1
    QUICK=1 "$DF_SOURCE/examples/ferret/check.sh" "$DF_BUILD" . >said 2>&1 || true
    while read -r verdict name; do
        case $verdict in ok) pass "${name// /-}" ;; FAILED) fail "${name// /-}" "$(tail -n 3 log 2>/dev/null | tr '\n' ' ')" ;; esac
    done <said
    [ "$(grep -c '^ok ' said)" -ge 57 ] && pass all-cases || fail all-cases "$(tail -n 3 said | tr '\n' ' ')"
fi
