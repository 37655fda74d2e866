#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""See corpus_formats.sh."""
import bz2, collections, gzip, json, os, re, subprocess, sys

proftop, corpus = sys.argv[1], sys.argv[2]
faults, told = 0, collections.Counter()

# Recordings of perf and their texts have tests of their own: perf_corpus, corpus_stacks.sh, FlameGraph's and inferno's results.
ELSEWHERE = {'perf.data', 'perf-script'}
# What is not a profile: sources, programs, and what tools said.
SKIPPED = re.compile(r'^(golden|tools|fuzz-found|FlameGraph|FlameGraph-jonhoo-fork|inferno|made/(src|bin|perf|bigendian|damaged)|linux-perf-data|'
                     r'quipper|autofdo|hotspot|magic-trace|perfparser|perfview|samply)/|/expected/|^[^/]*$|fixtures/|_COMMANDS\.tsv$|'
                     r'\.stderr\.txt$|^simpleperf/.*\.data$|^heaptrack/(expected_summary|test_sysroot)')

# Folders of profiles that should open, but for what has no sample, is damaged from its beginning, is of another version, or is named
# in doc/formats.md as not read.
PROFILES = {'made', 'speedscope', 'parca', 'massif-visualizer', 'heaptrack', 'flamelens', 'simpleperf', 'firefox-profiler'}
REFUSED = re.compile(r'/x_(empty|blank|no_|trunc|binary)|event_sched_sched_switch\.folded$|invalid-lines\.txt$|true\.json$|version|trunc_|'
                     r'\.empty$|\.debug1\.txt$|invalid/')
# Where proftop differs, and why.
KNOWN = {
    'pprof/profile/testdata/gobench.heap': 'a row without a stack counts here; pprof -raw leaves it out',
    'made/folded/x_negative.folded': 'totals are of absolute weights',
    'other-formats/trace-event/invalid-x-nesting.json': 'what ends before what is inside of it ends that, too',
    'other-formats/trace-event/out-of-order-unbalanced-name.json': 'likewise',
    'speedscope/speedscope/invalid/out-of-order-events.json': 'a frame ends before those inside of it, which end as well; speedscope refuses it',
}


def fault(text):
    global faults
    faults += 1
    print('FAULT:', text)


def content(path):
    with open(path, 'rb') as f:
        data = f.read()
    return gzip.decompress(data) if data[:2] == b'\x1f\x8b' else bz2.decompress(data) if data[:3] == b'BZh' else data


def text(path):
    data = content(path)
    if data[:2] in (b'\xff\xfe', b'\xfe\xff'):
        return data.decode('utf-16')
    return data.decode('utf-8', 'replace')


# What a file's events should sum up to, by a reading of our own or by what its tool printed: {event: sum}, None: nothing is known.

def of_pprof_raw(path):
    """`pprof -raw`, as golden files have it: a head of types, and a row of values for each sample."""
    golden = os.path.join(corpus, 'golden', os.path.relpath(path, corpus), 'raw.txt')
    if not os.path.exists(golden):
        return None
    with open(golden) as f:
        lines = f.read().split('Samples:\n')[1].split('Locations')[0].splitlines()
    types = [re.sub(r'\[dflt\]$', '', t).rsplit('/', 1)[0] for t in lines[0].split()]
    sums = [0] * len(types)
    for line in lines[1:]:
        m = re.match(r'\s*((?:-?\d+ +)*-?\d+):', line)
        if m and len(m[1].split()) == len(types):
            sums = [a + int(b) for a, b in zip(sums, m[1].split())]
    return dict(zip(types, sums))


def varint(b, i):
    v = shift = 0
    while True:
        v |= (b[i] & 127) << shift
        i, shift = i + 1, shift + 7
        if b[i - 1] < 128:
            return v, i


def fields(b):
    i = 0
    while i < len(b):
        key, i = varint(b, i)
        if key & 7 == 0:
            v, i = varint(b, i)
        elif key & 7 == 2:
            n, i = varint(b, i)
            v, i = b[i:i + n], i + n
        else:
            n = 8 if key & 7 == 1 else 4
            v, i = b[i:i + n], i + n
        yield key >> 3, v


