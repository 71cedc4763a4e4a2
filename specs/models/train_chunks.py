#!/usr/bin/python3
"""Trains chunks.json: does a chunk of 64 bytes look like machine code or like text?

    python3 specs/models/train_chunks.py specs/models/chunks.json

A ternary network of the shape of BALBOA's inspection network (512 bits of payload, 32-64-64 ternary units with 3-bit
activations, one output with integer weights), trained by straight-through gradients on files that a Debian system has:
machine code of shared libraries and programs against documentation, scripts and headers. Needs numpy. The result depends on
the files that are found; chunks.json is what is committed and tested, this script says how it came to be.
"""

import json
import os
import sys

import numpy as np

RNG = np.random.default_rng(20)
SHAPE = (512, 32, 64, 64)
CODE = ("/usr/bin", "/usr/lib/x86_64-linux-gnu")
TEXT = ("/usr/share/common-licenses", "/usr/share/doc", "/usr/include", "/usr/share/perl", "/usr/lib/python3")


def chunks(folders, accept, each, total):
    """Up to `total` chunks, `each` of a file."""
    rows = []
    files = []
    for folder in folders:
        for root, _, names in os.walk(folder):
            files += [os.path.join(root, name) for name in names]
    files.sort()
    RNG.shuffle(files)
    for path in files:
        if os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path) < 4096:
            continue
        with open(path, "rb") as file:
            data = file.read(1 << 20)
        data = accept(data)
        if data is None or len(data) < 1024:
            continue
        for start in RNG.integers(0, len(data) - 64, each):
            rows.append(np.frombuffer(data[start : start + 64], np.uint8))
        if len(rows) >= total:
            break
    return np.array(rows)


def code(data):
    """The middle of an ELF file, where its text lies."""
    return data[len(data) // 4 : len(data) // 2] if data[:4] == b"\x7fELF" else None


def text(data):
    return data if max(data[:4096], default=255) < 128 and 0 not in data else None


def bits(rows):
    """Feature i is bit 7 - i % 8 of byte i / 8."""
    return np.unpackbits(rows, axis=1).astype(np.float32)


def ternary(weights):
    """-1, 0, 1 and a power of two for each output."""
    limit = 0.6 * np.abs(weights).mean(axis=0)
    signs = np.sign(weights) * (np.abs(weights) > limit)
    size = (np.abs(weights) * np.abs(signs)).sum(axis=0) / np.maximum(np.abs(signs).sum(axis=0), 1)
    return signs, np.clip(np.round(np.log2(size)), -6, 0)


def quantise(x):
    return np.clip(np.round(x * 8), 0, 7) / 8  # numpy rounds half to even


def forward(params, x):
    tape = []
    for weights in params["hidden"]:
        signs, exponent = ternary(weights)
        used = signs * 2.0**exponent
        z = x @ used
        tape.append((x, used, z))
        x = quantise(z)
    return x @ params["out"] + params["bias"], x, tape


def train(x, y, steps=4000, batch=512):
    params = {
        "hidden": [RNG.normal(0, 1.5 / np.sqrt(a), (a, b)).astype(np.float32) for a, b in zip(SHAPE, SHAPE[1:])],
        "out": RNG.normal(0, 0.3, SHAPE[-1]).astype(np.float32),
        "bias": np.float32(0),
    }
    first = [np.zeros_like(w) for w in params["hidden"]]
    second = [np.zeros_like(w) for w in params["hidden"]]
    for step in range(1, steps + 1):
        rows = RNG.integers(0, len(x), batch)
        z, last, tape = forward(params, x[rows])
        error = (1 / (1 + np.exp(-z)) - y[rows]) / batch
        rate = 0.003 * (1 - step / (steps + 1))
        grad = np.outer(error, params["out"])
        params["out"] -= 20 * rate * (last.T @ error)
        params["bias"] -= 20 * rate * error.sum()
        for k in reversed(range(3)):
            inputs, used, sums = tape[k]
            grad = grad * ((sums > -0.5) & (sums < 1.5))
            dw = inputs.T @ grad
            grad = grad @ used.T
            first[k] = 0.9 * first[k] + 0.1 * dw
            second[k] = 0.999 * second[k] + 0.001 * dw * dw
            params["hidden"][k] -= rate * (first[k] / (1 - 0.9**step)) / (np.sqrt(second[k] / (1 - 0.999**step)) + 1e-9)
        if step % 500 == 0:
            print(step, "loss", float(np.mean(np.log1p(np.exp(-np.where(y[rows] > 0, z, -z))))), file=sys.stderr)
    return params


def main():
    rows = [chunks(TEXT, text, 16, 24000), chunks(CODE, code, 64, 24000)]
    x = bits(np.concatenate(rows))
    y = np.concatenate([np.zeros(len(rows[0])), np.ones(len(rows[1]))]).astype(np.float32)
    order = RNG.permutation(len(x))
    x, y = x[order], y[order]
    held = len(x) // 8
    params = train(x[held:], y[held:])
    params["out"] = np.round(params["out"] * 64)
    params["bias"] = np.round(params["bias"] * 64 * 8) / 8
    right = (forward(params, x[:held])[0] > 0) == (y[:held] > 0)
    print(f"{len(x)} chunks, right on {right.mean():.4f} of {held} that were held back", file=sys.stderr)
    layers = []
    for weights in params["hidden"]:
        signs, exponent = ternary(weights)
        layers.append(
            {
                "weights": ["".join("0+-"[int(w)] for w in column) for column in signs.T],
                "scale": [int(e) for e in exponent],
                "activation": {"type": "relu", "bits": 3, "fraction_bits": 3, "rounding": "half_even", "overflow": "saturate"},
            }
        )
    layers.append({"weights": [[int(w) for w in params["out"]]], "bias": [int(round(params["bias"] * 8))]})
    model = {
        "format": "rocegen-model",
        "name": "chunks",
        "description": "Machine code (1) or text (0), by 64 bytes of payload; written by train_chunks.py.",
        "features": {"count": 512, "bits": 1},
        "layers": layers,
        "decision": "thresholds",
        "thresholds": [0],
    }
    with open(sys.argv[1], "w") as file:
        head = {key: value for key, value in model.items() if key not in ("layers",)}
        body = json.dumps(head, indent=1)[:-2]
        file.write(body + ',\n "layers": [\n')
        texts = []
        for layer in layers:
            weights = ",\n   ".join(json.dumps(row, separators=(",", ":")) for row in layer["weights"])
            rest = ", ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in layer.items() if k != "weights")
            texts.append(f'  {{ "weights": [\n   {weights}],\n    {rest} }}')
        file.write(",\n".join(texts) + "\n ]\n}\n")


if __name__ == "__main__":
    main()
