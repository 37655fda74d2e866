#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records a program that naps and compares the waits of each thread with the switches that perf script prints.

The sums are worked out here once more and have to be equal to the nanosecond. Where the stacks are those of the
switches, the naps have to be below the functions that take them, and be no shorter than they were asked to be.

    offcpu.py PROFTOP SOURCE_DIR
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from perf_script import record_with  # noqa: E402

MINE = 'naps'
LINE = re.compile(r'^\s*(?P<comm>.*?)\s+(?P<pid>-?\d+)/(?P<tid>-?\d+)\s+(?P<sec>\d+)\.(?P<ns>\d{9}):\s*(?P<rest>.*)$')
EXIT = re.compile(r'PERF_RECORD_EXIT\(-?\d+:(\d+)\)')
RAW = re.compile(r'prev_pid=(\d+) .* next_pid=(\d+)')

# At least so many nanoseconds below a function, where the stack is that of the switch.
NAPS = {'short_naps': 20 * 3000000, 'long_naps': 6 * 20000000}

TRIALS = 4

CASES = {
    # name: (options of perf record, are the stacks those of the switches?)
    'records': ('-e cpu-clock -g --switch-events', False),
    'records and samples': ('-e cpu-clock,sched:sched_switch -g --switch-events', True),
    'records of all': ('-e cpu-clock -g --switch-events -a', False),
    'samples of all': ('-e sched:sched_switch -g -a', True),
}


