# dfc explain --what-if against reruns of dfc simulate with each change: a few graphs; WHATIF=all takes more (make check-long).
export DFC_PROFILE=$PWD/none.db
last=3; [ "${WHATIF:-}" = all ] && last=47
compare() { # KIND POLICY LAST
    python3 "$programs/whatif.py" "$DFC" "$1" "$2" 0 "$3" || failures=$((failures + 1))
}
compare wave gp "$last"
compare stream gp "$last"
# Their orders are not gp's.
[ "$last" = 47 ] || last=1
compare wave all-cpu "$last"
compare wave all-gpu "$last"
if [ "${WHATIF:-}" = all ]; then compare stream all-gpu 11; compare stream gp-thesis 11; fi
