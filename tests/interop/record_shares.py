"""Programs in C, C++ and Rust, each recorded by perf and by proftop at the same time: the same functions with the same shares.

What differs by chance is known: of so many comparisons at once all are within the interval 99 times of a hundred where nothing
but chance makes a difference (Bonferroni). BESIDE=1 says of each comparison by how much, in standard deviations."""
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TRUST = 0.99
WHOLE = 0.995  # of stacks go back to where threads begin
TRIALS = 3  # chance alone fails one trial in a hundred
PATIENCE_S = 300
CC = os.environ.get("CC", "cc").split()
CXX = os.environ.get("CXX", "c++").split()

# functions: as whole words of what both call them; not main, as perf's walks of copied stacks lose it in 3 of 1,000 samples or more, and
# ours in 1 or 2, which is looked at for itself. behind: where a call is the last that a function does, as of what never returns, its
# return address is another function's: of that, by perf script of a chain that was unwound before.
PROGRAMS = [
    {
        "source": "shares.c",
        "compile": [*CC, "-O0", "-g", "-lpthread"],
        "perf": ["-g"],
        "seconds": 5,
        "functions": ["share_1", "share_2", "share_4", "share_8", "small_ones", "large_ones", "burn"],
    },
    {
        "source": "shares.cc",
        "compile": [*CXX, "-O2", "-g", "-fomit-frame-pointer"],
        "perf": ["--call-graph", "dwarf"],
        "seconds": 3,
        "functions": ["share<1u>", "share<4u>", "shares::both", "shares::burn", "guard::~guard", "shares::fail", "shares::fails",
                      "unwound", "__cxa_throw", "_Unwind_RaiseException", "_Unwind_Find_FDE"],
        "behind": ["unwound"],
    },
    {
        "source": "shares.rs",
        "compile": ["rustc", "-O", "-g"],
        "perf": ["--call-graph", "dwarf"],
        "seconds": 3,
        "functions": ["share_1", "share_4", "burn", "shares::Dynamic as shares::Work>::work", "Drop>::drop", "shares::fails",
                      "shares::caught", "shares::sorted", "std::panic::resume_unwind"],
        "behind": ["shares::fails", "std::panic::resume_unwind"],
    },
]


def label_of(functions):
    """From a frame's name to which of the functions it is, or None."""
    one = re.compile("|".join(rf"(?<!\w){re.escape(f)}(?!\w)" for f in sorted(functions, key=len, reverse=True)))

    def label(name):
        found = one.search(name)
        return found and found.group()
    return label


class Counts:
    """Of one recording: samples, and of each function how many have it in their stack, and how many innermost."""

    def __init__(self, functions):
        self.n = 0
        self.total = dict.fromkeys(functions, 0)
        self.self = dict.fromkeys(functions, 0)

    def add(self, stack, n):
        """n samples of labels and None, the innermost first."""
        self.n += n
        for name in set(stack) - {None}:
            self.total[name] += n
        if stack and stack[0]:
            self.self[stack[0]] += n

    def sides(self):
        return {(kind, f): n for kind, by in (("total", self.total), ("self", self.self)) for f, n in by.items()}


def perf_counts(path, functions):
    """By perf script."""
    out = subprocess.run(["perf", "script", "--no-inline", "-F", "ip,sym", "-i", path], capture_output=True, text=True)
    if out.stderr.strip():
        sys.exit(f"perf script of {path} says: {out.stderr}")
    label, counts, stack = label_of(functions), Counts(functions), []
    for line in out.stdout.splitlines() + [""]:
        if line.strip():
            stack.append(label(line.split(None, 1)[1] if len(line.split()) > 1 else ""))
        elif stack:
            counts.add(stack, 1)
            stack = []
    return counts


def our_counts(proftop, path, functions):
    out = subprocess.run([proftop, "export", "--to", "folded", "--metric", "samples", path], capture_output=True, text=True,
                         check=True)
    label, counts = label_of(functions), Counts(functions)
    for line in out.stdout.splitlines():
        stack, _, n = line.rpartition(" ")
        names = [label(frame) for frame in stack.split(";")[1:]]
        counts.add(names[::-1], int(n))
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


