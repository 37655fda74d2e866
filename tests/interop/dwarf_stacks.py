#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records copied stacks (perf record --call-graph dwarf) of programs that unwinders go wrong on, and compares
what `proftop export` makes of them with `perf script`, frame by frame.

Names are brought to one form first (name_of()). What may differ after that is in ALLOWED,
each with its reason; doc/differences.md says the same for people.

    dwarf_stacks.py PROFTOP SOURCE_DIR [CASE...]
"""
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from perf_script import ANY, FIELDS, FRAME, HEAD, is_kernel, named, record_with  # noqa: E402

# What ends a stack that does not reach its root, in proftop.
MARKS = {'[truncated]', '[no unwind tables]', '[broken stack]', '[no file]', '[too deep]'}


def clean(name):
    """A name up to its first bracket, as folded stacks have it."""
    name = name.replace(';', ':').replace('(anonymous namespace)', '{anonymous}')
    return name.split('(')[0].strip() or name


def name_of(frame):
    if frame['sym'] != '[unknown]':
        return clean(frame['sym'])
    base = os.path.basename(re.sub(r' \(deleted\)$', '', frame['dso']))
    return base if base.startswith('[') else f'[{base}]'


def names(frames):
    """Root first; ANY where perf names the function after the one that made the call."""
    out = []
    for i, f in enumerate(frames):
        leaf = i == 0 or is_kernel(frames[i - 1]) != is_kernel(f)
        if not f['sym'].startswith('('):  # folded stacks have none of these: FlameGraph's rule
            out.append(ANY if not leaf and f['off'] == '0' else name_of(f))
    return out[::-1]


def names_inlined(frames, program):
    """The same with inlined frames: perf prints those of an address before the function that has the code.

    ANY for frames of other files, as perf names their functions by debug information, not by symbol; and where the
    function does not come last, as perf 6.1 then has put its symbol on a wrong one of the frames.
    """
    out = []
    inlined = [f['dso'] == 'inlined' for f in frames] + [False]
    for i, f in enumerate(frames):
        last = next((k for k in range(i, len(frames)) if not inlined[k]), len(frames) - 1)
        before = i > 0 and frames[i - 1]['ip'] == f['ip'] and not inlined[i - 1] and inlined[i]
        after = not inlined[i] and inlined[i + 1] and frames[i + 1]['ip'] == f['ip']
        known = frames[last]['ip'] == f['ip'] and os.path.basename(frames[last]['dso']) == program
        if before or after or (out and inlined[i] and inlined[i - 1] and out[-1] == ANY):
            known = False
        # perf 6.1 prints some inlined frames as a second frame of the function that has the code.
        if any(0 <= k < len(frames) and frames[k]['ip'] == f['ip'] and frames[k]['sym'] == f['sym'] and not inlined[k]
               for k in (i - 1, i + 1)):
            known = False
        if not f['sym'].startswith('('):
            name = plain(name_of(f))
            # perf leaves off the scope of operators; with it, ours is cut within its template's arguments.
            out.append(name if known and not name.startswith('operator') else ANY)
    return out[::-1]


def plain(name):
    """Without what compilers append to the names of copies of a function, which debug information does not."""
    return re.sub(r'(\.(part|constprop|isra|cold|lto_priv)(\.\d+)?)+$', '', name)


def is_stub(want, got):
    """perf 6.1 knows few stubs, and calls the first one _init."""
    return (got.endswith('@plt') or got == '.plt') and (want[0] == '[' or want == '_init' or want.endswith('@plt'))


def is_trampoline(want, got):
    """Nobody calls what handlers of signals return to; perf takes the byte before it, which is of no function."""
    return got == '__restore_rt' and want[0] == '['


class Sample:
    """One sample of perf script: stack is root first, after the thread's name."""

    def __init__(self, comm, frames, program):
        self.comm = comm.strip().replace(' ', '_').replace(';', ':')
        self.kernel = {name_of(f) for f in frames if is_kernel(f)}
        self.stack = tuple([self.comm] + (names_inlined(frames, program) if program else names(frames)))


def perf_samples(path, program):
    command = ['perf', 'script', '--max-stack', '4096', '-F', FIELDS, '-i', path]
    out = subprocess.run(command + ([] if program else ['--no-inline']), check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL).stdout.decode('utf-8', 'replace')
    samples, frames, head = [], [], None
    for line in out.split('\n') + ['end 0/0 0 end: ']:
        if not line.strip():
            continue
        if line.startswith('\t'):
            frames.append(FRAME.match(line))
            continue
        if head:
            samples.append(Sample(head['comm'], frames, program))
        head, frames = HEAD.match(line), []
        if not head:
            sys.exit(f'cannot read what perf script says: {line!r}')
    return samples


