# SPDX-License-Identifier: GPL-3.0-or-later
# What the comparisons with other tools share: sourced by them.
set -u
here=$(cd "$(dirname "$0")" && pwd)
proftop=$(realpath "${PROFTOP:-./proftop}")

skip() {
    echo "skipped: $1"
    exit 77
}

# needs TOOL…: skips where one of them is not installed.
needs() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null 2>&1 || skip "$tool is not installed"
    done
}

# compare SCRIPT RECORD-OPTION… -- ARGUMENT…: runs the script where perf can record so.
compare() {
    local script=$1 options=() trial said
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    needs perf python3
    trial=$(mktemp) || exit 99
    perf record -q -e cpu-clock "${options[@]}" -o "$trial" -- true >/dev/null 2>"$trial.said" || {
        said=$(grep -v '^$' "$trial.said" | tail -1)
        rm -f "$trial" "$trial.old" "$trial.said"
        skip "perf does not record here: $said"
    }
    rm -f "$trial" "$trial.old" "$trial.said"
    python3 "$here/$script" "$proftop" "$here" "$@"
}
