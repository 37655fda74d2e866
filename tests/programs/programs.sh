#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# make programs: records the real programs of rows.sh, and prints a table. Each runs twice: alone, and recorded in front of a library that
# counts every call exactly (tests/heap/count_shim.c), with all of its children. In the table:
#
#   output   exit status and output are as they are without us
#   calls    what the traces say, and what was counted, of the processes that came to an end of their own
#   stacks   how many of all stacks reach main or the start of a thread
#
# Fails when a row is neither equal nor has a reason.
#
# ROWS="NAME…"         only these rows (automake has a variable PROGRAMS of its own)
# PROGRAMS_INSTALL=1   installs what is missing (apt-get, as root; pip and cargo into a scratch directory)
# PROGRAMS_SECONDS=N   no run takes longer (120)
# PROGRAMS_KEEP=DIR    traces and outputs stay there
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=$PWD
tools=$build/tests/heap
seconds=${PROGRAMS_SECONDS:-120}
dir=${PROGRAMS_KEEP:-$(mktemp -d)}
[ -n "${PROGRAMS_KEEP:-}" ] || trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir" && chmod 755 "$dir"
unset LD_PRELOAD "${!PROFTOP_@}"
shared=$dir/shared # what rows build, and keep for both runs
mkdir -p "$shared"
failed=0

# --- for rows ---------------------------------------------------------------------------------

# row NAME PACKAGES WHAT: declares a program, which run_NAME runs; packages are Debian's.
names=()
declare -A packages what
row() {
    names+=("$1")
    packages[$1]=$2
    what[$1]=$3
}

# has COMMAND…: else the row says what is missing.
has() {
    local command
    for command; do
        command -v "$command" >/dev/null 2>&1 || { missing="$command is not installed"; return 1; }
    done
}

# once COMMAND…: builds something in $shared, with what it says in build.log. False: the row says that it cannot be built.
once() {
    "$@" >>"$shared/build.log" 2>&1 </dev/null && return
    missing="cannot be built: $(tail -n 1 "$shared/build.log" | cut -c1-100)"
    return 1
}

# wait_for COMMAND…: until it is true, for 20 seconds.
wait_for() {
    local i
    for ((i = 0; i < 200; i++)); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    return 1
}

# The command that a program is run with: nothing, or what records it. Rows write "${rec[@]}" before it.
rec=()
. "$here/rows.sh"

# --- one program ------------------------------------------------------------------------------

# run NAME plain|traced: in a fresh directory; leaves out, err, status.
run() {
    local name=$1 how=$2 to=$dir/$1/$2
    rm -rf "$to"
    mkdir -p "$to/work" "$to/heap"
    chmod 777 "$to" "$to/work" "$to/heap"
    rec=()
    [ "$how" = plain ] || rec=(env "LD_PRELOAD=$build/libproftop-heap.so $tools/count_shim.so" "COUNT_SHIM=$to/heap/%p.counts"
        PROFTOP_CHILDREN=1 "PROFTOP_OUTPUT=$to/heap/%p.heap" "PROFTOP_LOGFILE=$to/log")
    (
        cd "$to/work" || exit 99
        work=$to/work
        export -n PROFTOP_OUTPUT 2>/dev/null
        "run_$name"
    ) >"$to/out" 2>"$to/err" </dev/null &
    limited $! "$seconds"
    echo $? >"$to/status"
    ! declare -F "filter_$name" >/dev/null || { "filter_$name" <"$to/out" >"$to/out.same" && mv "$to/out.same" "$to/out"; }
}

# limited PID SECONDS: its status; 124 when it took longer, and was ended with all that it began.
limited() {
    local pid=$1 i
    for ((i = 0; i < $2 * 10; i++)); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    if kill -0 "$pid" 2>/dev/null; then
        end_all "$pid"
        wait "$pid"
        return 124
    fi
    wait "$pid"
}

# end_all PID: it and its descendants.
end_all() {
    local child
    for child in $(ps -o pid= --ppid "$1"); do
        end_all "$child"
    done
    kill -KILL "$1" 2>/dev/null
}

# value NAME FILE: of a line "NAME value".
value() { awk -v name="$1" '$1 == name { print $2; found = 1; exit } END { if (!found) print 0 }' "$2"; }

# last_trace PID: of the program that the process was last.
last_trace() {
    local n=2 file=$heap/$1.heap
    while [ -e "$heap/$1.$n.heap" ]; do
        file=$heap/$1.$n.heap
        n=$((n + 1))
    done
    echo "$file"
}

# equal TOTALS COUNTS: a child of a fork frees and reallocates what its parent had, which is unknown to its trace.
equal() {
    local name
    for name in allocs bytes; do
        [ "$(value $name "$1")" = "$(value $name "$2")" ] || return 1
    done
    for name in reallocs frees; do
        [ "$(value $name "$1")" = "$(value $name "$2")" ] || { [ "$(value forked "$2")" = 1 ] && [ "$(value $name "$1")" -le "$(value $name "$2")" ]; } || return 1
    done
}

