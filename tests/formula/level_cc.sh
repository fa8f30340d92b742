#!/usr/bin/env bash
# The C compiler that compare.py gives to dfc: level_cc.sh ARGUMENT…. It calls FORMULA_CC. Formulas are compiled for one level of instructions,
# FORMULA_LEVEL ("", "v3", …), with FORMULA_FLAGS behind dfc's own. The functions of the other levels call these, so whatever the program chooses,
# that level runs. All else is not optimised, and with FORMULA_LEVEL=none no formula is: then the one level is "".
# level_cc.sh --c++ ARGUMENT… calls FORMULA_CXX, and optimises a little: what a GPU does is much, if it runs on the host.
[ "$1" != --c++ ] || exec $FORMULA_CXX "${@:2}" -O1
file=${*: -1} flags=$FORMULA_FLAGS
case $file in
    *_formulas.c) level= ;;
    *_formulas_v[0-9].c) level=_${file##*_formulas_}; level=${level%.c} ;;
    *.c) exec $FORMULA_CC "$@" -O0 ;;
    *) exec $FORMULA_CC "$@" ;;
esac
[ "$FORMULA_LEVEL" != none ] || { FORMULA_LEVEL='' flags=-O0; }
wanted=${FORMULA_LEVEL:+_$FORMULA_LEVEL}
[ "$level" != "$wanted" ] || exec $FORMULA_CC "$@" $flags
sed -n "s/^int DF_LEVEL(\(df_formula_[A-Za-z0-9_]*\)).*/int \1$wanted(void *, void *, void *, void *, void *);\n&/p" "${file%_formulas*}_formulas.c" |
    sed "s/^int DF_LEVEL(\(.*\)).*/int \1$level(void *a, void *b, void *c, void *d, void *e) { return \1$wanted(a, b, c, d, e); }/" >"$file.calls.c"
exec $FORMULA_CC "${@:1:$#-1}" "$file.calls.c"
