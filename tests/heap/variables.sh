#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# That the manual has every variable that is read and no other, and that what the tour says to
# type and to put into a unit works as it stands.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/heap/lib.sh"

grep -rho --include='*.c' '"PROFTOP_[A-Z][A-Z_]*"' "$root/src" "$root/formats" "$root/tui" | tr -d '"' | LC_ALL=C sort -u >read
sed -n 's/^\.It Ev \(PROFTOP_[A-Z_]*\).*/\1/p' "$root"/doc/proftop*.[17] | LC_ALL=C sort >told
[ "$(wc -l <read)" -gt 10 ] || fault "only $(wc -l <read) variables were found in the source"
diff read told >difference || fault "the source (<) and the manual (>) do not agree: $(grep '^[<>]' difference)"

# The variables of the tour's lines are some of those.
grep -ho 'PROFTOP_[A-Z_]*=' "$root/doc/tour.md" | tr -d = | LC_ALL=C sort -u >named
[ -s named ] || fault "the tour names no variable"
[ -z "$(LC_ALL=C comm -23 named read)" ] || fault "the tour names what is not read: $(LC_ALL=C comm -23 named read)"

# runs WHAT ASSIGNMENT…: what the tour sets, with the library and the trace here, makes a trace that can be read.
runs() {
    local what=$1 settings=() setting
    shift
    for setting in "$@"; do
        case $setting in
            LD_PRELOAD=*/lib/proftop/libproftop-heap.so) settings+=("LD_PRELOAD=$tracer") ;;
            PROFTOP_OUTPUT=*) settings+=("PROFTOP_OUTPUT=$work/traces/${setting##*/}") ;;
            *) settings+=("$setting") ;;
        esac
    done
    rm -rf traces && mkdir traces
    env "${settings[@]}" "$tools/heap_work" single 200000 >out || fault "$what: ends with $?"
    [ "$(find traces -name 'heap_work.[0-9]*.heap' | wc -l)" = 1 ] || fault "$what: makes $(ls traces)"
    "$tools/heap_totals" traces/* >totals || fault "$what: the trace cannot be read"
    sound "$what" totals
    [ "$(value allocs totals)" -gt 50 ] || fault "$what: $(value allocs totals) allocations"
}

# In a unit, two percent signs are one.
mapfile -t unit < <(sed -n 's/^Environment=//p' "$root/doc/tour.md" | tr ' ' '\n' | sed 's/%%/%/g')
[ ${#unit[@]} -ge 3 ] || fault "the tour has no drop-in for a unit"
runs "the tour's drop-in" "${unit[@]}"
line=$(grep -o 'LD_PRELOAD=[^ ]* PROFTOP_OUTPUT=[^ ]* \./server' "$root/doc/tour.md" | head -n 1)
[ -n "$line" ] || fault "the tour has no line for a shell"
read -r -a words <<<"${line% ./server}"
runs "the tour's line for a shell" "${words[@]}"

# What the letters after percent signs stand for; %n counts what was there before, and without it a number comes before .heap.
# names PATTERN WANTED…: what two runs, one after the other, make.
names() {
    local pattern=$1
    shift
    rm -rf traces && mkdir traces && : >traces/there.0.heap
    for _ in 1 2; do
        PROFTOP_OUTPUT=$work/traces/$pattern LD_PRELOAD=$tracer "$tools/heap_work" single 200 >out || fault "$pattern: ends with $?"
    done
    [ "$(cd traces && LC_ALL=C ls | tr '\n' ' ')" = "$* " ] || fault "$pattern: makes $(ls traces)"
}
names 'there.%n.heap' there.0.heap there.1.heap there.2.heap
names '%n%%%n-%e.x%n' 0%0-heap_work.x0 1%1-heap_work.x1 there.0.heap
names "%%n%q%" %n%q% %n%q%.2 there.0.heap
names "z%h.heap" there.0.heap "z$(uname -n).2.heap" "z$(uname -n).heap"
(cd traces && "$PROFTOP" record --heap -o 'there.%n.heap' -- "$tools/heap_work" single 200 >../out 2>../said) || fault "record -o there.%n.heap: ends with $?"
[ -s traces/there.1.heap ] || fault "record -o there.%n.heap makes $(ls traces)"

# A value without sense is as none: the log and the trace say so, and of others nothing.
# odd SETTING WHAT: what holds instead.
odd() {
    (export "$1" && record odd.heap "$tools/heap_work" single 200 >out) || fault "$1: ends with $?"
    grep -qxE "proftop: [0-9]+: $1 does not count: $2" log || fault "$1: the log says $(cat log)"
    "$PROFTOP" info odd.heap >said || fault "$1: info ends with $?"
    grep -qF "$1 does not count: $2" said || fault "$1: info does not say it"
}
# How much is told, and where: no line that is not asked for, and none to standard error after the program put a file in its place.
# tells LEVEL WHAT: of a recording that goes well but for a variable.
tells() {
    (export PROFTOP_LOG=$1 PROFTOP_KEEP=bla && record told.heap "$tools/heap_work" single 200 >out) || fault "PROFTOP_LOG=$1: ends with $?"
    touch log
    [ "$(grep -c ' writes: ' log) $(grep -c 'does not count' log)" = "$2" ] || fault "PROFTOP_LOG=$1: the log says $(cat log)"
    rm -f log
    (export PROFTOP_LOG=$1 PROFTOP_KEEP=bla PROFTOP_OUTPUT=$work/told.%n.heap LD_PRELOAD=$tracer && exec "$tools/heap_work" single 200) >out 2>said ||
        fault "PROFTOP_LOG=$1, to standard error: ends with $?"
    [ "$(grep -c ' writes: ' said) $(grep -c 'does not count' said)" = "$2" ] || fault "PROFTOP_LOG=$1: to standard error goes $(cat said)"
}
tells off '0 0'
tells warn '0 1'
tells info '1 1'
(export PROFTOP_LOG=info PROFTOP_CHECK=1 PROFTOP_OUTPUT=$work/self.%n.heap LD_PRELOAD=$tracer && exec bash -c 'exec 2>mine; true') 2>said ||
    fault "PROFTOP_LOG=info: bash ends with $?"
grep -q ' writes: ' said || fault "PROFTOP_LOG=info: bash's recorder says nothing"
[ ! -s mine ] || fault "the program's own file has $(cat mine)"

odd PROFTOP_SAMPLE=abc 'every allocation is recorded'
odd PROFTOP_SAMPLE=10MB 'every allocation is recorded'
odd PROFTOP_SAMPLE_EXACT=-1 'no size is recorded in any case'
odd PROFTOP_MAX_OVERHEAD=little 'recording may take any time'
odd PROFTOP_CULL=10min 'nothing is culled'
odd PROFTOP_KEEP=bla 'the oldest events are kept'
odd PROFTOP_MAX_SIZE=1.5G 'the trace may have any size'
odd PROFTOP_MAX_SIZE=9999999999G 'the trace may have any size'
odd PROFTOP_ONLY_PID=me 'any process is recorded'
odd PROFTOP_TOGGLE_SIGNAL=USR1 'no signal pauses'
odd PROFTOP_SECONDS=5m 'recording does not end by itself'
check=often odd PROFTOP_PSS=maybe '1 is taken'
grep -q 'PROFTOP_CHECK=often does not count: no stack is compared' log || fault "PROFTOP_CHECK=often: the log says $(cat log)"
for name in CODE ENVIRONMENT; do odd PROFTOP_$name=2 '1 is taken'; done
for name in CHILDREN FREE_STACKS PAUSED DISABLED; do odd PROFTOP_$name=maybe '0 is taken'; done
PROFTOP_SAMPLE=1 odd PROFTOP_CULL=10ms 'nothing is culled, as sampling goes before it'
PROFTOP_SAMPLE=4k PROFTOP_MAX_OVERHEAD=0.5% PROFTOP_KEEP=newest PROFTOP_MAX_SIZE=10000000000 PROFTOP_PSS=off PROFTOP_SECONDS= \
    PROFTOP_CHILDREN=yes PROFTOP_PAUSED=false record even.heap "$tools/heap_work" single 200 >out || fault "sensible values: ends with $?"
! grep 'does not count' log || fault "sensible values: the log says $(cat log)"

# What was read is taken out of the trace: as large as it may be is what is left of it on disk.
. "$root/tests/heap/host.sh"
export PROFTOP_OUTPUT=$work/unread.heap PROFTOP_LOGFILE=$work/unread.log PROFTOP_MAX_SIZE=1M PROFTOP_KEEP=unread
host "$tracer" 2
size() { stat -c %s unread.heap; }
is_full() { grep -qs 'as large as it may be' unread.log; }
: >fallocate.err
while [ "$(size)" -lt 2500000 ] && ! is_full; do
    ask work 20000
    read_bytes=$(($(size) / 4096 * 4096 - 65536))
    [ $read_bytes -lt 4096 ] || fallocate -p -o 65536 -l $read_bytes unread.heap 2>fallocate.err || break
done
if grep -q 'not supported' fallocate.err; then
    echo "what was read is taken out: not tried, as the file system knows no holes"
else
    ! is_full || fault "a trace that is read ends at $(size) bytes: $(cat fallocate.err)"
    before=$(size)
    for _ in {1..200}; do is_full || ask work 20000; done
    is_full || fault "a trace that nobody reads any more has $(size) bytes"
    [ $(($(size) - before)) -lt 1048576 ] || fault "a trace of 1M has $(($(size) - before)) bytes that were not read"
fi
end_host "bad 0 0 0 0"
unset "${!PROFTOP_@}"

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