def moments(path, raw):
    """({tid: [(time, number, 'out', 'in' or 'end')]}, the last time, tids that are ours, were events lost?)."""
    fields = 'comm,pid,tid,time,event' + (',trace' if raw else '')
    out = subprocess.run(['perf', 'script', '--ns', '-G', '--show-switch-events', '--show-task-events', '--show-lost-events', '-F', fields, '-i', path],
                         check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode('utf-8', 'replace')
    told, last, mine = collections.defaultdict(list), 0, set()
    for number, line in enumerate(out.splitlines()):
        m = LINE.match(line)
        if not m:
            continue
        time, tid, rest = int(m['sec']) * 10**9 + int(m['ns']), int(m['tid']), m['rest']
        ended, switched = EXIT.search(rest), RAW.search(rest)
        if m['comm'].strip() == MINE:
            mine.add(tid)
        last = max(last, time) if not rest.startswith(('PERF_RECORD_COMM', 'PERF_RECORD_FORK', 'PERF_RECORD_MMAP')) else last
        if ended:
            told[int(ended[1])].append((time, number, 'end'))
        elif switched:
            told[int(switched[1])].append((time, number, 'out'))
            told[int(switched[2])].append((time, number, 'in'))
        elif 'PERF_RECORD_SWITCH' in rest:
            told[tid].append((time, number, 'out' if ' OUT' in rest else 'in'))
    return told, last, mine, 'PERF_RECORD_LOST' in out


def is_torn(told):
    """Did a thread leave the cpu twice in a row, or end without it? Beside another recording perf loses what idle cpus turn to."""
    kinds = [kind for _, _, kind in sorted(told)]
    return any(a == 'out' and b != 'in' for a, b in zip(kinds, kinds[1:]))


def wait_of(told, last):
    """Nanoseconds that a thread was off the cpu."""
    total, since, ended = 0, None, False
    for time, _, kind in sorted(told):
        if kind == 'out':
            since = None if ended else time
            continue
        total += time - since if since is not None else 0
        since, ended = None, kind == 'end'
    return total + (last - since if since is not None else 0)


def ours(proftop, path):
    """({tid: nanoseconds}, {function: nanoseconds})."""
    out = subprocess.run([proftop, 'export', '--to', 'folded', '--tid', '--event', 'offcpu', path], check=True,
                         stdout=subprocess.PIPE).stdout.decode('utf-8', 'replace')
    threads, functions = collections.Counter(), collections.Counter()
    for line in out.splitlines():
        stack, weight = line.rsplit(' ', 1)
        frames = stack.split(';')
        # Under any name: a thread has another one before it begins the program.
        threads[int(frames[0].rsplit('/', 1)[1])] += int(weight)
        for function in set(frames[1:]) if frames[0].startswith(MINE + '-') else ():
            functions[function] += int(weight)
    return threads, functions


def walls(proftop, path):
    """({stack: nanoseconds} of --metric wall, the same of the clock and the waits added up)."""
    def stacks(*options):
        out = subprocess.run([proftop, 'export', '--to', 'folded', '--tid', path, *options], check=True,
                             stdout=subprocess.PIPE).stdout.decode('utf-8', 'replace')
        return collections.Counter({stack: int(weight) for stack, weight in (line.rsplit(' ', 1) for line in out.splitlines())})

    return stacks('--metric', 'wall'), stacks('--event', 'cpu-clock') + stacks('--event', 'offcpu')


def check_wall(name, proftop, path, told, last, mine):
    """Problems: wall time is on and off, of every stack; and of a thread about the time that it was there."""
    wall, sums = walls(proftop, path)
    if wall != sums:
        print(f'{name}: wall time is not that on the cpu and off it')
        return 1
    problems = 0
    for tid in sorted(mine):
        lived = max((time for time, _, kind in told[tid] if kind == 'end'), default=last) - min(time for time, _, _ in told[tid])
        seen = sum(ns for stack, ns in wall.items() if stack.split(';')[0].endswith(f'/{tid}'))
        # Samples say where between two of them a thread was; a thread may run before its first switch.
        if not 0.7 * lived - 2e7 <= seen <= 1.3 * lived + 1e8:
            print(f'{name}: thread {tid} lives {lived} ns, {seen} ns of wall time')
            problems += 1
    return problems


def check(name, proftop, work):
    options, with_stacks = CASES[name]
    path = f'{work}/{name.replace(" ", "-")}.data'
    command = ['perf', 'record', '-q', '-o', path] + options.split() + ['--', f'{work}/{MINE}']
    if not record_with(name, command):
        return 0, 0
    raw = '--switch-events' not in options
    told, last, mine, lost = moments(path, raw)
    if any(is_torn(told[tid]) for tid in mine):
        print(f'{name}: perf did not record when threads came back; not compared')
        return 0, 0
    threads, functions = ours(proftop, path)
    problems = 0
    for tid in sorted(mine):
        want = wait_of(told[tid], last)
        if want != threads[tid]:
            print(f'{name}: thread {tid} waits {threads[tid]} ns, perf says {want}')
            problems += 1
    for function, least in NAPS.items():
        if with_stacks and not lost and functions[function] < least:
            print(f'{name}: {functions[function]} ns below {function}, which naps {least}')
            problems += 1
    if 'cpu-clock' in options:
        problems += check_wall(name, proftop, path, told, last, mine)
    print(f'{name}: {len(mine)} threads, {sum(threads[tid] for tid in mine)} ns, {"differ" if problems else "equal"}'
          + (', events were lost' if lost else ''))
    return len(mine), problems


def main():
    proftop, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    n_threads = n_problems = 0
    with tempfile.TemporaryDirectory(prefix='proftop-interop-') as work:
        os.environ['PERF_BUILDID_DIR'] = f'{work}/buildid'
        cc = os.environ.get('CC', 'cc').split()
        subprocess.run(cc + ['-g', '-O1', '-fno-omit-frame-pointer', '-fno-optimize-sibling-calls', f'{source}/naps.c', '-o',
                             f'{work}/{MINE}', '-lpthread'], check=True)
        for name in CASES:
            # Beside another recording perf misses switches here and there; what is wrong in us is so every time.
            for _ in range(TRIALS):
                n, problems = check(name, proftop, work)
                if problems == 0:
                    break
            n_threads += n
            n_problems += problems
    return 1 if n_problems else 0 if n_threads >= 4 else 77


if __name__ == '__main__':
    sys.exit(main())
