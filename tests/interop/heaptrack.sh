#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What proftop and heaptrack say of the same program's heap; skipped where heaptrack is not installed.
# doc/differences.md has what they do not agree on.
. "$(dirname "$0")/compare.sh"
tracer=$(dirname "$proftop")/libproftop-heap.so

die() {
    echo "FAULT: $*"
    exit 1
}

needs heaptrack heaptrack_print python3
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
[ $? = 0 ] || exit 1

# heaptrack's own file, read by both: all sums are the same. The raw one has blocks' addresses, and the same sums.
heaptrack --raw -o raw ./blocks >log 2>&1 || die "heaptrack --raw fails: $(tail -1 log)"
for file in "$theirs" "$(ls raw* | head -1)"; do
    "$proftop" report --json "$file" >read.json || die "$file cannot be read"
    "$proftop" info "$file" >read.info || die "$file cannot be read"
    python3 - "$file" <<'PY' || exit 1
import json, re, sys

total = json.load(open('read.json'))['total']
by_theirs = int(re.search(r'temporary by heaptrack\s+(\d+)', open('read.info').read()).group(1))
ours = {'allocations': total['calls'], 'leaked': total['leaked'], 'peak': total['peak'], 'temporary': by_theirs}
faults = 0
for cost, value in ours.items():
    theirs = sum(int(line.rpartition(' ')[2]) for line in open(cost))
    print(f'{sys.argv[1]}: {cost}: {value} and {theirs}')
    faults += value != theirs
sys.exit(faults > 0)
PY
done

# What proftop writes of its own trace for heaptrack: heaptrack_print has the sums that proftop has of it, and of a part of it.
for filter in '' 'fn:^main$'; do
    for file in back.zst back.gz back; do
        "$proftop" export --to heaptrack ${filter:+-f "$filter"} -o "$file" ours.heap 2>said || die "no export: $(cat said)"
        heaptrack_print "$file" >back.txt 2>&1 || die "heaptrack_print does not read $file"
    done
    "$proftop" report --json ${filter:+-f "$filter"} ours.heap >ours.json || die 'the trace cannot be read'
    for cost in allocations leaked peak; do
        heaptrack_print -f back.zst -F "$cost" --flamegraph-cost-type "$cost" >/dev/null 2>&1 || die 'heaptrack_print fails'
    done
    python3 - <<'PY' || exit 1
import json, sys

total = json.load(open('ours.json'))['total']
faults = 0
for cost, value in (('allocations', total['calls']), ('leaked', total['leaked']), ('peak', total['peak'])):
    theirs = sum(int(line.rpartition(' ')[2]) for line in open(cost))
    print(f'exported: {cost}: {value} and {theirs}')
    faults += value != theirs or value == 0
sys.exit(faults > 0)
PY
done

# Bytes that were allocated in all: what 5 rounds more add to them, as heaptrack tells sizes of the whole process only.
for rounds in 7 12; do
    heaptrack -o "theirs-$rounds" ./blocks $rounds >log 2>&1 || die "heaptrack fails: $(tail -1 log)"
    heaptrack_print -f "$(ls "theirs-$rounds"* | head -1)" -H "sizes-$rounds" >/dev/null 2>&1 || die 'heaptrack_print fails'
    PROFTOP_OUTPUT=ours-$rounds.heap LD_PRELOAD=$tracer ./blocks $rounds 2>/dev/null || die 'blocks fails under the tracer'
    "$proftop" report --view memory --json -f 'fn:^main$' "ours-$rounds.heap" >"ours-$rounds.json" || die 'the trace cannot be read'
done
python3 - <<'PY'
import json, sys

def theirs(rounds):
    return sum(int(size) * int(n) for size, n in (line.split()[:2] for line in open(f'sizes-{rounds}')))

def ours(rounds):
    return json.load(open(f'ours-{rounds}.json'))['total']['bytes']

more = ours(12) - ours(7), theirs(12) - theirs(7)
print('bytes of 5 rounds: %d and %d' % more)
sys.exit(more[0] != more[1] or more[0] < 1000000)
PY
