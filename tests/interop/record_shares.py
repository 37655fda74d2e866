# SPDX-License-Identifier: GPL-3.0-or-later
"""One program, recorded by perf and by proftop at the same time: the same functions with the same shares."""
import json
import math
import os
import subprocess
import sys
import tempfile
import time

Z = 2.576  # of 99 %
TRIALS = 3  # chance alone fails one comparison in a hundred
CPU_S = 5  # of the program, while both record
PATIENCE_S = 300
FUNCTIONS = ["share_1", "share_2", "share_4", "share_8", "small_ones", "large_ones", "burn"]


def perf_counts(path):
    """Samples, and how many have each function in their stack, by perf script."""
    out = subprocess.run(["perf", "script", "-F", "ip,sym", "-i", path], capture_output=True, text=True)
    if out.stderr.strip():
        sys.exit(f"perf script of {path} says: {out.stderr}")
    total, counts, seen = 0, dict.fromkeys(FUNCTIONS, 0), set()
    for line in out.stdout.splitlines() + [""]:
        if line.strip():
            seen.add(line.split()[1] if len(line.split()) > 1 else "")
        elif seen:
            total += 1
            for name in seen & counts.keys():
                counts[name] += 1
            seen = set()
    return total, counts


def our_counts(proftop, path):
    out = subprocess.run([proftop, "report", "--json", "-n", "0", "--min", "0", "--metric", "samples", path],
                         capture_output=True, text=True, check=True)
    report = json.loads(out.stdout)
    counts = dict.fromkeys(FUNCTIONS, 0)
    for row in report["rows"]:
        if row["name"] in counts:
            counts[row["name"]] = row["total"][0]
    return counts


def wait_until(what, is_so):
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > end:
            sys.exit(f"waited in vain until {what}")
        time.sleep(0.05)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def has_begun(recorder, path):
    """perf writes its head when all is opened; what follows comes later."""
    if recorder.poll() is not None:
        sys.exit(f"{recorder.args[0]} failed: {recorder.communicate()[1]}")
    return os.path.exists(path) and os.path.getsize(path) > 0


def record(program, ours, theirs, proftop):
    """Both recordings of one run, for as many seconds of cpu as make samples enough, however busy the machine is."""
    target = subprocess.Popen([program, "600"])
    event = ["-e", "cpu-clock", "-F", "999"]
    both = [
        subprocess.Popen([proftop, "record", *event, "-o", ours, "-p", str(target.pid)],
                         stderr=subprocess.PIPE, text=True),
        subprocess.Popen(["perf", "record", "-q", *event, "-g", "-o", theirs, "-p", str(target.pid)],
                         stderr=subprocess.PIPE, text=True),
    ]
    try:
        for p, path in zip(both, (ours, theirs)):
            wait_until(f"{p.args[0]} records", lambda: has_begun(p, path))
        begun = cpu_seconds(target.pid)
        wait_until("the program has run", lambda: cpu_seconds(target.pid) - begun > CPU_S)
    finally:
        target.kill()
        target.wait()
    for p in both:
        said = p.communicate()[1]
        if p.returncode:
            sys.exit(f"{p.args[0]} failed: {said}")


def differ(a, n_a, b, n_b):
    p = (a + b) / (n_a + n_b)
    return abs(a / n_a - b / n_b) > Z * math.sqrt(p * (1 - p) * (1 / n_a + 1 / n_b)) + 1e-9


def trial(proftop, here, directory):
    program, ours, theirs = (os.path.join(directory, n) for n in ("shares", "ours.data", "theirs.data"))
    subprocess.run([*os.environ.get("CC", "cc").split(), "-O0", "-g", "-o", program,
                    os.path.join(here, "shares.c"), "-lpthread"], check=True)
    record(program, ours, theirs, proftop)
    n_theirs, theirs_counts = perf_counts(theirs)
    n_ours, ours_by_perf = perf_counts(ours)
    if n_theirs < 300 or n_ours < 300:
        sys.exit(f"too few samples: {n_ours} and {n_theirs}")
    same = our_counts(proftop, ours)
    bad = []
    for name in FUNCTIONS:
        if same[name] != ours_by_perf[name]:
            sys.exit(f"{name}: {same[name]} samples by proftop report, {ours_by_perf[name]} by perf script, of one file")
        if differ(ours_by_perf[name], n_ours, theirs_counts[name], n_theirs):
            bad.append(f"{name}: {ours_by_perf[name]} of {n_ours}, perf has {theirs_counts[name]} of {n_theirs}")
    return bad


def main():
    proftop, here = sys.argv[1:3]
    for _ in range(TRIALS):
        with tempfile.TemporaryDirectory() as directory:
            bad = trial(proftop, here, directory)
        if not bad:
            return
        print("\n".join(bad))
    sys.exit("shares differ by more than chance, each time")


main()
