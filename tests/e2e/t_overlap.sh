# Copies beside computing on the emulated GPU: tokens whose copy takes as long as their computing (a pause), 4.2 ms each by a link of 1 GB/s. By the trace
# copies begin or end while a job computes; `make bench` has the figure of what is hidden.
cp "$DF_SOURCE"/tests/bench/gpu/* .
echo 'platform slow { cpu host { workers = 2; } gpu emulated { memory = 1 GiB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; engines = 2; launch = 5 us; } }' >link.df
check compile "$DFC" stream.df -o stream --nvcc=none
check run ./stream --device=emu --platform=link.df --policy=all-gpu --waves=24 --inflight=8 --us=4204 --trace=overlap.json
expect overlap 0 '^ok$' python3 -c '
import json
events = [e for e in json.load(open("overlap.json"))["traceEvents"] if e["ph"] == "X"]
span = lambda e: (e["ts"], e["ts"] + e["dur"])
jobs = [span(e) for e in events if e["cat"] == "job" and e["name"] == "main/work"]
copies = [span(e) for e in events if e["cat"] == "h2d"]
beside = sum(any(a < end and begin < b for begin, end in jobs) for a, b in copies)
print("ok" if len(jobs) == len(copies) == 24 and beside >= 6 else f"{len(jobs)} jobs, {len(copies)} copies, {beside} beside a job")'
expect right 0 '' ./stream --device=emu --policy=all-gpu --waves=24
