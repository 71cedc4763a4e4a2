#!/usr/bin/env python3
"""Runs `rocegen synth` and holds area and depth of the whole stack against the limits of the variant.

  synth_check.py ROCEGEN SPEC FOLDER     FOLDER: of the variant

lut: LUT1..LUT6, without those that are memory (column LUTRAM of the report). levels: LUTs on the deepest path."""
import json
import subprocess
import sys

# By the name of the variant.
LIMITS = {
    "nic_100g": {"lut": 40000, "bram36": 60, "uram": 24, "levels": 10},
    "deep": {"bram36": 60, "uram": 24, "levels": 7},
    "nic_200g": {"levels": 10},
    # The smallest stack is smaller than the reference point; its paths are as long as pipeline_depth 0 lets them be.
    "nic_10g": {"lut": 35000, "bram36": 60, "uram": 24},
}


def main():
    rocegen, spec, folder = sys.argv[1:]
    done = subprocess.run([rocegen, "synth", spec, "-o", folder], check=False)
    if done.returncode:
        return done.returncode
    with open(folder + "/synth/report.json", encoding="utf-8") as file:
        report = json.load(file)
    limits = LIMITS[report["name"]]
    rows = {row["instance"]: row for row in report["rows"]}
    bad = 0
    for what, most in limits.items():
        if rows["total"][what] > most:
            print("%s: %g %s, limit %g" % (report["name"], rows["total"][what], what, most))
            bad += 1
    # Which module it is.
    for instance, row in rows.items():
        if instance != "total" and "levels" in limits and (row["levels"] or 0) > limits["levels"]:
            print("%s: %d levels" % (instance, row["levels"]))
    print("%d of the limits exceeded" % bad)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
