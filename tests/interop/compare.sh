# SPDX-License-Identifier: GPL-3.0-or-later
# What the comparisons with perf share: sourced by them.
set -u
here=$(cd "$(dirname "$0")" && pwd)

skip() {
    echo "skipped: $1"
    exit 77
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
    command -v perf >/dev/null 2>&1 || skip 'perf is not installed'
    command -v python3 >/dev/null 2>&1 || skip 'python3 is not installed'
    trial=$(mktemp) || exit 99
    perf record -q -e cpu-clock "${options[@]}" -o "$trial" -- true >/dev/null 2>"$trial.said" || {
        said=$(grep -v '^$' "$trial.said" | tail -1)
        rm -f "$trial" "$trial.old" "$trial.said"
        skip "perf does not record here: $said"
    }
    rm -f "$trial" "$trial.old" "$trial.said"
    python3 "$here/$script" "${PROFTOP:-./proftop}" "$here" "$@"
}
