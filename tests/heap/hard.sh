#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Records programs that make it hard: handlers, cancelled threads, small stacks, memory that is short, disks
# that are full. As heap.sh: nothing may change for the program, and each call is in the trace or told as lost.
. "$(dirname "$0")/lib.sh"

compare exact sizes 3
compare exact sized 100
# Threads that hand each other the places of blocks, with one arena all the time: each ends before the next begins.
compare exact chains 20
export GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1
for _ in 1 2 3 4 5; do
    check=0 compare exact chains 20
    check=0 compare exact pass 50000
    check=0 compare exact threads 5000
done
check=0 PROFTOP_SAMPLE=2k compare alive pass 50000
unset GLIBC_TUNABLES
compare exact limit 20
compare exact main-ends 500
# Its shim has no last word there.
record left.heap "$tools/heap_work" main-leaves 500 >/dev/null
[ $? = 9 ] || fault "main-leaves ends otherwise"
"$tools/heap_totals" left.heap >totals || fault "main-leaves: the trace cannot be read"
[ "$(value ended totals) $(value allocs totals)" = "1 500" ] || fault "main-leaves: $(cat totals)"
compare exact exit-storm 2000
# A thread's state is used again: 2,000 of them take a few MB more than none.
peak=$(awk '/^peak/ { print $2 }' traced.err)
[ "${peak:-99999}" -lt 60000 ] || fault "exit-storm: $peak kB"
compare exact cancel 20
compare exact destructors 100
compare exact clone 100
compare exact fork-threads 10
compare exact small-stack-exec 100
compare exact libraries 300
[ "$(value incomplete totals)" = 0 ] || fault "libraries: $(value incomplete totals) stacks have no root"
compare exact jit 300
compare exact tasks 300
[ "$(value incomplete totals)" = 0 ] || fault "tasks: $(value incomplete totals) stacks have no root"
compare exact unshare 100
compare exact altstack 300
[ "$(value incomplete totals)" = 0 ] || fault "altstack: $(value incomplete totals) stacks have no root"
compare exact deep 100000
[ "$(value incomplete totals)" = 0 ] || fault "deep: $(value incomplete totals) stacks have no root"
"$PROFTOP" export --to folded --metric calls trace.heap >folded 2>&1
grep -q ';main;.*;deep;\[too deep\];deep;' folded || fault "deep: nothing says that frames were left out: $(head -c 300 folded)"

# Handlers that allocate at any moment, 10,000 times a second, also while the recorder itself is at work: to the event.
for storm in storm storm-altstack storm-closing storm-storm; do
    compare exact $storm 1000
    PROFTOP_FREE_STACKS=1 compare exact $storm 300
    check=0 PROFTOP_CULL=1ms compare exact $storm 300
done
# The recorder was interrupted, or this says nothing: a thread that was has more than one stream of events.
[ "$(value threads totals)" -gt 1 ] || fault "storm-storm: the recorder was not interrupted: $(tr '\n' ' ' <totals)"
loses=bad compare alive limit-threads 3000
[ $(($(value allocs totals) + $(value frees totals) + $(value lost totals))) = $(($(value allocs counts) + $(value frees counts))) ] ||
    fault "limit-threads: $(tr '\n' ' ' <totals), not $(tr '\n' ' ' <counts)"
compare alive children 200

# Programs that forbid themselves what recording takes live on, and end as they would. What such a thread does is told as lost.
if "$tools/heap_work" strict-thread 1 >/dev/null; then
    for sandbox in strict strict-dies filter-few filter-dies; do
        loses=bad compare alive $sandbox 500
        [ "$(value allocs totals) $(value lost totals) $(value ended totals)" = "302 1003 1" ] || fault "$sandbox: $(tr '\n' ' ' <totals)"
        "$PROFTOP" info trace.heap | grep -q 'note .*not recorded from here on: ' || fault "$sandbox: info does not say what is missing"
    done
    loses=bad compare alive strict-thread 500
    [ $(($(value allocs totals) + $(value frees totals) + $(value lost totals))) = $(($(value allocs counts) + $(value frees counts))) ] ||
        fault "strict-thread: $(tr '\n' ' ' <totals), not $(tr '\n' ' ' <counts)"
    # A filter that the kernel refuses changes nothing; one that it takes does, whatever it forbids.
    loses=bad compare alive filter-others 500
    [ "$(value allocs totals) $((1000 + $(value frees totals) + $(value lost totals)))" = "1000 $(($(value allocs counts) + $(value frees counts)))" ] ||
        fault "filter-others: $(tr '\n' ' ' <totals), not $(tr '\n' ' ' <counts)"
    loses=bad compare alive filter-files 500
    [ "$(value allocs totals) $(value lost totals)" = "500 1000" ] || fault "filter-files: $(tr '\n' ' ' <totals)"
    # What a filtered thread cannot end, as it may be the child of a vfork, is told nevertheless.
    rm -f trace.heap trace.2.heap
    check=0 record trace.heap "$tools/heap_work" filter-exec 500 || fault "filter-exec: ends with $?"
    "$PROFTOP" info trace.heap | grep -q 'note .*not recorded from here on: ' || fault "filter-exec: info does not say what is missing"
    rm -f trace.2.heap
    compare exact vfork-filter 500
    "$PROFTOP" info trace.heap | grep -q 'from here on\|ends here' && fault "vfork-filter: the filter of a child is told of"
    compare alive filter-all 500
    [ "$(value ended totals)" = 1 ] && [ "$(value allocs totals)" -ge 500 ] || fault "filter-all: $(tr '\n' ' ' <totals)"
    "$PROFTOP" info trace.heap | grep -q 'note .*the recording ends here: ' || fault "filter-all: info does not say why it ends"
