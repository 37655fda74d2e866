# SPDX-License-Identifier: GPL-3.0-or-later
"""annotate.py NAME PERF JSON: shares per address and per line of perf annotate --stdio -l and of report --view annotate --json."""
import collections
import json
import os
import re
import sys

# perf leaves instructions of no more than this share out of its summary of lines
LEAST_OF_SUMMARY = 0.5
ROUNDING = 0.0051

name, perf_file, ours_file = sys.argv[1:]
perf, perf_lines, headings = {}, {}, 0
for line in open(perf_file, errors="replace"):
    headings += bool(re.search(r"Percent\s*\|", line))
    found = re.match(r"\s*([\d.]+)?\s*:\s+([0-9a-f]+):\s", line)
    if found and headings == 1:
        perf[int(found.group(2), 16)] = float(found.group(1) or 0)
    found = re.match(r"\s*([\d.]+) +(\S.*:\d+)\s*$", line)
    if found and headings == 0:
        # Line 0 is code that the compiler made by itself: of no line for us
        if not found.group(2).endswith(":0"):
            perf_lines[os.path.basename(found.group(2))] = float(found.group(1))
report = json.load(open(ours_file))
whole = report["code_self"][0]
ours, lines, n_code = {}, collections.Counter(), collections.Counter()
for block in report["blocks"]:
    for code in [] if block["inlined"] else block["code"]:
        share = 100 * code["self"][0] / whole if whole else 0
        ours[int(code["address"], 16)] = share
        if "file" in code and share > LEAST_OF_SUMMARY:
            lines[f"{os.path.basename(code['file'])}:{code['line']}"] += share
            n_code[f"{os.path.basename(code['file'])}:{code['line']}"] += 1
if not perf or not whole:
    sys.exit(f"{name}: perf shows {len(perf)} addresses, ours weigh {whole}")
differ = [
    f"{address:x}: perf {perf.get(address)}, ours {ours.get(address)}"
    for address in sorted(set(perf) | set(ours))
    if abs(perf.get(address, -1) - ours.get(address, -1)) > ROUNDING
]
differ += [
    f"{at}: perf {perf_lines.get(at)}, ours {lines.get(at)}"
    for at in sorted(set(perf_lines) | set(lines))
    if abs(perf_lines.get(at, 0) - lines.get(at, 0)) > ROUNDING
]
added = report["no_line"][0] + sum(
    line["self"][0] + sum(i["self"][0] for i in line["inlined"]) for line in report["lines"]
)
if differ or (report["lines"] and added != whole):
    sys.exit(f"{name}: lines add up to {added} of {whole}\n" + "\n".join(differ[:20]))
print(f"{name}: {len(ours)} addresses and {len(lines)} lines equal")
