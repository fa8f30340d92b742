# examples/ct: its check at small sizes: the phantom, plain loops in double precision, the same bits on the emulated GPU, the GPU's code on the host.
pkg-config --exists fftw3f || { skip ct 'no libfftw3-dev'; exit 0; }
formulas_for '' -O1
QUICK=1 "$DF_SOURCE/examples/ct/check.sh" "$DF_BUILD" "$PWD/out" >answers 2>&1 || fail check "exit status $?: $(tail -n 3 answers)"
while IFS= read -r line; do
    case $line in 'ok '*) pass "${line#ok     }" ;; FAILED*) fail "${line#FAILED }" "$line" ;; esac
done <answers
