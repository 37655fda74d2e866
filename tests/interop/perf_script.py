#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records programs with perf and compares what `proftop export` makes of the file with `perf script`.

For every event: the stacks, with their numbers of samples and with their weights. Both sides are
brought to one form first (see frames_of()). Where the two may differ is in doc/differences.md; here that is
  * a return address at a function's first byte: perf names that function, proftop the one before it;
  * a chain with an impossible entry: perf prints no frame at all, proftop leaves the entry out;
  * stubs of the procedure linkage table: perf 6.1 knows fewer of them, and calls the first one _init.
Each is known by the addresses that perf prints. What differs otherwise is recorded once more: only where
the unwinder or the kernel lost its way by chance it does not come again.

    perf_script.py PROFTOP SOURCE_DIR [CASE...]
"""
import collections
import functools
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

HEAD = re.compile(r'^(?P<comm>.*?)\s+(?P<pid>-?\d+)/(?P<tid>-?\d+)\s+(?P<period>\d+)\s+(?P<event>\S+):\s*(?P<rest>.*)$')
FRAME = re.compile(r'^\s*(?P<ip>[0-9a-f]+) (?P<sym>.*?)(?:\+0x(?P<off>[0-9a-f]+))? \((?P<dso>[^()]*(?: \(deleted\))?)\)\s*$')
FIELDS = 'comm,pid,tid,period,event,ip,sym,symoff,dso'
MAPPING = re.compile(r'PERF_RECORD_MMAP2? (-?\d+)/-?\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (0x[0-9a-f]+|0) .*\]: \S+ (.*)$')
KERNEL = 0xffff800000000000
ANY = '*'
ANYBODY = -1  # instead of a pid


def frames_of(sym, dso):
    """The frames that stackcollapse-perf.pl makes of one: mostly one.

    Two are written otherwise: of a frame without a symbol the module has one pair of brackets, not two, and what begins
    with a bracket is there.
    """
    if sym == '[unknown]':
        # Memory of no file has no path that could be shortened: doc/differences.md.
        base = dso if dso == '//anon' else os.path.basename(re.sub(r' \(deleted\)$', '', dso))
        return [base if base.startswith('[') else f'[{base}]']
    parts = sym.split('->')
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    parts = [tidy(part, i == 0) for i, part in enumerate(parts)]
    return parts[:1] + [part if '_[i]' in part else part + '_[i]' for part in parts[1:]]


def tidy(name, first):
    name = name.replace(';', ':')
    if not re.search(r'\.\(.*\)\.', name):
        name = name[:first] + re.sub(r'\((?!anonymous namespace\)).*', '', name[first:])
    return re.sub('["\']', '', name)


@functools.lru_cache(maxsize=None)
def stubs_of(path):
    """Where in an ELF file the procedure linkage tables lie: [(offset, end)]."""
    try:
        with open(path, 'rb') as f:
            data = f.read()
    except OSError:
        return []
    if data[:6] != b'\x7fELF\x02\x01':
        return []
    table, = struct.unpack_from('<Q', data, 0x28)
    size, n, names_index = struct.unpack_from('<HHH', data, 0x3a)
    sections = [struct.unpack_from('<IIQQQQ', data, table + i * size) for i in range(n)]
    strings = sections[names_index][4]
    return [(s[4], s[4] + s[5]) for s in sections if data[strings + s[0]:].startswith(b'.plt')]


class Mappings:
    """What was mapped where by whom, at any time."""

    def __init__(self, lines):
        self.by_file = collections.defaultdict(list)
        for m in map(MAPPING.search, lines):
            if m:
                pid, start, size, offset, path = m.groups()
                for whose in int(pid), ANYBODY:
                    self.by_file[whose, path].append((int(start, 16), int(size, 16), int(offset, 16)))

    def is_stub(self, pid, frame):
        """perf prints offsets in the file for frames of user code in a chain, and addresses elsewhere. A child has what was
        mapped before it was forked."""
        ip = int(frame['ip'], 16)
        maps = self.by_file[pid, frame['dso']] or self.by_file[ANYBODY, frame['dso']]
        offsets = [ip] + [ip - start + offset for start, size, offset in maps if start <= ip < start + size]
        return any(begin <= at < end for at in offsets for begin, end in stubs_of(frame['dso']))


def perf_samples(path, event):
    """[(stack root first, weight)]; a frame that may be named otherwise is ANY. None: perf crashed."""
    command = ['perf', 'script', '--no-inline', '--show-mmap-events', '-F', FIELDS, '-i', path]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if run.returncode < 0:
        return None
    run.check_returncode()
    lines = run.stdout.decode('utf-8', 'replace').split('\n')
    mappings = Mappings(line for line in lines if 'PERF_RECORD_MMAP' in line)
    samples, frames, head = [], [], None

    def finish():
        if head and head['event'] == event:
            samples.append(([head['comm'].strip().replace(' ', '_').replace(';', ':')] + names(frames, mappings, int(head['pid'])),
                            int(head['period'])))

    for line in lines:
        if 'PERF_RECORD_MMAP' in line:
            continue
        if line.startswith('\t') or not line.strip():
            if line.strip():
                frames.append(FRAME.match(line))
            continue
        finish()
        head, frames = HEAD.match(line), []
        if not head:
            sys.exit(f'cannot read what perf script says: {line!r}')
        if head['rest']:
            frames.append(FRAME.match(head['rest']))
    finish()
    return samples


def is_kernel(frame):
    return int(frame['ip'], 16) >= KERNEL and frame['dso'] != '[unknown]'


def names(frames, mappings, pid):
    out = []
    for i, f in enumerate(frames):
        leaf = i == 0 or is_kernel(frames[i - 1]) != is_kernel(f)
        first_byte = not leaf and f['off'] == '0'
        out.append([ANY] if first_byte or mappings.is_stub(pid, f) else frames_of(f['sym'], f['dso']))
    return one_piece(frame for frames_of_one in out[::-1] for frame in frames_of_one)


def one_piece(frames):
    """The name of operator-> was taken for two."""
    out = []
    for frame in frames:
        if frame == '_[i]' and out:
            out[-1] += frame
        else:
            out.append(frame)
    return out


def proftop_stacks(proftop, path, event, metric):
    # if nothing is said the periods that perf script prints are the counts, as for stackcollapse-perf.pl
    command = [proftop, 'export', '--to', 'folded', '--event', event] + (['--metric', metric] if metric != 'period' else [])
    out = subprocess.run(command + [path], check=True, stdout=subprocess.PIPE).stdout.decode('utf-8', 'replace')
    stacks = collections.Counter()
    for line in out.splitlines():
        stack, count = line.rsplit(' ', 1)
        stacks[tuple(one_piece(stack.split(';')))] += int(count)
    return stacks


def matches(pattern, stack):
    if len(pattern) == 1:
        return pattern[0] == stack[0]
    return len(pattern) == len(stack) and all(p in (ANY, s) for p, s in zip(pattern, stack))


def left_over(want, got):
    """What of one side has no counterpart on the other, after exact and then approximate matches."""
    want, got = collections.Counter(want), collections.Counter(got)
    same = want & got
    want, got = want - same, got - same
    for pattern in sorted(want, key=lambda p: (len(p) == 1, p.count(ANY))):
        for stack in [g for g in got if matches(pattern, g)]:
            n = min(want[pattern], got[stack])
            want[pattern] -= n
            got[stack] -= n
    return +want, +got


def is_ours(stack):
    """A task of the recording: with -a others are in it too, whose files may be gone or lie in a container."""
    return stack[0].startswith(('prog_', 'perf', 'swapper'))


def compare(name, proftop, path, event):
    samples = perf_samples(path, event)
    problems = 0
    if samples is None:
        print(f'{name}: {event}: not compared, perf script crashed')
        return 0, 0
    for metric in ('samples', 'period'):
        want = collections.Counter()
        for stack, period in samples:
            want[tuple(stack)] += 1 if metric == 'samples' else period
        got = proftop_stacks(proftop, path, event, metric)
        if sum(want.values()) != sum(got.values()):
            print(f'{name}: {event}: {metric} sum to {sum(got.values())}, perf has {sum(want.values())}')
            problems += len(samples)
        if '-a' in CASES[name][1].split():
            want, got = ({stack: n for stack, n in side.items() if is_ours(stack)} for side in (want, got))
        more, less = left_over(want, got)
        for sign, side in (('-', more), ('+', less)):
            for stack, n in sorted(side.items())[:10]:
                print(f'{name}: {event}: {sign} {";".join(stack)} {n}')
                problems += n if metric == 'samples' else 0
    print(f'{name}: {event}: {len(samples)} samples, {"differ" if problems else "equal"}')
    return len(samples), problems


def compare_all(name, proftop, path, events):
    counts = [compare(name, proftop, path, event) for event in events if path]
    return sum(n for n, _ in counts), sum(problems for _, problems in counts)


def build(source, work):
    """The programs that can be built here: {language: path}."""
    flags = ['-g', '-O1', '-fno-omit-frame-pointer', '-fno-optimize-sibling-calls']
    tools = {
        'c': [os.environ.get('CC', 'cc').split() + flags + ['prog.c', '-lpthread']],
        'cc': [['c++'] + flags + ['prog.cc']],
        'rs': [['rustc', '-g', '-O', '-C', 'force-frame-pointers=yes', 'prog.rs']],
    }
    built = {}
    for language, (command,) in tools.items():
        out = f'{work}/prog_{language}'
        if not shutil.which(command[0]):
            print(f'{command[0]} is not installed: no program in {language}')
            continue
        subprocess.run(command + ['-o', out], cwd=source, check=True)
        built[language] = out
    return built


CASES = {
    # name: (language, options of perf record, events)
    'c': ('c', '-e cpu-clock -g', ['cpu-clock']),
    'c-flat': ('c', '-e cpu-clock', ['cpu-clock']),
    'c-events': ('c', '-e cpu-clock,page-faults,context-switches -g', ['cpu-clock', 'page-faults', 'context-switches']),
    'c-period': ('c', '-e cpu-clock -c 500000 -g', ['cpu-clock']),
    'c-user': ('c', '-e cpu-clock:u -g', ['cpu-clock:u']),
    'c-kernel-part': ('c', '-e cpu-clock -g --kernel-callchains', ['cpu-clock']),
    'c-per-thread': ('c', '-e cpu-clock -g --per-thread', ['cpu-clock']),
    'c-all': ('c', '-e cpu-clock -g -a', ['cpu-clock']),
    'c-all-flat': ('c', '-e cpu-clock -a', ['cpu-clock']),
    'c-no-ids': ('c', '-e cpu-clock -g --no-buildid', ['cpu-clock']),
    'c-no-times': ('c', '-e cpu-clock --no-timestamp', ['cpu-clock']),
    'c-packed': ('c', '-e cpu-clock -g -z', ['cpu-clock']),
    'c-group': ('c', '-e {cpu-clock,page-faults} -g', ['cpu-clock', 'page-faults']),
    'c-group-values': ('c', '-e {cpu-clock,page-faults}:S -g', ['cpu-clock', 'page-faults']),
    'c-some-chains': ('c', '-e cpu-clock/call-graph=no,name=clock/ -e page-faults -g', ['clock', 'page-faults']),
    'c-modes': ('c', '-e cpu-clock:k,cpu-clock:u -g', ['cpu-clock:k', 'cpu-clock:u']),
    'c-tracepoints': ('c', '-e sched:sched_switch,raw_syscalls:sys_enter -e cpu-clock -g',
                      ['sched:sched_switch', 'raw_syscalls:sys_enter', 'cpu-clock']),
    'c-switches': ('c', '-e cpu-clock -g --switch-events --namespaces --all-cgroups', ['cpu-clock']),
    'c-much': ('c', '-e cpu-clock -g -R -d -W -s --phys-data --code-page-size --intr-regs=ax,bx --user-regs=ip,sp',
               ['cpu-clock']),
    'c-clock': ('c', '-e cpu-clock -g -k mono --no-inherit --buildid-all', ['cpu-clock']),
    'c-dir': ('c', '-e cpu-clock -g --threads', ['cpu-clock']),
    'c-dir-packed': ('c', '-e cpu-clock,page-faults -z --threads', ['cpu-clock', 'page-faults']),
    'c-all-events': ('c', '-e cpu-clock,page-faults,context-switches -a -g', ['cpu-clock', 'page-faults', 'context-switches']),
    'c-pipe-packed': ('c', '-e cpu-clock,page-faults -g -z -o -', ['cpu-clock', 'page-faults']),
    'c-late-maps': ('c', '-e cpu-clock -g --tail-synthesize --overwrite', ['cpu-clock']),
    'c-pipe': ('c', '-e cpu-clock -g -o -', ['cpu-clock']),
    'cc': ('cc', '-e cpu-clock -g', ['cpu-clock']),
    'cc-flat': ('cc', '-e cpu-clock,page-faults', ['cpu-clock', 'page-faults']),
    'rs': ('rs', '-e cpu-clock -g', ['cpu-clock']),
    'rs-flat': ('rs', '-e cpu-clock', ['cpu-clock']),
}


def record_with(name, command, path=os.devnull):
    """Runs perf record, its output to path; False when it does not record."""
    # The memory for its buffers is one pool: another perf may have it just now.
    for _ in range(5):
        with open(path, 'wb') as out:
            done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE)
        if done.returncode == 0:
            return True
        time.sleep(1)
    print(f'{name}: perf does not record: {done.stderr.decode("utf-8", "replace").strip()[-300:]}')
    return False


def record(name, options, program, work):
    """The file's path; None when perf does not record."""
    path = f'{work}/{name}.data'
    command = ['perf', 'record', '-q', '-F', '4000'] if '-c' not in options.split() else ['perf', 'record', '-q']
    to_pipe = options.endswith('-o -')
    command += options.split() + ([] if to_pipe else ['-o', path]) + ['--', program, '0.3']
    return path if record_with(name, command, path if to_pipe else os.devnull) else None


def named(names, cases):
    """Ends the program if a case is asked for that there is not: nothing compared is nothing proved."""
    for name in names:
        if name not in cases:
            sys.exit(f'no case is called {name}; there are {", ".join(cases)}')
    return names


def main():
    proftop, source, only = os.path.abspath(sys.argv[1]), sys.argv[2], named(sys.argv[3:], CASES)
    n_problems = n_compared = 0
    with tempfile.TemporaryDirectory(prefix='proftop-interop-') as work:
        os.environ['PERF_BUILDID_DIR'] = f'{work}/buildid'
        built = build(source, work)
        for name, (language, options, events) in CASES.items():
            if language not in built or (only and name not in only):
                continue
            for _ in range(2):
                n, problems = compare_all(name, proftop, record(name, options, built[language], work), events)
                if problems == 0:
                    break
            n_compared += n
            n_problems += problems
    print(f'{n_compared} samples compared, {n_problems} differ')
    if n_problems > 0:
        return 1
    if n_compared < 1000 and not only:
        print('skipped: too few samples for a comparison')
        return 77
    return 0


if __name__ == '__main__':
    sys.exit(main())
