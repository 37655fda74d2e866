#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that are killed, at any moment and at any rate, or end in another way that nobody sees: each call that came back is in the
# trace, and no more than those that were begun. The program counts them itself in a file that outlives it.
. "$(dirname "$0")/lib.sh"

kill_work=$tools/heap_kill
threads=3

sum() { "$kill_work" show book >counts; }

# What the process allocates beside what it counts: its threads.
extra_allocs=0 extra_bytes=0 extra_frees=0

# judge WHAT [PATH]: the trace has each call that came back, and no more than were begun; it has an end, and says how it came.
judge() {
    local what=$1 path=${2:-trace.heap} name got least most extra
    sum
    "$tools/heap_totals" "$path" >totals || fault "$what: the trace cannot be read"
    for name in bad lost unmatched double cut backward; do
        [ "$(value "$name" totals)" = 0 ] || fault "$what: $name is $(value "$name" totals)"
    done
    [ "$(value ended totals)" = 1 ] || fault "$what: the trace has no end"
    for name in allocs frees bytes; do
        extra=extra_$name
        got=$(($(value $name totals) - ${!extra}))
        least=$(value $name-done counts) most=$(value $name-begun counts)
        [ "$got" -ge "$least" ] && [ "$got" -le "$most" ] ||
            fault "$what: $name $got, not from $least to $most"
    done
    "$PROFTOP" info "$path" >info 2>&1
    ! grep -q 'may be missing\|cut short' info || fault "$what: info says that something is missing: $(grep 'missing\|short' info)"
}

# start HOW RATE CALLS END: HOW is `record`, or `alone`: by the environment, with nobody to wait for the program.
start() {
    local how=$1
    shift
    rm -f book trace*.heap
    case $how in
    record) "$PROFTOP" record --heap -o trace.heap -- "$kill_work" run book $threads "$@" >said 2>&1 & ;;
    alone) LD_PRELOAD=$tracer PROFTOP_OUTPUT=$work/trace.heap "$kill_work" run book $threads "$@" >said 2>&1 & ;;
    children) "$PROFTOP" record --heap --children -o trace.heap -- "$kill_work" run book $threads "$@" >said 2>&1 & ;;
    attached)
        "$kill_work" run book $threads "$@" >said 2>&1 &
        disown
        "$kill_work" kill book 0 0
        "$PROFTOP" record --heap -o trace.heap -p "$("$kill_work" pid book)" >said 2>&1 &
        ;;
    esac
    started=$!
}

# ended: until what was started has; the shell says nothing of it.
ended() { wait $started 2>/dev/null; } 2>/dev/null

# Without calls of its own but the first one of each thread.
start record 0 1 all:exit
wait $started
[ $? = 7 ] || fault "the command's status is lost: $(cat said)"
sum
[ "$(value allocs-begun counts)" = "$(value allocs-done counts)" ] && [ "$(value allocs-done counts)" = $threads ] ||
    fault "the program did not do what it should: $(tr '\n' ' ' <counts)"
"$tools/heap_totals" trace.heap >totals || fault "exit: the trace cannot be read"
extra_allocs=$(($(value allocs totals) - threads)) extra_bytes=$(($(value bytes totals) - $(value bytes-done counts)))
extra_frees=$(value frees totals)
judge exit
grep -q 'stopped *because the program was gone without a word: all that it did until then is here' info ||
    fault "exit: info does not say how it ended: $(grep stopped info)"

# Ends that the program chooses, after so many calls.
for end in exit segv kill term abort; do
    for calls in 1 10 1000 50000; do
        for how in record alone; do
            start $how 0 $calls $end
            ended
            [ $how = record ] || "$PROFTOP" info trace.heap >info 2>&1
            judge "$how $end after $calls"
        done
        "$PROFTOP" info trace.heap >/dev/null 2>&1
    done
done

# At random moments, at four rates; fewer with sanitizers, which read a trace ten times as slowly.
kills=20
ldd "$PROFTOP" 2>/dev/null | grep -q libasan && kills=6
for rate in 100 1000 10000 0; do
    for ((i = 1; i <= kills; i++)); do
        how=record
        [ $((i % 2)) = 0 ] || how=alone
        start $how $rate 1000000000000 never
        "$kill_work" kill book 9 $((RANDOM * 10)) || fault "$how, $rate a second: nothing was killed"
        ended
        [ $how = record ] || "$PROFTOP" info trace.heap >info 2>&1
        judge "$how, $rate a second, kill $i"
        [ $how = alone ] || grep -q 'stopped *because the program was killed by SIGKILL: all' info ||
            fault "info does not say how it ended: $(grep stopped info)"
    done
    echo "$rate a second: $(tr '\n' ' ' <counts)"
