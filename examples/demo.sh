#!/usr/bin/env bash
# What dfc does, in a minute: demo.sh BUILDDIR OUTDIR. Finds the nuclei in a picture of tissue and the edges of a photo, checks both, and simulates the
# thesis's graphs on the thesis's machine under several policies. Says what came out, and where the pictures are.
#   PHOTO=picture.png TISSUE=stained.png make demo      on pictures of yours (default: some that are made here)
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1") out=$2; mkdir -p "$out"
dfc=$build/bin/dfc host_cc=${CC:-cc}
export DFC_PROFILE=${DFC_PROFILE:-$(realpath "$out")/profile.db}   # the demo's own: nothing of it stays in your home
png=$(pkg-config --cflags --libs libpng 2>/dev/null || echo "-I$build/include -L$build/lib -Wl,-rpath,$build/lib -lpng")
quiet() { "$@" >"$out/log" 2>&1 || { cat "$out/log"; exit 1; }; }
c() { # PROGRAM SOURCE
    # shellcheck disable=SC2086
    quiet $host_cc -std=c11 -D_GNU_SOURCE -O2 -o "$out/$1" "examples/$2" $png -lm
}
# The first number of a key in the statistics of a run.
seconds() { sed -n 's/.*"makespan_s": \([0-9.e+-]*\).*/\1/p' "$out/stats.json"; }
fastest() { # COMMAND…: of three runs
    for _ in 1 2 3; do quiet "$@" --stats=json --stats-file="$out/stats.json"; seconds; done | sort -g | head -n 1
}

echo 'dfc compiles a graph of kernels into a program that runs on all CPU cores and GPUs. Three examples; the first two are compiled and run here.'
echo
tissue=${TISSUE:-$out/nuclei-in.png}
[ -n "${TISSUE:-}" ] || { c tissue nuclei/synthetic.c; "$out/tissue" 1500 1000 1 "$tissue"; }
echo '1. Nuclei in stained tissue (examples/nuclei: from colours to outlines and shapes, kernels as formulas and in C)'
quiet "$dfc" examples/nuclei/nuclei.df -o "$out/nuclei" -D tile=512 --nvcc=none
nuclei=("$out/nuclei" --input="$tissue" --overlay="$out/nuclei-out.png" --device=none)
one=$(fastest "${nuclei[@]}" --workers=1 --table="$out/nuclei.csv")
all=$(fastest "${nuclei[@]}" --table="$out/nuclei-all.csv")
awk -F, 'NR > 1 { n++; area[n] = $7 } END { print n, area[int((n + 1) / 2)] }' <(head -n 1 "$out/nuclei.csv"; tail -n +2 "$out/nuclei.csv" | sort -t, -k7,7g) >"$out/found"
read -r n area <"$out/found"
echo "   found       $n nuclei, the median one of $area pixels; a row of measures for each, and the picture with their outlines"
awk -v one="$one" -v all="$all" -v n="$(nproc)" 'BEGIN { printf "   time        %.2f s on one core, %.2f s on all %d: %.1f times as fast\n", one, all, n, one / all }'
quiet "$out/nuclei" --input="$tissue" --overlay="$out/nuclei-emulated.png" --table="$out/nuclei-emulated.csv" --device=emu --policy=gp
for other in nuclei-all.csv nuclei-emulated.csv; do cmp -s "$out/nuclei.csv" "$out/$other" || { echo "   $out/$other is another table than $out/nuclei.csv"; exit 1; }; done
cmp -s "$out/nuclei-out.png" "$out/nuclei-emulated.png" || { echo '   the emulated GPU makes another picture'; exit 1; }
echo '   checked     the same table and picture, byte for byte, on one core, on all, and with a GPU beside them (an emulated one)'
rm -f "$out"/nuclei-{emulated.png,emulated.csv,all.csv}
echo
picture=${PHOTO:-$out/photo-in.png}
[ -n "${PHOTO:-}" ] || { c synthetic photo/synthetic.c; "$out/synthetic" 1500 1000 1 "$picture"; }
echo '2. Edges of a photo (examples/photo: grey, blur, gradient, tile by tile)'
quiet "$dfc" examples/photo/photo.df -o "$out/photo" --nvcc=none
quiet "$out/photo" --input="$picture" --output="$out/photo-out.png" --device=emu --trace="$out/photo-trace.json"
c check photo/check.c
echo "   checked     against a second program, pixel by pixel: $("$out/check" "$picture" "$out/photo-out.png" | tail -n 1)"
echo
echo "3. Where should each kernel run? The thesis's graphs of 38 matrix kernels and 75 dependencies, 1024 x 1024, simulated on its machine:"
echo '   three CPU cores and a GTX TITAN, times by their data sheets (examples/matrix/titan.df). Nothing is run for this.'
policies='all-cpu all-gpu eager dmda gp-thesis gp'
quiet $host_cc -std=c11 -O2 -o "$out/generate" examples/matrix/generate.c
cp examples/matrix/titan.df "$out/"
for kind in ma mm; do
    "$out/generate" --kind=$kind --n=1024 --titan >"$out/thesis-$kind.df"
    quiet "$dfc" simulate "$out/thesis-$kind.df" --policy="${policies// /,}" --format=csv -o "$out/thesis-$kind.csv"
    quiet "$dfc" simulate "$out/thesis-$kind.df" --policy=gp --gantt="$out/thesis-$kind-gantt.svg"
    for policy in gp gp-thesis; do quiet "$dfc" partition "$out/thesis-$kind.df" --policy=$policy --svg="$out/thesis-$kind-partition-$policy.svg"; done
done
awk -F, 'FNR > 1 { ms[FILENAME, $3] = 1e3 * $4 } END {
    split("all-cpu all-gpu eager dmda gp-thesis gp", policies, " ")
    says["all-cpu"] = "all kernels on the CPU"; says["all-gpu"] = "all on the GPU"; says["eager"] = "who is idle takes the next one"
    says["dmda"] = "each where it ends first, copies included (StarPU'"'"'s)"; says["gp-thesis"] = "the graph cut once by METIS, as the thesis does"
    says["gp"] = "the cut, then improved by simulating it (dfc'"'"'s default)"
    printf "   %-10s %-56s %12s %14s\n", "policy", "", "additions", "products"
    for (i = 1; i <= 6; i++) { p = policies[i]; printf "   %-10s %-56s %9.2f ms %11.2f ms\n", p, says[p], ms[ARGV[1], p], ms[ARGV[2], p] }
    for (k = 1; k <= 2; k++)
        printf "   %s: gp takes 1/%.1f of the time of the CPU alone, %.0f %% of that of the GPU alone, and %.0f %% of that of the thesis'"'"'s cut.\n", k == 1 ? "additions" : "products",
            ms[ARGV[k], "all-cpu"] / ms[ARGV[k], "gp"], 100 * ms[ARGV[k], "gp"] / ms[ARGV[k], "all-gpu"], 100 * ms[ARGV[k], "gp"] / ms[ARGV[k], "gp-thesis"] }' \
    "$out/thesis-ma.csv" "$out/thesis-mm.csv"
echo
cat <<EOT
Pictures
   nuclei      $tissue, with outlines $out/nuclei-out.png, measures $out/nuclei.csv
   photo       $picture, edges $out/photo-out.png; who did what when: $out/photo-trace.json (for ui.perfetto.dev)
   placements  $out/thesis-ma-partition-gp.svg (-gp-thesis, and thesis-mm-… beside it)
   schedules   $out/thesis-ma-gantt.svg $out/thesis-mm-gantt.svg
EOT
rm -f "$out"/{log,found,stats.json}
