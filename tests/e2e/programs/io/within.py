# Runs a command that may take 50 MB and 1 second of a core, and prints what of it was too much: within.py COMMAND…
import os
import resource
import sys

pid = os.fork()
if pid == 0:
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(pid, 0)
if usage.ru_maxrss > 50 << 10:
    print(f"it took {usage.ru_maxrss >> 10} MiB")
    sys.exit(3)
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
