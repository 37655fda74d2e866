#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that shrink, go or change while they are read must not end proftop; skipped where perf cannot record.
. "$(dirname "$0")/compare.sh"
needs perf
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
${CC:-cc} -g -O1 -pthread -o "$dir/good" "$here/prog.c" || exit 99
cp "$dir/good" "$dir/prog"
(cd "$dir" && perf record -q -e cpu-clock -F 499 --call-graph dwarf,2048 -o perf.data -- ./prog) >/dev/null 2>&1 ||
    skip 'perf may not record here (see /proc/sys/kernel/perf_event_paranoid)'

status=0
for i in $(seq 1 12); do
    cp "$dir/good" "$dir/prog"
    "$proftop" report -n 1 "$dir/perf.data" >"$dir/out" 2>&1 &
    reader=$!
    sleep "0.0$((i % 6))"
    case $((i % 3)) in
        0) truncate -s $((i * 1000)) "$dir/prog" ;;
        1) rm -f "$dir/prog" ;;
        2) head -c 20000 /dev/urandom | dd of="$dir/prog" conv=notrunc 2>/dev/null ;;
    esac
    wait "$reader"
    ended=$?
    if [ $ended != 0 ] || ! grep -q 'samples of' "$dir/out"; then
        echo "with a program that changed after 0.0$((i % 6)) s proftop ended with $ended:"
        cat "$dir/out"
        status=1
    fi
done
exit $status