else
    echo "skipped: seccomp is not to be had here"
fi
# Nobody may read the processor's clock from some moment on: all is there, with times that rise; of a child, too.
if [ "$(uname -m)" = x86_64 ]; then
    compare exact no-clock 500
    rm -f trace.2.heap
    PROFTOP_CHILDREN=1 compare alive no-clock 500
    [ -e trace.2.heap ] && "$tools/heap_totals" trace.2.heap >totals && sound "no-clock, the child" totals
    [ "$(value allocs totals)" = 500 ] || fault "no-clock, the child: $(tr '\n' ' ' <totals)"
    rm -f trace.2.heap
fi

# Ends of all kinds are in the trace, on whatever stack they come.
for end in cancelled-exit small-stack segv-exit; do
    compare exact $end 200
done
compare cut segv-abort 200

# Before main, and after the last destructor of a library.
behind=$tools/heap_plugin.so compare exact early 50
[ "$(value incomplete totals)" = 0 ] || fault "early: $(value incomplete totals) stacks have no root"
[ "$(value live totals)" -le 1 ] || fault "early: $(value live totals) blocks of a library were not seen to be freed"

# With each option, stacks are what full walks find, and the program is what it is.
"$tools/heap_work" threads 3000 >plain.out
for setting in PROFTOP_FREE_STACKS=1 PROFTOP_SAMPLE=1k PROFTOP_SAMPLE=1M PROFTOP_MAX_SIZE=300k PROFTOP_MAX_SIZE=1M \
    PROFTOP_ENVIRONMENT=0 PROFTOP_TOGGLE_SIGNAL=12 PROFTOP_PAUSED=0 PROFTOP_ONLY_PID=0 PROFTOP_SAMPLE_EXACT=1000; do
    (
        faults=0
        export "${setting?}"
        [ "${setting%=*}" != PROFTOP_SAMPLE_EXACT ] || export PROFTOP_SAMPLE=1G
        record trace.heap "$tools/heap_work" threads 3000 >traced.out || fault "$setting: ends with $?"
        cmp -s plain.out traced.out || fault "$setting: prints other things"
        "$tools/heap_totals" trace.heap >totals || fault "$setting: the trace cannot be read"
        ended_early=
        [ "${setting%=*}" != PROFTOP_MAX_SIZE ] || ended_early=1
        sound "$setting" totals
        grep -q '[1-9][0-9]* stacks were compared with full walks, 0 were wrong' log || fault "$setting: $(cat log)"
        exit $faults
    ) || faults=$((faults + 1))
done

# So little address space that we do without much of ours, or do not record.
for kb in 20000 60000 200000 600000; do
    (
        ulimit -v $kb
        "$tools/heap_work" single 2000 >plain.out 2>/dev/null
        echo $? >plain.status
        record trace.heap "$tools/heap_work" single 2000 >traced.out 2>/dev/null
        echo $? >traced.status
    )
    cmp -s plain.status traced.status && cmp -s plain.out traced.out || fault "$kb kB of address space: ends with $(cat traced.status)"
done

# Where nothing can be written the log says why, and the program runs.
"$tools/heap_work" single 2000 >plain.out
for output in /nonexistent/x.heap /proc/x.heap; do
    rm -f log
    LD_PRELOAD=$tracer PROFTOP_OUTPUT=$output PROFTOP_LOGFILE=$work/log "$tools/heap_work" single 2000 >traced.out || fault "$output: ends with $?"
    cmp -s plain.out traced.out || fault "$output: prints other things"
    grep -q 'not recorded' log || fault "$output: the log says nothing"
done
# What is there already is not written to, be it a pipe that nobody reads.
mkfifo pipe.heap
LD_PRELOAD=$tracer PROFTOP_OUTPUT=$work/pipe.heap timeout 20 "$tools/heap_work" single 2000 >traced.out || fault "a pipe: ends with $?"
[ -f pipe.2.heap ] || fault "a pipe: there is no other file"

