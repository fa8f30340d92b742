# Copies beside computing: tokens whose copy takes as long as their computing on the emulated GPU (a pause), 4.2 ms each by a link of 1 GB/s, and tokens whose computing takes
# longer on an OpenCL device. By the trace copies begin or end while a job computes; `make bench` has the figure of what is hidden on the emulator.
cp "$DF_SOURCE"/tests/bench/gpu/* .
echo 'platform slow { cpu host { workers = 2; } gpu emulated { memory = 1 GiB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; engines = 2; launch = 5 us; } }' >link.df
check compile "$DFC" stream.df -o stream --nvcc=none
beside() { # TRACE
    python3 -c '
import json, sys
events = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X"]
span = lambda e: (e["ts"], e["ts"] + e["dur"])
jobs = [span(e) for e in events if e["cat"] == "job" and e["name"] == "main/work"]
copies = [span(e) for e in events if e["cat"] == "h2d"]
beside = sum(any(a < end and begin < b for begin, end in jobs) for a, b in copies)
ends = sorted({t for s in jobs + copies for t in s})
during = lambda spans, a, b: any(begin <= a and b <= end for begin, end in spans)
computing, copying, both = (sum(b - a for a, b in zip(ends, ends[1:]) if has(a, b)) / 1e3 for has in (
    lambda a, b: during(jobs, a, b), lambda a, b: during(copies, a, b), lambda a, b: during(jobs, a, b) and during(copies, a, b)))
print("ok:" if len(jobs) == len(copies) == 24 and beside >= 6 else "not ok:",
      f"{len(jobs)} jobs, {computing:.1f} ms; {len(copies)} copies, {copying:.1f} ms; {beside} copies beside a job, {both:.1f} ms")' "$1" | tee said
}
check run ./stream --device=emu --platform=link.df --policy=all-gpu --waves=24 --inflight=8 --us=4204 --trace=overlap.json
expect overlap 0 '^ok: ' beside overlap.json
expect right 0 '' ./stream --device=emu --policy=all-gpu --waves=24
have_opencl opencl || exit 0
check opencl-run ./stream --device=opencl --policy=all-gpu --waves=24 --inflight=8 --us=3000 --trace=opencl.json
expect opencl-overlap 0 '^ok: ' beside opencl.json
echo "figure overlap on OpenCL:$(sed 's/^[^:]*://' said)"
