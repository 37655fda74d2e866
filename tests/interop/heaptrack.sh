#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What proftop and heaptrack say of the same program's heap; skipped where heaptrack is not installed.
# doc/differences.md has what they do not agree on.
set -u
here=$(cd "$(dirname "$0")" && pwd)
proftop=${PROFTOP:-./proftop}
proftop=$(cd "$(dirname "$proftop")" && pwd)/$(basename "$proftop")
tracer=$(dirname "$proftop")/libproftop-heap.so

skip() {
    echo "skipped: $1"
    exit 77
}
die() {
    echo "FAULT: $*"
    exit 1
}

command -v heaptrack >/dev/null 2>&1 || skip 'heaptrack is not installed'
command -v heaptrack_print >/dev/null 2>&1 || skip 'heaptrack_print is not installed'
command -v python3 >/dev/null 2>&1 || skip 'python3 is not installed'
[ -e "$tracer" ] || skip 'this build has no heap tracer'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
unset LD_PRELOAD "${!PROFTOP_@}"
"${CC_FOR_INTEROP:-gcc}" -g -O1 -fno-builtin -o blocks "$here/blocks.c" || skip 'blocks.c cannot be built'
heaptrack -o theirs ./blocks >log 2>&1 || skip "heaptrack cannot record here: $(tail -1 log)"
theirs=$(ls theirs* | head -1)
for cost in allocations temporary leaked peak; do
    heaptrack_print -f "$theirs" -F "$cost" --flamegraph-cost-type "$cost" >/dev/null 2>&1 || die 'heaptrack_print fails'
done
PROFTOP_OUTPUT=ours.heap LD_PRELOAD=$tracer ./blocks 2>again || die 'blocks fails under the tracer'
"$proftop" report --json -f fn:^main$ ours.heap >ours.json || die 'the trace cannot be read'
python3 - "$(cat again)" <<'PY'
import json, sys

again = int(sys.argv[1])
total = json.load(open('ours.json'))['total']
ours = {'allocations': total['calls'], 'temporary': total['temporary'] + again,
        'leaked': total['leaked'], 'peak': total['peak']}
faults = 0
for cost, value in ours.items():
    theirs = 0
    for line in open(cost):
        stack, _, n = line.rstrip().rpartition(' ')
        # The loader's and libstdc++'s blocks are heaptrack's own doing.
        if any(frame.split(' ')[0] == 'main' for frame in stack.split(';')):
            theirs += int(n)
    print(f'{cost}: {value} and {theirs}')
    faults += value != theirs or theirs == 0
sys.exit(faults > 0)
PY
