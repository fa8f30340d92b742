"""Checks by the statistics of a run on many ranks that ranks 1 to 3 followed the plans of their machines: plans.py FILE"""
import json
import sys

ranks = json.load(open(sys.argv[1]))["ranks"]
wrong = []


def check(name, good, what):
    if not good:
        wrong.append(name)
    print(f"ok {name}" if good else f"not ok {name}: {what}")


def jobs_on(rank, device):
    return sum(w["jobs"] for w in rank["stats"]["workers"] if w["name"].startswith("cpu") != device)


for rank, name, policy, device in zip(ranks[1:], ("cpus", "near", "far"), ("ws", "gp", "gp"), (False, True, False)):
    if rank["given"] == 0:              # it began when all was over
        print(f"skip {name}: it got no wave")
        continue
    stats = rank["stats"]
    check(f"{name}-policy", stats["policy"] == policy, (stats["policy"], stats["policy_why"]))
    # both nodes of a wave are where the plan has them; tokens that come from rank 0 count as jobs of a CPU worker
    check(f"{name}-device", jobs_on(rank, True) == (2 * rank["waves"] if device else 0), stats["workers"])
    check(f"{name}-host", jobs_on(rank, False) == (1 if device else 3) * rank["waves"], stats["workers"])
sys.exit(bool(wrong))
