#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --stitch: stacks of which a part was copied, against the whole ones of the same samples; skipped where perf cannot record.
set -u
here=$(cd "$(dirname "$0")" && pwd)

skip() {
    echo "skipped: $1"
    exit 77
}

command -v perf >/dev/null 2>&1 || skip 'perf is not installed'
command -v python3 >/dev/null 2>&1 || skip 'python3 is not installed'
trial=$(mktemp) || exit 99
trap 'rm -f "$trial"' EXIT
perf record -q -e cpu-clock --call-graph dwarf,4096 -o "$trial" -- true >/dev/null 2>&1 ||
    skip 'perf may not record here (see /proc/sys/kernel/perf_event_paranoid)'
python3 "$here/stitch.py" "${PROFTOP:-./proftop}" "$here"
