#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copied stacks of the corpus against what perfparser's own tests expect of them: depth and names, with inlined frames.

The names are compared up to their first bracket and without a return type; kernel frames have none there.

    corpus_stacks.py PROFTOP CORPUS
"""
import collections
import os
import re
import subprocess
import sys

PROGRAM = 'vector_static_gcc_v9.1.0'
# Symbols of one address, of which either may be shown; and a function without a linkage name, which debug
# information names without its namespace.
SAME = {'generate_n': 'std::generate_n', 'hypot': '__hypot', '__hypot_finite': '__ieee754_hypot', 'cabsf64': '__cabs'}
MARK = re.compile(r'\[(truncated|no unwind tables|broken stack|no file|too deep)\]')


def clean(name):
    """Up to the first bracket of arguments, template arguments out, then the last word: return types go."""
    depth, out = 0, ''
    for c in name.replace('operator<', 'operator').replace('(anonymous namespace)', ''):
        if c == '(' and depth == 0 and out:
            break
        depth += c == '<'
        out += c if depth == 0 else ''
        depth -= c == '>'
    out = out.split(' ')[-1]
    return '_init' if out.endswith('@plt') else SAME.get(out, out)


def expected(path):
    """Stacks root first, in the form of folded ones."""
    stacks, comm, frames = collections.Counter(), None, []
    with open(path, encoding='utf-8') as f:
        for line in list(f) + ['end\n']:
            fields = line.rstrip('\n').split('\t')
            if fields[0]:
                if comm:
                    stacks[tuple([comm] + frames[::-1])] += 1
                comm, frames = PROGRAM[:15], []
            elif '[kernel' in fields[-1]:
                frames.append('[kernel]')
            elif f' {PROGRAM}' in fields[-1]:
                frames.append(clean(fields[-1].split(f' {PROGRAM}')[0]))
    return stacks


def expected_of_calls(path):
    """The same of calls that the cpu kept: functions of the program only, and without the innermost one.

    perfparser begins with the recorded address, which may be the kernel's, and shows the first byte of the
    function that was called last as another frame; where that was a stub, it is not where the cpu was.
    """
    stacks, frames = collections.Counter(), None
    with open(path, encoding='utf-8') as f:
        for line in list(f) + ['end\n']:
            fields = line.rstrip('\n').split('\t')
            if fields[0]:
                if frames is not None:
                    user = [name for name in frames if name]
                    twice = not frames[:1] == [None] or user[:1] == user[1:2]
                    stacks[tuple([PROGRAM[:15]] + user[2 if twice else 1:][::-1])] += 1
                frames = []
            elif fields[1:] == ['0 0', '0 0']:
                frames.append(None)
            elif f' {PROGRAM}' in fields[-1] and not fields[-1].endswith('(inlined)'):
                frames.append(clean(fields[-1].split(f' {PROGRAM}')[0]))
    return stacks


def ours(proftop, path, calls):
    command = [proftop, 'export', '--to', 'folded', '--metric', 'samples', '--symbols', os.path.dirname(path), path]
    out = subprocess.run(command + ([] if calls else ['--inline']), check=True, stdout=subprocess.PIPE).stdout.decode('utf-8', 'replace')
    stacks = collections.Counter()
    for line in out.splitlines():
        stack, n = line.rsplit(' ', 1)
        frames = stack.split(';')[1:]
        frames = ['[kernel]' if f in ('[kernel]', '[unknown]', '[ext4]') else clean(f) for f in frames if not MARK.fullmatch(f)]
        if calls:
            frames = [f for f in frames if f != '[kernel]'][:-1]
        stacks[tuple([PROGRAM[:15]] + frames)] += int(n)
    return stacks


def main():
    proftop, corpus = sys.argv[1:3]
    n_problems = 0
    for name in ('perf.data', 'perf.data.zstd', 'perf.lbr.data'):
        path = f'{corpus}/perfparser/vector_static_gcc/{name}'
        if not os.path.exists(path):
            print('skipped: no corpus')
            return 77
        calls = 'lbr' in name
        want, got = (expected_of_calls if calls else expected)(path + '.expected.txt'), ours(proftop, path, calls)
        same = want & got
        print(f'{name}: {sum(want.values())} expected, {sum(got.values())} here, {sum(same.values())} equal')
        for sign, side in (('-', want - got), ('+', got - want)):
            n_problems += sum(side.values())
            for stack, n in sorted(side.items()):
                print(f'{name}: {sign} {";".join(stack)} {n}')
    return n_problems > 0


if __name__ == '__main__':
    sys.exit(main())
