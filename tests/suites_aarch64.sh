#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The suites of tests for aarch64, under qemu-user: tests/suites_aarch64.sh DIRECTORY [SUITE…], where the directory is what
# ./bootstrap static aarch64 makes. tests/plain stands in for Criterion.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
dir=${1:-build-static-aarch64}
shift
[ $# != 0 ] || set -- t_base t_layout t_profile t_unwind t_tracer t_code t_symbols t_tui t_formats t_query
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
if [ -z "$qemu" ] || [ ! -e "$dir/Makefile" ]; then
    echo "skipped: no qemu-aarch64, or no ./bootstrap static aarch64"
    exit 77
fi

# Not run: what is the emulator's and not the processor's (limits on address space, memory that is given back, a first thread that
# ends before the others), what needs debug information in its own program, and what takes minutes or has a
# limit of seconds. The emulator keeps some of its own
# memory for each thread that ends and each address that was mapped: what opens thousands of profiles in one process has none left.
declare -A left_out=(
    [t_base]='column/leaves_the_most_of_what_is_there|process/goes_on_without_its_first_thread|machine/threads_take_no_heaps_under_a_limit'
    [t_symbols]='debug_files/debug_information_of_a_program_with_symbols'
    [t_tui]='app_menu/every_key_answers'
    [t_formats]='folded/round_trip_of_generated_lines|json_formats/cut_at_each_offset|perf_losses/memory_that_runs_out_is_said'
    [t_query]='noise/*|regex/hostile_expressions_end|heap_fold/the_tenth_minute_takes_what_the_third_took|shorten/an_hour_takes_no_more_than_minutes'
)

make -C "$dir" -s -j"$(nproc)" LDFLAGS=-static "$@" >"$dir/suites.log" 2>&1 || { tail -n 40 "$dir/suites.log"; exit 1; }
# Tests take apart their own program, and such as the compiler of this machine makes.
mkdir -p "$dir/tools" && rm -f "$dir/tools/objcopy"
printf '#!/bin/sh\n%s "$@" 2>/dev/null || exec %s "$@"\n' "$(command -v objcopy)" \
    "$(command -v aarch64-linux-gnu-objcopy)" >"$dir/tools/objcopy"
chmod +x "$dir/tools/objcopy"
cd "$dir" || exit 1
export PATH=$PWD/tools:$PATH PROFTOP_CACHE=no PROFTOP_TEST_PATIENCE=10 srcdir=..
unset DEBUGINFOD_URLS
# qemu takes minutes to reserve the gigabytes of address space that columns have without a limit.
ulimit -v 12000000
# run SUITE: each test has a limit of its own; busy machines take hours. Says what failed.
run() {
    "$qemu" "./$1" --filter "!(${left_out[$1]:-})" >"$1.out" 2>&1 && return
    grep -aE '^\[(FAIL|CRASH)|Assertion Failed' "$1.out" | cut -c1-300
    return 1
}
faults=0
for suite in "$@"; do
    # Once more, as .ci/run does with a test: an emulator beside other work is slow at times.
    run "$suite" || { echo "$suite: once more" && run "$suite"; } || faults=$((faults + 1))
    echo "$suite: $(grep -a '^\[====\]' "$suite.out" || tail -n 1 "$suite.out")"
done
[ "$faults" = 0 ]
