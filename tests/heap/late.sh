#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Recordings that begin late, by each way there is (a signal, a word from outside, attaching), in a program that is then killed, or
# whose disk is full: what was written can be opened and says why it ends, and the program is none the wiser.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/host.sh"

# host_of WAY OUT: a program with four threads that has worked before, and whose recording to OUT has not begun.
host_of() {
    rm -f log "$2"
    unset "${!PROFTOP_@}"
    if [ "$1" = attach ]; then
        host '' 4
    else
        export PROFTOP_PAUSED=1 PROFTOP_TOGGLE_SIGNAL=12 PROFTOP_OUTPUT=$work/$2 PROFTOP_LOGFILE=$work/log
        host "$tracer" 4
    fi
    ask work 1000
}

# begin WAY OUT: it does.
begin() {
    case $1 in
    signal) kill -12 "$pid" ;;
    command) "$PROFTOP" resume -p "$pid" || fault "$1: resume ends with $?" ;;
    attach) attach "$2" ;;
    esac
}

# has_mark OUT NAME: is the mark in the file? Then so is what happened before it.
has_mark() { "$tools/heap_totals" -r "$1" 2>/dev/null | grep -q "^MARK.*\"$2\""; }
wait_until() {
    for _ in $(seq 600); do
        "$@" && return
        sleep 0.1
    done
    fault "waited in vain for: $*"
}

for way in signal command attach; do
    host_of $way killed.heap
    [ $way = attach ] || { "$PROFTOP" mark -p "$pid" before && wait_until has_mark killed.heap before; }
    begin $way killed.heap
    ask work 3000
    "$PROFTOP" mark -p "$pid" done || fault "$way: mark ends with $?"
    wait_until has_mark killed.heap done
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    [ $way != attach ] || wait "$recorder" || fault "$way: the recorder ends with $?"
    exec 8>&- 9<&-
    "$tools/heap_totals" killed.heap >totals || fault "$way, killed: the trace cannot be read"
    echo "$way, killed: $(tr '\n' ' ' <totals)"
    for name in bad lost double cut; do
        [ "$(value $name totals)" = 0 ] || fault "$way, killed: $name is $(value $name totals)"
    done
    # Those of four threads since it began, and none of before.
    [ "$(value allocs totals)" = 12000 ] || fault "$way, killed: $(value allocs totals) allocations"
    "$PROFTOP" info killed.heap >said || fault "$way, killed: info ends with $?"
    # Nobody waited for it who could say more; what it had noted is there all the same.
    grep -q '^  stopped .*gone without a word: all that it did' said || fault "$way, killed: $(cat said)"
done

mkdir small
if ! mount -t tmpfs -o size=256k none small 2>/dev/null; then
    echo "skipped: a small file system cannot be mounted here"
    [ $faults = 0 ]
    exit
fi
trap 'umount "$work/small"; rm -rf "$work"' EXIT
is_full() { "$PROFTOP" info small/x.heap 2>/dev/null | grep -q '^! stopped .*the disk is full'; }
for way in signal command attach; do
    host_of $way small/x.heap
    begin $way small/x.heap
    ask work 100000
    wait_until is_full
    if [ $way = attach ]; then
        wait "$recorder" || fault "$way, full: the recorder ends with $?"
        grep -q 'recording stopped: the disk is full' said || fault "$way, full: the recorder says $(cat said)"
    else
        grep -q 'recording stopped: the disk is full' log || fault "$way, full: the log says $(cat log)"
    fi
    "$PROFTOP" mark -p "$pid" late 2>late.err && fault "$way, full: a mark after the end"
    # The program goes on, and can be recorded anew where there is room.
    ask work 1000
    if [ $way = attach ]; then
        attach again.heap
        ask work 1000
        detach
        whole "$way, again" again.heap
    fi
    end_host "bad 0 0 0 0"
    "$tools/heap_totals" small/x.heap >totals || fault "$way, full: the trace cannot be read"
    echo "$way, full: $(tr '\n' ' ' <totals)"
    for name in bad lost double; do
        [ "$(value $name totals)" = 0 ] || fault "$way, full: $name is $(value $name totals)"
    done
    [ "$(value allocs totals)" -gt 5000 ] || fault "$way, full: $(value allocs totals) allocations"
    "$PROFTOP" report small/x.heap >/dev/null 2>said || fault "$way, full: report says $(cat said)"
    rm -f small/x.heap
done

[ $faults = 0 ] || { echo "$faults faults"; exit 1; }
