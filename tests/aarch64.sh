#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The program that is one file for aarch64, under qemu: what it prints of recordings of several kinds is what the program of this
# machine prints, and its screen takes keys. tests/aarch64.sh FILE; what records and attaches needs a real kernel of aarch64.
set -uo pipefail

source=$(cd "$(dirname "$0")/.." && pwd)
corpus=$source/../shared/corpus
proftop=${PROFTOP:-./proftop}
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
file=${1:-}
if [ -z "$qemu" ] || [ ! -e "$file" ]; then
    echo "skipped: no qemu-aarch64, or no program for it: ./bootstrap static aarch64 makes one"
    exit 77
fi
file=$(realpath "$file")
proftop=$(realpath "$proftop")
faults=0
fault() {
    printf 'FAIL: %s\n' "$*"
    faults=$((faults + 1))
}
dir=$(mktemp -d)
tm() { tmux -S "$dir/socket" -f /dev/null "$@"; }
trap 'tm kill-server 2>/dev/null; rm -rf "$dir"' EXIT
export LC_ALL=C.UTF-8

# qemu takes minutes to reserve the gigabytes of address space that columns have without a limit.
emulated() { (ulimit -v 12000000 && exec timeout 120 "$qemu" "$file" "$@"); }
n=0
same() {
    emulated "$@" >"$dir/emulated" 2>"$dir/emulated.err"
    local status=$?
    (ulimit -v 12000000 && exec timeout 120 "$proftop" "$@") >"$dir/here" 2>"$dir/here.err"
    [ $status = $? ] || fault "$*: exit status $status: $(head -c 300 "$dir/emulated.err")"
    diff "$dir/here" "$dir/emulated" >"$dir/diff" || fault "$*: $(head -n 6 "$dir/diff")"
    diff "$dir/here.err" "$dir/emulated.err" >"$dir/diff" || fault "$*, on standard error: $(head -n 6 "$dir/diff")"
    n=$((n + 1))
}
for view in top tree callers flame threads timeline; do
    same report --symbols "$source/tests/data" --view $view "$source/tests/data/demo.data"
done
same report --json --symbols "$source/tests/data" "$source/tests/data/demo.data"
# big-endian, cut, packed; without functions, as files of this machine are no aarch64 machine's
for data in "$source"/tests/data/perf_data/*.data; do
    same report --view threads "$data"
    same report --view timeline "$data"
done
# recorded on aarch64, and on 32-bit ARM
for data in linux-perf-data/sleep.compressed.data quipper/perf.data.armv7-3.4 simpleperf/testdata/perf_with_arm_regs.data \
    simpleperf/testdata/perf_with_jit_symbol.data simpleperf/testdata/perf_merge1.data \
    simpleperf/testdata/perf_with_failed_unwinding_debug_info.data; do
    if [ -e "$corpus/$data" ]; then
        same report "$corpus/$data"
        same info "$corpus/$data"
    fi
done
same --screen 100x20 --keys 'jjt' --symbols "$source/tests/data" "$source/tests/data/demo.data"

if command -v tmux >/dev/null; then
    tm new-session -d -s one -x 80 -y 12 \
        "ulimit -v 12000000; env TERM=tmux-256color '$qemu' '$file' --symbols '$source/tests/data' '$source/tests/data/demo.data'; sleep 100"
    for text in match_length '/hash_p'; do
        for _ in $(seq 1000); do
            tm capture-pane -t one -p | grep -qF "$text" && break
            sleep 0.02
        done
        tm capture-pane -t one -p | grep -qF "$text" || fault "no '$text' on the screen: $(tm capture-pane -t one -p | head -n 5)"
        tm send-keys -t one '/hash_p'
    done
fi

[ "$faults" = 0 ] || { echo "$faults faults"; exit 1; }
echo "$n outputs are equal"