def proftop_stacks(proftop, path, inline):
    command = [proftop, 'export', '--to', 'folded', '--metric', 'samples', path]
    out = subprocess.run(command + (['--inline'] if inline else []), check=True,
                         stdout=subprocess.PIPE).stdout.decode('utf-8', 'replace')
    stacks = collections.Counter()
    for line in out.splitlines():
        stack, count = line.rsplit(' ', 1)
        frames = stack.split(';')
        stacks[tuple(frames[:1] + [plain(clean(f)) if inline else clean(f) for f in frames[1:]])] += int(count)
    return stacks


def same_frame(want, got):
    return want in (ANY, got) or got.endswith('::' + want) or is_stub(want, got) or is_trampoline(want, got)


def same_frames(want, got):
    return len(want) == len(got) and all(map(same_frame, want, got))


def parts(stack):
    """(thread, mark or None, frames root first) of one of ours."""
    if len(stack) > 1 and stack[1] in MARKS:
        return stack[0], stack[1], stack[2:]
    return stack[0], None, stack[1:]


def links(frames):
    """The calls of a stack; code without a name is the program's whatever that is called."""
    frames = ['[program]' if f[1:-1] in PROGRAMS else f for f in frames]
    return set(zip(frames, frames[1:]))


# Where stacks of processes, of what the loader starts before them, and of threads end.
ROOTS = ('_start', '_dl_start_user', 'clone3', '__clone3', 'clone', '__clone')

# The inlined frames that one address may have.
INLINED_MAX = 8


def common_end(want, got):
    n = 0
    while n < min(len(want), len(got)) and same_frame(want[-1 - n], got[-1 - n]):
        n += 1
    return n


class Judge:
    """Tells which of two stacks is right.

    known: the calls (caller, callee) of the stacks that both agree on
    kernel: names of kernel functions, which come from the recorded chain and not from unwinding
    """

    def __init__(self, known, kernel):
        self.known, self.kernel = known, kernel

    def n_new(self, frames, agreed):
        """How many calls of user code are known neither from other stacks nor from the inner frames that agree."""
        return len(links(frames[:self.n_user(frames)]) - self.known - links(frames[len(frames) - agreed:]))

    def n_user(self, frames):
        """How many frames there are before those of the kernel, as in a page fault or a system call."""
        n = len(frames)
        while n > 0 and frames[n - 1] in self.kernel:
            n -= 1
        return n

    def alike(self, want, got):
        comm, mark, frames = parts(got)
        return comm == want[0] and same_frames(want[1:], frames)

    def cut(self, want, got):
        """The copy ends: perf prints the address it could not go on from, as what it is not.

        It does not read the last word of a copy, so ours may have the frames of one address more.
        """
        comm, mark, frames = parts(got)
        extra = len(frames) - len(want) + 2
        return (mark == '[truncated]' and comm == want[0] and want[1:2] in (('[unknown]',), (ANY,))
                and 0 <= extra <= INLINED_MAX and same_frames(want[2:], frames[extra:]))

    def nothing_copied(self, want, got):
        """The kernel could not read the stack just then: perf has no frame, ours where the cpu was."""
        comm, mark, frames = parts(got)
        return mark == '[truncated]' and want == (comm,) and len(frames) == 1

    def returning(self, want, got):
        """The call that ends a handler on a stack of its own: perf has nothing above, ours what was interrupted."""
        comm, mark, frames = parts(got)
        return (mark == '[truncated]' and comm == want[0] and want[1:2] == ('__restore_rt',)
                and same_frames(want[1:], frames[1:]))

    def wrong_in_perf(self, want, got, most_new=0):
        """Of the same leaf, ours reaches a root by calls that are known, and perf's does not.

        perf has no tables for programs without PT_GNU_EH_FRAME, looks for a frame pointer below the stack
        pointer once it was popped, reads two bytes of a copy as the last word.
        """
        comm, mark, frames = parts(got)
        n = common_end(want, frames)
        if mark or comm != want[0] or n == 0 or frames[0] not in ROOTS or self.n_new(frames, n) > most_new:
            return False
        return want[1] not in ROOTS or self.n_new(want[1:], 1) > 0

    def wrong_in_perf_rarely(self, want, got):
        """The same where code ran that is seldom seen: process exit, an allocation."""
        return self.wrong_in_perf(want, got, 2)

    def leaf_only(self, want, got):
        """perf has no tables. Without libc's debug symbols its calls have no names elsewhere, and so are new here."""
        return self.wrong_in_perf(want, got, 8 if self.n_user(want[1:]) == 1 else 0)

    def astray(self, want, got):
        """.fini has no tables, and perf takes data for return addresses: ours reaches the root instead.

        At its first byte, as when it is paged in, perf goes on from its caller's frame pointer, and so without its caller.
        Where names of other files are not compared, ours has to be in .fini.
        """
        comm, mark, frames = parts(got)
        n = self.n_user(frames)
        # A stripped library, as libgcc's, has no name for it.
        fini = '_fini' in frames or (frames[n - 2:n - 1] == ('_dl_fini',) and frames[n - 1].startswith('['))
        data = want[1:2] == ('__quick_exit_funcs',) or (want[1:2] == (ANY,) and fini)
        if not data or comm != want[0] or frames[:1] != ('_start',):
            return False
        paged_in = frames[:n - 2] + frames[n - 1:] if frames[n - 2:n - 1] == ('_dl_fini',) else frames
        return any(same_frames(want[2:], ours[2 - len(want):]) for ours in (frames, paged_in))

    def rewritten(self, want, got):
        """libgcc writes where to land over its own frame before it leaves it: what is above is nobody's stack."""
        comm, mark, frames = parts(got)
        tail = [f for f in frames[-2:] if f == '_Unwind_Resume' or f.startswith('[libgcc_s')]
        return (comm == want[0] and '_start' not in want[1:2] + frames[:1] and len(tail) == min(2, 1 + (tail[-1:] != ['_Unwind_Resume']))
                and same_frames(want[-len(tail):], tuple(tail)))


