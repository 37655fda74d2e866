#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What other tools say of proftop's exports: each that is installed opens the file, and has proftop's totals. PROFILER_CLI names the
# command of the Firefox Profiler's command line tool (its own code), SPEEDSCOPE_SCHEMA speedscope's file-format-schema.json.
. "$(dirname "$0")/compare.sh"
data=$(cd "${srcdir:-.}" && pwd)/tests/data

needs python3
[ -e "$data/demo.data" ] || skip 'no tests/data/demo.data'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
"$proftop" report --symbols "$data" -n 0 --min 0 --json "$data/demo.data" >rows.json || exit 1
for format in pprof callgrind firefox speedscope svg; do
    "$proftop" export --symbols "$data" --to $format -o x.$format "$data/demo.data" 2>err || {
        cat err
        exit 1
    }
done
cat >check.py <<'TEXT'
import json, os, re, shutil, subprocess, sys, xml.dom.minidom
report = json.load(open('rows.json'))
rows = {r['name']: (r['self'][0], r['total'][0]) for r in report['rows']}
total = report['columns'][0]['total']
faults, opened = 0, []

def fault(text):
    global faults
    faults += 1
    print('FAULT:', text)

def run(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    except subprocess.TimeoutExpired:
        print('skipped:', *command[:3], 'does not answer')
        return ''

def compare(tool, name, ours, theirs, off=0):
    if abs(ours - theirs) > off:
        fault(f'{tool}: {name} has {theirs}, proftop {ours}')

if shutil.which('go'):
    text = run('go', 'tool', 'pprof', '-top', '-unit=ns', '-nodefraction=0', 'x.pprof')
    for line in text.splitlines():
        m = re.match(r'\s*(\d+)(?:ns)?\s+\S+%\s+\S+%\s+(\d+)(?:ns)?\s+\S+%\s+(.*?)(?: \((?:partial-)?inline\))?$', line)
        if m and m[3] in rows:
            opened.append('pprof')
            compare('pprof', m[3], rows[m[3]][0], int(m[1]))
            compare('pprof', m[3] + ' below', rows[m[3]][1], int(m[2]))
if shutil.which('callgrind_annotate'):
    for inclusive, which in (('no', 0), ('yes', 1)):
        text = run('callgrind_annotate', '--threshold=100', f'--inclusive={inclusive}', '--auto=no', 'x.callgrind')
        m = re.search(r'^\s*([\d,]+) \S+ .*PROGRAM TOTALS', text, re.M)
        if m:
            compare('callgrind_annotate', 'everything', total, int(m[1].replace(',', '')))
        for m in re.finditer(r'^\s*([\d,]+) \(\s*\S+%\)\s+[\d,]+ \(\s*\S+%\)\s+\S+?:(\S+) \[', text, re.M):
            # functions that call themselves through others have no inclusive costs
            if m[2] in rows and not m[2].startswith('sort'):
                opened.append('callgrind_annotate')
                compare('callgrind_annotate', m[2], rows[m[2]][which], int(m[1].replace(',', '')))
frames = xml.dom.minidom.parse('x.svg').getElementsByTagName('g')
opened.append('an XML parser')
if len(frames) < 10:
    fault('the flame graph has hardly a frame')
speedscope = json.load(open('x.speedscope'))
used = sum(w for p in speedscope['profiles'] for s, w in zip(p['samples'], p['weights']) if s)
compare('speedscope', 'everything', total, used)
if os.environ.get('SPEEDSCOPE_SCHEMA'):
    import jsonschema
    jsonschema.validate(speedscope, json.load(open(os.environ['SPEEDSCOPE_SCHEMA'])))
    opened.append('speedscope\'s schema')
if os.environ.get('PROFILER_CLI'):
    cli = os.environ['PROFILER_CLI'].split()
    run(*cli, 'load', os.path.abspath('x.firefox'))
    sums = {}
    for i in range(len(json.load(open('x.firefox'))['threads'])):
        run(*cli, 'thread', 'select', f't-{i}')
        for f in json.loads(run(*cli, 'thread', 'functions', '--limit', '0', '--json'))['functions']:
            a = sums.setdefault(f['name'], [0, 0])
            a[0] += f['selfSamples']
            a[1] += f['totalSamples']
    run(*cli, 'stop')
    opened.append('profiler-cli')
    for name, (own, below) in rows.items():
        ms = sums.get(name, [0, 0])
        compare('profiler-cli', name, own, ms[0] * 1e6, 2000)
        compare('profiler-cli', name + ' below', below, ms[1] * 1e6, 2000)
print('opened by', ', '.join(sorted(set(opened))))
sys.exit(1 if faults else 0)
TEXT
python3 check.py
