# SPDX-License-Identifier: GPL-3.0-or-later
"""aarch64_data.py PROGRAM OUT NAME…: a perf.data of a static aarch64 program, with samples all over functions of that name."""
import os
import struct
import subprocess
import sys

program, out, names = os.path.realpath(sys.argv[1]), sys.argv[2], sys.argv[3:]
RECORD_MMAP, RECORD_COMM, RECORD_SAMPLE = 1, 3, 9
USER, EXECUTABLE, PID = 2, 5, 77
BUILD_ID, ARCH = 2, 6  # features of the header
HAS_SIZE = 0x8000  # of a build-id


def tool(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def padded(text, to=8):
    return text + b"\0" * (to - len(text) % to)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


data = record(RECORD_COMM, 0, struct.pack("<II", PID, PID) + padded(b"program"))
for words in (line.split() for line in tool("readelf", "-lW", program)):
    if words[:1] == ["LOAD"] and "E" in words[6:-1]:
        offset, address, size = (int(words[i], 16) for i in (1, 2, 4))
        place = struct.pack("<IIQQQ", PID, PID, address & ~0xFFF, (size + 0x1FFF) & ~0xFFF, offset & ~0xFFF)
        data += record(RECORD_MMAP, USER, place + padded(program.encode()))
n = 0
for words in (line.split() for line in tool("nm", "-S", program)):
    if len(words) == 4 and words[3].split(".")[0] in names:
        begin, size = int(words[0], 16), int(words[1], 16)
        for at in range(begin, begin + size, 4):
            # Some cost much, some nothing
            for _ in range((at // 4) * 7919 % 11):
                n += 1
                data += record(RECORD_SAMPLE, USER, struct.pack("<QIIQ", at, PID, PID, n * 1000000))
# A software clock; samples have an address, ids and a time; mappings and names are recorded.
attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000000, 7, 0, 1 << 8 | 1 << 9).ljust(128, b"\0") + bytes(16)
note = next(line.split()[-1] for line in tool("readelf", "-n", program) if "Build ID" in line)
build_id = bytes.fromhex(note)
name = padded(program.encode(), 64)
features = {
    BUILD_ID: struct.pack("<IHHi", 1, HAS_SIZE | USER, 36 + len(name), PID)
    + build_id.ljust(20, b"\0")
    + bytes([len(build_id), 0, 0, 0])
    + name,
    ARCH: struct.pack("<I", 64) + padded(b"aarch64", 64),
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
