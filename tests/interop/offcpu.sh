#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Time off the cpu: proftop against the switches that perf script prints; skipped where perf cannot record them.
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
perf record -q -e cpu-clock --switch-events -o "$trial" -- true >/dev/null 2>&1 ||
    skip 'perf may not record here (see /proc/sys/kernel/perf_event_paranoid)'
python3 "$here/offcpu.py" "${PROFTOP:-./proftop}" "$here"
