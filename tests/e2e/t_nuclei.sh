# examples/nuclei on a small picture of synthetic tissue: each operation against the slow oracle, the GPU variants (compiled for the host) and
# two policies against the CPU's bytes, wrong input. `make examples-check T=nuclei` has all policies, and the libraries of Python.
if ! printf '#include <png.h>\n' | cc -E - >/dev/null 2>&1; then skip nuclei 'libpng is not installed'; else
    formulas_for none
    QUICK=1 "$DF_SOURCE/examples/nuclei/check.sh" "$DF_BUILD" . >said 2>&1 || true
    while read -r verdict name; do
        case $verdict in ok) pass "${name// /-}" ;; FAILED) fail "${name// /-}" "$(tail -n 3 log 2>/dev/null | tr '\n' ' ')" ;; esac
    done <said
    [ "$(grep -c '^ok ' said)" -ge 30 ] && pass all-cases || fail all-cases "$(tail -n 3 said | tr '\n' ' ')"
fi
