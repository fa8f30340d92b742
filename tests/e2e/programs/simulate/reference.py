import csv, math, sys
ref = {r["graph"]: r for r in csv.DictReader(open(sys.argv[1]))}
got = {(r[0], r[2]): (float(r[3]), float(r[4])) for r in csv.reader(open("dags.csv"))}
assert len(got) == 4 * len(ref)
assert all(bound <= makespan for makespan, bound in got.values())
for policy, limit in ("eager", 0.03), ("dmda", 0.01):
    ratios = [got[g, policy][0] / float(r[policy + "_s"]) for g, r in ref.items()]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    assert abs(mean - 1) < limit, (policy, mean)
    assert sum(abs(r - 1) < 1e-4 for r in ratios) >= 20, policy
