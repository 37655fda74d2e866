#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""See own_tools.sh."""
import base64, collections, glob, html, json, os, re, shutil, subprocess, sys, tempfile, time

proftop, data = sys.argv[1], os.path.abspath(sys.argv[2])
speedscope, writes = os.environ.get('SPEEDSCOPE'), os.environ.get('OWN_TOOLS') == 'write'
chromium = shutil.which('chromium')
profiler = os.environ.get('PROFILER_CLI')
SYMBOLS = ['--symbols', data]
faults = 0


def fault(text):
    global faults
    faults += 1
    print('FAULT:', text)


# What is compared of a file where that is not all: `go tool pprof` takes the last type; speedscope puts the garbage collector and the
# program's own code on top of the function before them, so that totals are others.
EVENTS = {'go.cpu.pb.gz': 'cpu', 'go.heap.pb.gz': 'inuse_space', 'go.mutex.pb.gz': 'delay',
          'jfr.cpu.pb.gz': 'cpu', 'jfr.alloc.pb.gz': 'allocations', 'go.cpu.otlp': 'cpu', 'go.heap.otlp': 'inuse_space', 'go.mutex.otlp.json': 'delay'}
SELF_ALONE = ('.cpuprofile', 'chromium.trace.json')
# The process of the page: the other one is the browser's.
PAGE = 14229
OPTIONS = {'chromium.trace.json': ['-f', f'pid:{PAGE}']}

UNITS = {'': 1, 'ns': 1, 'µs': 1e3, 'us': 1e3, 'ms': 1e6, 's': 1e9, 'B': 1, 'KB': 1024, 'MB': 1024 ** 2}


def number(text):
    """A printed number, and how much it may be off."""
    m = re.fullmatch(r'(-?)([\d,]+(?:\.(\d+))?)\s*([a-zA-Zµ]*)', text.strip())
    if not m or m[4] not in UNITS:
        return None
    unit = UNITS[m[4]]
    return float(m[2].replace(',', '')) * unit, 0.5001 * unit / 10 ** len(m[3] or '') + 0.5


