# SPDX-License-Identifier: GPL-3.0-or-later
"""views.py PROFTOP FILE…: the text of every view and its --json have the same rows, with the same numbers.

Every cell of a row of the text that is a number (with a unit or not) is a number of the same row in JSON, rounded: as it stands, as
a share of it, or as its part of a total. A view that a file does not have is refused by both.
"""
import json
import re
import subprocess
import sys

VIEWS = ("top tree callers butterfly threads timeline memory leaks lifetimes sizes temporaries handoffs reallocs waste blocks "
         "allocators findings").split()
UNITS = {"": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9,
         "h": 3600e9, "%": 1, "k": 1e3, "M": 1e6, "G": 1e9}
NUMBER = re.compile(r"([-+]?[0-9][0-9,]*(?:\.[0-9]+)?) ?(%s)" % "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True)))
ROWS = "30"

proftop, files = sys.argv[1], sys.argv[2:]
faults = compared = 0


def fault(what):
    global faults
    faults += 1
    print("FAULT:", what)


def run(*arguments):
    done = subprocess.run([proftop, "report", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def numbers_in(value):
    """All numbers of a row, at any depth but those of its stack."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, (int, float)):
        yield value
    elif isinstance(value, list):
        for v in value:
            yield from numbers_in(v)
    elif isinstance(value, dict):
        for name, v in value.items():
            if name not in ("stack", "line"):
                yield from numbers_in(v)


def is_told(cell, numbers, wholes, times):
    """Is the number of a cell one of the row's, rounded? times: those without a unit may be seconds."""
    digits, unit = NUMBER.fullmatch(cell).groups()
    value = float(digits.replace(",", "")) * UNITS[unit]
    decimals = len(digits.partition(".")[2])
    # Half a unit of the last digit, and as much as a number of seven digits has in text.
    off = 0.5001 * 10 ** -decimals * UNITS[unit] + 1e-9 * abs(value)
    for n in numbers:
        if abs(n - value) <= off or abs(100 * n - value) <= off or (times and unit == "" and abs(n / 1e9 - value) <= off):
            return True
        if any(abs(100 * n / w - value) <= off for w in wholes):
            return True
    return False


def rows_of_text(text):
    """Cells that are numbers, of each row; a line of a sparkline or a bar behind them is none."""
    for line in re.split(r"\n\n", text)[0].splitlines():  # behind a free line are whole stacks
        if line.startswith("#") or not line.strip():
            continue
        yield line, [c for c in re.split(r" {2,}", line.strip()) if NUMBER.fullmatch(c)]


def compare(file, view):
    global compared
    name = file.rpartition("/")[2]
    more = ["--min", "0"] if view in ("top", "tree", "callers", "butterfly", "threads") else []
    rc_text, text, said_text = run("--view", view, "-n", ROWS, *more, file)
    rc_json, made, said_json = run("--view", view, "-n", ROWS, *more, "--json", file)
    if (rc_text != 0) != (rc_json != 0) or said_text != said_json:
        fault("%s of %s: the text ends with %d and says %r, JSON with %d and %r" % (view, name, rc_text, said_text, rc_json, said_json))
        return
    if rc_text != 0:
        return
    answer = json.loads(made)
    if view == "findings":
        words = " ".join(text.split())
        for f in answer["findings"]:
            if " ".join(f["sentence"].split()) not in words:
                fault("%s of %s: the text lacks %r" % (view, name, f["sentence"]))
        compared += len(answer["findings"])
        return
    wholes = [c[w] for c in answer.get("columns", []) for w in ("total", "whole") if c.get(w)]
    rows = [list(numbers_in(r)) for r in answer["rows"]]
    lines = list(rows_of_text(text))
    if view == "memory":  # the first lines are of everything, and of what is beyond
        beside = [k for k in ("total", "resident_beyond_live") if k in answer]
        rows = [list(numbers_in(answer[k])) for k in beside] + rows
    if view == "butterfly":  # shares of the function's own total
        wholes += [n for r in rows for n in r if n > 0]
    if len(lines) != len(rows):
        fault("%s of %s: %d rows of text, %d of JSON" % (view, name, len(lines), len(rows)))
        return
    for (line, cells), numbers in zip(lines, rows):
        for cell in cells:
            compared += 1
            if not is_told(cell, numbers, wholes, view == "timeline"):
                fault("%s of %s: %r is not in JSON: %s: %s" % (view, name, cell, line, numbers))


for file in files:
    before = compared
    for view in VIEWS:
        compare(file, view)
    if compared == before:
        fault("%s: nothing was compared" % file)
print("%d numbers of text were looked for in JSON, of %d files" % (compared, len(files)))
sys.exit(faults != 0)