def of_pprof(path):
    """The sums of profile.proto's samples, which have an explicit list of values each."""
    types, strings, sums = [], [], collections.Counter()
    samples = []
    for n, v in fields(content(path)):
        if n == 1:
            types.append(dict(fields(v)).get(1, 0))
        elif n == 2:
            values = []
            for m, w in fields(v):
                if m == 2 and isinstance(w, int):
                    values.append(w)
                elif m == 2:
                    i = 0
                    while i < len(w):
                        x, i = varint(w, i)
                        values.append(x)
            samples.append(values)
        elif n == 6:
            strings.append(v.decode())
    for values in samples:
        for t, v in zip(types, values):
            sums[strings[t]] += v - (1 << 64 if v >> 63 else 0)
    printed = of_pprof_raw(path)
    # -raw leaves out rows without a stack, and has no name for a type that has none
    if printed is not None and any(printed[k] != sums.get(k, 0) for k in printed if k and printed[k]):
        fault(f'{path}: two readings of ours differ: {printed} {dict(sums)}')
    return dict(sums) if all(sums) else {None: sum(sums.values())}


UNITS = {'nanoseconds': 1, 'microseconds': 1e3, 'milliseconds': 1e6, 'seconds': 1e9}


def of_speedscope(path):
    """Weights; of events the time for which a frame was open."""
    total = 0
    for p in json.loads(text(path))['profiles']:
        unit = UNITS.get(p['unit'], 1)
        if p['type'] == 'sampled':
            total += sum(w for s, w in zip(p['samples'], p['weights']) if s) * unit
            continue
        depth = since = 0
        for e in p['events']:
            total += (e['at'] - since) * unit if depth > 0 else 0
            since, depth = e['at'], depth + (1 if e['type'] == 'O' else -1)
        total += (p['endValue'] - since) * unit if depth > 0 else 0
    return {None: round(total)}


def firefox_samples(profile):
    n = 0
    for p in profile.get('processes', []):
        n += firefox_samples(p)
    for t in profile['threads']:
        s = t['samples']
        if isinstance(s.get('data'), list):
            n += sum(1 for row in s['data'] if row and row[s['schema']['stack']] is not None)
        else:
            n += sum(1 for x in s['stack'] if x is not None)
    return n


def of_firefox(path):
    return {'samples': firefox_samples(json.loads(text(path)))}


UNIT_OF_EVENT = re.compile(r'(.+?)[ _]?\((\d*)(ns|us|ms|s|bytes|kB|KB|MB|GB)\)$')
SIZES = {'ns': 1, 'us': 1e3, 'ms': 1e6, 's': 1e9, 'bytes': 1, 'kB': 1024, 'KB': 1024, 'MB': 1024 ** 2, 'GB': 1024 ** 3}


def of_callgrind(path):
    """The costs of functions by themselves: the line behind calls= is what a call cost in all."""
    events, sums, positions, call = [], collections.Counter(), 1, False
    last = collections.Counter()  # some writers tell costs as positions are told, from the ones before
    for line in text(path).splitlines():
        m = re.match(r'(events|positions): *(.*)|calls=', line)
        if m and m[1] == 'events':
            events = m[2].split()
        elif m and m[1] == 'positions':
            positions = len(m[2].split())
        elif m:
            call = True
        elif re.match(r'[\d+*-]', line):
            for event, cost in zip(events, line.split()[positions:]):
                u = UNIT_OF_EVENT.match(event)
                last[event] = (last[event] if cost[0] in '+-*' else 0) + int(cost.replace('*', '0'))
                if not call:
                    sums[u[1] if u else event] += last[event] * (int(u[2] or 1) * SIZES[u[3]] if u else 1)
            call = False
    return dict(sums)


def of_v8(path):
    profile = json.loads(text(path))
    if 'selfSize' in profile.get('head', {}):
        def size(n):
            return n['selfSize'] + sum(size(c) for c in n['children'])
        return {None: size(profile['head'])}
    times = profile.get('timestamps')
    if not times:  # since the sample before; in old files in seconds since another beginning, and then timestamps are there
        at, times = profile['startTime'], []
        for d in profile['timeDeltas']:
            at += d
            times.append(at)
        times.append(max(profile['endTime'], at))
    return {None: 1000 * sum(max(b - a, 0) for a, b in zip(times, times[1:]))}


def of_chrome_trace(path):
    """The time for which each thread had something open, by depth alone. Chunks of V8's profile are samples."""
    data = text(path).strip()
    try:
        events = json.loads(data)
    except ValueError:  # an array need not be closed
        events = json.loads(data.rstrip(',') + ']')
    events = events['traceEvents'] if isinstance(events, dict) else events
    edges, chunks = collections.defaultdict(list), 0
    for i, e in enumerate(events):
        at = float(e.get('ts', 0))
        if e['ph'] in 'BE':
            edges[e['pid'], e['tid']].append((at, i, 1 if e['ph'] == 'B' else -1))
        elif e['ph'] == 'X':
            edges[e['pid'], e['tid']] += [(at, i, 1), (at + e.get('dur', e.get('tdur')), i, -1)]
        chunks += e['name'] == 'ProfileChunk'
    if chunks:
        return None
    total = 0
    for thread in edges.values():
        depth = since = 0
        for at, _, step in sorted(thread):
            total += at - since if depth > 0 else 0
            since, depth = at, max(depth + step, 0)
    return {'time': 1000 * total}