def in_speedscope(path):
    """Rows of its sandwich view: name, self and total as it prints them."""
    with tempfile.TemporaryDirectory() as d:
        name = os.path.basename(path)
        with open(path, 'rb') as f, open(f'{d}/p.js', 'w') as js:
            js.write(f'speedscope.loadFileFromBase64({json.dumps(name)}, "{base64.b64encode(f.read()).decode()}")')
        page = f'file://{os.path.abspath(speedscope)}/index.html#localProfilePath={d}/p.js&view=sandwich'
        for _ in range(5):  # where the machine is busy, the page may not be drawn in time
            shutil.rmtree(f'{d}/user', ignore_errors=True)
            try:
                dom = subprocess.run(['timeout', '-k', '1', '60', chromium, '--headless', '--no-sandbox', '--disable-gpu',
                                      '--allow-file-access-from-files', f'--user-data-dir={d}/user', '--window-size=900,4000',
                                      '--virtual-time-budget=20000', '--dump-dom', page],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
            except OSError:
                return []
            rows = []
            for tr in re.findall(r'<tr.*?</tr>', dom, re.S):
                cell = [html.unescape(re.sub(r'<[^>]+>', '', c)) for c in re.findall(r'<td.*?</td>', tr, re.S)]
                if len(cell) == 3 and '(' in cell[0] and '%' in cell[0]:
                    rows.append([cell[2]] + [re.sub(r' \([^()]*%\)$', '', c) for c in (cell[1], cell[0])])
            if rows:
                return rows
        return []


def in_pprof(path):
    path = re.sub(r'\.otlp(\.json)?$', '.pb.gz', path)  # otlp.go made it of that
    unit = 'B' if 'heap' in path or 'alloc' in path else 'ns'
    text = subprocess.run(['go', 'tool', 'pprof', '-top', '-nodefraction=0', f'-unit={unit}',
                           f'-sample_index={EVENTS[os.path.basename(path)]}', path], capture_output=True, text=True).stdout
    rows = []
    for line in text.splitlines():
        m = re.match(r'\s*(\d+\w*)\s+\S+%\s+\S+%\s+(\d+\w*)\s+\S+%\s+(.*?)(?: \((?:partial-)?inline\))?$', line)
        if m:
            rows.append([m[3], m[1], m[2]])
    return rows


def page_in_speedscope(path):
    """Of the page's process alone: speedscope joins profiles of two processes that have one id, and Chrome numbers those of each anew."""
    with open(path) as f, tempfile.NamedTemporaryFile('w', suffix='.trace.json') as page:
        json.dump({'traceEvents': [e for e in json.load(f)['traceEvents'] if e['pid'] == PAGE]}, page)
        page.flush()
        return in_speedscope(page.name)


def ours(path, *options):
    text = subprocess.run([proftop, 'report', '--no-cache', '--json', '-n', '0', '--min', '0', *options, path],
                          capture_output=True, text=True)
    if text.returncode:
        fault(f'{path}: {text.stderr}')
        return {}
    rows = collections.defaultdict(list)
    for r in json.loads(text.stdout)['rows']:
        rows[r['name']].append((r['self'][0], r['total'][0]))
    return rows


def last_sample(path):
    """How long the last sample of a .cpuprofile lasts, in ns: to the end for proftop, for speedscope not at all."""
    if not path.endswith('.cpuprofile'):
        return 0
    with open(path) as f:
        p = json.load(f)
    return (p['endTime'] - p['startTime'] - sum(p['timeDeltas'])) * 1000


def compare(what, theirs, own, total=True, last=0):
    """Of names that are one row on either side; times of a .cpuprofile are whole microseconds, which add up."""
    many = collections.Counter(r[0] for r in theirs)
    n = 0
    for name, self_text, total_text in theirs:
        if many[name] > 1 or len(own.get(name, [])) != 1:
            continue
        n += 1
        for text, value, kind in ((self_text, own[name][0][0], 'self'), (total_text, own[name][0][1], 'total')):
            printed = number(text)
            if printed is None:
                fault(f'{what}: {name} has {text!r}')
            elif (kind == 'self' or total) and min(abs(printed[0] - value), abs(printed[0] + last - value)) > \
                    printed[1] + (20000 if last else 0):
                fault(f'{what}: {kind} of {name} is {value} here, {text} there')
    if n < 3 or n < len(set(many)) / 2:
        fault(f'{what}: of {len(many)} functions only {n} are rows of proftop')
    return n


n_files = n_rows = 0
for path in sorted(glob.glob(f'{data}/tools/*')):
    name = os.path.basename(path)
    if not re.search(r'\.(json|folded|cpuprofile|heapprofile|otlp|pb\.gz)$', name):
        continue
    if writes and (name in EVENTS or speedscope):
        rows = in_pprof(path) if name in EVENTS else page_in_speedscope(path) if name in OPTIONS else in_speedscope(path)
        rows = [[re.sub(r' \{"filename":.*\}$', '', r[0]), *r[1:]] for r in rows]  # of traces it shows what else an event has
        with open(path + '.tsv', 'w') as f:
            f.writelines('\t'.join(r) + '\n' for r in rows if '\t' not in r[0] and '\n' not in r[0])
    if not os.path.exists(path + '.tsv'):
        fault(f'{name}: there is no table of its tool')
        continue
    with open(path + '.tsv') as f:
        theirs = [line.rstrip('\n').split('\t') for line in f]
    own = ours(path, *(['--event', EVENTS[name]] if name in EVENTS else OPTIONS.get(name, [])))
    n_rows += compare(name, theirs, own, not name.endswith(SELF_ALONE), last_sample(path))
    n_files += 1
print(f'{n_files} files, {n_rows} functions have the numbers of their tools')
if n_files < 17:
    fault('files are missing')

# samply's files have no names: functions of one are those of the recording that it was made of, by tests/data/demo, and of the others
# modules have the samples that perf says.
n_samply = 0
counts = ours(f'{data}/demo.data', *SYMBOLS, '--metric', 'samples')
for name, rows in ours(f'{data}/samply/demo.json.gz', *SYMBOLS).items():
    n_samply += 1
    if sorted(rows) != sorted(counts.get(name, [])):
        fault(f'samply: {name} has {rows}, the recording {counts.get(name)}')
for program in ('threads', 'truth'):
    own = ours(f'{data}/samply/{program}.json.gz', '--group', 'module')
    with open(f'{data}/samply/{program}.tsv') as f:
        for line in f:
            module, n = line.split('\t')
            n_samply += 1
            if [r[0] for r in own.get(module, [])] != [int(n)]:
                fault(f'samply: {program}: {module} has {own.get(module)}, perf report {n}')
print(f'samply: {n_samply} functions and modules have the numbers of their recordings')



def in_profiler(path):
    """Samples of each thread that end in each library, as the Firefox Profiler counts them."""
    def run(*command):
        return subprocess.run([profiler, *command], capture_output=True, text=True).stdout

    rows = []
    run('stop', '--all')
    run('load', path)
    for _ in range(20):  # it answers when it has read the file
        if run('profile', 'info', '--json'):
            break
        time.sleep(1)
    i = 0
    while run('thread', 'select', f't-{i}').startswith('Selected'):
        tid = json.loads(run('thread', 'info', '--json'))['tid']
        sums = collections.Counter()
        for f in json.loads(run('thread', 'functions', '--limit', '0', '--include-idle', '--json'))['functions']:
            if '://' not in f.get('library', ''):
                sums[f.get('library', '')] += f['selfSamples']
        rows += [[str(tid), library, str(n)] for library, n in sums.items() if library and n]
        i += 1
    run('stop')
    return rows


# Firefox's own profile: its frames have addresses alone, and the file says where libraries were, of each process.
gecko = f'{data}/firefox/gecko.json.gz'
if writes and profiler:
    with open(f'{data}/firefox/gecko.tsv', 'w') as f:
        f.writelines('\t'.join(r) + '\n' for r in in_profiler(gecko))
n_gecko = 0
with open(f'{data}/firefox/gecko.tsv') as f:
    for line in f:
        tid, module, n = line.rstrip('\n').split('\t')
        own = ours(gecko, '--group', 'module', '--event', 'samples', '-f', f'tid:{tid}')
        n_gecko += 1
        if [r[0] for r in own.get(module, [])] != [int(n)]:
            fault(f'Firefox: thread {tid}: {module} has {own.get(module)}, the profiler {n}')
print(f'Firefox: {n_gecko} libraries of threads have the numbers of its profiler')
if n_gecko < 5:
    fault('Firefox: libraries are missing')

# doc/formats.md says of each format that is read what made its files, and names none that is not here.
with open(f'{data}/../../doc/formats.md') as f:
    tables = [[c.strip() for c in line.strip().strip('|').split('|')] for line in f if line.startswith('|')]
read = [r[0] for r in tables if len(r) == 4 and r[1] == 'yes']
real = {r[0]: r for r in tables if len(r) == 4 and r[0] in read and r[1] != 'yes'}
for form in read:
    row = real.get(form)
    if not row or not re.search('`[^`]+`', row[2]):
        fault(f'doc/formats.md: no command of {form}')
    for path in re.findall('`(tests/[^`]*)`', row[1] if row else ''):
        if not os.path.exists(f'{data}/../../{path}') and not glob.glob(f'{data}/../../{path}*'):
            fault(f'doc/formats.md: {form}: there is no {path}')
if len(read) < 17:
    fault(f'doc/formats.md: only {len(read)} formats are read')

if speedscope and chromium:
    demo = f'{data}/demo.data'
    own = ours(demo, *SYMBOLS)
    with tempfile.TemporaryDirectory() as d:
        for form, suffix in (('folded', 'folded'), ('pprof', 'pb.gz'), ('v8', 'cpuprofile'), ('callgrind', 'out')):
            out = f'{d}/x.{suffix}' if form != 'callgrind' else f'{d}/callgrind.out.1'
            subprocess.run([proftop, 'export', *SYMBOLS, '--to', form, '-o', out, demo], capture_output=True, check=True)
            rows = [[re.sub(r' \([^()]*\)$', '', n), s, t] for n, s, t in in_speedscope(out)]
            n = compare(f'speedscope, {form}', rows, own, form != 'callgrind', last_sample(out))
            print(f'speedscope opens {form}: {n} functions')
        out = f'{d}/x.speedscope.json'
        subprocess.run([proftop, 'export', *SYMBOLS, '--to', 'speedscope', '-o', out, '--thread', '^demo$', demo],
                       capture_output=True, check=True)
        rows = in_speedscope(out)
        print(f'speedscope opens its own: {compare("speedscope", rows, ours(demo, *SYMBOLS, "--thread", "^demo$"))} functions')
else:
    print('skipped: speedscope\'s own code (SPEEDSCOPE, and chromium)')
sys.exit(1 if faults else 0)
