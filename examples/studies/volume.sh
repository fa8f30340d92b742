#!/bin/bash
# volume.sh BUILDDIR OUTDIR: the thesis's Table 5.2 and the sizes of its Figure 5.7, simulated on its platform (volume.df): ct.csv, ct.svg and
# overlap.csv in OUTDIR.
#
# A limit is of the volume; two projections in flight and the next are beside it (18 MiB). The volume has as many parts as it needs to fit in the limit.
set -eu
here=$(cd "$(dirname "$0")" && pwd) dfc=$(cd "$1" && pwd)/bin/dfc out=$2
mkdir -p "$out"
simulated() { # OPTION…: seconds of all waves
    "$dfc" simulate "$here/volume.df" --waves=496 --format=csv "$@" | python3 -c 'import csv, sys; print(next(csv.DictReader(sys.stdin))["makespan_s"])'
}
echo 'n,limit_mib,parts,simulated_s,thesis_s' >"$out/ct.csv"
for n in 256 512 768 1024; do
    for limit in 4096 2048 1024 512 256; do
        mib=$((n * n * n / 262144)) parts=$(((n * n * n / 262144 + limit - 1) / limit)) said=
        [ $n != 1024 ] || case $limit in 4096) said=14.69 ;; 2048) said=14.75 ;; 1024) said=14.77 ;; 512) said=14.83 ;; 256) said=14.93 ;; esac
        s=$(simulated -D n=$n -D memory=$(((mib < limit ? mib : limit) + 18)) --parts=$parts --inflight=2 --policy=all-gpu)
        echo "$n,$limit,$parts,$s,$said" >>"$out/ct.csv"
    done
done
# All fits. With one wave in flight a projection is copied, then added, then the next one comes: nothing overlaps. Then two in flight; and what dfc
# chooses by itself for so many waves.
echo 'n,serial_s,overlapped_s,chosen_s,kernels_s,less_percent,thesis_percent' >"$out/overlap.csv"
for n in 256 512 768 1024; do
    said=; case $n in 256) said=38 ;; 512) said=10 ;; esac
    python3 -c '
import sys
n, said, serial, overlapped, chosen = int(sys.argv[1]), sys.argv[2], *map(float, sys.argv[3:])
print(n, serial, overlapped, chosen, f"{496 * 0.0270379e-9 * n**3:.9g}", f"{100 * (1 - chosen / serial):.1f}", said, sep=",")' $n "$said" \
        "$(simulated -D n=$n --parts=1 --inflight=1 --policy=all-gpu)" "$(simulated -D n=$n --parts=1 --inflight=2 --policy=all-gpu)" \
        "$(simulated -D n=$n --policy=gp)" >>"$out/overlap.csv"
done
python3 - "$out/ct.csv" "$out/ct.svg" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
sizes, limits = sorted({int(r['n']) for r in rows}), sorted({int(r['limit_mib']) for r in rows})
most = 1.1 * max(float(r['simulated_s']) for r in rows)
text = lambda x, y, s, anchor='middle': f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{s}</text>'
grey = ['#1b3a57', '#2f6690', '#5b94bd', '#93bcd8', '#c8dceb']
p = ['<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360" font-family="sans-serif" font-size="12">',
     '<rect width="640" height="360" fill="white"/>', text(320, 20, 'Back-projection of 496 projections on the platform of the thesis, simulated')]
for s in range(0, int(most) + 1, 5):
    y = 310 - 270 * s / most
    p += [f'<line x1="50" y1="{y:.1f}" x2="630" y2="{y:.1f}" stroke="#ddd"/>', text(44, y + 4, f'{s} s', 'end')]
for r in rows:
    i, j, h = sizes.index(int(r['n'])), limits.index(int(r['limit_mib'])), 270 * float(r['simulated_s']) / most
    x = 60 + 143 * i + 24 * j
    p.append(f'<rect x="{x}" y="{310 - h:.1f}" width="21" height="{h:.1f}" fill="{grey[j]}"/>')
    if r['thesis_s']:
        y = 310 - 270 * float(r['thesis_s']) / most
        p.append(f'<line x1="{x - 1}" y1="{y:.1f}" x2="{x + 22}" y2="{y:.1f}" stroke="#c00" stroke-width="2"/>')
p += [text(60 + 143 * i + 60, 328, f'{n}³ voxels') for i, n in enumerate(sizes)]
for j, limit in enumerate(limits):
    p += [f'<rect x="{60 + 95 * j}" y="338" width="12" height="12" fill="{grey[j]}"/>', text(76 + 95 * j, 349, f'{limit} MiB', 'start')]
p += ['<line x1="540" y1="344" x2="560" y2="344" stroke="#c00" stroke-width="2"/>', text(565, 349, 'thesis', 'start'), '</svg>']
open(sys.argv[2], 'w').write('\n'.join(p) + '\n')
PY