# Of these perf has nothing but the leaf.
NO_TABLES = {'c-bare', 'c-debug-frame', 'c-static'}

ALLOWED = {
    # reason: (test of perf's stack and ours, the programs it may be used for or None, their greatest share)
    'the same but for names': (Judge.alike, None, 1),
    'cut': (Judge.cut, None, 1),
    'of whose stack nothing was copied': (Judge.nothing_copied, None, 0.02),
    'at the end of a handler': (Judge.returning, {'c'}, 0.02),
    'of which perf has the leaf only': (Judge.leaf_only, NO_TABLES, 1),
    'in the middle of landing an exception': (Judge.rewritten, {'cc'}, 0.05),
    'astray in perf': (Judge.astray, None, 0.03),
    'wrong in perf': (Judge.wrong_in_perf, None, 0.06),
    'wrong in perf, in rare code': (Judge.wrong_in_perf_rarely, None, 0.02),
}


def pairs(want, got, fits, most):
    """As many samples of perf with one of ours each as there can be, but no more than most: [(pattern, stack)].

    fits: {pattern of want: [stacks of got that it may be, the likeliest first]}. A pattern that is nearly all ANY
    fits many stacks, and gives way to one that fits that one only (augmenting paths).
    """
    taken = {stack: [] for stack in got}

    def place(pattern, seen):
        for stack in fits[pattern]:
            if stack in seen:
                continue
            seen.add(stack)
            if len(taken[stack]) < got[stack]:
                taken[stack].append(pattern)
                return True
            for i, other in enumerate(taken[stack]):
                if other != pattern and place(other, seen):
                    taken[stack][i] = pattern
                    return True
        return False

    n = 0
    for pattern in fits:
        for _ in range(want[pattern]):
            if n == most or not place(pattern, set()):
                break
            n += 1
    return [(pattern, stack) for stack in taken for pattern in taken[stack]]


