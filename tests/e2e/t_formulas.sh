# Formulas by two readings of the language: dfc's, and that of an interpreter which was written apart from it (tests/formula).

# Of random programs some of whose reads go outside, dfc refuses these; of the others the interpreter sees no such read on any size.
python3 "$DF_SOURCE/tests/formula/compare.py" "$DF_BUILD" --wild --programs=60 --sizes=4 || failures=1
