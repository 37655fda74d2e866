#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A process with pids and a /tmp of its own, as in a container: its program lies where only it can see, its
# generated code is named by a map whose name has the pid that it knows itself by. Both are found while it
# runs; skipped where perf cannot record or no namespaces can be made.
. "$(dirname "$0")/compare.sh"
needs perf unshare mount pgrep
[ "$(uname -m)" = x86_64 ] || skip 'the program generates code for x86_64'
unshare -p -m -f mount -t tmpfs none /tmp 2>/dev/null || skip 'no namespaces can be made here'
dir=$(mktemp -d "$PWD/container-XXXXXX") || exit 99
pid=
cleanup() {
    [ -n "$pid" ] && kill -9 "$pid" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$dir"
}
trap cleanup EXIT
${CC:-cc} -O1 -Wl,--build-id -o "$dir/program" "$here/mapped.c" || exit 99
unshare -p -m -f sh -c 'mount -t tmpfs none /tmp && cat >/tmp/mapped && chmod +x /tmp/mapped && exec /tmp/mapped 60' \
    <"$dir/program" &
unshared=$!
for _ in $(seq 100); do
    pid=$(pgrep -P $unshared -x mapped) && break
    sleep 0.1
done
[ -n "$pid" ] || skip 'the program did not start'
# Until it has both names, however little of the machine the program gets.
for seconds in 0.5 2 8 32; do
    HOME=$dir perf record -q -e cpu-clock -F 997 -o "$dir/perf.data" -p "$pid" -- sleep $seconds >/dev/null 2>&1 ||
        skip 'perf may not record here (see /proc/sys/kernel/perf_event_paranoid)'
    HOME=$dir "$proftop" export --to folded "$dir/perf.data" >"$dir/alive" 2>&1
    grep -q jit_mapped "$dir/alive" && grep -q own_function "$dir/alive" && break
done
rm -rf "$dir/.debug" "$dir/program"

status=0
HOME=$dir "$proftop" export --to folded "$dir/perf.data" >"$dir/alive" 2>&1
for name in jit_mapped own_function; do
    if ! grep -q "$name" "$dir/alive"; then
        echo "no $name while the process runs:"
        cat "$dir/alive"
        status=1
    fi
done
# The first process of a namespace dies of nothing less. When it is gone, so are its files: nothing else may stand for them.
kill -9 "$pid"
wait 2>/dev/null
pid=
HOME=$dir "$proftop" export --to folded "$dir/perf.data" >"$dir/gone" 2>&1
if grep -q 'jit_mapped\|own_function' "$dir/gone"; then
    echo 'names of a process that is gone:'
    cat "$dir/gone"
    status=1
fi
exit $status
