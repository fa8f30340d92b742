#!/bin/sh
# A C compiler for dfc in tests: level_cc.sh --formulas=LEVEL[,FLAG…] ARGUMENT…. It calls FORMULA_CC. It knows no level of instructions above LEVEL
# ("", v3, …), so with dfc --here formulas are compiled for that level alone, if this machine has it; with "" they are so anyway. FLAGs stand behind
# dfc's own. LEVEL none is "", not optimised. All that is no formula is not optimised. What is asked for stands in the command, not in variables,
# because dfc keeps objects by the command that made them.
# level_cc.sh --c++ ARGUMENT… calls FORMULA_CXX, which does not optimise, and for which <math.h> has no functions of C++17: they take a quarter of a second.
[ "$1" != --c++ ] || { shift; exec $FORMULA_CXX -std=gnu++14 "$@" -O0; }
given=${1#--formulas=},; level=${given%%,*} given=${given#*,} flags=; shift
while [ "$given" ]; do flags="$flags ${given%%,*}" given=${given#*,}; done
[ "$level" != none ] || level='' flags=-O0
for last; do :; done
case $last in
    /dev/null)                          # dfc asks whether it knows a level's flags
        asked=$*; asked=${asked#*-march=x86-64-}; asked=${asked%% *}
        case $asked in v[0-9]) [ ! "$asked" \> "$level" ] || exit 1 ;; esac
        exec $FORMULA_CC "$@" ;;
    *_formulas.c | *_formulas[0-9]*.c | *_formulas_v[0-9].c) exec $FORMULA_CC "$@" $flags ;;
    *.c) exec $FORMULA_CC "$@" -O0 ;;
    *) exec $FORMULA_CC "$@" ;;
esac
