#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of runs whose truth is known: how often proftop diff finds a change that is there, and one that is not.

synthetic.py PROFTOP [--null N] [--trials N] [--samples N]

A program has 43 functions below six callers. A run of it draws its speed and each function's speed by lot, then its samples.
Prints three tables as Markdown: null pairs with something beyond noise, how many planted changes were found, and how often the total is
beyond noise where it changed.
"""
import argparse
import json
import math
import os
import random
import subprocess
import tempfile

SPEED = 0.01  # deviation of a run's speed, as a logarithm
OWN = 0.008  # the same of each function's, besides
ALL = "all functions"
SHARES = (0.01, 0.05, 0.20)
GROWTHS = (0.10, 0.20, 0.50)


def make_program():
    others = [1 / (3 + i) for i in range(40)]
    rest = 1 - sum(SHARES)
    program = {f"planted_{100 * share:.0f}": share for share in SHARES}
    program.update({f"work_{i}": rest * o / sum(others) for i, o in enumerate(others)})
    return program


def poisson(lot, mean):
    if mean > 50:
        return max(0, round(lot.gauss(mean, math.sqrt(mean))))
    limit, n, product = math.exp(-mean), 0, lot.random()
    while product > limit:
        n += 1
        product *= lot.random()
    return n


def write_run(lot, program, samples, path, grown=None, growth=0.0):
    speed = math.exp(lot.gauss(0, SPEED))
    with open(path, "w", encoding="ascii") as out:
        for i, (name, share) in enumerate(program.items()):
            mean = samples * share * speed * math.exp(lot.gauss(0, OWN))
            n = poisson(lot, mean * (1 + growth if grown in (name, ALL) else 1))
            if n:
                out.write(f"main;caller_{i % 6};{name} {n}\n")


def compare(proftop, before, after):
    command = [proftop, "diff", "--json", "-n", "0", *before, "--", *after]
    return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)


def pair(args, lot, program, n_runs, grown=None, growth=0.0):
    with tempfile.TemporaryDirectory() as where:
        sides = []
        for side in ("a", "b"):
            paths = [os.path.join(where, f"{side}{i}.folded") for i in range(n_runs)]
            for path in paths:
                write_run(lot, program, args.samples, path, grown if side == "b" else None, growth)
            sides.append(paths)
        return compare(args.proftop, *sides)


def is_whole(row, total):
    return all(row["total"][side] >= 0.99 * total[side] for side in ("before", "after"))


def rows_beyond(pair):
    """What is all of the program is judged as the total, and counted as that."""
    return any(
        row[part]["beyond_noise"]
        for row in pair["rows"]
        if not is_whole(row, pair["total"])
        for part in ("self", "total")
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("proftop")
    parser.add_argument("--null", type=int, default=200)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--samples", type=int, default=60000)
    args = parser.parse_args()
    lot, program = random.Random(1), make_program()

    print(f"{args.samples:,} samples a run; a run's speed deviates by {100 * SPEED:g} %, each function's by {100 * OWN:g} % besides\n")
    print("| runs a side | null pairs | with a row beyond noise | with the total beyond noise | with either |\n|---:|---:|---:|---:|---:|")
    for n_runs in (1, 3):
        pairs = [pair(args, lot, program, n_runs) for _ in range(args.null)]
        rows = [rows_beyond(p) for p in pairs]
        totals = [p["total"]["beyond_noise"] for p in pairs]
        either = [r or t for r, t in zip(rows, totals)]
        print(f"| {n_runs} | {args.null} | " + " | ".join(f"{sum(n)} ({100 * sum(n) / args.null:.1f} %)" for n in (rows, totals, either)) + " |", flush=True)
    print("\n| share of the function | runs a side | " + " | ".join(f"+{100 * g:.0f} %" for g in GROWTHS) + " |")
    print("|---:|---:|" + "---:|" * len(GROWTHS))
    for share in SHARES:
        grown = f"planted_{100 * share:.0f}"
        for n_runs in (1, 3):
            cells = []
            for growth in GROWTHS:
                found = 0
                for _ in range(args.trials):
                    rows = pair(args, lot, program, n_runs, grown, growth)["rows"]
                    found += any(r["name"] == grown and r["self"]["change"] > 0 and r["self"]["beyond_noise"] for r in rows)
                cells.append(f"{100 * found / args.trials:.0f} %")
            print(f"| {100 * share:.0f} % | {n_runs} | " + " | ".join(cells) + " |", flush=True)
    print("\n| what grew | the total's change | runs a side | total beyond noise |\n|---|---:|---:|---:|")
    for grown, growth, total in (("planted_20", 0.5, 0.1), (ALL, 0.2, 0.2)):
        for n_runs in (1, 3):
            found = sum(pair(args, lot, program, n_runs, grown, growth)["total"]["beyond_noise"] for _ in range(args.trials))
            print(f"| {grown} | +{100 * total:.0f} % | {n_runs} | {100 * found / args.trials:.0f} % |", flush=True)


if __name__ == "__main__":
    main()