class Comparison:
    """One recording, with inlined frames or without: what perf makes of it and what we do."""

    def __init__(self, name, proftop, path, inline):
        self.program, self.inline = CASES[name][0], inline
        self.name = name + (' with inlined frames' if inline else '')
        self.source = SOURCES.get(self.program, 'c'), inline
        samples = perf_samples(path, self.program if inline else None)
        self.n = len(samples)
        self.kernel = set().union(*(s.kernel for s in samples))
        self.want = collections.Counter(s.stack for s in samples)
        self.got = proftop_stacks(proftop, path, inline)
        self.lost = self.n - sum(self.got.values())
        same = self.want & self.got
        self.want, self.got = self.want - same, self.got - same
        self.reasons = collections.Counter({'equal': sum(same.values())})
        self.known = set().union(*(links(parts(s)[2]) for s in same))
        self.allow('the same but for names', Judge(set(), set()))

    def allow(self, reason, judge):
        test, programs, share = ALLOWED[reason]
        if programs and self.program not in programs:
            return
        fits = {w: sorted((g for g in self.got if test(judge, w, g)), key=lambda g: (-common_end(w, g), g))
                for w in sorted(self.want, key=lambda w: (w.count(ANY), w))}
        for pattern, stack in pairs(self.want, self.got, fits, int(max(share * self.n, 2))):
            self.want[pattern] -= 1
            self.got[stack] -= 1
            self.reasons[reason] += 1
            if reason == 'the same but for names':
                self.known |= links(parts(stack)[2])
        self.want, self.got = +self.want, +self.got

    def finish(self, known, kernel):
        """Prints what there is to say; returns how many samples nothing explains."""
        for reason in list(ALLOWED)[1:]:
            self.allow(reason, Judge(known, kernel))
        said = [f'{self.name}: {self.n} samples' + ''.join(f', {n} {reason}' for reason, n in self.reasons.items() if n)]
        if self.lost:
            said.append(f'{self.name}: we have {self.n - self.lost} samples')
        for sign, side in (('-', self.want), ('+', self.got)):
            for stack, n in sorted(side.items())[:40]:
                said.append(f'{self.name}: {sign} {short(stack)} {n}')
        print('\n'.join(said), flush=True)
        return self.n if self.lost else max(sum(self.want.values()), sum(self.got.values()))


def short(stack):
    """The stack as text that fits on a screen."""
    names = [re.sub('<.*>', '<>', name) for name in stack]
    return ';'.join(names if len(names) < 40 else names[:20] + ['...'] + names[-20:])


def c(*flags):
    return os.environ.get('CC', 'cc').split() + ['-g', '-O2', *flags, 'stacks.c', '-lm', '-lpthread', '-ldl']


# Stands for the path of the library in a command.
LIBRARY = 'LIBRARY'

PROGRAMS = {
    # name: command of the compiler in tests/interop/stacks
    'c': c(),
    'c-O0': c('-O0'),
    'c-omit': c('-fomit-frame-pointer', '-fno-plt'),
    'c-fp': c('-fno-omit-frame-pointer'),
    'c-static': c('-static'),
    'c-fixed': c('-no-pie', '-fno-pie'),
    'c-linked': c('-Wl,--no-as-needed', LIBRARY),
    'c-realign': c('-mstackrealign', '-mavx'),
    'c-static-hdr': c('-static', '-Wl,--eh-frame-hdr'),
    'c-debug-frame': c('-fno-asynchronous-unwind-tables', '-fno-exceptions'),
    'c-bare': c('-Wl,--no-eh-frame-hdr'),
    'cc': ['c++', '-g', '-O2', 'stacks.cc'],
    'rs': ['rustc', '-g', '-O', '../prog.rs'],
}
# What programs were built of, where that is not stacks.c: calls that are known of one are known of the others.
SOURCES = {'cc': 'cc', 'rs': 'rs'}

CASES = {
    # name: (program, its arguments, bytes of stack copied)
    'recursion': ('c', 'recursion', 16384),
    'recursion-cut': ('c', 'recursion', 4096),
    'recursion-O0': ('c-O0', 'recursion', 65528),
    'omit': ('c-omit', 'threads', 16384),
    'frame-pointers': ('c-fp', 'alloca', 16384),
    'static': ('c-static', 'plt', 16384),
    'static-signal': ('c-static', 'signal', 16384),
    'fixed': ('c-fixed', 'plt', 16384),
    'fixed-library': ('c-fixed', 'library', 16384),
    'alloca': ('c', 'alloca', 16384),
    'alloca-cut': ('c', 'alloca', 4096),
    'realigned': ('c', 'realigned', 16384),
    'realigned-cut': ('c', 'realigned', 4096),
    'realigned-all': ('c-realign', 'realigned', 16384),
    'realigned-plt': ('c-realign', 'plt', 65528),
    'signal': ('c', 'signal', 16384),
    'altstack': ('c', 'altstack', 16384),
    'plt': ('c', 'plt', 16384),
    'threads': ('c', 'threads', 65528),
    'library': ('c', 'library', 16384),
    'edges': ('c-linked', 'edges', 16384),
    'edges-static': ('c-static-hdr', 'edges', 16384),
    'static-hdr': ('c-static-hdr', 'plt', 16384),
    'static-hdr-signal': ('c-static-hdr', 'signal', 16384),
    'debug-frame': ('c-debug-frame', 'recursion', 16384),
    'bare': ('c-bare', 'recursion', 16384),
    'cc': ('cc', 'all', 16384),
    'cc-cut': ('cc', 'all', 4096),
    'cc-long': ('cc', 'all', 65528),
    'rs': ('rs', None, 16384),
}


