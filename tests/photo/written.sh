#!/bin/sh
# Prints examples/photo/photo.df with the written variants of this folder, filter.c and filter.cu, in place of the code that formulas give:
# written.sh FOLDER, where FOLDER is the one that the files are named by.
sed '/^kernel /,/^}/ s|^}$|} cpu "'"$1"'/filter.c" gpu "'"$1"'/filter.cu";|' "$(dirname "$0")/../../examples/photo/photo.df"