done

# With whoever waits for it; as another program begins, by a call that nobody sees; a child; and one that ran before.
start record 0 1000000000000 never
"$kill_work" kill book 0 100000
kill -9 $started
"$kill_work" kill book 9 0
ended
for _ in $(seq 600); do
    "$PROFTOP" info trace.heap | grep -q 'gone without a word: all' && break
    sleep 0.1
done
judge "both were killed"
start record 0 1000 exec:/bin/true
ended
judge "another program"
start children 0 1000000000000 fork:never
"$kill_work" kill book 9 100000
ended
judge "a child" trace.2.heap
start attached 0 1000000000000 gate:never
for _ in $(seq 600); do
    grep -q 'Ctrl-C ends it' said && break
    sleep 0.1
done
"$kill_work" go book
"$kill_work" kill book 9 200000
ended
all=$extra_allocs,$extra_bytes,$extra_frees
extra_allocs=0 extra_bytes=0 extra_frees=0
judge "a process that ran before"
IFS=, read -r extra_allocs extra_bytes extra_frees <<<"$all"

# With what makes traces smaller: what is missing is counted.
export PROFTOP_CULL=1ms
for _ in 1 2 3 4 5; do
    start record 0 1000000000000 never
    "$kill_work" kill book 9 $((100000 + RANDOM * 5))
    ended
    judge "culled"
    [ "$(value culled totals)" -gt 0 ] || fault "culled: nothing was"
done
unset PROFTOP_CULL

# On a disk that is full when it dies, until there is room again.
mkdir full
if mount -t tmpfs -o size=4m none full 2>/dev/null; then
    for _ in 1 2 3 4; do
        rm -f book full/*
        LD_PRELOAD=$tracer PROFTOP_OUTPUT=$work/full/trace.heap "$kill_work" run book $threads 0 1000000000000 never >said 2>&1 &
        started=$!
        "$kill_work" kill book 19 50000
        cat /dev/zero >full/filler 2>/dev/null
        kill -9 $started
        ended
        "$PROFTOP" info full/trace.heap >info 2>&1
        echo "a full disk: $(grep 'cannot be added' info || echo there was room)"
        rm full/filler
        "$PROFTOP" info full/trace.heap >/dev/null
        # The writer may have met it before it was stopped, and ended the recording.
        grep -q "the disk is full" info || judge "a full disk" full/trace.heap
    done
    umount full
else
    echo "skipped: a file system cannot be mounted here"
fi

# Killed by the kernel for want of memory: what asked for it is in the trace, and is the top of the list.
group=
if [ -w /sys/fs/cgroup/memory/cgroup.procs ]; then
    group=/sys/fs/cgroup/memory/proftop-kill-$$ limit=memory.limit_in_bytes swap=memory.memsw.limit_in_bytes
elif grep -qs memory /sys/fs/cgroup/cgroup.subtree_control; then
    group=/sys/fs/cgroup/proftop-kill-$$ limit=memory.max swap=memory.swap.max
fi
if [ -n "$group" ] && mkdir "$group" 2>/dev/null && echo 120M >"$group/$limit"; then
    if [ $swap = memory.swap.max ]; then echo 0 >"$group/$swap"; else echo 120M >"$group/$swap"; fi 2>/dev/null
    # One thread: what is begun and not done is what killed it.
    threads=1 extra_allocs=0 extra_bytes=0 extra_frees=0
    for end in oom oom-realloc; do
        for how in record alone; do
            (
                echo "$BASHPID" >"$group/cgroup.procs"
                start $how 0 10000 $end
                ended
            )
            [ $how = record ] || "$PROFTOP" info trace.heap >info 2>&1
            judge "$how, $end"
            [ "$(value bytes-begun counts)" -gt 100000000 ] || fault "$how, $end: the program had no memory at all: $(tr '\n' ' ' <counts)"
            [ $how = alone ] || grep -q 'stopped *because the kernel killed the program, as memory was short: all' info ||
                fault "$how, $end: info does not say how it ended: $(grep stopped info)"
            top=$("$PROFTOP" export --to folded --metric leaked trace.heap 2>/dev/null | awk '{ n = $NF; if (n > most) { most = n; top = $0 } } END { print top }')
            case $end$top in
            oom*eat_all* | oom-realloc*grow_all*) ;;
            *) fault "$how, $end: what killed it is not the top: $top" ;;
            esac
            [ "$(value bytes totals)" = "$(value bytes-begun counts)" ] || fault "$how, $end: the last block is not in the trace"
            echo "$how, $end: $(tr '\n' ' ' <counts)"
        done
    done
    rmdir "$group"
else
    echo "skipped: no control group of memory can be made here"
fi
exit $faults
