# Groups of formulas over extents that differ from wave to wave: the same bits as without groups, on the host and the emulated GPU; a
# group is left out in the waves in which its members would be; extents that need not be equal are compared, so such nodes stay apart.
formulas_for none
cp "$DF_SOURCE"/tests/e2e/programs/bounded/fused.df .
for chain in 1 2; do
    check "compiles $chain" "$DFC" fused.df --nvcc=none -D chain=$chain -o fused$chain
    check "compiles $chain alone" "$DFC" fused.df --nvcc=none -D chain=$chain --no-fuse -o alone$chain
    ./alone$chain --waves=12 --workers=1 2>&1 | sort >want
    for o in --workers=1 '--workers=3 --policy=eager' '--device=emu --emu-all --policy=all-gpu'; do
        # shellcheck disable=SC2086
        ./fused$chain --waves=12 $o 2>&1 | sort >got; same "chain $chain $o" got want
    done
done
[ "$(wc -l <want)" = 10 ] && pass leaves-out || fail leaves-out "$(cat want)"     # of 12 waves two have no row for 'cut'
expect fused 0 '^fused: main/grey\+wide\+row\+mix: ' "$DFC" fused.df --emit=plan
expect fused-apart 0 '^not fused: mix and inner, line 34: its extents may be below 1 in a wave, in which others are not$' "$DFC" fused.df --emit=plan
expect fused-inside 0 '^fused: main/cut\+grow\+pair: ' "$DFC" fused.df --emit=plan -D chain=2
expect unequal 0 '^not fused: (twice|more) and mix, line 47: extents of its inputs differ from wave to wave, and need not be equal$' \
    "$DFC" fused.df --emit=plan -D chain=3
check unequal-compiles "$DFC" fused.df --nvcc=none -D chain=3 -o unequal
expect unequal-fails 1 "node 'main/mix', wave 0: dimension h is 2 from 'a', made by 'main/grey\+twice\+more', but 701 from 'b', made by" ./unequal --workers=1
cat >none.df <<'E'
kernel take(out p: u8[h <= 9]) cpu {{ *h = 2; p[0] = p[1] = 3; }};
kernel tell(in p: u8[h]) cpu {{ printf("%zu %d\n", h, p[1]); }};
kernel idle(in p: u8[h], out q: u8[h]) { q[i] = p[i]; }
graph main { p: u8[h <= 9] = take(); tell(p); }
E
check none-compiles "$DFC" none.df --nvcc-flags=-arch=compute_80 -o none          # a kernel of a formula, and no node of one
expect none 0 '^2 3$' ./none
sed 's/= take()/= four()/; s/h <= 9\] = /9] = /' none.df >uncalled.df
echo 'kernel four(out p: u8[h]) cpu {{ p[1] = 4; (void)h; }};' >>uncalled.df
check uncalled-compiles "$DFC" uncalled.df "$(long && echo --nvcc-flags=-arch=compute_80 || echo --nvcc=none)" -o uncalled    # what decides an extent is called by nobody
expect uncalled 0 '^9 4$' ./uncalled
