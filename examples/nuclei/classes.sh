#!/usr/bin/env bash
# nuclei on three classes of devices, beside what is predicted: classes.sh BUILDDIR OUTDIR
# A CPU worker, the emulated GPU and, as class `mic` of a platform file, OpenCL's first device, which is PoCL's on most machines. Kernels are not fused, so that all
# formulas are jobs. Table and overlays must be those of the CPU alone. For each policy a line says how long the run took and how many jobs each class had, beside
# what the program predicts in virtual time (--device=sim). Nothing else should run meanwhile.
#   TIMES=measured      `dfc probe` and `dfc profile` measure the devices, each kernel on each class
#   TIMES=even          costs, by which a job takes about 1 ms on each class. Then every class must have jobs, and under heft as many as predicted
#   SIDE=256 TILES=12   sides of a tile, and how many there are
#   INFLIGHT=4 POLICIES="pams heft gp"
set -u
here=$(cd "$(dirname "$0")" && pwd); build=$(realpath "$1"); mkdir -p "$2"; cd "$2" || exit 1
dfc=$build/bin/dfc side=${SIDE:-256} tiles=${TILES:-12} inflight=${INFLIGHT:-4} policies=${POLICIES:-pams heft gp} times=${TIMES:-measured} failed=0
export DFC_PROFILE=$PWD/classes.db
verdict() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "FAILED $2"; failed=1; fi; }
must() { local said; said=$("${@:2}" 2>&1) || { echo "FAILED $1: $said"; exit 1; }; }
"$dfc" doctor --quick | grep -q '^  ok .* OpenCL ' || { echo 'skipped: there is no OpenCL device'; exit 0; }

# shellcheck disable=SC2046
must synthetic ${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -o synthetic "$here/synthetic.c" $(pkg-config --cflags --libs libpng 2>/dev/null || echo "-I$build/include -L$build/lib -Wl,-rpath,$build/lib -lpng") -lm
must picture ./synthetic "$side" "$side" 1 classes.png
for ((i = 0; i < tiles; i++)); do echo classes.png; done >classes.txt
graph=(-D "tile=$side" -D list=1 --no-fuse --nvcc=none -w) files=(--input=@classes.txt --table=got.csv --overlay=got%03d.png)

# ---- the platform, and times ----
if [ "$times" = measured ]; then
    for device in emu opencl; do must "probe $device" "$dfc" probe --device=$device --quick -o $device.df; done
    { sed '/^}/d' emu.df; sed -n 's/^ *gpu [^{]*/    mic phi /p' opencl.df; echo '}'; } >three.df
    graph=("$here/nuclei.df" "${graph[@]}" "--device=emu,opencl" --platform=three.df)
    must profile "$dfc" profile "${graph[@]}" --max-time=0.2s -- "${files[@]}"
else
    link='h2d = 5 GB/s, 10 us; d2h = 5 GB/s, 10 us'
    echo "platform three { cpu host { workers = 1; } gpu card { memory = 1 GiB; $link; } mic phi { memory = 1 GiB; $link; } }" >three.df
    graph=(classes/nuclei.df "${graph[@]}" --device=emu --platform=three.df)
    mkdir -p classes && cp -r "$here/kernels" classes/
    python3 - "$here" <<'EOF' || exit 1
import os, re, sys
here = sys.argv[1]
def price(formula):
    return " cost cpu 1009us gpu 907us" + (" mic 953us" if formula else "")     # without ties, for units come in another order in the run
for file in ("nuclei.df", "segment.df", "features.df"):
    kernel, text = None, ""
    for line in open(os.path.join(here, file)):
        if line.startswith("kernel "):
            kernel, formula = True, False
        if kernel:
            formula = formula or re.search(r" \{(?!\{)", line) is not None
            if formula and line.endswith("}\n"):
                line, kernel = line[:-1] + price(True) + ";\n", None
            elif not formula and line.endswith(";\n"):
                line, kernel = line[:-2] + (price(False) if ' gpu "' in line else "") + ";\n", None
        text += line
    open(os.path.join("classes", file), "w").write(text)
EOF
fi
must compile "$dfc" "${graph[@]}" -o classes_nuclei
must 'CPU alone' ./classes_nuclei --device=none "${files[@]}"
mv got.csv want.csv; mv got000.png want.png

# ---- runs, and predictions ----
run() { # POLICY OPTION…
    ./classes_nuclei --policy="$1" --platform=three.df --guard=off --inflight="$inflight" "${files[@]}" --stats=json,totals "${@:2}" 2>&1
}
same() {
    local overlay n=0
    cmp got.csv want.csv || return
    for overlay in got*.png; do cmp "$overlay" want.png || return; n=$((n + 1)); done
    [ $n = "$tiles" ]
}
for policy in $policies; do
    for turn in warm timed; do          # PoCL compiles a kernel when it is first launched
        rm -f got*
        said=$(run "$policy" --device=emu,opencl --stats-file=ran.json) && same; verdict $? "$policy, $turn run: the CPU's bytes$(sed -n 's/^.*error/: &/p' <<<"$said")"
    done
    must "predict $policy" run "$policy" --device=sim --waves="$tiles" --stats-file=predicted.json
    python3 - "$policy" "$times" <<'EOF'; verdict $? "$policy: jobs of the classes"
import json, sys
def figures(name):
    stats = json.load(open(name))
    jobs = {"cpu": 0, "gpu": 0, "mic": 0}
    for w in stats["workers"]:
        jobs["cpu" if w["name"].startswith("cpu ") else "gpu" if w["name"] in ("emu0", "card") else "mic"] += w["jobs"]
    return stats["makespan_s"], jobs
policy, times = sys.argv[1:]
(ran_s, ran), (predicted_s, predicted) = figures("ran.json"), figures("predicted.json")
told = lambda jobs: ", ".join(f"{n} {c}" for c, n in jobs.items())
print(f"{policy}: {ran_s:.3f} s, predicted {predicted_s:.3f} s; jobs: {told(ran)}; predicted {told(predicted)}")
sys.exit(times == "even" and (min(ran.values()) == 0 or policy == "heft" and any(ran[c] != predicted[c] for c in ("gpu", "mic"))))
EOF
done
exit $failed
