#!/usr/bin/env python3
"""Runs `rocegen bench` at chosen points and holds what it counted against the targets: fractions of the wire limit,
fairness; with `loss` goodput under loss against what theory allows.

  bench_check.py ROCEGEN SPEC FOLDER [loss]     FOLDER: of the variant

Counts over simulated time, so the result is the same on every machine."""
import json
import subprocess
import sys

# Least fraction of the wire limit by operation, payload, queue pairs (0: all of the variant), both directions at once.
TARGETS = {
    ("write", 64, 1, False): 0.99,
    ("write", 64, 0, False): 0.99,
    ("send", 64, 1, False): 0.99,
    ("send", 64, 0, False): 0.99,
    ("read", 64, 32, False): 0.95,
    ("read", 64, 0, False): 0.95,
    ("read", 64, 0, True): 0.95,
    ("write", 4096, 1, False): 0.995,
    ("send", 4096, 1, False): 0.995,
    ("read", 4096, 1, False): 0.995,
    ("write", 4096, 1, True): 0.995,
    ("send", 4096, 1, True): 0.995,
    ("read", 4096, 1, True): 0.995,
    ("read", 4096, 0, True): 0.995,
}
# Of all queue pairs at once: least Jain index, and least fraction of the wire limit.
FAIR = 0.99
FAIR_TOTAL = {"write": 0.99, "read": 0.95}

# Under loss, least fraction of what theory allows by probability, payload, queue pairs, round trip in us.
LOSS_TARGETS = {
    (0, 4096, 16, 10): 0.995,
    (0.01, 4096, 16, 10): 0.95,
}


def check_loss(rocegen, spec, folder):
    command = [rocegen, "bench", spec, "-o", folder, "--only", "loss", "--own-recovery"]
    for point in LOSS_TARGETS:
        command += ["--loss-point", "%g:%d:%d:%g" % point]
    done = subprocess.run(command, check=False)
    if done.returncode:
        return done.returncode
    with open(folder + "/bench/bench.json", encoding="utf-8") as file:
        points = json.load(file)["loss"]
    wanted = dict(LOSS_TARGETS)
    bad = 0
    for point in points:
        key = (point["loss"], point["payload"], point["qps"], point["round_us"])
        target = wanted.pop(key)
        fraction = point["gbps"] / point["theory_gbps"]
        if fraction < target or (key[0] > 0) != (point["lost"] > 0):
            print("loss %g, %d B, %d QPs, %g us: %.2f Gb/s, %.1f %% of what theory allows, target %.1f %%; %d lost" %
                  (*key, point["gbps"], 100 * fraction, 100 * target, point["lost"]))
            bad += 1
    if wanted:
        print("not measured: %s" % sorted(wanted))
        bad += 1
    print("%d of the targets missed" % bad)
    return 1 if bad else 0


def main():
    if sys.argv[4:] == ["loss"]:
        return check_loss(*sys.argv[1:4])
    rocegen, spec, folder = sys.argv[1:]
    with open(folder + "/manifest.json", encoding="utf-8") as file:
        all_qps = json.load(file)["spec"]["qp_count"]
    wanted = {(op, payload, qps or all_qps, both): target for (op, payload, qps, both), target in TARGETS.items()}
    command = [rocegen, "bench", spec, "-o", folder, "--quick", "--only", "rate", "--only", "fairness"]
    for op, payload, qps, both in wanted:
        command += ["--point", "%s:%d:%d%s" % (op, payload, qps, ":both" if both else "")]
    done = subprocess.run(command, check=False)
    if done.returncode:
        return done.returncode
    with open(folder + "/bench/bench.json", encoding="utf-8") as file:
        report = json.load(file)
    bad = 0
    for point in report["rate"]:
        key = (point["op"], point["payload"], point["qps"], point["both"])
        target = wanted.pop(key)
        if point["fraction"] < target:
            print("%s of %d B, %d QPs%s: %.2f %% of the wire limit, target %.1f %%" %
                  (*key[:3], ", both directions" if key[3] else "", 100 * point["fraction"], 100 * target))
            bad += 1
        if any(point["counters"].values()):
            print("%s of %d B, %d QPs: trouble without loss: %s" % (*key[:3], point["counters"]))
            bad += 1
    fair = {point["op"]: point for point in report["fairness"]}
    for op, least in FAIR_TOTAL.items():
        point = fair.pop(op)
        if point["jain"] < FAIR or point["fraction"] < least:
            print("%s of %d QPs: Jain index %.4f (target %.2f) at %.2f %% of the wire limit (target %.1f %%)" %
                  (op, point["qps"], point["jain"], FAIR, 100 * point["fraction"], 100 * least))
            bad += 1
    if wanted or fair:
        print("measured is something else than what was asked for: %s, %s" % (sorted(wanted), sorted(fair)))
        bad += 1
    print("%d of the targets missed" % bad)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
