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
    screen 'heat map of the same time: down a column its parts; two cells are the ends of a range' '7Tllll'
    screen 'info: what is in the file, and what is missing' '8'
    screen 'findings: what is worth knowing, in sentences' '0'
    screen 'the menu of a row: what can be done with it, each a term of the filter' '2jj.'
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

# code COMPILER… -- TITLE SOURCE KEYS: a program of demo/code, compiled and recorded for this; its path is /src.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code() {
    local compiler=()
    while [ "$1" != -- ]; do
        compiler+=("$1")
        shift
    done
    local title=$2 source=$3 keys=$4 name=${3%.*}
    "${compiler[@]}" -o "$work/$name" "demo/code/$source"
    (cd "$work" && perf record -q -e cpu-clock -F 2000 -g -o "$name.data" "./$name") >/dev/null
    show_code "$title" "$keys" "$work/$name.data"
}

# show_code TITLE KEYS DATA
show_code() {
    printf '\n**%s**\n\n```\n' "$1"
    "$proftop" --source-map /src="$PWD/demo/code" --symbols tests/data/annotate --keys "$2" --screen 100x26 "$3" | sed 's/[[:space:]]*$//'
    printf '```\n'
}

code_screens() {
    local map=-ffile-prefix-map=$PWD/demo/code=/src
    code gcc -g -O2 "$map" "-ffile-prefix-map=demo/code=/src" -- 'C: lines, and what was inlined in them' table.c '/^table<Enter>u'
    code g++ -g -O2 "$map" "-ffile-prefix-map=demo/code=/src" -- 'C++: lines with their instructions' records.cc '/^main$<Enter>ua'
    code rustc -g -O --remap-path-prefix "demo/code=/src" -- 'Rust: instructions with the arrows of jumps' words.rs '/sieve<Enter>uaa'
    show_code 'aarch64, recorded on an emulated machine (samples fall where its emulator looks), shown on x86_64' '/^matrix<Enter>uaa' tests/data/annotate/aarch64.data
}

screens | replace_screens doc/tour.md
# Those of code need perf and three compilers.
if command -v perf gcc g++ rustc >/dev/null; then
    code_screens >"$work/screens"
    awk -v from="$work/screens" '/^<!-- code:/ { print; while ((getline line < from) > 0) print line; print ""; skip = 1 }
        /^<!-- end of code/ { skip = 0 }
        !skip' doc/tour.md >"$work/tour" && cp "$work/tour" doc/tour.md
fi
screen '' '' | tail -n +4 | { echo && cat; } | replace_screens README.md
