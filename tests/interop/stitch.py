#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records deep recursions with nearly the whole stack copied, shortens the copies in the file, and compares what --stitch
makes of them with the whole stacks of the same samples: none may be wrong. A recording with short copies has to have
nearly the shares of the whole one.

    stitch.py PROFTOP SOURCE_DIR
"""
import collections
import os
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from perf_script import record_with  # noqa: E402

WHOLE, SHORT = 65528, 4096
MARK, CUT = '[stitched]', '[truncated]'
RECORD_SAMPLE = 9
TRIALS = 3
LEAST = 100  # truncated stacks, to compare anything

# Of sample_type: fields of one word in front of the callchain, in their order, and those behind it.
WORDS = (16, 0, 1, 2, 3, 6, 9, 7, 8)
READ, CALLCHAIN, RAW, BRANCHES, REGS, STACK = 4, 5, 10, 11, 12, 13


def stack_of(data, at, sample_type, n_regs):
    """Where in a sample's record it says how many bytes were copied; None: no stack."""
    at += 8 + 8 * sum(sample_type >> bit & 1 for bit in WORDS)
    if sample_type >> CALLCHAIN & 1:
        at += 8 + 8 * struct.unpack_from('<Q', data, at)[0]
    if struct.unpack_from('<Q', data, at)[0] == 0:
        at += 8
    else:
        at += 8 + 8 * n_regs
    size = struct.unpack_from('<Q', data, at)[0]
    return at + 8 + size if size else None


def shorten(path, to, size):
    """Copies a recording of one event, and says that no more than size bytes of each stack were copied."""
    with open(path, 'rb') as f:
        data = bytearray(f.read())
    attrs, _, at, n = struct.unpack_from('<4Q', data, 24)
    sample_type, regs = struct.unpack_from('<Q', data, attrs + 24)[0], struct.unpack_from('<Q', data, attrs + 80)[0]
    if sample_type >> READ & 1 or sample_type >> RAW & 1 or sample_type >> BRANCHES & 1 or not sample_type >> STACK & 1:
        sys.exit(f'{path}: samples of an unknown layout, {sample_type:#x}')
    end = at + n
    while at < end:
        kind, length = struct.unpack_from('<I2xH', data, at)
        where = stack_of(data, at, sample_type, bin(regs).count('1')) if kind == RECORD_SAMPLE else None
        if where and struct.unpack_from('<Q', data, where)[0] > size:
            struct.pack_into('<Q', data, where, size)
        at += length
    with open(to, 'wb') as f:
        f.write(data)


def stacks_of(proftop, path, *options):
    out = subprocess.run([proftop, 'export', '--to', 'folded', '--metric', 'samples', '--tid', path, *options], check=True,
                         stdout=subprocess.PIPE).stdout.decode('utf-8', 'replace')
    stacks = collections.Counter()
    for line in out.splitlines():
        stack, count = line.rsplit(' ', 1)
        stacks[tuple(stack.split(';'))] += int(count)
    return stacks


def count(stacks, frame):
    return sum(n for stack, n in stacks.items() if frame in stack)


def wrong_ones(whole, stitched):
    """Stitched stacks that no sample has, or not so often."""
    left, wrong = collections.Counter(whole), collections.Counter()
    for stack, n in stitched.items():
        if MARK not in stack and CUT not in stack:
            left[stack] -= n
    for stack, n in stitched.items():
        if MARK in stack:
            plain = tuple(frame for frame in stack if frame != MARK)
            wrong[plain] += max(0, n - max(0, left[plain]))
            left[plain] -= n
    return +wrong


def record(name, program, how, size, path):
    return record_with(name, ['perf', 'record', '-q', '-e', 'cpu-clock', '-F', '1000', '--call-graph', f'dwarf,{size}', '-o', path,
                              '--', program, how])


def check_truth(how, proftop, program, work):
    """(truncated stacks, problems)"""
    path, short = f'{work}/{how}.data', f'{work}/{how}.short'
    if not record(how, program, how, WHOLE, path):
        return 0, 0
    shorten(path, short, SHORT)
    whole, cut, stitched = stacks_of(proftop, path), stacks_of(proftop, short), stacks_of(proftop, short, '--stitch')
    n_cut, n_stitched, wrong = count(cut, CUT), count(stitched, MARK), wrong_ones(whole, stitched)
    print(f'{how}: {sum(whole.values())} samples, {n_cut} truncated, {n_stitched} stitched, {sum(wrong.values())} wrong')
    problems = sum(wrong.values())
    for stack in list(wrong)[:3]:
        print('  ' + ';'.join(stack))
    if sum(stitched.values()) != sum(whole.values()) or count(cut, MARK) or count(whole, CUT):
        print(f'{how}: samples are missing, or marks where none should be')
        problems += 1
    if how == 'one' and n_cut >= LEAST and n_stitched < 0.7 * n_cut:
        print(f'{how}: not even 70 % are stitched')
        problems += 1
    return n_cut, problems


def check_shares(proftop, program, work):
    """Of two recordings, one with short copies: problems."""
    whole, short = f'{work}/one.data', f'{work}/short.data'
    if not os.path.exists(whole) or not record('shares', program, 'one', SHORT, short):
        return 0
    shares = []
    for stacks in stacks_of(proftop, whole), stacks_of(proftop, short), stacks_of(proftop, short, '--stitch'):
        shares.append(count(stacks, 'first') / max(1, sum(stacks.values())))
    print('share of first: {:.1%} whole, {:.1%} short, {:.1%} stitched'.format(*shares))
    info = subprocess.run([proftop, 'info', '--stitch', short], check=True, stdout=subprocess.PIPE).stdout.decode()
    problems = int(shares[2] < 0.8 * shares[0] or shares[1] > 0.5 * shares[0]) + int('stitched' not in info)
    if problems:
        print('shares: too far from the whole ones, or info says nothing')
    return problems


def main():
    proftop, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory(prefix='proftop-interop-') as work:
        os.environ['PERF_BUILDID_DIR'] = f'{work}/buildid'
        program = f'{work}/descent'
        cc = os.environ.get('CC', 'cc').split()
        subprocess.run(cc + ['-g', '-O1', f'{source}/descent.c', '-o', program, '-lpthread'], check=True)
        n_one, problems = check_truth('one', proftop, program, work)
        n_two, more = check_truth('two', proftop, program, work)
        # Shares of two recordings differ by chance, and more so where little was sampled.
        problems += more + (all(check_shares(proftop, program, work) for _ in range(TRIALS)) if n_one >= LEAST else 0)
    return 1 if problems else 0 if min(n_one, n_two) >= LEAST else 77


if __name__ == '__main__':
    sys.exit(main())