# sum NAME: of all traces and counts into the variables of check().
sum() {
    local heap=$dir/$1/traced/heap trace pid counts name
    for trace in "$heap"/*.heap; do
        [ -e "$trace" ] || continue
        n_traces=$((n_traces + 1))
        "$tools/heap_totals" "$trace" >"$trace.totals" 2>/dev/null || { why+="${trace##*/} cannot be read; "; continue; }
        n_calls=$((n_calls + $(value allocs "$trace.totals")))
        n_stacks=$((n_stacks + $(value stacks "$trace.totals")))
        n_bare=$((n_bare + $(value incomplete "$trace.totals")))
        lost=$((lost + $(value lost "$trace.totals")))
    done
    for counts in "$heap"/*.counts; do
        [ -e "$counts" ] || continue
        pid=${counts##*/}
        trace=$(last_trace "${pid%.counts}")
        [ -e "$trace.totals" ] || { [ "$(value allocs "$counts")" = 0 ] || unseen=$((unseen + 1)); continue; }
        n_counted=$((n_counted + 1))
        for name in allocs reallocs frees bytes; do
            recorded[$name]=$((${recorded[$name]} + $(value $name "$trace.totals")))
            counted[$name]=$((${counted[$name]} + $(value $name "$counts")))
        done
        equal "$trace.totals" "$counts" || differ="$differ ${pid%.counts}"
    done
}

# check NAME: prints the row.
check() {
    local name=$1 to=$dir/$1 output=same verdict=equal why='' n_traces=0 n_counted=0 n_calls=0 n_stacks=0 n_bare=0 lost=0 unseen=0 differ=''
    local -A recorded=([allocs]=0 [reallocs]=0 [frees]=0 [bytes]=0) counted=([allocs]=0 [reallocs]=0 [frees]=0 [bytes]=0)
    cmp -s "$to/plain/status" "$to/traced/status" || why+="ends with $(cat "$to/traced/status"), not $(cat "$to/plain/status"); "
    cmp -s "$to/plain/out" "$to/traced/out" || why+="prints other things; "
    cmp -s <(clean "$name" plain) <(clean "$name" traced) || why+="complains of other things: $(clean "$name" traced | head -n 1 | cut -c1-80); "
    [ -z "$why" ] || output=OTHER
    sum "$name"
    [ "$n_traces" -gt 0 ] || why+="nothing was recorded; "
    [ "$lost" = 0 ] || why+="$lost events lost; "
    [ -z "$differ" ] || why+="counts differ in$differ; "
    [ "$unseen" = 0 ] || why+="$unseen processes have no trace; "
    [ -z "$why" ] || verdict=DIFFERS
    # A reason that the row gives stands in the place of what differs in counts, never of what the program does.
    if [ "$verdict" = DIFFERS ] && [ "$output" = same ] && declare -F "reason_$name" >/dev/null && [ -n "$(cd "$to" && "reason_$name")" ]; then
        verdict=reason why=$(cd "$to" && "reason_$name")
    fi
    [ "$verdict" != DIFFERS ] || failed=$((failed + 1))
    printf '%-12s %4d %4d  %-6s %10d %10d %12d %12d %6d/%-6d %-8s %s\n' "$name" "$n_traces" "$n_counted" "$output" "${recorded[allocs]}" \
        "${counted[allocs]}" "${recorded[bytes]}" "${counted[bytes]}" $((n_stacks - n_bare)) "$n_stacks" "$verdict" "${why%; }"
}

# What it complains of, without what is different each time.
clean() {
    if declare -F "filter_$1" >/dev/null; then "filter_$1" <"$dir/$1/$2/err"; else cat "$dir/$1/$2/err"; fi
}

one() {
    local name=$1 missing=''
    mkdir -p "$dir/$name"
    if [ "${PROGRAMS_INSTALL:-}" = 1 ] && [ "$(id -u)" = 0 ] && [ -n "${packages[$name]}" ]; then
        # shellcheck disable=SC2086
        DEBIAN_FRONTEND=noninteractive apt-get install -y -q ${packages[$name]} >"$dir/$name/install.log" 2>&1
    fi
    if declare -F "prepare_$name" >/dev/null && ! "prepare_$name"; then
        printf '%-12s %s\n' "$name" "not tried: ${missing:-${what[$name]} cannot be prepared}"
        return
    fi
    run "$name" plain
    run "$name" traced
    check "$name"
}

[ -e "$build/libproftop-heap.so" ] || { echo 'programs.sh: this build has no heap tracer' >&2; exit 77; }
printf '%-12s %4s %4s  %-6s %10s %10s %12s %12s %6s/%-6s %-8s %s\n' program traces ends output calls counted bytes counted whole stacks verdict why
for name in ${ROWS:-${names[@]}}; do
    [ -n "${what[$name]:-}" ] || { echo "programs.sh: there is no row $name" >&2; exit 2; }
    one "$name"
done
[ "$failed" = 0 ] || { echo "$failed rows differ"; exit 1; }