# full NAME: the totals of what is on the disk that is full, and what the program made of it.
full() {
    cmp -s plain.out traced.out || fault "$1: the program prints other things"
    grep -q 'the disk is full' log || fault "$1: the log says nothing: $(cat log)"
    "$tools/heap_totals" "$work/small/x.heap" >totals || fault "$1: the trace cannot be read"
    [ "$(value bad totals)" = 0 ] || fault "$1: $(value bad totals) bad"
    [ "$(value allocs totals)" -gt 10000 ] || fault "$1: only $(value allocs totals) allocations"
    "$PROFTOP" report small/x.heap >/dev/null 2>said || fault "$1: proftop says $(cat said)"
    "$PROFTOP" info small/x.heap | grep -q '^! stopped .*the disk is full: what came after' || fault "$1: the trace does not say why it stopped"
    echo "$1: $(tr '\n' ' ' <totals)"
}
mkdir small
"$tools/heap_work" threads 60000 >plain.out
if mount -t tmpfs -o size=1m none small 2>/dev/null; then
    trap 'umount "$work/small"; rm -rf "$work"' EXIT
    rm -f log
    LD_PRELOAD=$tracer PROFTOP_OUTPUT=$work/small/x.heap PROFTOP_LOGFILE=$work/log "$tools/heap_work" threads 60000 >traced.out ||
        fault "a full disk: ends with $?"
    full "a full disk"
    rm -f log small/x.heap
    head -c 1040000 /dev/zero >small/filler
    LD_PRELOAD=$tracer PROFTOP_OUTPUT=$work/small/x.heap PROFTOP_LOGFILE=$work/log "$tools/heap_work" threads 1000 >traced.out ||
        fault "a disk that is full at once: ends with $?"
    grep -q 'stopped\|not recorded' log || fault "a disk that is full at once: the log says nothing"
else
    echo "skipped: a small file system cannot be mounted here"
fi

# Killed at any moment, in any state: what is there can be read, and proftop opens it.
for round in {1..20}; do
    rm -f trace.heap
    # Every other one writes the trace anew again and again, as it may not become larger.
    LD_PRELOAD=$tracer PROFTOP_OUTPUT=$work/trace.heap PROFTOP_KEEP=newest PROFTOP_MAX_SIZE=$((round % 2 * 500))k \
        "$tools/heap_work" threads 10000000 >/dev/null &
    pid=$!
    sleep "0.0$((round * 7 % 10))$((round % 10))"
    [ "$round" -lt 15 ] || sleep 0.2
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    # It may not have come to the point of making the file, or of writing its first bytes.
    [ -s trace.heap ] || continue
    "$tools/heap_totals" trace.heap >totals || fault "killed, $round: the trace cannot be read"
    for name in bad double; do
        [ "$(value $name totals)" = 0 ] || fault "killed, $round: $name is $(value $name totals)"
    done
    "$PROFTOP" report trace.heap >/dev/null 2>said
    [ $? -le 1 ] || fault "killed, $round: proftop says $(cat said)"
    [ $((round % 2)) = 0 ] || [ "$(stat -c %s trace.heap)" -le 512000 ] || fault "killed, $round: $(stat -c %s trace.heap) bytes"
done

# The newest events: what lies where the trace would be written anew stays there; a trace that was moved away is not
# replaced by another, and one whose directory cannot be written to ends, with the reason in the log.
"$tools/heap_work" threads 50000 >plain.out
mkdir kept
echo mine >kept/x.heap.new
newest() {
    rm -f log kept/x.heap
    PROFTOP_KEEP=newest PROFTOP_MAX_SIZE=500k check=0 record kept/x.heap "$tools/heap_work" threads 50000 >traced.out || fault "the newest, $1: ends with $?"
    cmp -s plain.out traced.out || fault "the newest, $1: prints other things"
    "$tools/heap_totals" kept/x.heap >totals || fault "the newest, $1: cannot be read"
    [ "$(value bad totals)" = 0 ] || fault "the newest, $1: $(value bad totals) bad"
}
newest "a file in the way"
[ "$(cat kept/x.heap.new)" = mine ] && [ "$(ls kept)" = "$(printf 'x.heap\nx.heap.new')" ] || fault "the newest: beside it is $(ls kept)"
[ "$(value dropped totals)" -gt 100000 ] && [ "$(value ended totals)" = 1 ] || fault "the newest, a file in the way: $(tr '\n' ' ' <totals)"
for n in 1 2 3 4 5 6 7 8 9; do mkdir kept/x.heap.new$n; done
newest "no place for another"
grep -q 'recording stopped' log || fault "the newest, no place for another: the log says $(cat log)"
[ "$(value dropped totals)" = 0 ] && [ "$(value allocs totals)" -gt 1000 ] || fault "the newest, no place for another: $(tr '\n' ' ' <totals)"

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
