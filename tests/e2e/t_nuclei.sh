# examples/nuclei on a small picture of synthetic tissue: each operation against the slow oracle, the GPU variants (compiled for the host) and
# two policies against the CPU's bytes, wrong input. `make examples-check T=nuclei` has more policies, devices of OpenCL, and the libraries of Python.
if ! printf '#include <png.h>\n' | cc -E - >/dev/null 2>&1; then skip nuclei 'libpng is not installed'; else
    formulas_for none
    QUICK=1 "$DF_SOURCE/examples/nuclei/check.sh" "$DF_BUILD" . >said 2>&1 || true
    while read -r verdict name; do
        case $verdict in ok) pass "${name// /-}" ;; FAILED) fail "${name// /-}" "$(tail -n 3 log 2>/dev/null | tr '\n' ' ')" ;; esac
    done <said
    [ "$(grep -c '^ok ' said)" -ge 30 ] && pass all-cases || fail all-cases "$(tail -n 3 said | tr '\n' ' ')"
    # CPU, emulated GPU and OpenCL's device as three classes, under three policies.
    if long && have_opencl nuclei-classes; then
        SIDE=128 TIMES=even "$DF_SOURCE/examples/nuclei/classes.sh" "$DF_BUILD" classes >said 2>&1 || true
        while read -r verdict name; do
            case $verdict in ok) pass "classes: $name" ;; FAILED) fail "classes: $name" ;; *) echo "figure $verdict $name" ;; esac
        done <said
        [ "$(grep -c '^ok ' said)" = 9 ] && pass classes || fail classes "$(tail -n 3 said | tr '\n' ' ')"
    fi
fi
