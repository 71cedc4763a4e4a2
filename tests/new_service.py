"""What `rocegen new-service` writes is clean in both tools and passes its own scenario, at every attach point.

usage: new_service.py ROCEGEN FOLDER
"""
import pathlib
import shutil
import subprocess
import sys

rocegen, folder = sys.argv[1], pathlib.Path(sys.argv[2])
shutil.rmtree(folder, ignore_errors=True)


def run(*words):
    print("+", *words, flush=True)
    return subprocess.run(words).returncode


for attach in ("ingress", "egress", "deliver"):
    place = folder / attach
    spec, scenario, out = place / "sieve_nic.json", place / "sieve_test.json", str(place / "out")
    if run(rocegen, "new-service", "sieve", "--attach", attach, "-o", str(place)) != 0:
        sys.exit(f"{attach}: new-service failed")
    if run(rocegen, "new-service", "sieve", "--attach", attach, "-o", str(place)) != 1:
        sys.exit(f"{attach}: files were overwritten")
    if run(rocegen, "lint", str(spec), "-o", out) != 0:
        sys.exit(f"{attach}: the skeleton does not lint")
    if run(rocegen, "sim", str(spec), "-o", out, "run", str(scenario), "--pairs", "dut-dut") != 0:
        sys.exit(f"{attach}: its scenario fails")
