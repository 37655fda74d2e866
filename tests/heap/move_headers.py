#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves the program headers of a 64-bit ELF file to its end, as BOLT does.

move_headers.py FILE mapped|shifted|unmapped: in a segment of their own whose address is the file's offset, in one that is
some pages further, or in none, where the loader reads them from the file.
"""
import struct
import sys

PAGE = 4096
PT_LOAD, PT_NOTE, PT_PHDR, PT_STACK = 1, 4, 6, 0x6474E551
PHDR = "<IIQQQQQQ"

path, how = sys.argv[1:]
data = bytearray(open(path, "rb").read())
offset, = struct.unpack_from("<Q", data, 32)
n, = struct.unpack_from("<H", data, 56)
headers = [list(struct.unpack_from(PHDR, data, offset + i * 56)) for i in range(n)]
end = max(h[3] + h[6] for h in headers if h[0] == PT_LOAD)
at = (max(len(data), end) + PAGE - 1) // PAGE * PAGE
address = at + (5 * PAGE if how == "shifted" else 0)
data.extend(b"\0" * (at - len(data)))

headers = [h for h in headers if h[0] not in (PT_PHDR, PT_STACK)]
if how != "unmapped":
    size = (len(headers) + 2) * 56
    last = max(i for i, h in enumerate(headers) if h[0] == PT_LOAD)
    headers.insert(last + 1, [PT_LOAD, 4, at, address, address, size, size, PAGE])
    headers.insert(0, [PT_PHDR, 4, at, address, address, size, size, 8])
data.extend(b"".join(struct.pack(PHDR, *h) for h in headers))
# What was in their place is not to be read by accident.
data[offset:offset + n * 56] = b"\xff" * (n * 56)
struct.pack_into("<Q", data, 32, at)
struct.pack_into("<H", data, 56, len(headers))
open(path, "wb").write(data)
