# SPDX-License-Identifier: GPL-3.0-or-later
# A program that does what it is told while it is recorded: sourced after lib.sh by those who come into it.

# host ARGUMENT…: starts heap_host with pipes to its input and from its output; $pid is its process.
host() {
    local shim=$1
    shift
    rm -f in out
    mkfifo in out
    env ${shim:+LD_PRELOAD=$shim} "$tools/heap_host" "$@" <in >out 2>err &
    pid=$!
    exec 8>in 9<out
    read -r -t 60 answer <&9
    [ "${answer%% *}" = ready ] || fault "heap_host $*: says $answer"
}

# ask LINE: what the host is to do; its answer goes to $answer.
ask() {
    echo "$*" >&8
    read -r -t 120 answer <&9 || fault "$*: no answer"
}

# Lets the host end; what it says last must be WANTED.
end_host() {
    exec 8>&-
    read -r -t 60 answer <&9
    [ "$answer" = "$1" ] || fault "the program ends with: $answer, not $1"
    wait "$pid" || fault "the program ends with $?: $(cat err)"
    exec 9<&-
}

# attach OUT OPTION…: begins to record $pid; $recorder is who stands by.
attach() {
    local out=$1
    shift
    rm -f "$out" said
    "$PROFTOP" record --heap -p "$pid" -o "$out" "$@" 2>said 8>&- 9<&- &
    recorder=$!
    for _ in {1..300}; do
        grep -qs "recording the heap of" said && return
        kill -0 "$recorder" 2>/dev/null || break
        sleep 0.05
    done
    fault "record -p: $(cat said)"
}

# leave: ends the recording of a program that may have come to its own end by then.
leave() {
    kill -INT "$recorder" 2>/dev/null
    wait "$recorder" || fault "the recorder ends with $?: $(cat said)"
    grep -q 'recorded .* in ' said || fault "the recorder says: $(cat said)"
}

# detach: the same of one that goes on.
detach() {
    leave
    kill -0 "$pid" 2>/dev/null || fault "the program is gone: $(cat err)"
}

# whole WHAT TRACE: reads it to "totals"; what must hold of every trace.
whole() {
    local name
    "$tools/heap_totals" -r "$2" >totals || fault "$1: the trace cannot be read"
    # A realloc that moves has one time; between its two halves another thread may be given the old place.
    for name in bad lost unmatched double cut; do
        [ "$(value "$name" totals)" = 0 ] || fault "$1: $name is $(value "$name" totals)"
    done
    [ "$(value ended totals)" = 1 ] || fault "$1: the trace has no end"
    if grep -q 'stacks were compared' totals && ! grep -q ' 0 were wrong' totals; then
        fault "$1: $(grep 'were compared' totals)"
    fi
}
