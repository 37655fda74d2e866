# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of tracepoints as proftop and as perf script print them: trace_print.py PROFTOP CORPUS."""
import collections
import json
import os
import re
import subprocess
import sys

FILES = [
    "tp_exec_fork_exit", "tp_filter", "tp_kmem", "tp_named_syscalls", "tp_sched_switch",
    "tp_sched_switch_g", "trace_record", "lock_record", "opt_raw", "pipe_tracepoint",
]
# perf works with 0 for what only the kernel knows.
ONLY_KERNEL = {"kmem:mm_page_alloc": (r"^page=\S+", "page=?")}
# perf loses parentheses in what these print at their end.
LOST = {"timer:timer_start": r"flags=[MDPI|]*$"}


def comparable(event, text):
    return re.sub(LOST.get(event, "^$"), "", text.strip())


def by_perf(path):
    """The lines of each event, counted."""
    lines = collections.defaultdict(collections.Counter)
    out = subprocess.run(["perf", "script", "-i", path, "-F", "event,trace"], capture_output=True, text=True,
                         errors="replace", check=False).stdout
    for line in out.split("\n"):
        found = re.match(r"\s*([a-z_0-9]+:\w+): *(.*?)\s*$", line)
        if found:
            event, text = found.groups()
            lines[event][comparable(event, re.sub(*ONLY_KERNEL.get(event, ("^$", "")), text))] += 1
    return lines


def by_proftop(proftop, path, event):
    out = subprocess.run([proftop, "report", "--json", "-n", "0", "--min", "0", "--view", "top", "--metric", "samples",
                          "--event", event, "--fields", "print", path], capture_output=True, text=True, check=True).stdout
    lines = collections.Counter()
    for row in json.loads(out)["rows"]:
        if row.get("module") == f"[{event}]":
            lines[comparable(event, row["name"])] += int(row["self"][0])
    return lines


def main():
    proftop, corpus = sys.argv[1:3]
    paths = [os.path.join(corpus, "made/perf", name + ".data") for name in FILES]
    paths = [path for path in paths if os.path.exists(path)] + sys.argv[3:]
    n_lines = n_wrong = 0
    for path in paths:
        for event, lines in by_perf(path).items():
            ours = by_proftop(proftop, path, event)
            n_lines += sum(lines.values())
            n_wrong += sum((lines - ours).values())
            for text in list(lines - ours)[:2]:
                print(f"{path} {event}: only perf: {text}")
            for text in list(ours - lines)[:2]:
                print(f"{path} {event}: only proftop: {text}")
    if n_lines == 0:
        print("skipped: no corpus, or perf prints no tracepoints")
        sys.exit(77)
    print(f"{n_lines} lines, {n_wrong} not as perf prints them")
    sys.exit(n_wrong > 0)


main()
