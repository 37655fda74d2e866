# SPDX-License-Identifier: GPL-3.0-or-later
"""Firefox's own profile without what stacks do not need, and without most markers and their data, which tell of the machine."""
import json, sys

profile = json.load(sys.stdin)
for p in [profile] + profile['processes']:
    for key in set(p) & {'pages', 'counters', 'profilingLog', 'profilerOverhead'}:
        p[key] = type(p[key])()
    for key in set(p['meta']) & {'CPUName', 'configuration', 'updateChannel'}:
        del p['meta'][key]
    used = set()
    for t in p['threads']:
        t['markers']['data'] = [m[:5] for m in t['markers']['data'][:8]]
        t.pop('tracedValues', None), t.pop('tracedObjectShapes', None)
        strings = {f[0] for f in t['frameTable']['data']} | {m[0] for m in t['markers']['data']}
        t['stringTable'] = [s if i in strings else '' for i, s in enumerate(t['stringTable'])]
        used |= {int(s, 16) for s in t['stringTable'] if s.startswith('0x')}
    p['libs'] = [l for l in p['libs'] if any(l['start'] <= a < l['end'] for a in used)]
json.dump(profile, sys.stdout, separators=(',', ':'))
