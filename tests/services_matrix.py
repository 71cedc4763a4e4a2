"""Orders and subsets of services: each generates and lints at every width, or is refused with the code that says why.

usage: services_matrix.py ROCEGEN FOLDER

The list ENTRIES holds one entry a kind of stage; a new type of service adds its own. Without ROCEGEN_LONG=ON all ordered pairs
and all entries together run at one width each, in turn; with it, each entry alone, all ordered pairs and all subsets at every width.
An order that cannot be is in refused().
"""
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
WIDTHS = [64, 128, 256, 512, 1024]


def custom(name, attach, module, files, **more):
    return {"type": "custom", "name": name, "attach": attach, "module": module, "files": files, **more}


XOR = ["../../specs/custom/xor_mask.sv", "../../specs/custom/xor_in.sv", "../../specs/custom/xor_out.sv"]
# In an order that can be.
ENTRIES = [
    custom("unmask", "ingress", "xor_in", XOR),
    {"type": "aes", "name": "aes", "mode": "gcm", "key_bits": 128},
    custom("judge", "ingress", "judge", ["services/judge.sv"]),
    {"type": "dpi", "name": "dpi", "model": "models/marker.json",
     "features": {"first": "payload.u8[0]", "length": "header.length"},
     "classes": [{"class": 1, "actions": ["tag", "tell", "count"], "tag": 5}, {"class": 2, "actions": ["drop", "count"]}]},
    custom("mask", "egress", "xor_out", XOR),
    custom("down", "deliver", "pass", ["services/pass.sv"], parameters={"UserW": 166}),
    {"type": "preprocess", "name": "rows", "columns": ["label", "dense 3", "sparse 2"],
     "operators": {"dense": ["neg2zero", "float32", "bfloat16"], "sparse": [{"modulus": 1000}]}},
]
ATTACH = {"aes": {"ingress", "egress"}, "dpi": {"ingress"}, "preprocess": {"deliver"}}


def attaches(entry):
    """Attach points of an entry."""
    return ATTACH.get(entry["type"]) or {entry["attach"]}


def refused(entries):
    """Code of the diagnostic when this order cannot be, else None."""
    deliver = False
    types = [entry["type"] for entry in entries]
    if "dpi" in types and "aes" in types[types.index("dpi"):]:
        return "E0536"
    for entry in entries:
        if deliver and "ingress" in attaches(entry):
            return "E0215"
        deliver = deliver or "deliver" in attaches(entry)
    return None


def orders(long):
    """(entries, widths) of everything that runs."""
    turn = itertools.cycle(WIDTHS)
    if long:
        for entry in ENTRIES:
            yield (entry,), WIDTHS
    for pair in itertools.permutations(ENTRIES, 2):
        yield pair, WIDTHS if long else [next(turn)]
    for size in range(3, len(ENTRIES) + 1):
        for subset in itertools.combinations(ENTRIES, size):
            if long or size == len(ENTRIES):
                yield subset, WIDTHS if long else [next(turn)]


def least_kib(beat, payload):
    """KiB, a power of two, that hold two frames of 98 bytes around a payload, in whole beats."""
    kib = 1
    while kib * 1024 < 2 * -(-(payload + 98) // beat) * beat:
        kib *= 2
    return kib


def main():
    rocegen, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    failed = count = 0
    for entries, widths in orders(os.environ.get("ROCEGEN_LONG") == "ON"):
        for width in widths:
            count += 1
            absolute = json.loads(json.dumps(entries))
            for entry in absolute:
                if "files" in entry:
                    entry["files"] = [str((HERE / "specs" / f).resolve()) for f in entry["files"]]
                if "model" in entry:
                    entry["model"] = str((HERE / "specs" / entry["model"]).resolve())
            mtu = 256 << count % 5
            spec = {"name": "matrix", "data_width": width, "qp_count": 8, "mtu": mtu, "memory_regions": 8,
                    "pipeline_depth": count % 5, "services": absolute}
            if count % 2:
                # The least buffers: two of the longest frames, with tags.
                kib = least_kib(width // 8, mtu + 16)
                spec["network"] = {"tx_buffer_kib": kib, "rx_buffer_kib": kib}
                spec["host"] = {"read_buffer_kib": kib}
            label = f"{width} bit: " + ", ".join(e["name"] for e in entries)
            (folder / "matrix.json").write_text(json.dumps(spec, indent=2))
            gen = subprocess.run([rocegen, "gen", str(folder / "matrix.json"), "-o", str(folder / "out")],
                                 capture_output=True, text=True)
            code = refused(entries)
            if code is not None:
                good = gen.returncode == 1 and code in gen.stderr
                print(f"{label}: {'refused' if good else 'NOT REFUSED with ' + code}", flush=True)
                failed += not good
                continue
            if gen.returncode != 0:
                print(f"{label}: NOT GENERATED\n{gen.stderr}", flush=True)
                failed += 1
                continue
            lint = subprocess.run(["verilator", "--lint-only", "-Wall", "-f", "filelist.f", "--top-module", "matrix"],
                                  cwd=folder / "out", capture_output=True, text=True)
            print(f"{label}: {'clean' if lint.returncode == 0 else 'NOT CLEAN'}", flush=True)
            if lint.returncode != 0:
                print(lint.stderr, flush=True)
                failed += 1
    print(f"{count - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
