"""Changes a recorded job in many ways, of which the program must refuse each: damage.py PROGRAM FILE."""
import os
import random
import subprocess
import sys

program, path = sys.argv[1:]
whole = open(path, "rb").read()
random.seed(1)


def tries():
    for n in [0, 1, 7, 8, 12, 16] + random.sample(range(len(whole)), 5):
        yield f"cut to {n}", whole[:n]
    yield "longer", whole + b"x"
    for at in list(range(0, 16, 3)) + random.sample(range(16, len(whole)), 8):
        changed = bytearray(whole)
        changed[at] ^= 1 << random.randrange(8)
        yield f"bit of byte {at}", bytes(changed)


count = 0
for what, content in tries():
    with open("damaged.job", "wb") as file:
        file.write(content)
    ended = subprocess.run([program, "--replay=damaged.job"], capture_output=True, text=True, timeout=60)
    known = ("is damaged, or not complete", "is not a job that --record-job has written", "was written by another version of dfc")
    if ended.returncode != 1 or not any(text in ended.stderr for text in known):
        sys.exit(f"{what}: {ended.returncode}: {ended.stderr}")
    count += 1
os.remove("damaged.job")
print(count, "refused")
