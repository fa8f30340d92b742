# Runs a command that may take 50 MB and 1 second of a core, and prints what of it was too much: within.py COMMAND…
import resource
import subprocess
import sys

status = subprocess.run(sys.argv[1:], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 1))).returncode
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
if most > 50 << 10:
    print(f"it took {most >> 10} MiB")
    sys.exit(3)
sys.exit(status if status >= 0 else 128 - status)
