#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Memory that sixteen killed programs left: the next one says that it has none that outlives it, and record takes it to their traces.
# In a namespace of its own, where other tests leave nothing.
if [ -z "${LEFT_ALONE:-}" ]; then
    unshare -i true 2>/dev/null || { echo "skipped: shared memory cannot be had alone here"; exit 77; }
    LEFT_ALONE=1 exec unshare -i bash "$0" "$@"
fi
unset LEFT_ALONE
. "$(dirname "$0")/lib.sh"

kill_work=$tools/heap_kill
# As many as there may be.
for ((i = 0; i < 16; i++)); do
    rm -f book
    LD_PRELOAD=$tracer PROFTOP_OUTPUT=$work/left$i.heap "$kill_work" run book 1 0 100 kill >said 2>&1
done 2>/dev/null

# after HOW WANT: one more program; its log and info have that sentence, or not.
waits='memory of 16 killed programs waits for their traces to be opened'
after() {
    rm -f log book after.heap
    LD_PRELOAD=$tracer PROFTOP_OUTPUT=$work/after.heap PROFTOP_LOGFILE=$work/log "$tools/heap_work" single 1000 >said 2>&1
    touch log
    "$PROFTOP" info after.heap >info 2>&1
    [ "$(grep -c "$waits" log)" = "$2" ] || fault "$1, and the log says: $(cat log)"
    [ "$(grep -c "$waits" info)" = "$2" ] || fault "$1, and info says: $(cat info)"
}
after "sixteen were killed" 1
"$PROFTOP" record --heap -o cleared.heap -- true >said 2>&1
grep -q 'completed 16 traces of killed programs' said || fault "sixteen were killed, and record says: $(cat said)"
after "their memory is free" 0
for ((i = 0; i < 16; i++)); do
    "$tools/heap_totals" left$i.heap >totals
    [ "$(value ended totals)" = 1 ] && [ "$(value allocs totals)" -ge 100 ] && [ "$(value bad totals)" = 0 ] ||
        fault "a trace that record completed: $(tr '\n' ' ' <totals)"
done
"$PROFTOP" record --heap -o cleared.heap -- true >said 2>&1
! grep -q completed said || fault "nothing is left, and record says: $(cat said)"
exit $faults