def of_massif(path):
    peak = [0, 0]
    for m in re.finditer(r'mem_heap_B=(\d+)\nmem_heap_extra_B=(\d+)\nmem_stacks_B=(\d+)', text(path)):
        peak = max(peak, [sum(int(x) for x in m.groups()), int(m[1])])
    return {'peak': peak[0]}


def of_dhat(path):
    profile = json.loads(text(path))
    points = profile['pps']
    if profile['mode'] == 'copy':  # of bytes that were copied: no blocks live
        return {'copied': sum(p['tb'] for p in points), 'copies': sum(p['tbk'] for p in points)}
    return {name: sum(p.get(key, 0) for p in points) for name, key in
            (('bytes', 'tb'), ('calls', 'tbk'), ('peak', 'gb'), ('leaked', 'eb'))}


def of_heaptrack(path):
    golden = os.path.join(corpus, 'golden', os.path.relpath(path, corpus), 'summary.txt')
    if not os.path.exists(golden):
        return None
    with open(golden) as f:
        m = re.search(r'calls to allocation functions: (\d+)', f.read())
    return {'calls': int(m[1])} if m else None


def of_folded(path):
    total = 0.0
    for line in text(path).splitlines():
        m = re.match(r'[^#].*?\s(-?\d+(?:\.\d+)?)(?:\s+(-?\d+(?:\.\d+)?))?\s*$', line)
        if m:  # two numbers are two sides, and both are shown
            total += float(m[1]) + float(m[2] or 0)
    return {None: round(total, 6)}


READERS = {'pprof': of_pprof, 'chrome-trace': of_chrome_trace, 'speedscope': of_speedscope, 'firefox': of_firefox, 'callgrind': of_callgrind, 'v8': of_v8, 'massif': of_massif,
           'dhat': of_dhat, 'heaptrack': of_heaptrack, 'folded': of_folded, 'cpuprofile': of_pprof_raw, 'heap-profile': of_pprof_raw}


def run(*command):
    p = subprocess.run([proftop, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       errors='replace', env={**os.environ, 'PROFTOP_CACHE': 'no', 'DEBUGINFOD_URLS': ''}, timeout=120)
    return p.returncode, p.stdout, p.stderr


def judge(name):
    path = os.path.join(corpus, name)
    rc, out, err = run('info', '--json', path)
    if rc != 0:
        told['refused'] += 1
        if rc != 3 or len(err.splitlines()) != 1:
            fault(f'{name}: exit {rc}, {err!r}')
        if name.split('/')[0] in PROFILES and not REFUSED.search(name):
            fault(f'{name}: should open: {err.strip()}')
        return
    info = json.loads(out)
    form = info['files'][0]['format']
    damaged = any(f['kind'] == 'loss' for f in info['files'][0]['facts'])
    if form in ELSEWHERE:
        return
    if form not in READERS:
        told[form + ' without a reading of ours'] += 1
        return
    try:
        wanted = READERS[form](path)
    except (ValueError, KeyError, IndexError, AttributeError, EOFError):
        # A damaged file, which proftop reads as far as it goes. It has to say so.
        if not damaged:
            fault(f'{name}: damaged, and proftop does not say so')
        told[form + ', damaged'] += 1
        return
    if wanted is None:
        told[form + ' without what its tool says'] += 1
        return
    got = {e['name']: e['total'] for e in info['events']}
    if form in ('massif', 'dhat', 'heaptrack') and 'copied' not in wanted:
        rc, out, err = run('report', '--view', 'memory', '--json', '-n', '1', path)
        got = json.loads(out)['total'] if rc == 0 else {}
    told[form] += 1
    for event, total in wanted.items():
        ours = sum(got.values()) if event is None else got.get(event, 0)
        if abs(ours - total) > (0.5 if total == int(total) else 1e-3) and name not in KNOWN:
            fault(f'{name}: {form}: {event or "everything"} is {ours}, should be {total}')


n = 0
for folder, _, files in sorted(os.walk(corpus)):
    for file in sorted(files):
        name = os.path.relpath(os.path.join(folder, file), corpus)
        if not SKIPPED.search(name):
            n += 1
            judge(name)
print(f'{n} files:', ', '.join(f'{v} {k}' for k, v in sorted(told.items())))
sys.exit(1 if faults else 0)
