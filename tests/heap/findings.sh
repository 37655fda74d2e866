#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A program that leaks in one place, caches in another, churns in a third and fragments in a fourth is recorded: findings name
# each with its function, line and numbers, and nothing else.
source=$(cd "$(dirname "$0")" && pwd)
. "$source/lib.sh"
cc=${CC_FOR_TESTS:-gcc}

# line_of PATTERN: of the source.
line_of() { grep -nF "$1" "$source/four_places.c" | head -n 1 | cut -d : -f 1; }

# finding RULE FUNCTION PATTERN VIEW: there is one such finding; it says this, and the view it names is of this function.
finding() {
    local found
    found=$(grep "\"rule\": \"$1\"" said.json)
    [ "$(grep -c . <<<"$found")" = 1 ] || fault "$1: there are $(grep -c '"rule"' <<<"$found"), not one: $(cat said)"
    grep -q "\"name\": \"$2\", \"module\": \"four_places\"" <<<"$found" || fault "$1: not of $2: $found"
    grep -Eq "\"sentence\": \"$3" <<<"$found" || fault "$1: does not say '$3': $found"
    grep -q "\"see_view\": \"$4\"" <<<"$found" || fault "$1: does not name $4: $found"
    tr -s ' \n' '  ' <said | sed 's/±/\\u00B1/' >one_line
    grep -qF "$(sed 's/.*"sentence": "\([^"]*\)".*/\1/' <<<"$found")" one_line || fault "$1: the text says otherwise: $(cat said)"
}

# judged COMPILER…: of the program as this makes it. A compiler may leave out a malloc of which nothing comes if it knows what that does.
judged() {
    "$@" -g -fno-builtin-malloc -o four_places "$source/four_places.c" || fault 'four_places: does not compile'
    timeout 60 "$PROFTOP" record --heap -o four.heap -- ./four_places 4000 >recorded 2>&1 || fault "recording: $(cat recorded)"
    "$PROFTOP" report --view findings four.heap >said || fault 'findings: no text'
    "$PROFTOP" report --view findings --json four.heap >said.json || fault 'findings: no JSON'
    n=$(grep -c '"rule": ' said.json)
    [ "$n" = 4 ] || fault "$n findings, not 4: $(cat said)"

    # 400 steps: 10 blocks of 2,000 bytes leak, and 200 of 100 bytes come and go, of 140,000 in all; the cache has 2,000 slots of 3,000 bytes.
    rate='[0-9.]+ [kMGT]B an hour \(\\u00B1 [0-9.]+ [kMGT]B\)'
    finding leak leak_here "leak_here \(four_places.c:$(line_of 'malloc(2000)')\) grows by $rate, and 4,000 blocks of 8\.00 MB were never freed\." leaks
    finding cache cache_here "cache_here \(four_places.c:$(line_of 'malloc(3000)')\) holds up to 6\.00 MB and stays there" leaks
    finding churn churn_here "100\.0 % of 80,000 allocations of churn_here \(four_places.c:$(line_of 'malloc(100)')\) are freed at once; the site makes 57\.1 % of all calls\." temporaries
    finding fragmentation fragment_here "[0-9.]+ MB are resident beyond the [0-9.]+ MB in use.*: fragment_here \(four_places.c:$(line_of 'malloc(1000)')\) freed most of its blocks" waste

    # Of its 40,000 blocks of 1,000 bytes 39,000 are free and resident; the program's own pages and the recorder's are beside them.
    sed -n 's/.*"sentence": "\([0-9.]*\) MB are resident beyond the \([0-9.]*\) MB in use.*/\1 \2/p' said.json >kept
    awk '{ ok = $1 >= 38 && $1 < 80 && $2 > 1 && $2 <= 15 } END { exit !ok }' kept || fault "resident and in use, in MB: $(cat kept)"
    # The view that it names says the same.
    "$PROFTOP" report --view waste four.heap >waste || fault 'waste: no text'
    grep -qF "$(sed -n 's/.*"sentence": "\([0-9.]* MB\) are resident beyond the \([0-9.]* MB in use\) at .*/\1 were resident beyond the \2/p' said.json)" waste || fault "waste: another number: $(cat waste)"
    # In 1.6 s memory in use is read at least five times: sooner after the beginning than once a second.
    n=$("$tools/heap_totals" -r four.heap | grep -c ^USAGE)
    [ "$n" -ge 5 ] || fault "memory in use was read $n times"
    # It leaks for as long as it runs: its growth is about what leaked in all.
    "$PROFTOP" report --view leaks --json four.heap >leaks.json || fault 'leaks: no JSON'
    "$PROFTOP" export --to folded --metric leaked four.heap 2>/dev/null | awk '/;leak_here [0-9]+$/ { n += $NF } END { print n + 0 }' >leaked
    [ "$(cat leaked)" = 8000000 ] || fault "leaked: $(cat leaked) bytes, not 8000000"
    awk 'function of(name) { match($0, "\"" name "\": -?[0-9]+"); return substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 4) }
        /"begin_ns"/ { begin = of("begin_ns") }
        /"end_ns"/ { end = of("end_ns") }
        /"leak_here"/ { rate = of("bytes_per_hour") + 0 }
        END { whole = 8e6 * 3600e9 / (end - begin); printf "%.0f, %.0f\n", rate, whole; exit !(rate > whole / 2 && rate < whole * 2) }' leaks.json >rates ||
        fault "leak_here: grows by, and leaks, bytes an hour: $(cat rates)"
    echo "four places by $*: $(tr '\n' ' ' <kept)MB resident and in use, $(cat rates) bytes an hour by its line and in all"
}

judged "$cc" -O0
judged "$cc" -O2
if command -v clang >/dev/null; then
    judged clang -O2 -fno-optimize-sibling-calls
fi

# One that is over before its memory is read a second time.
timeout 60 "$PROFTOP" record --heap -o short.heap -- ./four_places 0 >recorded 2>&1 || fault "recording: $(cat recorded)"
"$PROFTOP" report --view findings --json short.heap >said.json || fault 'findings: no JSON'
grep '"rule": "fragmentation"' said.json | grep -q '"name": "fragment_here"' || fault "a short run: no fragmentation: $(cat said.json)"

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