def record(program, how, ours, theirs, proftop):
    """Both recordings of one run, for as many seconds of cpu as make samples enough, however busy the machine is."""
    target = subprocess.Popen([program, "600"])
    event = ["-e", "cpu-clock", "-F", "999"]
    both = [
        subprocess.Popen([proftop, "record", *event, "-o", ours, "-p", str(target.pid)],
                         stderr=subprocess.PIPE, text=True),
        subprocess.Popen(["perf", "record", "-q", *event, *how["perf"], "-o", theirs, "-p", str(target.pid)],
                         stderr=subprocess.PIPE, text=True),
    ]
    try:
        for p, path in zip(both, (ours, theirs)):
            wait_until(f"{p.args[0]} records", lambda: has_begun(p, path))
        begun = cpu_seconds(target.pid)
        wait_until("the program has run", lambda: cpu_seconds(target.pid) - begun > how["seconds"])
    finally:
        target.kill()
        target.wait()
    for p in both:
        said = p.communicate()[1]
        if p.returncode:
            sys.exit(f"{p.args[0]} failed: {said}")


def deviation(a, n_a, b, n_b):
    """How many standard deviations two shares are apart."""
    p = (a + b) / (n_a + n_b)
    spread = math.sqrt(p * (1 - p) * (1 / n_a + 1 / n_b))
    return (a / n_a - b / n_b) / spread if spread else 0.0


def trial(proftop, here, how, directory):
    program, ours, theirs = (os.path.join(directory, n) for n in ("shares", "ours.data", "theirs.data"))
    subprocess.run([*how["compile"], "-o", program, os.path.join(here, how["source"])], check=True)
    record(program, how, ours, theirs, proftop)
    functions = how["functions"]
    perfs, mine = perf_counts(theirs, functions), our_counts(proftop, ours, functions)
    roots = our_counts(proftop, ours, ["main", "clone3", "__clone3"])
    if sum(roots.total.values()) < mine.n * WHOLE:
        sys.exit(f"{how['source']}: of {mine.n} stacks only {roots.total} go back to where threads begin")
    if perfs.n < 300 or mine.n < 300:
        sys.exit(f"too few samples: {mine.n} and {perfs.n}")
    by_perf = perf_counts(ours, functions).sides()
    bad, n_perfs = [], perfs.sides()
    most = statistics.NormalDist().inv_cdf(1 - (1 - TRUST) / 2 / len(n_perfs))
    for what, n in mine.sides().items():
        if n != by_perf[what] and what[1] not in how.get("behind", []):
            sys.exit(f"{how['source']}: {what}: {n} samples by proftop report, {by_perf[what]} by perf script, of one file")
        apart = deviation(n, mine.n, n_perfs[what], perfs.n)
        if os.environ.get("BESIDE"):
            print(f"{how['source']} {what[0]} {what[1]}: {n} of {mine.n}, {n_perfs[what]} of {perfs.n}: {apart:+.2f}")
        if abs(apart) > most:
            bad.append(f"{how['source']}: {what}: {n} of {mine.n}, perf has {n_perfs[what]} of {perfs.n}: {apart:+.2f}")
        if what[0] == "total" and n + n_perfs[what] == 0:
            sys.exit(f"{how['source']}: nobody has seen {what[1]}")
    return bad


def compare(proftop, here, how):
    for _ in range(TRIALS):
        with tempfile.TemporaryDirectory() as directory:
            bad = trial(proftop, here, how, directory)
        if not bad:
            return
        print("\n".join(bad))
    sys.exit("shares differ by more than chance, each time")


def main():
    proftop, here = sys.argv[1:3]
    for how in PROGRAMS:
        if shutil.which(how["compile"][0]):
            compare(proftop, here, how)
        else:
            print(f"{how['compile'][0]} is not here: {how['source']} is not tried")


main()
