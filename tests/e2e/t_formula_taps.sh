# Formulas with many taps, in instructions that a call executes (tests/bench/taps.py): they are in proportion to the taps, in a row and in a column, and a
# kernel whose number of taps is an extent, or a param that is known at start, executes at most twice those of one in which it is a constant, and
# for few taps at most 1.25 times; a small window a little more, for the columns near the ends of rows.
if [[ -n $(grep fsanitize "$DF_BUILD/obj/flags") ]] || ! command -v valgrind >/dev/null || [ "$(uname -m)" != x86_64 ] || ! ${CC:-cc} --version | grep -q 'Free Software'; then
    skip taps 'no valgrind, a sanitizer, or a compiler that is not known to make vectors of these loops'
else
    check count sh -c 'python3 "$1/tests/bench/taps.py" "$2" taps --instructions >taps.counts' - "$DF_SOURCE" "$DF_BUILD"
    # at_most NAME LIMIT KERNEL TAPS OTHER TAPS: the kernel's count is at most LIMIT times the other's
    at_most() {
        local ratio
        ratio=$(awk -v a="$3 $4" -v b="$5 $6" '{ n[$1 " " $2] = $3 } END { if (n[a] && n[b]) printf "%.3f", n[a] / n[b] }' taps.counts)
        if awk -v r="${ratio:-99}" -v most="$2" 'BEGIN { exit !(r <= most) }'; then pass "$1"; else fail "$1" "${ratio:-no count}, at most $2"; fi
    }
    for way in row column; do
        at_most "$way-65" 1.18 f_${way}_65 65 f_${way}_63 63
        ! long || at_most "$way-121" 2.1 f_${way}_121 121 f_${way}_63 63
        at_most "$way-241" 4.2 f_${way}_241 241 f_${way}_63 63
        for n in 31 63; do at_most "$way-extent-$n" 2 f_$way $n f_${way}_$n $n; done
        for n in 3 $(! long || echo 5 7) 9 15; do at_most "$way-extent-$n" 1.25 f_$way $n f_${way}_$n $n; done
    done
    at_most row-bytes 1.18 u_row_65 65 u_row_63 63
    at_most column-doubles 1.18 d_column_65 65 d_column_63 63
    at_most window 2.2 f_window 7 f_window_7 7
    for n in 31 63; do at_most "call-$n" 2 f_call $n f_row_$n $n; done
    # Integers without taps: a row of sums is made of that of the row before it, and a sum of that of the column before it.
    at_most sums-row 1.4 s_row_241 241 s_row_65 65
    at_most sums-column 1.7 rows_s_column_241 241 rows_s_column_65 65
    at_most sums-column-extent 1.1 rows_s_column 65 rows_s_column_65 65
    at_most sums-box 8 rows_s_box_31 31 rows_s_column_65 65
    at_most sums-box-extent 2 rows_s_box 65 rows_s_box_31 31
    at_most condition 1.28 c_row 31 c_row_31 31
    at_most exp 1.3 e_row 31 e_row_31 31
    for n in 31 63; do at_most "pixels-extent-$n" 2 p_column $n p_column_$n $n; done
    at_most pixels-65 1.3 p_column_65 65 p_column_63 63
    at_most dynamic 2 f_dynamic 63 f_row_63 63
fi