# What the loader and libc call there they call in any program; few samples of others are of their starts and ends.
EDGES = ('edges', 'edges-static')

# Of the first nothing is known without the others.
PARTNERS = {'static': ('static-hdr', 'edges-static'), 'static-signal': ('static-hdr-signal', 'edges-static'),
            'debug-frame': ('recursion', 'edges'), 'bare': ('recursion', 'edges')}

# Compared with inlined frames too.
INLINED = ['realigned', 'threads', 'fixed', 'library', 'cc', 'cc-cut', 'rs']


def build(item, source, work):
    name, command = item
    if not shutil.which(command[0]):
        print(f'{command[0]} is not installed: no {name}')
        return None
    command = [f'{work}/library.so' if word == LIBRARY else word for word in command]
    subprocess.run(command + ['-o', f'{work}/{name}'], cwd=f'{source}/stacks', check=True)
    return name


def record(name, program, mode, size, work):
    """The file's path; None when perf does not record."""
    path = f'{work}/{name}.data'
    run = [f'{work}/{program}'] + ([mode] if mode else []) + ['0.15']
    command = ['perf', 'record', '-q', '-e', 'cpu-clock', '-F', '2000', '--call-graph', f'dwarf,{size}', '-o', path, '--'] + run
    return path if record_with(name, command) else None


def check_repeats(proftop, path):
    """Threads of ours must not show in what is printed."""
    command = [proftop, 'report', '-n', '0', '--min', '0', path]
    said = {subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout for _ in range(5)}
    print(f'five reports of {os.path.basename(path)}: {"the same" if len(said) == 1 else "DIFFERENT"}')
    return len(said) != 1


def main():
    proftop, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    only = named(sys.argv[3:], CASES)
    n_problems = n_compared = n_repeats = 0
    with tempfile.TemporaryDirectory(prefix='proftop-interop-') as work:
        work = os.environ.get('KEEP', work)
        os.environ['PERF_BUILDID_DIR'] = f'{work}/buildid'
        os.environ['STACKS_LIBRARY'] = f'{work}/library.so'
        cc = os.environ.get('CC', 'cc').split()
        subprocess.run(cc + ['-g', '-O2', '-shared', '-fPIC', 'library.c', '-o', f'{work}/library.so'],
                       cwd=f'{source}/stacks', check=True)
        only = set(only).union(*(PARTNERS.get(n, ()) for n in only))
        cases = {n: c for n, c in CASES.items() if not only or n in only}
        needed = {c[0]: PROGRAMS[c[0]] for c in cases.values()}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            built = set(pool.map(lambda item: build(item, source, work), needed.items()))
            paths = {n: record(n, *c, work) for n, c in cases.items() if c[0] in built}
            paths = {n: path for n, path in paths.items() if path}
            jobs = [(n, False) for n in paths] + [(n, True) for n in INLINED if n in paths]
            compared = list(pool.map(lambda job: Comparison(job[0], proftop, paths[job[0]], job[1]), jobs))
        known = collections.defaultdict(set)
        kernel = set().union(*(comparison.kernel for comparison in compared))
        for comparison in compared:
            known[comparison.source] |= comparison.known
        edges = set().union(*(comparison.known for comparison in compared if comparison.name in EDGES))
        for comparison in compared:
            n_problems += comparison.finish(known[comparison.source] | edges, kernel)
            n_compared += comparison.n
        for name in ('cc', 'threads'):
            if name in paths:
                n_repeats += check_repeats(proftop, paths[name])
    print(f'{n_compared} samples compared, {n_problems} unexplained, {n_repeats} reports that differ')
    if n_repeats or n_problems:
        return 1
    if n_compared < 1000 and not only:
        print('skipped: too few samples for a comparison')
        return 77
    return 0


if __name__ == '__main__':
    sys.exit(main())
