# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel_data.py PATH BUILD-ID BASE PAGE-OFFSET OUT OFFSET…: a perf.data with samples in the kernel, or in a module of it."""
import struct
import sys

path, build_id, out = sys.argv[1], bytes.fromhex(sys.argv[2]), sys.argv[5]
base, page_offset = int(sys.argv[3], 16), int(sys.argv[4], 16)
RECORD_MMAP, RECORD_COMM, RECORD_SAMPLE = 1, 3, 9
KERNEL, PID, KERNEL_PID = 1, 77, 0xFFFFFFFF
BUILD_ID, ARCH = 2, 6  # features of the header
HAS_SIZE = 0x8000  # of a build-id


def padded(text, to=8):
    return text + b"\0" * (to - len(text) % to)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


data = record(RECORD_COMM, 0, struct.pack("<II", PID, PID) + padded(b"program"))
place = struct.pack("<IIQQQ", KERNEL_PID, 0, base, 0x1000000, page_offset)
data += record(RECORD_MMAP, KERNEL, place + padded(path.encode()))
for n, offset in enumerate(sys.argv[6:]):
    data += record(RECORD_SAMPLE, KERNEL, struct.pack("<QIIQ", base + int(offset, 16), PID, PID, n * 1000000))
attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000000, 7, 0, 1 << 8 | 1 << 9).ljust(128, b"\0") + bytes(16)
name = padded(path.encode(), 64)
features = {
    BUILD_ID: struct.pack("<IHHi", 1, HAS_SIZE | KERNEL, 36 + len(name), -1)
    + build_id.ljust(20, b"\0")
    + bytes([len(build_id), 0, 0, 0])
    + name,
    ARCH: struct.pack("<I", 64) + padded(b"x86_64", 64),
}
at = 104 + len(attr) + len(data) + 16 * len(features)
table = b""
for text in features.values():
    table += struct.pack("<QQ", at, len(text))
    at += len(text)
head = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, len(attr), 104, len(attr), 104 + len(attr), len(data), 0, 0)
head += struct.pack("<QQQQ", sum(1 << f for f in features), 0, 0, 0)
with open(out, "wb") as file:
    file.write(head + attr + data + table + b"".join(features.values()))
