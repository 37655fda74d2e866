#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What tracepoints print of themselves (--fields print) against perf script, over the corpus; skipped without either.
here=$(cd "$(dirname "$0")" && pwd)
for tool in python3 perf; do
    command -v $tool >/dev/null 2>&1 || {
        echo "skipped: $tool is not installed"
        exit 77
    }
done
# Lines that name functions of the kernel need its symbols, so they are of this machine's kernel.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
named=kmem:kmalloc,kmem:kfree,timer:timer_start,timer:hrtimer_start,workqueue:workqueue_execute_start
perf record -q -a -o "$dir/named.data" -e "$named" -- ls -R /usr/include >"$dir/out" 2>&1 || {
    echo "lines that name functions are not compared: perf cannot record them here: $(tail -n 1 "$dir/out")"
    rm -f "$dir/named.data"
}
python3 "$here/trace_print.py" "${PROFTOP:-./proftop}" "${CORPUS:-$here/../../../shared/corpus}" "$dir"/*.data
