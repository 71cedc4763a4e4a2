#!/usr/bin/env python3
"""Independent check of the captures that the simulator writes.

Recomputes the ICRC of every RoCE v2 frame with zlib's CRC-32 (masks: IBTA Annex A17.7 and 7.8.1, as Linux has them), checks the
lengths that depend on each other and the IPv4 header checksum, and lets tshark read the whole file: a frame
that it calls malformed, or that has an expert warning or error, is a fault.

  pcap_check.py [--bad-icrc N] FILE...

--bad-icrc N allows up to N frames with a wrong ICRC a file (a capture taken behind a link that corrupts frames).
Exit status 1 when something is wrong, 77 when tshark is not there (the rest was good)."""
import argparse
import shutil
import struct
import subprocess
import sys
import zlib


def frames(path):
    """Frames of a classic pcap file, microseconds or nanoseconds, either byte order."""
    data = open(path, "rb").read()
    magic = data[:4]
    orders = {b"\xd4\xc3\xb2\xa1": "<", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\xa1\xb2\x3c\x4d": ">"}
    if magic not in orders:
        raise ValueError("not a pcap file")
    order = orders[magic]
    at = 24
    while at < len(data):
        if at + 16 > len(data):
            raise ValueError("cut in a record header")
        _, _, kept, length = struct.unpack_from(order + "IIII", data, at)
        at += 16
        if at + kept > len(data) or kept != length:
            raise ValueError("cut in a frame")
        yield data[at : at + kept]
        at += kept


def icrc_fault(frame):
    """What is wrong with a frame, or None. Frames that are not RoCE v2 over IPv4 are none of our business."""
    if len(frame) < 14 + 20 + 8 + 12 + 4 or frame[12:14] != b"\x08\x00" or frame[14] != 0x45 or frame[23] != 17:
        return None
    if struct.unpack(">H", frame[36:38])[0] != 4791:
        return None
    total = struct.unpack(">H", frame[16:18])[0]
    if 14 + total > len(frame):
        return "IP length beyond the frame"
    if struct.unpack(">H", frame[38:40])[0] != total - 20:
        return "UDP length does not fit the IP length"
    if (total - 20 - 8) % 4:
        return "transport length is not a multiple of four"
    words = struct.unpack(">10H", frame[14:34])
    carry = sum(words)
    while carry >> 16:
        carry = (carry & 0xFFFF) + (carry >> 16)
    if carry != 0xFFFF:
        return "IPv4 header checksum"
    packet = bytearray(frame[14 : 14 + total])
    for at in (1, 8, 10, 11, 26, 27, 32):  # ToS, TTL, header checksum, UDP checksum, BTH byte 4
        packet[at] = 0xFF
    want = zlib.crc32(b"\xff" * 8 + bytes(packet[:-4]))
    have = struct.unpack("<I", frame[14 + total - 4 : 14 + total])[0]
    return None if want == have else "ICRC %08x, should be %08x" % (have, want)


def tshark_faults(path):
    """Lines of what tshark complains about.

    Left out: frames whose payload tshark takes for another protocol by a guess (the guess is wrong, not the frame; Linux's own
    captures have such), and payload sent to QP 0 or 1, which tshark reads as management datagrams."""
    call = ["tshark", "-r", path, "-T", "fields", "-e", "frame.number", "-e", "_ws.expert.message",
            "-Y", '(_ws.malformed || _ws.expert.severity >= 0x600000) && !(frame.protocols contains "infiniband:")'
                  " && !(infiniband.bth.destqp < 2)"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    out = [line for line in done.stdout.splitlines() if line.strip()]
    if done.returncode:
        out.append("tshark ended with %d: %s" % (done.returncode, done.stderr.strip()))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bad-icrc", type=int, default=0)
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    wrong = 0
    for path in args.files:
        count = 0
        bad = []
        try:
            for frame in frames(path):
                count += 1
                fault = icrc_fault(frame)
                if fault:
                    bad.append("frame %d: %s" % (count, fault))
        except (ValueError, OSError) as error:
            print("%s: %s" % (path, error))
            wrong += 1
            continue
        complaints = tshark_faults(path) if shutil.which("tshark") else []
        print("%s: %d frames, %d with a fault, %d complaints of tshark" % (path, count, len(bad), len(complaints)))
        if len(bad) > args.bad_icrc or complaints or count == 0:
            wrong += 1
            for line in (bad if len(bad) > args.bad_icrc else [])[:10] + complaints[:10]:
                print("  " + line)
    if wrong:
        return 1
    if not shutil.which("tshark"):
        print("tshark is not installed: its reading was skipped")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
