#!/bin/sh
# cc.sh ARGUMENT…: compiles formulas for one level of instructions (FORMULA_LEVEL), and has clang write into $LISTS/FILE_formulas.yaml which loops it made
# vectors of. FILE_formulas.c is copied there, too; large kernels have a file each, FILE_formulas1.c and so on. Nothing else is compiled, and no program
# is made. What dfc asks about flags clang answers.
for last; do :; done
case $last in
    *_formulas*_"$FORMULA_LEVEL".c)
        name=${last##*/}; name=${name%_*}
        cp "${last%/*}/$name.c" "$LISTS"
        exec clang "$@" -fsave-optimization-record -foptimization-record-passes=loop-vectorize -foptimization-record-file="$LISTS/$name.yaml" ;;
    /dev/null) exec clang "$@" ;;
esac
