#!/usr/bin/env python3
"""Runs `rocegen bench --quick` and holds what it counted against the targets: fractions of the wire limit, fairness.

  bench_check.py ROCEGEN SPEC FOLDER     FOLDER: of the variant

Counts over simulated time, so the result is the same on every machine."""
import json
import subprocess
import sys

# Least fraction of the wire limit by operation and payload.
TARGETS = {("write", 64): 0.99, ("write", 4096): 0.995, ("read", 4096): 0.995, ("send", 4096): 0.995, ("send", 64): 0.95}


def main():
    rocegen, spec, folder = sys.argv[1:]
    done = subprocess.run([rocegen, "bench", spec, "-o", folder, "--quick", "--only", "rate", "--only", "fairness"], check=False)
    if done.returncode:
        return done.returncode
    with open(folder + "/bench/bench.json", encoding="utf-8") as file:
        report = json.load(file)
    bad = 0
    seen = set()
    for point in report["rate"]:
        key = (point["op"], point["payload"])
        target = TARGETS.get(key)
        if target is None or (point["both"] and key[0] == "read"):
            continue
        seen.add(key)
        if point["fraction"] < target:
            print("%s %d B, %d QPs: %.2f %% of the wire limit, target %.1f %%" %
                  (*key, point["qps"], 100 * point["fraction"], 100 * target))
            bad += 1
    for point in report["fairness"]:
        if point["jain"] < 0.99:
            print("Jain index %.4f of %d QPs, target 0.99" % (point["jain"], point["qps"]))
            bad += 1
    if seen != set(TARGETS):
        print("not measured: %s" % sorted(set(TARGETS) - seen))
        bad += 1
    print("%d of the targets missed" % bad)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
