#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Remakes the screens of doc/tour.md and README.md from the bundled capture, after a change of what they look like:
# doc/screens.sh build/proftop
set -euo pipefail

proftop=$(realpath "${1:-build/proftop}")
cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8
unset NO_COLOR

screen() {
    local title=$1 keys=$2
    printf '\n**%s**\n\n```\n' "$title"
    "$proftop" --symbols tests/data --keys "$keys" --screen 100x22 tests/data/demo.data | sed 's/[[:space:]]*$//'
    printf '```\n'
}

screens() {
    screen 'top: functions by what they cost' ''
    screen 'tree: who calls whom, with the hottest path open' '2e'
    screen 'callers: who calls the selected function' '/hash_path<Enter>c*'
    screen 'butterfly: a function between its callers and callees' '/count_records<Enter>b'
    screen 'flame: all stacks at once' '5'
    screen 'threads' '6'
    screen 'timeline: when it happened; mark a range to see only that' '7'
    screen 'info: what is in the file, and what is missing' '8'
}

# Puts what standard input says between the marks of a document.
replace_screens() {
    local file=$1
    cat >screens.tmp
    awk '/^<!-- screens:/ { print; while ((getline line < "screens.tmp") > 0) print line; print ""; skip = 1 }
        /^<!-- end of screens/ { skip = 0 }
        !skip' "$file" >"$file.tmp"
    mv "$file.tmp" "$file"
    rm screens.tmp
}

screens | replace_screens doc/tour.md
screen '' '' | tail -n +4 | { echo && cat; } | replace_screens README.md
