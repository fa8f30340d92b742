# Formulas by two readings of the language, to the bit: dfc's, and that of an interpreter which was written apart from it (tests/formula).
# `make check-formulas` has more of both kinds.
formula=$DF_SOURCE/tests/formula cases=$DF_SOURCE/tests/formula/cases
compare() { python3 "$formula/compare.py" "$DF_BUILD" --quick "$@"; }

# Of random programs some of whose reads go outside, dfc refuses these; of the others the interpreter sees no such read on any size.
compare --wild --programs=60 --sizes=4 || failures=1

# Graphs that are written for this, on sizes of 1, below the reach of what they read, and around blocks of a sum. What filters and trigonometry are
# made of e2e-filters, e2e-formula_code and e2e-math have as well, and reductions, values and histograms e2e-formula_gpu.
all=("$cases"/{borders,ranged,gathers,residues,accs,sums,mutual,planes,long,rates,generic,channels}.df)
if long; then all+=("$cases"/{reductions,values,histograms,filters,trig}.df); compare --cases "${all[@]}" || failures=1; fi
compare --plain --cases "${all[@]}" || failures=1
compare --all-levels --cases "$cases/rounded.df" $(! long || echo "$cases/gathers.df") || failures=1
compare --plain --modes=--cflags=-DDF_NEAR=99 --cases "$cases/gathers.df" $(! long || echo "$cases/sums.df") || failures=1 # places as in ports of more than 2^31 elements

# Random programs. Those with accs and with bounds differ from the others in what is read and added, not in how loops are optimised.
quick=; long || quick=--plain
compare --programs="${DF_FORMULAS:-3}" --first="${DF_FORMULAS_FIRST:-1}" --sizes=4 || failures=1
compare $quick --accs --programs=2 --first="${DF_FORMULAS_FIRST:-1}" --sizes=4 --modes=--parts=3 || failures=1
compare $quick --bounded --programs=2 --first="${DF_FORMULAS_FIRST:-1}" --sizes=4 --refused=0.4 || failures=1

# A difference is found: the library is made of one text, and the interpreter reads another.
cat >one.df <<'END'
// sizes one: h=5 w=9
kernel k_one(in a: f32[h, w], out b: f32[h, w - 1]) { b[y, x] = a[y, x + 1] * 0.5; }
graph one(in a: f32[h, w], out b: f32[h, w - 1]) { b = k_one(a); }
END
sed 's/x + 1/x/' one.df >other.df
expect difference 1 '^not ok formulas-one-one: .* b\[[0-9], [0-9]\] is .* and not ' compare --plain --cases one.df --against=other.df
