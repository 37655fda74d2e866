# SPDX-License-Identifier: GPL-3.0-or-later
"""annotate.py NAME PERF JSON: shares per address of perf annotate --stdio and of report --view annotate --json."""
import json
import re
import sys

name, perf_file, ours_file = sys.argv[1:]
perf, headings = {}, 0
for line in open(perf_file, errors="replace"):
    headings += bool(re.search(r"Percent\s*\|", line))
    found = re.match(r"\s*([\d.]+)?\s*:\s+([0-9a-f]+):\s", line)
    if found and headings == 1:
        perf[int(found.group(2), 16)] = float(found.group(1) or 0)
report = json.load(open(ours_file))
whole = report["code_self"][0]
ours = {}
for block in report["blocks"]:
    for code in [] if block["inlined"] else block["code"]:
        ours[int(code["address"], 16)] = 100 * code["self"][0] / whole if whole else 0
if not perf or not whole:
    sys.exit(f"{name}: perf shows {len(perf)} addresses, ours weigh {whole}")
differ = [
    f"{address:x}: perf {perf.get(address)}, ours {ours.get(address)}"
    for address in sorted(set(perf) | set(ours))
    if abs(perf.get(address, -1) - ours.get(address, -1)) > 0.0051
]
lines = sum(line["self"][0] + sum(i["self"][0] for i in line["inlined"]) for line in report["lines"])
if differ or lines != whole:
    sys.exit(f"{name}: lines add up to {lines} of {whole}\n" + "\n".join(differ[:20]))
print(f"{name}: {len(ours)} addresses equal")
