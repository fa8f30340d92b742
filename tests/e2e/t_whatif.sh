# dfc explain --what-if against reruns of dfc simulate with each change: a few graphs; WHATIF=all takes more (make check-long). And before and after a profile.
export DFC_PROFILE=$PWD/none.db
last=3; [ "${WHATIF:-}" = all ] && last=47
compare() { # KIND POLICY LAST [FIRST]
    python3 "$programs/whatif.py" "$DFC" "$1" "$2" "${4:-0}" "$3" || failures=$((failures + 1))
}
compare wave gp "$last"
compare stream gp "$last"
compare stream gp-thesis 10 10          # first come, first served: a third longer than by ranks
# Their orders are not gp's.
[ "$last" = 47 ] || last=1
compare wave all-cpu "$last"
compare wave all-gpu "$last"
if [ "${WHATIF:-}" = all ]; then compare stream all-gpu 11; compare stream gp-thesis 11; fi

# Before and after a profile of the CPU, on three machines that are not at hand. The times that a profile stores are replaced by fixed ones, so that all of
# it is the same everywhere. A GPU's time is then estimated, from the formula's operations or from the rates of the platform, and called so.
cp "$programs/cells.df" . && echo > label.cu && cp "$DF_SOURCE"/examples/platforms/{titan,laptop,server}.df .
DFC_PROFILE=$PWD/cells.db "$DFC" profile cells.df --nvcc=none -w --max-time=5ms >profile.log 2>&1 || fail profile "$(<profile.log)"
python3 - <<'END'
import sqlite3
db = sqlite3.connect("cells.db")
for kernel, mean_s in {"load": 2e-3, "blur": 4e-4, "label": 6e-3, "sizes": 3e-3, "save": 1e-6}.items():
    db.execute("UPDATE samples SET mean_s = ?, ci_s = 0 WHERE kernel = ?", (mean_s, kernel))
db.commit()
END
# whatif PLATFORM DATABASE: the wave, the times of blur and label, and each change, in short, are the lines of stdin.
whatif() {
    DFC_PROFILE=$PWD/$2.db "$DFC" explain cells.df --what-if --platform="$1.df" 2>&1 |
        sed -nE 's/^cells.df on .*: ([0-9.]+ ms) for one wave.*/\1/p; s/^ +time +([0-9.]+ [mu]s) here \((\w+)\), .*\((\w+)\)$/\1 \2 (\3)/p; s/^ +([0-9.]+)x faster +(.*)/\1x \2/p; s/^ +no gain +(one more GPU|a GPU).*(\(GPU times .*)/no gain \1 \2/p' >said
    cat >wanted; same "$1-$2" said wanted
}
whatif titan none <<'END'
7.72 ms
39.7 us estimated (estimated)
664 us default (default)
no gain one more GPU (GPU times assumed)
1.13x link twice as fast (each copy in half the time): 6.84 ms (GPU times assumed)
3.28x a gpu variant of sizes, 19.2x as fast as its cpu variant: 2.35 ms (GPU times assumed)
END
whatif titan cells <<'END'
7.13 ms
39.7 us estimated (measured)
320 us estimated (measured)
no gain one more GPU (GPU times estimated)
1.14x link twice as fast (each copy in half the time): 6.25 ms (GPU times estimated)
2.46x a gpu variant of sizes, 19.2x as fast as its cpu variant: 2.9 ms (GPU times estimated)
END
whatif laptop none <<'END'
6.05 ms
133 us estimated (estimated)
666 us default (default)
no gain one more GPU (GPU times assumed)
1.63x a gpu variant of sizes, 2.27x as fast as its cpu variant: 3.71 ms (GPU times assumed)
END
whatif laptop cells <<'END'
7.79 ms
133 us estimated (measured)
2.66 ms estimated (measured)
no gain one more GPU (GPU times estimated)
1.27x a gpu variant of sizes, 2.27x as fast as its cpu variant: 6.13 ms (GPU times estimated)
END
whatif server none <<'END'
6.32 ms
7.51 us estimated (estimated)
661 us default (default)
no gain one more GPU (GPU times assumed)
1.03x link twice as fast (each copy in half the time): 6.12 ms (GPU times assumed)
3.44x a gpu variant of sizes, 277x as fast as its cpu variant: 1.83 ms (GPU times assumed)
END
whatif server cells <<'END'
5.43 ms
7.51 us estimated (measured)
26.7 us estimated (measured)
no gain one more GPU (GPU times estimated)
1.04x link twice as fast (each copy in half the time): 5.23 ms (GPU times estimated)
2.53x a gpu variant of sizes, 277x as fast as its cpu variant: 2.14 ms (GPU times estimated)
END
# Without rates it is an eighth of the CPU's time, as is assumed when nothing is known; and only who asks for the emulated GPU has the CPU's time there.
sed -E 's/ (bandwidth|flops) = [^;]*;//g' titan.df >bare.df
whatif bare cells <<'END'
7.58 ms
58 us default (measured)
758 us default (measured)
no gain one more GPU (GPU times assumed)
1.13x link twice as fast (each copy in half the time): 6.7 ms (GPU times assumed)
2.12x a gpu variant of sizes, 8x as fast as its cpu variant: 3.57 ms (GPU times assumed)
END
export DFC_PROFILE=$PWD/cells.db
expect emulated 0 'time +6 ms here \(measured\), 6.01 ms on titan \(estimated\)' "$DFC" explain cells.df --platform=titan.df --device=emu
expect partition 0 '^times +5 measured, 2 estimated from other sizes or devices, from operations or from rates$' "$DFC" partition cells.df --platform=titan.df
expect simulate 0 '^Times: 5 measured, 2 by the stated default, because nothing is known\.$' "$DFC" simulate cells.df --platform=bare.df --policy=heft
expect simulate-json 0 '"gpu_times": "estimated"' "$DFC" simulate cells.df --platform=titan.df --policy=heft --format=json
expect rehearsal 0 '^Times: 5 measured, 2 estimated' "$DFC" compare cells.df --platform=titan.df --policy=heft --rehearse --runs=1
expect csv-after 0 '^"a gpu variant of sizes, 19.2x as fast as its cpu variant",0.0028[0-9]*,2.46[0-9]*,estimated$' "$DFC" explain cells.df --platform=titan.df --what-if --format=csv
expect emit-plan 0 'label.* gpu [0-9.]+ us \(estimated\)$' "$DFC" cells.df --emit=plan --platform=titan.df
