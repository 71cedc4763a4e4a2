#!/usr/bin/env python3
"""Decrypts the RoCE v2 frames of a capture with OpenSSL (libcrypto, by ctypes) and compares them with what was sent.

usage: aes_pcap_check.py CAPTURE.pcap KEYS.json [--find HEX] [--min-packets N] [--min-repeats N]

KEYS.json, as `rocegen sim --keys` writes it: {"mode": "ctr"|"gcm", "keys": [{"dst_ip": "10.0.0.2", "qpn": 9, "key": "hex", "salt": "hex",
"psn": {"request": n, "response": n}}]}. A key is for the frames to a destination; psn: where the extended PSNs start. Each queue pair must
have been set up once. --find: bytes that must stand in some clear text and must not stand in any frame.
Exit code 0: every frame of a known key decrypted (GCM: its tag is right) and what was sent again has the same bytes; 1: something is wrong.
"""
import argparse
import ctypes
import ctypes.util
import json
import struct
import sys

crypto = ctypes.CDLL(ctypes.util.find_library("crypto") or "libcrypto.so.3")
for name in ("EVP_CIPHER_CTX_new", "EVP_aes_128_ctr", "EVP_aes_256_ctr", "EVP_aes_128_gcm", "EVP_aes_256_gcm"):
    getattr(crypto, name).restype = ctypes.c_void_p
crypto.EVP_CIPHER_CTX_free.argtypes = [ctypes.c_void_p]
crypto.EVP_DecryptInit_ex.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_char_p] * 2
crypto.EVP_DecryptUpdate.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
crypto.EVP_DecryptFinal_ex.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
crypto.EVP_CIPHER_CTX_ctrl.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_char_p]
SET_TAG = 0x11

RETH = {0x06, 0x0A, 0x0B}
IMM = {0x03, 0x05, 0x09, 0x0B, 0x16, 0x17}
AETH = {0x0D, 0x0F, 0x10}
ENCRYPTED = set(range(0x00, 0x0C)) | set(range(0x0D, 0x11)) | {0x16, 0x17}


def decrypt(mode, key, nonce, aad, data):
    """Clear text, or None if the tag is wrong."""
    context = crypto.EVP_CIPHER_CTX_new()
    try:
        cipher = getattr(crypto, "EVP_aes_%d_%s" % (8 * len(key), mode))()
        done = ctypes.c_int()
        out = ctypes.create_string_buffer(len(data) + 16)
        tag = b""
        if mode == "ctr":
            nonce += struct.pack(">I", 1)
        else:
            if len(data) < 16:
                return None
            data, tag = data[:-16], data[-16:]
        if crypto.EVP_DecryptInit_ex(context, cipher, None, key, nonce) != 1:
            raise RuntimeError("EVP_DecryptInit_ex")
        if mode == "gcm":
            crypto.EVP_DecryptUpdate(context, None, ctypes.byref(done), aad, len(aad))
        if data:
            crypto.EVP_DecryptUpdate(context, out, ctypes.byref(done), data, len(data))
        text = out.raw[:len(data)]
        if mode == "gcm":
            crypto.EVP_CIPHER_CTX_ctrl(context, SET_TAG, 16, tag)
            if crypto.EVP_DecryptFinal_ex(context, out, ctypes.byref(done)) != 1:
                return None
        return text
    finally:
        crypto.EVP_CIPHER_CTX_free(context)


def frames(path):
    with open(path, "rb") as handle:
        blob = handle.read()
    magic = blob[:4]
    order = "<" if magic in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at = 24
    while at + 16 <= len(blob):
        length = struct.unpack_from(order + "I", blob, at + 8)[0]
        yield blob[at + 16:at + 16 + length]
        at += 16 + length


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("capture")
    parser.add_argument("keys")
    parser.add_argument("--find", default="")
    parser.add_argument("--min-packets", type=int, default=1)
    parser.add_argument("--min-repeats", type=int, default=0)
    options = parser.parse_args()
    with open(options.keys, encoding="utf-8") as handle:
        told = json.load(handle)
    mode = told["mode"]
    keys = {(bytes(int(b) for b in k["dst_ip"].split(".")), k["qpn"]): k for k in told["keys"]}
    if len(keys) != len(told["keys"]):
        print("a queue pair was set up more than once")
        return 1
    highest = {}
    before = {}
    find = bytes.fromhex(options.find)
    good = wrong = found = leaked = repeats = changed = 0
    for frame in frames(options.capture):
        if len(frame) < 58 or frame[12:14] != b"\x08\x00" or frame[23] != 17 or frame[36:38] != b"\x12\xb7":
            continue
        total = struct.unpack_from(">H", frame, 16)[0]
        bth = frame[42:54]
        opcode, pad = bth[0], bth[1] >> 4 & 3
        qpn = int.from_bytes(bth[5:8], "big")
        psn = int.from_bytes(bth[9:12], "big")
        if find and find in frame:
            leaked += 1
        entry = keys.get((frame[30:34], qpn))
        if entry is None:
            continue
        # Responses and acknowledges to a queue pair carry the PSNs of its own requests.
        kind = "response" if 0x0D <= opcode <= 0x12 else "request"
        reference = highest.get((frame[30:34], qpn, kind), entry["psn"][kind])
        step = (psn - reference) & 0xFFFFFF
        extended = reference + (step if step < 6 << 20 else step - (1 << 24))
        highest[(frame[30:34], qpn, kind)] = max(extended, reference)
        if opcode not in ENCRYPTED:
            continue
        at = 54
        reth = bytes(16)
        immediate = bytes(4)
        if opcode in RETH:
            reth, at = frame[at:at + 16], at + 16
        if opcode in AETH:
            at += 4
        if opcode in IMM:
            immediate, at = frame[at:at + 4], at + 4
        payload = frame[at:14 + total - 4 - pad]
        response = kind == "response"
        aad = bytes([response, 0 if response else opcode, 0 if response else bth[1] >> 7, 0])
        aad = (aad + reth + immediate).ljust(32, b"\0")
        number = qpn << 40 | response << 39 | extended & (1 << 39) - 1
        nonce = bytes.fromhex(entry["salt"]) + struct.pack(">Q", number)
        text = decrypt(mode, bytes.fromhex(entry["key"]), nonce, aad, payload)
        if text is None:
            wrong += 1
            continue
        good += 1
        # The same nonce never encrypts other bytes: a response that is resumed has another opcode and the same payload.
        first = before.setdefault(nonce, (aad, payload))
        repeats += first[1] is not payload
        changed += first != (aad, payload)
        if find and find in text:
            found += 1
    print("%d frames decrypted, %d with a wrong tag; %d sent again, %d of them changed; sought text: in %d clear texts, in %d frames" %
          (good, wrong, repeats, changed, found, leaked))
    ok = (wrong == 0 and changed == 0 and good >= options.min_packets and repeats >= options.min_repeats and leaked == 0 and
          (found > 0 or not find))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
